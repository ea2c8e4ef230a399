import { byText } from '../text-order.ts';
import { anchorAfterTrial } from '../time/billing-anchor.ts';
import { billingPeriods, periodContaining, type BillingSchedule } from '../time/billing-periods.ts';
import type { ProrationBehavior } from '../pricing/proration.ts';
import { earlierOf, intersection, laterOf, type Instant, type Period } from '../time/instant.ts';

/** What a subscription had before one of its plan changes (billing 14.2). */
export interface EarlierPlan {
  readonly plan_id: string;
  /** The anchor until then. */
  readonly billing_anchor: Instant;
  /** When the change took effect. */
  readonly until: Instant;
  /** True if the billing periods restarted at the change. */
  readonly restarts: boolean;
  /** The prorations of a change that restarted the periods; absent in older records. */
  readonly proration_behavior?: ProrationBehavior;
}

/** The anchor that a subscription had before a pause moved it (billing 12.4). */
export interface EarlierAnchor {
  readonly billing_anchor: Instant;
  /** Periods that begin before this instant follow that anchor. */
  readonly until: Instant;
}

/** The fields of a subscription that determine its periods. */
export interface ScheduledSubscription extends BillingSchedule {
  readonly current_period_start: Instant;
  readonly trial_end: Instant | null;
  /** In order of time. */
  readonly earlier_plans: readonly EarlierPlan[];
  /** In order of time. */
  readonly earlier_anchors: readonly EarlierAnchor[];
}

/**
 * The billed periods at an instant, by default those of the current period: from the start, from the end of the
 * trial, because trial time is never billed (billing 1.6, 10.4), or from the plan change that restarted them
 * (14.2). Periods that began before a pause moved the anchor keep the one that they had (12.4). While the trial
 * runs, these are the periods that follow it. The grid continues beyond a plan change that ended it, because a
 * slice is a share of an uncut cell.
 */
export function paidSchedule(
  subscription: ScheduledSubscription,
  at: Instant = subscription.current_period_start,
): BillingSchedule {
  const schedule = scheduleOfPart(
    subscription,
    restartsOf(subscription).filter(({ until }) => until <= at).length,
    at,
  );
  const anchor_before_pauses = anchorBeforePauses(subscription, at);
  return anchor_before_pauses === null ? schedule : { ...schedule, anchor_before_pauses };
}

/** The anchor that the period at an instant began with, if pauses made the period longer; null for any other. */
function anchorBeforePauses(subscription: ScheduledSubscription, at: Instant): Instant | null {
  const start = longerPeriodAt(subscription, at)?.start;
  const moved = subscription.earlier_anchors.find(({ until }) => until === start);
  return moved?.billing_anchor ?? null;
}

/**
 * The grid of terms and allowances that are longer than a billing period: neither a plan change nor a pause
 * moves it (billing 4, 6.4, 14.2). A billing period belongs to the term that contains its start, so the number
 * of periods in a term stays the same if a change moves them by less than one period.
 */
export const longTermSchedule = (subscription: ScheduledSubscription): BillingSchedule =>
  scheduleOfPart(subscription, 0, '');

/** The schedule at an instant, after a number of plan changes that restarted the periods. */
function scheduleOfPart(
  subscription: ScheduledSubscription,
  passed: number,
  at: Instant,
): BillingSchedule {
  const before = restartsOf(subscription)[passed - 1];
  const { billing_anchor } = movesOf(subscription).find(({ until }) => until > at) ?? subscription;
  return before === undefined
    ? afterTrial({ ...subscription, billing_anchor })
    : { ...subscription, billing_anchor, start_date: before.until };
}

/**
 * The billing period that contains an instant, ended by a plan change that restarts the periods; null outside the
 * paid time.
 */
export function paidPeriodAt(subscription: ScheduledSubscription, at: Instant): Period | null {
  const period =
    longerPeriodAt(subscription, at) ?? periodContaining(paidSchedule(subscription, at), at);
  const restart = restartsOf(subscription).find(({ until }) => until > at);
  return period && { start: period.start, end: earlierOf(period.end, restart?.until ?? null) };
}

/** The paid billing periods before the running one that end after an instant, oldest first, not cut by it. */
export function closedPeriods(subscription: ScheduledSubscription, after: Instant): Period[] {
  const { trial_end, current_period_start: until } = subscription;
  const periods: Period[] = [];
  let at = trial_end === null ? after : laterOf(after, trial_end);
  while (at < until) {
    const period = paidPeriodAt(subscription, at);
    if (period === null) break;
    const end = earlierOf(period.end, until);
    periods.push({ start: period.start, end });
    at = end;
  }
  return periods;
}

/**
 * A period that pauses made longer ends with the anchor that they moved (billing 12.4), not cut by a plan change that
 * restarts the periods within it. Null for any other period, also for the one that such a change began.
 */
