import { setImmediate as nextTurn } from 'node:timers/promises';

/** Each step of another request may wait for one piece, and a request has some ten steps. */
const ROWS = 100;

/**
 * Cuts work over many rows into pieces of a millisecond or less: decoding one tenant's wide result must not
 * block the process for the others.
 *
 *     for (const row of rows) { … if (pieces.isDone()) await pieces.breathe(); }
 */
export class Pieces {
  #left = ROWS;

  /** Counts rows. True when enough rows were processed without a pause. */
  isDone(rows = 1): boolean {
    this.#left -= rows;
    return this.#left <= 0;
  }

  /** Yields to the event loop. */
  async breathe(): Promise<void> {
    this.#left = ROWS;
    await nextTurn();
  }
}
