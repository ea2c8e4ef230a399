import { analyticsDiscounts } from '../../../domain/invoicing/coupon-association.ts';
import type { UsageRow } from '../../../domain/metering/usage.ts';
import { Decimal, decimalText, sum } from '../../../domain/money.ts';
import { closingProrations } from '../../../domain/subscription/closing-prorations.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { rateCharges, type RatedCharge } from '../computing/rate-charges.ts';
import { commitCharges, type InvoiceCharge } from '../computing/subscription-commitments.ts';
import { endAtClose } from '../computing/term-ledger.ts';
import type { RatedSubject } from './analytics-subjects.ts';

/** A rated row with its coupon discount. */
export interface DiscountedCharge extends RatedCharge {
  readonly discount: Decimal;
}

type Rows = ReadonlyMap<string, readonly UsageRow[]>;

/**
 * The rows that invoices would have for the subjects' charges, by subject: the same functions, over answers
 * that were read together. Lines of a subscription are rated together, one billing period after the other:
 * lines of one meter share its allowance (billing 4.6), all lines the commitment of the subscription (6.3), and rows of
 * one invoice its coupons (7.3). The true-up of the subscription belongs to none.
 */
export function rateSubjects<Subject extends RatedSubject>(
  subjects: readonly Subject[],
  rows: Rows,
): ReadonlyMap<Subject, readonly DiscountedCharge[]> {
  const subjectOf = new Map(sold(subjects).map((subject) => [subject.line!.id, subject]));
  const rated = committedPeriods(subjects, rows).flatMap(({ subscription, charges, coupons }) =>
    discounted(subscription, charges, coupons).filter(isOfLine),
  );
  return groupBy(rated, ({ line }) => subjectOf.get(line.id)!);
}

const isOfLine = (
  charge: InvoiceCharge & { readonly discount: Decimal },
): charge is DiscountedCharge => charge.line !== null;

/**
 * What the subscriptions of the subjects cost, in their currency, not rounded: the rows of `rateSubjects` and the
 * true-up of the subscription, less their discounts. `subjects` has all usage lines of each.
 */
export function costOfSubscriptions(
  subjects: readonly RatedSubject[],
  rows: Rows,
): ReadonlyMap<SubscriptionRow, Decimal> {
  const periods = committedPeriods(subjects, rows).map(({ subscription, charges, coupons }) => {
    const costs = discounted(subscription, charges, coupons);
    const cost = sum(costs.map(({ rated: row, discount }) => row.unrounded.minus(discount)));
    return { subscription, cost };
  });
  const bySubscription = groupBy(periods, ({ subscription }) => subscription);
  return new Map(
    [...bySubscription].map(([key, own]) => [key, sum(own.map(({ cost }) => cost))] as const),
  );
}

/** The rated rows of each billing period under the commitment of the subscription. */
const committedPeriods = (subjects: readonly RatedSubject[], rows: Rows) =>
  ratedPeriods(subjects, rows).map(({ period, charges, coupons, ...rated }) => {
    const covers = { closing: period, opening: null };
    const committed = commitCharges({ ...rated, covers }, charges, rated.earlier, rated);
    // The commitment shares rounded money among its rows; the other rows are not rounded yet.
    const own = new Set<InvoiceCharge>(charges);
    const shared = committed.charges.map((charge) =>
      own.has(charge) ? charge : withCost(charge, charge.rated.amount),
    );
    return { subscription: rated.subscription, coupons, charges: shared };
  });

const withCost = <Charge extends InvoiceCharge>(charge: Charge, unrounded: Decimal): Charge => ({
  ...charge,
  rated: { ...charge.rated, unrounded },
});

const sold = <Subject extends RatedSubject>(subjects: readonly Subject[]): Subject[] =>
  subjects.filter(({ line }) => line !== null);

/** The rated rows of each billing period of each subscription, with what they were rated by. */
function ratedPeriods(subjects: readonly RatedSubject[], rows: Rows) {
  const answers = new Map([...rows].map(([key, own]) => [key, { key, rows: own }]));
  const bySubscription = groupBy(sold(subjects), ({ subscription }) => subscription!);
  return [...bySubscription].flatMap(([subscription, own]) => {
    const { committedUsage: earlier, coupons, pauses } = own[0]!;
    const asked = own.flatMap((subject) => subject.charges);
    return [...groupBy(asked, ({ period }) => period.start).values()].map((invoiced) => {
      const { period } = invoiced[0]!;
      const proration_behavior = closingProrations(subscription, period, pauses);
      const stored = earlier.filter(
        ({ period_start }) => period.start <= period_start && period_start < period.end,
      );
      const ends_at = endAtClose(subscription, stored);
      const time = { pauses, ends_at, closes_at: period.end };
      const context = { subscription, proration_behavior, earlier, ...time };
      const charges = rateCharges({ ...context, until: null }, invoiced, answers);
      return { ...context, period, coupons, charges };
    });
  });
}

/** The discounts of an invoice with these rows. An increase by rounding is not discounted. */
function discounted<Row extends InvoiceCharge>(
  { id, currency }: SubscriptionRow,
  charges: readonly Row[],
  coupons: RatedSubject['coupons'],
): (Row & { readonly discount: Decimal })[] {
  const rows = charges.map(({ line, rated }, index) => ({
    id: String(index),
    kind: rated.kind,
    subscription_id: id,
    subscription_line_item_id: line?.id ?? null,
    price_type: line?.price_type ?? 'FIXED',
    amount: decimalText(rated.amount),
    period_start: rated.period.start,
    period_end: rated.period.end,
  }));
  const discounts = analyticsDiscounts(rows, coupons, currency);
  return charges.map((charge, index) => ({
    ...charge,
    discount: Decimal.min(discounts[index]!, charge.rated.unrounded),
  }));
}
