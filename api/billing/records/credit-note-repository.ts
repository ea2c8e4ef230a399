import { alreadyExists, notFound } from '../../../domain/errors.ts';
import {
  inScope,
  violatedConstraint,
  type Db,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { findPage } from '../../../postgres/search.ts';
import type { CreditNoteLineRecord, CreditNoteRecord } from '../../../schemas/credit-note.ts';
import type { Page, Search } from '../../../schemas/search.ts';

/** The credit note. 404 if it does not exist or belongs to another scope. */
export async function getCreditNote(db: Db, scope: Scope, id: string): Promise<CreditNoteRecord> {
  const [row] = await db<CreditNoteRecord[]>`
    select * from credit_notes
     where ${inScope(db, scope)} and id = ${id} and status = 'published'`;
  if (row === undefined) throw notFound('Credit note', id);
  return row;
}

/** The same, locked. The caller holds the invoice's lock. */
export async function lockCreditNote(
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<CreditNoteRecord> {
  const [row] = await tx<CreditNoteRecord[]>`
    select * from credit_notes
     where ${inScope(tx, scope)} and id = ${id} and status = 'published'
       for update`;
  if (row === undefined) throw notFound('Credit note', id);
  return row;
}

/** Credit notes of an invoice, oldest first. */
export async function creditNotesOfInvoice(
  db: Db,
  scope: Scope,
  invoiceId: string,
): Promise<CreditNoteRecord[]> {
  return await db<CreditNoteRecord[]>`
    select * from credit_notes
     where ${inScope(db, scope)} and invoice_id = ${invoiceId} and status = 'published'
     order by created_at, id`;
}

/** The note that holds the key; a voided note has released it. Null if there is none. */
export async function findCreditNoteByKey(
  db: Db,
  scope: Scope,
  key: string,
): Promise<CreditNoteRecord | null> {
  const [row] = await db<CreditNoteRecord[]>`
    select * from credit_notes
     where ${inScope(db, scope)} and idempotency_key = ${key} and credit_note_status <> 'VOIDED'`;
  return row ?? null;
}

/** 409 if the number is taken. */
export async function insertCreditNote(
  tx: Transaction,
  note: CreditNoteRecord,
  lines: readonly CreditNoteLineRecord[],
): Promise<void> {
  try {
    await insertRows(tx, 'credit_notes', [note]);
  } catch (error) {
    throw violatedConstraint(error) === 'credit_notes_credit_note_number_key'
      ? alreadyExists('credit note', 'credit_note_number', note.credit_note_number)
      : error;
  }
  await insertRows(tx, 'credit_note_lines', lines);
}

export async function updateCreditNote(
  tx: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<Omit<CreditNoteRecord, 'metadata'>>,
): Promise<CreditNoteRecord> {
  const [row] = await tx<CreditNoteRecord[]>`
    update credit_notes set ${tx(changes as never)}
     where ${inScope(tx, scope)} and id = ${id}
    returning *`;
  return row!;
}

/** Rows of credit notes, in their order. */
export async function linesOfCreditNotes(
  db: Db,
  scope: Scope,
  creditNoteIds: readonly string[],
): Promise<CreditNoteLineRecord[]> {
  if (creditNoteIds.length === 0) return [];
  return await db<CreditNoteLineRecord[]>`
    select * from credit_note_lines
     where ${inScope(db, scope)} and credit_note_id = any(${creditNoteIds as string[]}::text[])
     order by credit_note_id, position`;
}

export interface CreditNoteFilter {
  readonly credit_note_ids?: string[] | null;
  readonly invoice_id?: string | null;
  readonly customer_id?: string | null;
  readonly subscription_id?: string | null;
  readonly credit_note_status?: string[] | null;
  readonly credit_note_type?: string | null;
  readonly search: Search;
}

export function searchCreditNotes(
  db: Db,
  scope: Scope,
  filter: CreditNoteFilter,
): Promise<Page<CreditNoteRecord>> {
  const { search, credit_note_ids, credit_note_status } = filter;
  const equal = ['invoice_id', 'customer_id', 'subscription_id', 'credit_note_type'] as const;
  let where = db`${inScope(db, scope)} and status = ${search.status ?? 'published'}`;
  if (credit_note_ids?.length) where = db`${where} and id = any(${credit_note_ids})`;
  if (credit_note_status?.length)
    where = db`${where} and credit_note_status = any(${credit_note_status})`;
  for (const column of equal)
    if (filter[column]) where = db`${where} and ${db(column)} = ${filter[column]}`;
  return findPage<CreditNoteRecord>(db, { columns: db`*`, from: db`credit_notes`, where, search });
}
