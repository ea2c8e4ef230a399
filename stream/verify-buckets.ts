import { mayUseBucket } from '../domain/metering/may-use-bucket.ts';
import type { TouchedBucket } from '../clickhouse/rows.ts';
import type { BucketDifference, UsageStore } from '../clickhouse/writing/usage-store.ts';
import type { Pool } from '../postgres/client.ts';
import { readUsageBounds } from '../postgres/tables/seals.ts';

export interface BucketCheck {
  readonly checked: number;
  readonly differences: readonly BucketDifference[];
}

export interface BucketCheckDeps {
  readonly pool: Pool;
  readonly store: UsageStore;
  /** Called after each page with the number of buckets checked so far. */
  readonly onProgress?: (checked: number) => void;
}

/**
 * Computes a sample of the usable buckets again, from the rows below the vector of their seal, and reports
 * differences (metering 7, tests 17 and 19). Changes nothing: `requestRebuild` repairs a difference.
 * `isSampled` selects the buckets.
 */
export async function verifyBuckets(
  { pool, store, onProgress }: BucketCheckDeps,
  isSampled: (bucket: TouchedBucket) => boolean = () => true,
): Promise<BucketCheck> {
  const differences: BucketDifference[] = [];
  let checked = 0;
  for await (const touched of store.touchedBuckets({ since: null })) {
    const sample = touched.filter((bucket) => bucket.seal !== null && isSampled(bucket));
    const versions = [...new Set(sample.map((bucket) => bucket.meter_version_id))];
    const bounds = await readUsageBounds(pool, versions);
    const vectors = await bounds.vectorsOf(sample.map((bucket) => bucket.seal!));
    for (const [seal, watermarks] of vectors) {
      const sealed = sample.filter(
        (bucket) => bucket.seal === seal && mayUseBucket(watermarks, bucket.marks),
      );
      checked += sealed.length;
      const below = { watermarks, liveUntil: bounds.liveUntil };
      differences.push(...(await store.compareBuckets(sealed, below, seal)));
    }
    onProgress?.(checked);
  }
  return { checked, differences };
}
