import type { ClickHouseQuery } from '../client.ts';
import type { BucketKey, StoredBucketSize } from '../rows.ts';
import { rowsBelow, type RowBounds } from './row-bounds.ts';
import { BUCKET_SECONDS, BUCKET_TABLES } from './touched-buckets.ts';

const KEY = 'tenant_id, environment_id, external_customer_id, meter_version_id, bucket_start';
const NO_HASH = `toUUID('00000000-0000-0000-0000-000000000000')`;

/** The aggregates of a bucket, in the order of the table's columns. */
const STATES = `
  count() as event_count,
  sum(toDecimal256(value, 18)) as sum,
  sum(toDecimal256(value, 18) * toUnixTimestamp64Milli(timestamp)) as sum_value_time,
  min(value) as min,
  max(value) as max,
  argMax(value, (timestamp, position, partition)) as latest,
  max((timestamp, position, partition)) as last`;
const COLUMNS = `event_count, sum, sum_value_time, min, max, latest,
  last.1 as latest_at, last.2 as latest_position, last.3 as latest_partition`;

/**
 * Rewrites the given buckets of one size, under a seal, from the rows below the bounds. A bucket without rows
 * gets an empty row, because otherwise its older rows would still count.
 */
export function recomputeBuckets(
  size: StoredBucketSize,
  buckets: readonly BucketKey[],
  bounds: RowBounds,
  seal: bigint,
): ClickHouseQuery {
  const computed = computedBuckets(size, buckets, bounds);
  return {
    sql: `
      insert into ${BUCKET_TABLES[size]} (${storedColumns(size)}, seal)
      select *, {seal:UInt64} from (${computed.sql})`,
    params: { ...computed.params, seal },
  };
}

/** The computed content of the given buckets below the bounds, in the order of `storedColumns`. */
export function computedBuckets(
  size: StoredBucketSize,
  buckets: readonly BucketKey[],
  bounds: RowBounds,
): ClickHouseQuery {
  const rows = rowsOf(size, buckets, bounds);
  const uniques =
    size === 'DAY' ? `, uniqExactIf(unique_hash, unique_hash != ${NO_HASH}) as unique_count` : '';
  return {
    sql: `
      select ${KEY}, dimensions, source, ${COLUMNS} ${size === 'DAY' ? ', unique_count' : ''}
        from (${BUCKETS}) as buckets
        left join (select ${KEY}, dimensions, source, ${STATES} ${uniques}
                     from (${rows.sql})
                    group by ${KEY}, dimensions, source) as states
       using (${KEY})`,
    params: rows.params,
  };
}

/** The stored rows of the given buckets under a seal, in the order of `storedColumns`. */
export function bucketsUnderSeal(
  size: StoredBucketSize,
  buckets: readonly BucketKey[],
  seal: bigint,
): ClickHouseQuery {
  return {
    sql: `
      select ${storedColumns(size)}
        from ${BUCKET_TABLES[size]} final
       where (${KEY}) in (${BUCKETS}) and seal = {seal:UInt64}`,
    params: { ...keyParams(buckets), seal },
  };
}

/** Number of rows with events of a version under a seal, in both tables, without some customers. */
export function countSealedBuckets(
  version: { tenant_id: string; environment_id: string; meter_version_id: string },
  seal: bigint,
  exceptCustomers: readonly string[],
): ClickHouseQuery {
  const count = (table: string) => `
    select count() as n from ${table} final
     where tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
       and meter_version_id = {meter_version_id:String} and seal = {seal:UInt64} and event_count > 0
       and external_customer_id not in {except_customers:Array(String)}`;
  return {
    sql: `select sum(n) from (${count(BUCKET_TABLES['15MIN'])} union all ${count(BUCKET_TABLES['DAY'])})`,
    params: { ...version, seal, except_customers: exceptCustomers },
  };
}

function storedColumns(size: StoredBucketSize): string {
  return `${KEY}, dimensions, source, event_count, sum, sum_value_time, min, max, latest,
          latest_at, latest_position, latest_partition ${size === 'DAY' ? ', unique_count' : ''}`;
}

/** The unique values of the given days, each under the seal. Must be written before their day buckets. */
export function recomputeUniques(
  buckets: readonly BucketKey[],
  bounds: RowBounds,
  seal: bigint,
): ClickHouseQuery {
  const rows = rowsOf('DAY', buckets, bounds);
  return {
    sql: `
      insert into usage_uniques_per_day_v1 (${KEY}, dimensions, source, unique_hash, seal)
      select distinct ${KEY}, dimensions, source, unique_hash, {seal:UInt64}
        from (${rows.sql})
       where unique_hash != ${NO_HASH}`,
    params: { ...rows.params, seal },
  };
}

const BUCKETS = `
  select bucket.1 as tenant_id, bucket.2 as environment_id, bucket.3 as external_customer_id,
         bucket.4 as meter_version_id, toDateTime(bucket.5, 'UTC') as bucket_start
    from (select arrayJoin(arrayZip({tenant_ids:Array(String)}, {environment_ids:Array(String)},
                   {customer_ids:Array(String)}, {version_ids:Array(String)}, {starts:Array(UInt32)})) as bucket)`;

/** Rows of the buckets, once each. The first two conditions are for the index and the partitions. */
function rowsOf(
  size: StoredBucketSize,
  buckets: readonly BucketKey[],
  bounds: RowBounds,
): ClickHouseQuery {
  const below = rowsBelow(bounds);
  const seconds = BUCKET_SECONDS[size];
  const starts = buckets.map((bucket) => bucket.bucket_start / 1000);
  return {
    sql: `
      select *, toDateTime(toUInt32(intDiv(toUnixTimestamp(timestamp), ${seconds}) * ${seconds}), 'UTC') as bucket_start
        from meter_usage_v1 final
       where (tenant_id, environment_id, external_customer_id, meter_version_id) in (
               select arrayJoin(arrayZip({tenant_ids:Array(String)}, {environment_ids:Array(String)},
                        {customer_ids:Array(String)}, {version_ids:Array(String)})))
         and timestamp >= toDateTime({first_start:UInt32}, 'UTC')
         and timestamp < toDateTime({last_end:UInt32}, 'UTC')
         and (${KEY}) in (${BUCKETS})
         and ${below.sql}`,
    params: {
      ...below.params,
      ...keyParams(buckets),
      first_start: Math.min(...starts),
      last_end: Math.max(...starts) + seconds,
    },
  };
}

function keyParams(buckets: readonly BucketKey[]): Record<string, unknown> {
  return {
    tenant_ids: buckets.map((bucket) => bucket.tenant_id),
    environment_ids: buckets.map((bucket) => bucket.environment_id),
    customer_ids: buckets.map((bucket) => bucket.external_customer_id),
    version_ids: buckets.map((bucket) => bucket.meter_version_id),
    starts: buckets.map((bucket) => bucket.bucket_start / 1000),
  };
}
