import type { Position, WatermarkVector } from './position.ts';

/**
 * Whether a stored bucket can replace its rows in an answer (metering 5, query step 2). `sealedBelow` is
 * the vector of the bucket's seal; undefined when the seal was not yet recorded when the watermarks were
 * read. `marks` is the greatest position that touched the bucket, per log partition. A mark at or beyond
 * the vector means that the bucket may lack a row.
 */
export function mayUseBucket(
  sealedBelow: WatermarkVector | undefined,
  marks: Readonly<Record<number, Position>>,
): boolean {
  if (sealedBelow === undefined) return false;
  for (const partition in marks) {
    const bound = sealedBelow[partition];
    if (bound === undefined || marks[partition]! >= bound) return false;
  }
  return true;
}
