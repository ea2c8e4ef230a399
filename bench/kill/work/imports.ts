import { setTimeout as sleep } from 'node:timers/promises';
import { thousandths, type SentEvent } from '../ledger.ts';
import { Refused, untilAnswered } from '../until-answered.ts';
import { CUSTOMERS } from './events.ts';
import type { Work, WorkWorld } from './work.ts';

const ROWS = 2_000;
const POLL_MS = 500;
const MONTH_MS = 28 * 86_400_000;

/** Uploads files of events. Their rows are acknowledged when the task is complete. */
export class Imports implements Work {
  readonly name = 'imports';
  done = 0;
  readonly #world: WorkWorld;
  readonly #open: { readonly taskId: string; readonly events: readonly SentEvent[] }[] = [];
  #files = 0;

  constructor(world: WorkWorld) {
    this.#world = world;
  }

  async once(): Promise<void> {
    const { tree } = this.#world;
    this.#files += 1;
    const events = this.#rows();
    const upload = await untilAnswered<{ upload_id: string }>(tree, {
      method: 'POST',
      path: '/tasks/uploads',
      contentType: 'text/csv',
      body: csvOf(events),
    });
    this.#open.push({ taskId: await this.#createTask(upload.upload_id), events });
  }

  /** An upload has one task: a repeated call is refused if an earlier one was done and its answer was lost. */
  async #createTask(upload_id: string): Promise<string> {
    const { tree } = this.#world;
    const body = { upload_id, file_provider: 'csvbox' };
    try {
      return (await untilAnswered<Task>(tree, { method: 'POST', path: '/tasks', body })).id;
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 409) throw error;
      const path = '/tasks?limit=1000';
      const { items } = await untilAnswered<{ items: Task[] }>(tree, { method: 'GET', path });
      return items.find((task) => task.upload_id === upload_id)!.id;
    }
  }

  async finish(): Promise<void> {
    const { tree, ledger } = this.#world;
    for (const { taskId, events } of this.#open.splice(0)) {
      for (;;) {
        const path = `/tasks/${taskId}`;
        const task = await untilAnswered<Task>(tree, { method: 'GET', path });
        if (task.task_status === 'FAILED' || task.failed_records > 0)
          throw new Error(`the import ${taskId} failed: ${task.error_summary}`);
        if (task.task_status === 'COMPLETED') break;
        await sleep(POLL_MS);
      }
      ledger.acked(events);
      this.done += 1;
    }
  }

  #rows(): SentEvent[] {
    const { random, runId, startMs } = this.#world;
    return Array.from({ length: ROWS }, (_none, row) => ({
      event_id: `${runId}-file${this.#files}-${row}`,
      external_customer_id: `kill-${runId}-${row % CUSTOMERS}`,
      // Other milliseconds than those of sent events: LATEST has no ties.
      timestamp: startMs + MONTH_MS + this.#files * ROWS + row,
      value: random.integer(-50_000, 1_000_000),
      user: `u${random.integer(0, 400)}`,
    }));
  }
}

interface Task {
  readonly id: string;
  readonly upload_id: string;
  readonly task_status: string;
  readonly failed_records: number;
  readonly error_summary: string | null;
}

function csvOf(events: readonly SentEvent[]): string {
  const header =
    'event_name,event_id,external_customer_id,timestamp,properties.value,properties.user';
  const rows = events.map((event) =>
    [
      'kill.sample',
      event.event_id,
      event.external_customer_id,
      new Date(event.timestamp).toISOString(),
      thousandths(event.value),
      event.user,
    ].join(','),
  );
  return `${[header, ...rows].join('\n')}\n`;
}