export function longerPeriodAt(subscription: ScheduledSubscription, at: Instant): Period | null {
  const { billing_anchor, end_date, earlier_anchors } = subscription;
  if (earlier_anchors.length === 0) return null;
  const moves = movesOf(subscription);
  const anchors = [...moves.slice(1), { billing_anchor }];
  const periods = moves.map(({ until }, index) => ({
    start: until,
    end: anchors[index]!.billing_anchor,
  }));
  const restarts = restartsOf(subscription);
  const found = periods.find(
    ({ start, end }) =>
      start <= at && at < end && !restarts.some(({ until }) => start < until && until <= at),
  );
  if (found === undefined || (end_date !== null && at >= end_date)) return null;
  return { start: found.start, end: earlierOf(found.end, end_date) };
}

/** The end of the running period, not cut by the end of the subscription. */
export function uncutPeriodEnd(
  subscription: ScheduledSubscription & { readonly current_period_end: Instant },
): Instant {
  const {
    current_period_start: start,
    current_period_end,
    end_date,
    billing_anchor,
  } = subscription;
  if (end_date === null || current_period_end < end_date) return current_period_end;
  const isLonger = subscription.earlier_anchors.some(({ until }) => until === start);
  if (isLonger && billing_anchor > start) return billing_anchor;
  const schedule = { ...paidSchedule(subscription), end_date: null };
  return periodContaining(schedule, start)?.end ?? current_period_end;
}

/** A billing period in a part of a time, with the schedule that the periods of the part follow. */
export interface ScheduledPeriod {
  readonly schedule: BillingSchedule;
  readonly part: Period;
  readonly period: Period;
}

/** The billing periods that overlap a time, oldest first, not cut by its bounds. A restart ends the one before it. */
export const periodsWithin = (
  subscription: ScheduledSubscription,
  time: Period,
): ScheduledPeriod[] =>
  schedulesWithin(subscription, time).flatMap(({ schedule, part }) => {
    const longer = longerPeriodAt(subscription, part.start);
    const others = billingPeriods(schedule, longer?.end ?? part.start, part.end);
    const periods = longer === null ? others : [longer, ...others];
    const restart = restartsOf(subscription).find(({ until }) => until > part.start);
    return periods.map(({ start, end }) => {
      const period = { start, end: earlierOf(end, restart?.until ?? null) };
      return { schedule, part, period };
    });
  });

/** The parts of a time, oldest first, each with the schedule that its periods follow. */
function schedulesWithin(
  subscription: ScheduledSubscription,
  time: Period,
): { readonly schedule: BillingSchedule; readonly part: Period }[] {
  const ends = movesOf(subscription).map(({ until }) => until);
  return [...ends, null].flatMap((end, index) => {
    const part = intersection(time, ends[index - 1] ?? time.start, end);
    return part === null ? [] : [{ schedule: paidSchedule(subscription, part.start), part }];
  });
}

/** Whether a plan change restarted the periods at an instant. */
export const isRestart = (subscription: ScheduledSubscription, at: Instant): boolean =>
  restartsOf(subscription).some(({ until }) => until === at);

const restartsOf = ({ earlier_plans }: ScheduledSubscription): readonly EarlierPlan[] =>
  earlier_plans.filter(({ restarts }) => restarts);

/** A pause or a plan change that moved the anchor. */
export interface AnchorMove extends EarlierAnchor {
  /** True if a plan change restarted the periods. */
  readonly isRestart: boolean;
}

/**
 * What moved the anchor, in the order in which it did. A restart and a pause of one instant: the pause is in the period
 * that the restart began, because periods never restart where they begin already (`assertRestartable`).
 */
export function movesOf(subscription: ScheduledSubscription): AnchorMove[] {
  return [
    ...restartsOf(subscription).map((move) => ({ ...move, isRestart: true })),
    ...subscription.earlier_anchors.map((move) => ({ ...move, isRestart: false })),
  ].sort(
    (left, right) =>
      byText(left.until, right.until) || Number(right.isRestart) - Number(left.isRestart),
  );
}

/**
 * The anchors that a subscription had before pauses moved them. `until` is the start of the first period on the
 * `moved` anchor. A second pause in one period adds nothing: the anchor of the earlier periods is known
 * already.
 */
export function anchorsBefore(
  {
    earlier_anchors,
    billing_anchor,
  }: Pick<ScheduledSubscription, 'earlier_anchors' | 'billing_anchor'>,
  moved: Instant,
  until: Instant,
): readonly EarlierAnchor[] {
  const isKnown = earlier_anchors.some((earlier) => earlier.until === until);
  return moved === billing_anchor || isKnown
    ? earlier_anchors
    : [...earlier_anchors, { billing_anchor, until }];
}

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
