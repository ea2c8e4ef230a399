import { roundToCurrency, type Currency } from '../currency.ts';
import type { CouponAssociation } from '../invoicing/coupon-association.ts';
import { applyCoupons } from '../invoicing/coupons.ts';
import type { InvoiceRow } from '../invoicing/invoice-row.ts';
import { decimal, Decimal, decimalText, sum, ZERO } from '../money.ts';
import { effectiveMonths, type Cadence } from '../pricing/cadence.ts';
import type { ChargeModel } from '../pricing/price.ts';
import { rate } from '../pricing/rate.ts';

/** A recurring fixed fee that a subscription is charged now. */
export interface RecurringFee {
  readonly subscription_line_item_id: string;
  readonly model: ChargeModel;
  /** Decimal text, 0 or more. */
  readonly quantity: string;
  readonly cadence: Cadence;
}

export interface RecurringContract {
  readonly subscription_id: string;
  readonly fees: readonly RecurringFee[];
  readonly cadence: Cadence;
  readonly currency: Currency;
  readonly coupons: readonly CouponAssociation[];
}

/**
 * Monthly recurring revenue of one subscription at an instant, unrounded (money 19.15). Each fee is taken for
 * one billing period of the subscription and rounded as an invoice rounds it; the coupons in force are
 * applied to these rows as on an invoice. Coupons for one invoice do not count.
 */
export function monthlyRevenue(contract: RecurringContract, at: string): Decimal {
  const { currency, cadence, subscription_id } = contract;
  const months = monthsOf(cadence);
  const rows = contract.fees.map((fee): InvoiceRow => {
    const perPeriod = rate(fee.model, decimal(fee.quantity))
      .amount.times(months)
      .div(monthsOf(fee.cadence));
    return {
      id: fee.subscription_line_item_id,
      kind: 'base',
      subscription_id,
      subscription_line_item_id: fee.subscription_line_item_id,
      price_type: 'FIXED',
      amount: decimalText(roundToCurrency(perPeriod, currency)),
      period_start: at,
      period_end: at,
    };
  });
  const lasting = contract.coupons.filter((coupon) => coupon.cadence !== 'once');
  const { uses } = applyCoupons(rows, lasting, currency);
  const gross = sum(rows.map((row) => decimal(row.amount)));
  const net = gross.minus(sum(uses.map(({ discount }) => discount)));
  return Decimal.max(net, ZERO).div(months);
}

const DAYS_OF_MONTH = new Decimal('365.2425').div(12);

/** Months of a recurring cadence; of days and weeks by the mean length of a month. */
function monthsOf(cadence: Cadence): Decimal {
  const months = effectiveMonths(cadence);
  if (months !== null) return new Decimal(months);
  const days = (cadence.billing_period === 'WEEKLY' ? 7 : 1) * cadence.billing_period_count;
  return new Decimal(days).div(DAYS_OF_MONTH);
}
