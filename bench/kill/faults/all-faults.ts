import { clock, faketimeLibrary } from './clock.ts';
import { disk, diskMissing } from './disk.ts';
import type { Fault, FaultWorld } from './fault.ts';
import { kill } from './kill.ts';
import { network } from './network.ts';
import { pause } from './pause.ts';
import { power } from './power.ts';
import { supervisor } from './supervisor.ts';

interface FaultKind {
  make(world: FaultWorld): Fault;
  /** Why it cannot happen on this machine; null if it can. */
  missing(): string | null;
}

const here = (): null => null;
const FAULTS: Readonly<Record<string, FaultKind>> = {
  kill: { make: kill, missing: here },
  pause: { make: pause, missing: here },
  supervisor: { make: supervisor, missing: here },
  network: { make: network, missing: here },
  power: { make: power, missing: here },
  disk: { make: disk, missing: diskMissing },
  clock: {
    make: clock,
    missing: () => (faketimeLibrary() === null ? 'libfaketime is not installed' : null),
  },
};

/** Brokers are lost by a plan (`brokers.ts`), once in a run. */
export const BROKER_FAULTS = ['broker', 'broker-lost'] as const;
export const FAULT_NAMES: readonly string[] = [...Object.keys(FAULTS), ...BROKER_FAULTS];

/** The named faults that are possible on this machine; reports the reason for each other one. */
export function possibleFaults(names: readonly string[], say: (text: string) => void): string[] {
  return names.filter((name) => {
    if (!FAULT_NAMES.includes(name))
      throw new Error(`There is no fault ${name}. There are: ${FAULT_NAMES.join(', ')}`);
    const reason = FAULTS[name]?.missing() ?? null;
    if (reason !== null) say(`skipped: fault ${name}: ${reason}`);
    return reason === null;
  });
}

export const makeFaults = (names: readonly string[], world: FaultWorld): Fault[] =>
  names.flatMap((name) => FAULTS[name]?.make(world) ?? []);
