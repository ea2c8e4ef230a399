import { maintain } from '../maintain.ts';
import type { Work, WorkWorld } from './work.ts';

const PARTITIONS = [7, 3, 12, 5] as const;

/** Opens a new epoch of the log with another number of partitions, from another process. */
export class Resizes implements Work {
  readonly name = 'resizes';
  done = 0;
  readonly #world: WorkWorld;

  constructor(world: WorkWorld) {
    this.#world = world;
  }

  async once(): Promise<void> {
    const partitions = PARTITIONS[this.done % PARTITIONS.length]!;
    await maintain(this.#world.environment, 'resize-log', String(partitions));
    this.done += 1;
  }

  async finish(): Promise<void> {}
}
