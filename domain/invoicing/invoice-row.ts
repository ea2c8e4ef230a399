import assert from 'node:assert/strict';
import type { Explanation } from '../../schemas/explanation.ts';
import { isRounded, type Currency } from '../currency.ts';
import { decimal, type Decimal } from '../money.ts';
import type { PriceType } from '../pricing/price.ts';
import type { LineKind } from '../pricing/rated-line.ts';

/**
 * A rated row on its way onto an invoice. Any record with these columns will do; its other columns
 * pass through `buildInvoice` untouched, and its explanation gains what the invoice did with it.
 */
export interface InvoiceRow {
  readonly id: string;
  /** `credit` rows give back what an earlier row charged; they are outside every discount (billing 5.3). */
  readonly kind: LineKind;
  /** Whose row it is on an invoice that merges several subscriptions; null on a one-off invoice. */
  readonly subscription_id: string | null;
  readonly subscription_line_item_id: string | null;
  /** Null counts as FIXED (money 2.6.3). */
  readonly price_type: PriceType | null;
  /** Decimal text in the invoice's currency, already rounded to it; may be negative. */
  readonly amount: string;
  /** Service window, half-open, ISO 8601 UTC. Both null on a row without one; equal for a one-time charge. */
  readonly period_start: string | null;
  readonly period_end: string | null;
  /** From the rating; a row that a person wrote has none. */
  readonly explanation?: Explanation | null;
}

/** What the pipeline adds to a row, decimal text. */
export interface LineSettlement {
  readonly line_item_discount: string;
  readonly invoice_level_discount: string;
  readonly prepaid_credits_applied: string;
}

/** The row's amount; a row that is not in whole minor units is a bug of the rating (billing 0.2). */
export function lineAmount(line: Pick<InvoiceRow, 'amount'>, currency: Currency): Decimal {
  const amount = decimal(line.amount);
  assert(isRounded(amount, currency), `line amount ${line.amount} is not rounded`);
  return amount;
}
