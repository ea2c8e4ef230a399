import assert from 'node:assert/strict';
import type { Position } from '../../domain/metering/position.ts';
import type { ClickHouseQuery } from '../client.ts';
import { COPIES_OF, type EventOutcome } from './event-counts.ts';
import { AT_EVENT } from './event-places.ts';
import { RAW_EVENT_COLUMNS } from './raw-events.ts';
import { propertyFilters } from './scalar-text.ts';

/** Selects the raw copies to list. Times in milliseconds, both ends included. */
export interface EventSearch {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly external_customer_id: string | null;
  readonly event_name: string | null;
  readonly event_id: string | null;
  readonly source: string | null;
  readonly outcome: EventOutcome | null;
  readonly start: number;
  readonly end: number;
  /** AND of keys, OR of values. */
  readonly property_filters: Readonly<Record<string, readonly string[]>>;
  readonly sort: 'timestamp' | 'event_name';
  readonly order: 'asc' | 'desc';
  readonly cursor: EventCursor | null;
  readonly limit: number;
  readonly offset: number;
}

/** A cursor in the list: selects what follows it or precedes it, in the order of the list. */
export interface EventCursor {
  readonly side: 'behind' | 'before';
  readonly timestamp: number;
  readonly event_id: string;
  /** The copy at which the previous page ended. Null: every copy of that id and time is left out. */
  readonly position: Position | null;
  /** Its event name, for a list that is sorted by name. */
  readonly event_name: string | null;
}

/** One page, every copy once. */
export function searchEvents(search: EventSearch): ClickHouseQuery {
  const where = searched(search);
  const direction = search.order;
  const order =
    search.sort === 'timestamp'
      ? `timestamp ${direction}, event_id ${direction}, position ${direction}`
      : `event_name ${direction}, timestamp desc, event_id desc, position desc`;
  return {
    sql: `
      select ${RAW_EVENT_COLUMNS}
        from events_raw_v1
       where ${where.sql}
       order by ${order}, partition
       limit 1 by position, partition
       limit {limit:UInt32} offset {offset:UInt32}`,
    params: { ...where.params, limit: search.limit, offset: search.offset },
  };
}

/**
 * The time of the nth copy in the order of the page; nothing if there are fewer. Sorts one column and keeps
 * only its head: a page of a large environment then reads only the few events that it shows.
 */
export function timeOfNth(search: EventSearch, nth: number): ClickHouseQuery {
  const where = searched(search);
  return {
    sql: `
      select toUnixTimestamp64Milli(timestamp)
        from events_raw_v1
       where ${where.sql}
       order by timestamp ${search.order}
       limit 1 offset {before:UInt64}`,
    params: { ...where.params, before: nth - 1 },
  };
}

/** Stored copies; a row that a replay wrote twice may count twice. */
export function countStoredEvents(search: EventSearch): ClickHouseQuery {
  const where = searched(search);
  return { sql: `select count() from events_raw_v1 where ${where.sql}`, params: where.params };
}

export function countEvents(search: EventSearch): ClickHouseQuery {
  const where = searched(search);
  return {
    sql: `select uniqExact(position, partition) from events_raw_v1 where ${where.sql}`,
    params: where.params,
  };
}

function searched(search: EventSearch): ClickHouseQuery {
  const filters = propertyFilters(search.property_filters);
  const texts = (['external_customer_id', 'event_name', 'event_id', 'source'] as const).filter(
    (column) => search[column] !== null,
  );
  const cursor = search.cursor === null ? NOWHERE : atCursor(search, search.cursor);
  return {
    sql: `tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
         ${texts.map((column) => `and ${column} = {${column}:String}`).join(' ')}
         ${search.event_id === null ? '' : `and ${AT_EVENT}`}
         and timestamp >= fromUnixTimestamp64Milli({start_ms:Int64}, 'UTC')
         and timestamp <= fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC')
         ${search.outcome === null ? '' : `and ${COPIES_OF[search.outcome]}`}
         ${cursor.sql}
         ${filters.sql}`,
    params: {
      tenant_id: search.tenant_id,
      environment_id: search.environment_id,
      ...Object.fromEntries(texts.map((column) => [column, search[column]])),
      start_ms: search.start,
      end_ms: search.end,
      ...cursor.params,
      ...filters.params,
    },
  };
}

const NOWHERE: ClickHouseQuery = { sql: '', params: {} };

/** Within a name the newest event comes first, in either sort order of the names. */
function atCursor({ sort, order }: EventSearch, cursor: EventCursor): ClickHouseQuery {
  const { side, timestamp, event_id, position, event_name } = cursor;
  const beyond = (direction: EventSearch['order']) =>
    (side === 'behind') === (direction === 'asc') ? '>' : '<';
  const [columns, place] =
    position === null
      ? ['timestamp, event_id', '']
      : ['timestamp, event_id, position', ', {cursor_position:UInt64}'];
  const later = (direction: EventSearch['order']) =>
    `(${columns}) ${beyond(direction)} (fromUnixTimestamp64Milli({cursor_ms:Int64}, 'UTC'), {cursor_id:String}${place})`;
  const params = {
    cursor_ms: timestamp,
    cursor_id: event_id,
    ...(position === null ? {} : { cursor_position: position }),
  };
  if (sort === 'timestamp') return { sql: `and ${later(order)}`, params };
  assert(event_name !== null, 'the cursor of a list sorted by name contains a name');
  return {
    sql: `and (event_name ${beyond(order)} {cursor_name:String}
           or (event_name = {cursor_name:String} and ${later('desc')}))`,
    params: { ...params, cursor_name: event_name },
  };
}
