import { compareLength } from '../pricing/cadence.ts';
import type { UsageResetPeriod } from '../time/reset-windows.ts';
import type { RecurringPeriod } from '../time/billing-grid.ts';
import type { BillingSchedule } from '../time/billing-periods.ts';
import type { Cell } from '../time/charge-cells.ts';
import type { Instant, Period } from '../time/instant.ts';
import { pausedCells, type PausedTime } from '../time/paused-cells.ts';
import {
  longerPeriodAt,
  longTermSchedule,
  paidSchedule,
  type ScheduledSubscription,
} from './schedule.ts';

/**
 * The grid of the reset windows of an allowance at an instant (billing 4). A plan change that restarts the periods
 * also restarts the windows, except days, which follow no anchor, and those longer than a period: they keep their usage
 * (billing 14.2). Null: the allowance resets with each charge period.
 */
export function resetScheduleAt(
  subscription: ScheduledSubscription,
  reset: UsageResetPeriod | null,
  at: Instant,
): BillingSchedule {
  return reset === 'DAILY' || isLonger(subscription, reset)
    ? longTermSchedule(subscription)
    : paidSchedule(subscription, at);
}

const isLonger = (subscription: ScheduledSubscription, reset: UsageResetPeriod | null): boolean =>
  reset === 'NEVER' ||
  (reset !== null &&
    compareLength({ billing_period: reset, billing_period_count: 1 }, subscription) > 0);

/**
 * The reset windows of a period that pauses made longer: as many as without them (billing 12.4). Null if the windows
 * are others: in any other period, on a calendar, without a reset period, for local days, and for windows longer than
 * a period.
 */
export function pausedResetWindows(
  subscription: ScheduledSubscription,
  reset: UsageResetPeriod | null,
  at: Instant,
  pauses: readonly PausedTime[],
): Period[] | null {
  if (reset === null || reset === 'NEVER' || reset === 'DAILY') return null;
  if (isLonger(subscription, reset)) return null;
  return longerCells(subscription, reset, at, pauses)?.map(({ reference }) => reference) ?? null;
}

/**
 * The cells of a unit, not longer than a period, in the period at an instant if pauses made that longer (billing 12.4):
 * those before a pause do not move. Null in any other period and on a calendar.
 */
export function longerCells(
  subscription: ScheduledSubscription,
  billing_period: RecurringPeriod,
  at: Instant,
  pauses: readonly PausedTime[],
): Cell[] | null {
  const period = longerPeriodAt(subscription, at);
  if (period === null) return null;
  const cadence = { billing_period, billing_period_count: 1 };
  return pausedCells(paidSchedule(subscription, period.start), cadence, period, pauses);
}

/** The cycles of a subscription in which quotas open windows, at an instant (money 7.7). */
export const quotaScheduleAt = (
  subscription: ScheduledSubscription,
  at: Instant,
): BillingSchedule & { readonly longer_period: Period | null } => ({
  ...paidSchedule(subscription, at),
  longer_period: longerPeriodAt(subscription, at),
});
