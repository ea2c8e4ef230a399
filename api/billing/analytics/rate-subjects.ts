import { analyticsDiscounts } from '../../../domain/invoicing/coupon-association.ts';
import type { UsageRow } from '../../../domain/metering/usage.ts';
import { Decimal, decimalText } from '../../../domain/money.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { groupBy } from '../../conventions/group-by.ts';
import { rateCharges, type RatedCharge } from '../computing/rate-charges.ts';
import { endOf } from '../computing/term-ledger.ts';
import type { AnalyticsSubject } from './analytics-subjects.ts';

/** A rated row with its coupon discount. */
export interface DiscountedCharge extends RatedCharge {
  readonly discount: Decimal;
}

/**
 * The rows that invoices would have for the subjects' charges, by subject: the same functions, over answers
 * that were read together. Lines of a subscription are rated together, one billing period after the other:
 * lines of one meter share its allowance (billing 4.6), and rows of one invoice share its coupons
 * (7.3).
 */
export function rateSubjects(
  subjects: readonly AnalyticsSubject[],
  rows: ReadonlyMap<string, readonly UsageRow[]>,
): ReadonlyMap<AnalyticsSubject, readonly DiscountedCharge[]> {
  const answers = new Map([...rows].map(([key, own]) => [key, { key, rows: own }]));
  const sold = subjects.filter(({ line }) => line !== null);
  const subjectOf = new Map(sold.map((subject) => [subject.line!.id, subject]));
  const bySubscription = groupBy(sold, ({ subscription }) => subscription!);
  const rated = [...bySubscription].flatMap(([subscription, own]) => {
    const { proration_behavior } = subscription;
    const { committedUsage: earlier, coupons, pauses } = own[0]!;
    const ends_at = endOf(subscription);
    const context = { subscription, proration_behavior, earlier, pauses, ends_at, until: null };
    const charges = own.flatMap((subject) => subject.charges);
    const byPeriod = groupBy(charges, ({ period }) => period.start);
    return [...byPeriod.values()].flatMap((invoiced) => {
      const closes_at = invoiced[0]!.period.end;
      return discounted(
        subscription,
        rateCharges({ ...context, closes_at }, invoiced, answers),
        coupons,
      );
    });
  });
  return groupBy(rated, ({ line }) => subjectOf.get(line.id)!);
}

/** The discounts of an invoice with these rows. An increase by rounding is not discounted. */
function discounted(
  { id, currency }: SubscriptionRow,
  rated: readonly RatedCharge[],
  coupons: AnalyticsSubject['coupons'],
): DiscountedCharge[] {
  const rows = rated.map((charge, index) => ({
    id: String(index),
    kind: charge.rated.kind,
    subscription_id: id,
    subscription_line_item_id: charge.line.id,
    price_type: charge.line.price_type,
    amount: decimalText(charge.rated.amount),
    period_start: charge.rated.period.start,
    period_end: charge.rated.period.end,
  }));
  const discounts = analyticsDiscounts(rows, coupons, currency);
  return rated.map((charge, index) => ({
    ...charge,
    discount: Decimal.min(discounts[index]!, charge.rated.unrounded),
  }));
}
