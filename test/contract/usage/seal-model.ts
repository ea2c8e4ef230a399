import type { WatermarkVector } from '../../../domain/metering/position.ts';
import type { UsageBounds } from '../../../clickhouse/reading/usage-reader.ts';

/** Watermarks and recorded seals, as Postgres keeps them. */
export class SealModel {
  watermarks: Record<number, bigint> = {};
  readonly liveUntil = new Map<string, WatermarkVector>();
  readonly #recorded = new Map<bigint, WatermarkVector>();
  #number = 0n;

  /** The next seal number; it counts once it is recorded. */
  next(): bigint {
    this.#number += 1n;
    return (1n << 32n) | this.#number;
  }

  record(seal: bigint, vector: WatermarkVector): void {
    this.#recorded.set(seal, vector);
  }

  bounds = async (): Promise<UsageBounds> => {
    const recorded = new Map(this.#recorded);
    return {
      watermarks: { ...this.watermarks },
      liveUntil: this.liveUntil,
      setAside: [],
      vectorsOf: async (seals) =>
        new Map(
          seals.filter((seal) => recorded.has(seal)).map((seal) => [seal, recorded.get(seal)!]),
        ),
    };
  };
}
