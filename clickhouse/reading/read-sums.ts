import type { WatermarkVector } from '../../domain/metering/position.ts';
import { Pieces } from './pieces.ts';
import {
  readBucketSum,
  readUnusableBucket,
  storedSeals,
  sumBuckets,
  unusableBuckets,
  type BucketSum,
  type SealVectors,
  type UnusableBucket,
} from '../queries/sealed-sums.ts';
import { BUCKET_SECONDS } from '../queries/touched-buckets.ts';
import { stateNeeds } from '../queries/usage-buckets.ts';
import { pairKey, type UsagePair, type UsageScope } from '../queries/usage-scope.ts';
import { RowBinaryReader } from '../queries/row-binary.ts';
import type { StoredBucketSize } from '../rows.ts';
import { UsageMoved } from './usage-errors.ts';
import type { ReadUsageDeps } from './usage-parts.ts';
import { soleCell, type PlannedQuery } from '../queries/plan-query.ts';
import type { UsageTally } from './usage-tally.ts';

/** A touched bucket of one pair that a query cannot use as it is. */
export interface OpenBucket {
  readonly tally: UsageTally;
  readonly pair: UsagePair;
  readonly start: number;
}

/**
 * Adds the usage of sealed buckets of one size to the tallies, summed inside ClickHouse, and returns the
 * buckets that may not be used. Ninety days of a thousand customers are a million rows; the result is some
 * dozens.
 *
 * Two statements read the buckets in parallel, one their marks and one their sums. If a bucket is sealed
 * again in between, it is judged by one row and counted by another. So each statement returns a sum of hashes
 * of the stored rows that it read; if the sums differ, the read starts over (`UsageMoved`).
 */
export async function readSums(
  deps: ReadUsageDeps,
  size: StoredBucketSize,
  scope: UsageScope,
  tallies: readonly UsageTally[],
): Promise<OpenBucket[]> {
  const { clickhouse, options } = deps;
  const vectors = await vectorsOfSeals(deps, size, scope);
  const sums = (pairs: readonly UnusableBucket[]) =>
    sumsWithout(deps, size, scope, tallies, vectors, { pairs, starts: [] });
  const [judged, guess] = await Promise.all([
    clickhouse.bytes(unusableBuckets(size, scope, vectors), 'RowBinary', options),
    sums([]),
  ]);
  const { unusable, usable } = await judgedBuckets(judged);
  const stored = unusable.filter((bucket) => bucket.row_count > 0);
  const met = stored.length === 0 ? guess : await sums(stored);
  assertUnmoved(met, usable);
  await addSums(size, tallies, met);
  return openBuckets(size, tallies, unusable, (plan, start) => isWhole(size, plan, start));
}

/** The stored rows that a statement has read: their number, and the sum of their hashes modulo 2^64. */
export interface RowsSeen {
  readonly count: number;
  readonly hash: bigint;
}

/** `UsageMoved` if the sums were made of other rows than those that were judged. */
export function assertUnmoved(sums: readonly BucketSum[], judged: RowsSeen): void {
  let [count, hash] = [0, 0n];
  for (const sum of sums) [count, hash] = [count + sum.row_count, hash + sum.row_hash];
  if (count !== judged.count || BigInt.asUintN(64, hash) !== judged.hash) throw new UsageMoved();
}

/** The recorded vectors of all seals in the scope. */
export async function vectorsOfSeals(
  { clickhouse, options, sealed }: ReadUsageDeps,
  size: StoredBucketSize,
  scope: UsageScope,
): Promise<SealVectors> {
  const seals = await clickhouse.rows<[string]>(storedSeals(size, scope), options);
  return boundedBy(await sealed.vectorsOf(seals.map(([seal]) => BigInt(seal))), sealed.at);
}

/** The buckets that queries about their pairs cannot use. */
export function openBuckets(
  size: StoredBucketSize,
  tallies: readonly UsageTally[],
  buckets: readonly (UsagePair & { readonly start: number })[],
  isOpen: (plan: PlannedQuery, start: number) => boolean,
): OpenBucket[] {
  const byVersion = new Map<string, (UsagePair & { readonly start: number })[]>();
  const byPair = new Map<string, (UsagePair & { readonly start: number })[]>();
  for (const bucket of buckets) {
    push(byVersion, bucket.meter_version_id, bucket);
    push(byPair, pairKey(bucket), bucket);
  }
  const length = lengthOf(size);
  return tallies.flatMap((tally) => {
    const { plan } = tally;
    const { meter_version_id, external_customer_ids } = plan.query;
    const own =
      external_customer_ids === null
        ? (byVersion.get(meter_version_id) ?? [])
        : [...new Set(external_customer_ids)].flatMap(
            (external_customer_id) =>
              byPair.get(pairKey({ meter_version_id, external_customer_id })) ?? [],
          );
    return own
      .filter(({ start }) => start + length > plan.start && start < plan.end && isOpen(plan, start))
      .map(({ external_customer_id, start }) => ({
        tally,
        pair: { external_customer_id, meter_version_id },
        start,
      }));
  });
}

