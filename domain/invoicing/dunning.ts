import type { Instant } from '../time/instant.ts';
import { epochMs, isoText } from '../time/instant.ts';

const DAY_MS = 86_400_000;

/** The setting `payment_retry_config` (money 8.7). */
export interface RetryTerms {
  readonly enabled: boolean;
  /** Days from each failed charge to the next one: the first after the charge at issue, and so on. */
  readonly intervals_days: readonly number[];
  /** What happens to the subscription after the last charge has failed. */
  readonly final_action: 'none' | 'cancel';
}

/** When the next charge is made after the `attempts`-th failed at `failedAt`; null after the last one. */
export function nextAttempt(
  terms: RetryTerms,
  attempts: number,
  failedAt: Instant,
): Instant | null {
  const days = terms.enabled ? terms.intervals_days[attempts - 1] : undefined;
  return days === undefined ? null : isoText(epochMs(failedAt) + days * DAY_MS);
}

/** The charge that is due at `next` and, if each one fails at once, those after it. */
export function upcomingAttempts(terms: RetryTerms, attempts: number, next: Instant): Instant[] {
  const following = nextAttempt(terms, attempts + 1, next);
  return [next, ...(following === null ? [] : upcomingAttempts(terms, attempts + 1, following))];
}
