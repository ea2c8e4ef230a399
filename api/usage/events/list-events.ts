import type { EventReader, EventSearch } from '../../../clickhouse/reading/event-reader.ts';
import { invalidField } from '../../../domain/errors.ts';
import { isoTime, type Clock } from '../../../platform/clock.ts';
import type { Scope } from '../../../postgres/client.ts';
import {
  EVENT_PAGE_SIZE,
  type EventList,
  type EventsBody,
  type EventsQuery,
} from '../../../schemas/event.ts';
import type { z } from 'zod';
import { eventAnswer } from './answers.ts';
import { behindOf, cursorOf, keyOf, namedCursor } from './event-cursor.ts';

const DEFAULT_RANGE_MS = 7 * 86_400_000;
const OFFSET_MAX = 100_000;

/** Raw copies of a range, newest first by default; all copies of one id are listed. */
export async function listEvents(
  deps: { readonly eventReader: EventReader; readonly clock: Clock },
  scope: Scope,
  body: EventsBody,
): Promise<EventList> {
  const end = body.end_time ?? isoTime(deps.clock.now());
  const start = body.start_time ?? isoTime(Date.parse(end) - DEFAULT_RANGE_MS);
  if (end < start) throw invalidField('end_time', 'must not be before start_time');
  const limit = pageSize(body.page_size);
  const cursor = cursorOf(body);
  const offset = cursor === null ? (body.offset ?? 0) : 0;
  if (offset > OFFSET_MAX)
    throw invalidField('offset', `is above ${OFFSET_MAX}: continue from iter_last_key instead`);
  const search: EventSearch = {
    ...scope,
    external_customer_id: body.external_customer_id || null,
    event_name: body.event_name || null,
    event_id: body.event_id || null,
    source: body.source || null,
    outcome: body.outcome ?? null,
    start: Date.parse(start),
    end: Date.parse(end),
    property_filters: body.property_filters ?? {},
    sort: body.sort ?? 'timestamp',
    order: body.order ?? 'desc',
    cursor: null,
    limit: limit + 1,
    offset,
  };
  // One copy before the page and one after it show whether the page begins or ends among copies of one event.
  const before = Math.min(offset, 1);
  const page = await deps.eventReader.search({
    ...search,
    cursor: cursor === null ? null : await namedCursor(deps.eventReader, search, cursor),
    limit: before + limit + 1,
    offset: offset - before,
  });
  const shown = page.events.slice(before, before + limit);
  const has_more = page.events.length > before + limit;
  const previous = page.events.slice(0, before)[0] ?? behindOf(cursor);
  const next = page.events[before + limit];
  return {
    events: shown.map(eventAnswer),
    has_more,
    iter_first_key: keyOf(search, shown[0], previous),
    iter_last_key: cursor === null || has_more ? keyOf(search, shown.at(-1), next) : null,
    total_count: page.total_count,
    offset: cursor === null ? offset + limit : null,
  };
}

/** The URL form of the same request; a `page_size` that is not a number means the default, as recorded. */
export function eventsBodyOf(query: z.output<typeof EventsQuery>): EventsBody {
  const { page_size, property_filters, count_total: _, ...same } = query;
  const size = /^-?\d+$/.test(page_size ?? '') ? Number(page_size) : null;
  if (size !== null && size < 1) throw invalidField('page_size', 'must be at least 1');
  return {
    ...same,
    page_size: size,
    property_filters: filtersOf(property_filters ?? ''),
  };
}

/** `plan:pro,free;region:eu` */
function filtersOf(text: string): Record<string, string[]> {
  const pairs = text.split(';').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const colon = pair.indexOf(':');
      if (colon <= 0) throw invalidField('property_filters', 'expected key:value,value;key:value');
      return [pair.slice(0, colon).trim(), pair.slice(colon + 1).split(',')];
    }),
  );
}

/** Above the largest size means that size, as clients of this route expect. */
function pageSize(asked: number | null | undefined): number {
  return Math.min(asked ?? EVENT_PAGE_SIZE, EVENT_PAGE_SIZE);
}
