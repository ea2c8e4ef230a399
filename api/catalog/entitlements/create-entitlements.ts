import {
  fieldsOfOtherTypes,
  grantDefaults,
  fieldsWithoutEffect,
  entitlementDefaults,
} from '../../../domain/entitlement/entitlement-rules.ts';
import { invalidField } from '../../../domain/errors.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type { CreateEntitlementBody } from '../../../schemas/entitlement.ts';
import { below } from '../../conventions/bulk-error.ts';
import type { BillingDeps } from '../../deps.ts';
import { shareFeature, type FeatureRow } from '../features/repository.ts';
import { shareEntity } from '../offers/entity-repository.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { assertFitting } from './fitting.ts';
import { getEntitlement, insertEntitlement, type EntitlementRow } from './repository.ts';

/**
 * Creates entitlements, all or none, in the given order. 409 if the entity already has one for the feature.
 */
export async function createEntitlements(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  bodies: readonly CreateEntitlementBody[],
  options: { readonly bulk: boolean },
): Promise<EntitlementRow[]> {
  const rows: EntitlementRow[] = [];
  for (const [index, body] of bodies.entries()) {
    try {
      rows.push(await createEntitlement(tx, deps, caller, body));
    } catch (error) {
      throw options.bulk ? below(error, `items[${index}]`) : error;
    }
  }
  return rows;
}

async function createEntitlement(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateEntitlementBody,
): Promise<EntitlementRow> {
  const { scope } = caller;
  const entity = entityOf(body);
  if (body.feature_type === 'static' && !body.static_value)
    throw invalidField('static_value', 'is required for a static feature');
  await shareEntity(tx, scope, entity.entity_type, entity.entity_id);
  const feature = await featureToGrant(tx, scope, body.feature_id);
  if (feature.type !== body.feature_type)
    throw invalidField('feature_type', `the feature is ${feature.type}`);
  if (body.parent_entitlement_id)
    await assertReplaceable(tx, scope, body.parent_entitlement_id, entity, feature.id);
  const defaults = entitlementDefaults(feature.type);
  const row: EntitlementRow = {
    ...newRecord(deps, caller, 'ent'),
    ...entity,
    feature_id: feature.id,
    feature_type: feature.type,
    ...defaults,
    ...(feature.type === 'boolean' ? { is_enabled: body.is_enabled ?? defaults.is_enabled } : {}),
    is_soft_limit: body.is_soft_limit ?? defaults.is_soft_limit,
    usage_limit: body.usage_limit ?? null,
    usage_reset_period: body.usage_reset_period ?? null,
    static_value: body.static_value ?? null,
    config_value: body.config_value ?? null,
    aggregation_mode: body.aggregation_mode ?? defaults.aggregation_mode,
    ...grantOf(body),
    parent_entitlement_id: body.parent_entitlement_id ?? null,
    display_order: body.display_order ?? defaults.display_order,
    start_date: body.start_date ?? null,
    end_date: body.end_date ?? null,
    ...fieldsOfOtherTypes(feature.type),
  };
  await assertFitting(tx, scope, row, feature);
  await insertEntitlement(tx, row);
  await writeOutbox(tx, scope, 'entitlement.created', { entitlement: row });
  return row;
}

/** The fields of the request that have no effect. Only a boolean feature can be switched off at its creation. */
export const withoutEffectInNew = (body: CreateEntitlementBody): string[] => [
  ...(body.feature_type !== 'boolean' && body.is_enabled === false ? ['is_enabled'] : []),
  ...fieldsWithoutEffect(body.feature_type, body),
];

function grantOf(body: CreateEntitlementBody) {
  const { grant_quota = null, grant_measure = null, grant_duration_unit = null } = body;
  const { grant_duration_value = null, grant_allocation_behavior = null } = body;
  const given = {
    grant_quota,
    grant_duration_unit,
    grant_duration_value,
    grant_allocation_behavior,
  };
  return { ...given, grant_measure, ...grantDefaults(given) };
}

type Entity = Pick<EntitlementRow, 'entity_type' | 'entity_id'>;

function entityOf(body: CreateEntitlementBody): Entity {
  if (body.plan_id) {
    if (body.entity_id && body.entity_id !== body.plan_id)
      throw invalidField('entity_id', 'differs from plan_id');
    if (body.entity_type && body.entity_type !== 'PLAN')
      throw invalidField('entity_type', 'must be PLAN beside plan_id');
    return { entity_type: 'PLAN', entity_id: body.plan_id };
  }
  if (body.entity_type && body.entity_id)
    return { entity_type: body.entity_type, entity_id: body.entity_id };
  throw invalidField(
    body.entity_type ? 'entity_id' : 'entity_type',
    'give plan_id, or entity_type and entity_id',
  );
}

/**
 * A subscription's entitlement may replace another one of the same feature (money 6.5): 404 if that
 * does not exist in the scope.
 */
async function assertReplaceable(
  tx: Transaction,
  scope: Scope,
  parentId: string,
  entity: Entity,
  featureId: string,
): Promise<void> {
  const path = 'parent_entitlement_id';
  const parent = await getEntitlement(tx, scope, parentId);
  if (entity.entity_type !== 'SUBSCRIPTION')
    throw invalidField(path, 'only an entitlement of a subscription replaces another');
  if (parent.feature_id !== featureId)
    throw invalidField(path, `grants feature ${parent.feature_id}`);
}

async function featureToGrant(tx: Transaction, scope: Scope, id: string): Promise<FeatureRow> {
  const feature = await shareFeature(tx, scope, id);
  if (feature.status !== 'published')
    throw invalidField('feature_id', `the feature is ${feature.status}`);
  return feature;
}
