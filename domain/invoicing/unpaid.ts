import { Decimal, decimal, decimalText, sum, ZERO } from '../money.ts';
import { netAmount, type DiscountedAmount } from '../pricing/net-amount.ts';
import type { PriceType } from '../pricing/price.ts';
import type { InvoiceStatus } from '../states/invoice.ts';
import type { PaymentStatus } from '../states/payment-status.ts';

/** The fields of an open invoice that give its unpaid amount; amounts as decimal text. */
export interface OpenInvoice {
  readonly currency: string;
  readonly invoice_status: InvoiceStatus;
  readonly payment_status: PaymentStatus;
  readonly amount_paid: string;
  readonly amount_remaining: string;
  readonly lines: readonly (DiscountedAmount & {
    readonly price_type: PriceType | null;
    readonly prepaid_credits_applied: string;
  })[];
}

export interface UnpaidSummary {
  readonly total_unpaid_amount: string;
  readonly total_unpaid_usage_charges: string;
  readonly total_unpaid_fixed_charges: string;
  /** Amount paid so far on the open invoices. */
  readonly total_paid_invoice_amount: string;
}

/** Whether the invoice has an unpaid amount (money 2.8.5, 23.62). */
export const isUnpaid = (invoice: OpenInvoice): boolean =>
  (invoice.invoice_status === 'FINALIZED' || invoice.invoice_status === 'DRAFT') &&
  invoice.payment_status !== 'SUCCEEDED' &&
  decimal(invoice.amount_remaining).gt(0);

/**
 * Usage part of the open amount of one invoice: its usage rows minus their discounts and credits, at most the
 * open amount (money 2.8.5).
 */
export function unpaidUsage(invoice: OpenInvoice): Decimal {
  const usage = sum(
    invoice.lines
      .filter((line) => line.price_type === 'USAGE')
      .map((line) => netAmount(line).minus(decimal(line.prepaid_credits_applied))),
  );
  return Decimal.min(decimal(invoice.amount_remaining), Decimal.max(usage, ZERO));
}

/** Totals of the open invoices of one customer in one currency. */
export function unpaidSummary(invoices: readonly OpenInvoice[], currency: string): UnpaidSummary {
  const open = invoices.filter((invoice) => invoice.currency === currency && isUnpaid(invoice));
  const unpaid = sum(open.map((invoice) => decimal(invoice.amount_remaining)));
  const usage = sum(open.map(unpaidUsage));
  return {
    total_unpaid_amount: decimalText(unpaid),
    total_unpaid_usage_charges: decimalText(usage),
    total_unpaid_fixed_charges: decimalText(unpaid.minus(usage)),
    total_paid_invoice_amount: decimalText(
      sum(open.map((invoice) => decimal(invoice.amount_paid))),
    ),
  };
}
