import { Decimal, decimalText, ZERO } from '../money.ts';

/** Results of the pipeline steps, as money. */
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

/** Tax base: subtotal minus discounts. Prepaid credits do not lower it (billing 8.2). */
export const taxBase = (subtotal: Decimal, totalDiscount: Decimal): Decimal =>
  Decimal.max(subtotal.minus(totalDiscount), ZERO);

/**
 * Amount of the invoice before the floor at zero. The rows already include inclusive tax (billing
 * 9.3).
 */
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
 * Amount owed to the customer when the rows sum below zero: one wallet credit at finalization
 * (billing 9.3). Zero for every other invoice.
 */
export const negativeNet = (parts: TotalParts): Decimal =>
  Decimal.max(netOfInvoice(parts).neg(), ZERO);
