import { invalidOperation } from '../../../domain/errors.ts';
import { moveSubscription } from '../../../domain/states/subscription.ts';
import { validateDates } from '../../../domain/subscription/create-rules.ts';
import { trialWithin } from '../../../domain/subscription/schedule.ts';
import { trialFrom } from '../../../domain/subscription/trial.ts';
import { billingAnchor } from '../../../domain/time/billing-anchor.ts';
import type { BillingSchedule } from '../../../domain/time/billing-periods.ts';
import { isoTime } from '../../../platform/clock.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { ActivateSubscriptionBody } from '../../../schemas/subscription-requests.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { findTaxAssociationsOf, updateTaxAssociationRow } from '../../catalog/taxes/repository.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { subscriptionSnapshot } from '../records/subscription-notification.ts';
import { changeSubscription, lockSubscription } from '../records/subscription-repository.ts';
import { applyGrants } from '../grants/apply-grants.ts';
import { customerOf, runningPeriod } from './create-subscription.ts';
import { isOpeningCharged } from './collect-opening.ts';
import { moveGrants } from './credit-grants.ts';
import { moveCoupons } from './move-coupons.ts';
import { movedAddons, writeMovedAddons } from './move-addons.ts';
import { moveLines } from './move-lines.ts';
import { assertNoCheckout } from './no-checkout.ts';
import { opened, openingInvoice, writeOpening } from './opening-invoice.ts';

/**
 * Begins a draft at `start_date`: its anchor, periods, line items, coupons, grants, taxes and trial are
 * counted from there, and its opening invoice is issued (billing 10.5). Refuses a subscription that is not a
 * draft, and one that waits for the payment of a checkout session.
 */
export async function activateSubscription(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  { start_date }: ActivateSubscriptionBody,
): Promise<void> {
  const { scope } = caller;
  const at = isoTime(deps.clock.now());
  const draft = await lockSubscription(tx, scope, id);
  if (draft.subscription_status !== 'draft')
    throw invalidOperation(
      `Only a draft can be activated; this subscription is ${draft.subscription_status}.`,
      'subscription_status',
    );
  await assertNoCheckout(tx, draft);
  const customer = await customerOf(tx, caller, draft);
  const begun = begunAt(draft, start_date);
  await writeMovedAddons(tx, deps, caller, draft, await movedAddons(tx, scope, draft, begun));
  await moveLines(tx, deps, caller, draft, begun);
  await moveTerms(tx, deps, caller, draft, begun);
  const opening = await openingInvoice(tx, deps, caller, { subscription: begun, customer, at });
  const isCharged = await isOpeningCharged(tx, scope, begun, opening);
  const subscription = await changeSubscription(tx, scope, id, {
    start_date: begun.start_date,
    billing_anchor: begun.billing_anchor,
    trial_start: begun.trial_start,
    trial_end: begun.trial_end,
    current_period_start: begun.current_period_start,
    current_period_end: begun.current_period_end,
    ...opened('activate', begun, opening, at, isCharged),
    ...changed(deps, caller),
  });
  await applyGrants(tx, deps, caller, subscription, { at, refusal: 'throw' });
  const issued = await writeOpening(tx, scope, subscription, opening);
  await writeOutboxEvents(tx, [
    {
      scope,
      event_type: 'subscription.activated',
      payload: { subscription: subscriptionSnapshot(subscription, customer) },
    },
    ...issued,
  ]);
  failpoint('api.activate_subscription.before_commit');
}

/** The draft as a subscription that begins at `start`, trialing or active. */
function begunAt(draft: SubscriptionRow, start: string): SubscriptionRow {
  validateDates(start, draft.end_date);
  const isOwnAnchor =
    draft.billing_cycle === 'anniversary' && draft.billing_anchor !== draft.start_date;
  const rhythm = {
    ...draft,
    start_date: start,
    billing_anchor: isOwnAnchor ? draft.billing_anchor : null,
  };
  const schedule: BillingSchedule & SubscriptionRow = {
    ...rhythm,
    billing_anchor: billingAnchor(rhythm),
  };
  const whole = trialFrom(start, draft);
  const trial = whole === null ? null : trialWithin(whole, draft.end_date);
  return {
    ...schedule,
    ...runningPeriod(schedule, trial),
    subscription_status: moveSubscription(
      draft.subscription_status,
      trial === null ? 'activate_active' : 'activate_trialing',
    ),
  };
}

/** Coupons, grants and taxes that begin with the draft begin with the subscription. */
async function moveTerms(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  draft: SubscriptionRow,
  begun: SubscriptionRow,
): Promise<void> {
  const { scope } = caller;
  const { id, start_date } = draft;
  await moveCoupons(tx, deps, caller, draft, begun);
  await moveGrants(tx, deps, caller, draft, begun);
  for (const tax of await findTaxAssociationsOf(tx, scope, 'subscription', [id]))
    if (tax.start_date === start_date)
      await updateTaxAssociationRow(tx, scope, tax.id, {
        start_date: begun.start_date,
        ...changed(deps, caller),
      });
}
