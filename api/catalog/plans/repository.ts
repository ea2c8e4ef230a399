import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import type { Plan } from '../../../schemas/plan.ts';
import { offerParts, type OfferEmbeds } from '../offer-parts/offer-parts.ts';
import type { PlanRow } from '../offers/plan-repository.ts';

export interface PlanEmbeds extends OfferEmbeds {
  readonly price_sync_status?: boolean;
}

/** Plans as answered, in the same order, with the requested parts, newest first. */
export async function planAnswers(
  db: Db,
  scope: Scope,
  rows: readonly PlanRow[],
  embed: PlanEmbeds,
): Promise<Plan[]> {
  const ids = rows.map((row) => row.id);
  const [partsOf, unsynced] = await Promise.all([
    offerParts(db, scope, 'PLAN', ids, embed),
    unsyncedSubscriptions(db, scope, embed.price_sync_status === true ? ids : []),
  ]);
  return rows.map((row) => ({
    ...row,
    ...partsOf(row.id),
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
