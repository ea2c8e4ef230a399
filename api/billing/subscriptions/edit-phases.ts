import { invalidField, invalidOperation, notFound } from '../../../domain/errors.ts';
import { assertBetween, assertNotInvoiced } from '../../../domain/subscription/phases.ts';
import { paidSchedule } from '../../../domain/subscription/schedule.ts';
import { periodContaining } from '../../../domain/time/billing-periods.ts';
import { isoTime } from '../../../platform/clock.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { SubscriptionPhase } from '../../../schemas/subscription-phase.ts';
import type {
  SubscriptionPhaseRequest,
  UpdateSubscriptionPhaseBody,
} from '../../../schemas/subscription-requests.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { findPlanRows } from '../../catalog/offers/plan-repository.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import {
  deletePartsOfPhase,
  findPhasesOf,
  insertPhases,
  moveBoundary,
  phaseEvent,
  updatePhaseRow,
} from '../records/phase-repository.ts';
import {
  changeSubscription,
  insertLineItems,
  lockSubscription,
} from '../records/subscription-repository.ts';
import { newAssociations, writeAssociations } from './attach-coupons.ts';
import { newPhaseLines } from './phase-line-items.ts';
import { newPhases } from './new-phases.ts';

type Subscription = Pick<SubscriptionRow, 'id' | 'current_period_end'>;

/**
 * Adds a phase at the end of the last one. An open last phase ends where the new phase begins. The
 * subscription ends with the new phase (billing 11).
 */
export async function addPhase(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  request: SubscriptionPhaseRequest,
): Promise<SubscriptionPhase> {
  const { scope } = caller;
  const subscription = await lockEditable(tx, scope, id);
  const phases = await findPhasesOf(tx, scope, [id]);
  const last = phases.at(-1);
  if (last === undefined)
    throw invalidOperation('The subscription has no phases; they are given at its creation.');
  const { start_date } = request;
  const end_date = request.end_date ?? null;
  if (end_date !== null && end_date <= start_date)
    throw invalidField('end_date', `must be after start_date (${start_date})`);
  assertNotInvoiced(start_date, subscription, 'start_date');
  if (last.end_date === null) {
    assertBetween(start_date, last.start_date, null, 'start_date');
    await moveBoundary(tx, scope, { left: last, right: null, from: null, to: start_date });
    await updatePhaseRow(tx, scope, last.id, { end_date: start_date, ...changed(deps, caller) });
  } else {
    if (start_date !== last.end_date)
      throw invalidField('start_date', `must be the end of the last phase (${last.end_date})`);
    assertOnBoundary(subscription, start_date, 'start_date');
  }
  const [plan] = await findPlanRows(tx, scope, [subscription.plan_id]);
  const owner = {
    subscription_id: id,
    customer_id: subscription.customer_id,
    plan: plan!,
    selection: {
      currency: subscription.currency,
      cadence: subscription,
      start: start_date,
      end: end_date,
      include_price_ids: subscription.include_price_ids,
    },
  };
  const at = isoTime(deps.clock.now());
  // One-time prices of the plan belong to the first phase.
  const [made] = await newPhases(tx, deps, caller, owner, [request], at, () => '');
  const own = new Set((request.override_line_items ?? []).map(({ price_id }) => price_id));
  const selected = made!.selected.filter(
    (price) => price.billing_period !== 'ONETIME' || own.has(price.id),
  );
  const lines = await newPhaseLines(tx, deps, caller, owner, [{ ...made!, selected }], {
    trial_end: null,
  });
  const coupons = await newAssociations(tx, deps, caller, subscription, lines, {}, [made!]);
  await insertPhases(tx, [made!.phase]);
  await insertLineItems(
    tx,
    lines.map(({ price: _, terms: __, ...row }) => row),
  );
  await writeAssociations(tx, deps, caller, coupons);
  await changeSubscription(tx, scope, id, { end_date, ...changed(deps, caller) });
  await writeOutboxEvents(tx, [
    ...(last.end_date === null
      ? [phaseEvent('subscription.phase.updated', scope, { ...last, end_date: start_date })]
      : []),
    phaseEvent('subscription.phase.created', scope, made!.phase),
  ]);
  failpoint('api.edit_phases.before_commit');
  return made!.phase;
}

/**
 * Changes metadata or dates of a phase. The dates of the neighbouring phases, line items and coupons follow.
 * The subscription ends with the last phase. Time that is already invoiced does not change (billing 11).
 */
