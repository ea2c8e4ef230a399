import { quotaOf, quotaSources } from '../../../domain/entitlement/effective-limits.ts';
import { assertEntitlement } from '../../../domain/entitlement/entitlement-rules.ts';
import type { QuotaConfig } from '../../../domain/entitlement/quota-windows.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { findFeatures, type FeatureRow } from '../features/repository.ts';
import { findMeters } from '../meters/repository.ts';
import { entitlementSources } from './entitlement-sources.ts';
import { findEntitlementsOfAll, findSubscriptionPlan, type EntitlementRow } from './repository.ts';

/** Refuses an entitlement that does not fit its feature, or whose quota does not fit the others of its family. */
export async function assertFitting(
  tx: Transaction,
  scope: Scope,
  row: EntitlementRow,
  feature: Pick<FeatureRow, 'type' | 'meter_id'>,
): Promise<void> {
  const [meter] = await findMeters(tx, scope, feature.meter_id === null ? [] : [feature.meter_id]);
  const siblings =
    row.grant_quota === null || meter === undefined
      ? []
      : await quotasBeside(tx, scope, row, meter.id);
  assertEntitlement(
    row,
    {
      type: feature.type,
      aggregation: meter?.aggregation ?? null,
      lifetime: meter?.reset_usage === 'NEVER',
    },
    siblings,
  );
}

/** The other quotas on the meter of the plan, addon or subscription (money 7.2). */
async function quotasBeside(
  tx: Transaction,
  scope: Scope,
  row: EntitlementRow,
  meterId: string,
): Promise<QuotaConfig[]> {
  const sources = await familyOf(tx, scope, row);
  const others = quotaSources(sources).filter(
    ({ entitlement: { id } }) => id !== row.id && id !== row.parent_entitlement_id,
  );
  const features = await findFeatures(tx, scope, [
    ...new Set(others.map(({ entitlement }) => entitlement.feature_id)),
  ]);
  const ofMeter = new Set(features.flatMap(({ id, meter_id }) => (meter_id === meterId ? id : [])));
  return others.filter(({ entitlement }) => ofMeter.has(entitlement.feature_id)).map(quotaOf);
}

async function familyOf(tx: Transaction, scope: Scope, { entity_type, entity_id }: EntitlementRow) {
  if (entity_type === 'SUBSCRIPTION') {
    const subscription = await findSubscriptionPlan(tx, scope, entity_id);
    return await entitlementSources(tx, scope, subscription === null ? [] : [subscription]);
  }
  const rows = await findEntitlementsOfAll(tx, scope, [entity_id]);
  return rows.map((entitlement) => ({
    entitlement,
    subscription_id: '',
    quantity: '1',
    start_date: null,
    end_date: null,
  }));
}
