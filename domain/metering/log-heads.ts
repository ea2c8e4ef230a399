import { packPosition, type WatermarkVector } from './position.ts';

/** Where the log of one partition ends. */
export interface LogHead {
  readonly epoch: number;
  readonly partition: number;
  /** The offset that the next record will get. */
  readonly next: bigint;
}

/**
 * The heads as one bound per partition number: every event that has been accepted lies below it. A
 * partition without records bounds nothing, in whatever epoch.
 */
export function headsVector(heads: readonly LogHead[]): WatermarkVector {
  const vector: Record<number, bigint> = {};
  for (const { epoch, partition, next } of heads) {
    if (next === 0n) continue;
    const position = packPosition(epoch, next, 0);
    if (position > (vector[partition] ?? 0n)) vector[partition] = position;
  }
  return vector;
}

/**
 * The heads as far as the stream reads: what a closed partition holds beyond its noted end, by
 * `epoch/partition`, was forwarded to a later epoch and waits for nobody.
 */
export function headsToRead<Head extends LogHead>(
  heads: readonly Head[],
  noted: ReadonlyMap<string, { readonly end: bigint }>,
): Head[] {
  return heads.map((head) => {
    const end = noted.get(`${head.epoch}/${head.partition}`)?.end;
    return end !== undefined && end < head.next ? { ...head, next: end } : head;
  });
}

/** Whether everything below the heads has been processed (metering 5, "the stream has passed period end"). */
export function hasPassed(watermarks: WatermarkVector, heads: WatermarkVector): boolean {
  return Object.entries(heads).every(
    ([partition, head]) => (watermarks[Number(partition)] ?? 0n) >= head,
  );
}
