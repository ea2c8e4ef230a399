import type { Position } from '../../domain/metering/position.ts';
import type { ClickHouseQuery } from '../client.ts';
import type { StoredBucketSize } from '../rows.ts';
import type { RowBinaryReader } from './row-binary.ts';
import {
  inQuarters,
  inUsageScope,
  type Range,
  type UsagePair,
  type UsageScope,
} from './usage-scope.ts';

/**
 * The marks of all buckets of one size in the scope, one row for each pair. With `quarters` also those of the quarter
 * hours that begin in that time.
 */
export function usageMarks(
  size: StoredBucketSize,
  scope: UsageScope,
  quarters: Range | null = null,
): ClickHouseQuery {
  const within = inUsageScope(scope, 'bucket_start');
  const also = quarters === null ? null : inQuarters(quarters);
  const sizes =
    also === null
      ? 'bucket_size = {size:String}'
      : `(bucket_size = {size:String} or (bucket_size = '15MIN' and ${also.sql}))`;
  return {
    sql: `
      select toString(bucket_size) as size, external_customer_id, meter_version_id,
             groupArray((toUnixTimestamp(bucket_start), partition, position))
        from usage_touched_v1
       where ${sizes} and ${within.sql}
       group by size, external_customer_id, meter_version_id`,
    params: { ...within.params, ...also?.params, size },
  };
}

/** The marks of one pair, by bucket and merged. Kept as numbers, because few are compared one by one. */
export class PairMarks {
  /** Starts of the touched buckets in seconds, each once. */
  readonly starts = new Set<number>();
  readonly #starts: number[] = [];
  readonly #partitions: number[] = [];
  readonly #high: number[] = [];
  readonly #low: number[] = [];

  add(start: number, partition: number, high: number, low: number): void {
    this.starts.add(start);
    this.#starts.push(start);
    this.#partitions.push(partition);
    this.#high.push(high);
    this.#low.push(low);
  }

  /** The greatest position per log partition, of one bucket or of all. */
  of(start: number | null): Marks {
    const high: Record<number, number> = {};
    const low: Record<number, number> = {};
    for (let index = 0; index < this.#starts.length; index += 1) {
      if (start !== null && this.#starts[index] !== start) continue;
      const partition = this.#partitions[index]!;
      const known = high[partition] ?? -1;
      const next = this.#high[index]!;
      if (next < known || (next === known && this.#low[index]! <= low[partition]!)) continue;
      high[partition] = next;
      low[partition] = this.#low[index]!;
    }
    const marks: Record<number, Position> = {};
    for (const partition in high) {
      marks[partition] = (BigInt(high[partition]!) << 32n) | BigInt(low[partition]!);
    }
    return marks;
  }
}

export type Marks = Readonly<Record<number, Position>>;

export function readUsageMarks(
  reader: RowBinaryReader,
): UsagePair & { size: StoredBucketSize; marks: PairMarks } {
  const size = reader.string() as StoredBucketSize;
  const external_customer_id = reader.string();
  const meter_version_id = reader.string();
  const marks = new PairMarks();
  for (let left = reader.length(); left > 0; left -= 1) {
    const start = reader.uint32();
    const partition = reader.uint16();
    const low = reader.uint32();
    marks.add(start, partition, reader.uint32(), low);
  }
  return { size, external_customer_id, meter_version_id, marks };
}
