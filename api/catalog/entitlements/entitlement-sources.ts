import type { EntitlementSource } from '../../../domain/entitlement/effective-limits.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { groupBy } from '../../conventions/group-by.ts';
import { findEntitlementsOf } from './repository.ts';

/**
 * Whether a subscription grants entitlements at an instant. An inherited one does not: its parent grants
 * (money 6.9).
 */
export const isGranting = (subscription: SubscriptionRow, at: string): boolean =>
  (subscription.subscription_status === 'active' ||
    subscription.subscription_status === 'trialing') &&
  subscription.subscription_type !== 'inherited' &&
  subscription.start_date <= at &&
  (subscription.end_date === null || subscription.end_date > at);

/**
 * The entitlements of subscriptions, source by source: for each subscription its plan's entitlements, newest
 * first, then its own, which apply between their dates (money 6.5).
 */
export async function entitlementSources(
  db: Db,
  scope: Scope,
  subscriptions: readonly SubscriptionRow[],
): Promise<EntitlementSource[]> {
  const [ofPlans, own] = await Promise.all([
    findEntitlementsOf(db, scope, 'PLAN', [...new Set(subscriptions.map((row) => row.plan_id))]),
    findEntitlementsOf(
      db,
      scope,
      'SUBSCRIPTION',
      subscriptions.map(({ id }) => id),
    ),
  ]);
  const byPlan = groupBy(ofPlans, ({ entity_id }) => entity_id);
  const bySubscription = groupBy(own, ({ entity_id }) => entity_id);
  return subscriptions.flatMap(({ id, plan_id }) => [
    ...(byPlan.get(plan_id) ?? []).map((entitlement) => ({
      entitlement,
      subscription_id: id,
      quantity: '1',
      start_date: null,
      end_date: null,
    })),
    ...(bySubscription.get(id) ?? []).map((entitlement) => ({
      entitlement,
      subscription_id: id,
      quantity: '1',
      start_date: entitlement.start_date,
      end_date: entitlement.end_date,
    })),
  ]);
}
