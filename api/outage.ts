import { isClickHouseOutage } from '../clickhouse/outage.ts';
import { BillingError } from '../domain/errors.ts';
import { isPostgresOutage } from '../postgres/outage.ts';

/**
 * Whether a store or the log cannot be asked now, so that the same work may succeed later. Everything
 * else that is thrown is a refusal or a bug, and repeating the work changes nothing.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof BillingError) return error.kind === 'unavailable';
  return isPostgresOutage(error) || isClickHouseOutage(error);
}
