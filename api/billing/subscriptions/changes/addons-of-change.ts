import { invalidField } from '../../../../domain/errors.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type { AddonAssociationRow } from '../../../../schemas/addon-association.ts';
import type { EntityPolicies } from '../../../../schemas/subscription-plan-change.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import {
  changeAddonAssociation,
  findAddonAssociationsOf,
} from '../../../catalog/offers/addon-association-repository.ts';
import { changed, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import type { BilledLine } from '../../computing/billing-sources.ts';
import type { LineSwap } from '../../proration/change-rows.ts';
import { endGrantsOfAddon } from '../attached-grants.ts';

/** What a plan change does with an addon of the subscription (billing 14.2). */
export interface AddonOfChange {
  readonly association: AddonAssociationRow;
  readonly behaviour: 'carry' | 'drop';
}

/**
 * The addons that have not ended at the effect of a plan change, each with its behaviour: `carry` unless asked
 * otherwise.
 */
export async function addonsOfChange(
  tx: Transaction,
  { scope }: Caller,
  subscription: Pick<SubscriptionRow, 'id'>,
  policies: EntityPolicies | null | undefined,
  effective_at: string,
): Promise<AddonOfChange[]> {
  const policy = policies?.addons ?? 'carry';
  const { default_behaviour, overrides = {} } =
    typeof policy === 'string' ? { default_behaviour: policy } : policy;
  const all = await findAddonAssociationsOf(tx, scope, [subscription.id]);
  const live = all.filter(
    ({ addon_status, end_date }) =>
      addon_status === 'active' && (end_date === null || end_date > effective_at),
  );
  for (const id of Object.keys(overrides ?? {}))
    if (!live.some((association) => association.id === id))
      throw invalidField(
        `entity_policies.addons.overrides.${id}`,
        'must be the id of an addon association of the subscription that has not ended',
      );
  return live.map((association) => ({
    association,
    behaviour: overrides?.[association.id] ?? default_behaviour ?? 'carry',
  }));
}

/** The lines of dropped addons end with the change. */
export function droppedLines(
  addons: readonly AddonOfChange[],
  lines: readonly BilledLine[],
  effective_at: string,
): LineSwap[] {
  const dropped = addons
    .filter(({ behaviour }) => behaviour === 'drop')
    .map(({ association }) => association.id);
  return lines
    .filter(
      ({ addon_association_id, end_date }) =>
        addon_association_id !== null &&
        dropped.includes(addon_association_id) &&
        (end_date === null || end_date > effective_at),
    )
    .map((before) => ({ before, after: null, effective_at }));
}

/** Ends the associations of dropped addons; their lines are ended with the plan's. */
export async function endDroppedAddons(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  addons: readonly AddonOfChange[],
  of: { readonly effective_at: string; readonly at: string },
): Promise<void> {
  for (const { association, behaviour } of addons) {
    if (behaviour === 'carry') continue;
    const { id, start_date } = association;
    await endGrantsOfAddon(tx, deps, caller, association, of.effective_at);
    await changeAddonAssociation(tx, caller.scope, id, {
      end_date: of.effective_at > start_date ? of.effective_at : start_date,
      addon_status: 'cancelled',
      cancelled_at: of.at,
      cancellation_reason: 'plan change',
      ...changed(deps, caller),
    });
  }
}
