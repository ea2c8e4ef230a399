import { isClickHouseOutage } from '../clickhouse/outage.ts';
import { BillingError } from '../domain/errors.ts';
import { isPostgresOutage } from '../postgres/outage.ts';

/**
 * Whether a store or the log is temporarily unavailable, so that the same work may succeed later. Every other
 * error is a refusal or a bug, and a retry changes nothing.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof BillingError) return error.kind === 'unavailable';
  return isPostgresOutage(error) || isClickHouseOutage(error);
}
