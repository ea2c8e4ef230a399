import type { UsageScope } from '../queries/usage-scope.ts';
import { cutBuckets, isWhole, openBuckets, readSums, type OpenBucket } from './read-sums.ts';
import { readBuckets } from './read-buckets.ts';
import type { ReadUsageDeps } from './usage-parts.ts';
import type { UsageTally } from './usage-tally.ts';

const QUARTER_MS = 900_000;
/** Both ends of a range, and a change of the clock in between. */
const CUT_MAX = 8;

/**
 * The questions that go by quarter hours: their windows are shorter than a day, or are days of a zone in
 * which no day is one of UTC. None where they cut many quarter hours apart, each of which is asked for
 * by itself: subscriptions that renew at many times of day, or minutes.
 */
export function goingByQuarters(tallies: readonly UsageTally[]): readonly UsageTally[] {
  const found = tallies.filter(({ plan }) => !plan.uses_days);
  return cutQuarters(found).length <= CUT_MAX ? found : [];
}

const cutQuarters = (tallies: readonly UsageTally[]): number[] =>
  cutBuckets(
    '15MIN',
    tallies.map(({ plan }) => plan),
  );

/**
 * Adds what sealed quarter hours hold to the tallies and answers the touched ones that are left: those
 * that can not be used, and those that no cell holds whole.
 */
export async function readQuarters(
  deps: ReadUsageDeps,
  base: UsageScope,
  tallies: readonly UsageTally[],
): Promise<OpenBucket[]> {
  const cut = cutQuarters(tallies);
  const [open, ...touched] = await Promise.all([
    readSums(deps, '15MIN', base, tallies),
    ...cut.map((start) =>
      readBuckets(deps, '15MIN', { ...base, start, end: start + QUARTER_MS }, null),
    ),
  ]);
  const touchedCut = touched
    .flatMap((found) => [...found.values()])
    .flatMap((pair) => pair.buckets.map(({ start }) => ({ ...pair, start })));
  return [
    ...open,
    ...openBuckets('15MIN', tallies, touchedCut, (plan, start) => !isWhole('15MIN', plan, start)),
  ];
}
