import { mayUseBucket } from '../domain/metering/may-use-bucket.ts';
import type { Position, WatermarkVector } from '../domain/metering/position.ts';
import type { ClickHouse, ReadOptions } from './client.ts';
import { readUsageBuckets, usageBuckets, type BucketRow } from './queries/usage-buckets.ts';
import { readUsageMarks, usageMarks } from './queries/usage-marks.ts';
import type { UsagePair, UsageScope } from './queries/usage-scope.ts';
import { RowBinaryReader } from './row-binary.ts';
import type { StoredBucketSize } from './rows.ts';

/** One touched bucket, judged once. */
export interface JudgedBucket {
  /** Milliseconds. */
  readonly start: number;
  /** The rows that stand for it, or null when its events must be read one by one. */
  readonly rows: readonly BucketRow[] | null;
  readonly seal: bigint;
}

/** The touched buckets of one pair, by time. Time without a touched bucket has no events below the watermarks. */
export interface PairBuckets extends UsagePair {
  readonly buckets: readonly JudgedBucket[];
}

/** What decides whether a bucket may be used; see `mayUseBucket`. */
export interface SealedVectors {
  vectorsOf(seals: readonly bigint[]): Promise<ReadonlyMap<bigint, WatermarkVector>>;
  /** Reading below an older vector: a bucket touched at or beyond it holds too much. */
  readonly at: WatermarkVector | null;
}

export function pairKey(pair: UsagePair): string {
  return `${pair.meter_version_id} ${pair.external_customer_id}`;
}

/**
 * The touched buckets of a scope (metering 5, query step 2). A row below the watermarks has its mark
 * visible before the watermarks could be read, so a bucket without a mark holds nothing and is left
 * out. Marks and bucket rows may be read in any order, once each, after the watermarks.
 */
export async function readBuckets(
  clickhouse: ClickHouse,
  size: StoredBucketSize,
  scope: UsageScope,
  sealed: SealedVectors,
  /** False: all are judged unusable, because no cell of the questions could hold one. */
  needsRows: boolean,
  options: ReadOptions,
): Promise<Map<string, PairBuckets>> {
  const [marks, rows] = await Promise.all([
    clickhouse.bytes(usageMarks(size, scope), 'RowBinary', options),
    needsRows
      ? clickhouse.bytes(usageBuckets(size, scope), 'RowBinary', options)
      : Promise.resolve(NO_BYTES),
  ]);
  const stored = new Map<string, Map<number, BucketRow[]>>();
  for (const reader = new RowBinaryReader(rows); !reader.done;) {
    const pair = readUsageBuckets(reader);
    for (const [start, list] of pair.buckets) pair.buckets.set(start, newestRows(list));
    stored.set(pairKey(pair), pair.buckets);
  }
  const vectors = await sealed.vectorsOf(sealsOf(stored));

  const found = new Map<string, PairBuckets>();
  for (const reader = new RowBinaryReader(marks); !reader.done;) {
    const { marks: byStart, ...pair } = readUsageMarks(reader);
    const key = pairKey(pair);
    const buckets = [...byStart]
      .map(([start, marksOfBucket]) =>
        judge(start, stored.get(key)?.get(start), marksOfBucket, vectors, sealed.at),
      )
      .sort((a, b) => a.start - b.start);
    found.set(key, { ...pair, buckets });
  }
  return found;
}

const NO_BYTES = Buffer.alloc(0);

function judge(
  startSeconds: number,
  rows: readonly BucketRow[] | undefined,
  marks: Readonly<Record<number, Position>>,
  vectors: ReadonlyMap<bigint, WatermarkVector>,
  at: WatermarkVector | null,
): JudgedBucket {
  const start = startSeconds * 1000;
  const seal = rows?.[0]?.seal ?? 0n;
  const isUsable =
    rows !== undefined &&
    mayUseBucket(vectors.get(seal), marks) &&
    (at === null || mayUseBucket(at, marks));
  return { start, seal, rows: isUsable ? rows : null };
}

/** The rows of the greatest seal, once each: a write that was repeated left twins. */
function newestRows(rows: BucketRow[]): BucketRow[] {
  if (rows.length === 1) return rows;
  let seal = 0n;
  for (const row of rows) if (row.seal > seal) seal = row.seal;
  const byKey = new Map<string, BucketRow>();
  for (const row of rows) {
    if (row.seal === seal) byKey.set(JSON.stringify([row.dimensions, row.source]), row);
  }
  return [...byKey.values()];
}

function sealsOf(stored: ReadonlyMap<string, ReadonlyMap<number, readonly BucketRow[]>>): bigint[] {
  const seals = new Set<bigint>();
  for (const buckets of stored.values()) {
    for (const rows of buckets.values()) if (rows[0] !== undefined) seals.add(rows[0].seal);
  }
  return [...seals];
}
