import type { ClickHouseQuery } from '../client.ts';

/** Events of one environment by their own time. Milliseconds, half-open. */
export interface EventCountQuestion {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly start: number;
  readonly end: number;
  /** Seconds that are counted together; 0: the whole range. */
  readonly step: number;
}

const RANGE = `tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
         and timestamp >= fromUnixTimestamp64Milli({start_ms:Int64}, 'UTC')
         and timestamp < fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC')`;

const paramsOf = ({ start, end, ...query }: EventCountQuestion) => ({
  ...query,
  start_ms: start,
  end_ms: end,
});

/** Accepted copies and how many of them are the first of their id, by step. */
export function acceptedCounts(query: EventCountQuestion): ClickHouseQuery {
  return {
    sql: `
      select toUInt32(if({step:UInt32} = 0, 0, intDiv(toUnixTimestamp(timestamp), {step:UInt32}) * {step:UInt32})) as slot,
             uniqExact(position, partition), uniqExactIf((position, partition), is_canonical)
        from events_raw_v1
       where ${RANGE}
       group by slot
       order by slot`,
    params: paramsOf(query),
  };
}

/** Events that at least one meter counts. */
export function meteredCount(query: EventCountQuestion): ClickHouseQuery {
  return {
    sql: `
      select uniqExact(position, partition)
        from meter_usage_v1
       where ${RANGE}
         and (partition, position) not in (
               select target_partition, target_position from usage_void_v1
                where tenant_id = {tenant_id:String} and environment_id = {environment_id:String})`,
    params: paramsOf(query),
  };
}

/** Events that some meter was meant for and could not count. */
export function rejectedCount(query: EventCountQuestion): ClickHouseQuery {
  return {
    sql: `
      select uniqExact(position, partition)
        from events_rejected_v1
       where tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
         and (partition, position) in (select partition, position from events_raw_v1 where ${RANGE})`,
    params: paramsOf(query),
  };
}
