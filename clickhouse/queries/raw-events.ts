import type { Position, WatermarkVector } from '../../domain/metering/position.ts';
import type { ClickHouseQuery } from '../client.ts';
import type { RawEventRow } from '../rows.ts';
import { AT_EVENT } from './event-places.ts';
import { STOPS_EARLY } from './paging.ts';
import type { Condition } from './row-bounds.ts';

export type RawEventCells = [
  tenantId: string,
  environmentId: string,
  eventName: string,
  externalCustomerId: string,
  customerId: string,
  timestamp: string,
  eventId: string,
  source: string,
  properties: string,
  ingestedAt: string,
  partition: number,
  position: string,
  isCanonical: boolean,
];

/** The columns of a `RawEventRow`, times in milliseconds. */
export const RAW_EVENT_COLUMNS = `
  tenant_id, environment_id, event_name, external_customer_id, customer_id,
  toUnixTimestamp64Milli(timestamp), event_id, source, properties,
  toUnixTimestamp64Milli(ingested_at), partition, position, is_canonical`;

export function rawEventRow(cells: RawEventCells): RawEventRow {
  return {
    tenant_id: cells[0],
    environment_id: cells[1],
    event_name: cells[2],
    external_customer_id: cells[3],
    customer_id: cells[4],
    timestamp: Number(cells[5]),
    event_id: cells[6],
    source: cells[7],
    properties: cells[8],
    ingested_at: Number(cells[9]),
    partition: cells[10],
    position: BigInt(cells[11]),
    is_canonical: cells[12],
  };
}

/** Start of a page of canonical events: after this row, in the order of the table. */
export type CanonicalCursor = Pick<
  RawEventRow,
  'external_customer_id' | 'timestamp' | 'position' | 'partition'
>;

export interface CanonicalEvents {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_name: string;
  readonly below: WatermarkVector;
  /** Excludes events that corrections below this vector voided. Absent: voided events are included. */
  readonly voidedBelow?: WatermarkVector;
}

/**
 * The next canonical copies of one event name, in the order of the table, so that a page reads from its
 * beginning and stops. Without FINAL: a duplicate row is returned twice.
 */
export function canonicalEvents(
  query: CanonicalEvents & {
    readonly after: CanonicalCursor | undefined;
    readonly limit: number;
  },
): ClickHouseQuery {
  const after = query.after;
  const canonical = canonicalBelow(query);
  // The second line is for the sparse index; the third is exact.
  const behind = `
         and external_customer_id >= {after_customer:String}
         and (external_customer_id > {after_customer:String} or timestamp >= fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC'))
         and (external_customer_id, timestamp, position, partition)
           > ({after_customer:String}, fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC'), {after_position:UInt64}, {after_partition:UInt16})`;
  return {
    sql: `
      select ${RAW_EVENT_COLUMNS}
        from events_raw_v1
       where ${canonical.sql}
         ${after === undefined ? '' : behind}
       order by external_customer_id, timestamp, position, partition
       limit {limit:UInt32}
    settings ${STOPS_EARLY}`,
    params: {
      ...canonical.params,
      limit: query.limit,
      ...(after === undefined
        ? {}
        : {
            after_customer: after.external_customer_id,
            after_ms: after.timestamp,
            after_position: after.position,
            after_partition: after.partition,
          }),
    },
  };
}

/** Approximate number of rows in all pages of `canonicalEvents`. */
export function countCanonicalEvents(query: CanonicalEvents): ClickHouseQuery {
  const { sql, params } = canonicalBelow(query);
  return { sql: `select count() from events_raw_v1 where ${sql}`, params };
}

function canonicalBelow(query: CanonicalEvents): Condition {
  const bounds = Object.entries(query.below);
  const voided = Object.entries(query.voidedBelow ?? {});
  const counted =
    query.voidedBelow === undefined
      ? ''
      : `and (partition, position) not in (
           select target_partition, target_position from usage_void_v1
            where tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
              and position < transform(partition, {void_partitions:Array(UInt16)}, {void_positions:Array(UInt64)}, toUInt64(0)))`;
  return {
    sql: `tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
         and event_name = {event_name:String}
         and is_canonical
         and position < transform(partition, {below_partitions:Array(UInt16)}, {below_positions:Array(UInt64)}, toUInt64(0))
         ${counted}`,
    params: {
      tenant_id: query.tenant_id,
      environment_id: query.environment_id,
      event_name: query.event_name,
      below_partitions: bounds.map(([partition]) => Number(partition)),
      below_positions: bounds.map(([, position]) => position),
      ...(query.voidedBelow === undefined
        ? {}
        : {
            void_partitions: voided.map(([partition]) => Number(partition)),
            void_positions: voided.map(([, position]) => position),
          }),
    },
  };
}

/** One copy of an event, by its id and position. */
export function rawEventAt(query: {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_id: string;
  readonly position: Position;
}): ClickHouseQuery {
  return {
    sql: `
      select ${RAW_EVENT_COLUMNS}
        from events_raw_v1
       where tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
         and event_id = {event_id:String} and ${AT_EVENT} and position = {position:UInt64}
       limit 1`,
    params: query,
  };
}

export interface CountedEvents {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_name: string;
  /** Null: all customers. */
  readonly external_customer_ids: readonly string[] | null;
  /** Milliseconds, half-open. */
  readonly start: number;
  readonly end: number;
  readonly limit: number;
}

/** The canonical copies of a range, without voided events, each once. */
export function countedEvents(query: CountedEvents): ClickHouseQuery {
  const { external_customer_ids, start, end, ...params } = query;
  return {
    sql: `
      select ${RAW_EVENT_COLUMNS}
        from events_raw_v1
       where tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
         and event_name = {event_name:String}
         ${external_customer_ids === null ? '' : 'and external_customer_id in {external_customer_ids:Array(String)}'}
         and timestamp >= fromUnixTimestamp64Milli({start_ms:Int64}, 'UTC')
         and timestamp < fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC')
         and is_canonical
         and (partition, position) not in (
               select target_partition, target_position from usage_void_v1
                where tenant_id = {tenant_id:String} and environment_id = {environment_id:String})
       limit 1 by position, partition
       limit {limit:UInt32}`,
    params: {
      ...params,
      start_ms: start,
      end_ms: end,
      ...(external_customer_ids === null ? {} : { external_customer_ids }),
    },
  };
}
