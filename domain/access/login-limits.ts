const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** Maximum failures within the last 15 minutes; after that, further attempts are refused unchecked. */
export const WINDOW_MS = 15 * MINUTE_MS;
export const FAILURES_MAX = {
  /** For one account from one network. */
  pair: 10,
  /** From one network, for all accounts. */
  place: 500,
} as const;
/** Messages that one network may request in the same time: sign-ups, forgotten passwords. */
export const EMAIL_REQUESTS_MAX = 20;
/** Refused answers of an identity provider within the window that reach the audit log. */
export const NOTED_ANSWERS_MAX = { network: 10, tenant: 500 } as const;

/** How long failures of one account count towards the wait of callers from unknown networks. */
export const ACCOUNT_WINDOW_MS = 60 * MINUTE_MS;
/** Failures of one account, over all unknown networks, before callers from them must wait. */
export const ACCOUNT_FREE_FAILURES = 30;
const FAILURES_PER_DOUBLING = 5;
const WAIT_MS_MAX = MINUTE_MS;

/** A network that logged in to the account within this time does not wait because of failures of others. */
export const KNOWN_NETWORK_MS = 90 * 24 * 60 * MINUTE_MS;

/**
 * How long a caller from an unknown network waits before the account's password is checked again. No wait
 * for the first 30 failures of an hour; then one second, doubled with every five further failures, up to a
 * minute. This limits guessing from many networks to one guess a minute and never locks the account: users
 * who have logged in from a network before do not wait there.
 */
export function accountWaitMs(failures: number, sinceLastMs: number): number {
  if (failures < ACCOUNT_FREE_FAILURES) return 0;
  const doublings = Math.floor((failures - ACCOUNT_FREE_FAILURES) / FAILURES_PER_DOUBLING);
  const waitMs = Math.min(WAIT_MS_MAX, SECOND_MS * 2 ** Math.min(doublings, 10));
  return Math.max(0, waitMs - sinceLastMs);
}
