import type { z } from 'zod';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { columnList, jsonOf } from '../../../postgres/parameters.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import { columnNames } from '../../../schemas/columns.ts';
import { recordFields } from '../../../schemas/primitives.ts';
import type { Page } from '../../../schemas/search.ts';
import type {
  SCHEDULE_STATUSES,
  SCHEDULE_TYPES,
  ScheduleSearch,
} from '../../../schemas/subscription-schedules.ts';

export type ScheduleType = (typeof SCHEDULE_TYPES)[number];

/** A row of `subscription_schedules`. */
export interface ScheduleRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly subscription_id: string;
  readonly schedule_type: ScheduleType;
  readonly scheduled_at: string;
  readonly schedule_status: (typeof SCHEDULE_STATUSES)[number];
  readonly configuration: Record<string, unknown>;
  readonly execution_result: Record<string, unknown> | null;
  readonly error_message: string | null;
  readonly executed_at: string | null;
  readonly cancelled_at: string | null;
  readonly metadata: Record<string, string>;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly created_by: string;
  readonly updated_by: string;
}

const SCHEDULE_COLUMNS = columnNames<ScheduleRow>()(recordFields, {
  subscription_id: true,
  schedule_type: true,
  scheduled_at: true,
  schedule_status: true,
  configuration: true,
  execution_result: true,
  error_message: true,
  executed_at: true,
  cancelled_at: true,
  metadata: true,
});

const schedules = tableOf<ScheduleRow>({
  name: 'subscription_schedules',
  noun: 'Schedule',
  columns: (db) => columnList(db, SCHEDULE_COLUMNS),
  json: ['configuration', 'execution_result', 'metadata'],
});

/** Inserts the schedule and returns it as read. */
export const insertSchedule = schedules.insert;

/** The schedule in any state. 404 if it is unknown or belongs to another scope. */
export const getSchedule = schedules.get;

/** Pending schedules of the subscriptions, soonest first. */
export async function pendingSchedules(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<ScheduleRow[]> {
  if (subscriptionIds.length === 0) return [];
  return await db<ScheduleRow[]>`
    select ${columnList(db, SCHEDULE_COLUMNS)} from subscription_schedules
     where ${inScope(db, scope)} and subscription_id = any(${subscriptionIds as string[]}::text[])
       and schedule_status = 'pending'
     order by scheduled_at, id`;
}

/** The schedule of the type that was made last for the subscription: the pending one first, or null. */
export async function findLatestSchedule(
  db: Db,
  scope: Scope,
  subscriptionId: string,
  type: ScheduleType,
): Promise<ScheduleRow | null> {
  const [row] = await db<ScheduleRow[]>`
    select ${columnList(db, SCHEDULE_COLUMNS)} from subscription_schedules
     where ${inScope(db, scope)} and subscription_id = ${subscriptionId}
       and schedule_type = ${type}
     order by (schedule_status = 'pending') desc, created_at desc, id desc limit 1`;
  return row ?? null;
}

export interface ScheduleOutcome {
  readonly schedule_status: 'executed' | 'cancelled' | 'failed';
  readonly at: string;
  readonly user_id: string;
  readonly execution_result?: Record<string, unknown> | null;
  readonly error_message?: string | null;
}

/** Ends pending schedules. Rows that are not pending stay as they are. */
export async function endSchedules(
  tx: Transaction,
  scope: Scope,
  ids: readonly string[],
  outcome: ScheduleOutcome,
): Promise<void> {
  if (ids.length === 0) return;
  const { schedule_status, at, user_id } = outcome;
  const result = outcome.execution_result ?? null;
  await tx`
    update subscription_schedules
       set schedule_status = ${schedule_status},
           executed_at = case when ${schedule_status} = 'executed' then ${at}::timestamptz end,
           cancelled_at = case when ${schedule_status} = 'cancelled' then ${at}::timestamptz end,
           execution_result = ${result === null ? null : jsonOf(tx, result)},
           error_message = ${outcome.error_message ?? null},
           updated_at = ${at}, updated_by = ${user_id}
     where ${inScope(tx, scope)} and id = any(${ids as string[]}::text[])
       and schedule_status = 'pending'`;
}

/**
 * Ends the pending schedules of subscriptions that have ended: the cancellation was executed, everything else is
 * cancelled (billing 13).
 */
export async function endSchedulesOf(
  tx: Transaction,
  scope: Scope,
  subscriptionIds: readonly string[],
  by: { readonly at: string; readonly user_id: string; readonly superseded?: boolean },
): Promise<void> {
  const pending = await pendingSchedules(tx, scope, subscriptionIds);
  const isExecuted = ({ schedule_type, scheduled_at }: ScheduleRow) =>
    schedule_type === 'cancellation' && scheduled_at <= by.at && by.superseded !== true;
  const ids = (wanted: boolean) =>
    pending.filter((row) => isExecuted(row) === wanted).map(({ id }) => id);
  await endSchedules(tx, scope, ids(true), { schedule_status: 'executed', ...by });
  await endSchedules(tx, scope, ids(false), { schedule_status: 'cancelled', ...by });
}

/** Moves the pending cancellation of a subscription to another instant. */
export async function moveCancellation(
  tx: Transaction,
  scope: Scope,
  subscriptionId: string,
  scheduled_at: string,
  { updated_at, updated_by }: Pick<ScheduleRow, 'updated_at' | 'updated_by'>,
): Promise<void> {
  await tx`
    update subscription_schedules
       set scheduled_at = ${scheduled_at}, updated_at = ${updated_at}, updated_by = ${updated_by}
     where ${inScope(tx, scope)} and subscription_id = ${subscriptionId}
       and schedule_type = 'cancellation' and schedule_status = 'pending'`;
}

/** A page of schedules, newest first; of every status unless one is requested. */
export function searchSchedules(
  db: Db,
  scope: Scope,
  filter: Omit<z.output<typeof ScheduleSearch.query>, 'pending_only'>,
): Promise<Page<ScheduleRow>> {
  const { search, schedule_status } = filter;
  const where = db`${inScope(db, scope)} and status = 'published'
    ${schedule_status == null ? db`` : db`and schedule_status = ${schedule_status}`}
    ${filter.subscription_id ? db`and subscription_id = ${filter.subscription_id}` : db``}
    ${filter.subscription_ids?.length ? db`and subscription_id = any(${filter.subscription_ids})` : db``}
    ${filter.schedule_type ? db`and schedule_type = ${filter.schedule_type}` : db``}`;
  return findPage<ScheduleRow>(db, {
    columns: columnList(db, SCHEDULE_COLUMNS),
    from: db`subscription_schedules`,
    where,
    search,
  });
}

/** Whether a change of the plan is scheduled for the subscription. */
export async function isPlanChangePending(
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<boolean> {
  const [row] = await tx`
    select 1 from subscription_schedules
     where ${inScope(tx, scope)} and subscription_id = ${id}
       and schedule_type = 'plan_change' and schedule_status = 'pending'
     limit 1`;
  return row !== undefined;
}
