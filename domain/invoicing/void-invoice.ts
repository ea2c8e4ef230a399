import { withArticle } from '../article.ts';
import { BillingError, invalidField, invalidOperation } from '../errors.ts';
import { isRounded, type Currency } from '../currency.ts';
import { Decimal, decimal, ZERO } from '../money.ts';
import { isGated } from './gated-invoice.ts';
import { moveInvoice, type InvoiceStatus } from '../states/invoice.ts';
import type { PaymentStatus } from '../states/payment-status.ts';

export interface VoidableInvoice {
  readonly currency: Currency;
  readonly invoice_status: InvoiceStatus;
  readonly payment_status: PaymentStatus;
  readonly source_type?: string | null;
  readonly amount_paid: string;
  readonly refunded_amount: string;
  /** Sum of the refunds in flight. */
  readonly refunds_in_flight: string;
  /** A replacement keeps the payments: nothing is refunded and charged again (money 9.15). */
  readonly recalculated_invoice_id: string | null;
  /** What changes of the subscription have credited of its rows, with the tax on it; absent: nothing. */
  readonly credited_by_changes?: string;
}

export interface VoidDecision {
  readonly invoice_status: InvoiceStatus;
  /**
   * Amount to refund to the requested target. Zero when nothing was paid or a replacement keeps the payments.
   */
  readonly refund: Decimal;
  /** Amount that moves to the replacement instead of a refund. */
  readonly carried: Decimal;
}

/**
 * Effect of voiding an invoice on its payments (money 9.10 to 9.15). `amount` null refunds everything that was paid and
 * not yet refunded, less what changes have credited, because that has returned already. An amount above what was paid
 * and not yet refunded is refused. Prepaid credits are not included: they return to their own blocks (`reverseDebit`).
 * A payment being processed causes 409, because its outcome is unknown.
 */
export function voidInvoice(invoice: VoidableInvoice, amount: Decimal | null = null): VoidDecision {
  const isOfCheckout = isGated({ ...invoice, source_type: invoice.source_type ?? null });
  const trigger = isOfCheckout ? 'expire_checkout' : 'void';
  const status = moveInvoice(invoice.invoice_status, trigger);
  assertVoidable(invoice.payment_status);

  const returnable = Decimal.max(
    decimal(invoice.amount_paid)
      .minus(decimal(invoice.refunded_amount))
      .minus(decimal(invoice.refunds_in_flight)),
    ZERO,
  );
  if (amount !== null) {
    if (amount.lt(0)) throw invalidField('amount', 'must not be negative');
    if (!isRounded(amount, invoice.currency)) {
      throw invalidField('amount', 'has more decimals than the currency');
    }
    if (amount.gt(returnable)) {
      throw invalidField('amount', 'exceeds the amount that can be refunded');
    }
  }
  const credited = decimal(invoice.credited_by_changes ?? '0');
  return invoice.recalculated_invoice_id === null
    ? {
        invoice_status: status,
        refund: amount ?? Decimal.max(returnable.minus(credited), ZERO),
        carried: ZERO,
      }
    : { invoice_status: status, refund: ZERO, carried: amount ?? returnable };
}

function assertVoidable(status: PaymentStatus): void {
  if (status === 'PROCESSING') {
    const message =
      'A payment of the invoice is being processed; void it when its outcome is known.';
    throw new BillingError('conflict', 'payment_in_progress', message, [
      { path: 'payment_status', code: 'payment_in_progress', message },
    ]);
  }
  if (status === 'REFUNDED' || status === 'VOIDED') {
    throw invalidOperation(`${withArticle(status)} invoice cannot be voided.`, 'payment_status');
  }
}
