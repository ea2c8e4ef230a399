import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import type { TaskRow } from '../../../schemas/task.ts';
import { taskColumns } from '../tasks/repository.ts';

/**
 * Locks the plan until the transaction ends, so that requests for its sync wait for each other. Rows that refer to
 * the plan can still be written.
 */
export async function lockPlanForSync(
  tx: Transaction,
  scope: Scope,
  planId: string,
): Promise<void> {
  await tx`select 1 from plans where ${inScope(tx, scope)} and id = ${planId} for no key update`;
}

/** The open price sync of a plan; null if not found. */
export async function findOpenPriceSync(
  db: Db,
  scope: Scope,
  planId: string,
): Promise<TaskRow | null> {
  const [row] = await db<TaskRow[]>`
    select ${taskColumns(db)} from tasks
     where ${inScope(db, scope)} and entity_type = 'PRICES' and metadata ->> 'plan_id' = ${planId}
       and task_status in ('PENDING', 'PROCESSING') and status = 'published'`;
  return row ?? null;
}

/** The oldest open price sync of each environment. */
export function openPriceSyncs(db: Db): Promise<TaskRow[]> {
  return db<TaskRow[]>`
    select distinct on (tenant_id, environment_id) ${taskColumns(db)} from tasks
     where entity_type = 'PRICES' and task_status in ('PENDING', 'PROCESSING')
       and status = 'published'
     order by tenant_id, environment_id, created_at, id`;
}
