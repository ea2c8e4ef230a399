import type { z } from 'zod';
import { notFound } from '../../../domain/errors.ts';
import {
  inScope,
  oneOf,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { columnList, jsonOf } from '../../../postgres/parameters.ts';
import { findPage } from '../../../postgres/search.ts';
import {
  INVOICE_COLUMNS,
  type InvoiceRecord,
  type InvoiceSearch,
} from '../../../schemas/invoice.ts';
import type { Page } from '../../../schemas/search.ts';

/** Columns that computing, finalizing or voiding changes; the identity and the slot do not change. */
const CHANGING_COLUMNS = INVOICE_COLUMNS.filter(
  (column) =>
    !['id', 'tenant_id', 'environment_id', 'created_at', 'created_by', 'version'].includes(column),
);

/** Many invoices in one statement: a page of a billing run is one round trip. */
export async function insertInvoices(
  tx: Transaction,
  invoices: readonly InvoiceRecord[],
): Promise<void> {
  if (invoices.length === 0) return;
  await tx`
    insert into invoices (${tx(INVOICE_COLUMNS)})
    select ${tx(INVOICE_COLUMNS)}
      from jsonb_populate_recordset(null::invoices, ${jsonOf(tx, invoices)})`;
}

/** Writes every column that may change and increments the version. The caller holds the rows' locks. */
export async function updateInvoices(
  tx: Transaction,
  invoices: readonly InvoiceRecord[],
): Promise<void> {
  if (invoices.length === 0) return;
  const assignments = CHANGING_COLUMNS.map((column) => tx`${tx(column)} = n.${tx(column)}`);
  await tx`
    update invoices i
       set ${joined(tx, assignments)}, version = i.version + 1
      from jsonb_populate_recordset(null::invoices, ${jsonOf(tx, invoices)}) n
     where i.id = n.id and i.tenant_id = n.tenant_id and i.environment_id = n.environment_id`;
}

function joined(db: Db, parts: readonly Fragment[]): Fragment {
  return parts.reduce((left, right) => db`${left}, ${right}`);
}

/** The invoice. 404 if it does not exist or belongs to another scope. */
export async function getInvoice(db: Db, scope: Scope, id: string): Promise<InvoiceRecord> {
  const [row] = await db<InvoiceRecord[]>`
    select ${columnList(db, INVOICE_COLUMNS)} from invoices
     where ${inScope(db, scope)} and id = ${id} and status = 'published'`;
  if (row === undefined) throw notFound('Invoice', id);
  return row;
}

/** The same, also if an ended checkout session has archived it: a caller who knows its id sees its outcome. */
export async function getStoredInvoice(db: Db, scope: Scope, id: string): Promise<InvoiceRecord> {
  const [row] = await db<InvoiceRecord[]>`
    select ${columnList(db, INVOICE_COLUMNS)} from invoices
     where ${inScope(db, scope)} and id = ${id} and status in ('published', 'archived')`;
  if (row === undefined) throw notFound('Invoice', id);
  return row;
}

/** The invoice, locked. */
export async function lockInvoice(
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<InvoiceRecord> {
  const [row] = await tx<InvoiceRecord[]>`
    select ${columnList(tx, INVOICE_COLUMNS)} from invoices
     where ${inScope(tx, scope)} and id = ${id} and status = 'published'
       for update`;
  if (row === undefined) throw notFound('Invoice', id);
  return row;
}

/** The invoice, locked, also if an ended checkout session has archived it: money may still come for it. */
export async function lockStoredInvoice(
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<InvoiceRecord> {
  const [row] = await tx<InvoiceRecord[]>`
    select ${columnList(tx, INVOICE_COLUMNS)} from invoices
     where ${inScope(tx, scope)} and id = ${id} and status in ('published', 'archived')
       for update`;
  if (row === undefined) throw notFound('Invoice', id);
  return row;
}

/** Archives the invoice, whatever its status. */
export async function archiveInvoice(
  tx: Transaction,
  scope: Scope,
  id: string,
  change: { readonly updated_at: string; readonly updated_by: string },
): Promise<void> {
  await tx`
    update invoices set ${tx({ status: 'archived', ...change })}
     where ${inScope(tx, scope)} and id = ${id}`;
}

/** An invoice and the subscription it was computed from, as read. */
export interface ReadInvoice {
  readonly invoice: Pick<InvoiceRecord, 'id' | 'version'>;
  /** Null for an invoice without a subscription. */
  readonly subscription: { readonly id: string; readonly version: number } | null;
  /** The grouped subscriptions whose rows are on the invoice. */
  readonly grouped?: readonly { readonly id: string; readonly version: number }[];
}

/**
 * Locks invoices with their subscriptions, each in id order, and returns those unchanged since they were
 * read: computations of the others are out of date. `skipLocked` leaves out rows that another transaction has
 * locked; otherwise it waits for them.
 */
export async function lockInvoicesUnchanged<Read extends ReadInvoice>(
  tx: Transaction,
  scope: Scope,
  read: readonly Read[],
  options: { readonly skipLocked?: boolean } = {},
): Promise<Read[]> {
  const skip = options.skipLocked === true ? tx`skip locked` : tx``;
  const subscriptions = await tx<{ id: string; version: number }[]>`
    select id, version from subscriptions
     where ${inScope(tx, scope)} and id = any(${read.flatMap(({ subscription, grouped = [] }) => [...(subscription === null ? [] : [subscription.id]), ...grouped.map(({ id }) => id)])}::text[])
     order by id for share ${skip}`;
  const invoices = await tx<{ id: string; version: number }[]>`
    select id, version from invoices
     where ${inScope(tx, scope)} and id = any(${read.map(({ invoice }) => invoice.id)}::text[])
     order by id for update ${skip}`;
  const versions = new Map([...subscriptions, ...invoices].map((row) => [row.id, row.version]));
  return read.filter(({ invoice, subscription, grouped = [] }) =>
    [invoice, ...(subscription === null ? [] : [subscription]), ...grouped].every(
      ({ id, version }) => versions.get(id) === version,
    ),
  );
}

export type InvoiceFilter = z.output<typeof InvoiceSearch.body>;

/** A page of invoices, newest first. Leaves out archived ones unless a status is requested. */
export function searchInvoices(
  db: Db,
  scope: Scope,
  filter: InvoiceFilter,
): Promise<Page<InvoiceRecord>> {
  const { search } = filter;
  const where = db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
    ${filter.invoice_ids?.length ? db`and id = any(${filter.invoice_ids})` : db``}
    ${filter.customer_id ? db`and customer_id = ${filter.customer_id}` : db``}
    ${
      filter.external_customer_id
        ? db`and customer_id in (select id from customers c where ${inScope(db, scope, 'c')}
              and c.external_id = ${filter.external_customer_id})`
        : db``
    }
    ${filter.subscription_id ? db`and subscription_id = ${filter.subscription_id}` : db``}
    ${filter.subscription_customer_id?.length ? db`and subscription_customer_id = any(${filter.subscription_customer_id})` : db``}
    ${filter.invoice_type ? db`and invoice_type = ${filter.invoice_type}` : db``}
    ${filter.invoice_status?.length ? db`and invoice_status = any(${filter.invoice_status as string[]})` : db``}
    ${filter.payment_status?.length ? db`and payment_status = any(${filter.payment_status as string[]})` : db``}
    ${filter.billing_reason ? db`and billing_reason = ${filter.billing_reason}` : db``}
    ${filter.currency ? db`and currency = ${filter.currency.toLowerCase()}` : db``}
    ${filter.amount_due_gt ? db`and amount_due > ${filter.amount_due_gt}::numeric` : db``}
    ${filter.amount_remaining_gt ? db`and amount_remaining > ${filter.amount_remaining_gt}::numeric` : db``}
    ${filter.period_start_gte ? db`and period_start >= ${filter.period_start_gte}` : db``}
    ${filter.period_start_lte ? db`and period_start <= ${filter.period_start_lte}` : db``}
    ${filter.period_end_gte ? db`and period_end >= ${filter.period_end_gte}` : db``}
    ${filter.period_end_lte ? db`and period_end <= ${filter.period_end_lte}` : db``}`;
  return findPage<InvoiceRecord>(db, {
    columns: columnList(db, INVOICE_COLUMNS),
    from: db`invoices`,
    where,
    search,
  });
}

/** Invoices of the scope with these ids, unordered. */
export async function findInvoices(
  db: Db,
  scope: Scope,
  ids: readonly string[],
): Promise<InvoiceRecord[]> {
  if (ids.length === 0) return [];
  return await db<InvoiceRecord[]>`
    select ${columnList(db, INVOICE_COLUMNS)} from invoices
     where ${inScope(db, scope)} and id = any(${ids as string[]}::text[]) and status = 'published'`;
}

/** Numbers of invoices, by id; null for drafts. Leaves out unknown ids. */
export async function invoiceNumbers(
  db: Db,
  scope: Scope,
  invoiceIds: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (invoiceIds.length === 0) return new Map();
  const rows = await db<{ id: string; invoice_number: string | null }[]>`
    select id, invoice_number from invoices
     where ${inScope(db, scope)} and id ${oneOf(db, invoiceIds)}`;
  return new Map(rows.map((row) => [row.id, row.invoice_number]));
}
