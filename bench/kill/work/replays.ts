import { maintain } from '../maintain.ts';
import type { Work, WorkWorld } from './work.ts';

/** Requests a replay of the log, and restarts the stream, as the output of the command requires. */
export class Replays implements Work {
  readonly name = 'replays';
  done = 0;
  readonly #world: WorkWorld;

  constructor(world: WorkWorld) {
    this.#world = world;
  }

  async once(): Promise<void> {
    const { tree, environment } = this.#world;
    await maintain(environment, 'replay');
    const { stream } = tree.pids();
    try {
      if (stream !== undefined) process.kill(stream, 'SIGTERM');
    } catch {
      // It is being restarted.
    }
    this.done += 1;
  }

  async finish(): Promise<void> {}
}
