import assert from 'node:assert/strict';
import type { Explanation } from '../../schemas/explanation.ts';
import { isRounded, type Currency } from '../currency.ts';
import { decimal, type Decimal } from '../money.ts';
import type { PriceType } from '../pricing/price.ts';
import type { LineKind } from '../pricing/rated-line.ts';

/**
 * A rated row to put on an invoice. Any record with these columns fits. `buildInvoice` does not change its
 * other columns and adds the settlement steps to its explanation.
 */
export interface InvoiceRow {
  readonly id: string;
  /** `credit` rows return a charge of an earlier row; no discount applies to them (billing 5.3). */
  readonly kind: LineKind;
  /** Subscription of the row; an invoice can merge several subscriptions. Null on a one-off invoice. */
  readonly subscription_id: string | null;
  readonly subscription_line_item_id: string | null;
  /** Null counts as FIXED (money 2.6.3). */
  readonly price_type: PriceType | null;
  /** Decimal text in the invoice's currency, already rounded to it; may be negative. */
  readonly amount: string;
  /**
   * Service window, half-open, ISO 8601 UTC. Both null without a window; both equal for a one-time charge.
   */
  readonly period_start: string | null;
  readonly period_end: string | null;
  /** The custom currency that the amount was converted from; absent or null: none. */
  readonly custom_currency?: { readonly currency: string } | null;
  /** From the rating. Absent on a row that a user wrote. */
  readonly explanation?: Explanation | null;
}

/** Fields that the pipeline adds to a row, decimal text. */
export interface LineSettlement {
  readonly line_item_discount: string;
  readonly invoice_level_discount: string;
  readonly prepaid_credits_applied: string;
}

/**
 * The amount of the row. An amount that is not in whole minor units is a bug in rating (billing
 * 0.2).
 */
export function lineAmount(line: Pick<InvoiceRow, 'amount'>, currency: Currency): Decimal {
  const amount = decimal(line.amount);
  assert(isRounded(amount, currency), `line amount ${line.amount} is not rounded`);
  return amount;
}
