import {
  checkCreditNote,
  creditNoteType,
  type CreditableInvoice,
  type StoredCreditNote,
} from '../../../domain/invoicing/credit-notes.ts';
import { invalidOperation } from '../../../domain/errors.ts';
import { refundsInFlight } from '../../../domain/invoicing/refunds.ts';
import { decimal, decimalText } from '../../../domain/money.ts';
import { moveCreditNote } from '../../../domain/states/credit-note.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { CreditNoteLineRecord, CreditNoteRecord } from '../../../schemas/credit-note.ts';
import type { RefundRecord } from '../../../schemas/refund.ts';
import type { BillingDeps } from '../../deps.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import {
  lockInvoiceToPay,
  reviseInvoicePayment,
  type LockedInvoice,
} from '../computing/revise-invoice-payment.ts';
import {
  creditNotesOfInvoice,
  getCreditNote,
  linesOfCreditNotes,
  lockCreditNote,
  updateCreditNote,
} from '../records/credit-note-repository.ts';
import { paymentsOfInvoice } from '../records/payment-repository.ts';
import { refundsOfInvoice } from '../records/refund-repository.ts';
import { recallRefundedCredits } from '../wallets/undo-purchase.ts';
import { returnMoney } from '../refunds/return-money.ts';
import { creditableRows } from '../computing/creditable-rows.ts';
import { creditNoteEvent } from './credit-note-notification.ts';

/** The changed credit note and the refunds that it caused. */
export interface ChangedCreditNote {
  readonly note: CreditNoteRecord;
  readonly refunds: readonly RefundRecord[];
}

/** Finalizes a draft: its limits are checked again under the invoice's lock (money 10.9). 404 if unknown. */
export async function finalizeCreditNote(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<ChangedCreditNote> {
  const { invoice_id } = await getCreditNote(tx, caller.scope, id);
  const locked = await lockInvoiceToPay(tx, caller, invoice_id);
  const note = await lockCreditNote(tx, caller.scope, id);
  moveCreditNote(note.credit_note_type, note.credit_note_status, 'finalize');
  const lines = await linesOfCreditNotes(tx, caller.scope, [id]);
  creditNoteType(locked.invoice.payment_status, note.credit_note_type);
  await checkLimits(tx, caller.scope, locked, note.credit_note_type, lines);
  return await applyCreditNote(tx, deps, caller, locked, note);
}

/** Checks the limits of a note on the locked invoice; returns its total (money 10.5, 10.6). */
export async function checkLimits(
  tx: Transaction,
  scope: Scope,
  { invoice }: LockedInvoice,
  type: CreditNoteRecord['credit_note_type'],
  lines: readonly { readonly invoice_line_item_id: string; readonly amount: string }[],
): Promise<string> {
  const notes = await creditNotesOfInvoice(tx, scope, invoice.id);
  const noteLines = groupBy(
    await linesOfCreditNotes(
      tx,
      scope,
      notes.map((note) => note.id),
    ),
    (line: CreditNoteLineRecord) => line.credit_note_id,
  );
  const creditable: CreditableInvoice = {
    ...invoice,
    exclusive_tax: invoice.tax_summary?.exclusive_tax ?? '0',
    refunds_in_flight: decimalText(refundsInFlight(await refundsOfInvoice(tx, scope, invoice.id))),
    ...(await creditableRows(tx, scope, invoice)),
  };
  const earlier: StoredCreditNote[] = notes.map((note) => ({
    credit_note_status: note.credit_note_status,
    line_items: noteLines.get(note.id) ?? [],
  }));
  return decimalText(checkCreditNote(creditable, type, lines, earlier));
}

/**
 * Applies a checked draft: an ADJUSTMENT reduces the amount due of the invoice, a REFUND returns money.
 * Status, money and invoice change in one transaction (money 10.9).
 */
export async function applyCreditNote(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  locked: LockedInvoice,
  note: CreditNoteRecord,
): Promise<ChangedCreditNote> {
  const change = changed(deps, caller);
  const final = await updateCreditNote(tx, caller.scope, note.id, {
    credit_note_status: moveCreditNote(note.credit_note_type, note.credit_note_status, 'finalize'),
    finalized_at: change.updated_at,
    ...change,
  });
  const refunds =
    note.credit_note_type === 'REFUND' ? await refundOf(tx, deps, caller, locked, note) : [];
  await writeOutboxEvents(tx, [creditNoteEvent('credit_note.updated', caller.scope, final)]);
  await reviseInvoicePayment(tx, deps, caller, locked);
  return { note: final, refunds };
}

async function refundOf(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { invoice }: LockedInvoice,
  note: CreditNoteRecord,
): Promise<RefundRecord[]> {
  const amount = decimal(note.total_amount);
  await recallRefundedCredits(tx, deps, caller, invoice, { amount, key: note.id });
  const payments = await paymentsOfInvoice(tx, caller.scope, invoice.id);
  return await returnMoney(tx, deps, caller, payments, {
    amount,
    target: note.refund_target ?? 'PREPAID_WALLET',
    refund_reason: REFUND_REASON[note.reason],
    invoice_id: invoice.id,
    credit_note_id: note.id,
    idempotency_key: note.id,
    wallet: {
      reason: 'CREDIT_NOTE',
      reference_id: note.id,
      source: { type: 'CREDIT_NOTE', id: note.id },
      description: `Credit note refund: ${note.credit_note_number}`,
      metadata: { credit_note_id: note.id },
      wallet_name: null,
    },
  });
}

const REFUND_REASON: Readonly<Record<CreditNoteRecord['reason'], RefundRecord['refund_reason']>> = {
  DUPLICATE: 'DUPLICATE',
  FRAUDULENT: 'FRAUDULENT',
  ORDER_CHANGE: 'ORDER_CHANGE',
  SERVICE_ISSUE: 'SERVICE_ISSUE',
  UNSATISFACTORY: 'OTHER',
  BILLING_ERROR: 'OTHER',
  SUBSCRIPTION_CANCELLATION: 'REQUESTED_BY_CUSTOMER',
};

/** Voids a draft or a finalized ADJUSTMENT. The invoice may have an open amount again (money 10.11). */
export async function voidCreditNote(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<CreditNoteRecord> {
  const { invoice_id } = await getCreditNote(tx, caller.scope, id);
  const locked = await lockInvoiceToPay(tx, caller, invoice_id);
  const note = await lockCreditNote(tx, caller.scope, id);
  const status = moveCreditNote(note.credit_note_type, note.credit_note_status, 'void');
  if (note.credit_note_status === 'FINALIZED' && locked.invoice.invoice_status === 'VOIDED')
    throw invalidOperation('The invoice of the credit note is VOIDED.', 'invoice_status');
  const change = changed(deps, caller);
  const voided = await updateCreditNote(tx, caller.scope, id, {
    credit_note_status: status,
    voided_at: change.updated_at,
    ...change,
  });
  await writeOutboxEvents(tx, [creditNoteEvent('credit_note.updated', caller.scope, voided)]);
  await reviseInvoicePayment(tx, deps, caller, locked);
  return voided;
}
