import { setTimeout as sleep } from 'node:timers/promises';
import { buckets } from './buckets.ts';
import type { Compared, Comparison } from './comparison.ts';
import { compareIds } from './ids.ts';
import { analytics, invoices, sell, type Sold } from './invoices.ts';
import { lookUps } from './look-ups.ts';
import { editedMeter, meters } from './meters.ts';
import { names } from './names.ts';
import { windows } from './windows.ts';

/** Everything that reads usage. Comparisons that are cheap and find most come first. */
const COMPARISONS: readonly Comparison[] = [
  meters,
  names,
  windows,
  lookUps,
  editedMeter,
  invoices,
  analytics,
  buckets,
];

export interface Verdict {
  readonly lost: number;
  readonly double: number;
  readonly aggDiff: number;
  readonly examples: readonly string[];
  /** Differences by comparison. */
  readonly byComparison: Readonly<Record<string, number>>;
}

const EXAMPLES_MAX = 10;

/** The record of the run with the customers to whom its meters are sold when a comparison first needs them. */
export function withSales(given: Omit<Compared, 'sold'>): Compared {
  let sold: Promise<readonly Sold[]> | null = null;
  return { ...given, sold: () => (sold ??= sell(given)) };
}

/**
 * Waits until the stream has caught up: each comparison is repeated until it finds no difference, or the time is
 * over. A check that passed is not repeated, because nothing is sent any more.
 */
export async function compare(
  world: Compared,
  secondsMax: number,
  say: (text: string) => void,
): Promise<Verdict> {
  const deadline = performance.now() + secondsMax * 1000;
  const isOver = (): boolean => performance.now() > deadline;
  const ids = await until(
    () => compareIds(world.tree, world.ledger),
    ({ lost }) => lost === 0,
    isOver,
  );
  const byComparison: Record<string, number> = {};
  const examples = [...ids.examples];
  for (const { name, differences } of COMPARISONS) {
    const startedAt = performance.now();
    const found = await until(
      () => differences(world),
      ({ length }) => length === 0,
      isOver,
    );
    byComparison[name] = found.length;
    examples.push(...found.slice(0, EXAMPLES_MAX));
    say(
      `  ${name}: ${found.length} differences, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
    );
  }
  const aggDiff = Object.values(byComparison).reduce((sum, count) => sum + count, 0);
  return { lost: ids.lost, double: ids.double, aggDiff, examples, byComparison };
}

async function until<Found>(
  look: () => Promise<Found>,
  holds: (found: Found) => boolean,
  isOver: () => boolean,
): Promise<Found> {
  for (;;) {
    try {
      const found = await look();
      if (holds(found) || isOver()) return found;
    } catch (error) {
      // The last failpoints fire while the backlog is processed; an interrupted question is repeated.
      if (isOver()) throw error;
    }
    await sleep(1_000);
  }
}
