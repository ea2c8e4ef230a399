import { packPosition, type WatermarkVector } from '../../domain/metering/position.ts';
import type { Db } from '../client.ts';

/** The watermark vector alone: everything below it has been processed. */
export async function readWatermarks(db: Db): Promise<WatermarkVector> {
  const rows = await db<{ epoch: number; partition: number; next_offset: string }[]>`
    select epoch, partition, next_offset from stream_progress`;
  return vectorOf(rows.map((row) => [row.epoch, row.partition, row.next_offset]));
}

/**
 * Offsets of (epoch, partition) as one bound per partition number. A partition number of a later epoch begins
 * when the earlier epoch is drained (metering 3), so its bound there applies to both.
 */
export function vectorOf(
  rows: readonly (readonly [epoch: number, partition: number, offset: string])[],
): WatermarkVector {
  const vector: Record<number, bigint> = {};
  for (const [epoch, partition, offset] of rows) {
    const position = packPosition(epoch, BigInt(offset), 0);
    const known = vector[partition];
    if (known === undefined || known < position) vector[partition] = position;
  }
  return vector;
}
