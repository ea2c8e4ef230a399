import { Decimal, decimalText, ZERO } from '../money.ts';

/** What the steps of the pipeline found, as money. */
export interface TotalParts {
  readonly subtotal: Decimal;
  readonly totalDiscount: Decimal;
  readonly totalPrepaidCredits: Decimal;
  readonly inclusiveTax: Decimal;
  readonly exclusiveTax: Decimal;
}

/** Decimal text. */
export interface InvoiceTotals {
  readonly subtotal: string;
  readonly total_discount: string;
  readonly total_prepaid_credits_applied: string;
  readonly total_tax: string;
  readonly total: string;
}

/** The base of taxes: what discounts left of the subtotal; prepaid credits do not lower it (billing 8.2). */
export const taxBase = (subtotal: Decimal, totalDiscount: Decimal): Decimal =>
  Decimal.max(subtotal.minus(totalDiscount), ZERO);

/** What the customer is asked for before the floor at zero: inclusive tax is inside the rows already (billing 9.3). */
export const netOfInvoice = (parts: TotalParts): Decimal =>
  parts.subtotal
    .minus(parts.totalDiscount)
    .minus(parts.totalPrepaidCredits)
    .plus(parts.exclusiveTax);

/** The total fields of an invoice (billing 9.3). */
export function invoiceTotals(parts: TotalParts): InvoiceTotals {
  return {
    subtotal: decimalText(parts.subtotal),
    total_discount: decimalText(parts.totalDiscount),
    total_prepaid_credits_applied: decimalText(parts.totalPrepaidCredits),
    total_tax: decimalText(parts.inclusiveTax.plus(parts.exclusiveTax)),
    total: decimalText(Decimal.max(netOfInvoice(parts), ZERO)),
  };
}

/**
 * What an invoice whose rows sum below zero owes the customer: a wallet credit at finalization, once
 * (billing 9.3). Zero for every other invoice.
 */
export const negativeNet = (parts: TotalParts): Decimal =>
  Decimal.max(netOfInvoice(parts).neg(), ZERO);