/** Starts of the buckets that some query cuts. */
export function cutBuckets(size: StoredBucketSize, plans: readonly PlannedQuery[]): number[] {
  const length = lengthOf(size);
  const cut = new Set<number>();
  for (const { cells } of plans) {
    for (const { start, end } of cells) {
      if (start % length !== 0) cut.add(floor(start, length));
      if (end % length !== 0) cut.add(floor(end, length));
    }
  }
  return [...cut].sort((a, b) => a - b);
}

export const isWhole = (size: StoredBucketSize, plan: PlannedQuery, start: number): boolean =>
  wholeCell(size, plan, start) !== null;

/** The only cell that contains the whole bucket, or null. */
function wholeCell(size: StoredBucketSize, plan: PlannedQuery, start: number): number | null {
  return soleCell(plan, start, start + lengthOf(size));
}

/** Buckets that are left out: single ones, and those of all customers with a start. */
export interface LeftOut {
  readonly pairs: readonly UnusableBucket[];
  /** Milliseconds. */
  readonly starts: readonly number[];
}

export async function sumsWithout(
  { clickhouse, options }: ReadUsageDeps,
  size: StoredBucketSize,
  scope: UsageScope,
  tallies: readonly UsageTally[],
  vectors: SealVectors,
  without: LeftOut,
): Promise<BucketSum[]> {
  const needs = stateNeeds(new Set(tallies.map((tally) => tally.plan.query.aggregation)));
  const query = sumBuckets({
    size,
    scope,
    needs,
    borders: bordersOf(size, scope, tallies),
    ...labelsOf(tallies),
    vectors,
    without: without.pairs,
    withoutStarts: without.starts,
  });
  const bytes = await clickhouse.bytes(query, 'RowBinary', options);
  const sums: BucketSum[] = [];
  const pieces = new Pieces();
  for (const reader = new RowBinaryReader(bytes); !reader.done;) {
    sums.push(readBucketSum(reader, needs));
    if (pieces.isDone()) await pieces.breathe();
  }
  return sums;
}

/** Which labels of usage the queries filter or group by. */
export function labelsOf(tallies: readonly UsageTally[]) {
  const places = tallies.flatMap(({ plan }) => [
    ...plan.groups,
    ...[
      plan.include,
      ...plan.exclude,
      ...plan.exclude_during.map(({ filters }) => filters),
    ].flatMap((filters) => filters.map(({ index }) => index)),
  ]);
  return {
    tellsDimensions: places.some((place) => place >= 0),
    tellsSources: places.some((place) => place < 0),
  };
}

async function judgedBuckets(bytes: Buffer) {
  const unusable: UnusableBucket[] = [];
  let usable: RowsSeen = { count: 0, hash: 0n };
  const pieces = new Pieces();
  for (const reader = new RowBinaryReader(bytes); !reader.done;) {
    const bucket = readUnusableBucket(reader);
    if (bucket.meter_version_id === '') usable = { count: bucket.row_count, hash: bucket.row_hash };
    else unusable.push(bucket);
    if (pieces.isDone()) await pieces.breathe();
  }
  return { unusable, usable };
}

/** A bucket that is read below an older vector must have no mark beyond the older vector either. */
function boundedBy(vectors: SealVectors, at: WatermarkVector | null): SealVectors {
  if (at === null) return vectors;
  const smaller = (vector: WatermarkVector): WatermarkVector =>
    Object.fromEntries(
      Object.entries(vector).map(([partition, position]) => {
        const bound = at[Number(partition)] ?? 0n;
        return [partition, position < bound ? position : bound];
      }),
    );
  return new Map([...vectors].map(([seal, vector]) => [seal, smaller(vector)]));
}

/** Borders of cells, rounded to whole buckets, and the scope's start. */
function bordersOf(
  size: StoredBucketSize,
  scope: UsageScope,
  tallies: readonly UsageTally[],
): number[] {
  const length = lengthOf(size);
  const borders = new Set([scope.start]);
  for (const { plan } of tallies) {
    for (const { start, end } of plan.cells) {
      borders.add(Math.ceil(start / length) * length).add(floor(end, length));
    }
  }
  return [...borders].sort((a, b) => a - b);
}

export async function addSums(
  size: StoredBucketSize,
  tallies: readonly UsageTally[],
  sums: readonly BucketSum[],
): Promise<void> {
  const byPair = new Map<string, BucketSum[]>();
  for (const sum of sums) push(byPair, pairKey(sum), sum);
  const pieces = new Pieces();
  for (const tally of tallies) {
    const { cells, query } = tally.plan;
    for (const external_customer_id of new Set(query.external_customer_ids ?? [''])) {
      const own = byPair.get(
        pairKey({ meter_version_id: query.meter_version_id, external_customer_id }),
      );
      for (const sum of own ?? []) {
        const cell = wholeCell(size, tally.plan, sum.slot);
        if (cell !== null && cells[cell] !== undefined) tally.add(cell, sum, external_customer_id);
        if (pieces.isDone()) await pieces.breathe();
      }
    }
  }
}

function push<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}

const lengthOf = (size: StoredBucketSize): number => BUCKET_SECONDS[size] * 1000;
const floor = (ms: number, length: number): number => Math.floor(ms / length) * length;
