import { compareLength } from '../pricing/cadence.ts';
import type { UsageResetPeriod } from '../time/reset-windows.ts';
import type { BillingSchedule } from '../time/billing-periods.ts';
import type { Instant } from '../time/instant.ts';
import { longTermSchedule, paidSchedule, type ScheduledSubscription } from './schedule.ts';

/**
 * The grid of the reset windows of an allowance at an instant (billing 4). A plan change that restarts the periods
 * also restarts the windows, except those longer than a period, which keep their usage (billing 14.2). Null: the
 * allowance resets with each charge period.
 */
export function resetScheduleAt(
  subscription: ScheduledSubscription,
  reset: UsageResetPeriod | null,
  at: Instant,
): BillingSchedule {
  const isLonger =
    reset === 'NEVER' ||
    (reset !== null &&
      compareLength({ billing_period: reset, billing_period_count: 1 }, subscription) > 0);
  return isLonger ? longTermSchedule(subscription) : paidSchedule(subscription, at);
}
