import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents, type OutboxEvent } from '../../../postgres/tables/outbox.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import { groupBy } from '../../conventions/group-by.ts';
import { inParts } from '../../conventions/in-parts.ts';
import { computeInvoices, type Computation } from '../computing/compute-invoices.ts';
import { groupedOf } from '../records/child-repository.ts';
import { findInvoicesOfPeriods } from '../records/subscription-invoice-repository.ts';
import { endSchedulesOf } from '../records/schedule-repository.ts';
import { endAdvances, pausedAdvances } from '../proration/end-advances.ts';
import { writeChange } from '../proration/write-change.ts';
import {
  lockRunningDrafts,
  withRunningDrafts,
  writeDrafts,
  type FinalDraft,
} from './final-draft.ts';
import { invoiceEvent, issueInvoices } from '../computing/write-invoices.ts';
import { subscriptionSnapshot } from '../records/subscription-notification.ts';
import { writePauses } from '../records/pause-repository.ts';
import { refuseSubscriptions, type RefusedSubscription } from './refuse-subscriptions.ts';
import { closing, planAdvance, type Advance } from './plan-advance.ts';
import {
  endLineItemsOf,
  lockSubscriptionsUnchanged,
  replaceSubscriptions,
} from '../records/subscription-repository.ts';

/** The actor and the time of the billing run. */
export interface Advancing {
  readonly scope: Scope;
  /** The time by which subscriptions are due, and the time of what is written. */
  readonly at: string;
  readonly user_id: string;
  /** Called in every transaction: fails if another process has taken over the job. */
  hold(tx: Transaction): Promise<void>;
}

export interface AdvanceReport {
  readonly advanced: number;
  readonly invoices: number;
  /** Subscriptions that failed, each with its error; the others of the page are advanced. */
  readonly failed: readonly { readonly subscription_id: string; readonly error: unknown }[];
}

/**
 * Moves a page of due subscriptions one step. Usage of all of them is read in one call outside any
 * transaction; then one transaction writes invoices, periods and notifications of the subscriptions that have
 * not changed in the meantime (billing 3.4). A page that fails is split in halves until only the failing
 * subscriptions remain. The reason is stored on each of them for its tenant, and the subscription is due
 * again after a wait. Throws during an outage.
 */
export async function advanceSubscriptions(
  deps: BillingDeps,
  advancing: Advancing,
  subscriptions: readonly SubscriptionRow[],
): Promise<AdvanceReport> {
  const { results, failed } = await inParts(subscriptions, (part) =>
    advancePart(deps, advancing, part),
  );
  const all = [
    ...results.flatMap((part) => part.failed),
    ...failed.map(({ item, error }) => ({ subscription: item, error })),
  ];
  await refuseSubscriptions(deps, advancing, all);
  return {
    advanced: results.reduce((sum, part) => sum + part.advanced, 0),
    invoices: results.reduce((sum, part) => sum + part.invoices, 0),
    failed: all.map(({ subscription, error }) => ({ subscription_id: subscription.id, error })),
  };
}

interface PartReport {
  readonly advanced: number;
  readonly invoices: number;
  readonly failed: readonly RefusedSubscription[];
}

async function advancePart(
  deps: BillingDeps,
  advancing: Advancing,
  subscriptions: readonly SubscriptionRow[],
): Promise<PartReport> {
  const { plans, failed: unplanned } = planSteps(deps, advancing, subscriptions);
  const parents = await withChildren(deps, advancing, plans);
  const { steps, failed } = await computeSteps(deps, advancing, parents);
  return { ...(await writeSteps(deps, advancing, steps)), failed: [...unplanned, ...failed] };
}

function planSteps(
  deps: BillingDeps,
  { at }: Advancing,
  subscriptions: readonly SubscriptionRow[],
): { plans: Advance[]; failed: RefusedSubscription[] } {
  const plans: Advance[] = [];
  const failed: RefusedSubscription[] = [];
  for (const subscription of subscriptions) {
    try {
      const plan = planAdvance(subscription, at, deps.settings);
      if (plan !== null) plans.push(plan);
    } catch (error) {
      failed.push({ subscription, error });
    }
  }
  return { plans, failed };
}

/** A step with what it does to grouped subscriptions (billing 16). */
interface ParentAdvance extends Advance {
  readonly children: readonly ChildAdvance[];
}
/** A grouped subscription: `plan` closes its period with that of the parent; null if it is behind. */
interface ChildAdvance {
  readonly before: SubscriptionRow;
  readonly plan: Advance | null;
}

/**
 * The end of a parent's period is the end of the period of its grouped subscriptions: their rows are on the
 * parent's invoice. A child that is behind closes its own periods until it meets its parent.
 */
async function withChildren(
  deps: BillingDeps,
  { scope }: Advancing,
  plans: readonly Advance[],
): Promise<ParentAdvance[]> {
  const isClosing = ({ subscription, target }: Advance): boolean =>
    subscription.subscription_type === 'parent' && target?.billing_reason === 'SUBSCRIPTION_CYCLE';
  const rows = await groupedOf(
    deps.pool,
    scope,
    plans.filter(isClosing).map(({ subscription }) => subscription.id),
  );
  const byParent = groupBy(rows, (row) => row.parent_subscription_id!);
  const closed = new Set(rows.map(({ id }) => id));
  // A child of a closing parent makes no step of its own beside it.
  const own = plans.filter(({ subscription }) => !closed.has(subscription.id));
  return own.map((plan) => {
    if (!isClosing(plan)) return { ...plan, children: [] };
    const end = plan.target!.period.end;
    const children = (byParent.get(plan.subscription.id) ?? [])
      .filter((row) => row.current_period_end <= end)
      .map((before) => ({
        before,
        plan: isMerged(before, end) ? closing(before, deps.settings) : null,
      }));
    const grouped = children.flatMap((child) => child.plan?.target ?? []);
    return { ...plan, target: { ...plan.target!, grouped }, children };
  });
}

