import assert from 'node:assert/strict';
import type { ExplanationStepOf } from '../../schemas/explanation.ts';
import { roundToCurrency, type Currency } from '../currency.ts';
import { decimal, decimalText, Decimal, sum, ZERO } from '../money.ts';
import type { LineKind } from './rated-line.ts';

/** What has been charged for a service window, and given back of it. Rounded amounts, 0 or more. */
export interface BilledWindow {
  /** Before discounts. */
  readonly gross: Decimal;
  /**
   * Net: row amount − line discount − invoice discount, plus charge rows of earlier changes in the same
   * window. Rows of a voided invoice count as nothing (billing 5.3).
   */
  readonly billed: Decimal;
  readonly credited: Decimal;
}

/** A row that was billed for a window, as far as a later credit asks. Decimal text. */
export interface BilledRow {
  readonly kind: LineKind;
  readonly amount: string;
  readonly line_item_discount: string;
  readonly invoice_level_discount: string;
  readonly invoice_status: string;
}

/**
 * What the rows of one service window come to: charges net of their discounts, and credits. Neither
 * the list price nor the gross amount caps a credit, so that nobody gets back what a coupon paid, and
 * rows of voided invoices count as nothing (billing 5.3).
 */
export function billedWindow(rows: readonly BilledRow[]): BilledWindow {
  const live = rows.filter((row) => row.invoice_status !== 'VOIDED');
  const charges = live.filter((row) => row.kind !== 'credit');
  const credits = live.filter((row) => row.kind === 'credit');
  return {
    gross: sum(charges.map((row) => decimal(row.amount))),
    billed: sum(charges.map(netAmount)),
    credited: ZERO.minus(sum(credits.map((row) => decimal(row.amount)))),
  };
}

const netAmount = (row: BilledRow): Decimal =>
  decimal(row.amount)
    .minus(decimal(row.line_item_discount))
    .minus(decimal(row.invoice_level_discount));

/**
 * What a price's share of a window was worth after the window's discounts: half of a fee of 100.00 under a
 * coupon of 50% is 25.00. Unrounded; null when no discount took anything (billing 5.3).
 */
export function netOfDiscounts(
  amount: Decimal,
  { gross, billed }: BilledWindow,
): { readonly amount: Decimal; readonly step: ExplanationStepOf<'net'> } | null {
  if (gross.lte(0) || billed.gte(gross)) return null;
  const net = amount.times(billed).div(gross);
  return {
    amount: net,
    step: {
      step: 'net',
      rule: 'billing 5.3',
      of: decimalText(amount),
      gross: decimalText(gross),
      billed: decimalText(billed),
      amount: decimalText(net),
    },
  };
}

/** At most what was billed and is not given back yet, never below zero (billing 5.3). */
export function capCredit(
  potential: Decimal,
  { billed, credited }: Pick<BilledWindow, 'billed' | 'credited'>,
): Decimal {
  const left = Decimal.max(billed.minus(credited), ZERO);
  return Decimal.max(Decimal.min(potential, left), ZERO);
}

export function explainCredit(
  potential: Decimal,
  window: BilledWindow,
  amount: Decimal,
): ExplanationStepOf<'credit'> {
  return {
    step: 'credit',
    rule: 'billing 5.3',
    potential: decimalText(potential),
    billed: decimalText(window.billed),
    credited_before: decimalText(window.credited),
    amount: decimalText(amount),
  };
}

/**
 * Exclusive tax that goes back with a credit: the share of the tax that was charged on the window, never
 * more than is left of it. A credit that empties the window takes the rest of the tax, so that no cent
 * stays behind (billing 5.3).
 */
export function creditedTax(
  credit: Decimal,
  window: Pick<BilledWindow, 'billed' | 'credited'>,
  tax: { readonly charged: Decimal; readonly credited: Decimal },
  currency: Currency,
): Decimal {
  assert(credit.gte(0) && credit.lte(window.billed), 'a credit beyond what was billed');
  const left = Decimal.max(tax.charged.minus(tax.credited), ZERO);
  if (credit.isZero()) return ZERO;
  if (window.credited.plus(credit).gte(window.billed)) return left;
  const share = roundToCurrency(tax.charged.times(credit).div(window.billed), currency);
  return Decimal.min(share, left);
}
