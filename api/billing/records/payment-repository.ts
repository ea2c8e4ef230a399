import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { columnList, jsonOf } from '../../../postgres/parameters.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { filterConditions, findPage } from '../../../postgres/search.ts';
import { byId, tableOf, type TableDefinition } from '../../../postgres/table.ts';
import {
  PAYMENT_COLUMNS,
  type PaymentAttempt,
  type PaymentRecord,
} from '../../../schemas/payment.ts';
import type { Page, Search } from '../../../schemas/search.ts';

const PAYMENTS: TableDefinition<PaymentRecord> = {
  name: 'payments',
  noun: 'Payment',
  columns: (db) => columnList(db, PAYMENT_COLUMNS),
  json: ['metadata', 'gateway_metadata'],
};
const payments = tableOf(PAYMENTS);

/** The payment, including deleted ones. 404 if the id is unknown or belongs to another scope. */
export const getPayment = payments.get;

/** Changes a payment. The caller holds its lock. */
export const updatePayment = payments.change;

/** Gives each payment another status. Returns them in this order. The caller holds the lock of their invoice. */
export async function updatePaymentStatuses(
  tx: Transaction,
  scope: Scope,
  moves: readonly Pick<PaymentRecord, 'id' | 'payment_status'>[],
  change: Pick<PaymentRecord, 'updated_at' | 'updated_by'> &
    Partial<Pick<PaymentRecord, 'refunded_at' | 'voided_at'>>,
): Promise<PaymentRecord[]> {
  if (moves.length === 0) return [];
  const rows = await tx<PaymentRecord[]>`
    update payments p set ${tx(change)}, payment_status = moved.payment_status
      from unnest(${moves.map(({ id }) => id)}::text[],
                  ${moves.map(({ payment_status }) => payment_status)}::text[]) as moved (id, payment_status)
     where ${inScope(tx, scope, 'p')} and p.id = moved.id
    returning ${columnList(tx, PAYMENT_COLUMNS, 'p')}`;
  const changed = byId(rows);
  return moves.map(({ id }) => changed.get(id)!);
}

/** Locks a payment, including deleted ones. 404 as for `getPayment`. */
export const lockStoredPayment = payments.lock;

/** Locks a published payment. 404 if it is deleted. */
export const lockPayment = tableOf({ ...PAYMENTS, only: 'published' }).lock;

/** Published payments of an invoice, oldest first. */
export async function paymentsOfInvoice(
  db: Db,
  scope: Scope,
  invoiceId: string,
): Promise<PaymentRecord[]> {
  return await db<PaymentRecord[]>`
    select ${columnList(db, PAYMENT_COLUMNS)} from payments
     where ${inScope(db, scope)} and destination_type = 'INVOICE' and destination_id = ${invoiceId}
       and status = 'published'
     order by created_at, id`;
}

/** Those of them that nobody has paid yet, locked. */
export async function lockUnpaidPayments(
  tx: Transaction,
  scope: Scope,
  invoiceId: string,
): Promise<PaymentRecord[]> {
  return await tx<PaymentRecord[]>`
    select ${columnList(tx, PAYMENT_COLUMNS)} from payments
     where ${inScope(tx, scope)} and destination_type = 'INVOICE' and destination_id = ${invoiceId}
       and status = 'published' and payment_status in ('INITIATED', 'PENDING')
     order by created_at, id
       for update`;
}

/** Inserts the payment. Null if its key is taken, also by a request that is running. */
export async function insertPayment(
  tx: Transaction,
  payment: PaymentRecord,
): Promise<PaymentRecord | null> {
  const columns = Object.keys(payment);
  const [row] = await tx<PaymentRecord[]>`
    insert into payments (${tx(columns)})
    select ${tx(columns)} from jsonb_populate_record(null::payments, ${jsonOf(tx, payment)})
        on conflict do nothing
    returning ${columnList(tx, PAYMENT_COLUMNS)}`;
  return row ?? null;
}

