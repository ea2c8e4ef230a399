import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { pageBelow } from '../../../postgres/page-below.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { OutboxEvent } from '../../../postgres/tables/outbox.ts';
import type { SubscriptionPhase } from '../../../schemas/subscription-phase.ts';
import type { Page, PageQuery } from '../../../schemas/search.ts';

const phases = tableOf<SubscriptionPhase>({
  name: 'subscription_phases',
  noun: 'Phase',
  columns: (db) => db`
  id, tenant_id, environment_id, subscription_id, start_date, end_date, metadata, status,
  created_at, updated_at, created_by, updated_by`,
  json: ['metadata'],
  only: 'published',
});

/** Changes the given columns of a published phase. 404 if it is unknown or belongs to another scope. */
export const updatePhaseRow = phases.change;

/** Inserts the phases of a subscription. */
export async function insertPhases(
  tx: Transaction,
  rows: readonly SubscriptionPhase[],
): Promise<void> {
  await insertRows(tx, 'subscription_phases', rows);
}

/** Published phases of the subscriptions, in order of time. */
export const findPhasesOf = (
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<SubscriptionPhase[]> =>
  phases.findBy(db, scope, 'subscription_id', subscriptionIds, db`start_date, id`);

/** One page of the phases of a subscription, earliest first. */
export const pageOfPhases = (
  db: Db,
  scope: Scope,
  subscriptionId: string,
  query: PageQuery,
): Promise<Page<SubscriptionPhase>> =>
  pageBelow(
    db,
    {
      columns: phases.columns(db),
      table: 'subscription_phases',
      where: db`${inScope(db, scope)} and status = 'published'
        and subscription_id = ${subscriptionId}`,
      order: db`start_date, id`,
    },
    query,
  );

/** The notification of a phase. */
export const phaseEvent = (
  event_type:
    'subscription.phase.created' | 'subscription.phase.updated' | 'subscription.phase.deleted',
  scope: Scope,
  { id, subscription_id, start_date, end_date, metadata }: SubscriptionPhase,
): OutboxEvent & { readonly scope: Scope } => ({
  scope,
  event_type,
  payload: { phase: { id, subscription_id, start_date, end_date, metadata } },
});

export interface Move {
  /** The phase that ends at the boundary. */
  readonly left: SubscriptionPhase;
  /** The phase that begins at the boundary; null if none follows. */
  readonly right: SubscriptionPhase | null;
  /** Null means no boundary: before the change, or after it. */
  readonly from: string | null;
  readonly to: string | null;
}

/** Moves what ends and begins at a boundary: line items, their own prices, and coupons. */
export async function moveBoundary(
  tx: Transaction,
  scope: Scope,
  { left, right, from, to }: Move,
): Promise<void> {
  await tx`
    update subscription_line_items i
       set end_date = greatest(i.start_date, least(${to}::timestamptz, p.end_date))
      from prices p
     where ${inScope(tx, scope, 'i')} and p.id = i.price_id and i.status = 'published'
       and i.subscription_phase_id = ${left.id}
       and (i.end_date is not distinct from ${from}::timestamptz or i.end_date > ${to}::timestamptz)
       and (p.end_date is not null or ${to}::timestamptz is not null)`;
  if (to === null)
    await tx`
      update subscription_line_items i set end_date = null
        from prices p
       where ${inScope(tx, scope, 'i')} and p.id = i.price_id and p.end_date is null
         and i.status = 'published' and i.subscription_phase_id = ${left.id}
         and i.end_date is not distinct from ${from}::timestamptz`;
  await tx`
    update coupon_associations set end_date = ${to}
     where ${inScope(tx, scope)} and subscription_phase_id = ${left.id}
       and end_date is not distinct from ${from}::timestamptz`;
  if (right === null) return;
  await tx`
    update prices p set start_date = ${to}
      from subscription_line_items i
     where ${inScope(tx, scope, 'i')} and i.price_id = p.id
       and i.subscription_phase_id = ${right.id}
       and p.entity_type = 'SUBSCRIPTION' and p.start_date = ${from}::timestamptz`;
  await tx`
    update subscription_line_items i
       set start_date = greatest(${to}::timestamptz, p.start_date),
           end_date = case when i.end_date is null then null
                      else greatest(i.end_date, ${to}::timestamptz, p.start_date) end
      from prices p
     where ${inScope(tx, scope, 'i')} and p.id = i.price_id and i.status = 'published'
       and i.subscription_phase_id = ${right.id}
       and (i.start_date = ${from}::timestamptz or i.start_date < ${to}::timestamptz)`;
  await tx`
    update coupon_associations set start_date = ${to}
     where ${inScope(tx, scope)} and subscription_phase_id = ${right.id}
       and start_date = ${from}::timestamptz`;
}

/** Deletes the line items and the coupons of a phase. */
export async function deletePartsOfPhase(
  tx: Transaction,
  scope: Scope,
  phaseId: string,
  change: { readonly updated_at: string; readonly updated_by: string },
): Promise<void> {
  const deleted = { status: 'deleted', ...change };
  await tx`
    update subscription_line_items set ${tx(deleted)}
     where ${inScope(tx, scope)} and subscription_phase_id = ${phaseId}`;
  await tx`
    update coupon_associations set ${tx(deleted)}
     where ${inScope(tx, scope)} and subscription_phase_id = ${phaseId}`;
}
