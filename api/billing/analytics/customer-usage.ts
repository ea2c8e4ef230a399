import {
  effectiveEntitlements,
  sourcesAt,
  type EffectiveEntitlement,
} from '../../../domain/entitlement/effective-limits.ts';
import { summarizeQuotas, summarizeUsage } from '../../../domain/entitlement/access.ts';
import type { QuotaState } from '../../../domain/entitlement/quota-usage.ts';
import { invalidField } from '../../../domain/errors.ts';
import type { UsageQuery } from '../../../domain/metering/usage.ts';
import { Decimal, decimalText, ZERO } from '../../../domain/money.ts';
import type { Period } from '../../../domain/time/instant.ts';
import type { PausedTime } from '../../../domain/time/paused-cells.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { MeterVersionRecord } from '../../../postgres/tables/meter-versions.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type {
  CustomerUsage,
  CustomerUsageFilter,
  FeatureUsage,
  QuotaSlot,
} from '../../../schemas/customer-usage.ts';
import type { Feature } from '../../../schemas/feature.ts';
import { getCustomer, getCustomerByExternalId } from '../../customers/customers/repository.ts';
import type { ApiDeps } from '../../deps.ts';
import { isGranting, sourcesOfAllPlans } from '../../catalog/entitlements/entitlement-sources.ts';
import { sourceAnswer } from '../granted-entitlements/granted-features.ts';
import { findFeatures, withEmbedded } from '../../catalog/features/repository.ts';
import { findEmbeddedPlans } from '../../catalog/offers/plan-repository.ts';
import { askUsage, type UsageAsk } from '../../usage/quantities/ask-usage.ts';
import { figureText } from './cost-shares.ts';
import { byTime, measureQuotas, runningQuotas, type RunningQuotas } from './granted-quotas.ts';
import { pausesOf, windowOf, withPauses, type Granting } from './running-window.ts';
import { unusedDuring } from '../computing/unused-during.ts';
import { askedVersion } from '../../usage/quantities/meter-usage.ts';
import { runningSubscriptions } from '../../usage/quantities/repository.ts';

/** The customer by id or external id; 404 if unknown, 400 if the two name different customers. */
export async function usageCustomer(
  deps: ApiDeps,
  scope: Scope,
  named: { readonly customer_id?: string; readonly customer_lookup_key?: string },
): Promise<Customer> {
  const { customer_id, customer_lookup_key } = named;
  if (customer_id) {
    const customer = await getCustomer(deps.pool, scope, customer_id);
    if (customer_lookup_key && customer.external_id !== customer_lookup_key)
      throw invalidField('customer_lookup_key', 'names another customer than customer_id');
    return customer;
  }
  if (customer_lookup_key)
    return await getCustomerByExternalId(deps.pool, scope, customer_lookup_key);
  throw invalidField('customer_id', 'or customer_lookup_key is required');
}

/**
 * Every feature to which the customer's running subscriptions entitle, with its limit over all sources and
 * its usage in the current reset window (money 6.12, 6.13). Metered features come first; the others
 * have no usage. Filters that match nothing return an empty list.
 */
export async function customerUsage(
  deps: ApiDeps,
  scope: Scope,
  customer: Customer,
  filter: CustomerUsageFilter,
): Promise<CustomerUsage> {
  const at = isoTime(deps.clock.now());
  const running = await runningSubscriptions(deps.pool, scope, customer.id, at);
  const subscriptions = running.filter(
    (row) => isGranting(row, at) && (filter.subscription_ids?.includes(row.id) ?? true),
  );
  const all = await sourcesOfAllPlans(deps.pool, scope, subscriptions);
  const sources = sourcesAt(all, at);
  const granted = effectiveEntitlements(sources);
  const features = await featuresOf(deps, scope, granted, filter);
  const shown = granted
    .filter(({ feature_id }) => features.has(feature_id))
    .sort((left, right) => Number(isMetered(right)) - Number(isMetered(left)));
  const planNames = new Map(
    (await findEmbeddedPlans(deps.pool, scope, [...new Set(subscriptions.map((s) => s.plan_id))]))
      .map((plan) => [plan.id, plan.name]),
  ); // prettier-ignore
  const granting = await withPauses(deps.pool, scope, subscriptions);
  const quotasOf = (entitlement: EffectiveEntitlement): RunningQuotas[] =>
    runningQuotas(entitlement, all, granting.subscriptions, at);

  const asks: UsageAsk[] = [];
  for (const entitlement of shown) {
    const feature = features.get(entitlement.feature_id)!;
    if (entitlement.feature_type !== 'metered' || feature.meter_id === null) continue;
    const quotas = quotasOf(entitlement);
    for (const { subscription_id, cycle } of quotas) {
      const pauses = granting.pauses.get(subscription_id) ?? [];
      const asked = { ...cycle, pauses };
      const { query, version } = await askFor(deps, scope, customer, feature, asked);
      const key = slotsKey(feature.id, subscription_id);
      asks.push({ query: { ...byTime(query), key }, version });
    }
    if (quotas.length > 0) continue;
    const { start, until: end } = windowOf(entitlement, granting, at);
    const pauses = pausesOf(entitlement, granting);
    asks.push(await askFor(deps, scope, customer, feature, { start, end, pauses }));
  }
  const rows = await askUsage(deps, asks);
  const usageOf = (featureId: string): Decimal =>
    (rows.get(featureId) ?? []).reduce((sum, row) => sum.plus(row.quantity), ZERO);
  return {
    customer_id: customer.id,
    features: shown.map((entitlement): FeatureUsage => {
      const slots = quotasOf(entitlement).flatMap((quotas) => {
        const { subscription_id } = quotas;
        const times = rows.get(slotsKey(entitlement.feature_id, subscription_id)) ?? [];
        const { states } = measureQuotas(quotas, times, at);
        return states.map((state) => ({ ...state, subscription_id }));
      });
      const summary =
        slots.length > 0
          ? summarizeQuotas(entitlement, slots)
          : summarizeUsage(entitlement, usageOf(entitlement.feature_id));
      return {
        feature: features.get(entitlement.feature_id)!,
        total_limit: summary.total_limit?.toNumber() ?? null,
        is_unlimited: summary.is_unlimited,
        current_usage: figureText(summary.current_usage),
        usage_percent: decimalText(summary.usage_percent),
        is_enabled: entitlement.is_enabled,
        is_soft_limit: entitlement.is_soft_limit,
        next_usage_reset_at:
          slots.length > 0 ? nextWindowEnd(slots) : nextReset(entitlement, granting, at),
        sources: entitlement.sources.map((source) => sourceAnswer(source, planNames)),
        quotas: slots.map(quotaSlot),
      };
    }),
    period: null,
    pagination: null,
  };
}

