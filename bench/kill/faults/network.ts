import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '../../../main/instance.ts';
import type { Fault, FaultWorld } from './fault.ts';

const ENGINES: readonly Engine[] = ['postgres', 'clickhouse'];
const FAULTS = ['hang', 'refuse', 'cutAnswers'] as const;
const MS = [200, 6_000] as const;

/**
 * The connections between the roles and an engine hang (nothing passes, nothing ends), are refused, or are cut
 * where an answer would begin, so that nobody knows whether the request was done.
 */
export const network = ({ tree, random }: FaultWorld): Fault => ({
  name: 'network',
  weight: 2,
  async strike() {
    const engine = random.pick(ENGINES);
    const fault = random.pick(FAULTS);
    const proxy = tree.proxies[engine];
    proxy[fault]();
    await sleep(random.integer(...MS));
    proxy.pass();
    return { what: `${engine} ${fault}`, ended: [] };
  },
});
