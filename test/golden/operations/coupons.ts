import { buildInvoice } from '../../support/build-invoice.ts';
import {
  analyticsDiscounts,
  couponsInForce,
} from '../../../domain/invoicing/coupon-association.ts';
import { redeem, type Coupon } from '../../../domain/invoicing/coupon-gate.ts';
import { applyCoupons, couponDiscount } from '../../../domain/invoicing/coupons.ts';
import { decimal, decimalText } from '../../../domain/money.ts';
import { rate } from '../../../domain/pricing/rate.ts';
import type { JsonObject } from '../compare.ts';
import type { AreaOperations } from '../operation.ts';
import { couponOf, row } from './invoice.ts';
import { ANY_PERIOD, caseTerms } from './price.ts';

export const coupons: AreaOperations = {
  apply_coupon(given) {
    const amount = decimal(given['amount'] as string);
    const discount = couponDiscount(couponOf(couponIn(given)), amount, given['currency'] as string);
    return { discounted_amount: discount, final_price: amount.minus(discount) };
  },

  line_item_coupons(given) {
    const lines = given['line_items'] as unknown as { id: string; amount: string }[];
    const bound = given['line_item_coupons'] as unknown as {
      subscription_line_item_id: string;
      percentage_off: string;
    }[];
    const { lineItemDiscounts } = applyCoupons(
      lines.map((line) => row(line.id, line.amount)),
      bound.map((coupon) =>
        couponOf({ type: 'percentage', ...coupon }, coupon.subscription_line_item_id),
      ),
      'usd',
    );
    return {
      line_item_discounts: Object.fromEntries(
        lines.map((line, index) => [line.id, lineItemDiscounts[index]!]),
      ),
    };
  },

  coupon_selection(given) {
    const association = given['association'] as unknown as {
      start_date: string;
      end_date: string | null;
    };
    const { applications } = applyCoupons(
      [
        {
          ...row('line', '100'),
          period_start: given['invoice_period_start'] as string,
          period_end: given['invoice_period_end'] as string,
        },
      ],
      [{ ...couponOf({ type: 'percentage', percentage_off: '10' }), ...association }],
      'usd',
    );
    return { selected: applications.length === 1 };
  },

  /** Attached once, then every invoice of the list is built with the association. */
  subscription_invoice_with_coupon(given) {
    const coupon: Coupon = {
      id: 'coupon',
      status: 'published',
      amount_off: null,
      percentage_off: null,
      currency: null,
      cadence: 'forever',
      duration_in_periods: null,
      max_redemptions: null,
      redeem_after: null,
      redeem_before: null,
      ...couponIn(given),
      total_redemptions: (couponIn(given).total_redemptions ?? 1) - 1,
    };
    const total = redeem(coupon, ANY_PERIOD.start, 'usd');
    const association = {
      ...couponOf(couponIn(given)),
      coupon_association_id: 'association',
      cadence: coupon.cadence,
    };
    const built = (given['invoice_amounts'] as string[]).map((amount, index) =>
      buildInvoice({
        currency: 'usd',
        invoice_status: 'DRAFT',
        lines: [row('line', amount)],
        coupons: couponsInForce([association], [], String(index)),
      }),
    );
    return {
      total_redemptions: total,
      total_discounts: built.map((invoice) => invoice.total_discount),
    };
  },

  usage_analytics_discount(given) {
    const price = caseTerms(given['price'] as JsonObject);
    const subtotal = rate(price.model, decimal(given['quantity'] as string)).amount;
    const found = given['coupons'] as unknown as (CaseCoupon & { level: string })[];
    const [discount] = analyticsDiscounts(
      [row('line', decimalText(subtotal))],
      found.map((coupon, index) => ({
        ...couponOf(coupon, coupon.level === 'line_item' ? 'line' : null),
        coupon_association_id: String(index),
        cadence: coupon.cadence!,
      })),
      price.currency,
    );
    return { subtotal, total_discount: discount!, total_cost: subtotal.minus(discount!) };
  },
};

type CaseCoupon = Parameters<typeof couponOf>[0] & {
  readonly cadence?: Coupon['cadence'];
  readonly total_redemptions?: number;
};

const couponIn = (given: JsonObject): CaseCoupon => given['coupon'] as unknown as CaseCoupon;
