import { BillingError, notFound } from '../../../domain/errors.ts';
import {
  inScope,
  violatedConstraint,
  type Db,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { columnsOf, jsonOf } from '../../../postgres/parameters.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { Task, TaskRow, Upload } from '../../../schemas/task.ts';

type UploadRow = Omit<Upload, 'upload_id'>;

const uploadColumns = (db: Db) => db`
  id, tenant_id, environment_id, file_name, file_type, size_bytes, sha256, columns, row_count, status,
  created_at, updated_at, created_by, updated_by`;

/** The columns of a task as stored. */
export const taskColumns = (db: Db) => db`
  id, tenant_id, environment_id, task_type, entity_type, file_provider, upload_id, file_type, file_name,
  task_status, total_records, processed_records, successful_records, failed_records, error_summary,
  metadata, started_at, completed_at, failed_at, status, created_at, updated_at, created_by, updated_by`;

/** An upload as answered. */
export const uploadAnswer = (row: UploadRow): Upload => ({ ...row, upload_id: row.id });

/** A task as answered. */
export const taskAnswer = (row: TaskRow): Task => ({
  ...row,
  file_url: null,
  scheduled_task_id: null,
  workflow_id: null,
});

/** Stores the file with its metadata. */
export async function insertUpload(db: Db, upload: UploadRow, content: Buffer): Promise<void> {
  await db`insert into uploads ${columnsOf(db, { ...upload, content })}`;
}

/** Total bytes of the files stored for an environment. */
export async function keptUploadBytes(db: Db, scope: Scope): Promise<number> {
  const [row] = await db<{ bytes: string }[]>`
    select coalesce(sum(size_bytes), 0) as bytes from uploads where ${inScope(db, scope)}`;
  return Number(row!.bytes);
}

/** Metadata of a file. 404 if it does not exist, is deleted or belongs to another scope. */
export async function getUpload(db: Db, scope: Scope, id: string): Promise<UploadRow> {
  const [row] = await db<UploadRow[]>`
    select ${uploadColumns(db)} from uploads where ${inScope(db, scope)} and id = ${id}`;
  if (row === undefined) throw notFound('Upload', id);
  return row;
}

/** The file of a task; null if it is deleted. */
export async function readUpload(db: Db, task: TaskRow): Promise<Buffer | null> {
  const [row] = await db<{ content: Buffer }[]>`
    select content from uploads where ${inScope(db, task)} and id = ${task.upload_id}`;
  return row?.content ?? null;
}

/** 409 if the upload has a task already. */
export async function insertTask(tx: Transaction, task: TaskRow): Promise<void> {
  try {
    await tx`insert into tasks ${columnsOf(tx, { ...task, metadata: jsonOf(tx, task.metadata) })}`;
  } catch (error) {
    if (violatedConstraint(error) !== 'tasks_upload_id_key') throw error;
    const message = `The upload ${task.upload_id} has a task already; send the file again to import it twice.`;
    throw new BillingError('conflict', 'already_exists', message, [
      { path: 'upload_id', code: 'already_exists', message: 'has a task' },
    ]);
  }
}

/** The task. 404 if it does not exist or belongs to another scope. */
export async function getTask(db: Db, scope: Scope, id: string): Promise<TaskRow> {
  const [row] = await db<TaskRow[]>`
    select ${taskColumns(db)} from tasks where ${inScope(db, scope)} and id = ${id}`;
  if (row === undefined) throw notFound('Task', id);
  return row;
}

/** The task, locked until the transaction ends. 404 as for `getTask`. */
export async function lockTask(tx: Transaction, scope: Scope, id: string): Promise<TaskRow> {
  const [row] = await tx<TaskRow[]>`
    select ${taskColumns(tx)} from tasks where ${inScope(tx, scope)} and id = ${id} for update`;
  if (row === undefined) throw notFound('Task', id);
  return row;
}

export type TaskChange = Partial<
  Pick<
    TaskRow,
    | 'task_status' | 'processed_records' | 'successful_records' | 'failed_records'
    | 'total_records' | 'error_summary' | 'metadata' | 'started_at' | 'completed_at' | 'failed_at' | 'updated_at' | 'updated_by'
  >
>; // prettier-ignore

/** Writes a task whose lock the caller holds. */
export async function changeTask(
  tx: Transaction,
  task: TaskRow,
  change: TaskChange,
): Promise<TaskRow> {
  const { metadata, ...columns } = change;
  const values = metadata === undefined ? columns : { ...columns, metadata: jsonOf(tx, metadata) };
  const [row] = await tx<TaskRow[]>`
    update tasks set ${columnsOf(tx, values)} where ${inScope(tx, task)} and id = ${task.id}
    returning ${taskColumns(tx)}`;
  return row!;
}

export interface TaskFilter {
  readonly task_type?: string | null;
  readonly entity_type?: string | null;
  readonly task_status?: string | null;
  readonly created_by?: string | null;
  readonly scheduled_task_id?: string | null;
  readonly search: Search;
}

/** Leaves out deleted tasks unless a status is requested. Tasks of scheduled exports are not kept here: none match. */
export async function searchTasks(db: Db, scope: Scope, filter: TaskFilter): Promise<Page<Task>> {
  const { search } = filter;
  const page = await findPage<TaskRow>(db, {
    columns: taskColumns(db),
    from: db`tasks`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filter.task_type ? db`and task_type = ${filter.task_type}` : db``}
      ${filter.entity_type ? db`and entity_type = ${filter.entity_type}` : db``}
      ${filter.task_status ? db`and task_status = ${filter.task_status}` : db``}
      ${filter.created_by ? db`and created_by = ${filter.created_by}` : db``}
      ${filter.scheduled_task_id ? db`and false` : db``}`,
    search,
  });
  return { ...page, items: page.items.map(taskAnswer) };
}

/** The outcome of one row: its event id, and for a refused row the column and the reason. */
export type RowResult =
  readonly [event_id: string] | readonly [event_id: string | null, column: string, reason: string];

/**
 * Stores the outcome of rows `first_row`, `first_row + 1`, … in the transaction that moves the cursor past
 * them.
 */
export async function insertResults(
  tx: Transaction,
  task: TaskRow,
  first_row: number,
  results: readonly RowResult[],
): Promise<void> {
  const { id: task_id, tenant_id, environment_id } = task;
  const row = { task_id, first_row, tenant_id, environment_id, results: jsonOf(tx, results) };
  await tx`insert into task_results ${tx(row)}`;
}

/** The next run of outcomes from a row on; null after the last one. */
export async function nextResults(
  db: Db,
  scope: Scope,
  task_id: string,
  from_row: number,
): Promise<{ first_row: number; results: readonly RowResult[] } | null> {
  const [row] = await db<{ first_row: number; results: RowResult[] }[]>`
    select first_row, results from task_results
     where ${inScope(db, scope)} and task_id = ${task_id} and first_row >= ${from_row}
     order by first_row limit 1`;
  return row ?? null;
}

/**
 * Tasks with work to do, one per tenant: the one that has waited longest. Spans tenants; for the worker only.
 */
export function openTasks(db: Db, limit: number): Promise<TaskRow[]> {
  return db<TaskRow[]>`
    select * from (
      select distinct on (tenant_id) ${taskColumns(db)} from tasks
       where entity_type = 'EVENTS' and task_status in ('PENDING', 'PROCESSING')
         and status = 'published'
       order by tenant_id, updated_at, id) open
     order by updated_at, id
     limit ${limit}`;
}
