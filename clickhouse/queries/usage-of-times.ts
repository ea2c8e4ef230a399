import type { ClickHouseQuery } from '../client.ts';
import type { RowBinaryReader } from './row-binary.ts';
import { rowsBelow, type RowBounds } from './row-bounds.ts';
import { readState, stateColumns, type StateNeeds, type UsagePart } from './usage-buckets.ts';
import { inUsageScope, type UsageScope } from './usage-scope.ts';

/** Rows of all customers, and how they are added up. Milliseconds. */
export interface RowsOfTimes {
  readonly scope: UsageScope;
  /** Starts of the quarter hours to read. */
  readonly quarters: readonly number[];
  /** Starts of ranges, ascending: the rows between two of them are added up. */
  readonly borders: readonly number[];
  readonly bounds: RowBounds;
  readonly needs: StateNeeds;
  /** Whether any query filters or groups by dimensions or sources. */
  readonly tellsDimensions: boolean;
  readonly tellsSources: boolean;
}

/** The sums of the rows below the bounds, for each meter version and range. */
export function usageOfTimes(rows: RowsOfTimes): ClickHouseQuery {
  const within = inUsageScope(rows.scope, 'timestamp');
  const below = rowsBelow(rows.bounds, rows.scope);
  // Integers in the statement's text, as in `sumBuckets`.
  const quarters = rows.quarters.map((ms) => Math.trunc(ms / 900_000)).join(',');
  const borders = rows.borders.map((ms) => Math.trunc(ms)).join(',');
  return {
    sql: `
      select meter_version_id,
             roundDown(toInt64(toUnixTimestamp64Milli(timestamp)), CAST('[${borders}]', 'Array(Int64)')) as slot,
             ${rows.tellsDimensions ? 'dimensions' : "CAST([], 'Array(String)')"} as labels,
             ${rows.tellsSources ? 'source' : "''"} as origin,
             ${stateColumns(rows.needs)}
        from meter_usage_v1 final
       where ${within.sql} and intDiv(toUnixTimestamp(timestamp), 900) in (${quarters}) and ${below.sql}
       group by meter_version_id, slot, labels, origin`,
    params: { ...within.params, ...below.params },
  };
}

export interface UsageOfTime extends UsagePart {
  readonly meter_version_id: string;
  /** Milliseconds: the last border at or before the rows. */
  readonly slot: number;
}

export function readUsageOfTimes(reader: RowBinaryReader, needs: StateNeeds): UsageOfTime {
  return {
    meter_version_id: reader.string(),
    slot: reader.count(),
    dimensions: reader.strings(),
    source: reader.string(),
    state: readState(reader, needs),
  };
}
