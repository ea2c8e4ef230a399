import type { WatermarkVector } from '../../domain/metering/position.ts';
import type { ClickHouseQuery } from '../client.ts';
import type { RowBinaryReader } from './row-binary.ts';
import type { StoredBucketSize } from '../rows.ts';
import { BUCKET_TABLES } from './touched-buckets.ts';
import { readState, type StateNeeds, type UsagePart } from './usage-buckets.ts';
import { inUsageScope, type UsagePair, type UsageScope } from './usage-scope.ts';

/** Seals on buckets of the scope: recorded or not, superseded or not. */
export function storedSeals(size: StoredBucketSize, scope: UsageScope): ClickHouseQuery {
  const within = inUsageScope(scope, 'bucket_start');
  return {
    sql: `select distinct seal from ${BUCKET_TABLES[size]} where ${within.sql}`,
    params: within.params,
  };
}

export type SealVectors = ReadonlyMap<bigint, WatermarkVector>;

const BUCKET = 'external_customer_id, meter_version_id, bucket_start';
/**
 * Identifies a stored row's bucket and seal, so that two statements can check that they read the same rows.
 */
const rowHash = (seal: string) =>
  `cityHash64(external_customer_id, meter_version_id, bucket_start, ${seal})`;

/**
 * Touched buckets of the scope, one row for each: whether it must not be used (never sealed, sealed under a seal
 * without a vector here, marked at or beyond its seal's vector (`mayUseBucket`), or with rows of several seals), and
 * the number of its stored rows.
 */
function judgedBuckets(size: StoredBucketSize, within: string, width: number): string {
  // Marks start at 1, because 0 means a partition without a mark.
  return `
        select ${BUCKET},
                     max(seal) as greatest,
                     countIf(seal > 0) as row_count,
                     transform(greatest, {seals:Array(UInt64)}, {seal_places:Array(UInt32)}, toUInt32(0)) as place,
                     maxForEach(mark) as marks,
                     place = 0 or minIf(seal, seal > 0) != greatest
                       or arrayExists((mark, at) -> mark > if(at > ${width}, 0, {bounds:Array(UInt64)}[toUInt64((place - 1) * ${width} + at)]),
                                      marks, arrayEnumerate(marks)) as is_unusable
                from (select ${BUCKET}, seal, CAST([], 'Array(UInt64)') as mark
                        from ${BUCKET_TABLES[size]} final
                       where ${within}
                      union all
                      select ${BUCKET}, toUInt64(0) as seal,
                             arrayPushBack(arrayWithConstant(partition, toUInt64(0)), position + 1) as mark
                        from usage_touched_v1
                       where bucket_size = {size:String} and ${within})
               group by ${BUCKET}`;
}

/**
 * Touched buckets that must not be used, one row for each, plus one row without a name: the number of stored rows of
 * the other buckets.
 */
export function unusableBuckets(
  size: StoredBucketSize,
  scope: UsageScope,
  vectors: SealVectors,
): ClickHouseQuery {
  const within = inUsageScope(scope, 'bucket_start');
  const { params, width } = boundsOf(vectors);
  return {
    sql: `
      select if(is_unusable, external_customer_id, '') as customer,
             if(is_unusable, meter_version_id, '') as version,
             if(is_unusable, toUnixTimestamp(bucket_start), 0) as start,
             sum(row_count), sum(row_count * ${rowHash('greatest')})
        from (${judgedBuckets(size, within.sql, width)})
       group by customer, version, start`,
    params: { ...within.params, ...params, size },
  };
}

export interface UnusableBucket extends UsagePair {
  /** Milliseconds. */
  readonly start: number;
  readonly row_count: number;
}

/** The touched buckets of all customers with one start. */
export interface BucketsOfTime {
  /** Milliseconds. */
  readonly start: number;
  /** How many must not be used. */
  readonly unusable_count: number;
  /** The number of stored rows of those. */
  readonly unusable_rows: number;
  /** Those that must not be used; empty if there are more than the limit of the statement. */
  readonly unusable: readonly UnusableBucket[];
  /** The stored rows of the others. */
  readonly row_count: number;
  readonly row_hash: bigint;
}

/**
 * The touched buckets of all customers, judged as in `unusableBuckets`: one row for each start, which names the buckets
 * that must not be used if they are at most `namedMax`.
 */
export function bucketsByTime(
  size: StoredBucketSize,
  scope: UsageScope,
  vectors: SealVectors,
  namedMax: number,
): ClickHouseQuery {
  const within = inUsageScope(scope, 'bucket_start');
  const { params, width } = boundsOf(vectors);
  const named = '(external_customer_id, meter_version_id, row_count)';
  const max = Math.trunc(namedMax);
  return {
    sql: `
      select toUnixTimestamp(bucket_start) as start,
             countIf(is_unusable) as unusable_count, sumIf(row_count, is_unusable),
             if(unusable_count > ${max}, [], groupArrayIf(${max + 1})(${named}, is_unusable)),
             sumIf(row_count, not is_unusable),
             sumIf(row_count * ${rowHash('greatest')}, not is_unusable)
        from (${judgedBuckets(size, within.sql, width)})
       group by start`,
    params: { ...within.params, ...params, size },
  };
}

export function readBucketsOfTime(reader: RowBinaryReader): BucketsOfTime {
  const start = reader.uint32() * 1000;
  const unusable_count = reader.count();
  const unusable_rows = reader.count();
  const unusable: UnusableBucket[] = [];
  for (let left = reader.length(); left > 0; left -= 1)
    unusable.push({
      external_customer_id: reader.string(),
      meter_version_id: reader.string(),
      start,
      row_count: reader.count(),
    });
  const [row_count, row_hash] = [reader.count(), reader.uint64()];
  return { start, unusable_count, unusable_rows, unusable, row_count, row_hash };
}

