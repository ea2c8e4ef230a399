import {
  refuseQuotaConflict,
  refuseResetConflict,
  sourcesDuring,
} from '../../../domain/entitlement/effective-limits.ts';
import { invalidField } from '../../../domain/errors.ts';
import { currencyFits } from '../../../domain/pricing/currency-fits.ts';
import { refuseUsageRatedTwice } from '../../../domain/pricing/filter-values.ts';
import { isCompatible } from '../../../domain/subscription/select-prices.ts';
import { billingPeriods } from '../../../domain/time/billing-periods.ts';
import { paidSchedule } from '../../../domain/subscription/schedule.ts';
import { epochMs, isoText } from '../../../domain/time/instant.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { AddonAssociationRow } from '../../../schemas/addon-association.ts';
import type {
  AddonRequest,
  CreateSubscriptionBody,
} from '../../../schemas/subscription-requests.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { entitlementSources } from '../../catalog/entitlements/entitlement-sources.ts';
import { findEntitlementsOfAll } from '../../catalog/entitlements/repository.ts';
import { getAddonRow, type AddonRow } from '../../catalog/offers/addon-repository.ts';
import { findPricesOfEntities, type PriceRow } from '../../catalog/prices/repository.ts';
import { below } from '../../conventions/bulk-error.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import { selectorOf } from '../computing/usage-selectors.ts';
import { withCommitments } from './line-commitments.ts';
import { bucketsOf, lineItem, withMeterNames, type LineItemOwner } from './line-item.ts';
import { overriddenPrice } from './overridden-price.ts';
import { assertSelected, refuseTwice } from './selected-prices.ts';

/** An addon association and its line items, not stored yet. */
export interface NewAddon {
  readonly association: AddonAssociationRow;
  readonly lines: readonly BilledLine[];
}

export interface AddonContext {
  readonly subscription: Pick<
    SubscriptionRow,
    | 'id'
    | 'plan_id'
    | 'start_date'
    | 'end_date'
    | 'commitment_amount'
    | 'current_period_start'
    | 'current_period_end'
    | 'trial_end'
  > &
    Parameters<typeof paidSchedule>[0];
  readonly owner: LineItemOwner;
  /** All other lines of the subscription. */
  readonly lines: readonly BilledLine[];
}

/** How long a request may be under way: a caller's "now" may be so much older than ours. */
const UNDER_WAY_MS = 60_000;

/** The addons of a new subscription (billing 15). Writes overridden prices only. */
export async function newAddons(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  context: AddonContext,
  { addons, start_date: asked }: CreateSubscriptionBody,
): Promise<NewAddon[]> {
  const planned: NewAddon[] = [];
  for (const [index, request] of (addons ?? []).entries()) {
    const lines = [...context.lines, ...planned.flatMap((addon) => addon.lines)];
    const start = addonStart(request.start_date, context.subscription.start_date, !asked);
    planned.push(
      await newAddon(
        tx,
        deps,
        caller,
        { ...context, lines },
        { ...request, start_date: start },
      ).catch((error: unknown) => {
        throw below(error, `addons[${index}]`);
      }),
    );
  }
  await refuseEntitlementConflicts(tx, caller, context, planned);
  return planned;
}

/**
 * A subscription without a start of its own begins when the request is served. The caller's "now", a moment
 * earlier, then means that start.
 */
function addonStart(
  asked: string | null | undefined,
  subscriptionStart: string,
  startsNow: boolean,
): string {
  if (!asked) return subscriptionStart;
  const before = epochMs(subscriptionStart) - epochMs(asked);
  return startsNow && before > 0 && before <= UNDER_WAY_MS ? subscriptionStart : asked;
}

/** One more addon: its association and a line item for each of its prices that fits. Writes overridden prices only. */
export async function newAddon(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  context: AddonContext,
  request: AddonRequest & { readonly start_date: string; readonly association_id?: string | null },
): Promise<NewAddon> {
  const { subscription, owner } = context;
  const record = newRecord(deps, caller, 'addon_assoc');
  const addon = await getAddonRow(tx, caller.scope, request.addon_id);
  if (addon.status !== 'published')
    throw invalidField('addon_id', `addon ${addon.id} is ${addon.status}`);
  const { start_date } = request;
  if (start_date < subscription.start_date)
    throw invalidField('start_date', 'must not be before the start of the subscription');
  if (subscription.end_date !== null && start_date >= subscription.end_date)
    throw invalidField('start_date', 'must be before the end of the subscription');
  const end_date = request.cadence === 'onetime' ? addonPeriodEnd(subscription, start_date) : null;
  const association: AddonAssociationRow = {
    ...record,
    id: request.association_id ?? record.id,
    subscription_id: subscription.id,
    addon_id: addon.id,
    quantity: request.quantity ?? '1',
    addon_status: 'active',
    start_date,
    end_date,
    cancelled_at: null,
    cancellation_reason: null,
    metadata: request.metadata ?? {},
  };
  const prices = await fittingPrices(tx, caller, addon, owner, association);
  const addonOwner = {
    ...owner,
    plan: { id: owner.plan.id, name: addon.name },
  };
  const overridden = await withOverrides(tx, deps, caller, addonOwner, prices, request);
  const lines = overridden.map(({ price, quantity, path }) =>
    lineItem(deps, caller, addonOwner, price, {
      entity: { type: 'addon', id: addon.id },
      quantity: quantity ?? (price.type === 'FIXED' ? request.quantity : null),
      path,
      start_date,
      end_date,
      addon_association_id: association.id,
      metadata: {
        addon_id: addon.id,
        addon_quantity: association.quantity,
        addon_status: association.addon_status,
        subscription_id: subscription.id,
      },
    }),
  );
  const named = await withMeterNames(tx, caller, lines);
  const usage = [...context.lines, ...named].filter(({ meter_id }) => meter_id !== null);
  refuseUsageRatedTwice(usage.map(selectorOf), 'addon_id');
  return {
    association,
    lines: withCommitments(named, request.line_item_commitments, {
      meters: await bucketsOf(tx, caller, named),
      subscription,
    }),
  };
}

