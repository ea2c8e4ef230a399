import { isOutage } from '../api/outage.ts';
import {
  changeTask,
  insertResults,
  lockTask,
  openTasks,
  readUpload,
  type RowResult,
} from '../api/operations/tasks/repository.ts';
import {
  eventColumns,
  readEventRow,
  type EventColumns,
} from '../api/operations/tasks/event-columns.ts';
import type { ErrorDetail } from '../domain/errors.ts';
import { moveTask } from '../domain/states/task.ts';
import { isoTime, type Clock } from '../platform/clock.ts';
import { readCsv } from '../platform/csv/read-csv.ts';
import { failpoint } from '../platform/failpoint.ts';
import type { Logger } from '../platform/log.ts';
import type { Pool, Scope } from '../postgres/client.ts';
import { holdJobLease, JobLeaseLost } from '../postgres/tables/job-leases.ts';
import type { TaskRow } from '../schemas/task.ts';
import type { Job, JobRun } from './job.ts';

export interface ImportEventsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Validates events as the edge does and appends the valid ones to the event log. Resolves, in the given
   * order, when they are durable. The same events with the same ids count once.
   */
  importEvents(
    scope: Scope,
    events: readonly ImportedEvent[],
    signal: AbortSignal,
  ): Promise<ImportOutcome[]>;
}
interface ImportedEvent {
  readonly json: string;
  readonly event_id: string;
}
type ImportOutcome = { readonly event_id: string } | { readonly problems: readonly ErrorDetail[] };

/** Rows appended together, with their results stored in one transaction. */
const BATCH_ROWS = 500;
/** Tenants whose files are processed concurrently; each has its turn, then the next ones follow. */
const TENANTS_AT_ONCE = 4;
const TURN_MS = 10_000;
const SUMMARY_ROWS = 10;
const REASON_LENGTH_MAX = 300;

/**
 * Imports the files of open tasks (money 19.1). A batch of rows is appended to the log first. Then
 * one transaction stores their results and moves the cursor past them. After a crash in between they are
 * appended again with the same ids: an event without an id gets one from its task and row (metering 3), so it
 * counts once. A refused row is reported and skipped.
 */
export const importEvents: Job<ImportEventsDeps> = {
  name: 'import-events',
  cron: '*/5 * * * * *',
  async run(deps, run) {
    const totals = { rows: 0, failed_rows: 0, waiting: 0 };
    const waiting = new Set<string>();
    while (!run.signal.aborted) {
      const open = await openTasks(deps.pool, TENANTS_AT_ONCE + waiting.size);
      const tasks = open.filter(({ id }) => !waiting.has(id)).slice(0, TENANTS_AT_ONCE);
      if (tasks.length === 0) break;
      const turns = await Promise.all(tasks.map((task) => oneTurn(deps, run, task)));
      turns.forEach((turn, index) => {
        totals.rows += turn.rows;
        totals.failed_rows += turn.failed_rows;
        if (turn.waits) waiting.add(tasks[index]!.id);
      });
    }
    totals.waiting = waiting.size;
    return totals;
  },
};

interface Turn {
  readonly rows: number;
  readonly failed_rows: number;
  /** The log does not accept events: this run sends no more. */
  readonly waits: boolean;
}

/** A few seconds of one task, from its cursor on. */
async function oneTurn(deps: ImportEventsDeps, run: JobRun, task: TaskRow): Promise<Turn> {
  const done = { rows: 0, failed_rows: 0 };
  try {
    const content = await readUpload(deps.pool, task);
    if (content === null) {
      await fail(deps, run, task, 'The file is no longer kept.');
      return { ...done, waits: false };
    }
    const until = deps.clock.now() + TURN_MS;
    let current: TaskRow | null = task;
    for await (const batch of batches(content, task.processed_records)) {
      current = await importBatch(deps, run, current, batch);
      if (current === null) break;
      done.rows += batch.rows.length;
      if (run.signal.aborted || deps.clock.now() >= until) break;
    }
    done.failed_rows = (current?.failed_records ?? task.failed_records) - task.failed_records;
    return { ...done, waits: false };
  } catch (error) {
    if (error instanceof JobLeaseLost) throw error;
    // The process drained while the task waited for its turn: the next run begins at the cursor.
    if (run.signal.aborted) return { ...done, waits: false };
    // After an outage the next run continues at the cursor; any other error would repeat.
    const waits = isOutage(error);
    deps.log.error({ err: error, task_id: task.id }, waits ? 'import waits' : 'import failed');
    if (!waits) await fail(deps, run, task, 'An unexpected error ended the task.');
    return { ...done, waits };
  }
}

interface Batch {
  readonly columns: EventColumns;
  /** Number of the first row, counted from 1 after the header line. */
  readonly first_row: number;
  readonly rows: readonly (readonly string[])[];
}

/**
 * The rows after the cursor. The file is read from its start, which costs less than storing offsets into it.
 */
async function* batches(content: Buffer, processed: number): AsyncGenerator<Batch, void> {
  let columns: EventColumns | null = null;
  let row = 0;
  let rows: string[][] = [];
  for await (const cells of readCsv(content)) {
    if (columns === null) {
      columns = eventColumns(cells);
      continue;
    }
    row += 1;
    if (row <= processed) continue;
    rows.push(cells);
    if (rows.length === BATCH_ROWS) {
      yield { columns, first_row: row - rows.length + 1, rows };
      rows = [];
    }
  }
  if (columns !== null && rows.length > 0)
    yield { columns, first_row: row - rows.length + 1, rows };
}

