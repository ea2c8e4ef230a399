import {
  checkCreditNote,
  creditNoteType,
  type CreditableInvoice,
  type CreditNoteLine,
  type StoredCreditNote,
} from '../../../domain/invoicing/credit-notes.ts';
import { assertRecalculable } from '../../../domain/invoicing/draft-edits.ts';
import { BillingError } from '../../../domain/errors.ts';
import { deriveInvoicePayment } from '../../../domain/invoicing/payment-ledger.ts';
import { isDeletable } from '../../../domain/invoicing/payments.ts';
import { voidInvoice } from '../../../domain/invoicing/void-invoice.ts';
import { decimal, decimalText, type Decimal } from '../../../domain/money.ts';
import { moveCreditNote, type CreditNoteStatus } from '../../../domain/states/credit-note.ts';
import { moveInvoice, type InvoiceStatus } from '../../../domain/states/invoice.ts';
import type { PaymentStatus } from '../../../domain/states/payment-status.ts';
import { canMovePayment } from '../../../domain/states/payment.ts';
import { creditWallet } from '../../../domain/wallet/wallet.ts';
import type { Answer, JsonObject } from '../compare.ts';
import type { AreaOperations } from '../operation.ts';
import { emptyLedger, keep } from './wallet-ledger.ts';

const NOW = '2026-03-02T00:00:00.000Z';

export const refundsCreditNotes: AreaOperations = {
  void_invoice(given) {
    const paid = (given['amount_paid'] ?? '0') as string;
    const refunded = (given['refunded_amount'] ?? '0') as string;
    const decision = voidInvoice({
      currency: 'usd',
      invoice_status: given['invoice_status'] as InvoiceStatus,
      payment_status: (given['payment_status'] ?? 'SUCCEEDED') as PaymentStatus,
      amount_paid: paid,
      refunded_amount: refunded,
      refunds_in_flight: '0',
      recalculated_invoice_id: null,
    });
    const after = deriveInvoicePayment(decision.invoice_status, decimal(paid), {
      credit_notes: [],
      payments: [{ payment_status: 'SUCCEEDED', amount: paid, payment_method_type: 'OFFLINE' }],
      refunds: [
        { refund_status: 'SUCCEEDED', amount: refunded },
        { refund_status: 'SUCCEEDED', amount: decimalText(decision.refund) },
      ],
    });
    const balance = (given['prepaid_wallet_balance'] ?? '0') as string;
    return {
      invoice_status: decision.invoice_status,
      payment_status: after.payment_status,
      refund: decision.refund,
      refunded_amount: after.refunded_amount,
      wallet_balance: refundedWallet(balance, [
        decision.refund,
        // Prepaid credits go back to their blocks; they are no part of the refund.
        decimal((given['total_prepaid_credits_applied'] ?? '0') as string),
      ]),
    };
  },

  recalculate_invoice(given) {
    assertRecalculable({
      invoice_type: given['invoice_type'] as string,
      invoice_status: given['invoice_status'] as string,
      recalculated_invoice_id: null,
    });
    return {
      original_status: moveInvoice(given['invoice_status'] as InvoiceStatus, 'recalculate'),
      new_invoice: moveInvoice(null, 'create') === 'DRAFT',
      recalculated_invoice_id_set: true,
    };
  },

  credit_note_type: (given) => ({
    credit_note_type: creditNoteType(given['payment_status'] as PaymentStatus),
  }),

  create_credit_note(given) {
    const invoice = invoiceOf(given['invoice'] as JsonObject);
    return given['drafts'] === undefined
      ? oneNote(invoice, given)
      : severalDrafts(invoice, given['line_items'] as unknown as Record<string, string>[]);
  },

  void_credit_note: (given) => ({
    credit_note_status: moveCreditNote(
      given['credit_note_type'] as 'ADJUSTMENT' | 'REFUND',
      given['credit_note_status'] as CreditNoteStatus,
      'void',
    ),
  }),

  payment_transition: (given) => ({
    allowed: canMovePayment(given['from'] as PaymentStatus, given['to'] as PaymentStatus),
  }),

  payment_delete: (given) => ({
    deletable: isDeletable(given['payment_status'] as PaymentStatus),
  }),
};

function refundedWallet(balance: string, amounts: readonly Decimal[]): Answer {
  return amounts
    .filter((amount) => amount.gt(0))
    .reduce(
      (ledger, credits, index) =>
        keep(
          ledger,
          creditWallet(
            ledger.wallet,
            ledger.blocks,
            {
              id: `refund-${index}`,
              credits,
              transaction_reason: 'INVOICE_VOID_REFUND',
              priority: null,
              expiry_date: null,
              parent_transaction_id: null,
            },
            NOW,
          ),
        ),
      emptyLedger({ credit_balance: balance }),
    ).wallet.balance;
}

/** An invoice of a case whose lines have no discounts; what the total has above them is exclusive tax. */
function invoiceOf(given: JsonObject): CreditableInvoice {
  const lines = Object.entries(given['lines'] as Record<string, string>);
  return {
    id: 'invoice',
    currency: 'usd',
    invoice_status: (given['invoice_status'] ?? 'FINALIZED') as InvoiceStatus,
    payment_status: given['payment_status'] as PaymentStatus,
    total: given['total'] as string,
    adjustment_amount: (given['adjustment_amount'] ?? '0') as string,
    amount_paid: given['amount_paid'] as string,
    refunded_amount: (given['refunded_amount'] ?? '0') as string,
    refunds_in_flight: '0',
    exclusive_tax: '0',
    lines: lines.map(([id, amount]) => ({
      id,
      amount,
      line_item_discount: '0',
      invoice_level_discount: '0',
    })),
  };
}

const linesOf = (amounts: Record<string, string>): CreditNoteLine[] =>
  Object.entries(amounts).map(([id, amount]) => ({ invoice_line_item_id: id, amount }));

function oneNote(invoice: CreditableInvoice, given: JsonObject): Answer {
  const type = creditNoteType(invoice.payment_status);
  const lines = linesOf(given['line_items'] as Record<string, string>);
  const total = checkCreditNote(invoice, type, lines, []);
  const draft = moveCreditNote(type, null, 'create');
  const isProcessed = given['process_credit_note'] !== false;
  return {
    credit_note_status: isProcessed ? moveCreditNote(type, draft, 'finalize') : draft,
    credit_note_type: type,
    total_amount: total,
  };
}

/** All drafted first, then finalized in order, each checked again. */
function severalDrafts(
  invoice: CreditableInvoice,
  notes: readonly Record<string, string>[],
): Answer {
  const type = creditNoteType(invoice.payment_status);
  for (const note of notes) checkCreditNote(invoice, type, linesOf(note), []);
  let current = invoice;
  const finalized: StoredCreditNote[] = [];
  const outcomes = notes.map((note) => {
    try {
      const total = checkCreditNote(current, type, linesOf(note), finalized);
      const status = moveCreditNote(type, 'DRAFT', 'finalize');
      finalized.push({ credit_note_status: status, line_items: linesOf(note) });
      current = {
        ...current,
        adjustment_amount: decimalText(decimal(current.adjustment_amount).plus(total)),
      };
      return status;
    } catch (error) {
      if (!(error instanceof BillingError)) throw error;
      return 'error_stays_DRAFT';
    }
  });
  return {
    first: outcomes[0]!,
    second: outcomes[1]!,
    adjustment_amount: current.adjustment_amount,
  };
}
