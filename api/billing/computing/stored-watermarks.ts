import type { WatermarkVector } from '../../../domain/metering/position.ts';
import type { StoredWatermarks } from '../../../schemas/invoice.ts';

/** JSON has no 64-bit integers: positions are stored as decimal text. */
export const storeWatermarks = (vector: WatermarkVector): StoredWatermarks =>
  Object.fromEntries(
    Object.entries(vector).map(([partition, position]) => [partition, String(position)]),
  );

export const readStoredWatermarks = (stored: StoredWatermarks): WatermarkVector =>
  Object.fromEntries(
    Object.entries(stored).map(([partition, position]) => [Number(partition), BigInt(position)]),
  );
