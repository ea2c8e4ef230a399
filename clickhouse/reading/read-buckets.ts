import { mayUseBucket } from '../../domain/metering/may-use-bucket.ts';
import type { WatermarkVector } from '../../domain/metering/position.ts';
import { Pieces } from './pieces.ts';
import {
  readUsageBuckets,
  usageBuckets,
  type BucketRow,
  type StateNeeds,
  type StoredBuckets,
} from '../queries/usage-buckets.ts';
import { readUsageMarks, usageMarks, type Marks, type PairMarks } from '../queries/usage-marks.ts';
import { pairKey, type Range, type UsagePair, type UsageScope } from '../queries/usage-scope.ts';
import { RowBinaryReader } from '../queries/row-binary.ts';
import type { StoredBucketSize } from '../rows.ts';
import type { ReadUsageDeps } from './usage-parts.ts';

/** One touched bucket with the decision whether it may be used. */
export interface JudgedBucket {
  /** Milliseconds. */
  readonly start: number;
  /** The rows of the bucket's newest seal, or null if its events must be read individually. */
  readonly rows: readonly BucketRow[] | null;
  readonly seal: bigint;
}

/**
 * The touched buckets of one pair, by time. Time outside of touched buckets has no events below the
 * watermarks.
 */
export interface PairBuckets extends UsagePair {
  readonly buckets: readonly JudgedBucket[];
}

/** The touched buckets of each pair, by `pairKey`. */
export type FoundBuckets = ReadonlyMap<string, PairBuckets>;

/**
 * The touched buckets of a scope (metering 5, query step 2). The mark of every row below the watermarks is
 * visible before the watermarks can be read, so a bucket without a mark is empty and is left out. Marks and
 * bucket rows may be read in any order, once each, after the watermarks.
 */
export async function readBuckets(
  deps: ReadUsageDeps,
  size: StoredBucketSize,
  scope: UsageScope,
  /** Null: all buckets are unusable, because no cell of the queries could contain a whole one. */
  needs: StateNeeds | null,
): Promise<FoundBuckets> {
  return (await readSizes(deps, size, scope, null, needs))[size];
}

/** The touched days of a scope, and its touched quarter hours that begin in `quarters`, in the same statements. */
export const readDaysAndQuarters = (
  deps: ReadUsageDeps,
  scope: UsageScope,
  quarters: Range,
  needs: StateNeeds,
): Promise<Record<StoredBucketSize, FoundBuckets>> =>
  readSizes(deps, 'DAY', scope, quarters, needs);

async function readSizes(
  deps: ReadUsageDeps,
  size: StoredBucketSize,
  scope: UsageScope,
  quarters: Range | null,
  needs: StateNeeds | null,
): Promise<Record<StoredBucketSize, FoundBuckets>> {
  const { clickhouse, options } = deps;
  const [marks, rows] = await Promise.all([
    clickhouse.bytes(usageMarks(size, scope, quarters), 'RowBinary', options),
    needs === null
      ? NO_BYTES
      : clickhouse.bytes(usageBuckets(size, scope, needs, quarters), 'RowBinary', options),
  ]);
  const stored = {
    '15MIN': new Map<string, StoredBuckets>(),
    DAY: new Map<string, StoredBuckets>(),
  };
  const pieces = new Pieces();
  for (const reader = new RowBinaryReader(rows); !reader.done;) {
    const pair = readUsageBuckets(reader, needs!);
    for (const [start, list] of pair.buckets) {
      if (list.length > 1) pair.buckets.set(start, newestRows(list));
    }
    stored[pair.size].set(pairKey(pair), pair.buckets);
    if (pieces.isDone(pair.buckets.size)) await pieces.breathe();
  }
  const vectors = await deps.sealed.vectorsOf([
    ...sealsOf(stored.DAY),
    ...sealsOf(stored['15MIN']),
  ]);
  const found = { '15MIN': new Map<string, PairBuckets>(), DAY: new Map<string, PairBuckets>() };
  for (const reader = new RowBinaryReader(marks); !reader.done;) {
    const { marks: ofPair, size: ofSize, ...pair } = readUsageMarks(reader);
    const buckets = stored[ofSize].get(pairKey(pair)) ?? NO_BUCKETS;
    const judged = judge(buckets, ofPair, vectors, deps.sealed.at);
    found[ofSize].set(pairKey(pair), { ...pair, buckets: judged });
    if (pieces.isDone(ofPair.starts.size)) await pieces.breathe();
  }
  return found;
}

const NO_BYTES = Buffer.alloc(0);
const NO_BUCKETS: StoredBuckets = new Map();

/**
 * Judges the touched buckets of one pair, oldest first. A seal beyond the merged marks of all buckets is
 * beyond the marks of each. So one check per seal is enough if there are no new marks, which is nearly
 * always.
 */
function judge(
  stored: StoredBuckets,
  marks: PairMarks,
  vectors: ReadonlyMap<bigint, WatermarkVector>,
  at: WatermarkVector | null,
): JudgedBucket[] {
  const isBeyond = (seal: bigint, touched: Marks) =>
    mayUseBucket(vectors.get(seal), touched) && (at === null || mayUseBucket(at, touched));
  const all = marks.of(null);
  const beyondAll = new Map<bigint, boolean>();
  const judged: JudgedBucket[] = [];
  for (const start of [...marks.starts].sort((a, b) => a - b)) {
    const rows = stored.get(start);
    const seal = rows?.[0]?.seal ?? 0n;
    let isUsable = rows !== undefined && beyondAll.get(seal);
    if (rows !== undefined && isUsable === undefined)
      beyondAll.set(seal, (isUsable = isBeyond(seal, all)));
    isUsable ||= rows !== undefined && isBeyond(seal, marks.of(start));
    judged.push({ start: start * 1000, seal, rows: isUsable ? rows! : null });
  }
  return judged;
}

/** The rows of the greatest seal, once each: a repeated write leaves duplicates. */
function newestRows(rows: BucketRow[]): BucketRow[] {
  let seal = 0n;
  for (const row of rows) if (row.seal > seal) seal = row.seal;
  const byKey = new Map<string, BucketRow>();
  for (const row of rows) {
    if (row.seal === seal) byKey.set(JSON.stringify([row.dimensions, row.source]), row);
  }
  return [...byKey.values()];
}

function sealsOf(stored: ReadonlyMap<string, StoredBuckets>): bigint[] {
  const seals = new Set<bigint>();
  for (const buckets of stored.values()) {
    for (const rows of buckets.values()) if (rows[0] !== undefined) seals.add(rows[0].seal);
  }
  return [...seals];
}
