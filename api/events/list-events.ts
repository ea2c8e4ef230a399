import type { EventReader, EventSearch } from '../../clickhouse/event-reader.ts';
import { invalidField } from '../../domain/errors.ts';
import { isoTime, type Clock } from '../../platform/clock.ts';
import type { Scope } from '../../postgres/client.ts';
import {
  EVENT_PAGE_SIZE,
  type Event,
  type EventList,
  type EventsBody,
  type EventsQuery,
} from '../../schemas/event.ts';
import type { z } from 'zod';
import { eventAnswer } from './answers.ts';

const DEFAULT_RANGE_MS = 7 * 86_400_000;
const OFFSET_MAX = 100_000;

/** Raw copies of a range, newest first unless asked otherwise; copies of one id are all listed. */
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
  const page = await deps.eventReader.search({
    ...scope,
    external_customer_id: body.external_customer_id || null,
    event_name: body.event_name || null,
    event_id: body.event_id || null,
    source: body.source || null,
    start: Date.parse(start),
    end: Date.parse(end),
    property_filters: body.property_filters ?? {},
    sort: body.sort ?? 'timestamp',
    order: body.order ?? 'desc',
    cursor,
    limit: limit + 1,
    offset,
  });
  const events = page.events.slice(0, limit).map(eventAnswer);
  const has_more = page.events.length > limit;
  return {
    events,
    has_more,
    iter_first_key: keyOf(events[0]),
    iter_last_key: cursor === null || has_more ? keyOf(events.at(-1)) : null,
    total_count: page.total_count,
    offset: cursor === null ? offset + limit : null,
  };
}

/** The URL form of the same question. */
export function eventsBodyOf(query: z.output<typeof EventsQuery>): EventsBody {
  const { page_size, property_filters, count_total: _, ...same } = query;
  return {
    ...same,
    page_size: /^\d+$/.test(page_size ?? '') ? Number(page_size) : null,
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

/** Out of range means the usual size, as clients of this route expect. */
function pageSize(asked: number | null | undefined): number {
  return asked == null || asked < 1 || asked > EVENT_PAGE_SIZE ? EVENT_PAGE_SIZE : asked;
}

function cursorOf({ iter_first_key, iter_last_key, order }: EventsBody): EventSearch['cursor'] {
  const key = iter_last_key || iter_first_key;
  if (!key) return null;
  const [, nanoseconds, event_id] = /^(\d{1,19})::(.+)$/s.exec(key) ?? [];
  if (nanoseconds === undefined || event_id === undefined)
    throw invalidField(
      iter_last_key ? 'iter_last_key' : 'iter_first_key',
      'Invalid cursor key format',
    );
  const goesOn = Boolean(iter_last_key);
  const side = goesOn === (order !== 'asc') ? 'older' : 'newer';
  return { side, timestamp: Number(BigInt(nanoseconds) / 1_000_000n), event_id };
}

function keyOf(event: Event | undefined): string | null {
  return event === undefined ? null : `${Date.parse(event.timestamp)}000000::${event.id}`;
}
