import type { UsageScope } from '../queries/usage-scope.ts';
import { cutBuckets, isWhole, openBuckets, readSums, type OpenBucket } from './read-sums.ts';
import { readBuckets } from './read-buckets.ts';
import type { ReadUsageDeps } from './usage-parts.ts';
import type { UsageTally } from './usage-tally.ts';

const QUARTER_MS = 900_000;
/** Both ends of a range, and a clock change in between. */
const CUT_MAX = 8;

/**
 * The queries to answer by quarter hours: their windows are shorter than a day, or are days of a time zone in
 * which no day is a UTC day. Empty if they cut many separate quarter hours, because each of those needs its
 * own rows: subscriptions that renew at many times of day, or windows of minutes.
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
 * Adds the usage of sealed quarter hours to the tallies and returns the remaining touched ones: those that
 * may not be used, and those that no cell contains whole.
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
