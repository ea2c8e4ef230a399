import { BillingError, invalidField, invalidOperation } from '../errors.ts';
import { isRounded, type Currency } from '../currency.ts';
import { decimal, decimalText, ZERO, type Decimal } from '../money.ts';
import { moveInvoicePayment } from '../states/invoice-payment.ts';
import type { InvoiceStatus } from '../states/invoice.ts';
import type { PaymentStatus } from '../states/payment-status.ts';
import { broughtMoney, type LedgerPayment } from './payment-ledger.ts';

/** The statuses that a person may report; money in flight and refunds have records of their own. */
export const MANUAL_PAYMENT_STATUSES = ['PENDING', 'SUCCEEDED', 'OVERPAID', 'FAILED'] as const;
export type ManualPaymentStatus = (typeof MANUAL_PAYMENT_STATUSES)[number];

/** A payment of the ledger that knows whether the manual endpoint wrote it. */
export interface KnownPayment extends LedgerPayment {
  readonly is_manual: boolean;
}

/**
 * The payments of an invoice after its payment status was set by hand (money 8.4.4). The
 * report becomes one OFFLINE row that takes the place of earlier reports (money 8.4.4); the invoice's
 * figures then follow from the rows. `amount` is all that was paid so far; absent it is what is due
 * for SUCCEEDED and nothing otherwise.
 *
 * Refuses drafts, voided and skipped invoices, targets that the table of billing 19.4 does
 * not have, and every report once a real payment has brought money.
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
      `The payment status of a ${invoice.invoice_status} invoice can not be set.`,
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
  const paid = amount ?? (target === 'PENDING' ? ZERO : due);
  return paid.isZero() ? real : [...real, row('SUCCEEDED', paid)];
}

function notManual(status: PaymentStatus): BillingError {
  return invalidField(
    'payment_status',
    `${status} can not be set by hand; it accepts ${MANUAL_PAYMENT_STATUSES.join(', ')}`,
  );
}