/** The payment that holds the key; null if there is none. */
export async function findPaymentByKey(
  db: Db,
  scope: Scope,
  key: { readonly idempotency_key: string } | { readonly implicit_key: string },
): Promise<PaymentRecord | null> {
  const [row] =
    'implicit_key' in key
      ? await db<PaymentRecord[]>`
          select ${columnList(db, PAYMENT_COLUMNS)} from payments
           where ${inScope(db, scope)} and implicit_key = ${key.implicit_key} and status = 'published'
             and payment_status in ('INITIATED', 'PENDING', 'PROCESSING')`
      : await db<PaymentRecord[]>`
          select ${columnList(db, PAYMENT_COLUMNS)} from payments
           where ${inScope(db, scope)} and idempotency_key = ${key.idempotency_key}
             and implicit_key is null and not is_manual and status = 'published'`;
  return row ?? null;
}

/** Manual reports of an invoice replace each other (money 8.4.4). */
export async function archiveManualPayments(
  tx: Transaction,
  scope: Scope,
  invoiceId: string,
  change: { readonly updated_at: string; readonly updated_by: string },
): Promise<void> {
  await tx`
    update payments set ${tx({ status: 'archived', ...change })}
     where ${inScope(tx, scope)} and destination_type = 'INVOICE' and destination_id = ${invoiceId}
       and is_manual and status = 'published'`;
}

export interface PaymentFilter {
  readonly payment_ids?: string[] | null;
  readonly destination_type?: string | null;
  readonly destination_id?: string | null;
  readonly customer_id?: string | null;
  readonly payment_method_type?: string | null;
  readonly payment_status?: string | null;
  readonly payment_gateway?: string | null;
  readonly gateway_payment_id?: string | null;
  readonly gateway_tracking_id?: string | null;
  readonly currency?: string | null;
  readonly search: Search;
}

/** Leaves out deleted payments unless a status is requested. */
export function searchPayments(
  db: Db,
  scope: Scope,
  filter: PaymentFilter,
): Promise<Page<PaymentRecord>> {
  const { search, payment_ids } = filter;
  const named = { id: payment_ids, currency: filter.currency?.toLowerCase() };
  const where = db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
    ${filterConditions(db, named, ['id', 'currency'])}
    ${filterConditions(db, filter, [
      'destination_type', 'destination_id', 'customer_id', 'payment_method_type', 'payment_status',
      'payment_gateway', 'gateway_payment_id', 'gateway_tracking_id',
    ])}`; // prettier-ignore
  return findPage<PaymentRecord>(db, {
    columns: columnList(db, PAYMENT_COLUMNS),
    from: db`payments`,
    where,
    search,
  });
}

/** Appends an attempt; its number follows from the rows, under the payment's lock. */
export async function insertAttempt(
  tx: Transaction,
  attempt: Omit<PaymentAttempt, 'attempt_number'> & {
    readonly gateway_idempotency_token: string | null;
  },
): Promise<number> {
  const [last] = await tx<{ number: number }[]>`
    select coalesce(max(attempt_number), 0) as number from payment_attempts
     where ${inScope(tx, attempt)} and payment_id = ${attempt.payment_id}`;
  const attempt_number = last!.number + 1;
  await insertRows(tx, 'payment_attempts', [{ ...attempt, attempt_number }]);
  return attempt_number;
}

/** Attempts of payments, oldest first. */
export async function attemptsOf(
  db: Db,
  scope: Scope,
  paymentId: string,
): Promise<PaymentAttempt[]> {
  return await db<PaymentAttempt[]>`
    select id, tenant_id, environment_id, payment_id, attempt_number, payment_status, error_message,
           gateway_attempt_id, metadata, status, created_at, updated_at, created_by, updated_by
      from payment_attempts
     where ${inScope(db, scope)} and payment_id = ${paymentId}
     order by attempt_number`;
}

/**
 * The payments of an invoice belong to its replacement from now on, with their refunds (money 9.15). The replacement
 * may be inserted later in the transaction.
 */
export async function movePayments(
  tx: Transaction,
  scope: Scope,
  from: string,
  to: string,
): Promise<void> {
  await tx`
    update payments set destination_id = ${to}
     where ${inScope(tx, scope)} and destination_type = 'INVOICE' and destination_id = ${from}
       and status = 'published'`;
  await tx`set constraints refunds_invoice_id_fkey deferred`;
  await tx`
    update refunds set invoice_id = ${to}
     where ${inScope(tx, scope)} and invoice_id = ${from}`;
}
