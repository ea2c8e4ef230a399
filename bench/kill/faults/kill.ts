import type { Fault, FaultWorld } from './fault.ts';

/** Sends SIGKILL, without warning, to a random running process. */
export const kill = ({ tree, random }: FaultWorld): Fault => ({
  name: 'kill',
  weight: 6,
  async strike() {
    const [name, pid] = random.pick(Object.entries(tree.pids()));
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Already down and being restarted.
      return { what: name, ended: [] };
    }
    return { what: name, ended: [name] };
  },
});
