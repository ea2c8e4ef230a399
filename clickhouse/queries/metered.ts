import type { ClickHouseQuery } from '../client.ts';
import { STOPS_EARLY } from './paging.ts';

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

export interface MeteredCustomers {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly meter_version_id: string;
  /** Null: whoever there is. */
  readonly external_customer_id: string | null;
  /** The customer before the page; empty for the first page. */
  readonly after: string;
  /** Milliseconds, not included. */
  readonly end: number;
  readonly limit: number;
}

/** A page of the customers of whom a meter version has counted anything, in the order of their ids' bytes. */
export function meteredCustomers({
  external_customer_id: only,
  end,
  ...params
}: MeteredCustomers): ClickHouseQuery {
  return {
    sql: `
      select external_customer_id
        from usage_touched_v1
       where tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
         and bucket_size = 'DAY' and meter_version_id = {meter_version_id:String}
         and external_customer_id > {after:String}
         ${only === null ? '' : 'and external_customer_id = {only:String}'}
         and bucket_start < fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC')
       order by tenant_id, environment_id, bucket_size, external_customer_id
       limit 1 by external_customer_id
       limit {limit:UInt32}
    settings ${STOPS_EARLY}`,
    params: { ...params, end_ms: end, ...(only === null ? {} : { only }) },
  };
}