/**
 * Null if the task was stopped in the meantime: then nothing of the batch is stored, and its events are
 * repeated with the same ids.
 */
async function importBatch(
  deps: ImportEventsDeps,
  run: JobRun,
  task: TaskRow,
  batch: Batch,
): Promise<TaskRow | null> {
  const results = await appendRows(deps, run, task, batch);
  failpoint('jobs.import_events.after_append');
  const failures = results.flatMap(([, column, reason], index) =>
    reason === undefined ? [] : [`row ${batch.first_row + index}: ${column}: ${reason}`],
  );
  const changed = await deps.pool.begin(async (tx) => {
    await holdJobLease(tx, run.lease);
    const locked = await lockTask(tx, task, task.id);
    const isOpen = locked.task_status === 'PENDING' || locked.task_status === 'PROCESSING';
    if (!isOpen || locked.processed_records !== batch.first_row - 1) return null;
    await insertResults(tx, task, batch.first_row, results);
    return await changeTask(tx, locked, progress(locked, results.length, failures, deps.clock));
  });
  failpoint('jobs.import_events.after_commit');
  return changed;
}

async function appendRows(
  deps: ImportEventsDeps,
  run: JobRun,
  task: TaskRow,
  batch: Batch,
): Promise<RowResult[]> {
  const readings = batch.rows.map((cells) => readEventRow(batch.columns, cells));
  const events = readings.flatMap((reading, index) =>
    'json' in reading
      ? [{ json: reading.json, event_id: `${task.id}-${batch.first_row + index}` }]
      : [],
  );
  const scope = { tenant_id: task.tenant_id, environment_id: task.environment_id };
  const outcomes = await importOrRefuse(deps, run, scope, events);
  let next = 0;
  return readings.map((reading): RowResult => {
    if ('problem' in reading) return refused([reading.problem]);
    const outcome = outcomes[next++]!;
    return 'event_id' in outcome ? [outcome.event_id] : refused(outcome.problems);
  });
}

/**
 * Imports the events. A batch that fails is split in halves, down to the rows at fault, so a bug fails one
 * row and not the file. Rows appended twice this way have the same ids. Throws during an outage.
 */
async function importOrRefuse(
  deps: ImportEventsDeps,
  run: JobRun,
  scope: Scope,
  events: readonly ImportedEvent[],
): Promise<ImportOutcome[]> {
  if (events.length === 0) return [];
  try {
    return await deps.importEvents(scope, events, run.signal);
  } catch (error) {
    if (isOutage(error) || run.signal.aborted) throw error;
    if (events.length === 1) {
      deps.log.error({ err: error, event_id: events[0]!.event_id, ...scope }, 'row not imported');
      return [{ problems: [UNEXPECTED] }];
    }
    const middle = Math.ceil(events.length / 2);
    return [
      ...(await importOrRefuse(deps, run, scope, events.slice(0, middle))),
      ...(await importOrRefuse(deps, run, scope, events.slice(middle))),
    ];
  }
}

const UNEXPECTED: ErrorDetail = {
  path: 'row',
  code: 'internal_error',
  message: 'could not be imported because of an unexpected error of the service',
};

function refused(problems: readonly ErrorDetail[]): RowResult {
  const [first] = problems;
  const rest = problems.slice(1).map(({ path, message }) => `; ${path}: ${message}`);
  const reason = `${first!.message}${rest.join('')}`;
  return [null, first!.path.slice(0, 100), reason.slice(0, REASON_LENGTH_MAX)];
}

/** Counts, cursor and status after a batch. A task fails if every row failed (money 19.1). */
function progress(task: TaskRow, rows: number, failures: readonly string[], clock: Clock) {
  const at = isoTime(clock.now());
  const processed_records = task.processed_records + rows;
  const failed_records = task.failed_records + failures.length;
  const successful_records = processed_records - failed_records;
  const working = moveTask(task.task_status, 'PROCESSING');
  const isDone = processed_records === task.total_records;
  const task_status = !isDone
    ? working
    : moveTask(working, successful_records === 0 ? 'FAILED' : 'COMPLETED');
  return {
    task_status,
    processed_records,
    successful_records,
    failed_records,
    error_summary: summary(task, failures),
    started_at: task.started_at ?? at,
    completed_at: task_status === 'COMPLETED' ? at : null,
    failed_at: task_status === 'FAILED' ? at : null,
    updated_at: at,
  };
}

/** The first failed rows, one line each. */
function summary(task: TaskRow, failures: readonly string[]): string | null {
  const known = task.failed_records === 0 ? [] : (task.error_summary?.split('\n') ?? []);
  const lines = [...known, ...failures].slice(0, SUMMARY_ROWS);
  return lines.length === 0 ? null : lines.join('\n');
}

async function fail(
  deps: ImportEventsDeps,
  run: JobRun,
  task: TaskRow,
  error_summary: string,
): Promise<void> {
  const at = isoTime(deps.clock.now());
  await deps.pool.begin(async (tx) => {
    await holdJobLease(tx, run.lease);
    const locked = await lockTask(tx, task, task.id);
    if (locked.task_status !== 'PENDING' && locked.task_status !== 'PROCESSING') return;
    const task_status = moveTask(locked.task_status, 'FAILED');
    await changeTask(tx, locked, { task_status, failed_at: at, error_summary, updated_at: at });
  });
}
