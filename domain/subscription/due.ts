import type { SubscriptionStatus } from '../states/subscription.ts';
import { earlierOf, type Instant } from '../time/instant.ts';

/** The fields that decide when a subscription is next due. */
export interface ClockedSubscription {
  readonly subscription_status: SubscriptionStatus;
  readonly current_period_start: Instant;
  readonly current_period_end: Instant;
  readonly cancel_at: Instant | null;
  /** Start of the current pause, planned or past; null without one. */
  readonly pause_at?: Instant | null;
  readonly end_date?: Instant | null;
  /** When the current pause ends automatically. */
  readonly resume_at?: Instant | null;
  /** The boundary from which a parent closes the periods of a grouped subscription (billing 16). */
  readonly merges_from?: Instant | null;
  /** The stored due time. Null means nothing is due. */
  readonly due_at: Instant | null;
}

/**
 * Next due time of a subscription with an opened current period: the end of the period or trial, or an
 * earlier scheduled cancellation or pause (billing 3.4, 12.7, 13). For a paused one the end of the pause or of the
 * subscription, whichever is first. For an incomplete one its end: its cycles are caught up after activation (10.3).
 * Null for draft and cancelled subscriptions, and for periods that the parent closes (16).
 */
export function dueAt(subscription: Omit<ClockedSubscription, 'due_at'>): Instant | null {
  const { subscription_status: status, cancel_at, current_period_end } = subscription;
  if (status === 'paused') return firstOf([subscription.resume_at, endOf(subscription)]);
  if (status === 'incomplete') return endOf(subscription);
  if (status !== 'active' && status !== 'trialing') return null;
  const pause = status === 'active' ? (subscription.pause_at ?? null) : null;
  const end = pause !== null && pause < current_period_end ? pause : current_period_end;
  if (cancel_at !== null && cancel_at < end) return cancel_at;
  const merges_from = subscription.merges_from ?? null;
  const isMerged = merges_from !== null && current_period_end >= merges_from;
  return isMerged && end === current_period_end ? null : end;
}

/** When the subscription ends: by its end date or a scheduled cancellation. */
const endOf = ({ cancel_at, end_date }: Omit<ClockedSubscription, 'due_at'>): Instant | null =>
  firstOf([cancel_at, end_date]);

const firstOf = (instants: readonly (Instant | null | undefined)[]): Instant | null =>
  instants.reduce<Instant | null>((first, at) => (at == null ? first : earlierOf(at, first)), null);

/**
 * `open`: a future start is reached. `close`: the period ends. `end_trial`: the trial ends. `cancel`: a
 * cancellation within the period takes effect, or a paused or incomplete subscription ends. `pause` and `resume`: a
 * pause begins within the period, or ends.
 */
export type DueAction = 'open' | 'close' | 'end_trial' | 'cancel' | 'pause' | 'resume';

/** The action due at `due_at`. Null when nothing is due by `at`. */
export function dueAction(subscription: ClockedSubscription, at: Instant): DueAction | null {
  const { due_at } = subscription;
  if (due_at === null || due_at > at) return null;
  if (subscription.subscription_status === 'paused')
    return due_at === endOf(subscription) ? 'cancel' : 'resume';
  if (subscription.subscription_status === 'incomplete') return 'cancel';
  if (due_at === subscription.cancel_at && due_at < subscription.current_period_end)
    return 'cancel';
  const isPause = due_at === subscription.pause_at && subscription.subscription_status === 'active';
  if (isPause && due_at < subscription.current_period_end) return 'pause';
  if (due_at <= subscription.current_period_start) return 'open';
  return subscription.subscription_status === 'trialing' ? 'end_trial' : 'close';
}
