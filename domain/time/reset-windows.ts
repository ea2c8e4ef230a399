import { billingGrid, type RecurringPeriod } from './billing-grid.ts';
import type { BillingSchedule } from './billing-periods.ts';
import { epochMs, intersection, isoText, type Instant, type Period } from './instant.ts';
import { windowGrid } from './usage-windows.ts';

/** How often an allowance begins anew. */
export type UsageResetPeriod = RecurringPeriod | 'NEVER';

/** What decides the windows: the subscription's start, anchor and zone. Its own period does not. */
export type ResetSchedule = Pick<
  BillingSchedule,
  'start_date' | 'billing_anchor' | 'billing_cycle' | 'customer_timezone'
>;

/** A window in which one allowance is used up; a null end is open (NEVER). */
export interface ResetWindow {
  readonly start: Instant;
  readonly end: Instant | null;
}

/**
 * The window that holds an instant (billing 4): DAILY the local calendar day, WEEKLY steps of
 * seven days and the longer ones steps of the boundary function from the subscription's anchor, NEVER
 * one window from its start. The first one begins with the subscription. `at` is not before it.
 */
export function resetWindowAt(
  schedule: ResetSchedule,
  reset: UsageResetPeriod,
  at: Instant,
): ResetWindow {
  if (reset === 'NEVER') return { start: schedule.start_date, end: null };
  const { start, end } = cellFinder(schedule, reset)(epochMs(at));
  const subscriptionStart = epochMs(schedule.start_date);
  return {
    start: start < subscriptionStart ? schedule.start_date : isoText(start),
    end: isoText(end),
  };
}

/** The windows that overlap a period, oldest first, each cut to it. One for NEVER. */
export function resetWindowsWithin(
  schedule: ResetSchedule,
  reset: UsageResetPeriod,
  period: Period,
): Period[] {
  if (reset === 'NEVER') return [period];
  const cellAt = cellFinder(schedule, reset);
  const until = epochMs(period.end);
  const windows: Period[] = [];
  for (let at = epochMs(period.start); at < until;) {
    const { start, end } = cellAt(at);
    const window = { start: isoText(start), end: isoText(end) };
    windows.push(intersection(window, period.start, period.end)!);
    at = end;
  }
  return windows;
}

/** When the allowance that is used at `at` begins anew; null for NEVER. */
export function nextUsageReset(
  schedule: ResetSchedule,
  reset: UsageResetPeriod,
  at: Instant,
): Instant | null {
  return resetWindowAt(schedule, reset, at).end;
}

type CellFinder = (ms: number) => { readonly start: number; readonly end: number };

function cellFinder(schedule: ResetSchedule, reset: RecurringPeriod): CellFinder {
  if (reset === 'DAILY') {
    return windowGrid({
      bucket_size: 'DAY',
      timezone: schedule.customer_timezone,
      billing_anchor: null,
    }).cellAt;
  }
  const grid = billingGrid({
    billing_anchor: schedule.billing_anchor,
    billing_cycle: schedule.billing_cycle,
    customer_timezone: schedule.customer_timezone,
    billing_period: reset,
    billing_period_count: 1,
  });
  return (ms) => {
    const k = grid.indexAtMs(ms);
    return { start: grid.boundaryMs(k), end: grid.boundaryMs(k + 1) };
  };
}
