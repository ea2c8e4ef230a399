import type { z } from 'zod';
import { notFound } from '../../../domain/errors.ts';
import {
  type Db,
  type Fragment,
  inScope,
  oneOf,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { columnList, jsonOf } from '../../../postgres/parameters.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { findPage } from '../../../postgres/search.ts';
import {
  livesBy,
  ownedBy,
  type ClockRef,
  type Timeline,
} from '../../../postgres/tables/test-clocks.ts';
import type { Page } from '../../../schemas/search.ts';
import type { BillingRefusal } from '../../../schemas/billing-refusal.ts';
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
  await insertRows(tx, 'subscription_line_items', lineItems);
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

/**
 * Stores why a due subscription was not billed and when it is retried. Changes nothing that billing reads.
 */
export async function setBillingRefusal(
  tx: Transaction,
  scope: Scope,
  id: string,
  refused: { readonly billing_refusal: BillingRefusal; readonly billing_retry_at: string },
): Promise<void> {
  await tx`
    update subscriptions
       set billing_refusal = ${jsonOf(tx, refused.billing_refusal)},
           billing_retry_at = ${refused.billing_retry_at}
     where ${inScope(tx, scope)} and id = ${id}`;
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

/** Environments with something due by `at`, in id order: a billing run processes them in turn. */
export async function scopesWithDueSubscriptions(db: Db, due: Timeline): Promise<Scope[]> {
  const { at } = due;
  return await db<Scope[]>`
    select distinct tenant_id, environment_id
      from subscriptions
     where due_at <= ${at} and (billing_retry_at is null or billing_retry_at <= ${at})
       and status = 'published' and ${livesBy(db, due, db`subscriptions.customer_id`)}
     order by tenant_id, environment_id`;
}

/** A position in the order of due subscriptions: the next page begins after it. */
export interface DueCursor {
  readonly due_at: string;
  readonly id: string;
}

/** The next page of due subscriptions, longest due first. */
export async function dueSubscriptions(
  db: Db,
  scope: Scope,
  page: { readonly due: Timeline; readonly after: DueCursor | null; readonly limit: number },
): Promise<SubscriptionRow[]> {
  const { due, after, limit } = page;
  const { at } = due;
  return await db<SubscriptionRow[]>`
    select ${columnList(db, SUBSCRIPTION_COLUMNS)}
      from subscriptions
     where ${inScope(db, scope)}
       and due_at <= ${at}
       and (billing_retry_at is null or billing_retry_at <= ${at})
       and status = 'published' and ${livesBy(db, due, db`subscriptions.customer_id`)}
       ${after === null ? db`` : db`and (due_at, id) > (${after.due_at}, ${after.id})`}
     order by due_at, id
     limit ${limit}`;
}

/** Notice before the end of a period. */
const RENEWAL_NOTICE = '24 hours';

/**
 * Condition of a subscription that renews at the end of its running period and was not reported for that period.
 * One that ends or pauses there does not renew.
 */
const renews = (db: Db): Fragment => db`
  s.subscription_status = 'active' and s.status = 'published'
  and (s.renewal_notified_for is null or s.renewal_notified_for <> s.current_period_end)
  and (s.cancel_at is null or s.cancel_at > s.current_period_end)
  and (s.end_date is null or s.end_date > s.current_period_end)
  and (s.pause_at is null or s.pause_at > s.current_period_end)`;

const renewsSoon = (db: Db, due: Timeline): Fragment => db`
  ${renews(db)} and ${livesBy(db, due, db`s.customer_id`)}
  and s.current_period_end > ${due.at}
  and s.current_period_end <= ${due.at}::timestamptz + ${RENEWAL_NOTICE}::interval
  and s.current_period_start <= ${due.at}`;

/** Environments that have renewals to report. */
export async function scopesWithRenewals(db: Db, due: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select distinct s.tenant_id, s.environment_id from subscriptions s where ${renewsSoon(db, due)}
     order by 1, 2`;
}

/** Marks a page of renewals as reported for their period, and returns the subscriptions. */
export async function noteRenewals(
  tx: Transaction,
  scope: Scope,
  due: Timeline,
  limit: number,
): Promise<SubscriptionRow[]> {
  return await tx<SubscriptionRow[]>`
    update subscriptions set renewal_notified_for = current_period_end
     where id in (
             select s.id from subscriptions s
              where ${inScope(tx, scope, 's')} and ${renewsSoon(tx, due)}
              order by s.current_period_end, s.id limit ${limit} for update skip locked)
    returning ${columnList(tx, SUBSCRIPTION_COLUMNS)}`;
}

/**
 * Instants at which renewals of the clock's customers are announced: a day before, or at the start of a short
 * period.
 */
export const renewalTimes = (db: Db, clock: ClockRef): Fragment => db`
  select greatest(s.current_period_end - ${RENEWAL_NOTICE}::interval, s.current_period_start) as at
    from customers c join subscriptions s on s.customer_id = c.id
   where ${ownedBy(db, clock, 's')} and ${renews(db)}`;

/** When subscriptions of the clock's customers are due. */
export const subscriptionDueTimes = (db: Db, clock: ClockRef): Fragment => db`
  select greatest(s.due_at, s.billing_retry_at) as at
    from customers c join subscriptions s on s.customer_id = c.id
   where ${ownedBy(db, clock, 's')} and s.due_at is not null and s.status = 'published'`;
