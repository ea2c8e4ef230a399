import { notFound } from '../../../domain/errors.ts';
import type { Period } from '../../../domain/time/instant.ts';
import { inScope, oneOf, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { insertOf } from '../../../postgres/insert-rows.ts';
import { findPage } from '../../../postgres/search.ts';
import type { ScheduledTask } from '../../../schemas/scheduled-task.ts';
import type { Page, Search } from '../../../schemas/search.ts';

const columns = (db: Db) => db`
  id, tenant_id, environment_id, connection_id, entity_type, "interval", enabled, job_config, status,
  created_at, updated_at, created_by, updated_by`;

/** The task, including archived ones. 404 if it does not exist or belongs to another scope. */
export async function getScheduledTask(db: Db, scope: Scope, id: string): Promise<ScheduledTask> {
  const [row] = await db<ScheduledTask[]>`
    select ${columns(db)} from scheduled_tasks where ${inScope(db, scope)} and id = ${id}`;
  if (row === undefined) throw notFound('Scheduled task', id);
  return row;
}

/** The published task, locked until the transaction ends. */
export async function lockScheduledTask(
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<ScheduledTask> {
  const [row] = await tx<ScheduledTask[]>`
    select ${columns(tx)} from scheduled_tasks
     where ${inScope(tx, scope)} and id = ${id} and status = 'published' for update`;
  if (row === undefined) throw notFound('Scheduled task', id);
  return row;
}

export interface ScheduledTaskFilter {
  readonly connection_id?: string | null;
  readonly entity_type?: string | null;
  readonly interval?: string | null;
  readonly enabled?: boolean | null;
  readonly search: Search;
}

/** Leaves out deleted tasks unless a status is requested. */
export function searchScheduledTasks(
  db: Db,
  scope: Scope,
  filter: ScheduledTaskFilter,
): Promise<Page<ScheduledTask>> {
  const { search } = filter;
  return findPage<ScheduledTask>(db, {
    columns: columns(db),
    from: db`scheduled_tasks`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filter.connection_id ? db`and connection_id = ${filter.connection_id}` : db``}
      ${filter.entity_type ? db`and entity_type = ${filter.entity_type}` : db``}
      ${filter.interval ? db`and "interval" = ${filter.interval}` : db``}
      ${filter.enabled == null ? db`` : db`and enabled = ${filter.enabled}`}`,
    search,
  });
}

/** Inserts the task and returns it as given. */
export async function insertScheduledTask(
  tx: Transaction,
  task: ScheduledTask,
): Promise<ScheduledTask> {
  await tx`
    insert into scheduled_tasks ${tx({ ...task, job_config: tx.json(task.job_config) })}`;
  return task;
}

/** Changes the given columns. 404 if the task is deleted, unknown or in another scope. */
export async function updateScheduledTaskRow(
  tx: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<Pick<ScheduledTask, 'enabled' | 'status' | 'updated_at' | 'updated_by'>>,
): Promise<ScheduledTask> {
  const [row] = await tx<ScheduledTask[]>`
    update scheduled_tasks set ${tx(changes)}
     where ${inScope(tx, scope)} and id = ${id} and status = 'published'
    returning ${columns(tx)}`;
  if (row === undefined) throw notFound('Scheduled task', id);
  return row;
}

export interface NewRun extends Scope {
  readonly id: string;
  readonly scheduled_task_id: string;
  readonly mode: 'automatic' | 'custom';
  readonly window: Period;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly created_by: string;
  readonly updated_by: string;
}

/** Requests a run; it is pending until an exporter takes it. */
export async function insertRun(tx: Transaction, { window, ...run }: NewRun): Promise<void> {
  const times = { start_time: window.start, end_time: window.end };
  await tx`insert into scheduled_task_runs ${tx({ ...run, ...times, due_at: run.created_at })}`;
}

/** A task with the end of the last window that the clock asked for; its creation before the first. */
export interface TaskToPlan {
  readonly task: ScheduledTask;
  readonly planned_until: string;
}

/** Enabled tasks of all tenants by id, after `after`. */
export async function tasksToPlan(db: Db, after: string, limit: number): Promise<TaskToPlan[]> {
  const rows = await db<(ScheduledTask & { planned_until: string })[]>`
    select ${columns(db)},
           coalesce((select max(r.scheduled_for) from scheduled_task_runs r
                      where r.scheduled_task_id = t.id and r.scheduled_for is not null),
                    t.created_at) as planned_until
      from scheduled_tasks t
     where t.enabled and t.status = 'published' and t.id > ${after}
     order by t.id limit ${limit}`;
  return rows.map(({ planned_until, ...task }) => ({ task, planned_until }));
}

/** One row for each window of a task, however often it is asked for. Returns how many are new. */
export async function planRuns(
  db: Db,
  runs: readonly (NewRun & { readonly scheduled_for: string })[],
): Promise<number> {
  if (runs.length === 0) return 0;
  const rows = runs.map(({ window, ...run }) => ({
    ...run,
    start_time: window.start,
    end_time: window.end,
    due_at: run.created_at,
  }));
  const inserted = await db`
    ${insertOf(db, 'scheduled_task_runs', rows)}
    on conflict (scheduled_task_id, scheduled_for) where scheduled_for is not null do nothing`;
  return inserted.count;
}

/** A pending run with its task. */
export interface DueRun extends Scope {
  readonly id: string;
  readonly attempts: number;
  readonly window: Period;
  readonly task: ScheduledTask;
}

/**
 * Open runs whose time has come, one of each tenant in turn, oldest first; also those that a stopped process
 * left. Runs of a task that was deleted are not carried out.
 */
export async function dueRuns(db: Db, at: string, limit: number): Promise<DueRun[]> {
  const rows = await db<
    (Scope & {
      id: string;
      attempts: number;
      start_time: string;
      end_time: string;
      task_id: string;
    })[]
  >`
    select id, tenant_id, environment_id, attempts, start_time, end_time, task_id
      from (select r.id, r.tenant_id, r.environment_id, r.attempts, r.start_time, r.end_time, r.due_at,
                   r.scheduled_task_id as task_id,
                   row_number() over (partition by r.tenant_id order by r.due_at, r.id) as turn
              from scheduled_task_runs r join scheduled_tasks t on t.id = r.scheduled_task_id
             where r.run_status in ('PENDING', 'PROCESSING') and r.due_at <= ${at} and t.status = 'published') due
     order by turn, due_at, id limit ${limit}`;
  const ids = [...new Set(rows.map(({ task_id }) => task_id))];
  const tasks = await db<ScheduledTask[]>`
    select ${columns(db)} from scheduled_tasks where id ${oneOf(db, ids)}`;
  const byId = new Map(tasks.map((task) => [task.id, task]));
  return rows.map(({ task_id, start_time: start, end_time: end, ...run }) => ({
    ...run,
    window: { start, end },
    task: byId.get(task_id)!,
  }));
}

/** How a run stands. */
export async function noteRun(
  db: Db,
  id: string,
  change: {
    readonly run_status: 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED';
    readonly updated_at: string;
    readonly started_at?: string;
    readonly completed_at?: string;
    readonly due_at?: string;
    readonly attempts?: number;
    readonly error_summary?: string | null;
    readonly exported_rows?: number;
    readonly object_keys?: readonly string[];
  },
): Promise<void> {
  await db`update scheduled_task_runs set ${db(change as never)} where id = ${id}`;
}

/** Runs of deleted tasks fail: nothing is written over a connection that its owner has ended. */
export async function failRunsOfDeletedTasks(db: Db, at: string): Promise<void> {
  await db`
    update scheduled_task_runs r
       set run_status = 'FAILED', error_summary = 'The task was deleted.', completed_at = ${at}, updated_at = ${at}
      from scheduled_tasks t
     where t.id = r.scheduled_task_id and t.status <> 'published'
       and r.run_status in ('PENDING', 'PROCESSING')`;
}
