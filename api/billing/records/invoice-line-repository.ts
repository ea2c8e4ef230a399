import { notFound } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { columnList, jsonOf } from '../../../postgres/parameters.ts';
import { INVOICE_LINE_COLUMNS, type InvoiceLineRecord } from '../../../schemas/invoice.ts';

/** Replaces the rows of invoices. Existing rows keep their id, because the caller computed them with it. */
export async function replaceInvoiceLines(
  tx: Transaction,
  scope: Scope,
  invoiceIds: readonly string[],
  lines: readonly InvoiceLineRecord[],
): Promise<void> {
  if (invoiceIds.length > 0)
    await tx`
      delete from invoice_line_items
       where ${inScope(tx, scope)} and invoice_id = any(${invoiceIds as string[]}::text[])`;
  await insertInvoiceLines(tx, lines);
}

/** Inserts rows of invoices in one statement. */
export async function insertInvoiceLines(
  tx: Transaction,
  lines: readonly InvoiceLineRecord[],
): Promise<void> {
  if (lines.length === 0) return;
  await tx`
    insert into invoice_line_items (${tx(INVOICE_LINE_COLUMNS)})
    select ${tx(INVOICE_LINE_COLUMNS)}
      from jsonb_populate_recordset(null::invoice_line_items, ${jsonOf(tx, lines)})`;
}

/** Rows of voided invoices release the services they billed. */
export async function releaseLines(
  tx: Transaction,
  scope: Scope,
  invoiceIds: readonly string[],
): Promise<void> {
  await tx`
    update invoice_line_items
       set holds_slot = false
     where ${inScope(tx, scope)} and invoice_id = any(${invoiceIds as string[]}::text[])`;
}

/** Rows in the order of their invoices. */
export function linesOfInvoices(
  db: Db,
  scope: Scope,
  invoiceIds: readonly string[],
): Promise<InvoiceLineRecord[]> {
  return db<InvoiceLineRecord[]>`
    select ${columnList(db, INVOICE_LINE_COLUMNS)}
      from invoice_line_items
     where ${inScope(db, scope)}
       and invoice_id = any(${invoiceIds as string[]}::text[])
       and status = 'published'
     order by invoice_id, position`;
}

/** One row. 404 if the invoice does not have it. */
export async function getInvoiceLine(
  db: Db,
  scope: Scope,
  invoiceId: string,
  lineId: string,
): Promise<InvoiceLineRecord> {
  const [row] = await db<InvoiceLineRecord[]>`
    select ${columnList(db, INVOICE_LINE_COLUMNS)}
      from invoice_line_items
     where ${inScope(db, scope)}
       and invoice_id = ${invoiceId} and id = ${lineId} and status = 'published'`;
  if (row === undefined) throw notFound('Invoice line item', lineId);
  return row;
}

/** Services billed by living rows (billing 3.1). */
export interface BilledService {
  readonly invoice_id: string;
  readonly subscription_line_item_id: string;
  readonly period_start: string;
  readonly kind: string;
}

/** Living rows of the subscriptions whose service starts at `from` or later. */
export function billedServices(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
  from: string,
): Promise<BilledService[]> {
  return db<BilledService[]>`
    select invoice_id, subscription_line_item_id, period_start, kind
      from invoice_line_items
     where ${inScope(db, scope)}
       and subscription_line_item_id in (
           select id from subscription_line_items
            where ${inScope(db, scope)} and subscription_id = any(${subscriptionIds as string[]}::text[]))
       and holds_slot
       and period_start >= ${from}`;
}
