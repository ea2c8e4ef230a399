import type { ClickHouseQuery } from '../client.ts';
import { STOPS_EARLY } from './paging.ts';
import type { BucketKey, StoredBucketSize, TouchedBucket } from '../rows.ts';

export const BUCKET_TABLES = { '15MIN': 'usage_per_15m_v1', DAY: 'usage_per_day_v1' } as const;
export const BUCKET_SECONDS = { '15MIN': 900, DAY: 86_400 } as const;

export type TouchedCells = [
  tenantId: string,
  environmentId: string,
  bucketSize: StoredBucketSize,
  externalCustomerId: string,
  meterVersionId: string,
  bucketStart: number,
  marks: [partition: number, position: string][],
  seal: string,
];

export function touchedBucket(cells: TouchedCells): TouchedBucket {
  return {
    tenant_id: cells[0],
    environment_id: cells[1],
    bucket_size: cells[2],
    external_customer_id: cells[3],
    meter_version_id: cells[4],
    bucket_start: cells[5] * 1000,
    marks: Object.fromEntries(
      cells[6].map(([partition, position]) => [partition, BigInt(position)]),
    ),
    seal: cells[7] === '0' ? null : BigInt(cells[7]),
  };
}

/**
 * A page of the buckets of one size that were marked since a time, of the given meter versions or of all,
 * with all marks and the greatest seal stored. The page's keys are read in the order of the table, and
 * reading stops at the page size: grouping would read the whole table for every page. The statement reads the
 * keys twice. If a bucket's seal is missed for that reason, the bucket is sealed again, which is harmless.
 */
export function touchedBuckets(page: {
  readonly size: StoredBucketSize;
  readonly since_ms: number;
  readonly meter_version_ids: readonly string[] | null;
  readonly after: BucketKey | null;
  readonly limit: number;
}): ClickHouseQuery {
  const key = 'tenant_id, environment_id, external_customer_id, meter_version_id, bucket_start';
  const after = page.after;
  const ofVersions =
    page.meter_version_ids === null ? '' : 'and meter_version_id in {version_ids:Array(String)}';
  // The tuple is exact; the conditions per column follow from it and are for the sparse index.
  const behind =
    after === null
      ? ''
      : `and (${key}) > ({after_tenant:String}, {after_environment:String}, {after_customer:String},
                {after_version:String}, toDateTime({after_start:UInt32}, 'UTC'))
            and tenant_id >= {after_tenant:String}
            and (tenant_id > {after_tenant:String} or environment_id > {after_environment:String}
                 or external_customer_id >= {after_customer:String})`;
  const touched = `
         select ${key}
           from usage_touched_v1
          where bucket_size = {size:String} ${ofVersions} ${behind}
            and marked_at >= fromUnixTimestamp64Milli({since_ms:Int64}, 'UTC')
          order by tenant_id, environment_id, bucket_size, external_customer_id, meter_version_id, bucket_start
          limit 1 by ${key}
          limit {limit:UInt32}`;
  return {
    sql: `
      select tenant_id, environment_id, {size:String} as size, external_customer_id, meter_version_id,
             toUnixTimestamp(bucket_start) as start, t.marks as marks, s.seal as seal
        from (select ${key}, groupArray((partition, position)) as marks
                from (select ${key}, partition, max(position) as position
                        from usage_touched_v1
                       where bucket_size = {size:String} and (${key}) in (${touched})
                       group by ${key}, partition)
               group by ${key}) as t
        left join (select ${key}, max(seal) as seal
                     from ${BUCKET_TABLES[page.size]}
                    where (${key}) in (${touched})
                    group by ${key}) as s using (${key})
       order by ${key}
      settings ${STOPS_EARLY}`,
    params: {
      size: page.size,
      since_ms: page.since_ms,
      limit: page.limit,
      ...(page.meter_version_ids === null ? {} : { version_ids: page.meter_version_ids }),
      ...(after === null
        ? {}
        : {
            after_tenant: after.tenant_id,
            after_environment: after.environment_id,
            after_customer: after.external_customer_id,
            after_version: after.meter_version_id,
            after_start: after.bucket_start / 1000,
          }),
    },
  };
}
