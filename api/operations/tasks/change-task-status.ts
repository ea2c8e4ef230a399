import { invalidOperation } from '../../../domain/errors.ts';
import { moveTask, type TaskStatus } from '../../../domain/states/task.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import { changeTask, lockTask, readUpload } from './repository.ts';

/**
 * A person stops a task (FAILED) or resumes it (PROCESSING). Only the worker sets COMPLETED, when every row
 * is done.
 */
export async function changeTaskStatus(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  to: TaskStatus,
): Promise<void> {
  const task = await lockTask(tx, caller.scope, id);
  moveTask(task.task_status, to);
  if (to === task.task_status) return;
  const change = changed(deps, caller);
  const at = change.updated_at;
  if (to === 'COMPLETED')
    throw invalidOperation(
      `Task ${id} is completed by its last row; ${task.total_records - task.processed_records} are left.`,
      'task_status',
    );
  if (to === 'FAILED') {
    const error_summary = task.error_summary ?? 'Stopped by request.';
    await changeTask(tx, task, { ...change, task_status: to, failed_at: at, error_summary });
    return;
  }
  if (task.entity_type === 'EVENTS' && task.processed_records === task.total_records)
    throw invalidOperation(`Task ${id} has no rows left to import.`, 'task_status');
  if (task.entity_type === 'EVENTS' && (await readUpload(tx, task)) === null)
    throw invalidOperation(
      `The file of task ${id} is no longer kept; upload it again and create a new task.`,
      'task_status',
    );
  await changeTask(tx, task, {
    ...change,
    task_status: to,
    started_at: task.started_at ?? at,
    failed_at: null,
  });
}
