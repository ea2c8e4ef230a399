import type { Currency } from '../currency.ts';
import { decimal, decimalText, sum } from '../money.ts';
import type { InvoiceStatus } from '../states/invoice.ts';
import { applyCoupons, type CouponApplication, type InvoiceCoupon } from './coupons.ts';
import { explained, settlementSteps } from './explain-settlement.ts';
import { lineAmount, type LineSettlement, type InvoiceRow } from './invoice-row.ts';
import { deriveInvoicePayment, type InvoiceLedger, type InvoicePayment } from './payment-ledger.ts';
import {
  applyPrepaidCredits,
  totalApplied,
  type PrepaidWallet,
  type WalletDebit,
} from './prepaid-credits.ts';
import type { ResolvedTaxes } from './tax-resolution.ts';
import { computeTaxes, taxSummary, type TaxRow, type TaxSummary } from './taxes.ts';
import { invoiceTotals, negativeNet, taxBase, type InvoiceTotals } from './totals.ts';

/** Everything an invoice is made of. No part may be left out: one that is forgotten is not charged. */
export interface InvoiceInput<Line extends InvoiceRow> {
  readonly currency: Currency;
  /** Status that the invoice has once this computation is stored. */
  readonly invoice_status: InvoiceStatus;
  /** In the order in which they are shown and paid by credits. */
  readonly lines: readonly Line[];
  /** Those in force (`couponsInForce`); in any order. */
  readonly coupons: readonly InvoiceCoupon[];
  readonly taxes: ResolvedTaxes;
  /**
   * In order of use (`prepaidWalletOrder`), at finalization and for a projection that is not written; none
   * for a draft, which applies no credits (billing 9.2).
   */
  readonly wallets: readonly PrepaidWallet[];
  /** Rows that moved money on this invoice before; `EMPTY_LEDGER` for a new one. */
  readonly ledger: InvoiceLedger;
}

export interface BuiltInvoice<Line extends InvoiceRow> extends InvoiceTotals, InvoicePayment {
  readonly lines: readonly (Line & LineSettlement)[];
  readonly coupon_applications: readonly CouponApplication[];
  readonly taxes: readonly TaxRow[];
  readonly tax_summary: TaxSummary;
  /** What to take from each wallet when the invoice is finalized. */
  readonly wallet_debits: readonly WalletDebit[];
  /** Owed to the customer because the rows sum below zero; becomes a wallet credit at finalization, once. */
  readonly negative_net: string;
}

/**
 * An invoice from its rated rows, in one order (billing 9.1): line coupons, subscription
 * coupons, tax base, prepaid credits, exclusive tax, amount due, payments. Every figure is computed
 * from rows, so that the same input gives the same invoice however often it is computed. Pure: what
 * it answers is written by the caller, or thrown away by a preview.
 */
export function buildInvoice<Line extends InvoiceRow>(
  input: InvoiceInput<Line>,
): BuiltInvoice<Line> {
  const { currency, lines } = input;
  const amounts = lines.map((line) => lineAmount(line, currency));
  const subtotal = sum(amounts);

  const discounts = applyCoupons(lines, input.coupons, currency);
  const nets = amounts.map((amount, row) =>
    amount.minus(discounts.lineItemDiscounts[row]!).minus(discounts.invoiceLevelDiscounts[row]!),
  );
  const totalDiscount = subtotal.minus(sum(nets));

  const taxes = computeTaxes(
    taxBase(subtotal, totalDiscount),
    input.taxes.exemption ? [] : input.taxes.rates,
    currency,
  );
  const credits = applyPrepaidCredits(
    lines.map((line, row) => ({ price_type: line.price_type, net: nets[row]! })),
    input.wallets,
    subtotal.minus(totalDiscount),
    currency,
  );

  const parts = {
    subtotal,
    totalDiscount,
    totalPrepaidCredits: totalApplied(credits),
    inclusiveTax: taxes.inclusive,
    exclusiveTax: taxes.exclusive,
  };
  const totals = invoiceTotals(parts);
  return {
    ...totals,
    ...deriveInvoicePayment(input.invoice_status, decimal(totals.total), input.ledger),
    lines: lines.map((line, row) => ({
      ...explained(line, () => settlementSteps(row, nets[row]!, { discounts, credits, taxes })),
      line_item_discount: decimalText(discounts.lineItemDiscounts[row]!),
      invoice_level_discount: decimalText(discounts.invoiceLevelDiscounts[row]!),
      prepaid_credits_applied: decimalText(credits.applied[row]!),
    })),
    coupon_applications: discounts.applications,
    taxes: taxes.rows,
    tax_summary: taxSummary(taxes, input.taxes.exemption),
    wallet_debits: credits.debits,
    negative_net: decimalText(negativeNet(parts)),
  };
}
