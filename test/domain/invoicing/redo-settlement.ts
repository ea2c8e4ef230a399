import type { Explanation, SettlementStep } from '../../../schemas/explanation.ts';
import {
  close,
  exact,
  least,
  minus,
  over,
  rounded,
  text,
  times,
  type Exact,
} from '../pricing/exact.ts';

/**
 * Redoes by hand what the invoice did with a row: each step begins with what the one before it left,
 * a coupon's discount and a tax come out of their terms, and the row's share of a discount is its
 * proportion, give or take the one minor unit of the largest remainder. Answers what does not come out.
 */
export function redoSettlement(explanation: Explanation): string[] {
  const decimals = MINOR_DIGITS[explanation.currency] ?? 2;
  const complaints: string[] = [];
  const expect = (name: string, printed: string, found: Exact) => {
    if (!close(exact(printed), found))
      complaints.push(`${name} is ${printed}, by hand ${text(found, 45)}`);
  };
  let left = exact(explanation.amount);
  let untaxed = left;
  for (const step of explanation.settlement ?? []) {
    if (step.step === 'tax') {
      expect('line_base', step.line_base, untaxed);
      redoTax(step, decimals, expect);
      continue;
    }
    expect('before', step.before, left);
    left = minus(left, exact(step.amount));
    expect('after', step.after, left);
    if (step.step === 'prepaid_credit') {
      const open = least(exact(step.wallet_left), exact(step.invoice_left));
      expect('prepaid credit', step.amount, least(open, exact(step.before)));
    }
    if (step.step === 'discount') {
      untaxed = left;
      redoDiscount(step, decimals, expect, complaints);
    }
  }
  return complaints;
}

/** Of the currencies that the examples use. */
const MINOR_DIGITS: Readonly<Record<string, number>> = { jpy: 0, usd: 2, kwd: 3, clf: 4 };

type Expect = (name: string, printed: string, found: Exact) => void;
type StepOf<Name extends SettlementStep['step']> = Extract<SettlementStep, { step: Name }>;
const HUNDRED: Exact = { n: 100n, d: 1n };

function redoDiscount(
  step: StepOf<'discount'>,
  decimals: number,
  expect: Expect,
  complaints: string[],
): void {
  const base = exact(step.base);
  const terms =
    step.discount_type === 'percentage'
      ? over(times(base, exact(step.percentage_off!)), HUNDRED)
      : exact(step.amount_off!);
  const most = least(base, exact(step.subtotal_left));
  expect('discount', step.discount, least(rounded(terms, decimals), most));
  const share = over(times(exact(step.discount), exact(step.before)), base);
  const unit: Exact = { n: 1n, d: 10n ** BigInt(decimals) };
  const off = minus(exact(step.amount), share);
  if (off.n * unit.d >= off.d * unit.n || -off.n * unit.d >= off.d * unit.n) {
    complaints.push(`the share is ${step.amount}, by hand about ${text(share, 10)}`);
  }
}

function redoTax(step: StepOf<'tax'>, decimals: number, expect: Expect): void {
  if (step.tax_behavior === 'inclusive') return;
  const tax = over(times(exact(step.taxable_amount), exact(step.percentage_value)), HUNDRED);
  expect('tax_amount', step.tax_amount, rounded(tax, decimals));
}
