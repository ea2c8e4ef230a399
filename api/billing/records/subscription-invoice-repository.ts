import { CHECKOUT_SOURCE } from '../../../domain/invoicing/gated-invoice.ts';
import type { EarlierApplication } from '../../../domain/invoicing/coupon-association.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { columnList } from '../../../postgres/parameters.ts';
import {
  INVOICE_COLUMNS,
  type CommittedUsage,
  type InvoiceRecord,
} from '../../../schemas/invoice.ts';

/** Coupons used by invoices of the subscriptions, including voided invoices. */
export async function couponUses(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<(EarlierApplication & { readonly subscription_id: string })[]> {
  if (subscriptionIds.length === 0) return [];
  return await db<(EarlierApplication & { subscription_id: string })[]>`
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

/** Usage that living invoices of the subscriptions count against commitments of several periods, as it is stored. */
export async function committedUsage(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<(CommittedUsage & { readonly invoice_id: string })[]> {
  const rows = await db<{ invoice_id: string; entry: CommittedUsage }[]>`
    select i.id as invoice_id, u.entry
      from invoices i
     cross join jsonb_array_elements(i.committed_usage) as u (entry)
     where ${inScope(db, scope, 'i')} and i.status = 'published' and i.invoice_status <> 'VOIDED'
       and (i.subscription_id = any(${subscriptionIds as string[]}::text[])
            or (i.grouped_subscription_ids <> '{}'
                and i.grouped_subscription_ids && ${subscriptionIds as string[]}::text[]))
       and i.committed_usage <> '[]'`;
  return rows.map(({ invoice_id, entry }) => ({ ...entry, invoice_id }));
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
    select ${columnList(db, INVOICE_COLUMNS)}
      from invoices i
     where ${inScope(db, scope)}
       and subscription_id = ${slot.subscription_id}
       and period_start = ${slot.period_start}
       and period_end = ${slot.period_end}
       and billing_reason = ${slot.billing_reason}
       and ${ofChanges(db, isChange(slot))}
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
    select ${columnList(db, INVOICE_COLUMNS)}
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
  targets: readonly PeriodTarget[],
): Promise<ReadonlyMap<string, InvoiceRecord>> {
  const rows: InvoiceRecord[] = [];
  for (const changes of [false, true]) {
    const some = targets.filter((target) => isChange(target) === changes);
    if (some.length > 0) rows.push(...(await invoicesOfPeriods(db, scope, some, changes)));
  }
  return new Map(rows.map((row) => [row.subscription_id!, row]));
}

interface PeriodTarget {
  readonly subscription: { readonly id: string };
  readonly period: { readonly start: string; readonly end: string };
  readonly billing_reason: string;
}

const isChange = ({ billing_reason }: { readonly billing_reason: string }): boolean =>
  billing_reason === 'SUBSCRIPTION_UPDATE';

/** Each kind has an index of its periods, which serves only a statement that names the kind. */
const ofChanges = (db: Db, changes: boolean) =>
  changes
    ? db`i.billing_reason = 'SUBSCRIPTION_UPDATE'`
    : db`i.billing_reason <> 'SUBSCRIPTION_UPDATE'`;

async function invoicesOfPeriods(
  db: Db,
  scope: Scope,
  targets: readonly PeriodTarget[],
  changes: boolean,
): Promise<InvoiceRecord[]> {
  return await db<InvoiceRecord[]>`
    select ${columnList(db, INVOICE_COLUMNS, 'i')}
      from invoices i
      join unnest(${targets.map(({ subscription }) => subscription.id)}::text[],
                  ${targets.map(({ period }) => period.start)}::timestamptz[],
                  ${targets.map(({ period }) => period.end)}::timestamptz[],
                  ${targets.map(({ billing_reason }) => billing_reason)}::text[])
           as t (subscription_id, period_start, period_end, billing_reason)
        on t.subscription_id = i.subscription_id and t.period_start = i.period_start
       and t.period_end = i.period_end and t.billing_reason = i.billing_reason
     where ${inScope(db, scope, 'i')} and ${ofChanges(db, changes)}
       and i.revision = 0 and i.invoice_status <> 'VOIDED'`;
}

/** The newest living invoice of a subscription; null before the first. */
export async function findLatestInvoice(
  db: Db,
  scope: Scope,
  subscriptionId: string,
): Promise<InvoiceRecord | null> {
  const [row] = await db<InvoiceRecord[]>`
    select ${columnList(db, INVOICE_COLUMNS)}
      from invoices
     where ${inScope(db, scope)}
       and subscription_id = ${subscriptionId}
       and invoice_status <> 'VOIDED'
     order by created_at desc, id desc
     limit 1`;
  return row ?? null;
}

/**
 * Living invoices of an incomplete subscription, locked, in id order: its first one, those of its changes, and drafts
 * that were asked for. Without the draft of a change that a checkout session decides.
 */
export async function lockLivingInvoices(
  tx: Transaction,
  scope: Scope,
  subscriptionId: string,
): Promise<InvoiceRecord[]> {
  return await tx<InvoiceRecord[]>`
    select ${columnList(tx, INVOICE_COLUMNS)}
      from invoices
     where ${inScope(tx, scope)}
       and subscription_id = ${subscriptionId}
       and billing_reason in ('SUBSCRIPTION_CREATE', 'SUBSCRIPTION_TRIAL_END', 'SUBSCRIPTION_UPDATE', 'SUBSCRIPTION_CYCLE')
       and status = 'published'
       and (invoice_status = 'FINALIZED'
            or (invoice_status = 'DRAFT' and source_type is distinct from ${CHECKOUT_SOURCE}))
     order by id for update`;
}

/** Archives the voided invoices of a subscription. */
export async function archiveVoidedInvoices(
  tx: Transaction,
  scope: Scope,
  subscriptionId: string,
  change: { readonly updated_at: string; readonly updated_by: string },
): Promise<void> {
  await tx`
    update invoices set ${tx({ status: 'archived', ...change })}
     where ${inScope(tx, scope)} and subscription_id = ${subscriptionId} and invoice_status = 'VOIDED'`;
}

/**
 * The drafts, and skipped invoices, of the cycles that begin at these times, unordered; those that a person has edited
 * are left out.
 */
export async function findCycleDrafts(
  db: Db,
  scope: Scope,
  cycles: readonly { readonly subscription_id: string; readonly period_start: string }[],
): Promise<InvoiceRecord[]> {
  return await db<InvoiceRecord[]>`
    select ${columnList(db, INVOICE_COLUMNS, 'i')}
      from invoices i
      join unnest(${cycles.map(({ subscription_id }) => subscription_id)}::text[],
                  ${cycles.map(({ period_start }) => period_start)}::timestamptz[])
           as t (subscription_id, period_start)
        on t.subscription_id = i.subscription_id and t.period_start = i.period_start
     where ${inScope(db, scope, 'i')} and i.billing_reason = 'SUBSCRIPTION_CYCLE'
       and i.status = 'published' and i.invoice_status in ('DRAFT', 'SKIPPED')
       and not i.is_manually_edited`;
}
