import type { StoredBucketSize } from '../clickhouse/rows.ts';

/** A bucket that some mark lies beyond, as the sealer keeps it on its list. Times in milliseconds. */
export interface PendingBucket {
  readonly bucket_size: StoredBucketSize;
  readonly bucket_start: number;
  /** When it came onto the list, and when a further mark was last seen. */
  readonly pendingSince: number;
  readonly changedAt: number;
  /** To be computed again although its seal holds. */
  readonly forced: boolean;
}

const SIZE_MS: Readonly<Record<StoredBucketSize, number>> = { '15MIN': 900_000, DAY: 86_400_000 };

/** How long a bucket must have been left alone. Days cost more to compute and are needed less soon. */
const QUIET_MS: Readonly<Record<StoredBucketSize, number>> = { '15MIN': 10_000, DAY: 30_000 };

/** A bucket of the past that never comes to rest (an import that runs for hours) is computed at this pace. */
const PENDING_MS_MAX = 15 * 60_000;

/**
 * Whether a bucket is worth computing now. Until it is, readers take its rows one by one, and answer
 * just the same: sealing is about speed alone. So a bucket whose time still runs is left out however
 * many events it gets; a day is read as its sealed quarter hours and the rows of the last one. After
 * its end it is computed once it has come to rest, and again after each late event that touches it.
 */
export function isDue(bucket: PendingBucket, now: number): boolean {
  if (bucket.forced) return true;
  const size = bucket.bucket_size;
  if (bucket.bucket_start + SIZE_MS[size] > now) return false;
  return now - bucket.changedAt >= QUIET_MS[size] || now - bucket.pendingSince >= PENDING_MS_MAX;
}
