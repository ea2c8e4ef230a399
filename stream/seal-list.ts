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
    for (const { seal, ...bucket } of touched) {
      const key = keyOf(bucket);
      const listed = this.#pending.get(key);
      const vector = seal === null ? undefined : sealedBelow(seal);
      if (!forced && !listed?.forced && mayUseBucket(vector, bucket.marks)) {
        this.#pending.delete(key);
        continue;
      }
      const changed = listed === undefined || !sameMarks(listed.marks, bucket.marks);
      // A listing overlaps with the one before.
      if (!changed && (listed.forced || !forced)) continue;
      this.#put(key, {
        ...bucket,
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

function keyOf(bucket: BucketKey): string {
  return JSON.stringify([
    bucket.tenant_id,
    bucket.environment_id,
    bucket.external_customer_id,
    bucket.meter_version_id,
    bucket.bucket_size,
    bucket.bucket_start,
  ]);
}

function sameMarks(left: Marks, right: Marks): boolean {
  const partitions = Object.keys(right);
  return (
    partitions.length === Object.keys(left).length &&
    partitions.every((partition) => left[Number(partition)] === right[Number(partition)])
  );
}
