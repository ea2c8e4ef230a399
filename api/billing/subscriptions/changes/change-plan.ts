import { BillingError, invalidField, invalidOperation } from '../../../../domain/errors.ts';
import { dueEnd } from '../../../../domain/subscription/cancellation.ts';
import {
  assertPlanChangeable,
  assertRestartable,
} from '../../../../domain/subscription/plan-change.ts';
import { isoTime } from '../../../../platform/clock.ts';
import { failpoint } from '../../../../platform/failpoint.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../../postgres/tables/outbox.ts';
import { ChangePlanBody, type ChangedPlan } from '../../../../schemas/subscription-plan-change.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { settleChange, type SettledChange } from '../../proration/settle-change.ts';
import { writeChange, type WrittenChange } from '../../proration/write-change.ts';
import {
  endSchedules,
  pendingSchedules,
  type ScheduleRow,
} from '../../records/schedule-repository.ts';
import { runGatedCommand, withCheckout } from '../../records/gated-command.ts';
import { getSubscription, lockSubscription } from '../../records/subscription-repository.ts';
import { modifiedSubscription } from '../read-subscriptions.ts';
import { assertNoCheckout } from '../no-checkout.ts';
import { openChangeGate, triedChange, type How } from './change-gate.ts';
import { lockEnd, previewedEnd, readEnd, type PlannedEnd, type ReadEnd } from './ended-period.ts';
import { caughtUp } from './catch-up.ts';
import {
  changedLines,
  NOTHING_CHANGED,
  previewedInvoices,
  writtenInvoices,
} from './changed-resources.ts';
import { isBilledNow } from './line-records.ts';
import { rolledBack } from '../../../conventions/rolled-back.ts';
import { schedule } from './schedules.ts';
import { changeGrantsOfPlan } from '../attached-grants.ts';
import { applyPlan } from './apply-plan.ts';
import { changeable, planChange, withPlan } from './plan-swap.ts';
import { restartPeriod } from './restart-period.ts';

/** Fields of the answer in addition to the subscription. */
type Outcome = Omit<ChangedPlan, 'subscription'>;
type Changed = Omit<Outcome, 'checkout_session'>;

/**
 * The effects of the change (billing 14.2). Executes the change and rolls it back. `onSettled` is called with
 * the charges and credits.
 */
export async function previewPlanChange(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: ChangePlanBody,
  onSettled?: (settled: SettledChange) => void,
): Promise<ChangedPlan> {
  const how = {
    isPreview: true,
    isByCheckout: body.checkout != null,
    at: isoTime(deps.clock.now()),
    ...(onSettled && { onSettled }),
  };
  const { changed, planned } = await triedRequest(deps, caller, id, body, how);
  const draft =
    planned && (await previewedEnd(deps.pool, caller.scope, await readEnd(deps, planned)));
  const { changed_resources } = changed;
  const invoices = [...changed_resources.invoices, ...(draft === null ? [] : [draft])];
  return await answered(deps, caller, id, {
    ...changed,
    changed_resources: { ...changed_resources, invoices },
    checkout_session: null,
  });
}

/** Executes the change and rolls it back. With it the invoice of the period that it ends; null if it ends none. */
async function triedRequest(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: ChangePlanBody,
  how: How,
): Promise<{ readonly changed: Changed; readonly planned: PlannedEnd | null }> {
  let planned: PlannedEnd | null = null;
  const onEnded = (end: PlannedEnd) => void (planned = end);
  const changed = await rolledBack(deps, async (tx) => {
    const subscription = await lockSubscription(tx, caller.scope, id);
    if (!how.isPreview) await assertNoCheckout(tx, subscription);
    return await request(tx, deps, caller, subscription, body, { ...how, onEnded });
  });
  return { changed, planned };
}

/**
 * The invoice of the running period with its usage, if the change ends that period now; null otherwise. The change is
 * tried first, because the invoice depends on what it writes. Usage is read after that, outside of any transaction.
 */
async function endOfPeriod(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: ChangePlanBody,
  at: string,
): Promise<ReadEnd | null> {
  if (body.billing_period_behaviour !== 'anchor_at_effect') return null;
  const { planned } = await triedRequest(deps, caller, id, body, { isPreview: false, at });
  return planned === null ? null : await readEnd(deps, planned);
}

