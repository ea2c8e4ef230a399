import { endProrations } from '../../../domain/subscription/closing-prorations.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents, type OutboxEvent } from '../../../postgres/tables/outbox.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import { invoiceEvent, issueInvoices } from '../computing/write-invoices.ts';
import { endAdvances, pausedAdvances } from '../proration/end-advances.ts';
import { resumedAdvances } from '../proration/resumed-advances.ts';
import { writeChange } from '../proration/write-change.ts';
import type { BillingRun } from '../billing-run.ts';
import { writePauses } from '../records/pause-repository.ts';
import { endSchedulesOf, moveCancellation } from '../records/schedule-repository.ts';
import { subscriptionSnapshot } from '../records/subscription-notification.ts';
import {
  endLineItemsOf,
  lockSubscriptionsUnchanged,
  replaceSubscriptions,
} from '../records/subscription-repository.ts';
import { lockRunningDrafts, writeDrafts, type FinalDraft } from './final-draft.ts';
import { moveGrantsAfterPauses } from '../grants/move-grants.ts';
import { takeBackInvoices } from './take-back-invoices.ts';
import { childrenAfter, type ParentAdvance } from './grouped-steps.ts';

/** One step with its computed invoice; null if there is nothing to write. */
export interface Step {
  readonly plan: ParentAdvance;
  readonly invoice: Draft | null;
}

export interface Draft extends FinalDraft {
  readonly customer: Customer;
}

/** Writes the steps of subscriptions that have not changed since they were read, in one transaction. */
export async function writeSteps(
  deps: BillingDeps,
  run: BillingRun,
  computed: readonly Step[],
): Promise<{ advanced: number; invoices: number }> {
  if (computed.length === 0) return { advanced: 0, invoices: 0 };
  const { scope } = run;
  const written = await deps.pool.begin(async (tx) => {
    await run.hold(tx);
    const read = computed.map(({ plan }) => plan.subscription);
    const children = computed.flatMap(({ plan }) => plan.children.map(({ before }) => before));
    const unchanged = new Set([
      ...(await lockSubscriptionsUnchanged(tx, scope, read)),
      ...(await lockSubscriptionsUnchanged(tx, scope, children)),
    ]);
    const steps = computed.filter(({ plan }) =>
      [plan.subscription, ...plan.children.map(({ before }) => before)].every(({ id }) =>
        unchanged.has(id),
      ),
    );
    const isSame = await lockRunningDrafts(
      tx,
      scope,
      steps.flatMap(({ invoice }) => invoice ?? []),
    );
    if (!isSame) return { advanced: 0, invoices: 0 };
    const drafts = await issued(tx, deps, run, steps);
    await writeDrafts(
      tx,
      scope,
      drafts.map(({ draft }) => draft),
    );

    const moved = steps.map((step) => afterStep(step, run));
    const followed = steps.flatMap((step, index) =>
      childrenAfter(step.plan.children, moved[index]!, run),
    );
    for (const [index, { plan }] of steps.entries())
      if (moved[index]!.subscription_status === 'cancelled')
        await takeBackInvoices(tx, deps, run, plan.subscription);
    const credited = await returnAdvances(tx, deps, run, steps, moved);
    await replaceSubscriptions(tx, scope, [...moved, ...followed.map(({ after }) => after)]);
    const changes = [
      ...moved.map((after, index) => ({ before: steps[index]!.plan.subscription, after })),
      ...followed,
    ];
    await writePauses(tx, scope, changes);
    const resettled = await settleResumptions(tx, deps, run, changes);
    await moveGrantsAfterPauses(tx, scope, changes);
    for (const { before, after } of changes) {
      const { id, cancel_at, subscription_status } = after;
      if (subscription_status !== 'active' || cancel_at === null) continue;
      // A resumption moves a cancellation at the end of the period (billing 12.4).
      if (cancel_at !== before.cancel_at) await moveCancellation(tx, scope, id, cancel_at, after);
    }
    const ended = [...moved, ...followed.map(({ after }) => after)].filter(
      (row) => row.subscription_status === 'cancelled',
    );
    await endLineItemsOf(tx, scope, ended);
    await endSchedulesOf(
      tx,
      scope,
      ended.map(({ id }) => id),
      run,
    );
    const childEvents = followed.map(({ before, after }) =>
      changeEvent(scope, before, after, null),
    );
    await writeOutboxEvents(tx, [
      ...eventsOf(scope, steps, moved, drafts),
      ...childEvents,
      ...credited,
      ...resettled,
    ]);
    failpoint('jobs.close_billing_periods.before_commit');
    return { advanced: steps.length, invoices: drafts.length };
  });
  failpoint('jobs.close_billing_periods.after_commit');
  return written;
}

/**
 * Credits advances for time after a scheduled cancellation as the cancellation requests (billing 13), for the time of a
 * pause that has ended (12.4), and for that from the start of a pause in which the subscription ends (12.8).
 */
