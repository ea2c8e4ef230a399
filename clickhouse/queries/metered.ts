import type { ClickHouseQuery } from '../client.ts';
import { STOPS_EARLY } from './paging.ts';

export interface MeteredVersions {
  readonly tenant_id: string;
  readonly environment_id: string;
  /** Null: all customers. */
  readonly external_customer_ids: readonly string[] | null;
  /** Milliseconds, exclusive; lifetimes begin with the first event. */
  readonly end: number;
}

/**
 * Meter versions with usage of the customers, by whole UTC days. May include a few without usage before
 * `end`. Reads marks of days, because they are fewer than usage rows.
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
  /** Null: all customers. */
  readonly external_customer_id: string | null;
  /** The last customer of the previous page; empty for the first page. */
  readonly after: string;
  /** Milliseconds, exclusive. */
  readonly end: number;
  readonly limit: number;
}

/** A page of the customers with usage of a meter version, in the byte order of their ids. */
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
