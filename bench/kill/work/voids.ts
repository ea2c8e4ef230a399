import { untilAnswered } from '../until-answered.ts';
import type { Work, WorkWorld } from './work.ts';

const EACH = 20;

/** Takes back events that were counted, and some that were counted a moment ago. */
export class Voids implements Work {
  readonly name = 'voids';
  done = 0;
  readonly #world: WorkWorld;

  constructor(world: WorkWorld) {
    this.#world = world;
  }

  async once(): Promise<void> {
    const { tree, ledger, random } = this.#world;
    for (let count = 0; count < EACH; count += 1) {
      const event = ledger.pick(random);
      if (event === undefined) return;
      // Before the call: it is repeated until it has succeeded.
      ledger.voided.add(event.event_id);
      await untilAnswered(tree, {
        method: 'POST',
        path: '/events/corrections',
        body: { event_id: event.event_id, reason: 'taken back by the run' },
        // Until the stream has stored a copy.
        again: [404],
      });
      this.done += 1;
    }
  }

  async finish(): Promise<void> {}
}
