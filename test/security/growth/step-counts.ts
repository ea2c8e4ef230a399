import { countSteps, functionsRun } from '../../support/steps.ts';
import { SCANNERS, type Scanner } from './scanners.ts';

const KIBIBYTE = 1024;

/** What the program prints: the steps of each scanner for 1 and 64 KiB, and the functions that all scanners run. */
export interface StepCounts {
  readonly steps: Readonly<Record<string, { readonly short: number; readonly long: number }>>;
  readonly functions: readonly string[];
}

/**
 * Counts the steps of all scanners, as a process of its own: each count walks all code that the process has loaded,
 * and a process that runs tests has loaded the whole product (260 s in place of 7 s).
 */
const steps: Record<string, { short: number; long: number }> = {};
for (const scanner of SCANNERS)
  steps[scanner[0]] = {
    short: await mostSteps(attempt(scanner, KIBIBYTE)),
    long: await countSteps(attempt(scanner, 64 * KIBIBYTE)),
  };
const counts: StepCounts = {
  steps,
  functions: await functionsRun(() => {
    for (const scanner of SCANNERS) attempt(scanner, KIBIBYTE)();
  }),
};
process.stdout.write(JSON.stringify(counts));

/**
 * The engine loses counts of code that it discards meanwhile, which has made a linear scanner look eight times as bad.
 * No count is too high, so the highest of a few is the best one.
 */
async function mostSteps(call: () => void): Promise<number> {
  const counts: number[] = [];
  for (let time = 0; time < 5; time += 1) counts.push(await countSteps(call));
  return Math.max(...counts);
}

/** The call for an input of a length. What a scanner refuses has been read too. */
function attempt([, scan, inputOf]: Scanner, length: number): () => void {
  const input = inputOf(length);
  return () => {
    try {
      scan(input);
    } catch {
      // Refused.
    }
  };
}
