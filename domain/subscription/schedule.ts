import { anchorAfterTrial } from '../time/billing-anchor.ts';
import type { BillingSchedule } from '../time/billing-periods.ts';
import type { Instant, Period } from '../time/instant.ts';

/** A subscription's record as far as its periods are concerned. */
export interface ScheduledSubscription extends BillingSchedule {
  readonly current_period_start: Instant;
  readonly trial_end: Instant | null;
}

/**
 * The periods that are paid for: from the start, or from the end of a trial that is over, because the
 * time of a trial is never billed (billing 1.6, 10.4).
 */
export function paidSchedule(subscription: ScheduledSubscription): BillingSchedule {
  const { trial_end, current_period_start } = subscription;
  return trial_end !== null && current_period_start >= trial_end
    ? { ...subscription, start_date: trial_end }
    : subscription;
}

/** The paid periods as they will be once a running trial has ended at `trialEnd`. */
export function scheduleAfterTrial(
  subscription: BillingSchedule,
  trialEnd: Instant,
): BillingSchedule {
  const billing_anchor = anchorAfterTrial(subscription, trialEnd);
  return { ...subscription, billing_anchor, start_date: trialEnd };
}

/** The part of a trial that the subscription lives to see; null when it ends before. */
export function trialWithin(trial: Period, endDate: Instant | null): Period | null {
  if (endDate === null || endDate >= trial.end) return trial;
  return endDate > trial.start ? { start: trial.start, end: endDate } : null;
}
