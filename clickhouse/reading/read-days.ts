import type { UsageScope } from '../queries/usage-scope.ts';
import { cutBuckets, isWhole, openBuckets, readSums, type OpenBucket } from './read-sums.ts';
import { readBuckets } from './read-buckets.ts';
import type { ReadUsageDeps } from './usage-parts.ts';
import type { UsageTally } from './usage-tally.ts';

/**
 * Adds the usage of sealed days to the tallies and returns the remaining touched days: those that may not be
 * used, and those that no cell contains whole.
 */
export async function readDays(
  deps: ReadUsageDeps,
  base: UsageScope,
  tallies: readonly UsageTally[],
): Promise<OpenBucket[]> {
  const cut = cutBuckets(
    'DAY',
    tallies.map(({ plan }) => plan),
  );
  const [touched, open] = await Promise.all([
    cut.length === 0 ? null : readBuckets(deps, 'DAY', { ...base, days: cut }, null),
    readSums(deps, 'DAY', base, tallies),
  ]);
  const touchedCut = [...(touched?.values() ?? [])].flatMap((pair) =>
    pair.buckets.map(({ start }) => ({ ...pair, start })),
  );
  return [
    ...open,
    ...openBuckets('DAY', tallies, touchedCut, (plan, start) => !isWhole('DAY', plan, start)),
  ];
}
