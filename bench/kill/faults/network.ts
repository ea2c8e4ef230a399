import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, FaultWorld } from './fault.ts';

const FAULTS = ['hang', 'refuse', 'cutAnswers', 'delay', 'halfOpen'] as const;
const MS = [200, 6_000] as const;
const DELAY_MS = [20, 1_500] as const;

/**
 * The connections between two processes fail: senders and API, roles and an engine, roles and a broker. They hang
 * (nothing passes, nothing ends), are refused, are delayed, end on the server's side only, or are cut where an
 * answer would begin, so that the client does not know whether the request succeeded.
 */
export const network = ({ tree, random }: FaultWorld): Fault => ({
  name: 'network',
  weight: 2,
  async strike() {
    const name = random.pick(Object.keys(tree.proxies).sort());
    const fault = random.pick(FAULTS);
    const proxy = tree.proxies[name]!;
    if (fault === 'delay') proxy.delay(random.integer(...DELAY_MS));
    else proxy[fault]();
    await sleep(random.integer(...MS));
    proxy.pass();
    return { what: `${name} ${fault}`, ended: [] };
  },
});