/**
 * Changes the plan now, or schedules the change for the end of the period (billing 14.2). `onSettled` is called
 * with the charges and credits.
 */
export async function executePlanChange(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: ChangePlanBody,
  onSettled?: (settled: SettledChange) => void,
): Promise<ChangedPlan> {
  const asked = withCheckout(`/subscriptions/${id}/change/v2/execute`, body);
  const sessionOf = (done: Requested) => done.session;
  const noun = 'subscription';
  const command = runGatedCommand(deps, caller, noun, asked, sessionOf, async () => {
    refuseContradictions(body);
    await getSubscription(deps.pool, caller.scope, id);
    const known = await caughtUp(deps, caller, id);
    const at = isoTime(deps.clock.now());
    const ended = await endOfPeriod(deps, caller, id, body, at);
    return async (tx) => {
      const subscription = await lockSubscription(tx, caller.scope, id);
      if (subscription.version !== known.version) return null;
      if (ended !== null && !(await lockEnd(tx, caller.scope, ended))) return null;
      await assertNoCheckout(tx, subscription);
      const gated =
        body.checkout == null ? null : await gateOf(tx, deps, caller, subscription, body);
      if (gated !== null) return gated;
      const how = { isPreview: false, at, ended, ...(onSettled && { onSettled }) };
      const done = await request(tx, deps, caller, subscription, body, how);
      failpoint('api.change_plan.before_commit');
      return { ...done, session: null };
    };
  });
  const { session, ...outcome } = await command;
  const checkout_session =
    session === null ? null : await deps.checkoutGates.offer(deps, caller, session);
  return await answered(deps, caller, id, { ...outcome, checkout_session });
}

/** What is answered, and the session that the change waits for. */
type Requested = Changed & { readonly session: string | null };

/** The session of a plan change that costs something now; null if nothing is due (money 11.7). */
async function gateOf(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  { checkout, ...body }: ChangePlanBody,
): Promise<Requested | null> {
  const tried = await triedChange(tx, (inner, onSettled) =>
    request(inner, deps, caller, subscription, body, {
      isPreview: true,
      isByCheckout: true,
      at: isoTime(deps.clock.now()),
      onSettled,
    }),
  );
  const session = await openChangeGate(tx, deps, caller, checkout!, tried.settled, {
    action: 'modify_subscription',
    subscription,
    params: { subscription_id: subscription.id, change: 'plan', body },
  });
  return session === null ? null : { ...tried.result, session: session.id };
}

/** Changes the plan after its checkout session was paid, as of the time when it was asked for. */
export async function completePlanChange(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  body: unknown,
  how: Pick<How, 'at' | 'paid'>,
): Promise<void> {
  const parsed = ChangePlanBody.parse(body);
  await request(tx, deps, caller, subscription, parsed, { ...how, isPreview: false });
}

/** The subscription with its running lines, without plan and customer, as recorded. */
async function answered(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  outcome: Outcome,
): Promise<ChangedPlan> {
  const at = isoTime(deps.clock.now());
  const subscription = await modifiedSubscription(deps.pool, caller.scope, id, null);
  const line_items = subscription.line_items!.filter(
    ({ end_date }) => end_date === null || end_date > at,
  );
  return { subscription: { ...subscription, line_items }, ...outcome };
}

function refuseContradictions(body: ChangePlanBody): void {
  const { change_at, proration_behavior, billing_period_behaviour, checkout } = body;
  if (billing_period_behaviour === 'anchor_at_effect' && checkout != null)
    throw invalidField(
      'checkout',
      'cannot be combined with billing_period_behaviour "anchor_at_effect": the ended period is invoiced too',
    );
  if (change_at === 'end_of_period' && proration_behavior === 'create_prorations')
    throw invalidField(
      'proration_behavior',
      'must be "none" at the end of a period: the renewal bills the new plan already',
    );
}

