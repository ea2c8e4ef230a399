import { dueAt } from '../../../domain/subscription/due.ts';
import { STANDING_ALONE, type PooledCustomer } from '../../../domain/subscription/hierarchy.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { columnList } from '../../../postgres/parameters.ts';
import { SUBSCRIPTION_COLUMNS, type SubscriptionRow } from '../../../schemas/subscription.ts';

const isGrouped = (db: Db, scope: Scope, parentIds: readonly string[]) => db`
  ${inScope(db, scope)} and parent_subscription_id = any(${parentIds as string[]}::text[])
  and subscription_type = 'grouped_invoicing' and subscription_status <> 'cancelled'
  and status = 'published'`;

/** Grouped subscriptions of the parents that have not ended, in id order. */
export function groupedOf(
  db: Db,
  scope: Scope,
  parentIds: readonly string[],
): Promise<SubscriptionRow[]> | [] {
  if (parentIds.length === 0) return [];
  return db<SubscriptionRow[]>`
    select ${columnList(db, SUBSCRIPTION_COLUMNS)} from subscriptions
     where ${isGrouped(db, scope, parentIds)} order by id`;
}

/** The same, locked. */
export function lockGrouped(
  tx: Transaction,
  scope: Scope,
  parentIds: readonly string[],
): Promise<SubscriptionRow[]> | [] {
  if (parentIds.length === 0) return [];
  return tx<SubscriptionRow[]>`
    select ${columnList(tx, SUBSCRIPTION_COLUMNS)} from subscriptions
     where ${isGrouped(tx, scope, parentIds)} order by id for update`;
}

/** Inherited subscriptions of a parent that have not ended, with the external ids of their customers. */
export function inheritedOf(
  db: Db,
  scope: Scope,
  parentId: string,
): Promise<(SubscriptionRow & { external_id: string })[]> {
  return db<(SubscriptionRow & { external_id: string })[]>`
    select ${columnList(db, SUBSCRIPTION_COLUMNS, 's')}, c.external_id
      from subscriptions s join customers c on c.id = s.customer_id and ${inScope(db, scope, 'c')}
     where ${inScope(db, scope, 's')} and s.parent_subscription_id = ${parentId}
       and s.subscription_type = 'inherited' and s.subscription_status <> 'cancelled'
       and s.status = 'published'
     order by s.id`;
}

/** Customers who use the subscriptions of others, also formerly, by parent. */
export function pooledCustomers(
  db: Db,
  scope: Scope,
  parentIds: readonly string[],
): Promise<(PooledCustomer & { readonly parent_subscription_id: string })[]> {
  return db<(PooledCustomer & { parent_subscription_id: string })[]>`
    select s.parent_subscription_id, c.external_id, s.start_date, s.end_date
      from subscriptions s join customers c on c.id = s.customer_id and ${inScope(db, scope, 'c')}
     where ${inScope(db, scope, 's')}
       and s.parent_subscription_id = any(${parentIds as string[]}::text[])
       and s.subscription_type = 'inherited' and s.status = 'published'
     order by s.id`;
}

/** A running subscription of the customer to the plan; null without one. */
export async function findRunningOfPlan(
  db: Db,
  scope: Scope,
  customerId: string,
  planId: string,
  type: 'inherited' | null,
): Promise<SubscriptionRow | null> {
  const [row] = await db<SubscriptionRow[]>`
    select ${columnList(db, SUBSCRIPTION_COLUMNS)} from subscriptions
     where ${inScope(db, scope)} and customer_id = ${customerId} and plan_id = ${planId}
       and subscription_status <> 'cancelled' and status = 'published'
       ${type === null ? db`` : db`and subscription_type = ${type}`}
     limit 1`;
  return row ?? null;
}

/** The grouped subscription bills itself from now on: its running period too. */
export async function releaseGrouped(
  tx: Transaction,
  scope: Scope,
  child: SubscriptionRow,
): Promise<void> {
  const alone = { ...child, ...STANDING_ALONE };
  await tx`
    update subscriptions
       set ${tx({ ...STANDING_ALONE, due_at: child.due_at ?? dueAt(alone) })}, version = version + 1
     where ${inScope(tx, scope)} and id = ${child.id}`;
}

/** Fields of a parent that its inherited subscriptions follow (billing 16). */
const FOLLOWED = [
  'subscription_status', 'billing_anchor', 'earlier_anchors', 'current_period_start', 'current_period_end', 'trial_start', 'trial_end',
  'end_date', 'cancel_at', 'cancel_at_period_end', 'cancelled_at', 'pause_status', 'updated_at', 'updated_by',
] as const satisfies readonly (keyof SubscriptionRow)[]; // prettier-ignore

/**
 * Copies the followed fields of the parents to their inherited subscriptions that have not ended, locked in id order. A
 * draft also gets the start. Returns the children as stored, with the status that they had before, unordered.
 */
export async function copyToInherited(
  tx: Transaction,
  scope: Scope,
  parentIds: readonly string[],
): Promise<(SubscriptionRow & { readonly status_before: string })[]> {
  const columns = FOLLOWED.map((column) => tx`${tx(column)} = p.${tx(column)}`);
  return await tx<(SubscriptionRow & { status_before: string })[]>`
    with children as (
      select id, subscription_status from subscriptions
       where ${inScope(tx, scope)} and parent_subscription_id = any(${parentIds as string[]}::text[])
         and subscription_type = 'inherited' and subscription_status <> 'cancelled'
       order by id for update)
    update subscriptions c
       set ${columns.reduce((left, right) => tx`${left}, ${right}`)},
           start_date = case when c.subscription_status = 'draft' then p.start_date else c.start_date end,
           version = c.version + 1
      from subscriptions p, children
     where ${inScope(tx, scope, 'c')} and c.id = children.id and p.id = c.parent_subscription_id
       and ${inScope(tx, scope, 'p')}
    returning ${columnList(tx, SUBSCRIPTION_COLUMNS, 'c')}, children.subscription_status as status_before`;
}
