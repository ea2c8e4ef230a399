import { invalidOperation } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { ClonePlanBody } from '../../../schemas/plan.ts';
import { findCreditGrantsOf, insertCreditGrant } from '../credit-grants/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { findEntitlementsOf, insertEntitlement } from '../entitlements/repository.ts';
import { publishedGroups } from '../groups/repository.ts';
import { findPricesOfEntities, insertPrice } from '../prices/repository.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { getPlanRow, insertPlan, type PlanRow } from '../offers/plan-repository.ts';

/**
 * Copies a plan under another key with its own prices (those that have not ended, without their keys, each
 * the root of a new lineage), entitlements and grants. Its metadata names the source.
 */
export async function clonePlan(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: ClonePlanBody,
): Promise<PlanRow> {
  const { scope } = caller;
  const source = await getPlanRow(tx, scope, id);
  if (source.status !== 'published') throw invalidOperation('The plan is archived.');
  const plan: PlanRow = {
    ...source,
    ...newRecord(deps, caller, 'plan'),
    name: body.name,
    lookup_key: body.lookup_key,
    description: body.description === undefined ? source.description : body.description,
    display_order: body.display_order ?? source.display_order,
    metadata: { ...source.metadata, ...body.metadata, source_plan_id: source.id },
  };
  await insertPlan(tx, plan);

  const now = isoTime(deps.clock.now());
  const prices = await findPricesOfEntities(tx, scope, 'PLAN', [id], now);
  const groupIds = new Set(prices.flatMap((price) => price.group_id ?? []));
  const groups = new Set(
    (await publishedGroups(tx, scope, [...groupIds])).map((group) => group.id),
  );
  // Oldest first, so that the copies have the order of the originals.
  for (const price of prices.reverse()) {
    const record = newRecord(deps, caller, 'price');
    const { sequence: _, trial_period_days: __, ...terms } = price;
    await insertPrice(tx, {
      ...terms,
      ...record,
      entity_id: plan.id,
      parent_price_id: record.id,
      lookup_key: null,
      // Null if the group was archived between the two reads.
      group_id: price.group_id !== null && groups.has(price.group_id) ? price.group_id : null,
    });
  }
  for (const entitlement of (await findEntitlementsOf(tx, scope, 'PLAN', [id])).reverse())
    await insertEntitlement(tx, {
      ...entitlement,
      ...newRecord(deps, caller, 'ent'),
      entity_id: plan.id,
    });
  for (const grant of (await findCreditGrantsOf(tx, scope, 'plan_id', [id])).reverse())
    await insertCreditGrant(tx, { ...grant, ...newRecord(deps, caller, 'cg'), plan_id: plan.id });
  return plan;
}
