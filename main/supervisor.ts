import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../platform/log.ts';

/** A running process of the tree. */
export interface RunningChild {
  readonly pid: number;
  /** Resolves when the process has ended, for any reason. */
  readonly exited: Promise<void>;
  /** Requests the process to drain and resolves when it has ended. */
  stop(): Promise<void>;
}

export interface ChildSpec {
  readonly name: string;
  /** Starts the process and resolves when it is ready to serve. */
  start(): Promise<RunningChild>;
}

const FIRST_BACKOFF_MS = 100;
const BACKOFF_MS_MAX = 5_000;
/** A child that has run this long is healthy again: its next restart is quick. */
const HEALTHY_MS = 30_000;

/**
 * Keeps the processes of one machine alive: a child that ends unexpectedly is restarted, quickly at first and
 * slower if it keeps failing. `stop` ends them in the reverse order of `add`, so that the engines outlive the
 * roles that still drain into them.
 */
export class Supervisor {
  readonly #log: Logger;
  readonly #children: { spec: ChildSpec; running: RunningChild; done: Promise<void> }[] = [];
  #stopping = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Starts the child, waits until it is ready, and keeps it alive from then on. */
  async add(spec: ChildSpec): Promise<void> {
    const running = await spec.start();
    const entry = { spec, running, done: Promise.resolve() };
    entry.done = this.#keepAlive(entry);
    this.#children.push(entry);
  }

  pids(): Record<string, number> {
    return Object.fromEntries(this.#children.map(({ spec, running }) => [spec.name, running.pid]));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    for (const entry of this.#children.reverse()) {
      await entry.running.stop();
      await entry.done;
    }
  }

  async #keepAlive(entry: { spec: ChildSpec; running: RunningChild }): Promise<void> {
    let backoffMs = FIRST_BACKOFF_MS;
    for (;;) {
      const startedAt = performance.now();
      await entry.running.exited;
      if (this.#stopping) return;
      if (performance.now() - startedAt > HEALTHY_MS) backoffMs = FIRST_BACKOFF_MS;
      this.#log.warn(
        { child: entry.spec.name, pid: entry.running.pid },
        'child ended; starting it again',
      );
      for (;;) {
        await sleep(backoffMs);
        if (this.#stopping) return;
        backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX);
        try {
          entry.running = await entry.spec.start();
          this.#log.info({ child: entry.spec.name, pid: entry.running.pid }, 'child is back');
          break;
        } catch (error) {
          this.#log.error({ child: entry.spec.name, err: error }, 'child did not start');
        }
      }
      // `stop` may have run while the child was starting: it only stopped the old process.
      if (this.#stopping) return void (await entry.running.stop());
    }
  }
}