async function request(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  body: ChangePlanBody,
  how: How,
): Promise<Changed> {
  refuseContradictions(body);
  const { isPreview, at, paid = null } = how;
  const pending = await pendingSchedules(tx, caller.scope, [subscription.id]);
  assertPlanChangeable(await changeable(tx, subscription, pending), body.target_plan_id);
  // A preview sees a subscription that the job has not ended yet.
  if (dueEnd(subscription, at) !== null)
    throw invalidOperation('The subscription has ended.', 'end_date');
  await replacePending(tx, caller, pending, body, at);
  const isScheduled = body.change_at === 'end_of_period';
  const effective_at = isScheduled ? subscription.current_period_end : at;
  const restarts = body.billing_period_behaviour === 'anchor_at_effect';
  if (restarts) assertRestartable(subscription, effective_at);
  const change = await planChange(
    tx,
    deps,
    caller,
    subscription,
    { target_plan_id: body.target_plan_id, entity_policies: body.entity_policies, restarts },
    effective_at,
  );
  const outcome = {
    from_plan: change.from,
    to_plan: change.to,
    change_type: change.type,
    effective_at,
    is_scheduled: isScheduled,
    entity_changes: change.addons.map(({ association, behaviour }) => ({
      behaviour,
      entity_id: association.addon_id,
      entity_type: 'addon' as const,
      reference_id: association.id,
    })),
    warnings: [],
    metadata: body.metadata ?? {},
  };
  const lines = changedLines(change.swaps, { isPreview: false, openEnd: null });
  if (isScheduled) {
    const row = await schedule(tx, deps, caller, {
      subscription_id: subscription.id,
      schedule_type: 'plan_change',
      scheduled_at: effective_at,
      configuration: {
        version: 'v2',
        target_plan_id: body.target_plan_id,
        ...(body.entity_policies && { entity_policies: body.entity_policies }),
        ...(restarts && { billing_period_behaviour: 'anchor_at_effect' }),
      },
      metadata: body.metadata ?? {},
    });
    return {
      ...outcome,
      schedule_id: isPreview ? null : row.id,
      scheduled_at: effective_at,
      changed_resources: { ...NOTHING_CHANGED, line_items: lines },
    };
  }
  const proration_behavior = body.proration_behavior ?? subscription.proration_behavior;
  const unscheduled = { ...outcome, schedule_id: null, scheduled_at: null };
  if (restarts) {
    const of = { change, proration_behavior };
    const done = await restartPeriod(tx, deps, caller, subscription, of, how);
    return { ...unscheduled, changed_resources: { ...done, line_items: lines } };
  }
  // First the lines: the coupons of a line discount what the line that follows it is charged (billing 14.2).
  const next = withPlan(subscription, change);
  const stored = await applyPlan(tx, deps, caller, next, change, at);
  const swaps = isBilledNow(subscription, effective_at) ? change.swaps : [];
  const operation = { subscription, swaps, proration_behavior };
  const settled = await settleChange(deps, tx, caller, operation, at);
  how.onSettled?.(settled);
  const of = { kind: 'plan_change', subscription, at, paid };
  const invoices = isPreview
    ? await previewedInvoices(tx, caller.scope, settled, how)
    : await writtenInvoices(tx, caller.scope, await written(tx, deps, caller, settled, of));
  await changeGrantsOfPlan(tx, deps, caller, stored, change, { at, proration_behavior });
  return {
    ...unscheduled,
    changed_resources: { ...NOTHING_CHANGED, line_items: lines, invoices },
  };
}

async function written(
  tx: Transaction,
  ...rest: [BillingDeps, Caller, SettledChange, Parameters<typeof writeChange>[4]]
): Promise<WrittenChange> {
  const done = await writeChange(tx, ...rest);
  await writeOutboxEvents(tx, [...done.events]);
  return done;
}

/**
 * Refuses the change while another plan change is pending, or cancels that one if the request says
 * `supersede`.
 */
async function replacePending(
  tx: Transaction,
  { scope, user_id }: Caller,
  pending: readonly ScheduleRow[],
  body: ChangePlanBody,
  at: string,
): Promise<void> {
  const found = pending.find(({ schedule_type }) => schedule_type === 'plan_change');
  if (found === undefined) return;
  if (body.conflict_behaviour !== 'supersede') {
    const message = `Plan change ${found.id} is already scheduled for ${found.scheduled_at}; cancel it or send conflict_behaviour "supersede".`;
    throw new BillingError('conflict', 'already_exists', message, [
      { path: 'conflict_behaviour', code: 'already_exists', message },
    ]);
  }
  await endSchedules(tx, scope, [found.id], { schedule_status: 'cancelled', at, user_id });
}
