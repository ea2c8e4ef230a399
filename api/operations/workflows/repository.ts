import { notFound } from '../../../domain/errors.ts';
import { epochMs } from '../../../domain/time/instant.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import { executionFields, Workflow, type WorkflowDetails } from '../../../schemas/workflow.ts';
import { picked } from '../../conventions/picked.ts';

interface WorkflowRow extends Omit<
  Workflow,
  'run_id' | 'duration_ms' | 'total_duration' | 'status'
> {
  readonly workflow_status: Workflow['status'];
  readonly asked_at: string;
  readonly error: string | null;
}

/** The work of the scope from all tables, in one form. */
const workflows = (db: Db, scope: Scope): Fragment => db`(
  select id, id as workflow_id, 'EventImport' as workflow_type, ${statusOf(db, db`task_status`)} as workflow_status,
         coalesce(started_at, created_at) as start_time, coalesce(completed_at, failed_at) as close_time,
         'imports' as task_queue, 'task' as entity, id as entity_id, created_by,
         error_summary as error, created_at as asked_at, created_at
    from tasks where ${inScope(db, scope)}
  union all
  select id, id, 'ScheduledExport', ${statusOf(db, db`run_status`)},
         coalesce(started_at, created_at), completed_at,
         'exports', 'scheduled_task', scheduled_task_id, created_by,
         error_summary, created_at, created_at
    from scheduled_task_runs where ${inScope(db, scope)}
  union all
  select id, id, 'CustomerOnboarding', ${statusOf(db, db`onboarding_status`)},
         created_at, completed_at, 'onboarding', 'customer', customer_id, created_by,
         error_summary, created_at, created_at
    from customer_onboardings where ${inScope(db, scope)}
) w`;

const statusOf = (db: Db, column: Fragment): Fragment =>
  db`case ${column} when 'COMPLETED' then 'Completed' when 'FAILED' then 'Failed' else 'Running' end`;

const columns = (db: Db): Fragment => db`
  workflow_id, workflow_type, workflow_status, start_time, close_time, task_queue, entity, entity_id,
  created_by, error, asked_at`;

export interface WorkflowFilter {
  readonly workflow_id?: string | null;
  readonly workflow_type?: string | null;
  readonly workflow_status?: string | null;
  readonly task_queue?: string | null;
  readonly entity?: string | null;
  readonly entity_id?: string | null;
  readonly page?: number | null;
  readonly page_size?: number | null;
  readonly search: Search;
}

/** A page of the matching workflows. `page`, from 1, and `page_size` replace offset and limit. */
export async function searchWorkflows(
  db: Db,
  scope: Scope,
  filter: WorkflowFilter,
): Promise<Page<Workflow>> {
  const limit = filter.page_size ?? filter.search.limit;
  const offset = filter.page == null ? filter.search.offset : (filter.page - 1) * limit;
  const page = await findPage<WorkflowRow>(db, {
    columns: columns(db),
    from: workflows(db, scope),
    where: db`true
      ${filter.workflow_id ? db`and workflow_id = ${filter.workflow_id}` : db``}
      ${filter.workflow_type ? db`and workflow_type = ${filter.workflow_type}` : db``}
      ${filter.workflow_status ? db`and workflow_status = ${filter.workflow_status}` : db``}
      ${filter.task_queue ? db`and task_queue = ${filter.task_queue}` : db``}
      ${filter.entity ? db`and entity = ${filter.entity}` : db``}
      ${filter.entity_id ? db`and entity_id = ${filter.entity_id}` : db``}`,
    search: { ...filter.search, limit, offset },
  });
  return { ...page, items: page.items.map(workflowAnswer) };
}

/**
 * The workflow with its activities. 404 if it does not exist or belongs to another scope, and for another
 * run's id.
 */
export async function getWorkflow(
  db: Db,
  scope: Scope,
  { workflow_id, run_id }: { readonly workflow_id: string; readonly run_id: string },
): Promise<WorkflowDetails> {
  const [row] = await db<WorkflowRow[]>`
    select ${columns(db)} from ${workflows(db, scope)} where workflow_id = ${workflow_id}`;
  // Each workflow runs once, under its own id.
  if (row === undefined) throw notFound('Workflow', workflow_id);
  if (run_id !== workflow_id) throw notFound('Workflow run', run_id);
  const { entity, entity_id, error } = row;
  const timeline = timelineOf(row);
  return {
    ...picked(executionFields, workflowAnswer(row)),
    task_queue: row.task_queue,
    history_size: timeline.length,
    activities: [],
    timeline,
    metadata: { entity, entity_id, error },
  };
}

function workflowAnswer(row: WorkflowRow): Workflow {
  const duration_ms =
    row.close_time === null ? null : epochMs(row.close_time) - epochMs(row.start_time);
  return picked(Workflow.shape, {
    ...row,
    run_id: row.workflow_id,
    status: row.workflow_status,
    duration_ms,
    total_duration: duration_ms === null ? null : inWords(duration_ms),
  });
}

function timelineOf(row: WorkflowRow): WorkflowDetails['timeline'] {
  const at = (event_type: string, timestamp: string, details: string | null = null) => ({
    event_type,
    timestamp,
    details,
  });
  return [
    at('Requested', row.asked_at),
    ...(row.start_time === row.asked_at ? [] : [at('Started', row.start_time)]),
    ...(row.close_time === null ? [] : [at(row.workflow_status, row.close_time, row.error)]),
  ];
}

/** `1h 2m 3s`, without leading zeros. */
function inWords(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const parts: [number, string][] = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ];
  const shown = parts.filter(([count], index) => count > 0 || index === 2);
  return shown.map(([count, unit]) => `${count}${unit}`).join(' ');
}
