import type { ClickHouseQuery } from '../client.ts';

/** Events of one environment by their own timestamps. Milliseconds, half-open. */
export interface EventCountQuestion {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly start: number;
  readonly end: number;
  /** Width of a step in seconds; 0: the whole range. */
  readonly step: number;
  /** Only events of this customer. Absent means all. */
  readonly external_customer_id?: string;
}

/** Of one copy: whether it is not the first of its id, whether a meter counts it, whether a meter rejected it. */
export type EventOutcome = 'duplicate' | 'metered' | 'rejected';

const SCOPE = 'tenant_id = {tenant_id:String} and environment_id = {environment_id:String}';
const rangeOf = ({ external_customer_id }: EventCountQuestion): string => `${SCOPE}
         and timestamp >= fromUnixTimestamp64Milli({start_ms:Int64}, 'UTC')
         and timestamp < fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC')${
           external_customer_id === undefined
             ? ''
             : ' and external_customer_id = {external_customer_id:String}'
         }`;

const paramsOf = ({ start, end, ...query }: EventCountQuestion) => ({
  ...query,
  start_ms: start,
  end_ms: end,
});

/**
 * The bits of a position in another order, one to one: epoch, high bits of the index, offset, low ten bits of
 * the index. Positions are collected in bitmaps, one for each log partition, so that a row that a replay
 * wrote twice counts once. In this order the events of sixty-four records share a part of their bitmap, which
 * is four times as fast as the position itself, and ten times as fast as a set of hashes.
 */
export const GATHERED = `
  bitOr(bitOr(bitAnd(position, 0xFF00000000000000), bitShiftLeft(bitAnd(position, 0xFC00), 40)),
        bitOr(bitShiftLeft(bitAnd(bitShiftRight(position, 16), 0xFFFFFFFFFF), 10), bitAnd(position, 0x3FF)))`;

/** Accepted copies by step, and how many of them are not the first of their id. */
export function acceptedCounts(query: EventCountQuestion): ClickHouseQuery {
  return {
    sql: `
      select slot, sum(copies), sum(behind)
        from (select toUInt32(if({step:UInt32} = 0, 0, intDiv(toUnixTimestamp(timestamp), {step:UInt32}) * {step:UInt32})) as slot,
                     groupBitmap(${GATHERED}) as copies, groupBitmapIf(${GATHERED}, not is_canonical) as behind
                from events_raw_v1
               where ${rangeOf(query)}
               group by slot, partition)
       group by slot
       order by slot`,
    params: paramsOf(query),
  };
}

const NOT_VOIDED = `(partition, position) not in (
                       select target_partition, target_position from usage_void_v1 where ${SCOPE})`;

/** Events that at least one meter counts. */
export function meteredCount(query: EventCountQuestion): ClickHouseQuery {
  return {
    sql: `
      select sum(events)
        from (select groupBitmap(${GATHERED}) as events
                from meter_usage_v1
               where ${rangeOf(query)}
                 and ${NOT_VOIDED}
               group by partition)`,
    params: paramsOf(query),
  };
}

const rejected = (columns: string) => `select ${columns} from events_rejected_v1 where ${SCOPE}`;
const REJECTED = `(event_name, external_customer_id) in (${rejected('event_name, external_customer_id')})
                 and (partition, position) in (${rejected('partition, position')})`;

/**
 * Events that some meter applies to and could not count. Rejections lack the event's time, so only the events
 * with their customers and names are searched.
 */
export function rejectedCount(query: EventCountQuestion): ClickHouseQuery {
  return {
    sql: `
      select sum(events)
        from (select groupBitmap(${GATHERED}) as events
                from events_raw_v1
               where ${rangeOf(query)}
                 and ${REJECTED}
               group by partition)`,
    params: paramsOf(query),
  };
}

/** Condition on `events_raw_v1` for the copies of events that are counted, `start_ms` and `end_ms` included. */
export const COPIES_OF: Readonly<Record<EventOutcome, string>> = {
  duplicate: 'not is_canonical',
  metered: `(partition, position) in (
              select partition, position
                from meter_usage_v1
               where ${SCOPE}
                 and timestamp >= fromUnixTimestamp64Milli({start_ms:Int64}, 'UTC')
                 and timestamp <= fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC')
                 and ${NOT_VOIDED})`,
  rejected: REJECTED,
};
