import { moveTask } from '../../../domain/states/task.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CreateTaskBody, Task } from '../../../schemas/task.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { getUpload, insertTask, taskAnswer } from './repository.ts';

/**
 * Creates the task that imports an upload; a worker runs it (money 19.1). 409 if the upload already
 * has one.
 */
export async function createTask(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateTaskBody,
): Promise<Task> {
  const upload = await getUpload(tx, caller.scope, body.upload_id);
  const row = {
    ...newRecord(deps, caller, 'task'),
    task_type: 'IMPORT' as const,
    entity_type: 'EVENTS' as const,
    file_provider: body.file_provider,
    upload_id: upload.id,
    file_type: upload.file_type,
    file_name: body.file_name ?? upload.file_name,
    task_status: moveTask(null, 'PENDING'),
    total_records: upload.row_count,
    processed_records: 0,
    successful_records: 0,
    failed_records: 0,
    error_summary: null,
    metadata: body.metadata ?? {},
    started_at: null,
    completed_at: null,
    failed_at: null,
  };
  await insertTask(tx, row);
  return taskAnswer(row);
}
