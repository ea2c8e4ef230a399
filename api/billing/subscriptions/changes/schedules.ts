import { invalidField, invalidOperation, notFound } from '../../../../domain/errors.ts';
import { dueAt } from '../../../../domain/subscription/due.ts';
import { isoTime } from '../../../../platform/clock.ts';
import type { Scope, Transaction } from '../../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../../postgres/tables/outbox.ts';
import type { z } from 'zod';
import {
  SCHEDULE_STATUSES,
  type CancelledSchedule,
  type CancelScheduleBody,
  type ScheduleSearch,
  type SubscriptionSchedule,
  type SubscriptionSchedules,
} from '../../../../schemas/subscription-schedules.ts';
import { changed, newRecord, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import {
  endSchedules,
  getSchedule,
  insertSchedule,
  findLatestSchedule,
  pendingSchedules,
  searchSchedules,
  type ScheduleRow,
} from '../../records/schedule-repository.ts';
import { subscriptionSnapshot } from '../../records/subscription-notification.ts';
import { changeSubscription, lockSubscription } from '../../records/subscription-repository.ts';

const DAY_MS = 86_400_000;

/** The answer for a schedule. */
export function scheduleAnswer(row: ScheduleRow, now: number): SubscriptionSchedule {
  const left = Date.parse(row.scheduled_at) - now;
  return {
    id: row.id,
    subscription_id: row.subscription_id,
    schedule_type: row.schedule_type,
    scheduled_at: row.scheduled_at,
    status: row.schedule_status,
    configuration: row.schedule_type === 'cancellation' ? null : row.configuration,
    execution_result: row.execution_result,
    error_message: row.error_message,
    can_be_cancelled: row.schedule_status === 'pending',
    days_until_execution: Math.max(0, Math.floor(left / DAY_MS)),
    executed_at: row.executed_at,
    cancelled_at: row.cancelled_at,
    metadata: row.metadata,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/** Schedules that match, pending ones unless a status is named. */
export async function listSchedules(
  deps: Pick<BillingDeps, 'pool' | 'clock'>,
  scope: Scope,
  filter: z.output<typeof ScheduleSearch.query>,
): Promise<SubscriptionSchedules> {
  const { pending_only } = filter;
  const named = SCHEDULE_STATUSES.find((status) => status === filter.status) ?? null;
  const schedule_status = filter.schedule_status ?? named;
  if (named !== null && schedule_status !== named)
    throw invalidField('status', 'differs from schedule_status, which is the same field');
  if (pending_only === true && (schedule_status ?? 'pending') !== 'pending')
    throw invalidField('pending_only', `cannot be true with schedule_status ${schedule_status}`);
  const status = schedule_status ?? (pending_only === false ? null : 'pending');
  const page = await searchSchedules(deps.pool, scope, { ...filter, schedule_status: status });
  return {
    schedules: page.items.map((row) => scheduleAnswer(row, deps.clock.now())),
    count: page.pagination.total,
  };
}

/** The pending schedules of one subscription. */
export async function schedulesOf(
  deps: Pick<BillingDeps, 'pool' | 'clock'>,
  scope: Scope,
  subscriptionId: string,
): Promise<SubscriptionSchedules> {
  const rows = await pendingSchedules(deps.pool, scope, [subscriptionId]);
  return {
    schedules: rows.map((row) => scheduleAnswer(row, deps.clock.now())),
    count: rows.length,
  };
}

/**
 * Writes a pending schedule. The caller holds the subscription's lock and has checked that none is pending.
 */
export async function schedule(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  of: Pick<ScheduleRow, 'subscription_id' | 'schedule_type' | 'scheduled_at' | 'configuration'> & {
    readonly metadata?: Record<string, string>;
  },
): Promise<ScheduleRow> {
  const row: ScheduleRow = {
    ...newRecord(deps, caller, 'sched'),
    metadata: {},
    ...of,
    schedule_status: 'pending',
    execution_result: null,
    error_message: null,
    executed_at: null,
    cancelled_at: null,
  };
  await insertSchedule(tx, row);
  return row;
}

/**
 * Cancels a pending schedule. A cancelled cancellation is withdrawn from its subscription (billing 14.3). `named`:
 * what the request says about the schedule; 400 if the schedule is of another subscription or type.
 */
export async function cancelSchedule(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  named: z.output<typeof CancelScheduleBody> = {},
): Promise<z.infer<typeof CancelledSchedule>> {
  const { scope, user_id } = caller;
  const { subscription_id, schedule_type } = await getSchedule(tx, scope, id);
  if (named.subscription_id && named.subscription_id !== subscription_id)
    throw invalidField('subscription_id', 'is not the subscription of the schedule');
  if (named.schedule_type && named.schedule_type !== schedule_type)
    throw invalidField('schedule_type', `the schedule is of type ${schedule_type}`);
  const locked = await lockSubscription(tx, scope, subscription_id);
  const row = await getSchedule(tx, scope, id);
  if (row.schedule_status !== 'pending')
    throw invalidOperation(
      `Schedule ${id} is ${row.schedule_status}: only a pending one can be cancelled.`,
      'status',
    );
  const at = isoTime(deps.clock.now());
  await endSchedules(tx, scope, [id], { schedule_status: 'cancelled', at, user_id });
  if (row.schedule_type === 'cancellation') {
    const withdrawn = { cancel_at: null, cancel_at_period_end: false } as const;
    const isUnopened = locked.due_at !== null && locked.due_at <= locked.current_period_start;
    const subscription = await changeSubscription(tx, scope, subscription_id, {
      ...withdrawn,
      cancel_proration_behavior: null,
      due_at: isUnopened ? locked.due_at : dueAt({ ...locked, ...withdrawn }),
      ...changed(deps, caller),
    });
    const payload = { subscription: subscriptionSnapshot(subscription, null) };
    await writeOutboxEvents(tx, [{ scope, event_type: 'subscription.updated', payload }]);
  }
  return { status: 'cancelled', message: 'Schedule cancelled' };
}

/**
 * The schedule that the body names: by its id, or as the latest one of a subscription and type, which is the pending
 * one if there is one. 404 if there never was one.
 */
export async function namedSchedule(
  tx: Transaction,
  { scope }: Caller,
  body: z.output<typeof CancelScheduleBody>,
): Promise<string> {
  if (body.schedule_id) return body.schedule_id;
  const { subscription_id, schedule_type } = body;
  if (!subscription_id || !schedule_type) throw namesNoSchedule();
  const found = await findLatestSchedule(tx, scope, subscription_id, schedule_type);
  if (found === null) throw notFound('Schedule', `${subscription_id} ${schedule_type}`);
  return found.id;
}

/** 400: the body is there and names no schedule (as the reference answers). */
export const namesNoSchedule = () =>
  invalidField('schedule_id', 'is required unless subscription_id and schedule_type are sent');