export async function updatePhase(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  phaseId: string,
  body: UpdateSubscriptionPhaseBody,
): Promise<SubscriptionPhase> {
  const { scope } = caller;
  const subscription = await lockEditable(tx, scope, id);
  const { phase, before, after } = await getNeighbours(tx, scope, id, phaseId);
  const moved: SubscriptionPhase[] = [];
  const start = body.start_date ?? phase.start_date;
  if (start !== phase.start_date) {
    if (before === null)
      throw invalidField('start_date', 'of the first phase is the start of the subscription');
    assertMovable(subscription, phase.start_date, start, 'start_date');
    assertBetween(start, before.start_date, body.end_date ?? phase.end_date, 'start_date');
    await moveBoundary(tx, scope, {
      left: before,
      right: phase,
      from: phase.start_date,
      to: start,
    });
    moved.push({ ...before, end_date: start });
  }
  const end = body.end_date === undefined ? phase.end_date : body.end_date;
  if (end !== phase.end_date) {
    for (const [path, boundary] of [
      ['end_date', phase.end_date],
      ['end_date', end],
    ] as const)
      if (boundary !== null) assertNotInvoiced(boundary, subscription, path);
    if (end !== null) assertBetween(end, start, after?.end_date ?? null, 'end_date');
    if (end === null && after !== null)
      throw invalidField('end_date', 'is required, because another phase follows');
    if (after === null && phase.end_date !== null)
      assertOnBoundary(subscription, phase.end_date, 'end_date');
    await moveBoundary(tx, scope, { left: phase, right: after, from: phase.end_date, to: end });
    if (after !== null) moved.push({ ...after, start_date: end! });
  }
  for (const { id: movedId, start_date, end_date } of moved)
    await updatePhaseRow(tx, scope, movedId, { start_date, end_date, ...changed(deps, caller) });
  const updated = await updatePhaseRow(tx, scope, phaseId, {
    start_date: start,
    end_date: end,
    ...(body.metadata ? { metadata: body.metadata } : {}),
    ...changed(deps, caller),
  });
  await changeSubscription(tx, scope, id, {
    ...(after === null ? { end_date: end } : {}),
    ...changed(deps, caller),
  });
  await writeOutboxEvents(
    tx,
    [updated, ...moved].map((each) => phaseEvent('subscription.phase.updated', scope, each)),
  );
  failpoint('api.edit_phases.before_commit');
  return updated;
}

/** Removes a phase that has not begun; the phase before it is extended to its end (billing 11). */
export async function deletePhase(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  phaseId: string,
): Promise<void> {
  const { scope } = caller;
  const subscription = await lockEditable(tx, scope, id);
  const { phase, before } = await getNeighbours(tx, scope, id, phaseId);
  if (before === null) throw invalidOperation('The first phase cannot be removed.');
  assertNotInvoiced(phase.start_date, subscription, 'start_date');
  const change = changed(deps, caller);
  await deletePartsOfPhase(tx, scope, phaseId, change);
  const { start_date: from, end_date: to } = phase;
  await moveBoundary(tx, scope, { left: before, right: null, from, to });
  await updatePhaseRow(tx, scope, phaseId, { status: 'deleted', ...change });
  const longer = await updatePhaseRow(tx, scope, before.id, {
    end_date: to,
    ...changed(deps, caller),
  });
  await changeSubscription(tx, scope, id, changed(deps, caller));
  await writeOutboxEvents(tx, [
    phaseEvent('subscription.phase.deleted', scope, phase),
    phaseEvent('subscription.phase.updated', scope, longer),
  ]);
  failpoint('api.edit_phases.before_commit');
}

/** The phase. 404 if it does not belong to the subscription. */
export async function getPhase(
  tx: Parameters<typeof findPhasesOf>[0],
  scope: Scope,
  id: string,
  phaseId: string,
): Promise<SubscriptionPhase> {
  const phase = (await findPhasesOf(tx, scope, [id])).find((found) => found.id === phaseId);
  if (phase === undefined) throw notFound('Phase', phaseId);
  return phase;
}

async function lockEditable(tx: Transaction, scope: Scope, id: string): Promise<SubscriptionRow> {
  const subscription = await lockSubscription(tx, scope, id);
  if (subscription.subscription_status === 'cancelled' || subscription.cancel_at !== null)
    throw invalidOperation(
      'The subscription is cancelled or will be cancelled; its phases cannot be changed.',
      'subscription_status',
    );
  return subscription;
}

async function getNeighbours(tx: Transaction, scope: Scope, id: string, phaseId: string) {
  const phases = await findPhasesOf(tx, scope, [id]);
  const index = phases.findIndex((found) => found.id === phaseId);
  const phase = phases[index];
  if (phase === undefined) throw notFound('Phase', phaseId);
  return { phase, before: phases[index - 1] ?? null, after: phases[index + 1] ?? null };
}

function assertMovable(subscription: Subscription, from: string, to: string, path: string): void {
  assertNotInvoiced(from, subscription, path);
  assertNotInvoiced(to, subscription, path);
}

/**
 * Refuses to extend a subscription that ends inside an invoiced period. The invoice covers the period only up
 * to that end, and no invoice would cover the rest.
 */
function assertOnBoundary(subscription: SubscriptionRow, end: string, path: string): void {
  if (end > subscription.current_period_end) return;
  const open = { ...paidSchedule(subscription), end_date: null };
  if (periodContaining(open, end)?.start !== end)
    throw invalidField(path, `the running period is invoiced up to its end ${end} already`);
}
