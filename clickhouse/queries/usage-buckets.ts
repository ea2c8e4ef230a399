import type { UsageState } from '../../domain/metering/usage-state.ts';
import type { ClickHouseQuery } from '../client.ts';
import type { StoredBucketSize } from '../rows.ts';
import type { RowBinaryReader } from '../row-binary.ts';
import { BUCKET_TABLES } from './touched-buckets.ts';
import { inUsageScope, type UsagePair, type UsageScope } from './usage-scope.ts';

/** What one combination of dimensions and source had in one bucket or stretch of time. */
export interface UsagePart {
  readonly dimensions: readonly string[];
  readonly source: string;
  readonly state: UsageState;
}

/** A stored row of a bucket, of whatever seal. */
export interface BucketRow extends UsagePart {
  readonly seal: bigint;
  /** Days only. */
  readonly unique_count: number;
}

/** All stored rows of the buckets of one size in the scope, one row for each pair. */
export function usageBuckets(size: StoredBucketSize, scope: UsageScope): ClickHouseQuery {
  const within = inUsageScope(scope, 'bucket_start');
  return {
    sql: `
      select external_customer_id, meter_version_id,
             groupArray((toUnixTimestamp(bucket_start), seal, dimensions, source, ${STATE_COLUMNS},
                         ${size === 'DAY' ? 'unique_count' : 'toUInt64(0)'}))
        from ${BUCKET_TABLES[size]}
       where ${within.sql}
       group by external_customer_id, meter_version_id`,
    params: within.params,
  };
}

const STATE_COLUMNS = `
  event_count, sum, sum_value_time, min, max, latest, toUnixTimestamp64Milli(latest_at) as latest_ms,
  latest_position, latest_partition`;

export function readUsageBuckets(
  reader: RowBinaryReader,
): UsagePair & { buckets: Map<number, BucketRow[]> } {
  const external_customer_id = reader.string();
  const meter_version_id = reader.string();
  const buckets = new Map<number, BucketRow[]>();
  for (let left = reader.length(); left > 0; left -= 1) {
    const start = reader.uint32();
    const seal = reader.uint64();
    const dimensions = reader.array(() => reader.string());
    const source = reader.string();
    const row = {
      seal,
      dimensions,
      source,
      state: readState(reader),
      unique_count: reader.count(),
    };
    const known = buckets.get(start);
    if (known === undefined) buckets.set(start, [row]);
    else known.push(row);
  }
  return { external_customer_id, meter_version_id, buckets };
}

/** Reads what `STATE_COLUMNS` selects. */
export function readState(reader: RowBinaryReader): UsageState {
  return {
    event_count: reader.count(),
    sum: reader.int256(),
    sum_value_time: reader.int256(),
    min: reader.int128(),
    max: reader.int128(),
    latest: reader.int128(),
    latest_at: reader.count(),
    latest_position: reader.uint64(),
    latest_partition: reader.uint16(),
  };
}
