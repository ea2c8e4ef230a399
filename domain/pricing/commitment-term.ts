import { sum, ZERO, type Decimal } from '../money.ts';
import { billingGrid } from '../time/billing-grid.ts';
import type { BillingSchedule } from '../time/billing-periods.ts';
import { earlierOf, epochMs, type Instant, type Period } from '../time/instant.ts';
import type { BillingPeriod } from './cadence.ts';
import { prorate, timeShare, type ProrationBehavior } from './proration.ts';
import type { TermPosition } from './term-commitment.ts';

/** Ledger entry of a closed billing period in its term. */
export interface TermLedgerEntry {
  readonly period_start: Instant;
  /** Usage money before the overage factor, unrounded. */
  readonly base_usage: Decimal;
}

/** The subscription's dates and the anchor of its terms. A later re-anchoring does not move the terms. */
export type TermSchedule = Pick<
  BillingSchedule,
  'start_date' | 'billing_anchor' | 'billing_cycle' | 'customer_timezone'
>;

/**
 * The commitment term that contains an instant (billing 6.4). The first term runs from the
 * subscription's start to one term after the anchor, so it includes an opening stub. The next terms follow
 * without a gap. A billing period belongs to the term that contains its start.
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

/** What the term promises if it ends at `end`. */
function promisedUntil(
  end: Instant,
  { term, commitment, proration_behavior }: Parameters<typeof termPosition>[0],
): Decimal {
  if (epochMs(end) <= epochMs(term.start)) return ZERO;
  return proration_behavior === 'create_prorations'
    ? prorate(commitment, timeShare({ start: term.start, end }, term))
    : commitment;
}

/**
 * The position of a billing period in its term (billing 6.4). Ledger entries of earlier periods of
 * the term count, including drafts and skipped invoices. Entries of other terms and of later periods do not.
 * The last period is the one after which no period starts in the term.
 *
 * `commitment` is C as money. When the subscription ends before the term, `create_prorations` scales it to
 * the elapsed time and `none` keeps it whole. A term that begins when the subscription has ended has none.
 */
export function termPosition(input: {
  readonly term: Period;
  readonly commitment: Decimal;
  readonly ledger: readonly TermLedgerEntry[];
  readonly period: Period;
  /** End of the subscription, if known. */
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
    commitment: promisedUntil(end, input),
    priorUsage: sum(earlier.map((entry) => entry.base_usage)),
    lastPeriod: epochMs(period.end) >= epochMs(end),
  };
}
