import { notFound } from '../../../domain/errors.ts';
import type { EarlierApplication } from '../../../domain/invoicing/coupon-association.ts';
import {
  inScope,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { livesBy, type Timeline } from '../../../postgres/tables/test-clocks.ts';
import type {
  CommittedUsage,
  InvoiceLineRecord,
  InvoiceRecord,
  StoredWatermarks,
} from '../../../schemas/invoice.ts';
import type { Page, Search } from '../../../schemas/search.ts';

/** Columns of an invoice in write order. */
const INVOICE_COLUMNS = [
  'id', 'tenant_id', 'environment_id', 'customer_id', 'subscription_id', 'subscription_customer_id',
  'invoice_number', 'invoice_type', 'invoice_status', 'payment_status', 'currency', 'description',
  'billing_period', 'billing_reason', 'billing_sequence', 'subtotal', 'total', 'total_discount',
  'total_tax', 'total_prepaid_credits_applied', 'amount_due', 'amount_paid', 'amount_remaining',
  'adjustment_amount', 'overpaid_amount', 'refunded_amount', 'period_start', 'period_end', 'due_date',
  'due_date_given', 'issue_date', 'issue_date_given', 'finalized_at', 'paid_at', 'voided_at', 'last_computed_at', 'idempotency_key',
  'invoice_pdf_url', 'recalculated_invoice_id', 'is_manually_edited', 'source_type', 'tax_summary', 'coupon_applications', 'metadata',
  'revision', 'version', 'proration_behavior', 'meter_version_ids', 'usage_watermarks', 'finalize_after', 'stream_heads',
  'finalize_refusal', 'taxes', 'committed_usage', 'grouped_subscription_ids', 'status', 'created_at', 'updated_at', 'created_by', 'updated_by',
] as const satisfies readonly (keyof InvoiceRecord)[]; // prettier-ignore

const LINE_COLUMNS = [
  'id', 'tenant_id', 'environment_id', 'invoice_id', 'customer_id', 'subscription_id',
  'subscription_line_item_id', 'kind', 'position', 'entity_type', 'entity_id', 'price_id', 'price_type',
  'price_unit', 'price_unit_id', 'price_unit_amount', 'meter_id', 'meter_display_name',
  'plan_display_name', 'display_name', 'currency', 'quantity', 'amount', 'line_item_discount',
  'invoice_level_discount', 'prepaid_credits_applied', 'adjusted_entitlement_quantity',
  'commitment_info', 'parent_line_item_id', 'period_start', 'period_end', 'metadata', 'explanation',
  'usage_queries', 'allowance_queries', 'holds_slot', 'status', 'created_at', 'updated_at', 'created_by', 'updated_by',
] as const satisfies readonly (keyof InvoiceLineRecord)[]; // prettier-ignore

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
      from jsonb_populate_recordset(null::invoices, ${tx.json(invoices as never)})`;
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
      from jsonb_populate_recordset(null::invoices, ${tx.json(invoices as never)}) n
     where i.id = n.id and i.tenant_id = n.tenant_id and i.environment_id = n.environment_id`;
}

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

export async function insertInvoiceLines(
  tx: Transaction,
  lines: readonly InvoiceLineRecord[],
): Promise<void> {
  if (lines.length === 0) return;
  await tx`
    insert into invoice_line_items (${tx(LINE_COLUMNS)})
    select ${tx(LINE_COLUMNS)}
      from jsonb_populate_recordset(null::invoice_line_items, ${tx.json(lines as never)})`;
}

function joined(db: Db, parts: readonly Fragment[]): Fragment {
  return parts.reduce((left, right) => db`${left}, ${right}`);
}

