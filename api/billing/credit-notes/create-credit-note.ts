import { createHash } from 'node:crypto';
import { BillingError } from '../../../domain/errors.ts';
import {
  creditNoteContent,
  creditNoteType,
  refundTarget,
  TAX_LINE,
} from '../../../domain/invoicing/credit-notes.ts';
import { moveCreditNote } from '../../../domain/states/credit-note.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type {
  CreateCreditNoteBody,
  CreditNoteLineRecord,
  CreditNoteRecord,
} from '../../../schemas/credit-note.ts';
import type { InvoiceLineRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { lockInvoiceToPay, type LockedInvoice } from '../computing/revise-invoice-payment.ts';
import { findCreditNoteByKey, insertCreditNote } from '../records/credit-note-repository.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import { applyCreditNote, checkLimits, type ChangedCreditNote } from './change-credit-note.ts';
import { creditNoteEvent } from './credit-note-notification.ts';

/** A created note, or the earlier note with the same key. */
export interface CreatedCreditNote extends ChangedCreditNote {
  readonly isRepeat: boolean;
}

/**
 * Creates a credit note and finalizes it if requested. The payments of the invoice determine its type. A
 * request with equal content returns the existing note and changes nothing (money 10.12). The number is
 * not part of the content. With a key of the caller another number is another request: 409.
 */
export async function createCreditNote(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateCreditNoteBody,
): Promise<CreatedCreditNote> {
  const locked = await lockInvoiceToPay(tx, caller, body.invoice_id);
  const fingerprint = fingerprintOf(body);
  const key = body.idempotency_key ?? `credit_note-${fingerprint}`;
  const known = await findCreditNoteByKey(tx, caller.scope, key);
  if (known !== null) {
    const isOther = known.request_fingerprint !== fingerprint;
    if (isOther || (body.idempotency_key && numberOf(body, known) !== known.credit_note_number))
      throw keyReused();
    return { note: known, refunds: [], isRepeat: true };
  }
  const { invoice } = locked;
  const type = creditNoteType(invoice.payment_status, body.credit_note_type ?? null);
  const target = refundTarget(type, body.refund_target ?? null);
  const total = await checkLimits(tx, caller.scope, locked, type, body.line_items);
  const record = newRecord(deps, caller, 'cn');
  const note: CreditNoteRecord = {
    ...record,
    credit_note_number: numberOf(body, record),
    invoice_id: invoice.id,
    customer_id: invoice.customer_id,
    subscription_id: invoice.subscription_id,
    credit_note_status: moveCreditNote(type, null, 'create'),
    credit_note_type: type,
    refund_target: target,
    reason: body.reason,
    memo: body.memo ?? null,
    currency: invoice.currency,
    total_amount: total,
    idempotency_key: key,
    request_fingerprint: fingerprint,
    finalized_at: null,
    voided_at: null,
    metadata: body.metadata ?? {},
  };
  await insertCreditNote(tx, note, await linesOf(tx, deps, caller, locked, note, body));
  await writeOutboxEvents(tx, [creditNoteEvent('credit_note.created', caller.scope, note)]);
  if (body.process_credit_note !== true) return { note, refunds: [], isRepeat: false };
  return { ...(await applyCreditNote(tx, deps, caller, locked, note)), isRepeat: false };
}

/** Number of id characters in a credit note's number: 60 bits. */
const NUMBER_LENGTH = 12;

/** The number that the request gives to its note: its own, else one made from the id. */
const numberOf = (
  { credit_note_number }: CreateCreditNoteBody,
  { id }: Pick<CreditNoteRecord, 'id'>,
): string => credit_note_number || `CN-${id.slice(-NUMBER_LENGTH)}`;

async function linesOf(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { invoice }: LockedInvoice,
  note: CreditNoteRecord,
  body: CreateCreditNoteBody,
): Promise<CreditNoteLineRecord[]> {
  const rows = await linesOfInvoices(tx, caller.scope, [invoice.id]);
  return body.line_items.map((line, position) => ({
    ...newRecord(deps, caller, 'cn_line'),
    credit_note_id: note.id,
    invoice_line_item_id: line.invoice_line_item_id,
    position,
    display_name: line.display_name ?? nameOf(rows, line.invoice_line_item_id),
    amount: line.amount,
    currency: invoice.currency,
    metadata: line.metadata ?? {},
  }));
}

const nameOf = (rows: readonly InvoiceLineRecord[], id: string): string | null =>
  id === TAX_LINE ? 'Tax' : (rows.find((row) => row.id === id)?.display_name ?? null);

function fingerprintOf(body: CreateCreditNoteBody): string {
  const content = creditNoteContent({
    invoice_id: body.invoice_id,
    reason: body.reason,
    credit_note_type: body.credit_note_type ?? 'ADJUSTMENT',
    refund_target: body.refund_target ?? null,
    process_credit_note: body.process_credit_note ?? false,
    memo: body.memo ?? null,
    metadata: body.metadata ?? null,
    line_items: body.line_items,
  });
  return createHash('sha256').update(content).digest('hex');
}

function keyReused(): BillingError {
  const message = 'was used for another credit note';
  return new BillingError('conflict', 'idempotency_key_reused', `idempotency_key: ${message}.`, [
    { path: 'idempotency_key', code: 'idempotency_key_reused', message },
  ]);
}
