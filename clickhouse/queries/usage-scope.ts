import type { Condition } from './row-bounds.ts';

/** Usage of one customer by one meter version. */
export interface UsagePair {
  readonly external_customer_id: string;
  readonly meter_version_id: string;
}

export function pairKey(pair: UsagePair): string {
  return `${pair.meter_version_id} ${pair.external_customer_id}`;
}

/** Whose usage a statement reads, and of which days. */
export interface UsageScope {
  readonly tenant_id: string;
  readonly environment_id: string;
  /** Null: every customer. Then `versions` says of which meter versions. */
  readonly pairs: readonly UsagePair[] | null;
  readonly versions: readonly string[];
  /** Milliseconds, half-open. */
  readonly start: number;
  readonly end: number;
  /** Starts of the UTC days that are read; null: all in the range. */
  readonly days: readonly number[] | null;
}

/** The scope as a condition on a table whose rows have a time in `column`. */
export function inUsageScope(scope: UsageScope, column: 'bucket_start' | 'timestamp'): Condition {
  const whose =
    scope.pairs === null
      ? 'meter_version_id in {versions:Array(String)}'
      : `(external_customer_id, meter_version_id) in (
           select arrayJoin(arrayZip({customers:Array(String)}, {customer_versions:Array(String)})))`;
  // Days within a long range are few and far between: quarter hours at both ends of a month.
  const days =
    scope.days === null
      ? ''
      : `and intDiv(toUnixTimestamp(${column}), 86400) in {days:Array(UInt32)}`;
  return {
    sql: `tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
       and ${whose}
       and ${column} >= fromUnixTimestamp64Milli({start_ms:Int64}, 'UTC')
       and ${column} < fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC')
       ${days}`,
    params: {
      tenant_id: scope.tenant_id,
      environment_id: scope.environment_id,
      start_ms: scope.start,
      end_ms: scope.end,
      ...(scope.pairs === null
        ? { versions: scope.versions }
        : {
            customers: scope.pairs.map((pair) => pair.external_customer_id),
            customer_versions: scope.pairs.map((pair) => pair.meter_version_id),
          }),
      ...(scope.days === null ? {} : { days: scope.days.map((day) => day / 86_400_000) }),
    },
  };
}
