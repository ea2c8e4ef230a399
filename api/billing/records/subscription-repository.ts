import type { z } from 'zod';
import { notFound } from '../../../domain/errors.ts';
import { type Db, inScope, oneOf, type Scope, type Transaction } from '../../../postgres/client.ts';
import { columnList, jsonOf } from '../../../postgres/parameters.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Page } from '../../../schemas/search.ts';
import {
  LINE_ITEM_COLUMNS,
  SUBSCRIPTION_COLUMNS,
  type LineItemRow,
  type SubscriptionRow,
  type SubscriptionSearch,
} from '../../../schemas/subscription.ts';
import { followParents } from './children.ts';

/** A new subscription without the columns that the table fills in. */
export type NewSubscription = Omit<SubscriptionRow, 'version'>;

/** Inserts the subscription and returns it as stored. */
export async function insertSubscription(
  tx: Transaction,
  subscription: NewSubscription,
): Promise<SubscriptionRow> {
  const [row] = await tx<SubscriptionRow[]>`
    insert into subscriptions ${tx({
      ...subscription,
      metadata: tx.json(subscription.metadata),
      earlier_plans: jsonOf(tx, subscription.earlier_plans),
      earlier_anchors: jsonOf(tx, subscription.earlier_anchors),
    })}
    returning ${columnList(tx, SUBSCRIPTION_COLUMNS)}`;
  return row!;
}

/** Inserts in the given order, which is the order of lists and invoices. */
export async function insertLineItems(
  tx: Transaction,
  lineItems: readonly LineItemRow[],
): Promise<void> {
  // What happened to a line that is replaced did not happen to its successor.
  const rows = lineItems.map((row) => ({ ...row, end_set_at: null, unsettled_in: null }));
  await insertRows(tx, 'subscription_line_items', rows);
}

/** The subscription. 404 if it does not exist or belongs to another scope. */
export async function getSubscription(db: Db, scope: Scope, id: string): Promise<SubscriptionRow> {
  const [row] = await findSubscriptions(db, scope, [id]);
  if (row === undefined) throw notFound('Subscription', id);
  return row;
}

/** The same, also if an ended checkout session has archived it: a caller who knows its id sees its outcome. */
export async function getStoredSubscription(
  db: Db,
  scope: Scope,
  id: string,
): Promise<SubscriptionRow> {
  const [row] = await db<SubscriptionRow[]>`
    select ${columnList(db, SUBSCRIPTION_COLUMNS)} from subscriptions
     where ${inScope(db, scope)} and id = ${id} and status in ('published', 'archived')`;
  if (row === undefined) throw notFound('Subscription', id);
  return row;
}

/** Subscriptions of the scope with these ids, unordered. */
export async function findSubscriptions(
  db: Db,
  scope: Scope,
  ids: readonly string[],
): Promise<SubscriptionRow[]> {
  if (ids.length === 0) return [];
  return await db<SubscriptionRow[]>`
    select ${columnList(db, SUBSCRIPTION_COLUMNS)} from subscriptions
     where ${inScope(db, scope)} and id ${oneOf(db, ids)} and status = 'published'`;
}

