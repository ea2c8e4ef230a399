import type { Pool } from '../../postgres/client.ts';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Readable, Writable } from 'node:stream';
import type { ChildTask } from './billing-child.ts';
import { bundle } from './bundle.ts';
import { WAIT_MS } from './patience.ts';

export interface Ended {
  /** The signal that ended the process; null if the process completed the task. */
  readonly signal: string | null;
  readonly answer: any;
}

/**
 * Runs a job until a process has its lease, without which the answer is null. A lease lasts a second: that of a killed
 * process runs out by the clock of the database, and a busy machine may lose one before its first transaction.
 */
export async function untilLeased(run: () => Promise<Ended>): Promise<Ended> {
  const until = Date.now() + WAIT_MS;
  for (;;) {
    const ended = await run();
    if (ended.answer !== null || Date.now() > until) return ended;
    await sleep(100);
  }
}

/**
 * Processes that run tasks and can be killed in the middle of one. A process that has completed a task takes the
 * next: a start costs 0.8 s of CPU, and most tasks are not killed.
 */
export class BillingChildren {
  readonly #program: string;
  readonly #idle: Child[] = [];

  private constructor(program: string) {
    this.#program = program;
  }

  static async create(): Promise<BillingChildren> {
    return new BillingChildren(await bundle(new URL('./billing-child.ts', import.meta.url)));
  }

  async run(task: ChildTask): Promise<Ended> {
    const child = this.#idle.pop() ?? new Child(this.#program);
    const ended = await child.run(task);
    const isAlive = ended.signal === null && ended.answer !== undefined;
    // Failpoints that were not reached stay armed.
    if (isAlive && task.failpoints === '') this.#idle.push(child);
    else if (isAlive) await child.end();
    return ended;
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((child) => child.end()));
    await rm(this.#program, { force: true });
  }
}

class Child {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #closed: Promise<string | null>;
  #onAnswer: (line: string) => void = () => {};

  constructor(program: string) {
    this.#process = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
    // A killed process does not read its task to the end.
    this.#process.stdin.on('error', () => {});
    this.#closed = new Promise((resolve) =>
      this.#process.on('close', (_code, signal) => resolve(signal)),
    );
    createInterface(this.#process.stdout).on('line', (line) => this.#onAnswer(line));
  }

  /** The answer is undefined if the process ended during the task. */
  async run(task: ChildTask): Promise<Ended> {
    const answered = new Promise<Ended>((resolve) => {
      this.#onAnswer = (line) => resolve({ signal: null, answer: JSON.parse(line) });
    });
    this.#process.stdin.write(`${JSON.stringify(task)}\n`);
    const closed = this.#closed.then((signal) => ({ signal, answer: undefined }));
    return await Promise.race([answered, closed]);
  }

  async end(): Promise<void> {
    this.#process.stdin.end();
    await this.#closed;
  }
}

/** The URL with which a child connects to the database of a pool. */
export async function databaseUrl(pool: Pool): Promise<string> {
  const [row] = await pool<{ name: string }[]>`select current_database() as name`;
  const url = new URL(process.env['TEST_POSTGRES_URL']!);
  url.pathname = `/${row!.name}`;
  return url.toString();
}