interface OverriddenPrice {
  readonly price: PriceRow;
  /** The quantity of the override. */
  readonly quantity: string | null;
  /** Path of the quantity in the request. */
  readonly path: string;
}

/** The addon's prices, each replaced by a price of the subscription where the request overrides it (billing 10.1). */
async function withOverrides(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  owner: LineItemOwner,
  prices: readonly PriceRow[],
  request: Pick<AddonRequest, 'override_line_items'>,
): Promise<OverriddenPrice[]> {
  const overrides = request.override_line_items ?? [];
  assertSelected(overrides, prices, '', 'addon');
  refuseTwice(
    overrides.map(({ price_id }) => price_id),
    (index) => `override_line_items[${index}].price_id`,
  );
  const replaced: OverriddenPrice[] = [];
  for (const price of prices) {
    const index = overrides.findIndex(({ price_id }) => price_id === price.id);
    const override = overrides[index];
    if (override === undefined) {
      replaced.push({ price, quantity: null, path: 'quantity' });
      continue;
    }
    const place = `override_line_items[${index}]`;
    const own = await overriddenPrice(tx, deps, caller, owner, price, override).catch(
      (error: unknown) => {
        throw below(error, place);
      },
    );
    replaced.push({ price: own, quantity: override.quantity ?? null, path: `${place}.quantity` });
  }
  return replaced;
}

/** The prices of the addon for this subscription, fixed before usage, each oldest first (billing 3.2). */
async function fittingPrices(
  tx: Transaction,
  caller: Caller,
  addon: AddonRow,
  { selection }: LineItemOwner,
  { start_date, end_date }: Pick<AddonAssociationRow, 'start_date' | 'end_date'>,
): Promise<PriceRow[]> {
  const all = await findPricesOfEntities(tx, caller.scope, 'ADDON', [addon.id], null);
  const live = all.filter(
    (price) =>
      (price.end_date === null || price.end_date > start_date) &&
      (end_date === null || price.start_date === null || price.start_date < end_date),
  );
  const fitting = live.filter(
    (price) => currencyFits(price, selection) && isCompatible(price, selection.cadence),
  );
  if (live.length > 0 && fitting.length === 0)
    throw invalidField(
      'addon_id',
      `no price of addon ${addon.id} has the currency of the subscription and a period that fits`,
    );
  const ofType = (type: PriceRow['type']) => fitting.filter((price) => price.type === type);
  return [...ofType('FIXED').toReversed(), ...ofType('USAGE').toReversed()];
}

/** The end of the billing period, or of the trial, in which an addon starts. */
export function addonPeriodEnd(subscription: AddonContext['subscription'], start: string): string {
  const { trial_end, current_period_start, current_period_end } = subscription;
  if (start >= current_period_start && start < current_period_end) return current_period_end;
  const from = trial_end !== null && start < trial_end ? trial_end : start;
  const [period] = billingPeriods(
    paidSchedule(subscription, from),
    from,
    isoText(epochMs(from) + 1),
  );
  return period?.end ?? current_period_end;
}

/**
 * Refuses addons that would give a feature two reset periods, or quotas that conflict, while they are in force: 400
 * (money 6.11, 7.2). A conflict of features that no added addon has is that of an earlier change.
 */
export async function refuseEntitlementConflicts(
  tx: Transaction,
  caller: Caller,
  { subscription }: Pick<AddonContext, 'subscription'>,
  added: readonly NewAddon[],
): Promise<void> {
  if (added.length === 0) return;
  const ids = added.map(({ association }) => association.addon_id);
  const [granted, more] = await Promise.all([
    entitlementSources(tx, caller.scope, [subscription]),
    findEntitlementsOfAll(tx, caller.scope, ids),
  ]);
  const features = new Set(more.map(({ feature_id }) => feature_id));
  const sources = [
    ...granted.filter(({ entitlement }) => features.has(entitlement.feature_id)),
    ...added.flatMap(({ association: { addon_id, start_date, end_date } }) =>
      more
        .filter(({ entity_id }) => entity_id === addon_id)
        .map((entitlement) => {
          const subscription_id = subscription.id;
          return { entitlement, subscription_id, quantity: '1', start_date, end_date };
        }),
    ),
  ];
  for (const { association } of added) {
    const { start_date: start, end_date: end } = association;
    const beside = sourcesDuring(sources, { start, end });
    refuseResetConflict(beside);
    refuseQuotaConflict(beside);
  }
}
