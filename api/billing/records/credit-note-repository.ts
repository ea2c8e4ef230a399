import { alreadyExists } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { columnList } from '../../../postgres/parameters.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { filterConditions, findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import {
  CREDIT_NOTE_COLUMNS,
  CREDIT_NOTE_LINE_COLUMNS,
  type CreditNoteLineRecord,
  type CreditNoteRecord,
} from '../../../schemas/credit-note.ts';
import type { Page, Search } from '../../../schemas/search.ts';

const notes = tableOf<CreditNoteRecord>({
  name: 'credit_notes',
  noun: 'Credit note',
  columns: (db) => columnList(db, CREDIT_NOTE_COLUMNS),
  json: ['metadata'],
  only: 'published',
  taken: {
    credit_notes_credit_note_number_key: (note) =>
      alreadyExists('credit note', 'credit_note_number', note.credit_note_number!),
  },
});

/** 404 if the note is unknown or belongs to another scope. */
export const getCreditNote = notes.get;

/** Notes of the scope with these ids, unordered. */
export const findCreditNotes = notes.find;

/** Locks the credit note. The caller holds the invoice's lock. */
export const lockCreditNote = notes.lock;

/** Changes the given columns. 404 as for `getCreditNote`. */
export const updateCreditNote = notes.change;

/** Credit notes of an invoice, oldest first. */
export const creditNotesOfInvoice = (
  db: Db,
  scope: Scope,
  invoiceId: string,
): Promise<CreditNoteRecord[]> =>
  notes.findBy(db, scope, 'invoice_id', [invoiceId], db`created_at, id`);

/** The note that holds the key; a voided note has released it. Null if there is none. */
export async function findCreditNoteByKey(
  db: Db,
  scope: Scope,
  key: string,
): Promise<CreditNoteRecord | null> {
  const [row] = await db<CreditNoteRecord[]>`
    select ${columnList(db, CREDIT_NOTE_COLUMNS)} from credit_notes
     where ${inScope(db, scope)} and idempotency_key = ${key} and credit_note_status <> 'VOIDED'`;
  return row ?? null;
}

/** 409 if the number is taken. */
export async function insertCreditNote(
  tx: Transaction,
  note: CreditNoteRecord,
  lines: readonly CreditNoteLineRecord[],
): Promise<void> {
  await notes.insert(tx, note);
  await insertRows(tx, 'credit_note_lines', lines);
}

/** Rows of credit notes, in their order. */
export async function linesOfCreditNotes(
  db: Db,
  scope: Scope,
  creditNoteIds: readonly string[],
): Promise<CreditNoteLineRecord[]> {
  if (creditNoteIds.length === 0) return [];
  return await db<CreditNoteLineRecord[]>`
    select ${columnList(db, CREDIT_NOTE_LINE_COLUMNS)} from credit_note_lines
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

/** A page of credit notes, newest first. Leaves out archived ones unless a status is requested. */
export function searchCreditNotes(
  db: Db,
  scope: Scope,
  filter: CreditNoteFilter,
): Promise<Page<CreditNoteRecord>> {
  const { search, credit_note_ids } = filter;
  const where = db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
    ${filterConditions(db, { id: credit_note_ids }, ['id'])}
    ${filterConditions(db, filter, [
      'invoice_id', 'customer_id', 'subscription_id', 'credit_note_status', 'credit_note_type',
    ])}`; // prettier-ignore
  return findPage<CreditNoteRecord>(db, {
    columns: columnList(db, CREDIT_NOTE_COLUMNS),
    from: db`credit_notes`,
    where,
    search,
  });
}
