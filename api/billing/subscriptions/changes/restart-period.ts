import type { ProrationBehavior } from '../../../../domain/pricing/proration.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../../postgres/tables/outbox.ts';
import type { ChangedInvoice, ChangedResources } from '../../../../schemas/subscription-modify.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { computeInvoices, onlyComputed } from '../../computing/compute-invoices.ts';
import { closedTarget } from '../../computing/targets.ts';
import { invoiceEvent } from '../../computing/write-invoices.ts';
import { settledAnswers } from '../../invoices/answers.ts';
import { settleChange } from '../../proration/settle-change.ts';
import { writeChange } from '../../proration/write-change.ts';
import { changeSubscription } from '../../records/subscription-repository.ts';
import {
  lockRunningDrafts,
  withRunningDrafts,
  writeDrafts,
  type FinalDraft,
} from '../final-draft.ts';
import { changeGrantsOfPlan } from '../attached-grants.ts';
import type { How } from './change-gate.ts';
import { NOTHING_CHANGED, previewedInvoices, writtenInvoices } from './changed-resources.ts';
import { applyPlan } from './apply-plan.ts';
import { restarted, type PlanChange } from './plan-swap.ts';

/** The id of a draft that a preview would write. */
const PREVIEW_DRAFT = '(preview-draft)';

/**
 * A plan change that ends the running period and begins a new one at its effect (billing 14.2). The advances settle at
 * once: what the old period has not served is credited, with prorations, against the whole advances of the new one.
 * Usage and arrears of the ended period are a draft, because usage may still come in (17.4). Writes everything; a
 * preview is rolled back by the caller, so that it shows what the execution does.
 */
export async function restartPeriod(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  {
    change,
    proration_behavior,
  }: { readonly change: PlanChange; readonly proration_behavior: ProrationBehavior },
  how: How,
): Promise<ChangedResources> {
  const { scope } = caller;
  const { at, isPreview, paid = null, onSettled } = how;
  const next = restarted(subscription, change, proration_behavior);
  const stored = await applyPlan(tx, deps, caller, next, change, at);
  const operation = { subscription, restarted: stored, swaps: change.swaps, proration_behavior };
  const settled = await settleChange(deps, tx, caller, operation, at);
  onSettled?.(settled);
  const previewed = isPreview ? await previewedInvoices(tx, scope, settled, how) : null;
  const written = await writeChange(tx, deps, caller, settled, {
    kind: 'plan_change',
    subscription: stored,
    at,
    paid,
  });
  await changeGrantsOfPlan(tx, deps, caller, stored, change, { at, proration_behavior });
  const draft = await closeEnded(tx, deps, caller, stored, {
    subscription,
    proration_behavior,
    at,
  });
  await writeOutboxEvents(tx, [...written.events]);
  return {
    ...NOTHING_CHANGED,
    subscriptions: [
      {
        id: stored.id,
        action: 'updated',
        status: stored.subscription_status,
        trial_end: stored.trial_end,
        current_period_end: stored.current_period_end,
      },
    ],
    invoices: [
      ...(previewed ?? (await writtenInvoices(tx, scope, written))),
      ...(draft === null ? [] : [await draftAnswer(tx, caller, draft, isPreview)]),
    ],
  };
}

/** The draft for usage and arrears of the ended period; null if there is nothing to charge. */
async function closeEnded(
  tx: Transaction,
  deps: BillingDeps,
  { scope, user_id }: Caller,
  stored: SubscriptionRow,
  {
    subscription,
    proration_behavior,
    at,
  }: {
    /** As it was before the change. */
    readonly subscription: SubscriptionRow;
    readonly proration_behavior: ProrationBehavior;
    readonly at: string;
  },
): Promise<FinalDraft | null> {
  const period = {
    start: subscription.current_period_start,
    end: stored.current_period_start,
  };
  const target = closedTarget(stored, period, proration_behavior, deps.settings);
  const [final] = await withRunningDrafts(tx, scope, [target]);
  const {
    invoice: computed,
    lines,
    sources,
  } = onlyComputed(await computeInvoices(deps, tx, scope, [final!], { at, user_id }));
  const before = final!.invoice;
  if (lines.length === 0 && before === null) return null;
  const billing_sequence = before?.billing_sequence ?? stored.last_billing_sequence + 1;
  const invoice = { ...computed, billing_sequence };
  const draft = { invoice, lines, before };
  await lockRunningDrafts(tx, scope, [draft]);
  await writeDrafts(tx, scope, [draft]);
  const last_billing_sequence = Math.max(billing_sequence, stored.last_billing_sequence);
  const counted = await changeSubscription(tx, scope, stored.id, { last_billing_sequence });
  const customer = sources.customers.get(stored.customer_id)!;
  await writeOutboxEvents(tx, [
    invoiceEvent('invoice.update', scope, { invoice, lines, customer, subscription: counted }),
  ]);
  return draft;
}

async function draftAnswer(
  tx: Transaction,
  { scope }: Caller,
  { invoice, lines }: FinalDraft,
  isPreview: boolean,
): Promise<ChangedInvoice> {
  const shown = isPreview ? { ...invoice, id: PREVIEW_DRAFT } : invoice;
  const [answer] = await settledAnswers(tx, scope, [{ invoice: shown, lines }], {});
  return {
    id: shown.id,
    action: 'created',
    status: isPreview ? 'preview' : shown.payment_status,
    amount: shown.amount_due,
    invoice: answer!,
    wallet_transaction: null,
  };
}
