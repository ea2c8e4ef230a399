import { notFound } from '../../domain/errors.ts';
import type { Db, Fragment, Scope, Transaction } from '../../postgres/client.ts';
import { inScope } from '../../postgres/client.ts';
import { findPage } from '../../postgres/search.ts';
import type { Page } from '../../schemas/search.ts';
import type { LineItemRow, SubscriptionRow } from '../../schemas/subscription.ts';

/** A subscription as a command makes it; what the table fills in by itself is left out. */
export type NewSubscription = Omit<SubscriptionRow, 'version'>;

export async function insertSubscription(
  tx: Transaction,
  subscription: NewSubscription,
): Promise<SubscriptionRow> {
  const [row] = await tx<SubscriptionRow[]>`
    insert into subscriptions ${tx({ ...subscription, metadata: tx.json(subscription.metadata) })}
    returning *`;
  return row!;
}

/** In the order given, which is the order they are listed and invoiced in. */
export async function insertLineItems(
  tx: Transaction,
  lineItems: readonly LineItemRow[],
): Promise<void> {
  if (lineItems.length === 0) return;
  const rows = lineItems.map((line) => ({ ...line, metadata: tx.json(line.metadata) }));
  await tx`insert into subscription_line_items ${tx(rows)}`;
}

/** The subscription. 404 for a missing and for another scope's. */
export async function findSubscription(db: Db, scope: Scope, id: string): Promise<SubscriptionRow> {
  const [row] = await findSubscriptions(db, scope, [id]);
  if (row === undefined) throw notFound('Subscription', id);
  return row;
}

/** Those of the subscriptions that exist in the scope, in no order. */
export async function findSubscriptions(
  db: Db,
  scope: Scope,
  ids: readonly string[],
): Promise<SubscriptionRow[]> {
  if (ids.length === 0) return [];
  return await db<SubscriptionRow[]>`
    select * from subscriptions
     where ${inScope(db, scope)} and id = any(${ids as string[]}) and status = 'published'`;
}

/** The same under its lock: what is decided from it stays true until the transaction ends. */
export async function lockSubscription(
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<SubscriptionRow> {
  const [row] = await tx<SubscriptionRow[]>`
    select * from subscriptions
     where ${inScope(tx, scope)} and id = ${id} and status = 'published'
       for update`;
  if (row === undefined) throw notFound('Subscription', id);
  return row;
}

/** Line items of several subscriptions, ended ones too, in the order they are invoiced. */
export function lineItemsOf(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<LineItemRow[]> {
  return db<LineItemRow[]>`
    select *
      from subscription_line_items
     where ${inScope(db, scope)}
       and subscription_id = any(${subscriptionIds as string[]}::text[])
       and status = 'published'
     order by created_at, id`;
}

/** Columns that a command moves; each change makes the version that other computations read an old one. */
export type SubscriptionChange = Partial<
  Pick<
    SubscriptionRow,
    | 'subscription_status' | 'billing_anchor' | 'current_period_start' | 'current_period_end'
    | 'end_date' | 'cancel_at' | 'cancel_at_period_end' | 'cancelled_at' | 'metadata'
    | 'last_billing_sequence' | 'due_at' | 'updated_at' | 'updated_by'
  >
>; // prettier-ignore

export async function changeSubscription(
  tx: Transaction,
  scope: Scope,
  id: string,
  change: SubscriptionChange,
): Promise<SubscriptionRow> {
  const { metadata, ...columns } = change;
  const values = metadata === undefined ? columns : { ...columns, metadata: tx.json(metadata) };
  const [row] = await tx<SubscriptionRow[]>`
    update subscriptions
       set ${tx(values)}, version = version + 1
     where ${inScope(tx, scope)} and id = ${id}
    returning *`;
  return row!;
}

/** Ends the line items that would go on beyond `at`. */
export async function endLineItems(
  tx: Transaction,
  scope: Scope,
  subscriptionId: string,
  at: string,
  by: { readonly updated_at: string; readonly updated_by: string },
): Promise<void> {
  await tx`
    update subscription_line_items
       set end_date = greatest(start_date, ${at}::timestamptz), ${tx(by)}
     where ${inScope(tx, scope)}
       and subscription_id = ${subscriptionId}
       and status = 'published'
       and (end_date is null or end_date > ${at})`;
}

export function searchSubscriptions(
  db: Db,
  where: Fragment,
  search: Parameters<typeof findPage>[1]['search'],
): Promise<Page<SubscriptionRow>> {
  return findPage<SubscriptionRow>(db, { columns: db`*`, from: db`subscriptions`, where, search });
}
