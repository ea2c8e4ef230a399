import type { BillingRefusal } from '../../schemas/billing-refusal.ts';
import { BillingError } from '../errors.ts';
import { epochMs, isoText } from '../time/instant.ts';

const MINUTE_MS = 60_000;
const WAIT_MINUTES_MAX = 60;

/**
 * Reason of a failed billing attempt, with the number of attempts. The text of an unexpected error is only in
 * the log; the tenant gets a generic message.
 */
export function billingRefusal(
  error: unknown,
  before: BillingRefusal | null,
  at: string,
): BillingRefusal {
  const { code, message, details } = error instanceof BillingError ? error : UNEXPECTED;
  const isSame = before !== null && before.code === code && before.message === message;
  return {
    code,
    message,
    details: details.map((detail) => ({ ...detail })),
    since: isSame ? before.since : at,
    attempts: (before?.attempts ?? 0) + 1,
  };
}

const UNEXPECTED = {
  code: 'internal_error',
  message: 'An unexpected error of the service. It is retried automatically.',
  details: [],
} as const;

/** Time of the next attempt: after 1, 2, 4 … minutes, at most one hour. */
export function retryAt({ attempts }: Pick<BillingRefusal, 'attempts'>, at: string): string {
  const minutes = Math.min(2 ** Math.min(attempts - 1, 10), WAIT_MINUTES_MAX);
  return isoText(epochMs(at) + minutes * MINUTE_MS);
}
