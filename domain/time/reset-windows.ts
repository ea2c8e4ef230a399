import { billingGrid, type RecurringPeriod } from './billing-grid.ts';
import type { BillingSchedule } from './billing-periods.ts';
import { invalidField } from '../errors.ts';
import { earlierOf, epochMs, isoText, laterOf, type Instant } from './instant.ts';
import { windowGrid } from './usage-windows.ts';

/** How often an allowance resets. */
export type UsageResetPeriod = RecurringPeriod | 'NEVER';

/** Fields that decide the windows: the subscription's start, anchor and zone, but not its own period. */
export type ResetSchedule = Pick<
  BillingSchedule,
  'start_date' | 'billing_anchor' | 'billing_cycle' | 'customer_timezone'
> & {
  /** The subscription's end: no window is longer. Null or absent means no end. */
  readonly end_date?: Instant | null;
};

/** The window of one allowance; a null end is open (NEVER). */
export interface ResetWindow {
  readonly start: Instant;
  readonly end: Instant | null;
}

/**
 * The window that contains an instant (billing 4). DAILY is the local calendar day. WEEKLY is
 * steps of seven days, longer periods are steps of the boundary function, both from the subscription's
 * anchor. NEVER is one window from its start. The first window begins with the subscription, and the last one ends
 * with it at the latest. An instant before the subscription is refused.
 */
export function resetWindowAt(
  schedule: ResetSchedule,
  reset: UsageResetPeriod,
  at: Instant,
): ResetWindow {
  const { start_date, end_date = null } = schedule;
  if (epochMs(at) < epochMs(start_date))
    throw invalidField('at', `must not be before the start of the subscription, ${start_date}`);
  if (reset === 'NEVER') return { start: start_date, end: end_date };
  const { start, end } = cellFinder(schedule, reset)(epochMs(at));
  return { start: laterOf(isoText(start), start_date), end: earlierOf(isoText(end), end_date) };
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
