import type { RecurringPeriod } from './billing-grid.ts';
import { billingPeriods, type BillingSchedule } from './billing-periods.ts';
import { earlierOf, intersection, laterOf, type Instant, type Period } from './instant.ts';

/** One period of a price's own grid inside a billing period of its subscription. */
export interface Cell {
  /** The uncut cell: what a full amount pays for. */
  readonly reference: Period;
  /** Cut by the subscription's start or end, and by the requested billing period. */
  readonly cell: Period;
}

/**
 * Cuts a billing period by the grid of a price (billing 3.3): the subscription's anchor and
 * first-period rule with the price's own unit and count. A price with the subscription's period gives one
 * cell. A price with a shorter period gives several cells, each rated separately. Oldest first.
 */
export function chargeCells(
  subscription: BillingSchedule,
  price: {
    readonly billing_period: RecurringPeriod;
    readonly billing_period_count: number;
  },
  period: Period,
): Cell[] {
  const schedule = {
    ...subscription,
    billing_period: price.billing_period,
    billing_period_count: price.billing_period_count,
  };
  return billingPeriods(schedule, period.start, period.end).map((own) => ({
    reference: own.reference,
    cell: { start: laterOf(own.start, period.start), end: earlierOf(own.end, period.end) },
  }));
}

/** The part of a cell in which the line item is in force; null when there is none. A null end is open. */
export function serviceWindow(
  cell: Period,
  line_item: { readonly start_date: Instant; readonly end_date: Instant | null },
): Period | null {
  return intersection(cell, line_item.start_date, line_item.end_date);
}
