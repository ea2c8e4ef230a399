import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import type { Plan } from '../../../schemas/plan.ts';
import { findCreditGrantsOf } from '../credit-grants/repository.ts';
import { entitlementAnswers, findEntitlementsOf } from '../entitlements/repository.ts';
import { findPricesOfEntities, priceAnswers } from '../prices/repository.ts';
import type { PlanRow } from '../offers/plan-rows.ts';

export interface PlanEmbeds {
  /** `all` includes ended versions; an instant leaves out versions that ended by then. */
  readonly prices?: 'all' | { readonly notEndedAt: string };
  readonly meters?: boolean;
  readonly entitlements?: boolean;
  readonly features?: boolean;
  /** The plan itself, inside its entitlements. */
  readonly plans?: boolean;
  readonly credit_grants?: boolean;
  readonly price_sync_status?: boolean;
}

/** Plans as answered, in the same order, with the requested children, newest first. */
export async function planAnswers(
  db: Db,
  scope: Scope,
  rows: readonly PlanRow[],
  embed: PlanEmbeds,
): Promise<Plan[]> {
  const ids = rows.map((row) => row.id);
  const notEndedAt = typeof embed.prices === 'object' ? embed.prices.notEndedAt : null;
  const [priceRows, entitlementRows, grants, unsynced] = await Promise.all([
    findPricesOfEntities(db, scope, 'PLAN', embed.prices === undefined ? [] : ids, notEndedAt),
    findEntitlementsOf(db, scope, 'PLAN', embed.entitlements === true ? ids : []),
    findCreditGrantsOf(db, scope, 'plan_id', embed.credit_grants === true ? ids : []),
    unsyncedSubscriptions(db, scope, embed.price_sync_status === true ? ids : []),
  ]);
  const [prices, entitlements] = await Promise.all([
    priceAnswers(db, scope, priceRows, { meter: embed.meters === true }),
    entitlementAnswers(db, scope, entitlementRows, {
      feature: embed.features === true,
      meter: embed.meters === true,
      plan: embed.plans === true,
    }),
  ]);
  return rows.map((row) => ({
    ...row,
    prices:
      embed.prices === undefined ? null : prices.filter((price) => price.entity_id === row.id),
    entitlements:
      embed.entitlements === true
        ? entitlements.filter((entitlement) => entitlement.entity_id === row.id)
        : null,
    credit_grants:
      embed.credit_grants === true ? grants.filter((grant) => grant.plan_id === row.id) : null,
    price_sync_status:
      embed.price_sync_status === true
        ? { unsynced_subscription_count: unsynced.get(row.id) ?? 0 }
        : null,
  }));
}

/**
 * Per plan, the number of subscriptions that do not have its newest price change yet (billing 2.8).
 */
async function unsyncedSubscriptions(
  db: Db,
  scope: Scope,
  planIds: readonly string[],
): Promise<Map<string, number>> {
  if (planIds.length === 0) return new Map();
  const rows = await db<{ plan_id: string; count: number }[]>`
    select s.plan_id, count(*)::int as count
      from subscriptions s
     where ${inScope(db, scope, 's')}
       and s.plan_id = any(${planIds as string[]})
       and s.status = 'published'
       and s.subscription_status in ('active', 'trialing', 'draft', 'incomplete', 'paused')
       and s.subscription_type <> 'inherited'
       and s.synced_price_sequence < (
         select coalesce(max(p.sequence), 0) from prices p
          where ${inScope(db, scope, 'p')} and p.entity_type = 'PLAN' and p.entity_id = s.plan_id)
     group by s.plan_id`;
  return new Map(rows.map((row) => [row.plan_id, row.count]));
}

/** Whether the plan has a subscription that is not cancelled. */
export async function hasLiveSubscription(db: Db, scope: Scope, planId: string): Promise<boolean> {
  const [row] = await db`
    select 1 from subscriptions
     where ${inScope(db, scope)}
       and plan_id = ${planId} and status = 'published' and subscription_status <> 'cancelled'
     limit 1`;
  return row !== undefined;
}
