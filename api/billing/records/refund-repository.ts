import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import { columnList } from '../../../postgres/parameters.ts';
import { filterConditions, findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import { REFUND_COLUMNS, type RefundRecord } from '../../../schemas/refund.ts';
import type { Page, Search } from '../../../schemas/search.ts';

const refunds = tableOf<RefundRecord>({
  name: 'refunds',
  noun: 'Refund',
  columns: (db) => columnList(db, REFUND_COLUMNS),
  json: ['metadata', 'gateway_metadata'],
});

/** 404 if the refund is unknown or belongs to another scope. */
export const getRefund = refunds.get;

/** The refund, locked until the transaction ends. The caller holds the payment's lock. */
export const lockRefund = refunds.lock;

/** Changes a refund. The caller holds the payment's lock. */
export const updateRefund = refunds.change;

/** Notes that an open refund is being sent to its gateway. False if it is settled: it must not be sent. */
export async function noteRefundSent(db: Db, scope: Scope, id: string): Promise<boolean> {
  const rows = await db`
    update refunds set was_sent = true
     where ${inScope(db, scope)} and id = ${id} and refund_status in ('PENDING', 'PROCESSING')
    returning id`;
  return rows.length > 0;
}

type Refunds = Promise<RefundRecord[]>;

/** Refunds of the payments, oldest first. */
export const refundsOfPayments = (db: Db, scope: Scope, ids: readonly string[]): Refunds =>
  refunds.findBy(db, scope, 'payment_id', ids, db`created_at, id`);

/** Refunds of an invoice, oldest first. */
export const refundsOfInvoice = (db: Db, scope: Scope, id: string): Refunds =>
  refunds.findBy(db, scope, 'invoice_id', [id], db`created_at, id`);

/** Refunds that credit notes have caused, oldest first. */
export const refundsOfNotes = (db: Db, scope: Scope, ids: readonly string[]): Refunds =>
  refunds.findBy(db, scope, 'credit_note_id', ids, db`created_at, id`);

/** The refund with this key; null if there is none. */
export async function findRefundByKey(
  db: Db,
  scope: Scope,
  key: string,
): Promise<RefundRecord | null> {
  const [row] = await db<RefundRecord[]>`
    select ${columnList(db, REFUND_COLUMNS)} from refunds
     where ${inScope(db, scope)} and idempotency_key = ${key}`;
  return row ?? null;
}

/** The refund that retries this one; null if there is none. */
export async function findRetryOf(db: Db, scope: Scope, id: string): Promise<RefundRecord | null> {
  const [row] = await db<RefundRecord[]>`
    select ${columnList(db, REFUND_COLUMNS)} from refunds
     where ${inScope(db, scope)} and retry_of = ${id}`;
  return row ?? null;
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

/** A page of refunds, newest first. Leaves out archived ones unless a status is requested. */
export function searchRefunds(
  db: Db,
  scope: Scope,
  filter: RefundFilter,
): Promise<Page<RefundRecord>> {
  const { search, refund_ids } = filter;
  const where = db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
    ${filterConditions(db, { id: refund_ids }, ['id'])}
    ${filterConditions(db, filter, [
      'payment_id', 'invoice_id', 'customer_id', 'credit_note_id', 'refund_status', 'refund_target',
      'gateway_refund_id',
    ])}`; // prettier-ignore
  return findPage<RefundRecord>(db, {
    columns: columnList(db, REFUND_COLUMNS),
    from: db`refunds`,
    where,
    search,
  });
}
