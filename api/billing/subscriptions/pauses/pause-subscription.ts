import { groupedOf } from '../../records/child-repository.ts';
import { invalidField, invalidOperation, notFound } from '../../../../domain/errors.ts';
import { movePause, mirroredPauseStatus } from '../../../../domain/states/pause.ts';
import { dueAt } from '../../../../domain/subscription/due.ts';
import { planPause } from '../../../../domain/subscription/pause.ts';
import { isoTime } from '../../../../platform/clock.ts';
import { failpoint } from '../../../../platform/failpoint.ts';
import { type Scope, type Transaction } from '../../../../postgres/client.ts';
import { writeOutbox } from '../../../../postgres/tables/outbox.ts';
import type {
  PauseSubscriptionBody,
  ResumeSubscriptionBody,
  SubscriptionPause,
} from '../../../../schemas/subscription-pause.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import { getCustomer } from '../../../customers/customers/repository.ts';
import { runCommand } from '../../../conventions/command.ts';
import { changed, newRecord, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { getPause, insertPause, updatePauseRow } from '../../records/pause-repository.ts';
import { findPhasesOf } from '../../records/phase-repository.ts';
import { subscriptionSnapshot } from '../../records/subscription-notification.ts';
import {
  changeSubscription,
  getSubscription,
  lockSubscription,
} from '../../records/subscription-repository.ts';
import { caughtUp } from '../changes/catch-up.ts';
import { isPlanChangePending } from '../../records/schedule-repository.ts';

/**
 * Pauses the subscription now, or plans a pause that the billing run begins (billing 12.1). Elapsed periods
 * are billed first.
 */
export async function pauseSubscription(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: PauseSubscriptionBody,
): Promise<SubscriptionPause> {
  const { scope } = caller;
  return await runCommand<SubscriptionPause>(deps, 'subscription', async () => {
    const at = isoTime(deps.clock.now());
    const known = await caughtUp(deps, caller, id);
    return async (tx) => {
      const subscription = await lockSubscription(tx, scope, id);
      if (subscription.version !== known.version) return null;
      const { pause, subscription_status, pause_status } = planPause(
        {
          ...subscription,
          has_phases: (await findPhasesOf(tx, scope, [id])).length > 0,
          has_grouped: (await groupedOf(tx, scope, [id])).length > 0,
          has_pending_plan_change: await isPlanChangePending(tx, scope, id),
        },
        {
          pause_mode: body.pause_mode ?? 'immediate',
          pause_start: body.pause_start ?? null,
          pause_end: body.pause_end ?? null,
          pause_days: body.pause_days ?? null,
        },
        at,
      );
      const record = await insertPause(tx, {
        ...newRecord(deps, caller, 'pause'),
        ...pause,
        subscription_id: id,
        resume_mode: pause.pause_end === null ? null : 'auto',
        resumed_at: null,
        reason: body.reason ?? null,
        metadata: body.metadata ?? {},
      });
      const next = {
        subscription_status,
        pause_status,
        active_pause_id: record.id,
        pause_at: pause.pause_start,
        resume_at: pause.pause_end,
      };
      const isNow = subscription_status === 'paused';
      await changeNotified(
        tx,
        caller,
        { ...next, due_at: dueAt({ ...subscription, ...next }), ...changed(deps, caller) },
        subscription,
        isNow ? 'subscription.paused' : 'subscription.updated',
      );
      failpoint('api.pause_subscription.before_commit');
      return record;
    };
  });
}

/**
 * Resumes a paused subscription now, or sets the end of its pause: `resume_at`, or the planned end (billing
 * 12.1). Resuming now bills here what is due; a later end is executed by the billing run. An end that is due is
 * executed first: 400 then, because the subscription is not paused any more.
 */
export async function resumeSubscription(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: ResumeSubscriptionBody,
): Promise<SubscriptionPause> {
  const { scope } = caller;
  const mode = body.resume_mode ?? 'immediate';
  const pauseId = await runCommand<string>(deps, 'subscription', async () => {
    const known = await caughtUp(deps, caller, id);
    return async (tx) => {
      const subscription = await lockSubscription(tx, scope, id);
      const at = isoTime(deps.clock.now());
      const { active_pause_id, subscription_status, version, due_at: due } = subscription;
      if (version !== known.version || (due !== null && due <= at)) return null;
      if (active_pause_id === null || subscription_status !== 'paused')
        throw invalidOperation(
          `Only a paused subscription can be resumed; this one is ${subscription_status}.`,
          'subscription_status',
        );
      const pause = await getPause(tx, scope, active_pause_id);
      const resume_at = resumptionOf(pause, mode, body.resume_at ?? null, at);
      const edited = changed(deps, caller);
      await updatePauseRow(tx, scope, pause.id, {
        resume_mode: mode,
        ...(mode === 'scheduled' ? { pause_end: resume_at } : {}),
        ...(body.metadata ? { metadata: { ...pause.metadata, ...body.metadata } } : {}),
        ...edited,
      });
      const due_at = dueAt({ ...subscription, resume_at });
      await changeSubscription(tx, scope, id, { resume_at, due_at, ...edited });
      return pause.id;
    };
  });
  await caughtUp(deps, caller, id);
  return await getPause(deps.pool, scope, pauseId);
}

function resumptionOf(
  pause: SubscriptionPause,
  mode: NonNullable<ResumeSubscriptionBody['resume_mode']>,
  resumeAt: string | null,
  at: string,
): string {
  if (mode !== 'scheduled' && resumeAt !== null)
    throw invalidField('resume_at', 'is for the mode scheduled');
  switch (mode) {
    case 'immediate':
      return at;
    case 'auto':
      if (pause.pause_end === null)
        throw invalidField('resume_mode', 'auto needs a pause with an end; this one has none');
      return pause.pause_end;
    case 'scheduled':
      if (resumeAt === null) throw invalidField('resume_at', 'is required with the mode scheduled');
      if (resumeAt <= at) throw invalidField('resume_at', 'must be in the future');
      return resumeAt;
    default:
      return mode satisfies never;
  }
}

/** Withdraws a pause that has not begun; no period changes (billing 12.6). */
export async function withdrawPause(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  pauseId: string,
): Promise<SubscriptionPause> {
  const { scope } = caller;
  const subscription = await lockSubscription(tx, scope, id);
  const pause = await getPauseOf(tx, scope, id, pauseId);
  const pause_status = movePause(pause.pause_status, 'withdraw');
  const edited = changed(deps, caller);
  const withdrawn = await updatePauseRow(tx, scope, pauseId, { pause_status, ...edited });
  const next = {
    pause_status: mirroredPauseStatus(pause_status),
    active_pause_id: null,
    pause_at: null,
    resume_at: null,
  };
  const change = { ...next, due_at: dueAt({ ...subscription, ...next }), ...edited };
  await changeNotified(tx, caller, change, subscription, 'subscription.updated');
  return withdrawn;
}

/** The pause. 404 if it does not belong to the subscription. */
export async function getPauseOf(
  db: Parameters<typeof getPause>[0],
  scope: Scope,
  id: string,
  pauseId: string,
): Promise<SubscriptionPause> {
  await getSubscription(db, scope, id);
  const pause = await getPause(db, scope, pauseId);
  if (pause.subscription_id !== id) throw notFound('Pause', pauseId);
  return pause;
}

async function changeNotified(
  tx: Transaction,
  { scope }: Caller,
  change: Parameters<typeof changeSubscription>[3],
  { id, customer_id }: SubscriptionRow,
  event: 'subscription.paused' | 'subscription.updated',
): Promise<void> {
  const subscription = await changeSubscription(tx, scope, id, change);
  const customer = await getCustomer(tx, scope, customer_id);
  await writeOutbox(tx, scope, event, {
    subscription: subscriptionSnapshot(subscription, customer),
  });
}
