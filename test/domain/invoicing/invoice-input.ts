import type { InvoiceCoupon } from '../../../domain/invoicing/coupons.ts';
import type { InvoiceRow } from '../../../domain/invoicing/invoice-row.ts';
import type { PrepaidWallet } from '../../../domain/invoicing/prepaid-credits.ts';
import type { InvoiceTaxRate } from '../../../domain/invoicing/taxes.ts';

/** A base row of one subscription, on its line item of the same name, without a service window. */
export const line = (id: string, amount: string, over: Partial<InvoiceRow> = {}): InvoiceRow => ({
  id,
  kind: 'base',
  subscription_id: 'subs',
  subscription_line_item_id: `item-${id}`,
  price_type: 'USAGE',
  amount,
  period_start: null,
  period_end: null,
  ...over,
});

const coupon = (over: Partial<InvoiceCoupon>): InvoiceCoupon => ({
  coupon_id: 'coupon',
  coupon_association_id: null,
  type: 'percentage',
  percentage_off: null,
  amount_off: null,
  subscription_id: null,
  subscription_line_item_id: null,
  start_date: null,
  end_date: null,
  ...over,
});

export const percentOff = (percent: string, over: Partial<InvoiceCoupon> = {}): InvoiceCoupon =>
  coupon({ type: 'percentage', percentage_off: percent, ...over });

export const amountOff = (amount: string, over: Partial<InvoiceCoupon> = {}): InvoiceCoupon =>
  coupon({ type: 'fixed', amount_off: amount, ...over });

const rate = (
  percentage: string,
  tax_behavior: InvoiceTaxRate['tax_behavior'],
  over: Partial<InvoiceTaxRate>,
): InvoiceTaxRate => ({
  tax_rate_id: `${tax_behavior}-${percentage}`,
  tax_association_id: null,
  percentage_value: percentage,
  tax_behavior,
  priority: 0,
  ...over,
});

export const exclusive = (percentage: string, over: Partial<InvoiceTaxRate> = {}): InvoiceTaxRate =>
  rate(percentage, 'exclusive', over);

export const inclusive = (percentage: string, over: Partial<InvoiceTaxRate> = {}): InvoiceTaxRate =>
  rate(percentage, 'inclusive', over);

export const wallet = (
  id: string,
  credits: string,
  over: Partial<PrepaidWallet> = {},
): PrepaidWallet => ({
  id,
  credits_available: credits,
  conversion_rate: '1',
  allowed_price_types: ['USAGE'],
  ...over,
});
