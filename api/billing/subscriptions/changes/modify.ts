import { invalidField } from '../../../../domain/errors.ts';
import { isoTime } from '../../../../platform/clock.ts';
import { failpoint } from '../../../../platform/failpoint.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../../postgres/tables/outbox.ts';
import type { AddonAssociationRow } from '../../../../schemas/addon-association.ts';
import type { CheckoutSession } from '../../../../schemas/checkout.ts';
import {
  ModifySubscriptionBody,
  type ChangedResources,
  type ModifiedSubscription,
} from '../../../../schemas/subscription-modify.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import { changed, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { runGatedCommand, withCheckout, type GatedRequest } from '../../records/gated-command.ts';
import { subscriptionSnapshot } from '../../records/subscription-notification.ts';
import {
  changeSubscription,
  getSubscription,
  lockSubscription,
} from '../../records/subscription-repository.ts';
import { modifiedSubscription } from '../read-subscriptions.ts';
import { billedAttachment, type BilledAttachment } from './addon-of-closed-periods.ts';
import { caughtUp } from './catch-up.ts';
import { changeAddons } from './change-addons.ts';
import { changeCoupons } from './change-coupons.ts';
import { quantitySwaps } from './change-quantity.ts';
import { changeGrouping, changeInheritance } from './change-children.ts';
import { assertNoCheckout } from '../no-checkout.ts';
import { openChangeGate, triedChange, type How } from './change-gate.ts';
import { changeTaxes } from './change-taxes.ts';
import {
  changedLines,
  NOTHING_CHANGED,
  previewedCreations,
  previewedInvoices,
  previewedSubscription,
  writtenCreations,
  writtenInvoices,
} from './changed-resources.ts';
import { refuseUnchangeable } from './line-item-change.ts';
import { endsInPause } from './change-in-pause.ts';
import { isBilledNow, replaceLines } from './line-records.ts';
import { settleChange, type SettledChange } from '../../proration/settle-change.ts';
import { writeChange } from '../../proration/write-change.ts';
import { rolledBack } from '../../../conventions/rolled-back.ts';
import { executeTrialEnd, previewTrialEnd } from './end-trial.ts';

/** The changes that run in one transaction; the end of a trial also runs its billing step. */
type Change = Exclude<ModifySubscriptionBody['type'], 'trial_end'>;

/** The effects of `modify/execute` with the same body (billing 14.1). Writes nothing. */
export async function previewModification(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: ModifySubscriptionBody,
): Promise<ModifiedSubscription> {
  const subscription = await getSubscription(deps.pool, caller.scope, id);
  if (body.type === 'trial_end')
    return await previewTrialEnd(deps, caller, subscription, paramsOf(body.trial_end_params, body));
  const { pool } = deps;
  const billed = await billedAddon(deps, caller, subscription, body);
  const changed_resources = await rolledBack(deps, async (tx) => {
    const locked = await lockSubscription(tx, caller.scope, id);
    const how = { ...previewing(deps), isByCheckout: body.checkout != null, billed };
    return await apply(tx, deps, caller, locked, body, how);
  });
  return {
    subscription: await modifiedSubscription(pool, caller.scope, id, embedAt(deps, body)),
    changed_resources,
    checkout_session: null,
  };
}

/** Executes one change of a subscription, after everything due by now is billed. */
export async function executeModification(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: ModifySubscriptionBody,
): Promise<ModifiedSubscription> {
  if (body.type === 'trial_end')
    return await executeTrialEnd(deps, caller, id, paramsOf(body.trial_end_params, body));
  const { changed_resources, checkout_session } = await modify(deps, caller, id, body);
  return {
    subscription: await modifiedSubscription(deps.pool, caller.scope, id, embedAt(deps, body)),
    changed_resources,
    checkout_session,
  };
}

/** A change that was made, or the session that it waits for. */
interface Modification {
  readonly changed_resources: ChangedResources;
  readonly checkout_session: CheckoutSession | null;
  /** The addon that the change attaches, or will attach once it is paid. */
  readonly association: AddonAssociationRow | null;
}

