import { invalidField, invalidOperation, notFound } from '../../../../domain/errors.ts';
import { isoTime } from '../../../../platform/clock.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type {
  AddonAssociationRow,
  AddedAddon,
  AttachAddonBody,
  DetachAddonBody,
} from '../../../../schemas/addon-association.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import {
  changeAddonAssociation,
  getAddonAssociation,
  insertAddonAssociation,
  lockAddonAssociation,
} from '../../../catalog/offers/addon-association-repository.ts';
import { changed, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { settlementOf } from '../../computing/settlement-currency.ts';
import { withPrices, type BilledLine } from '../../computing/billing-sources.ts';
import { changeLineItem } from '../../records/line-item-repository.ts';
import { insertLineItems, lineItemsOf } from '../../records/subscription-repository.ts';
import { newAddon, refuseEntitlementConflicts, type NewAddon } from '../addons.ts';
import { endGrantsOfAddon, grantsOfAddon, writeAttachedGrants } from '../attached-grants.ts';
import type { LineSwap } from '../../proration/change-rows.ts';
import { inSubscription, settle } from './line-item-change.ts';

/** The changes of a subscription when an addon is attached or ended. */
export interface AddonChange {
  readonly association: AddonAssociationRow;
  readonly swaps: readonly LineSwap[];
  readonly effective_at: string;
}

/** An addon to attach. */
export type AttachRequest = Omit<AddedAddon, 'checkout'> & {
  /** The id that was announced when the addon was asked for. */
  readonly association_id?: string | null;
};

/** An addon that is planned and not stored, with the changes of lines that it makes. */
export interface Attachment {
  readonly addon: NewAddon;
  readonly change: AddonChange;
}

/** Writes the association and its line items. */
export async function writeAttachment(
  tx: Transaction,
  { association, lines }: NewAddon,
): Promise<void> {
  await insertAddonAssociation(tx, association);
  await insertLineItems(tx, lines.map(rowOf));
}

/**
 * Begins the credit grants of an attached addon and gives the credits that are due. Called after the invoice that
 * charges the addon is written, which they do not pay (money 5.2.5).
 */
export async function beginGrants(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  { association }: Pick<NewAddon, 'association'>,
  behavior: AttachAddonBody['proration_behavior'],
  at: string,
): Promise<void> {
  const proration = behavior ?? subscription.proration_behavior;
  const grants = await grantsOfAddon(tx, deps, caller, subscription, association, proration);
  await writeAttachedGrants(tx, deps, caller, subscription, grants, at);
}

/** The addon and its lines, not stored; overridden prices are written. Refused in a pause (billing 12.3, 15). */
export async function planAttachment(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  request: AttachRequest,
  at: string,
): Promise<Attachment> {
  const { subscription_status } = subscription;
  // An addon whose checkout session is paid is attached all the same.
  if (subscription_status === 'paused' && !request.association_id)
    throw invalidOperation(
      'Nothing is charged in a pause; resume the subscription before an addon is attached.',
      'subscription_status',
    );
  const start_date = request.start_date ?? at;
  const owner = {
    subscription_id: subscription.id,
    customer_id: subscription.customer_id,
    plan: { id: subscription.plan_id, name: '' },
    selection: {
      currency: subscription.currency,
      default_currency:
        (await settlementOf(tx, caller.scope, subscription.currency))?.currency ?? null,
      cadence: subscription,
      start: subscription.start_date,
      end: subscription.end_date,
      include_price_ids: null,
    },
  };
  const stored = await lineItemsOf(tx, caller.scope, [subscription.id]);
  const lines = await withPrices(tx, caller.scope, stored);
  const context = { subscription, owner, lines };
  const addon = await newAddon(tx, deps, caller, context, { ...request, start_date });
  await refuseEntitlementConflicts(tx, caller, context, [addon]);
  const swaps = addon.lines.map((after) => ({ before: null, after, effective_at: start_date }));
  const change = { association: addon.association, swaps, effective_at: start_date };
  return { addon, change };
}

/**
 * Ends an addon association (billing 15), by default at the end of the running period. With prorations the
 * unused part of an advance is credited. Usage up to the end is billed.
 */
export async function detachAddon(
  deps: BillingDeps,
  caller: Caller,
  body: DetachAddonBody,
): Promise<AddonAssociationRow> {
  const id = body.addon_association_id;
  const known = await getAddonAssociation(deps.pool, caller.scope, id);
  return await inSubscription(deps, caller, known.subscription_id, async (tx, subscription, at) => {
    const change = await planDetachment(tx, caller, subscription, body);
    const ended = await writeDetachment(tx, deps, caller, change, body);
    await settle(tx, deps, caller, subscription, change.swaps, body.proration_behavior, at);
    return ended;
  });
}

/** Ends the association, its line items and its credit grants. */
export async function writeDetachment(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { association, swaps, effective_at }: AddonChange,
  { reason }: Pick<DetachAddonBody, 'reason'>,
): Promise<AddonAssociationRow> {
  for (const swap of swaps)
    await changeLineItem(tx, caller.scope, swap.before!.id, {
      end_date: swap.effective_at,
      ...changed(deps, caller),
    });
  await endGrantsOfAddon(tx, deps, caller, association, effective_at);
  return await changeAddonAssociation(tx, caller.scope, association.id, {
    end_date: effective_at,
    addon_status: 'cancelled',
    cancelled_at: isoTime(deps.clock.now()),
    cancellation_reason: reason ?? null,
    ...changed(deps, caller),
  });
}

/** The changes that `detachAddon` writes; previews use it too. */
export async function planDetachment(
  tx: Transaction,
  caller: Caller,
  subscription: SubscriptionRow,
  body: DetachAddonBody,
): Promise<AddonChange> {
  const association = await lockAddonAssociation(tx, caller.scope, body.addon_association_id);
  if (association.subscription_id !== subscription.id)
    throw notFound('Addon association', association.id);
  if (association.addon_status !== 'active' || association.end_date !== null)
    throw invalidOperation(
      `Addon association ${association.id} already ends at ${association.end_date}.`,
      'addon_association_id',
    );
  const { current_period_start, current_period_end } = subscription;
  const effective_at = body.effective_date ?? current_period_end;
  const earliest =
    association.start_date > current_period_start ? association.start_date : current_period_start;
  if (effective_at < earliest)
    throw invalidField('effective_date', `must not be before ${earliest}: earlier time is billed`);
  if (effective_at > current_period_end)
    throw invalidField(
      'effective_date',
      `must not be after the end of the running period, ${current_period_end}`,
    );
  const stored = await lineItemsOf(tx, caller.scope, [subscription.id]);
  const own = stored.filter(
    (line) =>
      line.addon_association_id === association.id &&
      (line.end_date === null || line.end_date > effective_at),
  );
  const lines = await withPrices(tx, caller.scope, own);
  // A line that begins later, with another quantity, ends where it begins.
  const swaps = lines.map((before) => {
    const { start_date } = before;
    return {
      before,
      after: null,
      effective_at: effective_at > start_date ? effective_at : start_date,
    };
  });
  return { association, swaps, effective_at };
}

const rowOf = ({ price: _, terms: __, ...row }: BilledLine) => row;
