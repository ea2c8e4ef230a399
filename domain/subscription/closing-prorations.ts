import type { ProrationBehavior } from '../pricing/proration.ts';
import type { Instant, Period } from '../time/instant.ts';
import { pauseAtEnd, type PausedTime } from '../time/paused-cells.ts';
import type { EarlierPlan } from './schedule.ts';

/** The fields of a subscription that determine how the periods are rated that end early. */
export interface EndedSubscription {
  readonly proration_behavior: ProrationBehavior;
  /** That of the cancellation; null if it names none. */
  readonly cancel_proration_behavior: ProrationBehavior | null;
  readonly cancel_at: Instant | null;
  readonly end_date: Instant | null;
  /** The running period, or the last one. */
  readonly current_period_end: Instant;
  /** In order of time. */
  readonly earlier_plans: readonly EarlierPlan[];
}

/** The prorations of the end of a subscription: those of its cancellation, else its own (billing 13). */
export const endProrations = ({
  cancel_proration_behavior,
  proration_behavior,
}: Pick<EndedSubscription, 'cancel_proration_behavior' | 'proration_behavior'>) =>
  cancel_proration_behavior ?? proration_behavior;

/**
 * The prorations by which a billing period is rated: those of the plan change that restarted the periods at its end
 * (billing 14.2), those of the end of the subscription within it or in a pause (13), or those of the subscription.
 */
export function closingProrations(
  subscription: EndedSubscription,
  { end }: Period,
  pauses: readonly PausedTime[],
): ProrationBehavior {
  const { earlier_plans, end_date, cancel_at, proration_behavior, current_period_end } =
    subscription;
  const restart = earlier_plans.find(({ restarts, until }) => restarts && until === end);
  if (restart !== undefined) return restart.proration_behavior ?? proration_behavior;
  const isLast = end === end_date || end === cancel_at;
  // The running period of a subscription is not cut by its cancellation, but by its own end date.
  const isCut = end < current_period_end || pauseAtEnd({ start: end, end }, pauses) !== null;
  return isLast && isCut ? endProrations(subscription) : proration_behavior;
}
