import type { EventSearch } from '../../../clickhouse/reading/event-reader.ts';
import type { RawEventRow } from '../../../clickhouse/rows.ts';
import { BillingError, invalidField } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { EventExportQuery } from '../../../schemas/export.ts';
import type { ApiDeps } from '../../deps.ts';
import { eventAnswer, propertiesOf } from '../../usage/events/answers.ts';
import { isoText } from '../../../domain/time/instant.ts';
import { PartWriter, type ExportColumn, type ExportPart } from './export-part.ts';

const PAGE_ROWS = 1_000;
const DEFAULT_RANGE_MS = 7 * 86_400_000;

const COLUMNS: readonly ExportColumn<RawEventRow>[] = [
  { name: 'event_id', cell: (row) => row.event_id },
  { name: 'event_name', cell: (row) => row.event_name },
  { name: 'external_customer_id', cell: (row) => row.external_customer_id },
  { name: 'customer_id', cell: (row) => row.customer_id },
  { name: 'timestamp', cell: (row) => isoText(row.timestamp) },
  { name: 'source', cell: (row) => row.source },
  { name: 'ingested_at', cell: (row) => isoText(row.ingested_at) },
  { name: 'is_canonical', cell: (row) => row.is_canonical },
  { name: 'properties', cell: (row) => JSON.stringify(propertiesOf(row) ?? {}) },
];

/**
 * Accepted copies in time order, then id order, part by part; the canonical copy has `is_canonical`. A part
 * requested again with its cursor is the same except for copies that have arrived since.
 */
export async function exportEvents(
  deps: Pick<ApiDeps, 'eventReader' | 'clock'>,
  scope: Scope,
  query: EventExportQuery,
): Promise<ExportPart> {
  const end = query.end_time ?? isoTime(deps.clock.now());
  const start = query.start_time ?? isoTime(Date.parse(end) - DEFAULT_RANGE_MS);
  if (end <= start) throw invalidField('end_time', 'must be after start_time');
  const part = new PartWriter(COLUMNS, query);
  const asked: EventSearch = {
    ...scope,
    external_customer_id: query.external_customer_id || null,
    event_name: query.event_name || null,
    event_id: null,
    source: query.source || null,
    outcome: null,
    start: Date.parse(start),
    // The search includes both ends.
    end: Date.parse(end) - 1,
    property_filters: {},
    sort: 'timestamp',
    order: 'asc',
    cursor: null,
    limit: 0,
    offset: 0,
  };
  let after = query.cursor === undefined ? null : keyOf(query.cursor);
  let pageRows = PAGE_ROWS;
  while (part.room > 0) {
    const limit = Math.min(pageRows, part.room);
    const cursor = after === null ? null : { ...BEHIND, ...after };
    const found = await listed(deps, { ...asked, cursor, limit: limit + 1 });
    if (found === null) {
      pageRows = Math.ceil(limit / 4);
      continue;
    }
    const isLast = found.length <= limit;
    const rows = isLast ? found : await withCopiesOfLast(deps, asked, found.slice(0, limit));
    part.write(rows, (row) => ({ ...eventAnswer(row), is_canonical: row.is_canonical }));
    if (isLast) return part.end(null);
    const { timestamp, event_id } = rows.at(-1)!;
    after = { timestamp, event_id };
  }
  return part.end(after === null ? null : cursorOf(after));
}

/** Null if so many events exceed the store's answer limit: events with long properties. */
async function listed(
  deps: Pick<ApiDeps, 'eventReader'>,
  search: EventSearch,
): Promise<readonly RawEventRow[] | null> {
  try {
    return await deps.eventReader.list(search);
  } catch (error) {
    const isTooLarge = error instanceof BillingError && error.code === 'usage_query_too_large';
    if (isTooLarge && search.limit > 2) return null;
    throw error;
  }
}

interface Key {
  readonly timestamp: number;
  readonly event_id: string;
}

/** Sorts after every copy of an event and time. */
const BEHIND = { side: 'behind', position: null, event_name: null } as const;

/** Maximum copies of one event and time per query; clients repeat an event less often. */
const COPIES_MAX = 10_000;

/**
 * A page with every copy of its last event. The cursor names a time and an id, and the next page begins after
 * all copies with both.
 */
async function withCopiesOfLast(
  deps: Pick<ApiDeps, 'eventReader'>,
  asked: EventSearch,
  page: readonly RawEventRow[],
): Promise<readonly RawEventRow[]> {
  const { timestamp, event_id } = page.at(-1)!;
  const copies = await deps.eventReader.list({
    ...asked,
    event_id,
    start: timestamp,
    end: timestamp,
    limit: COPIES_MAX,
  });
  const others = page.filter((row) => row.timestamp !== timestamp || row.event_id !== event_id);
  return [...others, ...copies];
}

const cursorOf = ({ timestamp, event_id }: Key): string =>
  Buffer.from(`${timestamp}:${event_id}`).toString('base64url');

function keyOf(cursor: string): Key {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, timestamp, event_id] = /^(\d{1,15}):(.+)$/s.exec(text) ?? [];
  if (timestamp === undefined || event_id === undefined || /[\u0000\ufffd]/.test(event_id))
    throw invalidField('cursor', 'must be a cursor that an export returned');
  return { timestamp: Number(timestamp), event_id };
}
