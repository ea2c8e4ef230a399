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

/** All inputs of an invoice. Every part is required: a missing part would not be charged. */
export interface InvoiceInput<Line extends InvoiceRow> {
  readonly currency: Currency;
  /** Status of the invoice after this computation is stored. */
  readonly invoice_status: InvoiceStatus;
  /** In display order, which is also the order in which credits pay them. */
  readonly lines: readonly Line[];
  /** Coupons in force (`couponsInForce`), in any order. */
  readonly coupons: readonly InvoiceCoupon[];
  readonly taxes: ResolvedTaxes;
  /**
   * In order of use (`prepaidWalletOrder`), for finalization and for a projection that is not stored. Empty
   * for a draft, which applies no credits (billing 9.2).
   */
  readonly wallets: readonly PrepaidWallet[];
  /** Earlier payments, refunds and credit notes of this invoice; `EMPTY_LEDGER` for a new one. */
  readonly ledger: InvoiceLedger;
}

export interface BuiltInvoice<Line extends InvoiceRow> extends InvoiceTotals, InvoicePayment {
  readonly lines: readonly (Line & LineSettlement)[];
  readonly coupon_applications: readonly CouponApplication[];
  readonly taxes: readonly TaxRow[];
  readonly tax_summary: TaxSummary;
  /** Debit of each wallet at finalization. */
  readonly wallet_debits: readonly WalletDebit[];
  /**
   * Amount owed to the customer because the rows sum below zero. Becomes one wallet credit at finalization.
   */
  readonly negative_net: string;
}

/**
 * Computes an invoice from its rated rows, in a fixed order (billing 9.1): line coupons,
 * subscription coupons, tax base, prepaid credits, exclusive tax, amount due, payments. Every figure is
 * computed from rows, so the same input always gives the same invoice. Pure: the caller stores the result; a
 * preview discards it.
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
    lines.map(({ price_type, custom_currency }, row) => ({
      price_type,
      net: nets[row]!,
      custom_currency: custom_currency?.currency ?? null,
    })),
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