export function readUnusableBucket(
  reader: RowBinaryReader,
): UnusableBucket & { readonly row_hash: bigint } {
  return {
    external_customer_id: reader.string(),
    meter_version_id: reader.string(),
    start: reader.uint32() * 1000,
    row_count: reader.count(),
    row_hash: reader.uint64(),
  };
}

/** How the rows of buckets are added up. */
export interface BucketSums {
  readonly size: StoredBucketSize;
  readonly scope: UsageScope;
  readonly needs: StateNeeds;
  /** Starts of ranges in milliseconds, ascending: buckets between two of them are added up. */
  readonly borders: readonly number[];
  /** Whether any query filters or groups by dimensions or sources. */
  readonly tellsDimensions: boolean;
  readonly tellsSources: boolean;
  readonly vectors: SealVectors;
  readonly without: readonly UnusableBucket[];
  /** Starts of buckets that are left out for all customers. Milliseconds. */
  readonly withoutStarts: readonly number[];
}

/** The sums of the buckets under the seals, without the named ones; per pair if pairs are named. */
export function sumBuckets(sums: BucketSums): ClickHouseQuery {
  const within = inUsageScope(sums.scope, 'bucket_start');
  const { params } = boundsOf(sums.vectors);
  const without =
    sums.without.length === 0
      ? ''
      : `and (${BUCKET}) not in (
           select bucket.1, bucket.2, toDateTime(bucket.3, 'UTC')
             from (select arrayJoin(arrayZip({without_customers:Array(String)}, {without_versions:Array(String)},
                            {without_starts:Array(UInt32)})) as bucket))`;
  // Integers in the statement's text: a year of hours exceeds the server's limit for a parameter.
  const borders = sums.borders.map((ms) => Math.trunc(ms / 1000)).join(',');
  const withoutStarts =
    sums.withoutStarts.length === 0
      ? ''
      : `and toUnixTimestamp(bucket_start) not in (${sums.withoutStarts.map((ms) => Math.trunc(ms / 1000)).join(',')})`;
  return {
    sql: `
      select ${sums.scope.pairs === null ? "''" : 'external_customer_id'} as customer, meter_version_id,
             toUInt32(roundDown(toUnixTimestamp(bucket_start), CAST('[${borders}]', 'Array(UInt32)'))) as slot,
             ${sums.tellsDimensions ? 'dimensions' : "CAST([], 'Array(String)')"} as labels,
             ${sums.tellsSources ? 'source' : "''"} as origin,
             count(), sum(${rowHash('seal')}),
             ${storedStates(sums.needs)}
        from ${BUCKET_TABLES[sums.size]} final
       where ${within.sql} and seal in {seals:Array(UInt64)} ${withoutStarts} ${without}
       group by customer, meter_version_id, slot, labels, origin`,
    params: {
      ...within.params,
      seals: params.seals,
      ...(without === ''
        ? {}
        : {
            without_customers: sums.without.map((bucket) => bucket.external_customer_id),
            without_versions: sums.without.map((bucket) => bucket.meter_version_id),
            without_starts: sums.without.map((bucket) => bucket.start / 1000),
          }),
    },
  };
}

export interface BucketSum extends UsagePart {
  /** Empty if all customers are added up. */
  readonly external_customer_id: string;
  readonly meter_version_id: string;
  /** Milliseconds: the last border at or before the buckets. */
  readonly slot: number;
  readonly row_count: number;
  readonly row_hash: bigint;
}

export function readBucketSum(reader: RowBinaryReader, needs: StateNeeds): BucketSum {
  return {
    external_customer_id: reader.string(),
    meter_version_id: reader.string(),
    slot: reader.uint32() * 1000,
    dimensions: reader.strings(),
    source: reader.string(),
    row_count: reader.count(),
    row_hash: reader.uint64(),
    state: readState(reader, needs),
  };
}

/** Adds up stored states, in the order that `readState` reads. Empty buckets do not affect extremes. */
function storedStates(needs: StateNeeds): string {
  const last = '(latest_at, latest_position, latest_partition)';
  return [
    'sum(event_count)',
    ...(needs.sum ? ['sum(sum)'] : []),
    ...(needs.sum_value_time ? ['sum(sum_value_time)'] : []),
    ...(needs.extremes ? ['minIf(min, event_count > 0)', 'maxIf(max, event_count > 0)'] : []),
    ...(needs.latest
      ? [
          `argMaxIf(latest, ${last}, event_count > 0)`,
          'maxIf((toUnixTimestamp64Milli(latest_at), latest_position, latest_partition), event_count > 0)',
        ]
      : []),
  ].join(', ');
}

/** A seal that no bucket has, so that the lists are never empty. No position is below its vector. */
const NO_SEAL = (1n << 64n) - 1n;

/** Concatenated vectors, each `width` partitions wide. */
function boundsOf(recorded: SealVectors) {
  const vectors: SealVectors = new Map([...recorded, [NO_SEAL, {}]]);
  const width =
    1 + Math.max(0, ...[...vectors.values()].flatMap((vector) => Object.keys(vector).map(Number)));
  const seals = [...vectors.keys()];
  return {
    width,
    params: {
      seals,
      seal_places: seals.map((_, index) => index + 1),
      bounds: [...vectors.values()].flatMap((vector) =>
        Array.from({ length: width }, (_, partition) => vector[partition] ?? 0n),
      ),
    },
  };
}
