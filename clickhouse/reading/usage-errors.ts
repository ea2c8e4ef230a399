import { ClickHouseError } from '@clickhouse/client';
import { BillingError } from '../../domain/errors.ts';
import { isPostgresOutage } from '../../postgres/outage.ts';
import { UsageUnderRepair } from '../../postgres/tables/seals.ts';
import { isClickHouseOutage, TIME_CODES } from '../outage.ts';

/** The store can not answer now, or not whole: try again. Never stands for "no usage". */
export const usageUnavailable = (): BillingError =>
  new BillingError(
    'unavailable',
    'usage_unavailable',
    'Usage can not be read right now. Nothing is lost; try again shortly.',
  );

export const usageQueryTooLarge = (message: string): BillingError =>
  new BillingError('invalid', 'usage_query_too_large', message);

/** `group_by` of one answer may have this many groups (tenancy S13). */
export const GROUPS_MAX = 10_000;

export const tooManyGroups = (): BillingError =>
  new BillingError(
    'invalid',
    'too_many_groups',
    `group_by makes more than ${GROUPS_MAX} groups, or 100,000 of them in windows. Group by a property with fewer values, take larger windows, or filter: by customer, source or property.`,
    [{ path: 'group_by', code: 'too_many_groups', message: `at most ${GROUPS_MAX} groups` }],
  );

const FILTER_VALUES_MAX = 1_000;

/** 400 for more values than one statement takes well, all keys together. */
export function refuseManyValues(
  ...filters: readonly Readonly<Record<string, readonly string[]>>[]
): void {
  const values = filters.flatMap((filter) => Object.values(filter));
  const count = values.reduce((sum, list) => sum + 1 + list.length, 0);
  if (count > FILTER_VALUES_MAX)
    throw usageQueryTooLarge(
      `The filters name more than ${FILTER_VALUES_MAX} keys and values. Ask in several calls.`,
    );
}

/** What a read had decided on was replaced under its hands; read again from the start. */
export class UsageMoved extends Error {
  constructor() {
    super('A sealed day was replaced between two statements of one read.');
    this.name = 'UsageMoved';
  }
}

// Limits of one query that the question itself runs into; asking again changes nothing.
const TOO_LARGE: ReadonlySet<string> = new Set(['158', '307', '396', '241']);
/**
 * The error that callers of the reader see: a refusal if the question is too large, `usage_unavailable`
 * during an outage or a repair, and any other error as it is, because it is a bug. A question about named
 * customers (`isWide` false), such as an invoice's, is never too large because it took long.
 */
export function refusedOrUnavailable(error: unknown, isWide = true): unknown {
  if (error instanceof BillingError) return error;
  if (
    error instanceof ClickHouseError &&
    (TOO_LARGE.has(error.code) || (isWide && TIME_CODES.has(error.code)))
  )
    return usageQueryTooLarge(
      'This question reads more usage than one call may. Ask about a shorter time or fewer customers.',
    );
  const isAway =
    error instanceof UsageUnderRepair || isClickHouseOutage(error) || isPostgresOutage(error);
  return isAway ? usageUnavailable() : error;
}
