import { BillingError } from '../../../domain/errors.ts';
import { refuseUsageRatedTwice } from '../../../domain/pricing/filter-values.ts';
import { planPriceSync, type SyncedLine } from '../../../domain/subscription/price-sync.ts';
import { isoTime } from '../../../platform/clock.ts';
import { inScope, type Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { findCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { withPrices, type BilledLine } from '../computing/billing-sources.ts';
import { selectorOf } from '../computing/line-questions.ts';
import { findPlanRow, type PlanRow } from '../../catalog/offers/plan-rows.ts';
import { findPricesOfEntities } from '../../catalog/prices/repository.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import { inheritedCommitment } from './line-commitments.ts';
import { lineItem, withMeterNames } from './line-items.ts';
import { subscriptionSnapshot } from '../records/subscription-notification.ts';
import {
  insertLineItems,
  lineItemsOf,
  lockSubscription,
} from '../records/subscription-repository.ts';

export interface PriceSyncReport {
  readonly synced: number;
  readonly changed: number;
  /** Left as they are, because the plan's prices can not stand together on them. */
  readonly refused: readonly string[];
}

const LIVE = ['active', 'trialing', 'draft', 'incomplete', 'paused'];

/**
 * Brings the plan's prices as they are now to its running subscriptions, one transaction each
 * (billing-semantics 2.8). Interrupted anywhere it can be run again, and run again it changes nothing.
 */
export async function syncPlanPrices(
  deps: BillingDeps,
  caller: Caller,
  planId: string,
): Promise<PriceSyncReport> {
  const plan = await findPlanRow(deps.pool, caller.scope, planId);
  const rows = await deps.pool<{ id: string }[]>`
    select id from subscriptions
     where ${inScope(deps.pool, caller.scope)} and plan_id = ${planId} and status = 'published'
       and subscription_status = any(${LIVE}) and subscription_type <> 'inherited'
     order by id`;
  const refused: string[] = [];
  let moved = 0;
  for (const { id } of rows) {
    try {
      if (await deps.pool.begin((tx) => syncSubscription(tx, deps, caller, plan, id))) moved += 1;
    } catch (error) {
      if (!(error instanceof BillingError) || error.kind !== 'invalid') throw error;
      deps.log.warn({ subscription_id: id, err: error }, 'prices not synced');
      refused.push(id);
    }
  }
  return { synced: rows.length - refused.length, changed: moved, refused };
}

/** Whether anything changed. */
async function syncSubscription(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  plan: PlanRow,
  id: string,
): Promise<boolean> {
  const { scope } = caller;
  const at = isoTime(deps.clock.now());
  const subscription = await lockSubscription(tx, scope, id);
  if (subscription.plan_id !== plan.id || !LIVE.includes(subscription.subscription_status))
    return false;
  const prices = await findPricesOfEntities(tx, scope, 'PLAN', [plan.id], null);
  const lines = await withPrices(tx, scope, await lineItemsOf(tx, scope, [id]));
  const sync = planPriceSync(
    prices.toReversed(),
    lines.map(syncedLine),
    {
      ...subscription,
      cadence: subscription,
      open_from: await openFrom(tx, caller, subscription),
      advance_until:
        subscription.start_date > at ? subscription.start_date : subscription.current_period_end,
    },
    at,
  );
  const owner = {
    subscription_id: id,
    customer_id: subscription.customer_id,
    plan,
    selection: {
      currency: subscription.currency,
      cadence: subscription,
      start: subscription.start_date,
      end: subscription.end_date,
      include_price_ids: subscription.include_price_ids,
    },
    paid_from: subscription.trial_end ?? subscription.start_date,
  };
  const created = sync.creates.map(({ price_id, start_date, end_date }) => {
    const price = prices.find((known) => known.id === price_id)!;
    return lineItem(deps, caller, owner, price, {
      entity: { type: 'plan', id: plan.id },
      quantity: null,
      path: 'quantity',
      start_date,
      end_date,
      commitment: inheritedCommitment(lines, price),
    });
  });
  refuseOverlaps(lines, sync.ends, created);
  for (const { line_item_id, end_date } of sync.ends)
    await tx`
      update subscription_line_items
         set ${tx(changed(deps, caller))}, end_date = greatest(start_date, ${end_date})
       where ${inScope(tx, scope)} and id = ${line_item_id}`;
  const rows = await withMeterNames(tx, caller, created);
  await insertLineItems(
    tx,
    rows.map(({ price: _, terms: __, ...row }) => row),
  );
  return await noteSynced(tx, deps, caller, subscription, {
    sequence: Math.max(0, ...prices.map(({ sequence }) => sequence)),
    isChanged: sync.ends.length > 0 || created.length > 0,
  });
}

const syncedLine = (line: BilledLine): SyncedLine => ({
  id: line.id,
  price_id: line.price_id,
  parent_price_id: line.price.parent_price_id,
  entity_type: line.entity_type,
  end_date: line.end_date,
});

/** Start of the oldest period that is not finalized: nothing before it is changed. */
async function openFrom(
  tx: Transaction,
  { scope }: Caller,
  { id, current_period_start }: SubscriptionRow,
): Promise<string> {
  const [row] = await tx<{ start: string | null }[]>`
    select min(period_start) as start from invoices
     where ${inScope(tx, scope)} and subscription_id = ${id} and status = 'published'
       and (invoice_status = 'DRAFT' or finalize_after is not null)`;
  const start = row?.start ?? current_period_start;
  return start < current_period_start ? start : current_period_start;
}

/** No two lines may rate the same usage at the same time (billing-semantics 3.2). */
function refuseOverlaps(
  lines: readonly BilledLine[],
  ends: readonly { readonly line_item_id: string; readonly end_date: string }[],
  created: readonly BilledLine[],
): void {
  const endOf = (line: BilledLine) =>
    ends.find(({ line_item_id }) => line_item_id === line.id)?.end_date ?? line.end_date;
  for (const line of created.filter(({ meter_id }) => meter_id !== null)) {
    const beside = [...lines, ...created].filter((other) => {
      const [end, otherEnd] = [line.end_date, endOf(other)];
      return (
        other.meter_id === line.meter_id &&
        (otherEnd === null || otherEnd > line.start_date) &&
        (end === null || other.start_date < end)
      );
    });
    refuseUsageRatedTwice(beside.map(selectorOf));
  }
}

async function noteSynced(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { id, customer_id }: SubscriptionRow,
  { sequence, isChanged }: { readonly sequence: number; readonly isChanged: boolean },
): Promise<boolean> {
  const { scope } = caller;
  if (!isChanged) {
    await tx`
      update subscriptions set synced_price_sequence = ${sequence}
       where ${inScope(tx, scope)} and id = ${id} and synced_price_sequence <> ${sequence}`;
    return false;
  }
  const [row] = await tx<SubscriptionRow[]>`
    update subscriptions
       set ${tx(changed(deps, caller))}, synced_price_sequence = ${sequence}, version = version + 1
     where ${inScope(tx, scope)} and id = ${id}
    returning *`;
  const customer = await findCustomer(tx, scope, customer_id);
  await writeOutbox(tx, scope, 'subscription.updated', {
    subscription: subscriptionSnapshot(row!, customer),
  });
  return true;
}
