const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Waits after each failed attempt, in milliseconds: 12 attempts over four days. After the last one the
 * delivery is exhausted (money 17.2).
 */
const WAITS = [
  5 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR,
  24 * HOUR, 24 * HOUR,
]; // prettier-ignore

const JITTER = 0.1;
const RETRY_AFTER_MAX = HOUR;
/** An endpoint is disabled after failing for this time. */
export const FAILING_MS_MAX = 5 * 24 * HOUR;
/** After a rotation, the previous secret also signs for this time. */
export const ROTATION_MS = 24 * HOUR;

/**
 * Milliseconds until the next attempt after `attempts` failed ones; null if none is left. `spread` in [0, 1)
 * moves the wait by up to 10% in each direction, so that retries after an outage do not arrive together.
 * `retryAfterMs` is the wait that the receiver requests; it counts up to one hour.
 */
export function nextAttemptMs(
  attempts: number,
  spread: number,
  retryAfterMs: number | null,
): number | null {
  const wait = WAITS[attempts - 1];
  if (wait === undefined) return null;
  const spreadWait = Math.round(wait * (1 - JITTER + 2 * JITTER * spread));
  return Math.max(spreadWait, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX));
}
