import type { ClickHouseQuery } from '../client.ts';
import { AT_EVENT } from './event-places.ts';
import { RAW_EVENT_COLUMNS } from './raw-events.ts';
import { propertyFilters } from './scalar-text.ts';

/** Which raw copies are listed. Times in milliseconds, both ends included. */
export interface EventSearch {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly external_customer_id: string | null;
  readonly event_name: string | null;
  readonly event_id: string | null;
  readonly source: string | null;
  readonly start: number;
  readonly end: number;
  /** AND of keys, OR of values. */
  readonly property_filters: Readonly<Record<string, readonly string[]>>;
  readonly sort: 'timestamp' | 'event_name';
  readonly order: 'asc' | 'desc';
  /** Only what lies behind (or before) this event in time, itself left out. */
  readonly cursor: {
    readonly side: 'older' | 'newer';
    readonly timestamp: number;
    readonly event_id: string;
  } | null;
  readonly limit: number;
  readonly offset: number;
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
 * The time behind which so many copies lie, newest or oldest first as the page is; nothing when there are
 * fewer. One column is sorted for it, and only its head kept: a page of a large environment then reads
 * the few events that it shows.
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

/** Copies as they are stored, of which a replay may have left two. */
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
  const { cursor } = search;
  const sign = cursor?.side === 'older' ? '<' : '>';
  return {
    sql: `tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
         ${texts.map((column) => `and ${column} = {${column}:String}`).join(' ')}
         ${search.event_id === null ? '' : `and ${AT_EVENT}`}
         and timestamp >= fromUnixTimestamp64Milli({start_ms:Int64}, 'UTC')
         and timestamp <= fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC')
         ${cursor === null ? '' : `and (timestamp, event_id) ${sign} (fromUnixTimestamp64Milli({cursor_ms:Int64}, 'UTC'), {cursor_id:String})`}
         ${filters.sql}`,
    params: {
      tenant_id: search.tenant_id,
      environment_id: search.environment_id,
      ...Object.fromEntries(texts.map((column) => [column, search[column]])),
      start_ms: search.start,
      end_ms: search.end,
      ...(cursor === null ? {} : { cursor_ms: cursor.timestamp, cursor_id: cursor.event_id }),
      ...filters.params,
    },
  };
}
