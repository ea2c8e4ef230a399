import type { StoredBucketSize } from '../clickhouse/rows.ts';

/** A bucket with a mark beyond its seal, as the sealer keeps it on its list. Times in milliseconds. */
export interface PendingBucket {
  readonly bucket_size: StoredBucketSize;
  readonly bucket_start: number;
  /** When it was added to the list, and when a further mark was last seen. */
  readonly pendingSince: number;
  readonly changedAt: number;
  /** Compute it again although its seal is valid. */
  readonly forced: boolean;
}

const SIZE_MS: Readonly<Record<StoredBucketSize, number>> = { '15MIN': 900_000, DAY: 86_400_000 };

/** How long a bucket must be without new marks. Days cost more to compute and are less urgent. */
const QUIET_MS: Readonly<Record<StoredBucketSize, number>> = { '15MIN': 10_000, DAY: 30_000 };

/** A past bucket that keeps getting marks (an import that runs for hours) is computed at this interval. */
const PENDING_MS_MAX = 15 * 60_000;

/**
 * When a bucket becomes worth computing, unless it gets a further mark before. Until it is sealed, readers read its
 * rows individually with the same result: sealing affects only speed. So a bucket is not computed before its end,
 * however many events it gets; a day is read as its sealed quarter hours plus the rows of the last one. After its end
 * it is computed once it gets no new marks for a while, and again after each late event that touches it.
 */
export function dueAt({
  bucket_size: size,
  bucket_start: start,
  changedAt,
  pendingSince,
  forced,
}: PendingBucket): number {
  if (forced) return -Infinity;
  const restedAt = Math.min(changedAt + QUIET_MS[size], pendingSince + PENDING_MS_MAX);
  return Math.max(start + SIZE_MS[size], restedAt);
}