const slotsKey = (featureId: string, subscriptionId: string) => `${featureId}/${subscriptionId}`;

type Slot = QuotaState & { readonly subscription_id: string };

const quotaSlot = ({
  subscription_id,
  entitlement_id,
  status,
  window,
  ...slot
}: Slot): QuotaSlot => ({
  subscription_id,
  entitlement_id,
  quota: decimalText(slot.quota),
  used: decimalText(slot.used),
  left: decimalText(slot.left),
  status,
  window_start: window?.start ?? null,
  window_end: window?.end ?? null,
});

/** The first end of an open window; null while none is open. */
const nextWindowEnd = (slots: readonly Slot[]): string | null =>
  slots.flatMap(({ window }) => window?.end ?? []).toSorted()[0] ?? null;

const isMetered = ({ feature_type }: EffectiveEntitlement): boolean => feature_type === 'metered';

async function featuresOf(
  deps: ApiDeps,
  scope: Scope,
  granted: readonly EffectiveEntitlement[],
  { feature_ids, feature_lookup_keys }: CustomerUsageFilter,
): Promise<Map<string, Feature>> {
  const rows = await findFeatures(
    deps.pool,
    scope,
    granted.map(({ feature_id }) => feature_id),
  );
  const wanted = rows.filter(
    ({ id, lookup_key }) =>
      (feature_ids === undefined || feature_ids.includes(id)) &&
      (feature_lookup_keys === undefined || feature_lookup_keys.includes(lookup_key ?? '')),
  );
  const features = await withEmbedded(deps.pool, scope, wanted, { meter: true });
  return new Map(features.map((feature) => [feature.id, feature]));
}

/** An allowance for a year or without end has no next reset (as the reference answers). */
function nextReset(
  entitlement: EffectiveEntitlement,
  granting: Granting,
  at: string,
): string | null {
  const { feature_type, usage_reset_period: reset } = entitlement;
  if (feature_type !== 'metered' || reset === null || reset === 'ANNUAL') return null;
  return windowOf(entitlement, granting, at).end;
}

async function askFor(
  deps: ApiDeps,
  scope: Scope,
  customer: Customer,
  feature: Feature,
  asked: Period & { readonly pauses: readonly PausedTime[] },
): Promise<UsageAsk> {
  const version = await askedVersion(deps, scope, feature.meter_id!, [], asked.start);
  return { query: featureUsageQuery(scope, customer, feature.id, version, asked), version };
}

/** Usage of a feature's meter version by one customer, without that of pauses (billing 12.3). */
export function featureUsageQuery(
  scope: Scope,
  customer: Pick<Customer, 'external_id' | 'timezone'>,
  key: string,
  version: MeterVersionRecord,
  { start, end, pauses }: Period & { readonly pauses: readonly PausedTime[] },
): UsageQuery {
  const { type, multiplier, bucket_size, group_by } = version.spec.aggregation;
  return {
    ...scope,
    key,
    meter_version_id: version.id,
    aggregation: type,
    multiplier,
    reset_usage: version.spec.reset_usage,
    external_customer_ids: [customer.external_id],
    start,
    end,
    filter_values: {},
    excluded_filter_values: [],
    excluded_during: unusedDuring(pauses, end),
    group_by: bucket_size !== null && type === 'MAX' && group_by !== null ? [group_by] : [],
    window:
      bucket_size === null
        ? null
        : { bucket_size, timezone: customer.timezone, billing_anchor: null },
  };
}
