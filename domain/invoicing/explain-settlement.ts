import type { SettlementStep } from '../../schemas/explanation.ts';
import { decimalText, type Decimal } from '../money.ts';
import type { Discounts } from './coupons.ts';
import type { InvoiceRow } from './invoice-row.ts';
import type { PrepaidCredits } from './prepaid-credits.ts';
import type { Taxes } from './taxes.ts';

/** Results of the pipeline steps for the whole invoice. */
export interface Settlement {
  readonly discounts: Discounts;
  readonly credits: PrepaidCredits;
  readonly taxes: Taxes;
}

/** Adds the steps to the explanation of the row. A row without an explanation is unchanged. */
export function explained<Line extends InvoiceRow>(
  line: Line,
  steps: () => SettlementStep[],
): Line {
  if (!line.explanation) return line;
  return { ...line, explanation: { ...line.explanation, settlement: steps() } };
}

/**
 * Settlement steps of one row, from the same results as its figures. `net` is the amount of the row after
 * discounts.
 */
export function settlementSteps(
  row: number,
  net: Decimal,
  { discounts, credits, taxes }: Settlement,
): SettlementStep[] {
  return [
    ...discountSteps(row, discounts),
    ...creditSteps(row, net, credits),
    ...(net.isZero() ? [] : taxSteps(net, taxes)),
  ];
}

const discountSteps = (row: number, { uses }: Discounts): SettlementStep[] =>
  uses.flatMap(({ level, base, subtotalLeft, discount, shares }) =>
    shares
      .filter((share) => share.row === row)
      .map(({ coupon, before, amount }) => ({
        step: 'discount' as const,
        rule: 'billing 7.3',
        level,
        coupon_id: coupon.coupon_id,
        coupon_association_id: coupon.coupon_association_id,
        discount_type: coupon.type,
        percentage_off: coupon.percentage_off,
        amount_off: coupon.amount_off,
        base: decimalText(base),
        subtotal_left: decimalText(subtotalLeft),
        discount: decimalText(discount),
        before: decimalText(before),
        amount: decimalText(amount),
        after: decimalText(before.minus(amount)),
      })),
  );

function creditSteps(row: number, net: Decimal, { steps }: PrepaidCredits): SettlementStep[] {
  let before = net;
  return steps
    .filter((step) => step.row === row)
    .map(({ wallet_id, walletLeft, invoiceLeft, amount }) => {
      const after = before.minus(amount);
      const step: SettlementStep = {
        step: 'prepaid_credit',
        rule: 'billing 9.2',
        wallet_id,
        wallet_left: decimalText(walletLeft),
        invoice_left: decimalText(invoiceLeft),
        before: decimalText(before),
        amount: decimalText(amount),
        after: decimalText(after),
      };
      before = after;
      return step;
    });
}

const taxSteps = (net: Decimal, { rows, base }: Taxes): SettlementStep[] =>
  rows.map((tax) => ({
    step: 'tax',
    rule: 'billing 8.2',
    tax_rate_id: tax.tax_rate_id,
    tax_behavior: tax.tax_behavior,
    percentage_value: tax.percentage_value,
    line_base: decimalText(net),
    invoice_base: decimalText(base),
    taxable_amount: tax.taxable_amount,
    tax_amount: tax.tax_amount,
  }));
