import { mayUseBucket } from '../domain/metering/may-use-bucket.ts';
import type { Position, WatermarkVector } from '../domain/metering/position.ts';
import type { BucketKey, TouchedBucket } from '../clickhouse/rows.ts';
import { dueAt, type PendingBucket } from './seal-policy.ts';

type Marks = Readonly<Record<number, Position>>;

/** A bucket on the list with the marks last seen on it. */
export interface ListedBucket extends BucketKey, PendingBucket {
  readonly marks: Marks;
}

/** Buckets with marks beyond their last seal. Lost with the process, and listed again by the next one. */
export class SealList {
  readonly #pending = new Map<string, ListedBucket>();
  /** No bucket is due before. An import lists hundreds of thousands, and the sealer asks several times a second. */
  #noneDueBefore = Infinity;

  get size(): number {
    return this.#pending.size;
  }

  /** Adds touched buckets. `sealedBelow` returns the vector of a recorded seal. */
  note(
    touched: readonly TouchedBucket[],
    sealedBelow: (seal: bigint) => WatermarkVector | undefined,
    now: number,
    forced = false,
  ): void {
    for (const bucket of touched) {
      const key = keyOf(bucket);
      const listed = this.#pending.get(key);
      const vector = bucket.seal === null ? undefined : sealedBelow(bucket.seal);
      if (!forced && !listed?.forced && mayUseBucket(vector, bucket.marks)) {
        this.#pending.delete(key);
        continue;
      }
      const changed = listed === undefined || !sameMarks(listed.marks, bucket.marks);
      // A listing overlaps with the one before.
      if (!changed && (listed.forced || !forced)) continue;
      this.#put(key, {
        tenant_id: bucket.tenant_id,
        environment_id: bucket.environment_id,
        external_customer_id: bucket.external_customer_id,
        meter_version_id: bucket.meter_version_id,
        bucket_size: bucket.bucket_size,
        bucket_start: bucket.bucket_start,
        marks: bucket.marks,
        pendingSince: listed?.pendingSince ?? now,
        changedAt: changed ? now : listed.changedAt,
        forced: forced || (listed?.forced ?? false),
      });
    }
  }

  /** Buckets to compute now, longest on the list first, at most `limit`. */
  due(now: number, limit: number, isHeld: (bucket: ListedBucket) => boolean): ListedBucket[] {
    const due: ListedBucket[] = [];
    if (now < this.#noneDueBefore) return due;
    let first = Infinity;
    for (const bucket of this.#pending.values()) {
      if (due.length === limit) return due;
      const at = dueAt(bucket);
      first = Math.min(first, at);
      if (at <= now && !isHeld(bucket)) due.push(bucket);
    }
    this.#noneDueBefore = first;
    return due;
  }

  /** These were computed below the vector. A bucket with a mark beyond it stays on the list. */
  sealed(buckets: readonly BucketKey[], below: WatermarkVector): void {
    for (const bucket of buckets) {
      const key = keyOf(bucket);
      const listed = this.#pending.get(key);
      if (listed === undefined) continue;
      if (mayUseBucket(below, listed.marks)) this.#pending.delete(key);
      else this.#put(key, { ...listed, forced: false });
    }
  }

  /** Whether a bucket of a rebuild is still on the list. */
  hasForced(): boolean {
    for (const { forced } of this.#pending.values()) if (forced) return true;
    return false;
  }

  /** When the oldest entry was added; null when the list is empty. */
  oldest(): number | null {
    let oldest: number | null = null;
    for (const { pendingSince } of this.#pending.values())
      if (oldest === null || pendingSince < oldest) oldest = pendingSince;
    return oldest;
  }

  #put(key: string, bucket: ListedBucket): void {
    this.#pending.set(key, bucket);
    this.#noneDueBefore = Math.min(this.#noneDueBefore, dueAt(bucket));
  }
}

/**
 * One text for each bucket. Ids of this service have no line break, and the id that a tenant chooses is last: two
 * buckets never share a text. Cheaper than JSON, for hundreds of thousands of buckets of an import.
 */
const keyOf = (bucket: BucketKey): string =>
  `${bucket.tenant_id}\n${bucket.environment_id}\n${bucket.meter_version_id}\n${bucket.bucket_size}\n` +
  `${bucket.bucket_start}\n${bucket.external_customer_id}`;

function sameMarks(left: Marks, right: Marks): boolean {
  const partitions = Object.keys(right);
  return (
    partitions.length === Object.keys(left).length &&
    partitions.every((partition) => left[Number(partition)] === right[Number(partition)])
  );
}
