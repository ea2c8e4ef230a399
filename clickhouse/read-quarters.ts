import type { UsageScope } from './queries/usage-scope.ts';
import { cutBuckets, isWhole, openBuckets, readSums, type OpenBucket } from './read-sums.ts';
import { readBuckets } from './usage-buckets.ts';
import type { ReadUsageDeps } from './usage-parts.ts';
import type { PlannedQuery } from './usage-plan.ts';
import type { UsageTally } from './usage-tally.ts';

const QUARTER_MS = 900_000;
/** Both ends of a range, and a change of the clock in between. */
const CUT_MAX = 8;

/**
 * Whether the question goes by quarter hours: its windows are shorter than a day, or are days of a zone
 * in which no day is one of UTC.
 */
export function goesByQuarters(plan: PlannedQuery): boolean {
  return !plan.uses_days && cutBuckets('15MIN', [plan]).length <= CUT_MAX;
}

/**
 * Adds what sealed quarter hours hold to the tallies and answers the touched ones that are left: those
 * that can not be used, and those that no cell holds whole.
 */
export async function readQuarters(
  deps: ReadUsageDeps,
  base: UsageScope,
  tallies: readonly UsageTally[],
): Promise<OpenBucket[]> {
  const cut = cutBuckets(
    '15MIN',
    tallies.map(({ plan }) => plan),
  );
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