const isMerged = (child: SubscriptionRow, end: string): boolean =>
  child.subscription_status === 'active' &&
  child.current_period_end === end &&
  child.merges_from !== null &&
  child.merges_from <= end;

/** Grouped subscriptions after the step of their parent. */
function childrenAfter({ plan }: Step, parent: SubscriptionRow, { at, user_id }: Advancing) {
  return plan.children.map((child) => ({
    before: child.before,
    after: {
      ...(child.plan === null
        ? { ...child.before, merges_from: parent.current_period_end }
        : child.plan.after('0')),
      updated_at: at,
      updated_by: user_id,
    },
  }));
}

/** One step with its computed invoice; null if there is nothing to write. */
interface Step {
  readonly plan: ParentAdvance;
  readonly invoice: Draft | null;
}
interface Draft extends FinalDraft {
  readonly customer: Customer;
}

async function computeSteps(
  deps: BillingDeps,
  { scope, at, user_id }: Advancing,
  plans: readonly ParentAdvance[],
): Promise<{ steps: Step[]; failed: RefusedSubscription[] }> {
  const targets = plans.flatMap(({ target }) => target ?? []);
  const taken = await findInvoicesOfPeriods(deps.pool, scope, targets);
  const open = await withRunningDrafts(
    deps.pool,
    scope,
    targets.filter((target) => !taken.has(target.subscription.id)),
  );
  const computations = await computeInvoices(deps, deps.pool, scope, open, { at, user_id });
  const byPlan = new Map(
    computations.map((done) => [
      (done.ok ? done.computed.target : done.target).subscription.id,
      done,
    ]),
  );
  const steps: Step[] = [];
  const failed: RefusedSubscription[] = [];
  for (const plan of plans) {
    const done = byPlan.get(plan.subscription.id);
    if (done?.ok === false) failed.push({ subscription: plan.subscription, error: done.error });
    else steps.push({ plan, invoice: draftOf(plan, done) });
  }
  return { steps, failed };
}

function draftOf(
  plan: ParentAdvance,
  done: Extract<Computation, { ok: true }> | undefined,
): Draft | null {
  if (done === undefined) return null;
  const { invoice, lines, sources, target } = done.computed;
  const before = target.invoice;
  if (lines.length === 0 && !plan.isWrittenEmpty && before === null) return null;
  const billing_sequence = before?.billing_sequence ?? plan.subscription.last_billing_sequence + 1;
  const customer = sources.customers.get(payerOf(plan.subscription))!;
  return { invoice: { ...invoice, billing_sequence }, lines, customer, before };
}

async function writeSteps(
  deps: BillingDeps,
  advancing: Advancing,
  computed: readonly Step[],
): Promise<{ advanced: number; invoices: number }> {
  if (computed.length === 0) return { advanced: 0, invoices: 0 };
  const { scope } = advancing;
  const written = await deps.pool.begin(async (tx) => {
    await advancing.hold(tx);
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
    const drafts = await issued(tx, advancing, steps);
    await writeDrafts(
      tx,
      scope,
      drafts.map(({ draft }) => draft),
    );

    const moved = steps.map((step) => afterStep(step, advancing));
    const followed = steps.flatMap((step, index) => childrenAfter(step, moved[index]!, advancing));
    const credited = await returnAdvances(tx, deps, advancing, steps, moved);
    await replaceSubscriptions(tx, scope, [...moved, ...followed.map(({ after }) => after)]);
    await writePauses(tx, scope, [
      ...moved.map((after, index) => ({ before: steps[index]!.plan.subscription, after })),
      ...followed,
    ]);
    const ended = [...moved, ...followed.map(({ after }) => after)].filter(
      (row) => row.subscription_status === 'cancelled',
    );
    await endLineItemsOf(tx, scope, ended);
    await endSchedulesOf(
      tx,
      scope,
      ended.map(({ id }) => id),
      advancing,
    );
    const told = followed.map(({ before, after }) => changeEvent(scope, before, after, null));
    await writeOutboxEvents(tx, [...eventsOf(scope, steps, moved, drafts), ...told, ...credited]);
    failpoint('jobs.close_billing_periods.before_commit');
    return { advanced: steps.length, invoices: drafts.length };
  });
  failpoint('jobs.close_billing_periods.after_commit');
  return written;
}

/**
 * Credits advances for time after a scheduled cancellation as the cancellation requests (billing 13), and for the time
 * of a pause that has ended (12.4).
 */
async function returnAdvances(
  tx: Transaction,
  deps: BillingDeps,
  { scope, at, user_id }: Advancing,
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
    if (after.subscription_status !== 'cancelled' || before.cancel_at === null) continue;
    const behavior = before.cancel_proration_behavior ?? before.proration_behavior;
    const end = after.end_date!;
    const settled = await endAdvances(deps, tx, caller, before, end, behavior, at);
    const of = { kind: 'cancellation', subscription: after, at };
    events.push(...(await writeChange(tx, deps, caller, settled, of)).events);
  }
  return events;
}

/** The drafts of the steps. Invoices that are issued at once have their numbers. */
async function issued(
  tx: Transaction,
  { scope, at, user_id }: Advancing,
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
  const final = await issueInvoices(tx, scope, withTerms, { at, user_id });
  const byStep = new Map(final.map((draft) => [draft.step, draft]));
  return drafts.map(({ step, draft }) => ({ step, draft: byStep.get(step) ?? draft }));
}

function afterStep({ plan, invoice }: Step, { at, user_id }: Advancing): SubscriptionRow {
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
