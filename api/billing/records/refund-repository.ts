import { notFound } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { RefundRecord } from '../../../schemas/refund.ts';
import type { Page, Search } from '../../../schemas/search.ts';

/** The refund. 404 if it does not exist or belongs to another scope. */
export async function getRefund(db: Db, scope: Scope, id: string): Promise<RefundRecord> {
  const [row] = await db<RefundRecord[]>`
    select * from refunds where ${inScope(db, scope)} and id = ${id}`;
  if (row === undefined) throw notFound('Refund', id);
  return row;
}

/** Refunds of the payments, oldest first. */
export async function refundsOfPayments(
  db: Db,
  scope: Scope,
  paymentIds: readonly string[],
): Promise<RefundRecord[]> {
  if (paymentIds.length === 0) return [];
  return await db<RefundRecord[]>`
    select * from refunds
     where ${inScope(db, scope)} and payment_id = any(${paymentIds as string[]}::text[])
     order by created_at, id`;
}

/** Refunds of an invoice, oldest first. */
export async function refundsOfInvoice(
  db: Db,
  scope: Scope,
  invoiceId: string,
): Promise<RefundRecord[]> {
  return await db<RefundRecord[]>`
    select * from refunds
     where ${inScope(db, scope)} and invoice_id = ${invoiceId} order by created_at, id`;
}

/** Refunds that credit notes have caused, oldest first. */
export async function refundsOfNotes(
  db: Db,
  scope: Scope,
  creditNoteIds: readonly string[],
): Promise<RefundRecord[]> {
  if (creditNoteIds.length === 0) return [];
  return await db<RefundRecord[]>`
    select * from refunds
     where ${inScope(db, scope)} and credit_note_id = any(${creditNoteIds as string[]}::text[])
     order by created_at, id`;
}

/** The refund with this key; null if there is none. */
export async function findRefundByKey(
  db: Db,
  scope: Scope,
  key: string,
): Promise<RefundRecord | null> {
  const [row] = await db<RefundRecord[]>`
    select * from refunds where ${inScope(db, scope)} and idempotency_key = ${key}`;
  return row ?? null;
}

/** The refund that retries this one; null if there is none. */
export async function findRetryOf(db: Db, scope: Scope, id: string): Promise<RefundRecord | null> {
  const [row] = await db<RefundRecord[]>`
    select * from refunds where ${inScope(db, scope)} and retry_of = ${id}`;
  return row ?? null;
}

/** Writes the columns that change. The caller holds the payment's lock. */
export async function updateRefund(
  tx: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<Omit<RefundRecord, 'metadata' | 'gateway_metadata'>>,
): Promise<RefundRecord> {
  const [row] = await tx<RefundRecord[]>`
    update refunds set ${tx(changes as never)}
     where ${inScope(tx, scope)} and id = ${id}
    returning *`;
  return row!;
}

export interface RefundFilter {
  readonly refund_ids?: string[] | null;
  readonly payment_id?: string | null;
  readonly invoice_id?: string | null;
  readonly customer_id?: string | null;
  readonly credit_note_id?: string | null;
  readonly refund_status?: string | null;
  readonly refund_target?: string | null;
  readonly gateway_refund_id?: string | null;
  readonly search: Search;
}

export function searchRefunds(
  db: Db,
  scope: Scope,
  filter: RefundFilter,
): Promise<Page<RefundRecord>> {
  const { search, refund_ids } = filter;
  const equal = [
    'payment_id', 'invoice_id', 'customer_id', 'credit_note_id', 'refund_status', 'refund_target',
    'gateway_refund_id',
  ] as const; // prettier-ignore
  let where = db`${inScope(db, scope)} and status = ${search.status ?? 'published'}`;
  if (refund_ids?.length) where = db`${where} and id = any(${refund_ids})`;
  for (const column of equal)
    if (filter[column]) where = db`${where} and ${db(column)} = ${filter[column]}`;
  return findPage<RefundRecord>(db, { columns: db`*`, from: db`refunds`, where, search });
}
