import type { CheckoutRecord } from '../../../schemas/checkout.ts';

/** Why the credits of an unpaid session fail: cancelled or not, the session is expired (specification, States). */
export const EXPIRED_UNPAID = 'session expired before payment';

/**
 * Why an active session ends unpaid by our own decision: it was cancelled, or its time is over at `now` (ISO, UTC).
 * Null if it may still be paid.
 */
export function endingOf(
  { cancelled_at, expires_at }: Pick<CheckoutRecord, 'cancelled_at' | 'expires_at'>,
  now: string,
): string | null {
  if (cancelled_at !== null) return 'session cancelled before payment';
  return Date.parse(expires_at) <= Date.parse(now) ? EXPIRED_UNPAID : null;
}
