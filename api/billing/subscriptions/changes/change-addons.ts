import { invalidField } from '../../../../domain/errors.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type { AddonChangeParams } from '../../../../schemas/subscription-modify.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import type { How } from './change-gate.ts';
import type { LineSwap } from '../../proration/change-rows.ts';
import { beginGrants, planDetachment, writeDetachment } from './addons.ts';
import { attach } from './attach-addon.ts';
import type { ClosedPeriodDraft } from './addon-of-closed-periods.ts';

/** A change of addons in the caller's transaction: its lines, and how the rest of the period is settled. */
export interface AddonModification {
  readonly swaps: readonly LineSwap[];
  readonly proration_behavior: SubscriptionRow['proration_behavior'];
  /** The invoices of an attached addon for closed periods. */
  readonly drafts: readonly ClosedPeriodDraft[];
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
  {
    at,
    association_id = null,
    onAttached,
    billed = null,
  }: Pick<How, 'at' | 'association_id' | 'onAttached' | 'billed'>,
): Promise<AddonModification> {
  if (params.action === 'add') {
    const request = required(params.add, 'add');
    const asked = { ...request, association_id };
    const { addon, swaps, proration_behavior, drafts } = await attach(
      tx,
      deps,
      caller,
      subscription,
      asked,
      { at, billed },
    );
    onAttached?.(addon.association);
    return {
      ...modification(subscription, swaps, proration_behavior),
      drafts,
      settled: () =>
        beginGrants(tx, deps, caller, subscription, addon, request.proration_behavior, at),
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
  drafts: [],
  settled: async () => {},
});
