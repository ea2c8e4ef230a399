import assert from 'node:assert/strict';
import type { ExplanationStepOf } from '../../schemas/explanation.ts';
import { roundToCurrency, type Currency } from '../currency.ts';
import { decimal, decimalText, Decimal, sum, ZERO } from '../money.ts';
import { netAmount, type DiscountedAmount } from './net-amount.ts';
import type { LineKind } from './rated-line.ts';

/** Amounts charged and credited for a service window. Rounded, 0 or more. */
export interface BilledWindow {
  /** Before discounts. */
  readonly gross: Decimal;
  /**
   * Net: row amount − line discount − invoice discount, plus charge rows of earlier changes in the same
   * window. Rows of voided invoices do not count (billing 5.3).
   */
  readonly billed: Decimal;
  readonly credited: Decimal;
}

/** The fields of a billed row that a later credit needs. Decimal text. */
export interface BilledRow extends DiscountedAmount {
  readonly kind: LineKind;
  readonly invoice_status: string;
}

/**
 * Totals of the rows of one service window: charges net of their discounts, and credits (billing
 * 5.3). A credit is capped by the net amount, not by the list price or the gross amount, so a customer never
 * gets back what a coupon paid. Rows of voided invoices do not count.
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

/**
 * Value of a share of a window after the discounts of the window: half of a fee of 100.00 under a coupon of
 * 50% is 25.00. Unrounded. Null without discounts (billing 5.3).
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

/** Caps a credit at the billed amount that is not yet credited; never below zero (billing 5.3). */
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

/** The currency of an invoice, and how many units of it a unit of the credited amounts is worth; greater than 0. */
export interface TaxCurrency {
  readonly currency: Currency;
  readonly factor: Decimal;
}

/**
 * Exclusive tax returned with a credit (billing 5.3): the proportional share of the tax charged on
 * the window, at most the rest of it. A credit of the whole remaining amount returns all remaining tax, so no
 * cent is left over. All amounts are in one currency; a unit of it is worth `factor` units of `currency`, in which the
 * tax is rounded.
 */
export function creditedTax(
  credit: Decimal,
  window: Pick<BilledWindow, 'billed' | 'credited'>,
  tax: { readonly charged: Decimal; readonly credited: Decimal },
  { currency, factor }: TaxCurrency,
): Decimal {
  assert(credit.gte(0) && credit.lte(window.billed), 'a credit beyond what was billed');
  const left = Decimal.max(tax.charged.minus(tax.credited), ZERO);
  if (credit.isZero()) return ZERO;
  if (window.credited.plus(credit).gte(window.billed)) return left;
  const share = tax.charged.times(credit).div(window.billed);
  const rounded = roundToCurrency(share.times(factor), currency).div(factor);
  return Decimal.min(rounded, left);
}
