import type { SubscriptionStatus } from '../states/subscription.ts';
import type { Instant } from '../time/instant.ts';

/** What decides when the clock next changes a subscription. */
export interface ClockedSubscription {
  readonly subscription_status: SubscriptionStatus;
  readonly current_period_start: Instant;
  readonly current_period_end: Instant;
  readonly cancel_at: Instant | null;
  /** As stored: when it is next due; null = nothing is. */
  readonly due_at: Instant | null;
}

/**
 * When the clock next changes a subscription whose running period has been opened: its period or trial
 * ends, or before that a scheduled cancellation takes effect (billing 3.4, 13). Nothing by
 * itself happens to one that is incomplete (its cycles are caught up after activation), paused, draft
 * or cancelled (10.3, 12.3).
 */
export function dueAt(subscription: Omit<ClockedSubscription, 'due_at'>): Instant | null {
  const { subscription_status: status, cancel_at, current_period_end } = subscription;
  if (status !== 'active' && status !== 'trialing') return null;
  return cancel_at !== null && cancel_at < current_period_end ? cancel_at : current_period_end;
}

/**
 * `open`: a start that was in the future has come. `close`: the period is over. `end_trial`: the trial
 * is. `cancel`: a cancellation inside the period takes effect.
 */
export type DueAction = 'open' | 'close' | 'end_trial' | 'cancel';

/** What is to be done at `due_at`; null when nothing is due by `at`. */
export function dueAction(subscription: ClockedSubscription, at: Instant): DueAction | null {
  const { due_at } = subscription;
  if (due_at === null || due_at > at) return null;
  if (due_at === subscription.cancel_at && due_at < subscription.current_period_end)
    return 'cancel';
  if (due_at <= subscription.current_period_start) return 'open';
  return subscription.subscription_status === 'trialing' ? 'end_trial' : 'close';
}
