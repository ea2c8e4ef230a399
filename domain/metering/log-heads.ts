import { packPosition, type WatermarkVector } from './position.ts';

/** The end of one partition's log. */
export interface LogHead {
  readonly epoch: number;
  readonly partition: number;
  /** The offset of the next record. */
  readonly next: bigint;
}

/**
 * The heads as one bound per partition number: every accepted event is below it. A partition without
 * records sets no bound, in any epoch.
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
 * The heads that the stream reads up to. Records of a closed partition beyond its noted end, by
 * `epoch/partition`, were forwarded to a later epoch; the stream does not read them here.
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
