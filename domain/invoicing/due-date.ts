import assert from 'node:assert/strict';
import { invalidField } from '../errors.ts';
import { advanceDays } from '../time/local-days.ts';

const DAYS_MAX = 3650;

/** Days of payment terms `<N> NET`, case-insensitive, N from 0 to 3650; else 400 (billing 17.5). */
export function paymentTermDays(terms: string): number {
  const match = /^(\d{1,4}) NET$/i.exec(terms.trim());
  const days = match === null ? Number.NaN : Number(match[1]);
  if (!(days <= DAYS_MAX)) {
    throw invalidField('payment_terms', `must be of the form "30 NET", up to ${DAYS_MAX} days`);
  }
  return days;
}

/**
 * Due date of an invoice: the issue instant plus calendar days in the customer's time zone, same local time
 * (billing 17.5). `terms` null means the tenant's `defaultDays`. Instants are ISO 8601 UTC with
 * milliseconds. A draft shows the due date for an issue at the end of its period.
 */
export function dueDate(
  issuedAt: string,
  terms: string | null,
  defaultDays: number,
  timezone: string,
): string {
  const days = terms === null ? defaultDays : paymentTermDays(terms);
  assert(Number.isInteger(days) && days >= 0, `due date days ${days}`);
  return advanceDays(issuedAt, days, timezone);
}
