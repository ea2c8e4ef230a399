import { invalidField } from '../../../../domain/errors.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type { AddonChangeParams } from '../../../../schemas/subscription-modify.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import type { How } from './change-gate.ts';
import type { LineSwap } from '../../proration/change-rows.ts';
import {
  beginGrants,
  planAttachment,
  planDetachment,
  writeAttachment,
  writeDetachment,
} from './addons.ts';

/** A change of addons in the caller's transaction: its lines, and how the rest of the period is settled. */
export interface AddonModification {
  readonly swaps: readonly LineSwap[];
  readonly proration_behavior: SubscriptionRow['proration_behavior'];
  /** Begins the credit grants of an attached addon; the caller calls it once the lines are settled. */
  readonly settled: () => Promise<void>;
}

/** Attaches or ends an addon as `modify` requests it (billing 15). The caller settles the lines. */
export async function changeAddons(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  params: AddonChangeParams,
  { at, association_id = null, onAttached }: Pick<How, 'at' | 'association_id' | 'onAttached'>,
): Promise<AddonModification> {
  if (params.action === 'add') {
    const request = required(params.add, 'add');
    const asked = { ...request, association_id };
    const { addon, change } = await planAttachment(tx, deps, caller, subscription, asked, at);
    const behavior = request.proration_behavior;
    await writeAttachment(tx, addon);
    onAttached?.(addon.association);
    return {
      ...modification(subscription, change.swaps, behavior),
      settled: () => beginGrants(tx, deps, caller, subscription, addon, behavior, at),
    };
  }
  const request = required(params.remove, 'remove');
  const change = await planDetachment(tx, caller, subscription, request);
  await writeDetachment(tx, deps, caller, change, request);
  return modification(subscription, change.swaps, request.proration_behavior);
}

function required<Params>(params: Params | null | undefined, action: 'add' | 'remove'): Params {
  if (params === null || params === undefined)
    throw invalidField(`addon_params.${action}`, `is required with action ${action}`);
  return params;
}

const modification = (
  subscription: SubscriptionRow,
  swaps: readonly LineSwap[],
  behavior: SubscriptionRow['proration_behavior'] | null | undefined,
): AddonModification => ({
  swaps,
  proration_behavior: behavior ?? subscription.proration_behavior,
  settled: async () => {},
});
