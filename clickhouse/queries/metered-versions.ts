import type { ClickHouseQuery } from '../client.ts';

export interface MeteredVersions {
  readonly tenant_id: string;
  readonly environment_id: string;
  /** Null: of everybody. */
  readonly external_customer_ids: readonly string[] | null;
  /** Milliseconds, not included; lifetimes begin with the first event. */
  readonly end: number;
}

/**
 * Meter versions that have counted anything of the customers, by whole UTC days: a few more than those
 * with usage before `end`. Marks of days are read, of which there are fewer than usage rows.
 */
export function meteredVersions({
  external_customer_ids: customers,
  end,
  ...scope
}: MeteredVersions): ClickHouseQuery {
  return {
    sql: `
      select distinct meter_version_id
        from usage_touched_v1
       where tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
         and bucket_size = 'DAY'
         ${customers === null ? '' : 'and external_customer_id in {customers:Array(String)}'}
         and bucket_start < fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC')`,
    params: { ...scope, end_ms: end, ...(customers === null ? {} : { customers }) },
  };
}
