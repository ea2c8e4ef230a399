import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import { inParts } from '../../conventions/in-parts.ts';
import { computeInvoices, type Computation } from '../computing/compute-invoices.ts';
import type { BillingRun } from '../billing-run.ts';
import { findInvoicesOfPeriods } from '../records/subscription-invoice-repository.ts';
import { withRunningDrafts } from './final-draft.ts';
import { withChildren, type ParentAdvance } from './grouped-steps.ts';
import { planAdvance, type Advance } from './plan-advance.ts';
import { refuseSubscriptions, type RefusedSubscription } from './refuse-subscriptions.ts';
import { writeSteps, type Draft, type Step } from './write-steps.ts';

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
  run: BillingRun,
  subscriptions: readonly SubscriptionRow[],
): Promise<AdvanceReport> {
  const { results, failed } = await inParts(subscriptions, (part) => advancePart(deps, run, part));
  const all = [
    ...results.flatMap((part) => part.failed),
    ...failed.map(({ item, error }) => ({ subscription: item, error })),
  ];
  await refuseSubscriptions(deps, run, all);
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
  run: BillingRun,
  subscriptions: readonly SubscriptionRow[],
): Promise<PartReport> {
  const { plans, failed: unplanned } = planSteps(deps, run, subscriptions);
  const parents = await withChildren(deps, run.scope, plans);
  const { steps, failed } = await computeSteps(deps, run, parents);
  return { ...(await writeSteps(deps, run, steps)), failed: [...unplanned, ...failed] };
}

function planSteps(
  deps: BillingDeps,
  { at }: BillingRun,
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

async function computeSteps(
  deps: BillingDeps,
  { scope, at, user_id }: BillingRun,
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