/** Makes one change, after everything due by now is billed, or opens the session that pays for it. */
export async function modify(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: ModifySubscriptionBody,
  {
    isFreeRefused = false,
    request = withCheckout(`/subscriptions/${id}/modify/execute`, body),
  }: {
    /** Refuses a change with a checkout but nothing due. */
    readonly isFreeRefused?: boolean;
    /** What asks for the change. */
    readonly request?: GatedRequest;
  } = {},
): Promise<Modification> {
  const sessionOf = (made: Modified) => made.checkout_session_id;
  const noun = 'subscription';
  const done = await runGatedCommand(deps, caller, noun, request, sessionOf, async () => {
    const known = await caughtUp(deps, caller, id);
    const billed = await billedAddon(deps, caller, known, body);
    return async (tx) => {
      const subscription = await lockSubscription(tx, caller.scope, id);
      if (subscription.version !== known.version) return null;
      await assertNoCheckout(tx, subscription);
      const gated =
        body.checkout == null ? null : await gateOf(tx, deps, caller, subscription, body);
      if (gated !== null) return gated;
      if (isFreeRefused)
        throw invalidField(
          'configuration',
          'nothing is due for this change; make it without a checkout session',
        );
      let association: AddonAssociationRow | null = null;
      const how = {
        isPreview: false,
        at: isoTime(deps.clock.now()),
        billed,
        onAttached: (row: AddonAssociationRow) => void (association = row),
      };
      const changed_resources = await applyAndTell(tx, deps, caller, subscription, body, how);
      failpoint('api.modify_subscription.before_commit');
      return { changed_resources, checkout_session_id: null, association };
    };
  });
  const { checkout_session_id: session, ...made } = done;
  return {
    ...made,
    checkout_session:
      session === null ? null : await deps.checkoutGates.offer(deps, caller, session),
  };
}

/** The addon of the request with its invoices of closed periods; null if it has none, or a checkout pays for it. */
async function billedAddon(
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  { type, addon_params, checkout }: ModifySubscriptionBody,
): Promise<BilledAttachment | null> {
  if (type !== 'addon' || addon_params?.add == null || checkout != null) return null;
  if (addon_params.action !== 'add') return null;
  return await billedAttachment(deps, caller, subscription, addon_params.add);
}

/** The change, or the session that it waits for. */
interface Modified {
  readonly changed_resources: ChangedResources;
  readonly checkout_session_id: string | null;
  readonly association: AddonAssociationRow | null;
}

/** The session of a change that costs something; null if nothing is due: then it is made at once (money 11.7). */
async function gateOf(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  { checkout, ...body }: ModifySubscriptionBody,
): Promise<Modified | null> {
  let association: AddonAssociationRow | null = null;
  const onAttached = (row: AddonAssociationRow) => void (association = row);
  const tried = await triedChange(tx, (inner, onSettled) =>
    apply(inner, deps, caller, subscription, body, {
      ...previewing(deps),
      isByCheckout: true,
      onSettled,
      onAttached,
    }),
  );
  const waiting = association as AddonAssociationRow | null;
  const session = await openChangeGate(tx, deps, caller, checkout!, tried.settled, {
    action: body.type === 'addon' ? 'add_addon' : 'modify_subscription',
    subscription,
    params: {
      subscription_id: subscription.id,
      change: 'modify',
      body,
      ...(waiting === null ? {} : { association_id: waiting.id }),
    },
  });
  if (session === null) return null;
  return {
    changed_resources: tried.result,
    checkout_session_id: session.id,
    association: waiting === null ? null : { ...waiting, addon_status: 'pending' },
  };
}

/** Makes a change whose checkout session was paid, as of the time when it was asked for. */
export async function completeModification(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  body: unknown,
  how: Pick<How, 'at' | 'paid' | 'association_id'>,
): Promise<void> {
  const parsed = ModifySubscriptionBody.parse(body);
  await applyAndTell(tx, deps, caller, subscription, parsed, { ...how, isPreview: false });
}

async function applyAndTell(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  body: ModifySubscriptionBody,
  how: How,
): Promise<ChangedResources> {
  const resources = await apply(tx, deps, caller, subscription, body, how);
  const next = await changeSubscription(tx, caller.scope, subscription.id, changed(deps, caller));
  await writeOutboxEvents(tx, [
    {
      scope: caller.scope,
      event_type: 'subscription.updated',
      payload: { subscription: subscriptionSnapshot(next, null) },
    },
  ]);
  return resources;
}

