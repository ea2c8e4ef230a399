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

/**
 * The addons that end with the running period, so that a change that ends the period ends them too (billing 14.2, 15).
 * Those that the change drops are left out.
 */
export async function addonsOfPeriod(
  tx: Transaction,
  { scope }: Caller,
  { id, current_period_end }: Pick<SubscriptionRow, 'id' | 'current_period_end'>,
  addons: readonly AddonOfChange[],
  effective_at: string,
): Promise<AddonAssociationRow[]> {
  if (current_period_end <= effective_at) return [];
  const dropped = droppedAddons(addons).map((association) => association.id);
  const all = await findAddonAssociationsOf(tx, scope, [id]);
  return all.filter(
    (association) =>
      association.end_date === current_period_end &&
      association.start_date < effective_at &&
      !dropped.includes(association.id),
  );
}

export const droppedAddons = (addons: readonly AddonOfChange[]): AddonAssociationRow[] =>
  addons.flatMap(({ association, behaviour }) => (behaviour === 'drop' ? association : []));

/** The lines of addons end with the change. */
export function endedLines(
  associations: readonly AddonAssociationRow[],
  lines: readonly BilledLine[],
  effective_at: string,
): LineSwap[] {
  const ended = associations.map(({ id }) => id);
  return lines
    .filter(
      ({ addon_association_id, end_date }) =>
        addon_association_id !== null &&
        ended.includes(addon_association_id) &&
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
  for (const association of droppedAddons(addons)) {
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

/** Brings forward the ends of addons that end with the period; their lines are ended with the plan's. */
export async function endAddonsOfPeriod(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  associations: readonly AddonAssociationRow[],
  end_date: string,
): Promise<void> {
  for (const association of associations) {
    await endGrantsOfAddon(tx, deps, caller, association, end_date);
    const change = { end_date, ...changed(deps, caller) };
    await changeAddonAssociation(tx, caller.scope, association.id, change);
  }
}
