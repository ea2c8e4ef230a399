import { BillingError, invalidField, invalidOperation } from '../errors.ts';
import { isRounded, type Currency } from '../currency.ts';
import { decimal, decimalText, ZERO, type Decimal } from '../money.ts';
import { moveInvoicePayment } from '../states/invoice-payment.ts';
import type { InvoiceStatus } from '../states/invoice.ts';
import type { PaymentStatus } from '../states/payment-status.ts';
import { broughtMoney, type LedgerPayment } from './payment-ledger.ts';

/** Statuses that a user may report. Payments in flight and refunds have their own records. */
export const MANUAL_PAYMENT_STATUSES = ['PENDING', 'SUCCEEDED', 'OVERPAID', 'FAILED'] as const;
export type ManualPaymentStatus = (typeof MANUAL_PAYMENT_STATUSES)[number];

/** A payment of the ledger, with a flag for payments written by the manual endpoint. */
export interface KnownPayment extends LedgerPayment {
  readonly is_manual: boolean;
}

/**
 * The payments of an invoice after its payment status was set manually (money 8.4.4). The report
 * becomes one OFFLINE row that replaces earlier reports (money 8.4.4). The figures of the invoice are then
 * derived from the rows. `amount` is the total paid so far. If absent, it is the amount due for SUCCEEDED,
 * what was reported before for OVERPAID, else nothing.
 *
 * Refuses drafts, voided and skipped invoices, targets outside the table of billing 19.4, OVERPAID without
 * more than the amount due, and every report once a real payment has settled.
 */
export function reportPayment(
  invoice: {
    readonly currency: Currency;
    readonly invoice_status: InvoiceStatus;
    readonly payment_status: PaymentStatus;
    readonly amount_due: string;
    readonly payments: readonly KnownPayment[];
  },
  status: PaymentStatus,
  amount: Decimal | null,
): KnownPayment[] {
  if (invoice.invoice_status !== 'FINALIZED') {
    throw invalidOperation(
      `The payment status of a ${invoice.invoice_status} invoice cannot be set.`,
      'invoice_status',
    );
  }
  const real = invoice.payments.filter((payment) => !payment.is_manual);
  if (real.some(broughtMoney)) {
    throw invalidOperation(
      'The invoice has payments: its payment status follows from them.',
      'payment_status',
    );
  }
  const target = MANUAL_PAYMENT_STATUSES.find((known) => known === status);
  if (target === undefined) throw notManual(status);
  if (amount?.lt(0)) throw invalidField('amount', 'must not be negative');
  if (amount !== null && !isRounded(amount, invoice.currency)) {
    throw invalidField('amount', 'has more decimals than the currency');
  }
  moveInvoicePayment(invoice.payment_status, target);

  const row = (rowStatus: PaymentStatus, paid: Decimal): KnownPayment => ({
    payment_status: rowStatus,
    amount: decimalText(paid),
    payment_method_type: 'OFFLINE',
    is_manual: true,
  });
  const due = decimal(invoice.amount_due);
  if (target === 'FAILED') return [...real, row('FAILED', due)];
  if (target === 'OVERPAID') {
    if (amount === null && invoice.payment_status === 'OVERPAID') return [...invoice.payments];
    if (amount === null || amount.lte(due))
      throw invalidField('amount', `must be more than the amount due, ${decimalText(due)}`);
  }
  const paid = amount ?? (target === 'PENDING' ? ZERO : due);
  return paid.isZero() ? real : [...real, row('SUCCEEDED', paid)];
}

function notManual(status: PaymentStatus): BillingError {
  return invalidField(
    'payment_status',
    `${status} cannot be set manually; allowed: ${MANUAL_PAYMENT_STATUSES.join(', ')}`,
  );
}
