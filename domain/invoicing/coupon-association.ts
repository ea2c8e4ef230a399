import { Decimal, ZERO } from '../money.ts';
import type { InvoiceStatus } from '../states/invoice.ts';
import { billingPeriods, type BillingSchedule } from '../time/billing-periods.ts';
import { laterOf } from '../time/instant.ts';
import type { CouponCadence } from './coupon-gate.ts';
import { couponDiscount, type InvoiceCoupon } from './coupons.ts';
import type { Currency } from '../currency.ts';

/** A coupon that is attached to a subscription or to one of its line items. */
export interface CouponAssociation extends InvoiceCoupon {
  readonly coupon_association_id: string;
  readonly cadence: CouponCadence;
}

/** An application of an association that stands on some invoice. */
export interface EarlierApplication {
  readonly coupon_association_id: string | null;
  readonly invoice_id: string;
  readonly invoice_status: InvoiceStatus;
}

/** No subscription lives that long; the search ends before. */
const END_OF_TIME = '9998-12-31T00:00:00.000Z';

/**
 * The window [a, z) of a coupon that is attached from `startDate` on (billing-semantics 7.2). A given
 * end wins. A repeated coupon ends with the n-th billing period, the one that holds its start being
 * the first; a period without an invoice counts. The others are open: `once` is spent by its first use.
 */
export function associationWindow(
  coupon: { readonly cadence: CouponCadence; readonly duration_in_periods: number | null },
  schedule: BillingSchedule,
  startDate: string,
  endDate: string | null,
): { readonly start_date: string; readonly end_date: string | null } {
  if (endDate !== null || coupon.cadence !== 'repeated') {
    return { start_date: startDate, end_date: endDate };
  }
  const from = laterOf(startDate, schedule.start_date);
  const periods = billingPeriods(schedule, from, END_OF_TIME, coupon.duration_in_periods!);
  return { start_date: startDate, end_date: periods.at(-1)?.end ?? startDate };
}

/**
 * The associations that stand on an invoice: all but the `once` coupons that another invoice has used.
 * Voiding that invoice makes them available again (billing-semantics 7.2). Whether a row is
 * discounted is decided by its own dates, in `applyCoupons`.
 */
export const couponsInForce = (
  associations: readonly CouponAssociation[],
  applications: readonly EarlierApplication[],
  invoiceId: string | null,
): InvoiceCoupon[] =>
  associations.filter(
    (association) =>
      association.cadence !== 'once' ||
      !applications.some(
        (application) =>
          application.coupon_association_id === association.coupon_association_id &&
          application.invoice_id !== invoiceId &&
          application.invoice_status !== 'VOIDED',
      ),
  );

/**
 * What coupons take off a cost in usage analytics, rounded: percentages that are not `once`, one on
 * what the other left, line-level ones first (money-semantics 19.10).
 */
export function analyticsDiscount(
  cost: Decimal,
  coupons: readonly (Pick<InvoiceCoupon, 'type' | 'percentage_off' | 'amount_off'> & {
    readonly cadence: CouponCadence;
    readonly is_line_level: boolean;
  })[],
  currency: Currency,
): Decimal {
  const applied = coupons
    .filter((coupon) => coupon.type === 'percentage' && coupon.cadence !== 'once')
    .sort((left, right) => Number(right.is_line_level) - Number(left.is_line_level));
  let left = cost;
  for (const coupon of applied) {
    left = left.minus(couponDiscount(coupon, Decimal.max(left, ZERO), currency));
  }
  return cost.minus(left);
}
