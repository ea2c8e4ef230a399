import { anchorAfterTrial } from '../time/billing-anchor.ts';
import type { BillingSchedule } from '../time/billing-periods.ts';
import type { Instant, Period } from '../time/instant.ts';

/** The fields of a subscription that determine its periods. */
export interface ScheduledSubscription extends BillingSchedule {
  readonly current_period_start: Instant;
  readonly trial_end: Instant | null;
}

/**
 * The billed periods: from the start, or from the end of the trial, because trial time is never billed
 * (billing 1.6, 10.4). While the trial runs, these are the periods that follow it.
 */
export function paidSchedule(subscription: ScheduledSubscription): BillingSchedule {
  const { trial_end, current_period_start } = subscription;
  if (trial_end === null) return subscription;
  return current_period_start >= trial_end
    ? { ...subscription, start_date: trial_end }
    : scheduleAfterTrial(subscription, trial_end);
}

/** The billed periods after a running trial ends at `trialEnd`. */
export function scheduleAfterTrial(
  subscription: BillingSchedule,
  trialEnd: Instant,
): BillingSchedule {
  const billing_anchor = anchorAfterTrial(subscription, trialEnd);
  return { ...subscription, billing_anchor, start_date: trialEnd };
}

/**
 * The part of a trial before the end of the subscription. Null when the subscription ends before the trial
 * starts.
 */
export function trialWithin(trial: Period, endDate: Instant | null): Period | null {
  if (endDate === null || endDate >= trial.end) return trial;
  return endDate > trial.start ? { start: trial.start, end: endDate } : null;
}
