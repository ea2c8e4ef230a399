import { thousandths } from '../ledger.ts';
import { ask, ofEach, type Comparison } from './comparison.ts';

const LOOKED_UP = 20;

interface History {
  readonly event: { readonly id: string; readonly properties: Readonly<Record<string, unknown>> };
}

/** Single events by id: what counts is what was acknowledged first. */
export const lookUps: Comparison = {
  name: 'look-ups',
  differences({ tree, ledger, random }) {
    const events = Array.from({ length: LOOKED_UP }, () => ledger.pick(random));
    return ofEach(events, async (event) => {
      if (event === undefined) return [];
      const path = `/events/${encodeURIComponent(event.event_id)}`;
      const answer = await ask<History>(tree, { method: 'GET', path, again: [404] });
      const { value, user } = answer.event.properties;
      return Number(value) === Number(thousandths(event.value)) && user === event.user
        ? []
        : [`${event.event_id}: ${JSON.stringify(answer.event.properties)}`];
    });
  },
};
