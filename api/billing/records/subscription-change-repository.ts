import type { ServiceRow } from '../../../domain/invoicing/credited-service.ts';
import type { ChangeRow } from '../../../domain/pricing/edited-charges.ts';
import {
  inScope,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { jsonOf } from '../../../postgres/parameters.ts';

/** The settlement of one change of a subscription (billing 5.3). */
export interface SubscriptionChangeRecord {
  readonly id: string;
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly subscription_id: string;
  readonly kind: string;
  readonly operation_key: string;
  readonly effective_at: string;
  readonly rows: readonly ChangeRow[];
  readonly net: string;
  readonly invoice_id: string | null;
  readonly wallet_transaction_id: string | null;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly created_by: string;
  readonly updated_by: string;
}

/** Stores the settlement of a change. */
export async function insertSubscriptionChange(
  tx: Transaction,
  change: SubscriptionChangeRecord,
): Promise<void> {
  await insertRows(tx, 'subscription_changes', [change]);
}

/** Hands the changes that a replaced invoice charged to its replacement. */
export async function moveSubscriptionChanges(
  tx: Transaction,
  scope: Scope,
  from: string,
  to: string,
): Promise<void> {
  await tx`
    update subscription_changes set invoice_id = ${to}
     where ${inScope(tx, scope)} and invoice_id = ${from}`;
}

/**
 * Adds rows to the change that the invoice charges: what an edit of the invoice changes in its charges. Nothing if the
 * invoice charges no change.
 */
export async function addChangeRows(
  tx: Transaction,
  scope: Scope,
  invoiceId: string,
  rows: readonly ChangeRow[],
  { updated_at, updated_by }: Pick<SubscriptionChangeRecord, 'updated_at' | 'updated_by'>,
): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    update subscription_changes
       set rows = rows || ${jsonOf(tx, rows)}, updated_at = ${updated_at}, updated_by = ${updated_by}
     where ${inScope(tx, scope)} and invoice_id = ${invoiceId}`;
}

/** A charged or credited row of a line item, with the exclusive tax that was charged or returned with it. */
export interface SettledRow extends ServiceRow {
  /** The customer of the invoice; null for a row of a change without an invoice. */
  readonly customer_id: string | null;
}

/**
 * Everything charged for and credited to the line items, and to those that changes link with them, for service from
 * `from` on, in the currency of the subscription: rows of invoices, rows of changes, with or without an invoice, and
 * final credit notes on rows.
 */
export async function settledRowsOf(
  db: Db,
  scope: Scope,
  subscriptionId: string,
  lineItemIds: readonly string[],
  from: string,
): Promise<SettledRow[]> {
  return await rowsOf(db, {
    scope,
    subscription_id: subscriptionId,
    line_item_ids: lineItemIds,
    from,
  });
}

/** The same for service that ends after `until`: also what began before it. */
export async function rowsOfServiceAfter(
  db: Db,
  scope: Scope,
  subscriptionId: string,
  lineItemIds: readonly string[],
  until: string,
): Promise<SettledRow[]> {
  return await rowsOf(db, {
    scope,
    subscription_id: subscriptionId,
    line_item_ids: lineItemIds,
    until,
  });
}

async function rowsOf(db: Db, of: SettledService): Promise<SettledRow[]> {
  if (of.line_item_ids.length === 0) return [];
  const all = { ...of, line_item_ids: [...of.line_item_ids, ...(await linkedLines(db, of))] };
  return await db<SettledRow[]>`
    ${invoicedRows(db, all)} union all ${changedRows(db, all)} union all ${creditedRows(db, all)}`;
}

/** The lines that changes of the time have charged or credited. */
async function linkedLines(db: Db, of: SettledService): Promise<string[]> {
  const rows = await db<{ line_item_id: string }[]>`
    select distinct r ->> 'line_item_id' as line_item_id
      from subscription_changes c
      cross join jsonb_array_elements(c.rows) r
     where ${isOfChanges(db, of)}`;
  return rows.map(({ line_item_id }) => line_item_id);
}

interface SettledService {
  readonly scope: Scope;
  readonly subscription_id: string;
  readonly line_item_ids: readonly string[];
  /** Service that begins then or later. */
  readonly from?: string;
  /** Service that ends later. */
  readonly until?: string;
}

/** SQL: whether the period of a row is asked for. */
const isAsked = (db: Db, { from, until }: SettledService, start: Fragment, end: Fragment) =>
  until === undefined ? db`${start} >= ${from!}` : db`${end} > ${until}`;

/**
 * SQL: the invoice rows `l` with their invoices `i`. `l.factor` converts from the currency of the subscription to that
 * of the invoice. Both values of `holds_slot` are named, because each has an index.
 */
const rowsOfService = (db: Db, of: SettledService): Fragment => db`
  (select l.*, coalesce((l.custom_currency ->> 'conversion_factor')::numeric, 1) as factor
     from invoice_line_items l
    where ${inScope(db, of.scope, 'l')} and l.subscription_id = ${of.subscription_id}
      and l.subscription_line_item_id = any(${of.line_item_ids as string[]}::text[])
      and (l.holds_slot or not l.holds_slot)
      and l.status = 'published' and ${isAsked(db, of, db`l.period_start`, db`l.period_end`)}) l
  join invoices i on i.id = l.invoice_id`;

/** SQL: the exclusive tax that the invoice `i` charges on an amount of one of its rows, in the currency of the row. */
const taxOn = (db: Db, amount: Fragment): Fragment => db`
  case when i.subtotal - i.total_discount <= 0 then 0
       else coalesce((i.tax_summary ->> 'exclusive_tax')::numeric, 0) * ${amount}
            / (i.subtotal - i.total_discount) / l.factor
   end`;

/**
 * SQL: rows of invoices, each with its share of the exclusive tax of its invoice. Invoices of changes are left out: the
 * changes say what they charge. The invoice of a period that begins with a resumption has the same reason and stays in.
 */
const invoicedRows = (db: Db, of: SettledService): Fragment => db`
  select l.subscription_line_item_id, l.period_start, l.period_end, l.kind,
         coalesce((l.custom_currency ->> 'amount')::numeric, l.amount)::text as amount,
         (l.line_item_discount / l.factor)::text as line_item_discount,
         (l.invoice_level_discount / l.factor)::text as invoice_level_discount, i.invoice_status,
         (${taxOn(db, db`(l.amount - l.line_item_discount - l.invoice_level_discount)`)})::text as tax,
         i.customer_id, null as change_id
    from ${rowsOfService(db, of)}
   where coalesce(i.billing_reason, '') <> 'SUBSCRIPTION_UPDATE' or i.invoice_type = 'SUBSCRIPTION'`;

/** SQL: whether the row `r` of the change `c` is of the subscription and the time. */
const isOfChanges = (db: Db, of: SettledService): Fragment => db`
  ${inScope(db, of.scope, 'c')} and c.subscription_id = ${of.subscription_id}
  and ${isAsked(db, of, db`(r ->> 'period_start')::timestamptz`, db`(r ->> 'period_end')::timestamptz`)}`;

/** SQL: rows of changes. */
const changedRows = (db: Db, of: SettledService): Fragment => db`
  select r ->> 'line_item_id', (r ->> 'period_start')::timestamptz,
         (r ->> 'period_end')::timestamptz, r ->> 'kind', r ->> 'gross',
         ((r ->> 'gross')::numeric - (r ->> 'net')::numeric)::text, '0',
         coalesce(i.invoice_status, 'FINALIZED'), r ->> 'tax', i.customer_id, c.id
    from subscription_changes c
    cross join jsonb_array_elements(c.rows) r
    left join invoices i on i.id = c.invoice_id
   where ${isOfChanges(db, of)} and r ->> 'line_item_id' = any(${of.line_item_ids as string[]}::text[])`;

/**
 * SQL: invoice rows that final credit notes credit, each with the tax on the credited amount. The note settles this
 * tax, whether it returns it or not (billing 5.3).
 */
const creditedRows = (db: Db, of: SettledService): Fragment => db`
  select l.subscription_line_item_id, l.period_start, l.period_end, 'credit', (-n.amount / l.factor)::text, '0', '0',
         i.invoice_status, (-(${taxOn(db, db`n.amount`)}))::text, i.customer_id, null
    from ${rowsOfService(db, of)}
    join credit_notes c on ${inScope(db, of.scope, 'c')} and c.invoice_id = i.id and c.credit_note_status = 'FINALIZED'
    join credit_note_lines n on n.credit_note_id = c.id and n.invoice_line_item_id = l.id`;
