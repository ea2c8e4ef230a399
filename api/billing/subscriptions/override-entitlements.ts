import { invalidField, notFound } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CreateSubscriptionBody } from '../../../schemas/subscription-requests.ts';
import {
  type EntitlementRow,
  findEntitlementsOfAll,
  getEntitlement,
} from '../../catalog/entitlements/repository.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';

/**
 * The subscription's own entitlements that replace those of its plan (billing 4.4). Reset period, soft flag
 * and order are those of the plan. Writes nothing.
 */
export async function newOverrides(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: { readonly id: string; readonly plan_id: string },
  { override_entitlements }: CreateSubscriptionBody,
): Promise<EntitlementRow[]> {
  const requests = override_entitlements ?? [];
  if (requests.length === 0) return [];
  const ofPlan = await findEntitlementsOfAll(tx, caller.scope, [subscription.plan_id]);
  const named = new Set<string>();
  const rows: EntitlementRow[] = [];
  for (const [index, request] of requests.entries()) {
    const path = `override_entitlements[${index}]`;
    const parent = ofPlan.find(({ id }) => id === request.entitlement_id);
    if (parent === undefined) await refuseForeign(tx, caller, request.entitlement_id, path);
    if (named.has(request.entitlement_id))
      throw invalidField(`${path}.entitlement_id`, `${request.entitlement_id} is named twice`);
    named.add(request.entitlement_id);
    rows.push({
      ...parent!,
      ...newRecord(deps, caller, 'ent'),
      entity_type: 'SUBSCRIPTION',
      entity_id: subscription.id,
      parent_entitlement_id: request.entitlement_id,
      is_enabled: request.is_enabled ?? parent!.is_enabled,
      ...changedTerms(parent!, request, path),
    });
  }
  return rows;
}

type OverrideRequest = NonNullable<CreateSubscriptionBody['override_entitlements']>[number];

function changedTerms(
  parent: EntitlementRow,
  { usage_limit, static_value }: OverrideRequest,
  path: string,
): Partial<EntitlementRow> {
  const { feature_type, grant_quota } = parent;
  if (feature_type !== 'metered' && usage_limit != null)
    throw invalidField(`${path}.usage_limit`, `a ${feature_type} feature has no limit`);
  if (grant_quota !== null && usage_limit != null)
    throw invalidField(`${path}.usage_limit`, `the entitlement has a quota of ${grant_quota}`);
  if (feature_type !== 'static' && static_value)
    throw invalidField(`${path}.static_value`, `a ${feature_type} feature has no static value`);
  return {
    ...(feature_type === 'metered' && usage_limit !== undefined ? { usage_limit } : {}),
    ...(static_value ? { static_value } : {}),
  };
}

/** 404 for an unknown entitlement; 400 for an entitlement of another plan. */
async function refuseForeign(
  tx: Transaction,
  caller: Caller,
  id: string,
  path: string,
): Promise<never> {
  const found = await getEntitlement(tx, caller.scope, id);
  if (found.status !== 'published') throw notFound('Entitlement', id);
  throw invalidField(`${path}.entitlement_id`, `${id} is not an entitlement of the plan`);
}
