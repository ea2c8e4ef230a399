import { AssertionError } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../platform/log.ts';

const WAIT_MS_MIN = 100;
const WAIT_MS_MAX = 5_000;

/** The stream is draining while a store does not answer: the next owner does the work. */
export class Draining extends Error {
  constructor() {
    super('The stream is draining.');
    this.name = 'Draining';
  }
}

/**
 * Handles an outage of a store: the work is retried until it succeeds, with growing pauses, so that the
 * partition waits and nothing is lost. A failed assertion is not an outage and is thrown.
 */
export class OutagePatience {
  readonly #log: Logger;
  readonly #draining = new AbortController();
  #failing = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Whether some work is waiting for a store. */
  get isWaiting(): boolean {
    return this.#failing > 0;
  }

  /** From now on, failing work is given up with `Draining`; running work may finish. */
  drain(): void {
    this.#draining.abort();
  }

  async outlast<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    for (
      let attempt = 0, waitMs = WAIT_MS_MIN;
      ;
      attempt++, waitMs = Math.min(waitMs * 2, WAIT_MS_MAX)
    ) {
      try {
        const result = await work();
        if (attempt > 0) {
          this.#failing--;
          this.#log.info({ what, attempts: attempt + 1 }, 'the store is back');
        }
        return result;
      } catch (error) {
        if (error instanceof AssertionError) throw this.#stop(attempt, error);
        if (this.#draining.signal.aborted) throw this.#stop(attempt, new Draining());
        if (attempt === 0) this.#failing++;
        this.#log[attempt === 0 ? 'warn' : 'error']({ err: error, what, attempt }, 'retrying');
      }
      // Half of the pause is random, so that partitions do not retry in step.
      await sleep(waitMs / 2 + (Math.random() * waitMs) / 2, undefined, {
        signal: this.#draining.signal,
      }).catch(() => {});
    }
  }

  #stop(attempt: number, error: Error): Error {
    if (attempt > 0) this.#failing--;
    return error;
  }
}
