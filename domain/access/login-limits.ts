const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** Failures within the last 15 minutes after which nothing more is looked at. */
export const WINDOW_MS = 15 * MINUTE_MS;
export const FAILURES_MAX = {
  /** Of one account from one network. */
  pair: 10,
  /** From one network, whatever the account. */
  place: 500,
} as const;
/** Messages that one network may ask for in the same time: sign-ups, forgotten passwords. */
export const EMAIL_REQUESTS_MAX = 20;

/** Failures of one account are remembered as long for the wait of those who come from unknown networks. */
export const ACCOUNT_WINDOW_MS = 60 * MINUTE_MS;
/** Failures of one account, from all unknown networks together, until they have to wait. */
export const ACCOUNT_FREE_FAILURES = 30;
const FAILURES_PER_DOUBLING = 5;
const WAIT_MS_MAX = MINUTE_MS;

/** A network from which the account was opened so recently does not wait for failures of others. */
export const KNOWN_NETWORK_MS = 90 * 24 * 60 * MINUTE_MS;

/**
 * How long somebody from an unknown network waits before the account's password is looked at again: nothing
 * for the first 30 failures of an hour, then a second, doubled with every five further failures up to a
 * minute. It slows guessing from many networks down to one guess a minute and never shuts the account: who
 * has logged in from a network before is not held up.
 */
export function accountWaitMs(failures: number, sinceLastMs: number): number {
  if (failures < ACCOUNT_FREE_FAILURES) return 0;
  const doublings = Math.floor((failures - ACCOUNT_FREE_FAILURES) / FAILURES_PER_DOUBLING);
  const waitMs = Math.min(WAIT_MS_MAX, SECOND_MS * 2 ** Math.min(doublings, 10));
  return Math.max(0, waitMs - sinceLastMs);
}