const previewing = (deps: Pick<BillingDeps, 'clock'>): How => ({
  isPreview: true,
  at: isoTime(deps.clock.now()),
});

/** A change of coupons is answered without plan and customer, as recorded. */
const embedAt = (deps: Pick<BillingDeps, 'clock'>, { type }: ModifySubscriptionBody) =>
  type === 'coupon' ? null : isoTime(deps.clock.now());

async function apply(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  body: ModifySubscriptionBody,
  how: How,
): Promise<ChangedResources> {
  refuseUnchangeable(subscription);
  const { isPreview, at, paid = null } = how;
  const type = body.type as Change;
  switch (type) {
    case 'quantity_change': {
      const params = paramsOf(body.quantity_change_params, body);
      const swaps = await quantitySwaps(deps, tx, caller, subscription, params, at);
      // First the lines: the coupons of a line discount what its next version is charged (billing 14.1).
      const replaced = swaps.map(({ before, after }) => ({ before: before!, after: after! }));
      await replaceLines(tx, deps, caller, replaced);
      const billed = swaps.filter(({ effective_at }) => isBilledNow(subscription, effective_at));
      const operation = {
        subscription,
        swaps: billed,
        proration_behavior: 'create_prorations',
      } as const;
      const settled = await settleChange(deps, tx, caller, operation, at);
      how.onSettled?.(settled);
      const line_items = changedLines(swaps, {
        isPreview,
        openEnd: subscription.current_period_end,
      });
      const invoices = isPreview
        ? await previewedInvoices(tx, caller.scope, settled, how)
        : await written(tx, deps, caller, settled, { kind: type, subscription, at, paid });
      return { ...NOTHING_CHANGED, line_items, invoices };
    }
    case 'coupon':
      await changeCoupons(tx, deps, caller, subscription, paramsOf(body.coupon_params, body), at);
      return NOTHING_CHANGED;
    case 'tax':
      await changeTaxes(tx, deps, caller, subscription, paramsOf(body.tax_params, body), at);
      return NOTHING_CHANGED;
    case 'addon': {
      const params = paramsOf(body.addon_params, body);
      const { swaps, proration_behavior, drafts, ...changed } = await changeAddons(
        tx,
        deps,
        caller,
        subscription,
        params,
        how,
      );
      const billed = swaps.filter(({ effective_at }) => isBilledNow(subscription, effective_at));
      const change = { subscription, swaps: billed, proration_behavior };
      const operation = { ...change, swaps: endsInPause(change, at) };
      const settled = await settleChange(deps, tx, caller, operation, at);
      how.onSettled?.(settled);
      const line_items = changedLines(swaps, { isPreview, openEnd: null });
      const invoices = isPreview
        ? await previewedInvoices(tx, caller.scope, settled, how)
        : await written(tx, deps, caller, settled, { kind: type, subscription, at, paid });
      await changed.settled();
      const closed = await (isPreview ? previewedCreations : writtenCreations)(
        tx,
        caller.scope,
        drafts,
      );
      return { ...NOTHING_CHANGED, line_items, invoices: [...closed, ...invoices] };
    }
    case 'inheritance': {
      const params = paramsOf(body.inheritance_params, body);
      const subscriptions = await changeInheritance(tx, deps, caller, subscription, params, at);
      const shown = isPreview ? subscriptions.map(previewedSubscription) : subscriptions;
      return { ...NOTHING_CHANGED, subscriptions: shown };
    }
    case 'grouped_invoicing': {
      const params = paramsOf(body.grouped_invoicing_params, body);
      const subscriptions = await changeGrouping(tx, deps, caller, subscription, params);
      return { ...NOTHING_CHANGED, subscriptions };
    }
    default:
      return type satisfies never;
  }
}

async function written(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  settled: SettledChange,
  of: Parameters<typeof writeChange>[4],
) {
  const done = await writeChange(tx, deps, caller, settled, of);
  await writeOutboxEvents(tx, [...done.events]);
  return await writtenInvoices(tx, caller.scope, done);
}

/** The parameters of each type of change. */
function paramsOf<Params>(
  params: Params | null | undefined,
  { type }: ModifySubscriptionBody,
): Params {
  const field = type === 'quantity_change' ? 'quantity_change_params' : `${type}_params`;
  if (params === null || params === undefined)
    throw invalidField(field, `is required with type ${type}`);
  return params;
}
