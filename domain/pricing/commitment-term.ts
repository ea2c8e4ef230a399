import { sum, type Decimal } from '../money.ts';
import { billingGrid } from '../time/billing-grid.ts';
import type { BillingSchedule } from '../time/billing-periods.ts';
import { earlierOf, epochMs, type Instant, type Period } from '../time/instant.ts';
import type { BillingPeriod } from './cadence.ts';
import { prorate, timeShare, type ProrationBehavior } from './proration.ts';
import type { TermPosition } from './term-commitment.ts';

/** What a closed billing period adds to its term's ledger. */
export interface TermLedgerEntry {
  readonly period_start: Instant;
  /** Usage money before the overage factor, unrounded. */
  readonly base_usage: Decimal;
}

/** The subscription's dates, with the anchor that its terms keep (a later re-anchoring does not move them). */
export type TermSchedule = Pick<
  BillingSchedule,
  'start_date' | 'billing_anchor' | 'billing_cycle' | 'customer_timezone'
>;

/**
 * The commitment term that holds an instant: the first runs from the subscription's start to one term
 * after the anchor, so that an opening stub belongs to it; then one term after the other
 * (billing 6.4). A billing period belongs to the term that holds its start.
 */
export function termAt(
  schedule: TermSchedule,
  duration: Exclude<BillingPeriod, 'ONETIME'>,
  at: Instant,
): Period {
  const { start_date, billing_anchor, billing_cycle, customer_timezone } = schedule;
  const grid = billingGrid({
    billing_anchor,
    billing_cycle,
    customer_timezone,
    billing_period: duration,
    billing_period_count: 1,
  });
  const startsBeforeAnchor = epochMs(start_date) < epochMs(billing_anchor);
  const firstEnd = startsBeforeAnchor ? 1 : grid.indexAt(start_date) + 1;
  const k = grid.indexAt(at);
  return k < firstEnd
    ? { start: start_date, end: grid.boundary(firstEnd) }
    : { start: grid.boundary(k), end: grid.boundary(k + 1) };
}

/**
 * Where a billing period stands in its term. Earlier periods count by their ledger entries, drafts and
 * skipped invoices included; entries of other terms and of later periods do not. The term's last period
 * is the one after which none starts in it (billing 6.4).
 *
 * `commitment` is C as money. When the subscription ends before the term does, `create_prorations` scales
 * it to the time that passed and `none` keeps it whole.
 */
export function termPosition(input: {
  readonly term: Period;
  readonly commitment: Decimal;
  readonly ledger: readonly TermLedgerEntry[];
  readonly period: Period;
  /** When the subscription ends, if it is known to. */
  readonly ends_at: Instant | null;
  readonly proration_behavior: ProrationBehavior;
}): TermPosition {
  const { term, commitment, ledger, period, ends_at } = input;
  const from = epochMs(term.start);
  const until = epochMs(period.start);
  const earlier = ledger.filter((entry) => {
    const start = epochMs(entry.period_start);
    return start >= from && start < until;
  });
  const end = earlierOf(term.end, ends_at);
  return {
    term,
    commitment:
      input.proration_behavior === 'create_prorations'
        ? prorate(commitment, timeShare({ start: term.start, end }, term))
        : commitment,
    priorUsage: sum(earlier.map((entry) => entry.base_usage)),
    lastPeriod: epochMs(period.end) >= epochMs(end),
  };
}
