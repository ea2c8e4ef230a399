import { ClickHouseError } from '@clickhouse/client';
import { BillingError } from '../../domain/errors.ts';
import { isPostgresOutage } from '../../postgres/outage.ts';
import { UsageUnderRepair } from '../../postgres/tables/seals.ts';
import { isClickHouseOutage, TIME_CODES } from '../outage.ts';

/** The store is unavailable or incomplete now: try again. Never used for "no usage". */
export const usageUnavailable = (): BillingError =>
  new BillingError(
    'unavailable',
    'usage_unavailable',
    'Usage cannot be read right now. Nothing is lost; try again shortly.',
  );

export const usageQueryTooLarge = (message: string): BillingError =>
  new BillingError('invalid', 'usage_query_too_large', message);

/** Maximum number of `group_by` groups in one answer (tenancy S13). */
export const GROUPS_MAX = 10_000;

export const tooManyGroups = (): BillingError =>
  new BillingError(
    'invalid',
    'too_many_groups',
    `group_by makes more than ${GROUPS_MAX} groups, or 100,000 of them in windows. Group by a property with fewer values, take larger windows, or filter: by customer, source or property.`,
    [{ path: 'group_by', code: 'too_many_groups', message: `at most ${GROUPS_MAX} groups` }],
  );

/** The usage of quotas is followed from time to time, in memory. */
export const tooManyTimes = (max: number): BillingError =>
  usageQueryTooLarge(
    `The usage below quotas has more than ${max} different times. Query a shorter time range or fewer customers, or send times that are cut to the second.`,
  );

const FILTER_VALUES_MAX = 1_000;

/** 400 if there are more values than one statement handles well, over all keys. */
export function refuseManyValues(
  ...filters: readonly Readonly<Record<string, readonly string[]>>[]
): void {
  const values = filters.flatMap((filter) => Object.values(filter));
  const count = values.reduce((sum, list) => sum + 1 + list.length, 0);
  if (count > FILTER_VALUES_MAX)
    throw usageQueryTooLarge(
      `The filters name more than ${FILTER_VALUES_MAX} keys and values. Split the query into several.`,
    );
}

/** Data that a read had selected changed while being read; read again from the start. */
export class UsageMoved extends Error {
  constructor() {
    super('A sealed day was replaced between two statements of one read.');
    this.name = 'UsageMoved';
  }
}

const TOO_MANY_ROWS = '158';

/** The statement would read or group more rows than its limits allow. */
export const isTooManyRows = (error: unknown): error is ClickHouseError =>
  error instanceof ClickHouseError && error.code === TOO_MANY_ROWS;

// Limits that the query itself exceeds; repeating it gives the same error.
const TOO_LARGE: ReadonlySet<string> = new Set([TOO_MANY_ROWS, '307', '396', '241']);

/**
 * The error that callers of the reader see: a refusal if the query is too large, `usage_unavailable` during
 * an outage or a repair, and any other error as it is, because it is a bug. A query on named customers
 * (`isWide` false), for example for an invoice, is never refused for taking long.
 */
export function refusedOrUnavailable(error: unknown, isWide = true): unknown {
  if (error instanceof BillingError) return error;
  if (
    error instanceof ClickHouseError &&
    (TOO_LARGE.has(error.code) || (isWide && TIME_CODES.has(error.code)))
  )
    return usageQueryTooLarge(
      'This query reads more usage than one call may. Query a shorter time range or fewer customers.',
    );
  const isAway =
    error instanceof UsageUnderRepair || isClickHouseOutage(error) || isPostgresOutage(error);
  return isAway ? usageUnavailable() : error;
}
