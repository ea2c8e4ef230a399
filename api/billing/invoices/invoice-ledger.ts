import { broughtMoney } from '../../../domain/invoicing/payment-ledger.ts';
import { decimal, decimalText, ZERO } from '../../../domain/money.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { CreditNoteRecord } from '../../../schemas/credit-note.ts';
import type { InvoiceLedger, LedgerEntry } from '../../../schemas/invoice-ledger.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { RefundRecord } from '../../../schemas/refund.ts';
import { creditNotesOfInvoice } from '../records/credit-note-repository.ts';
import { getInvoice } from '../records/invoice-repository.ts';
import { paymentsOfInvoice } from '../records/payment-repository.ts';
import { refundsOfInvoice } from '../records/refund-repository.ts';

/**
 * The charges, payments, credits and refunds of an invoice as one list in order of time. The effects of the
 * entries sum to the open amount (money 8.4.1). 404 if unknown.
 */
export async function invoiceLedger(db: Db, scope: Scope, id: string): Promise<InvoiceLedger> {
  const invoice = await getInvoice(db, scope, id);
  const [payments, notes, refunds] = await Promise.all([
    paymentsOfInvoice(db, scope, id),
    creditNotesOfInvoice(db, scope, id),
    refundsOfInvoice(db, scope, id),
  ]);
  const entries = [
    ...chargesOf(invoice),
    ...payments.map(paymentEntry),
    ...notes.map(noteEntry),
    ...refunds.map(refundEntry),
  ];
  entries.sort((left, right) => left.at.localeCompare(right.at));
  let open = ZERO;
  return {
    invoice_id: invoice.id,
    currency: invoice.currency,
    payment_status: invoice.payment_status,
    total: invoice.total,
    adjustment_amount: invoice.adjustment_amount,
    amount_due: invoice.amount_due,
    amount_paid: invoice.amount_paid,
    amount_remaining: invoice.amount_remaining,
    overpaid_amount: invoice.overpaid_amount,
    refunded_amount: invoice.refunded_amount,
    entries: entries.map((entry) => {
      open = open.plus(decimal(entry.effect));
      return { ...entry, open_amount: decimalText(open) };
    }),
  };
}

type Entry = Omit<LedgerEntry, 'open_amount'>;

const negative = (amount: string): string => decimalText(decimal(amount).neg());

/** The amount before prepaid credits, and the credits. */
function chargesOf(invoice: InvoiceRecord): Entry[] {
  const at = invoice.finalized_at ?? invoice.created_at;
  const credits = invoice.total_prepaid_credits_applied;
  const charged = decimalText(decimal(invoice.total).plus(decimal(credits)));
  const charge: Entry = {
    type: 'charge',
    id: invoice.id,
    at,
    amount: charged,
    status: invoice.invoice_status,
    effect: charged,
    reason: invoice.billing_reason,
    description: `Invoice ${invoice.invoice_number ?? invoice.id}`,
  };
  if (credits === '0') return [charge];
  return [
    charge,
    {
      ...charge,
      type: 'prepaid_credits',
      amount: credits,
      effect: negative(credits),
      reason: null,
      description: 'Prepaid credits',
    },
  ];
}

const paymentEntry = (payment: PaymentRecord): Entry => ({
  type: 'payment',
  id: payment.id,
  at: payment.succeeded_at ?? payment.created_at,
  amount: payment.amount,
  status: payment.payment_status,
  effect: broughtMoney(payment) ? negative(payment.amount) : '0',
  reason: payment.payment_method_type,
  description: payment.is_manual
    ? 'Payment status set manually'
    : (payment.error_message ?? `Payment by ${meansOf(payment)}`),
});

/** `the test gateway`; without a gateway the way of payment: `credits`, `bank transfer`. */
const meansOf = ({ payment_gateway, payment_method_type }: PaymentRecord): string =>
  payment_gateway === null
    ? payment_method_type.toLowerCase().replaceAll('_', ' ')
    : `the ${payment_gateway} gateway`;

const noteEntry = (note: CreditNoteRecord): Entry => ({
  type: 'credit_note',
  id: note.id,
  at: note.finalized_at ?? note.created_at,
  amount: note.total_amount,
  status: note.credit_note_status,
  effect:
    note.credit_note_type === 'ADJUSTMENT' && note.credit_note_status === 'FINALIZED'
      ? negative(note.total_amount)
      : '0',
  reason: note.reason,
  description: note.memo ?? `Credit note ${note.credit_note_number}`,
});

/** A refund returns money and has no effect on the open amount. */
const refundEntry = (refund: RefundRecord): Entry => ({
  type: 'refund',
  id: refund.id,
  at: refund.succeeded_at ?? refund.created_at,
  amount: refund.amount,
  status: refund.refund_status,
  effect: '0',
  reason: refund.refund_reason,
  description:
    refund.failure_reason ??
    (refund.refund_target === 'PREPAID_WALLET' ? 'Refund to the wallet' : 'Refund to the source'),
});
