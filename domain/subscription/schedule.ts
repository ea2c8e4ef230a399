import { anchorAfterTrial } from '../time/billing-anchor.ts';
import { periodContaining, type BillingSchedule } from '../time/billing-periods.ts';
import { earlierOf, intersection, type Instant, type Period } from '../time/instant.ts';

/** What a subscription had before one of its plan changes (billing 14.2). */
export interface EarlierPlan {
  readonly plan_id: string;
  /** The anchor until then. */
  readonly billing_anchor: Instant;
  /** When the change took effect. */
  readonly until: Instant;
  /** The billing periods began anew at the change; false if it kept them. */
  readonly restarts: boolean;
}

/** The fields of a subscription that determine its periods. */
export interface ScheduledSubscription extends BillingSchedule {
  readonly current_period_start: Instant;
  readonly trial_end: Instant | null;
  /** In order of time. */
  readonly earlier_plans: readonly EarlierPlan[];
}

/**
 * The billed periods at an instant, by default those of the current period: from the start, from the end of the
 * trial, because trial time is never billed (billing 1.6, 10.4), or from the plan change that began them anew (14.2).
 * While the trial runs, these are the periods that follow it. A grid that a plan change has ended goes on beyond its
 * end: the uncut cell is what a slice is measured by.
 */
export function paidSchedule(
  subscription: ScheduledSubscription,
  at: Instant = subscription.current_period_start,
): BillingSchedule {
  return scheduleOfPart(
    subscription,
    restartsOf(subscription).filter(({ until }) => until <= at).length,
  );
}

/**
 * The grid of terms and allowances that are longer than a billing period: a plan change does not move it (billing
 * 4, 6.4, 14.2).
 */
export const longTermSchedule = (subscription: ScheduledSubscription): BillingSchedule =>
  scheduleOfPart(subscription, 0);

/** The schedule after a number of plan changes that began the periods anew. */
function scheduleOfPart(subscription: ScheduledSubscription, passed: number): BillingSchedule {
  const restarts = restartsOf(subscription);
  const { billing_anchor } = restarts[passed] ?? subscription;
  const before = restarts[passed - 1];
  return before === undefined
    ? afterTrial({ ...subscription, billing_anchor })
    : { ...subscription, billing_anchor, start_date: before.until };
}

/** The billing period that contains an instant, ended by a plan change that begins the periods anew; null outside the paid time. */
export function paidPeriodAt(subscription: ScheduledSubscription, at: Instant): Period | null {
  const period = periodContaining(paidSchedule(subscription, at), at);
  const restart = restartsOf(subscription).find(({ until }) => until > at);
  return period && { start: period.start, end: earlierOf(period.end, restart?.until ?? null) };
}

/** The parts of a time, oldest first, each with the schedule that its periods follow. */
export function schedulesWithin(
  subscription: ScheduledSubscription,
  time: Period,
): { readonly schedule: BillingSchedule; readonly part: Period }[] {
  const ends = restartsOf(subscription).map(({ until }) => until);
  return [...ends, null].flatMap((end, index) => {
    const part = intersection(time, ends[index - 1] ?? time.start, end);
    return part === null ? [] : [{ schedule: scheduleOfPart(subscription, index), part }];
  });
}

/** Whether a plan change began the periods anew at an instant. */
export const isRestart = (subscription: ScheduledSubscription, at: Instant): boolean =>
  restartsOf(subscription).some(({ until }) => until === at);

const restartsOf = ({ earlier_plans }: ScheduledSubscription): readonly EarlierPlan[] =>
  earlier_plans.filter(({ restarts }) => restarts);

function afterTrial(subscription: ScheduledSubscription): BillingSchedule {
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