/** The invoice. 404 if it does not exist or belongs to another scope. */
export async function getInvoice(db: Db, scope: Scope, id: string): Promise<InvoiceRecord> {
  const [row] = await db<InvoiceRecord[]>`
    select * from invoices where ${inScope(db, scope)} and id = ${id} and status = 'published'`;
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
    select * from invoices
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
    select * from invoices
     where ${inScope(tx, scope)} and id = ${id} and status in ('published', 'archived')
       for update`;
  if (row === undefined) throw notFound('Invoice', id);
  return row;
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

/** Coupons used by invoices of the subscriptions, including voided invoices. */
export function couponUses(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<(EarlierApplication & { readonly subscription_id: string })[]> {
  return db<(EarlierApplication & { subscription_id: string })[]>`
    select ca.subscription_id, i.id as invoice_id, i.invoice_status,
           a ->> 'coupon_association_id' as coupon_association_id
      from invoices i cross join jsonb_array_elements(i.coupon_applications) a
      join coupon_associations ca on ca.id = a ->> 'coupon_association_id' and ${inScope(db, scope, 'ca')}
     where ${inScope(db, scope, 'i')} and i.status = 'published'
       and (i.subscription_id = any(${subscriptionIds as string[]}::text[])
            or (i.grouped_subscription_ids <> '{}'
                and i.grouped_subscription_ids && ${subscriptionIds as string[]}::text[]))
       and i.coupon_applications <> '[]'`;
}

/**
 * The next free `revision` of a period and reason: one operation may invoice a period several times with the
 * same reason. The caller holds the subscription's lock.
 */
export async function nextRevision(
  tx: Transaction,
  scope: Scope,
  slot: {
    readonly subscription_id: string;
    readonly period_start: string | null;
    readonly period_end: string | null;
    readonly billing_reason: string | null;
  },
): Promise<number> {
  const [row] = await tx<{ last: number }[]>`
    select coalesce(max(revision), 0) as last
      from invoices
     where ${inScope(tx, scope)}
       and subscription_id = ${slot.subscription_id}
       and period_start is not distinct from ${slot.period_start}
       and period_end is not distinct from ${slot.period_end}
       and billing_reason is not distinct from ${slot.billing_reason}`;
  return row!.last + 1;
}

/** Usage that living invoices of the subscriptions count against commitments of several periods. */
export function committedUsage(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<(CommittedUsage & { readonly invoice_id: string })[]> {
  return db<(CommittedUsage & { invoice_id: string })[]>`
    select i.id as invoice_id, u.*
      from invoices i
     cross join jsonb_to_recordset(i.committed_usage)
           as u (subscription_id text, commitment text, period_start text, base_usage text)
     where ${inScope(db, scope, 'i')} and i.status = 'published' and i.invoice_status <> 'VOIDED'
       and (i.subscription_id = any(${subscriptionIds as string[]}::text[])
            or (i.grouped_subscription_ids <> '{}'
                and i.grouped_subscription_ids && ${subscriptionIds as string[]}::text[]))
       and i.committed_usage <> '[]'`;
}

/** The living invoice of a period, or null. */
export async function findInvoiceOfPeriod(
  db: Db,
  scope: Scope,
  slot: {
    readonly subscription_id: string;
    readonly period_start: string;
    readonly period_end: string;
    readonly billing_reason: string;
  },
): Promise<InvoiceRecord | null> {
  const [row] = await db<InvoiceRecord[]>`
    select *
      from invoices
     where ${inScope(db, scope)}
       and subscription_id = ${slot.subscription_id}
       and period_start = ${slot.period_start}
       and period_end = ${slot.period_end}
       and billing_reason = ${slot.billing_reason}
       and revision = 0
       and invoice_status <> 'VOIDED'`;
  return row ?? null;
}

/** The newest voided invoice of a subscription and a reason that has no replacement; null if there is none. */
export async function findVoidedInvoice(
  db: Db,
  scope: Scope,
  wanted: {
    readonly subscription_id: string;
    readonly billing_reason: string;
    /** Null: every period. */
    readonly period_start: string | null;
    readonly period_end: string | null;
  },
): Promise<InvoiceRecord | null> {
  const { period_start, period_end } = wanted;
  const [row] = await db<InvoiceRecord[]>`
    select *
      from invoices
     where ${inScope(db, scope)}
       and subscription_id = ${wanted.subscription_id}
       and billing_reason = ${wanted.billing_reason}
       and invoice_status = 'VOIDED' and recalculated_invoice_id is null and revision = 0
       ${period_start === null ? db`` : db`and period_start = ${period_start}`}
       ${period_end === null ? db`` : db`and period_end = ${period_end}`}
     order by created_at desc, id desc
     limit 1`;
  return row ?? null;
}

/** The living invoices of the targets' periods, by subscription. */
export async function findInvoicesOfPeriods(
  db: Db,
  scope: Scope,
  targets: readonly {
    readonly subscription: { readonly id: string };
    readonly period: { readonly start: string; readonly end: string };
    readonly billing_reason: string;
  }[],
): Promise<ReadonlyMap<string, InvoiceRecord>> {
  if (targets.length === 0) return new Map();
  const rows = await db<InvoiceRecord[]>`
    select i.*
      from invoices i
      join unnest(${targets.map(({ subscription }) => subscription.id)}::text[],
                  ${targets.map(({ period }) => period.start)}::timestamptz[],
                  ${targets.map(({ period }) => period.end)}::timestamptz[],
                  ${targets.map(({ billing_reason }) => billing_reason)}::text[])
           as t (subscription_id, period_start, period_end, billing_reason)
        on t.subscription_id = i.subscription_id and t.period_start = i.period_start
       and t.period_end = i.period_end and t.billing_reason = i.billing_reason
     where ${inScope(db, scope, 'i')} and i.revision = 0 and i.invoice_status <> 'VOIDED'`;
  return new Map(rows.map((row) => [row.subscription_id!, row]));
}

/** Rows in the order of their invoices. */
export function linesOfInvoices(
  db: Db,
  scope: Scope,
  invoiceIds: readonly string[],
): Promise<InvoiceLineRecord[]> {
  return db<InvoiceLineRecord[]>`
    select *
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
    select *
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
       and subscription_id = any(${subscriptionIds as string[]}::text[])
       and subscription_line_item_id is not null
       and holds_slot
       and period_start >= ${from}`;
}

export function searchInvoices(
  db: Db,
  where: Fragment,
  search: Search,
): Promise<Page<InvoiceRecord>> {
  return findPage<InvoiceRecord>(db, { columns: db`*`, from: db`invoices`, where, search });
}

/** The newest living invoice of a subscription; null before the first. */
export async function findLatestInvoice(
  db: Db,
  scope: Scope,
  subscriptionId: string,
): Promise<InvoiceRecord | null> {
  const [row] = await db<InvoiceRecord[]>`
    select *
      from invoices
     where ${inScope(db, scope)}
       and subscription_id = ${subscriptionId}
       and invoice_status <> 'VOIDED'
     order by created_at desc, id desc
     limit 1`;
  return row ?? null;
}

/**
 * Stores why the invoice was not finalized. With `isFinal` it is left to a person: the finalizing job skips
 * it. Null if it is no longer due.
 */
export async function setFinalizeRefusal(
  tx: Transaction,
  scope: Scope,
  id: string,
  { text, isFinal }: { readonly text: string; readonly isFinal: boolean },
): Promise<InvoiceRecord | null> {
  const [row] = await tx<InvoiceRecord[]>`
    update invoices
       set finalize_refusal = ${text},
           finalize_after = case when ${isFinal} then null else finalize_after end,
           version = version + 1
     where ${inScope(tx, scope)} and id = ${id} and finalize_after is not null
    returning *`;
  return row ?? null;
}

/** Environments that have invoices whose grace is over by `at`. */
export async function scopesWithInvoicesToFinalize(db: Db, due: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select distinct tenant_id, environment_id
      from invoices
     where finalize_after <= ${due.at} and ${livesBy(db, due, db`invoices.customer_id`)}
     order by tenant_id, environment_id`;
}

