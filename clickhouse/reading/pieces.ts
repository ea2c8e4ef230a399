import { setImmediate as nextTurn } from 'node:timers/promises';

/** Each step of somebody else's request may wait for a piece, and it has some ten of them. */
const ROWS = 100;

/**
 * Cuts work over many rows into pieces of a millisecond or less: one tenant's wide answer must not hold up
 * the process for the others while it is taken apart.
 *
 *     for (const row of rows) {
 *       …
 *       if (pieces.isDone()) await pieces.breathe();
 *     }
 */
export class Pieces {
  #left = ROWS;

  /** Counts rows. True when enough were looked at without a break. */
  isDone(rows = 1): boolean {
    this.#left -= rows;
    return this.#left <= 0;
  }

  /** Lets everything go on that waits. */
  async breathe(): Promise<void> {
    this.#left = ROWS;
    await nextTurn();
  }
}
