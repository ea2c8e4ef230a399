import type { ClickHouseQuery } from '../client.ts';
import type { RowBinaryReader } from './row-binary.ts';
import { rowsBelow, type RowBounds } from './row-bounds.ts';
import { readState, stateColumns, type StateNeeds, type UsagePart } from './usage-buckets.ts';
import { inUsageScope, type UsagePair, type UsageScope } from './usage-scope.ts';

/** A range of time in which a pair's rows are read individually. */
export interface RowStretch extends UsagePair {
  /** Milliseconds, half-open. */
  readonly start: number;
  readonly end: number;
  /** Rows are added up per minute, for windows of minutes; otherwise over the whole range. */
  readonly by_minute: boolean;
}

/** The sums of the rows below the bounds, for each range (by its index in the list). */
export function usageRows(
  scope: UsageScope,
  stretches: readonly RowStretch[],
  bounds: RowBounds,
  needs: StateNeeds,
): ClickHouseQuery {
  const within = inUsageScope(scope, 'timestamp');
  const below = rowsBelow(bounds, scope);
  return {
    sql: `
      select number, slot, dimensions, source,
             ${stateColumns(needs)}
        from (${rowsInStretches(stretches.length, `${within.sql} and ${below.sql}`)}) as counted
       group by number,
                toUInt32(if(by_minute, intDiv(toUnixTimestamp(timestamp), 60) * 60, 0)) as slot,
                dimensions, source`,
    params: { ...within.params, ...below.params, ...stretchParams(stretches) },
  };
}

/**
 * Up to this many ranges, each row is compared with all of them. A join costs 2.4 of 19 ms of a statement that reads
 * few rows, and less than the comparisons if there are many ranges.
 */
const COMPARED_MAX = 8;

/** The rows that meet the condition, once for each range that contains them. */
function rowsInStretches(count: number, condition: string): string {
  if (count > COMPARED_MAX)
    return `
      select timestamp, position, partition, value, dimensions, source, number, by_minute
        from (select external_customer_id, meter_version_id, timestamp, position, partition, value, dimensions, source
                from meter_usage_v1 final
               where ${condition}) as rows
       inner join (${STRETCHES}) as stretches
       using (external_customer_id, meter_version_id)
       where timestamp >= stretch_start and timestamp < stretch_end`;
  return `
      select timestamp, position, partition, value, dimensions, source,
             arrayJoin(arrayFilter(
               stretch -> stretch.1 = external_customer_id and stretch.2 = meter_version_id
                 and toUnixTimestamp64Milli(timestamp) >= stretch.3 and toUnixTimestamp64Milli(timestamp) < stretch.4,
               ${ZIPPED_STRETCHES})) as stretch,
             stretch.5 as by_minute, stretch.6 as number
        from meter_usage_v1 final
       where ${condition}`;
}

/**
 * The sums of the rows below the bounds, for each range and each time, in the order of time: the first `page` sums
 * and all others of their last time.
 */
export function usageTimes(
  scope: UsageScope,
  stretches: readonly RowStretch[],
  bounds: RowBounds,
  needs: StateNeeds,
  page: number,
): ClickHouseQuery {
  const within = inUsageScope(scope, 'timestamp');
  const below = rowsBelow(bounds, scope);
  return {
    sql: `
      select number, toInt64(toUnixTimestamp64Milli(timestamp)) as at, dimensions, source,
             ${stateColumns(needs)}
        from (${rowsInStretches(stretches.length, `${within.sql} and ${below.sql}`)}) as counted
       group by number, timestamp, dimensions, source
       order by timestamp
       limit {page:UInt32} with ties`,
    params: { ...within.params, ...below.params, ...stretchParams(stretches), page },
  };
}

export function readUsageTimes(reader: RowBinaryReader, needs: StateNeeds) {
  return {
    number: reader.uint32(),
    /** Milliseconds. */
    at: reader.count(),
    dimensions: reader.strings(),
    source: reader.string(),
    state: readState(reader, needs),
  };
}

/** The ranges as an array: customer, meter version, start and end in milliseconds, by minute, number. */
const ZIPPED_STRETCHES = `arrayZip({stretch_customers:Array(String)}, {stretch_versions:Array(String)},
                   {stretch_starts:Array(Int64)}, {stretch_ends:Array(Int64)},
                   {stretch_minutes:Array(UInt8)}, {stretch_numbers:Array(UInt32)})`;

/** The ranges as a table, numbered in the order of the list. */
export const STRETCHES = `
  select stretch.1 as external_customer_id, stretch.2 as meter_version_id,
         fromUnixTimestamp64Milli(stretch.3, 'UTC') as stretch_start,
         fromUnixTimestamp64Milli(stretch.4, 'UTC') as stretch_end,
         stretch.5 as by_minute, stretch.6 as number
    from (select arrayJoin(${ZIPPED_STRETCHES}) as stretch)`;

export function stretchParams(stretches: readonly RowStretch[]): Record<string, unknown> {
  return {
    stretch_customers: stretches.map((stretch) => stretch.external_customer_id),
    stretch_versions: stretches.map((stretch) => stretch.meter_version_id),
    stretch_starts: stretches.map((stretch) => stretch.start),
    stretch_ends: stretches.map((stretch) => stretch.end),
    stretch_minutes: stretches.map((stretch) => Number(stretch.by_minute)),
    stretch_numbers: stretches.map((_, index) => index),
  };
}

export interface StretchPart extends UsagePart {
  /** The range's index in the list. */
  readonly number: number;
  /** Milliseconds: the minute, or 0. */
  readonly slot: number;
}

export function readUsageRows(reader: RowBinaryReader, needs: StateNeeds): StretchPart {
  return {
    number: reader.uint32(),
    slot: reader.uint32() * 1000,
    dimensions: reader.strings(),
    source: reader.string(),
    state: readState(reader, needs),
  };
}
