import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, FaultWorld } from './fault.ts';

const SHORT_MS = [100, 3_000] as const;
/** Longer than the leases of partitions and jobs: another process may have taken over meanwhile. */
const LONG_MS = [12_000, 20_000] as const;
const LONG_SHARE = 0.1;

/** Stops a process (SIGSTOP) and continues it later: it does not know that time has passed. */
export function pause({ tree, random }: FaultWorld): Fault {
  return {
    name: 'pause',
    weight: 2,
    async strike() {
      const [name, pid] = random.pick(Object.entries(tree.pids()));
      const hit = { what: name, ended: [] };
      if (!signal(pid, 'SIGSTOP')) return hit;
      const [least, most] = random.chance(LONG_SHARE) ? LONG_MS : SHORT_MS;
      await sleep(random.integer(least, most));
      signal(pid, 'SIGCONT');
      return hit;
    },
  };
}

/** False if the process is already gone. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
