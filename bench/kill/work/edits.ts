import { untilAnswered } from '../until-answered.ts';
import type { Work, WorkWorld } from './work.ts';

/** Edits what a meter counts. Each edit is a version of its own, backfilled from all earlier events. */
export class Edits implements Work {
  readonly name = 'edits';
  done = 0;
  /** The newest version counts every value this many times. */
  factor = 1;
  meterId = '';
  readonly #world: WorkWorld;

  constructor(world: WorkWorld) {
    this.#world = world;
  }

  /** Call before the first fault. */
  async createMeter(): Promise<void> {
    const { tree } = this.#world;
    const { id } = await untilAnswered<{ id: string }>(tree, {
      method: 'POST',
      path: '/meters',
      body: {
        name: 'Kill edited',
        event_name: 'kill.sample',
        aggregation: this.#aggregation(),
        reset_usage: 'BILLING_PERIOD',
      },
    });
    this.meterId = id;
  }

  async once(): Promise<void> {
    const { tree, startMs } = this.#world;
    this.factor += 1;
    await untilAnswered(tree, {
      method: 'PUT',
      path: `/meters/${this.meterId}`,
      body: {
        aggregation: this.#aggregation(),
        // The new version rates everything that was sent.
        effective_from: new Date(startMs).toISOString(),
      },
    });
    this.done += 1;
  }

  async finish(): Promise<void> {}

  #aggregation(): object {
    return { type: 'SUM', expression: `value * ${this.factor}` };
  }
}