async function returnAdvances(
  tx: Transaction,
  deps: BillingDeps,
  { scope, at, user_id }: BillingRun,
  steps: readonly Step[],
  moved: readonly SubscriptionRow[],
): Promise<(OutboxEvent & { readonly scope: Scope })[]> {
  const events: (OutboxEvent & { readonly scope: Scope })[] = [];
  for (const [index, { plan }] of steps.entries()) {
    const after = moved[index]!;
    const before = plan.subscription;
    const caller = { scope, user_id };
    if (before.subscription_status === 'paused' && after.subscription_status === 'active') {
      const settled = await pausedAdvances(deps, tx, caller, before, before.due_at!, at);
      const of = { kind: 'pause', subscription: after, at };
      events.push(...(await writeChange(tx, deps, caller, settled, of)).events);
    }
    const isReturned = before.cancel_at !== null || before.subscription_status === 'paused';
    if (after.subscription_status !== 'cancelled' || !isReturned) continue;
    const end = after.end_date!;
    const settled = await endAdvances(deps, tx, caller, before, end, endProrations(before), at);
    const of = { kind: 'cancellation', subscription: after, at };
    events.push(...(await writeChange(tx, deps, caller, settled, of)).events);
  }
  return events;
}

/**
 * Settles lines that serve another part of a period that a pause has made longer (billing 12.4). The records of the
 * pauses are written already.
 */
async function settleResumptions(
  tx: Transaction,
  deps: BillingDeps,
  { scope, at, user_id }: BillingRun,
  changes: readonly { readonly before: SubscriptionRow; readonly after: SubscriptionRow }[],
): Promise<(OutboxEvent & { readonly scope: Scope })[]> {
  const events: (OutboxEvent & { readonly scope: Scope })[] = [];
  const caller = { scope, user_id };
  for (const { before, after } of changes) {
    if (before.subscription_status !== 'paused' || after.subscription_status !== 'active') continue;
    const settled = await resumedAdvances(deps, tx, caller, before, after, at);
    if (settled === null) continue;
    const of = { kind: 'resumption', subscription: after, at };
    events.push(...(await writeChange(tx, deps, caller, settled, of)).events);
  }
  return events;
}

/** The drafts of the steps. Invoices that are issued at once have their numbers. */
async function issued(
  tx: Transaction,
  deps: Pick<BillingDeps, 'ids'>,
  { scope, at, user_id }: BillingRun,
  steps: readonly Step[],
): Promise<{ step: Step; draft: Draft }[]> {
  const drafts = steps.flatMap((step) =>
    step.invoice === null ? [] : [{ step, draft: step.invoice }],
  );
  const atOnce = drafts.filter(
    ({ step, draft }) => step.plan.isIssuedAtOnce && draft.invoice.invoice_status === 'DRAFT',
  );
  const withTerms = atOnce.map(({ step, draft }) => ({
    ...draft,
    step,
    terms: step.plan.subscription,
  }));
  const final = await issueInvoices(tx, deps, scope, withTerms, { at, user_id });
  const byStep = new Map(final.map((draft) => [draft.step, draft]));
  return drafts.map(({ step, draft }) => ({ step, draft: byStep.get(step) ?? draft }));
}

function afterStep({ plan, invoice }: Step, { at, user_id }: BillingRun): SubscriptionRow {
  const after = plan.after(invoice?.invoice.amount_due ?? '0');
  const numbered = Math.max(invoice?.invoice.billing_sequence ?? 0, after.last_billing_sequence);
  return {
    ...after,
    last_billing_sequence: numbered,
    billing_refusal: null,
    billing_retry_at: null,
    updated_at: at,
    updated_by: user_id,
  };
}

function eventsOf(
  scope: Scope,
  steps: readonly Step[],
  moved: readonly SubscriptionRow[],
  drafts: readonly { readonly step: Step; readonly draft: Draft }[],
): (OutboxEvent & { readonly scope: Scope })[] {
  const draftOfStep = new Map(drafts.map(({ step, draft }) => [step, draft]));
  return steps.flatMap((step, index) => {
    const subscription = moved[index]!;
    const draft = draftOfStep.get(step) ?? null;
    const customer = draft?.customer ?? null;
    const changed = changeEvent(scope, step.plan.subscription, subscription, customer);
    if (draft === null) return [changed];
    const isFinal = draft.invoice.invoice_status === 'FINALIZED';
    const name = isFinal ? 'invoice.update.finalized' : 'invoice.update';
    return [invoiceEvent(name, scope, { ...draft, subscription }), changed];
  });
}

const changeEvent = (
  scope: Scope,
  before: SubscriptionRow,
  after: SubscriptionRow,
  customer: Customer | null,
): OutboxEvent & { readonly scope: Scope } => ({
  scope,
  event_type: subscriptionEvent(before, after),
  payload: { subscription: subscriptionSnapshot(after, customer) },
});

function subscriptionEvent(before: SubscriptionRow, after: SubscriptionRow) {
  if (after.subscription_status === 'cancelled') return 'subscription.cancelled';
  if (after.subscription_status !== before.subscription_status) {
    if (after.subscription_status === 'paused') return 'subscription.paused';
    if (before.subscription_status === 'paused') return 'subscription.resumed';
  }
  const isActivated =
    before.subscription_status === 'trialing' && after.subscription_status === 'active';
  return isActivated ? 'subscription.activated' : 'subscription.updated';
}
