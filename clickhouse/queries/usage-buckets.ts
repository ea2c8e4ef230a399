import type { UsageState } from '../../domain/metering/usage-state.ts';
import type { AggregationType } from '../../domain/metering/usage.ts';
import type { ClickHouseQuery } from '../client.ts';
import type { StoredBucketSize } from '../rows.ts';
import type { RowBinaryReader } from './row-binary.ts';
import { BUCKET_TABLES } from './touched-buckets.ts';
import {
  inQuarters,
  inUsageScope,
  type Range,
  type UsagePair,
  type UsageScope,
} from './usage-scope.ts';

/** The state of one combination of dimensions and source in one bucket or range. */
export interface UsagePart {
  readonly dimensions: readonly string[];
  readonly source: string;
  readonly state: UsageState;
}

/** A stored row of a bucket, of any seal. */
export interface BucketRow extends UsagePart {
  readonly seal: bigint;
  /** 0 for quarter hours. */
  readonly unique_count: number;
}

/**
 * Parts of a state that the queries of one read need. A billing run reads some 300,000 buckets at a time, and
 * reading an unused 256-bit number costs as much as a used one.
 */
export interface StateNeeds {
  readonly sum: boolean;
  readonly sum_value_time: boolean;
  readonly extremes: boolean;
  readonly latest: boolean;
}

export function stateNeeds(aggregations: ReadonlySet<AggregationType>): StateNeeds {
  const someOf = (...types: AggregationType[]) => types.some((type) => aggregations.has(type));
  return {
    sum: someOf('SUM', 'SUM_WITH_MULTIPLIER', 'AVG', 'WEIGHTED_SUM'),
    sum_value_time: someOf('WEIGHTED_SUM'),
    extremes: someOf('MAX', 'MIN'),
    latest: someOf('LATEST'),
  };
}

/**
 * All stored rows of the buckets of one size in the scope, one row for each pair. With `quarters` also those of the
 * quarter hours that begin in that time.
 */
export function usageBuckets(
  size: StoredBucketSize,
  scope: UsageScope,
  needs: StateNeeds,
  quarters: Range | null = null,
): ClickHouseQuery {
  const within = inUsageScope(scope, 'bucket_start');
  const also = quarters === null ? null : inQuarters(quarters);
  const parts = [
    rowsOfPairs(size, within.sql, needs),
    ...(also === null ? [] : [rowsOfPairs('15MIN', `${within.sql} and ${also.sql}`, needs)]),
  ];
  return { sql: parts.join(' union all '), params: { ...within.params, ...also?.params } };
}

function rowsOfPairs(size: StoredBucketSize, condition: string, needs: StateNeeds): string {
  const columns = [
    'toUnixTimestamp(bucket_start)', 'seal', 'dimensions', 'source',
    size === 'DAY' ? 'unique_count' : 'toUInt64(0)',
    'event_count',
    ...(needs.sum ? ['sum'] : []),
    ...(needs.sum_value_time ? ['sum_value_time'] : []),
    ...(needs.extremes ? ['min', 'max'] : []),
    ...(needs.latest
      ? ['latest', 'toUnixTimestamp64Milli(latest_at)', 'latest_position', 'latest_partition']
      : []),
  ]; // prettier-ignore
  return `
      select '${size}', external_customer_id, meter_version_id, groupArray((${columns.join(', ')}))
        from ${BUCKET_TABLES[size]}
       where ${condition}
       group by external_customer_id, meter_version_id`;
}

/** The rows of each bucket by its start in seconds. */
export type StoredBuckets = Map<number, BucketRow[]>;

export function readUsageBuckets(
  reader: RowBinaryReader,
  needs: StateNeeds,
): UsagePair & { size: StoredBucketSize; buckets: StoredBuckets } {
  const size = reader.string() as StoredBucketSize;
  const external_customer_id = reader.string();
  const meter_version_id = reader.string();
  const buckets: StoredBuckets = new Map();
  for (let left = reader.length(); left > 0; left -= 1) {
    const start = reader.uint32();
    const row = {
      seal: reader.uint64(),
      dimensions: reader.strings(),
      source: reader.string(),
      unique_count: reader.count(),
      state: readState(reader, needs),
    };
    const known = buckets.get(start);
    if (known === undefined) buckets.set(start, [row]);
    else known.push(row);
  }
  return { size, external_customer_id, meter_version_id, buckets };
}

/** The states of rows added up in one statement, in the order that `readState` reads. */
export function stateColumns(needs: StateNeeds): string {
  return [
    'count()',
    ...(needs.sum ? ['sum(toDecimal256(value, 18))'] : []),
    ...(needs.sum_value_time
      ? ['sum(toDecimal256(value, 18) * toUnixTimestamp64Milli(timestamp))']
      : []),
    ...(needs.extremes ? ['min(value)', 'max(value)'] : []),
    ...(needs.latest
      ? [
          'argMax(value, (timestamp, position, partition))',
          'max((toUnixTimestamp64Milli(timestamp), position, partition))',
        ]
      : []),
  ].join(', ');
}

export function readState(reader: RowBinaryReader, needs: StateNeeds): UsageState {
  return {
    event_count: reader.count(),
    sum: needs.sum ? reader.int256() : 0n,
    sum_value_time: needs.sum_value_time ? reader.int256() : 0n,
    min: needs.extremes ? reader.int128() : 0n,
    max: needs.extremes ? reader.int128() : 0n,
    latest: needs.latest ? reader.int128() : 0n,
    latest_at: needs.latest ? reader.count() : 0,
    latest_position: needs.latest ? reader.uint64() : 0n,
    latest_partition: needs.latest ? reader.uint16() : 0,
  };
}