/** When drafts of the clock's customers are to be finalized. */
export const finalizeTimes = (db: Db, testClockId: string): Fragment => db`
  select i.finalize_after as at
    from customers c join invoices i on i.customer_id = c.id
   where c.test_clock_id = ${testClockId} and i.finalize_after is not null
     and i.invoice_status in ('DRAFT', 'SKIPPED')`;

/** Stores the log's heads for invoices whose grace is over and that have none yet. */
export async function noteStreamHeads(
  db: Db,
  scope: Scope,
  due: Timeline,
  heads: StoredWatermarks,
): Promise<void> {
  await db`
    update invoices
       set stream_heads = ${db.json(heads)}
     where ${inScope(db, scope)} and finalize_after <= ${due.at} and stream_heads is null
       and ${livesBy(db, due, db`invoices.customer_id`)}`;
}

/** A position in the order of invoices to finalize: the next page begins after it. */
export interface FinalizeCursor {
  readonly finalize_after: string;
  readonly id: string;
}

/** The next page of drafts and of skipped invoices that late usage may give an amount, longest due first. */
export async function invoicesToFinalize(
  db: Db,
  scope: Scope,
  page: { readonly due: Timeline; readonly after: FinalizeCursor | null; readonly limit: number },
): Promise<InvoiceRecord[]> {
  const { due, after, limit } = page;
  return await db<InvoiceRecord[]>`
    select *
      from invoices
     where ${inScope(db, scope)}
       and finalize_after <= ${due.at}
       and invoice_status in ('DRAFT', 'SKIPPED')
       and ${livesBy(db, due, db`invoices.customer_id`)}
       ${after === null ? db`` : db`and (finalize_after, id) > (${after.finalize_after}, ${after.id})`}
     order by finalize_after, id
     limit ${limit}`;
}

