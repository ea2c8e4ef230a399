import type { Currency } from '../currency.ts';
import type { Decimal } from '../money.ts';
import type { InvoiceStatus } from '../states/invoice.ts';
import { endOfPeriods, type BillingSchedule } from '../time/billing-periods.ts';
import { laterOf } from '../time/instant.ts';
import type { CouponCadence } from './coupon-gate.ts';
import { applyCoupons, type InvoiceCoupon } from './coupons.ts';
import type { InvoiceRow } from './invoice-row.ts';

/** A coupon attached to a subscription or to one of its line items. */
export interface CouponAssociation extends InvoiceCoupon {
  readonly coupon_association_id: string;
  readonly cadence: CouponCadence;
}

/** An application of an association on an invoice. */
export interface EarlierApplication {
  readonly coupon_association_id: string | null;
  readonly invoice_id: string;
  readonly invoice_status: InvoiceStatus;
}

/** Later than the end of any subscription, so the search always ends. */
const END_OF_TIME = '9998-12-31T00:00:00.000Z';

/**
 * The window [a, z) of a coupon attached from `startDate` on (billing 7.2). A given end date wins.
 * A repeated coupon ends with the n-th billing period. The period that contains its start is the first, and a
 * period without an invoice counts. Other coupons have no end: `once` is used up by its first use.
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
  const end = endOfPeriods(schedule, from, END_OF_TIME, coupon.duration_in_periods!);
  return { start_date: startDate, end_date: end ?? startDate };
}

/**
 * Associations that apply to an invoice: all except `once` coupons that another invoice has used. Voiding
 * that invoice makes them available again (billing 7.2). `applyCoupons` decides per row, by the
 * dates of the row.
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
 * Coupon discounts of rated rows in usage analytics, one figure per row: percentage coupons that are not
 * `once`, applied as on an invoice of these rows (money 19.10, billing 7.3).
 */
export function analyticsDiscounts(
  rows: readonly InvoiceRow[],
  associations: readonly CouponAssociation[],
  currency: Currency,
): Decimal[] {
  const taken = associations.filter(
    ({ type, cadence }) => type === 'percentage' && cadence !== 'once',
  );
  const { lineItemDiscounts, invoiceLevelDiscounts } = applyCoupons(rows, taken, currency);
  return rows.map((_, row) => lineItemDiscounts[row]!.plus(invoiceLevelDiscounts[row]!));
}