/** The same, locked: what the caller decides from it stays true until the transaction ends. */
export async function lockSubscription(
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<SubscriptionRow> {
  const [row] = await tx<SubscriptionRow[]>`
    select ${columnList(tx, SUBSCRIPTION_COLUMNS)} from subscriptions
     where ${inScope(tx, scope)} and id = ${id} and status = 'published'
       for update`;
  if (row === undefined) throw notFound('Subscription', id);
  return row;
}

/** The subscription of an invoice, archived or not, locked; null if the invoice has none. */
export async function lockSubscriptionOfInvoice(
  tx: Transaction,
  scope: Scope,
  invoiceId: string,
): Promise<SubscriptionRow | null> {
  const [row] = await tx<SubscriptionRow[]>`
    select ${columnList(tx, SUBSCRIPTION_COLUMNS, 's')}
      from subscriptions s join invoices i on i.subscription_id = s.id
     where ${inScope(tx, scope, 'i')} and ${inScope(tx, scope, 's')} and i.id = ${invoiceId}
       for update of s`;
  return row ?? null;
}

/** Line items of several subscriptions, including ended ones, in invoice order. */
export function lineItemsOf(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<LineItemRow[]> {
  return db<LineItemRow[]>`
    select ${columnList(db, LINE_ITEM_COLUMNS)}
      from subscription_line_items
     where ${inScope(db, scope)}
       and subscription_id = any(${subscriptionIds as string[]}::text[])
       and status = 'published'
     order by created_at, id`;
}

/**
 * Columns that a command changes; each change increments the version, which invalidates concurrent
 * computations.
 */
export type SubscriptionChange = Partial<
  Pick<
    SubscriptionRow,
    | 'subscription_status' | 'billing_anchor' | 'current_period_start' | 'current_period_end'
    | 'start_date' | 'trial_start' | 'trial_end' | 'pause_status' | 'active_pause_id' | 'pause_at' | 'resume_at' | 'end_date' | 'cancel_at' | 'cancel_at_period_end' | 'cancelled_at' | 'metadata'
    | 'cancel_proration_behavior' | 'last_billing_sequence' | 'due_at' | 'updated_at' | 'updated_by'
    | 'subscription_type' | 'parent_subscription_id' | 'merges_from' | 'plan_id' | 'synced_price_sequence'
    | 'include_price_ids' | 'earlier_plans'
  >
>; // prettier-ignore

/**
 * Changes the given columns; its children follow. A refused billing is tried again. Returns the
 * subscription as stored.
 */
export async function changeSubscription(
  tx: Transaction,
  scope: Scope,
  id: string,
  change: SubscriptionChange,
): Promise<SubscriptionRow> {
  const { metadata, earlier_plans, ...columns } = change;
  const values = {
    ...columns,
    ...(metadata === undefined ? {} : { metadata: tx.json(metadata) }),
    ...(earlier_plans === undefined ? {} : { earlier_plans: jsonOf(tx, earlier_plans) }),
  };
  const [row] = await tx<SubscriptionRow[]>`
    update subscriptions
       set ${tx(values)}, billing_retry_at = null, version = version + 1
     where ${inScope(tx, scope)} and id = ${id}
    returning ${columnList(tx, SUBSCRIPTION_COLUMNS)}`;
  await followParents(tx, scope, [row!]);
  return row!;
}

const CLOCKED_COLUMNS = [
  'subscription_status', 'billing_anchor', 'earlier_anchors', 'current_period_start', 'current_period_end', 'end_date',
  'cancel_at', 'cancel_at_period_end', 'cancelled_at', 'last_billing_sequence', 'due_at',
  'billing_refusal', 'billing_retry_at', 'merges_from', 'pause_status', 'active_pause_id', 'pause_at', 'resume_at',
  'updated_at', 'updated_by',
] as const satisfies readonly (keyof SubscriptionRow)[]; // prettier-ignore

/** Writes the billing run's changes of many subscriptions in one statement. The caller holds their locks. */
export async function replaceSubscriptions(
  tx: Transaction,
  scope: Scope,
  subscriptions: readonly SubscriptionRow[],
): Promise<void> {
  if (subscriptions.length === 0) return;
  const assignments = CLOCKED_COLUMNS.map((column) => tx`${tx(column)} = n.${tx(column)}`);
  await tx`
    update subscriptions s
       set ${assignments.reduce((left, right) => tx`${left}, ${right}`)}, version = s.version + 1
      from jsonb_populate_recordset(null::subscriptions, ${jsonOf(tx, subscriptions)}) n
     where ${inScope(tx, scope, 's')} and s.id = n.id`;
  await followParents(tx, scope, subscriptions);
}

/**
 * Locks subscriptions in id order and returns those unchanged since they were read. Rows locked by another
 * transaction are left out: that transaction is changing them.
 */
export async function lockSubscriptionsUnchanged(
  tx: Transaction,
  scope: Scope,
  read: readonly Pick<SubscriptionRow, 'id' | 'version'>[],
): Promise<ReadonlySet<string>> {
  const rows = await tx<{ id: string; version: number }[]>`
    select id, version from subscriptions
     where ${inScope(tx, scope)} and id = any(${read.map(({ id }) => id)}::text[])
     order by id for update skip locked`;
  const versions = new Map(rows.map(({ id, version }) => [id, version]));
  return new Set(read.filter((row) => versions.get(row.id) === row.version).map(({ id }) => id));
}

/** Ends the line items of ended subscriptions: no line continues after its subscription's end. */
export async function endLineItemsOf(
  tx: Transaction,
  scope: Scope,
  ended: readonly SubscriptionRow[],
): Promise<void> {
  if (ended.length === 0) return;
  await tx`
    update subscription_line_items i
       set end_date = greatest(i.start_date, s.end_date),
           end_set_at = s.updated_at,
           updated_at = s.updated_at,
           updated_by = s.updated_by
      from subscriptions s
     where ${inScope(tx, scope, 'i')}
       and s.id = i.subscription_id
       and s.id = any(${ended.map(({ id }) => id)}::text[])
       and i.status = 'published'
       and (i.end_date is null or i.end_date > s.end_date)`;
}

export type SubscriptionFilter = z.output<typeof SubscriptionSearch.body>;

/** A page of active subscriptions, newest first; with a requested status those instead. Leaves out archived ones. */
export function searchSubscriptions(
  db: Db,
  scope: Scope,
  filter: SubscriptionFilter,
): Promise<Page<SubscriptionRow>> {
  const { search } = filter;
  const statuses = filter.subscription_status?.length ? filter.subscription_status : ['active'];
  const where = db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
    and subscription_status = any(${statuses as string[]})
    ${filter.subscription_ids?.length ? db`and id = any(${filter.subscription_ids})` : db``}
    ${filter.customer_id ? db`and customer_id = ${filter.customer_id}` : db``}
    ${filter.customer_ids?.length ? db`and customer_id = any(${filter.customer_ids})` : db``}
    ${
      filter.external_customer_id
        ? db`and customer_id in (select id from customers c where ${inScope(db, scope, 'c')}
              and c.external_id = ${filter.external_customer_id})`
        : db``
    }
    ${filter.invoicing_customer_ids?.length ? db`and invoicing_customer_id = any(${filter.invoicing_customer_ids})` : db``}
    ${filter.parent_subscription_ids?.length ? db`and parent_subscription_id = any(${filter.parent_subscription_ids})` : db``}
    ${filter.plan_id ? db`and plan_id = ${filter.plan_id}` : db``}
    ${
      filter.addon_id
        ? db`and exists (select 1 from addon_associations a where ${inScope(db, scope, 'a')} and a.status = 'published'
              and a.addon_id = ${filter.addon_id} and a.subscription_id = subscriptions.id
              and (a.end_date is null or (a.end_date > a.start_date and a.end_date > current_period_start)))`
        : db``
    }
    ${filter.lookup_key ? db`and lookup_key = ${filter.lookup_key}` : db``}
    ${filter.subscription_type?.length ? db`and subscription_type = any(${filter.subscription_type as string[]})` : db``}
    ${filter.billing_period?.length ? db`and billing_period = any(${filter.billing_period as string[]})` : db``}
    ${
      filter.active_at
        ? db`and start_date <= ${filter.active_at} and (end_date is null or end_date > ${filter.active_at})`
        : db``
    }
    ${filter.trial_end_due_lte ? db`and trial_end <= ${filter.trial_end_due_lte}` : db``}
    ${filter.effective_date_for_update ? db`and current_period_end <= ${filter.effective_date_for_update}` : db``}`;
  return findPage<SubscriptionRow>(db, {
    columns: columnList(db, SUBSCRIPTION_COLUMNS),
    from: db`subscriptions`,
    where,
    search,
  });
}
