import { thousandths } from '../ledger.ts';
import { ask, type Comparison } from './comparison.ts';

const LOOKED_UP = 20;

interface History {
  readonly event: { readonly id: string; readonly properties: Readonly<Record<string, unknown>> };
}

/** Single events by id: what counts is what was acknowledged first. */
export const lookUps: Comparison = {
  name: 'look-ups',
  async differences({ tree, ledger, random }) {
    const found: string[] = [];
    for (let count = 0; count < LOOKED_UP; count += 1) {
      const event = ledger.pick(random);
      if (event === undefined) break;
      const path = `/events/${encodeURIComponent(event.event_id)}`;
      const answer = await ask<History>(tree, { method: 'GET', path, again: [404] });
      const { value, user } = answer.event.properties;
      if (Number(value) !== Number(thousandths(event.value)) || user !== event.user)
        found.push(`${event.event_id}: ${JSON.stringify(answer.event.properties)}`);
    }
    return found;
  },
};
