import { moveTask } from '../../../domain/states/task.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { TaskRow } from '../../../schemas/task.ts';
import { countSyncable } from '../../billing/subscriptions/plan-price-sync-repository.ts';
import { getPlanRow } from '../../catalog/offers/plan-repository.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { insertTask } from '../tasks/repository.ts';
import { findOpenPriceSync, lockPlanForSync } from './repository.ts';

/**
 * Creates the task that applies the plan's prices to its running subscriptions (billing 2.8), or
 * returns the open one. 404 if the plan does not exist.
 */
export async function requestPriceSync(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  planId: string,
): Promise<TaskRow> {
  const { scope } = caller;
  await getPlanRow(tx, scope, planId);
  // Serializes requests: only one at a time looks for an open task and creates one.
  await lockPlanForSync(tx, scope, planId);
  const open = await findOpenPriceSync(tx, scope, planId);
  if (open !== null) return open;
  const task: TaskRow = {
    ...newRecord(deps, caller, 'task'),
    task_type: 'IMPORT',
    entity_type: 'PRICES',
    file_provider: 'plan',
    upload_id: '',
    file_type: 'JSON',
    file_name: null,
    task_status: moveTask(null, 'PENDING'),
    total_records: await countSyncable(tx, scope, planId),
    processed_records: 0,
    successful_records: 0,
    failed_records: 0,
    error_summary: null,
    metadata: { plan_id: planId, changed_subscriptions: 0, last_subscription_id: '' },
    started_at: null,
    completed_at: null,
    failed_at: null,
  };
  await insertTask(tx, task);
  return task;
}
