import { Decimal, decimal, decimalText, sum, ZERO } from '../money.ts';
import type { CreditNoteStatus, CreditNoteType } from '../states/credit-note.ts';
import type { InvoiceStatus } from '../states/invoice.ts';
import type { PaymentStatus } from '../states/payment-status.ts';
import type { RefundStatus } from '../states/refund.ts';

/** The rows from which the payment fields of an invoice are derived; amounts as decimal text. */
export interface InvoiceLedger {
  /** Oldest first. */
  readonly payments: readonly LedgerPayment[];
  readonly refunds: readonly { readonly refund_status: RefundStatus; readonly amount: string }[];
  readonly credit_notes: readonly {
    readonly credit_note_type: CreditNoteType;
    readonly credit_note_status: CreditNoteStatus;
    readonly total_amount: string;
  }[];
}

export interface LedgerPayment {
  readonly payment_status: PaymentStatus;
  readonly amount: string;
  /** OFFLINE and CREDITS payments do not use a gateway. */
  readonly payment_method_type: string;
}

export const EMPTY_LEDGER: InvoiceLedger = { payments: [], refunds: [], credit_notes: [] };

/** Figures as decimal text, and the status derived from them. */
export interface InvoicePayment {
  readonly adjustment_amount: string;
  readonly amount_due: string;
  readonly amount_paid: string;
  readonly amount_remaining: string;
  readonly overpaid_amount: string;
  readonly refunded_amount: string;
  readonly payment_status: PaymentStatus;
}

/** Whether the payment has settled, including payments refunded since (money 8.4.1). */
export const broughtMoney = (payment: { readonly payment_status: PaymentStatus }): boolean =>
  SETTLED.has(payment.payment_status);

const SETTLED: ReadonlySet<PaymentStatus> = new Set([
  'SUCCEEDED',
  'OVERPAID',
  'PARTIALLY_REFUNDED',
  'REFUNDED',
]);

/**
 * Derives all payment fields of an invoice from its rows (money 8.4, billing 9.3, 19.4).
 * Stored figures are never incremented: every change computes all of them again.
 */
export function deriveInvoicePayment(
  invoiceStatus: InvoiceStatus,
  total: Decimal,
  ledger: InvoiceLedger,
): InvoicePayment {
  const adjusted = sum(
    ledger.credit_notes
      .filter((note) => note.credit_note_type === 'ADJUSTMENT')
      .filter((note) => note.credit_note_status === 'FINALIZED')
      .map((note) => decimal(note.total_amount)),
  );
  const paid = sum(ledger.payments.filter(broughtMoney).map((payment) => decimal(payment.amount)));
  const refunded = sum(
    ledger.refunds
      .filter((refund) => refund.refund_status === 'SUCCEEDED')
      .map((refund) => decimal(refund.amount)),
  );
  const due = Decimal.max(total.minus(adjusted), ZERO);
  const figures = { due, paid, refunded };
  return {
    adjustment_amount: decimalText(adjusted),
    amount_due: decimalText(due),
    amount_paid: decimalText(paid),
    amount_remaining: decimalText(Decimal.max(due.minus(paid), ZERO)),
    overpaid_amount: decimalText(Decimal.max(paid.minus(due), ZERO)),
    refunded_amount: decimalText(refunded),
    payment_status: paymentStatus(invoiceStatus, figures, ledger.payments),
  };
}

/**
 * Time when the invoice was first paid. A refund or a voided credit note keeps it; a payment that is taken back
 * and leaves an amount open clears it (money 8.4.3).
 */
export function paidAt(
  before: Pick<InvoicePayment, 'amount_paid'> & { readonly paid_at: string | null },
  after: Pick<InvoicePayment, 'amount_paid' | 'amount_remaining' | 'payment_status'>,
  at: string,
): string | null {
  const isReversed = decimal(after.amount_paid).lt(decimal(before.amount_paid));
  if (isReversed && decimal(after.amount_remaining).gt(0)) return null;
  if (before.paid_at !== null) return before.paid_at;
  return after.payment_status === 'SUCCEEDED' || after.payment_status === 'OVERPAID' ? at : null;
}

function paymentStatus(
  invoiceStatus: InvoiceStatus,
  { due, paid, refunded }: { due: Decimal; paid: Decimal; refunded: Decimal },
  payments: readonly LedgerPayment[],
): PaymentStatus {
  if (invoiceStatus === 'VOIDED' && paid.isZero()) return 'VOIDED';
  if (refunded.gt(0)) return refunded.gte(paid) ? 'REFUNDED' : 'PARTIALLY_REFUNDED';
  if (paid.gt(due)) return 'OVERPAID';
  if (invoiceStatus === 'DRAFT' || invoiceStatus === 'SKIPPED') return 'PENDING';
  if (paid.eq(due)) return 'SUCCEEDED';
  return openStatus(paid, payments);
}

/** Status while an amount is open, derived from the payment attempts (money 8.4.2). */
function openStatus(paid: Decimal, payments: readonly LedgerPayment[]): PaymentStatus {
  const inFlight = payments.findLast(
    ({ payment_status: status }) =>
      status === 'INITIATED' || status === 'PENDING' || status === 'PROCESSING',
  );
  if (inFlight?.payment_status === 'PROCESSING') return 'PROCESSING';
  if (inFlight?.payment_status === 'INITIATED' && payments.length === 1 && usesGateway(inFlight)) {
    return 'INITIATED';
  }
  if (payments.at(-1)?.payment_status === 'FAILED' && paid.isZero()) return 'FAILED';
  return 'PENDING';
}

const usesGateway = (payment: LedgerPayment) =>
  payment.payment_method_type !== 'OFFLINE' && payment.payment_method_type !== 'CREDITS';
