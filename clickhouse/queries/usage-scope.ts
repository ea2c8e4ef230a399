import type { Condition } from './row-bounds.ts';

/** Usage of one customer by one meter version. */
export interface UsagePair {
  readonly external_customer_id: string;
  readonly meter_version_id: string;
}

export function pairKey(pair: UsagePair): string {
  return `${pair.meter_version_id} ${pair.external_customer_id}`;
}

/** The customers, meter versions and days that a statement reads. */
export interface UsageScope {
  readonly tenant_id: string;
  readonly environment_id: string;
  /** Null: all customers. Then `versions` selects the meter versions. */
  readonly pairs: readonly UsagePair[] | null;
  readonly versions: readonly string[];
  /** Milliseconds, half-open. */
  readonly start: number;
  readonly end: number;
  /** Starts of the UTC days to read; null: all in the range. */
  readonly days: readonly number[] | null;
}

/** The scope as a condition on a table whose rows have a time in `column`. */
export function inUsageScope(scope: UsageScope, column: 'bucket_start' | 'timestamp'): Condition {
  const whose =
    scope.pairs === null
      ? 'meter_version_id in {versions:Array(String)}'
      : isEveryPair(scope.pairs)
        ? 'external_customer_id in {customers:Array(String)} and meter_version_id in {customer_versions:Array(String)}'
        : `(external_customer_id, meter_version_id) in (
           select arrayJoin(arrayZip({customers:Array(String)}, {customer_versions:Array(String)})))`;
  // The days are few within a long range: for example, quarter hours at both ends of a month.
  const days =
    scope.days === null
      ? ''
      : `and intDiv(toUnixTimestamp(${column}), 86400) in {days:Array(UInt32)}`;
  const range = column === 'bucket_start' ? bucketRange(scope) : eventRange(scope);
  return {
    sql: `tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
       and ${whose}
       and ${range.sql}
       ${days}`,
    params: {
      tenant_id: scope.tenant_id,
      environment_id: scope.environment_id,
      ...range.params,
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

/** Whether the pairs are all combinations of the customers and versions: two short lists then suffice. */
function isEveryPair(pairs: readonly UsagePair[]): boolean {
  const customers = new Set(pairs.map((pair) => pair.external_customer_id));
  const versions = new Set(pairs.map((pair) => pair.meter_version_id));
  return customers.size * versions.size === pairs.length;
}

export type Range = Pick<UsageScope, 'start' | 'end'>;

/** Quarter hours that begin in a part of the scope, for statements that read its days too. */
export const inQuarters = ({ start, end }: Range): Condition => ({
  sql: `bucket_start >= toDateTime({first_quarter:UInt32}, 'UTC')
       and bucket_start < toDateTime({end_quarter:UInt32}, 'UTC')`,
  params: { first_quarter: secondOf(start), end_quarter: secondOf(end) },
});

// In the types of the columns: other types are converted for each row, before the table's order is used.

function eventRange({ start, end }: Range): Condition {
  return {
    sql: `timestamp >= fromUnixTimestamp64Milli({start_ms:Int64}, 'UTC')
       and timestamp < fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC')`,
    params: { start_ms: start, end_ms: end },
  };
}

/** Times in whole seconds, up to the column's maximum. */
const LAST_SECOND = 2 ** 32 - 1;

const secondOf = (ms: number): number => Math.min(Math.max(Math.ceil(ms / 1000), 0), LAST_SECOND);

function bucketRange({ start, end }: Range): Condition {
  return {
    sql: `bucket_start >= toDateTime({first_second:UInt32}, 'UTC')
       and bucket_start < toDateTime({end_second:UInt32}, 'UTC')`,
    params: { first_second: secondOf(start), end_second: secondOf(end) },
  };
}
