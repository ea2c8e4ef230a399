import type { Fault, FaultWorld } from './fault.ts';

/** Kills the supervisor. Its roles drain, its engines are orphans, and the next start takes over the data. */
export const supervisor = ({ tree }: FaultWorld): Fault => ({
  name: 'supervisor',
  weight: 1,
  async strike() {
    const ended = Object.keys(tree.pids());
    await tree.replaceSupervisor();
    return { what: 'supervisor', ended };
  },
});
