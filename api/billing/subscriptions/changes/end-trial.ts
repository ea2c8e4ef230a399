import { invalidField } from '../../../../domain/errors.ts';
import { dueAt } from '../../../../domain/subscription/due.ts';
import { moveTrialEnd } from '../../../../domain/subscription/trial.ts';
import { isoTime } from '../../../../platform/clock.ts';
import type {
  ModifiedSubscription,
  TrialEndParams,
} from '../../../../schemas/subscription-modify.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import { runCommand } from '../../../conventions/command.ts';
import { changed, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { computeInvoices, onlyComputed } from '../../computing/compute-invoices.ts';
import { withProjectedCredits } from '../../computing/projected-credits.ts';
import { applyGrants } from '../../grants/apply-grants.ts';
import { settledAnswers } from '../../invoices/answers.ts';
import { findLatestInvoice } from '../../records/subscription-invoice-repository.ts';
import { linesOfInvoices } from '../../records/invoice-line-repository.ts';
import { moveCancellation } from '../../records/schedule-repository.ts';
import {
  changeSubscription,
  getSubscription,
  lockSubscription,
} from '../../records/subscription-repository.ts';
import { moveGrants } from '../credit-grants.ts';
import { moveCoupons } from '../move-coupons.ts';
import { movedAddons, withMovedEnds, writeMovedAddons } from '../move-addons.ts';
import { planAdvance } from '../plan-advance.ts';
import { caughtUp } from './catch-up.ts';
import { billedLines } from './line-records.ts';
import { NOTHING_CHANGED } from './changed-resources.ts';

/** Preview of a change of the trial: the dates, and the first paid invoice if the trial ends now. */
export async function previewTrialEnd(
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  params: TrialEndParams,
): Promise<ModifiedSubscription> {
  const at = isoTime(deps.clock.now());
  const ended = withTrialEnd(subscription, params, at);
  const advance = planAdvance(ended, at, deps.settings);
  if (params.action === 'scheduled_date' || advance === null)
    return await answerOf(deps, caller, ended, null);
  if (advance.target === null) return await answerOf(deps, caller, advance.after('0'), null);
  const addons = await movedAddons(deps.pool, caller.scope, subscription, ended);
  const lines = withMovedEnds(await billedLines(deps.pool, caller.scope, subscription.id), addons);
  const options = { at, user_id: caller.user_id, lines: new Map([[subscription.id, lines]]) };
  const computed = onlyComputed(
    await computeInvoices(deps, deps.pool, caller.scope, [advance.target], options),
  );
  const projected = await withProjectedCredits(deps.pool, caller.scope, computed, at);
  const next = advance.after(computed.invoice.amount_due);
  const shown = projected.lines.length === 0 ? null : { ...projected, status: 'preview' };
  return await answerOf(deps, caller, next, shown);
}

/**
 * Moves the end of a running trial, or ends the trial now. Ending it runs the trial's step of the billing run
 * at once (billing 10.4, 19.1).
 */
export async function executeTrialEnd(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  params: TrialEndParams,
): Promise<ModifiedSubscription> {
  await runCommand<{ id: string }>(deps, 'subscription', async () => {
    const known = await caughtUp(deps, caller, id);
    return async (tx) => {
      const subscription = await lockSubscription(tx, caller.scope, id);
      if (subscription.version !== known.version) return null;
      const at = isoTime(deps.clock.now());
      const moved = withTrialEnd(subscription, params, at);
      const { trial_end, current_period_end, cancel_at, due_at } = moved;
      const dates = { trial_end, current_period_end, cancel_at, due_at };
      const next = await changeSubscription(tx, caller.scope, id, {
        ...dates,
        ...changed(deps, caller),
      });
      if (cancel_at !== null && cancel_at !== subscription.cancel_at)
        await moveCancellation(tx, caller.scope, id, cancel_at, changed(deps, caller));
      const addons = await movedAddons(tx, caller.scope, subscription, next);
      await writeMovedAddons(tx, deps, caller, next, addons);
      await moveCoupons(tx, deps, caller, subscription, next);
      await moveGrants(tx, deps, caller, subscription, next);
      await applyGrants(tx, deps, caller, next, { at, refusal: 'store' });
      return { id };
    };
  });
  const before = await findLatestInvoice(deps.pool, caller.scope, id);
  const subscription = await caughtUp(deps, caller, id);
  if (params.action === 'immediate') await giveGrants(deps, caller, id);
  const invoice = await findLatestInvoice(deps.pool, caller.scope, id);
  if (invoice === null || invoice.id === before?.id)
    return await answerOf(deps, caller, subscription, null);
  const lines = await linesOfInvoices(deps.pool, caller.scope, [invoice.id]);
  const status = invoice.payment_status;
  const current = await getSubscription(deps.pool, caller.scope, id);
  return await answerOf(deps, caller, current, { invoice, lines, status });
}

/** Gives the credits that waited for the end of the trial, which has come. */
async function giveGrants(deps: BillingDeps, caller: Caller, id: string): Promise<void> {
  await deps.pool.begin(async (tx) => {
    const subscription = await lockSubscription(tx, caller.scope, id);
    const at = isoTime(deps.clock.now());
    await applyGrants(tx, deps, caller, subscription, { at, refusal: 'store' });
  });
}

/** The subscription with the new end of its trial. Refuses a subscription that is not in its trial. */
function withTrialEnd(
  subscription: SubscriptionRow,
  { action, new_trial_end }: TrialEndParams,
  at: string,
): SubscriptionRow {
  const path = 'trial_end_params.new_trial_end';
  if (action === 'scheduled_date' && !new_trial_end)
    throw invalidField(path, 'is required with scheduled_date');
  if (action === 'immediate' && new_trial_end)
    throw invalidField(path, 'is for scheduled_date; immediate ends the trial now');
  const moved = moveTrialEnd(subscription, action === 'immediate' ? at : new_trial_end!, at, path);
  const { trial_end } = moved;
  const { current_period_start, end_date } = subscription;
  if (trial_end <= current_period_start)
    throw invalidField(path, `must be after the start of the trial, ${current_period_start}`);
  if (action === 'scheduled_date' && trial_end <= at)
    throw invalidField(path, 'must be in the future; use immediate to end the trial now');
  if (end_date !== null && trial_end > end_date)
    throw invalidField(path, `must not be after the end of the subscription, ${end_date}`);
  // A cancellation at the end of the trial follows it (billing 10.4).
  const cancel_at = subscription.cancel_at_period_end ? trial_end : subscription.cancel_at;
  const next = { ...subscription, ...moved, cancel_at };
  return { ...next, due_at: dueAt(next) };
}

async function answerOf(
  { pool }: Pick<BillingDeps, 'pool'>,
  { scope }: Caller,
  { id, subscription_status, trial_end, current_period_end }: SubscriptionRow,
  shown: {
    readonly invoice: InvoiceRecord;
    readonly lines: readonly InvoiceLineRecord[];
    readonly status: string;
  } | null,
): Promise<ModifiedSubscription> {
  const [invoice] = shown === null ? [] : await settledAnswers(pool, scope, [shown], {});
  return {
    subscription: null,
    changed_resources: {
      ...NOTHING_CHANGED,
      subscriptions: [
        { id, action: 'updated', status: subscription_status, trial_end, current_period_end },
      ],
      invoices:
        invoice === undefined
          ? []
          : [
              {
                id: invoice.id,
                action: 'created',
                status: shown!.status,
                amount: invoice.amount_due,
                invoice,
                wallet_transaction: null,
              },
            ],
    },
    checkout_session: null,
  };
}