/** Unpaid invoices on which an incomplete subscription depends, locked. */
export async function lockUnpaidOpenings(
  tx: Transaction,
  scope: Scope,
  subscriptionId: string,
): Promise<InvoiceRecord[]> {
  return await tx<InvoiceRecord[]>`
    select *
      from invoices
     where ${inScope(tx, scope)}
       and subscription_id = ${subscriptionId}
       and billing_reason in ('SUBSCRIPTION_CREATE', 'SUBSCRIPTION_TRIAL_END')
       and invoice_status = 'FINALIZED'
       and amount_paid = 0 and amount_remaining > 0
     order by id for update`;
}

/** Invoices of the scope with these ids, unordered. */
export async function findInvoices(
  db: Db,
  scope: Scope,
  ids: readonly string[],
): Promise<InvoiceRecord[]> {
  if (ids.length === 0) return [];
  return await db<InvoiceRecord[]>`
    select * from invoices
     where ${inScope(db, scope)} and id = any(${ids as string[]}::text[]) and status = 'published'`;
}

/** The payments of an invoice belong to its replacement from now on (money 9.15). */
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
}

/** Condition of a finalized invoice that is overdue at that time and was not reported for its due date. */
const overdue = (db: Db, due: Timeline) => db`
  ${livesBy(db, due, db`invoices.customer_id`)}
  and invoice_status = 'FINALIZED' and amount_remaining > 0 and due_date < ${due.at}
  and (overdue_notified_for is null or overdue_notified_for <> due_date) and status = 'published'`;

/** Environments that have overdue invoices to report. */
export async function scopesWithOverdueInvoices(db: Db, due: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select distinct tenant_id, environment_id from invoices where ${overdue(db, due)}
     order by tenant_id, environment_id`;
}

/** When invoices of the clock's customers become overdue: just after their due dates. */
export const overdueTimes = (db: Db, testClockId: string): Fragment => db`
  select i.due_date + interval '1 millisecond' as at
    from customers c join invoices i on i.customer_id = c.id
   where c.test_clock_id = ${testClockId} and i.invoice_status = 'FINALIZED' and i.amount_remaining > 0
     and i.due_date is not null and i.status = 'published'
     and (i.overdue_notified_for is null or i.overdue_notified_for <> i.due_date)`;

/** Marks a page of overdue invoices as reported for their due date, and returns them. */
export async function noteOverdueInvoices(
  tx: Transaction,
  scope: Scope,
  due: Timeline,
  limit: number,
): Promise<InvoiceRecord[]> {
  return await tx<InvoiceRecord[]>`
    update invoices set overdue_notified_for = due_date
     where id in (
             select id from invoices where ${inScope(tx, scope)} and ${overdue(tx, due)}
              order by due_date, id limit ${limit} for update skip locked)
    returning *`;
}
