import { bucketsByTime, readBucketsOfTime, type BucketsOfTime } from '../queries/sealed-sums.ts';
import { RowBinaryReader } from '../queries/row-binary.ts';
import { BUCKET_SECONDS } from '../queries/touched-buckets.ts';
import type { UsageScope } from '../queries/usage-scope.ts';
import type { StoredBucketSize } from '../rows.ts';
import { Pieces } from './pieces.ts';
import { readRowsOfAll } from './read-rows-of-all.ts';
import {
  addSums,
  assertUnmoved,
  cutBuckets,
  openBuckets,
  sumsWithout,
  vectorsOfSeals,
  type OpenBucket,
  type RowsSeen,
} from './read-sums.ts';
import type { ReadUsageDeps } from './usage-parts.ts';
import { scopeOfTallies } from './reading-scope.ts';
import type { UsageTally } from './usage-tally.ts';

const DAY_MS = 86_400_000;

/** Buckets of single pairs that are still to be read from their quarter hours or rows. */
export interface OpenPairs {
  readonly days: readonly OpenBucket[];
  readonly quarters: readonly OpenBucket[];
}

/**
 * Adds the usage of all customers of an environment to the tallies. A day that more than a few pairs cannot use, above
 * all today, is read for all customers from quarter hours; such a quarter hour from rows. Their number does not depend
 * on the number of customers: with 100,000 of them, today alone has 300,000 buckets that are not sealed. Returns the
 * few buckets that single pairs cannot use.
 */
export async function readAllCustomers(
  deps: ReadUsageDeps,
  byDays: readonly UsageTally[],
  byQuarters: readonly UsageTally[],
): Promise<OpenPairs> {
  const [days, quarters] = await Promise.all([
    byDays.length === 0 ? NONE : readDays(deps, byDays),
    byQuarters.length === 0 ? [] : readQuarters(deps, scopeOfTallies(byQuarters), byQuarters),
  ]);
  return { days: days.days, quarters: [...days.quarters, ...quarters] };
}

const NONE: OpenPairs = { days: [], quarters: [] };

/** Adds days, and quarter hours of those that are open for all customers. */
async function readDays(deps: ReadUsageDeps, tallies: readonly UsageTally[]): Promise<OpenPairs> {
  const scope = scopeOfTallies(tallies);
  const { openPairs, openStarts } = await readLevel(deps, 'DAY', scope, tallies);
  const [first, last] = [openStarts[0], openStarts.at(-1)];
  if (first === undefined) return { days: openPairs, quarters: [] };
  const open = { ...scope, start: first, end: last! + DAY_MS, days: openStarts };
  return { days: openPairs, quarters: await readQuarters(deps, open, tallies) };
}

/** Adds quarter hours, and rows of those that are open for all customers; returns those open for single pairs. */
async function readQuarters(
  deps: ReadUsageDeps,
  scope: UsageScope,
  tallies: readonly UsageTally[],
): Promise<readonly OpenBucket[]> {
  const { openPairs, openStarts } = await readLevel(deps, '15MIN', scope, tallies);
  await readRowsOfAll(deps, scope, openStarts, tallies);
  return openPairs;
}

interface Level {
  /** Buckets that single pairs cannot use. */
  readonly openPairs: readonly OpenBucket[];
  /** Starts of the touched buckets that are read in smaller parts for all customers; ascending. */
  readonly openStarts: readonly number[];
}

/** Adds the usable buckets of one size. Statements and checks are those of `readSums`. */
async function readLevel(
  deps: ReadUsageDeps,
  size: StoredBucketSize,
  scope: UsageScope,
  tallies: readonly UsageTally[],
): Promise<Level> {
  const { clickhouse, options, fewPairs } = deps;
  const cut = new Set(
    cutBuckets(
      size,
      tallies.map(({ plan }) => plan),
    ),
  );
  const vectors = await vectorsOfSeals(deps, size, scope);
  const sums = (left: readonly BucketsOfTime[], isOpen: (time: BucketsOfTime) => boolean) =>
    sumsWithout(deps, size, scope, tallies, vectors, {
      pairs: left.filter((time) => !isOpen(time)).flatMap(storedOnes),
      starts: [...cut, ...left.filter(isOpen).map(({ start }) => start)],
    });
  const [judged, guess] = await Promise.all([
    clickhouse.bytes(bucketsByTime(size, scope, vectors, fewPairs), 'RowBinary', options),
    sums([], () => false),
  ]);
  const times = await timesOf(judged);
  const isOpen = ({ start, unusable_count }: BucketsOfTime): boolean =>
    cut.has(start) || unusable_count > fewPairs;
  const closed = times.filter((time) => !isOpen(time));
  const isGuessRight = times.every(
    (time) =>
      cut.has(time.start) || (time.unusable_rows === 0 && !(isOpen(time) && time.row_count > 0)),
  );
  const met = isGuessRight ? guess : await sums(times, isOpen);
  assertUnmoved(met, seen(closed));
  await addSums(size, tallies, met);
  const length = BUCKET_SECONDS[size] * 1000;
  const unusable = closed.flatMap((time) => time.unusable);
  return {
    openPairs: openBuckets(size, tallies, unusable, () => true),
    openStarts: times
      .filter((time) => isOpen(time))
      .map(({ start }) => start)
      .filter((start) =>
        tallies.some(({ plan }) => start + length > plan.start && start < plan.end),
      )
      .sort((left, right) => left - right),
  };
}

const storedOnes = ({ unusable }: BucketsOfTime) =>
  unusable.filter(({ row_count }) => row_count > 0);

const seen = (times: readonly BucketsOfTime[]): RowsSeen => ({
  count: times.reduce((sum, { row_count }) => sum + row_count, 0),
  hash: BigInt.asUintN(
    64,
    times.reduce((sum, { row_hash }) => sum + row_hash, 0n),
  ),
});

async function timesOf(bytes: Buffer): Promise<BucketsOfTime[]> {
  const times: BucketsOfTime[] = [];
  const pieces = new Pieces();
  for (const reader = new RowBinaryReader(bytes); !reader.done;) {
    const time = readBucketsOfTime(reader);
    times.push(time);
    if (pieces.isDone(1 + time.unusable.length)) await pieces.breathe();
  }
  return times;
}
