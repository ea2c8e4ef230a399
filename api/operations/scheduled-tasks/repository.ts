import { notFound } from '../../../domain/errors.ts';
import type { Period } from '../../../domain/time/instant.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
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

export async function insertScheduledTask(
  tx: Transaction,
  task: ScheduledTask,
): Promise<ScheduledTask> {
  await tx`
    insert into scheduled_tasks ${tx({ ...task, job_config: tx.json(task.job_config) })}`;
  return task;
}

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
  await tx`insert into scheduled_task_runs ${tx({ ...run, ...times })}`;
}
