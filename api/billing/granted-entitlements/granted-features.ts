import {
  effectiveEntitlements,
  quotaOf,
  sourcesAt,
  type EffectiveEntitlement,
  type EntitlementSource,
} from '../../../domain/entitlement/effective-limits.ts';
import { decimalText } from '../../../domain/money.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type {
  CustomerEntitlements,
  SubscriptionEntitlements,
} from '../../../schemas/granted-entitlement.ts';
import type { GrantedFeature, GrantedSource } from '../../../schemas/granted-feature.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import { findFeatures, withEmbedded } from '../../catalog/features/repository.ts';
import { findPlanRows } from '../../catalog/offers/plan-repository.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { subscriptionAnswers } from '../records/subscription-answers.ts';
import { getSubscription } from '../records/subscription-repository.ts';
import { runningSubscriptions } from '../../usage/quantities/repository.ts';
import { entitlementSources, isGranting } from '../../catalog/entitlements/entitlement-sources.ts';

type Deps = Pick<BillingDeps, 'pool' | 'clock'>;

interface Filter {
  readonly feature_ids?: readonly string[];
  readonly subscription_ids?: readonly string[];
}

/**
 * What a customer may use now, over all running subscriptions: per feature the combined limit of all sources,
 * and the sources with the subscription of each (money 6.8, 6.10). Filters that match nothing
 * return an empty list.
 */
export async function customerEntitlements(
  deps: Deps,
  scope: Scope,
  customerId: string,
  filter: Filter,
): Promise<CustomerEntitlements> {
  const at = isoTime(deps.clock.now());
  const running = await runningSubscriptions(deps.pool, scope, customerId, at);
  const subscriptions = running.filter(
    (row) => isGranting(row, at) && (filter.subscription_ids?.includes(row.id) ?? true),
  );
  return {
    customer_id: customerId,
    subscriptions: await subscriptionAnswers(deps.pool, scope, subscriptions, {}),
    features: await grantedFeatures(deps.pool, scope, subscriptions, at, filter),
  };
}

/** The same for one subscription; empty if it does not run now. 404 if unknown. */
export async function subscriptionEntitlements(
  deps: Deps,
  scope: Scope,
  id: string,
  filter: Pick<Filter, 'feature_ids'>,
): Promise<SubscriptionEntitlements> {
  const at = isoTime(deps.clock.now());
  const subscription = await getSubscription(deps.pool, scope, id);
  const granting = isGranting(subscription, at) ? [subscription] : [];
  return {
    subscription_id: id,
    plan_id: subscription.plan_id,
    features: await grantedFeatures(deps.pool, scope, granting, at, filter),
  };
}

/** The same for each of many subscriptions, by id; subscriptions without entitlements are left out. */
export async function entitlementsBySubscription(
  deps: Deps,
  scope: Scope,
  subscriptions: readonly SubscriptionRow[],
): Promise<ReadonlyMap<string, GrantedFeature[]>> {
  const at = isoTime(deps.clock.now());
  const granting = subscriptions.filter((row) => isGranting(row, at));
  const sources = sourcesAt(await entitlementSources(deps.pool, scope, granting), at);
  const bySubscription = groupBy(sources, ({ subscription_id }) => subscription_id);
  const answer = await featureAnswers(deps.pool, scope, granting, sources);
  return new Map(
    [...bySubscription].map(([id, of]) => [id, effectiveEntitlements(of).flatMap(answer)]),
  );
}

async function grantedFeatures(
  db: Db,
  scope: Scope,
  subscriptions: readonly SubscriptionRow[],
  at: string,
  filter: Filter,
): Promise<GrantedFeature[]> {
  const all = sourcesAt(await entitlementSources(db, scope, subscriptions), at);
  const sources = all.filter(
    ({ entitlement }) => filter.feature_ids?.includes(entitlement.feature_id) ?? true,
  );
  const answer = await featureAnswers(db, scope, subscriptions, sources);
  return effectiveEntitlements(sources).flatMap(answer);
}

/** Reads what the sources name; returns how the entitlement to one of their features is answered. */
async function featureAnswers(
  db: Db,
  scope: Scope,
  subscriptions: readonly SubscriptionRow[],
  sources: readonly EntitlementSource[],
): Promise<(granted: EffectiveEntitlement) => GrantedFeature[]> {
  const ids = [...new Set(sources.map(({ entitlement }) => entitlement.feature_id))];
  const planIds = [...new Set(subscriptions.map(({ plan_id }) => plan_id))];
  const [features, plans] = await Promise.all([
    findFeatures(db, scope, ids).then((rows) => withEmbedded(db, scope, rows, { meter: true })),
    findPlanRows(db, scope, planIds),
  ]);
  const featureOf = new Map(features.map((feature) => [feature.id, feature]));
  const names = new Map(plans.map(({ id, name }) => [id, name]));
  return (granted) => {
    const feature = featureOf.get(granted.feature_id);
    if (feature === undefined) return [];
    const of = granted.sources.map((source) => sourceAnswer(source, names));
    return [{ feature, entitlement: entitlementAnswer(granted), sources: of }];
  };
}

const entitlementAnswer = (granted: EffectiveEntitlement): GrantedFeature['entitlement'] => ({
  is_enabled: granted.is_enabled,
  is_soft_limit: granted.is_soft_limit,
  usage_limit: granted.usage_limit?.toNumber() ?? null,
  usage_reset_period: granted.usage_reset_period,
  static_values: [...granted.static_values],
  config_values: [...granted.config_values],
  aggregation_mode:
    granted.feature_type === 'metered'
      ? (granted.quotas[0]?.entitlement.aggregation_mode ?? 'additive')
      : null,
  buckets: granted.quotas.map((source) => {
    const { aggregation_mode: _, grant_quota, ...config } = quotaOf(source);
    return {
      ...config,
      grant_quota: decimalText(grant_quota),
      source_entity_id: source.entitlement.entity_id,
      usage_limit: null,
    };
  }),
});

/** One source of a grant as answered. `names` are of plans and addons, by id. */
export function sourceAnswer(
  { entitlement, subscription_id, quantity }: EntitlementSource,
  names: ReadonlyMap<string, string>,
): GrantedSource {
  const { id, entity_type, entity_id, is_enabled, usage_limit, usage_reset_period } = entitlement;
  return {
    subscription_id,
    entitlement_id: id,
    entity_id,
    entity_type: entity_type.toLowerCase() as GrantedSource['entity_type'],
    entity_name: names.get(entity_id) ?? '',
    quantity: Number(quantity),
    is_enabled,
    usage_limit: usage_limit === null ? null : Number(usage_limit),
    usage_reset_period,
    static_value: entitlement.static_value,
    config_value: entitlement.config_value ?? null,
  };
}
