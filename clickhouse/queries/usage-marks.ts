import type { Position } from '../../domain/metering/position.ts';
import type { ClickHouseQuery } from '../client.ts';
import type { StoredBucketSize } from '../rows.ts';
import type { RowBinaryReader } from '../row-binary.ts';
import { inUsageScope, type UsagePair, type UsageScope } from './usage-scope.ts';

/** Greatest position marked per log partition, by the bucket's start in seconds. */
export type BucketMarks = Map<number, Record<number, Position>>;

/** The marks of all buckets of one size in the scope, one row for each pair. */
export function usageMarks(size: StoredBucketSize, scope: UsageScope): ClickHouseQuery {
  const within = inUsageScope(scope, 'bucket_start');
  return {
    sql: `
      select external_customer_id, meter_version_id,
             groupArray((toUnixTimestamp(bucket_start), partition, position))
        from usage_touched_v1
       where bucket_size = {size:String} and ${within.sql}
       group by external_customer_id, meter_version_id`,
    params: { ...within.params, size },
  };
}

export function readUsageMarks(reader: RowBinaryReader): UsagePair & { marks: BucketMarks } {
  const external_customer_id = reader.string();
  const meter_version_id = reader.string();
  const marks: BucketMarks = new Map();
  for (let left = reader.length(); left > 0; left -= 1) {
    const start = reader.uint32();
    const partition = reader.uint16();
    const position = reader.uint64();
    let bucket = marks.get(start);
    if (bucket === undefined) marks.set(start, (bucket = {}));
    const known = bucket[partition];
    if (known === undefined || known < position) bucket[partition] = position;
  }
  return { external_customer_id, meter_version_id, marks };
}
