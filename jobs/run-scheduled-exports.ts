import type { BillingDeps } from '../api/deps.ts';
import { newRecord } from '../api/conventions/record.ts';
import { isOutage } from '../api/outage.ts';
import {
  exportFiles,
  type ExportDeps,
} from '../api/operations/scheduled-tasks/export-window-files.ts';
import {
  dueRuns,
  failRunsOfDeletedTasks,
  noteRun,
  planRuns,
  tasksToPlan,
  type DueRun,
} from '../api/operations/scheduled-tasks/repository.ts';
import { rulesOf } from '../api/operations/webhooks/endpoints.ts';
import { connectionSecrets } from '../api/tenancy/connections/secrets.ts';
import { BillingError } from '../domain/errors.ts';
import { dueWindows } from '../domain/time/due-windows.ts';
import { epochMs, isoText } from '../domain/time/instant.ts';
import { failpoint } from '../platform/failpoint.ts';
import { AddressRefused, type Outbound } from '../platform/outbound/guarded-request.ts';
import {
  putObject,
  StorageRefused,
  type StorageCredentials,
} from '../platform/outbound/put-object.ts';
import { holdJobLease } from '../postgres/tables/job-leases.ts';
import type { Job, JobRun } from './job.ts';

export type RunScheduledExportsDeps = BillingDeps &
  ExportDeps & { readonly outbound: Pick<Outbound, 'put'> };

const TASKS_PER_PAGE = 500;
const RUNS_PER_PAGE = 20;
/** Waits after failures that may pass; after the last one the run fails. */
const RETRY_MINUTES = [1, 5, 30, 120, 360];
const SUMMARY_LENGTH_MAX = 500;

/**
 * Exports the windows that are due over connections to storage (money 19.4). First every task gets one run for
 * each window since its last one. Then open runs are carried out, one of each tenant in turn. The names of the
 * files depend on task and window only: a run that a stopped process left is carried out again and replaces what
 * it wrote.
 */
export const runScheduledExports: Job<RunScheduledExportsDeps> = {
  name: 'run-scheduled-exports',
  cron: '* * * * *',
  async run(deps, run) {
    const planned = await plan(deps, run);
    const report = { planned, exported: 0, retried: 0, failed: 0 };
    await failRunsOfDeletedTasks(deps.pool, run.at);
    while (!run.signal.aborted) {
      const due = await dueRuns(deps.pool, run.at, RUNS_PER_PAGE);
      if (due.length === 0) break;
      for (const each of due) {
        if (run.signal.aborted) break;
        report[await carryOut(deps, run, each)] += 1;
      }
    }
    return report;
  },
};

async function plan(deps: RunScheduledExportsDeps, run: JobRun): Promise<number> {
  let after = '';
  let planned = 0;
  for (;;) {
    const tasks = await tasksToPlan(deps.pool, after, TASKS_PER_PAGE);
    const runs = tasks.flatMap(({ task, planned_until }) => {
      const scope = { tenant_id: task.tenant_id, environment_id: task.environment_id };
      return dueWindows(task.interval, planned_until, run.at).map((window) => ({
        ...newRecord(deps, { scope, user_id: '' }, 'sched_run'),
        scheduled_task_id: task.id,
        mode: 'automatic' as const,
        window,
        scheduled_for: window.end,
      }));
    });
    if (runs.length > 0)
      planned += await deps.pool.begin(async (tx) => {
        await holdJobLease(tx, run.lease);
        return await planRuns(tx, runs);
      });
    if (tasks.length < TASKS_PER_PAGE || run.signal.aborted) return planned;
    after = tasks.at(-1)!.task.id;
  }
}

/** Carries out one run and notes how it ended. */
async function carryOut(
  deps: RunScheduledExportsDeps,
  run: JobRun,
  due: DueRun,
): Promise<'exported' | 'retried' | 'failed'> {
  const { pool } = deps;
  const note = async (change: Parameters<typeof noteRun>[2]): Promise<void> => {
    await pool.begin(async (tx) => {
      await holdJobLease(tx, run.lease);
      await noteRun(tx, due.id, change);
    });
  };
  await note({ run_status: 'PROCESSING', updated_at: run.at, started_at: run.at });
  try {
    const { rows, keys } = await writeFiles(deps, run, due);
    failpoint('jobs.run_scheduled_exports.after_put');
    await note({
      run_status: 'COMPLETED', updated_at: run.at, completed_at: run.at, error_summary: null,
      exported_rows: rows, object_keys: keys,
    }); // prettier-ignore
    return 'exported';
  } catch (error) {
    // The process drains: the next run carries it out from its beginning.
    if (run.signal.aborted) return 'retried';
    const attempts = due.attempts + 1;
    const minutes = isFinal(error) ? undefined : RETRY_MINUTES[due.attempts];
    const error_summary = summaryOf(error);
    deps.log.warn({ err: error, run_id: due.id, attempts }, 'scheduled export not written');
    const change = { updated_at: run.at, attempts, error_summary };
    if (minutes === undefined) {
      await note({ ...change, run_status: 'FAILED', completed_at: run.at });
      return 'failed';
    }
    const due_at = isoText(epochMs(run.at) + minutes * 60_000);
    await note({ ...change, run_status: 'PENDING', due_at });
    return 'retried';
  }
}

/** What would fail again: refusals of the storage, of its address, and of our own rules. */
const isFinal = (error: unknown): boolean =>
  error instanceof StorageRefused ||
  error instanceof AddressRefused ||
  (error instanceof BillingError && !isOutage(error));

const summaryOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, SUMMARY_LENGTH_MAX);

async function writeFiles(
  deps: RunScheduledExportsDeps,
  run: JobRun,
  { task, window }: DueRun,
): Promise<{ readonly rows: number; readonly keys: readonly string[] }> {
  const { bucket, region, endpoint_url, use_path_style, encryption } = task.job_config;
  const credentials = await credentialsOf(deps, task);
  const rules = await rulesOf(deps.pool, deps, task);
  const keys: string[] = [];
  let rows = 0;
  for await (const file of exportFiles(deps, task, window)) {
    run.signal.throwIfAborted();
    await putObject(
      deps.outbound,
      {
        bucket, region, endpoint_url, use_path_style, encryption, credentials, rules,
        key: file.key, body: file.body, content_type: file.content_type,
      },
      deps.clock.now(),
    ); // prettier-ignore
    keys.push(file.key);
    rows += file.rows;
  }
  return { rows, keys };
}

/** The keys of the connection. Never those of the machine. */
async function credentialsOf(
  deps: RunScheduledExportsDeps,
  task: DueRun['task'],
): Promise<StorageCredentials> {
  const secrets = (await connectionSecrets(deps.pool, deps, task, task.connection_id)) ?? {};
  const text = (name: string): string | undefined =>
    secrets[name] === undefined || secrets[name] === '' ? undefined : String(secrets[name]);
  const accessKeyId = text('aws_access_key_id');
  const secretAccessKey = text('aws_secret_access_key');
  const sessionToken = text('aws_session_token');
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new StorageRefused('The connection lacks its access key or its secret key.');
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}
