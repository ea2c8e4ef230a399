import assert from 'node:assert/strict';

/**
 * The place of an event in the log. Within one slot (all copies of one event id) positions are totally
 * ordered, and the copy with the smallest position is canonical. Packed as an unsigned 64-bit number,
 * `epoch << 56 | offset << 16 | index`, so that JavaScript bigints and ClickHouse UInt64 columns sort in
 * log order. The partition is kept separately.
 *
 * epoch: number of changes of the partition count, 0 to 255. offset: the record's offset in its
 * partition, below 2^40. index: the event's place in its record, below 65,536.
 */
export type Position = bigint;

export const MAX_EVENTS_PER_RECORD = 65_536;
const MAX_EPOCH = 255;
const MAX_OFFSET = 1n << 40n;

export function packPosition(epoch: number, offset: bigint, index: number): Position {
  assert(Number.isInteger(epoch) && epoch >= 0 && epoch <= MAX_EPOCH, `epoch ${epoch}`);
  assert(offset >= 0n && offset < MAX_OFFSET, `offset ${offset}`);
  assert(Number.isInteger(index) && index >= 0 && index < MAX_EVENTS_PER_RECORD, `index ${index}`);
  return (BigInt(epoch) << 56n) | (offset << 16n) | BigInt(index);
}

export function unpackPosition(position: Position): {
  epoch: number;
  offset: bigint;
  index: number;
} {
  return {
    epoch: Number(position >> 56n),
    offset: (position >> 16n) & (MAX_OFFSET - 1n),
    index: Number(position & 0xffffn),
  };
}

/**
 * The positions of one record's events as decimal text, for writing. Avoids one bigint per event where a
 * double holds the number exactly. This covers most records: up to offset 2^37 of the first epoch.
 */
export function positionTexts(record: Position): (index: number) => string {
  const exact = Number(record);
  return exact <= Number.MAX_SAFE_INTEGER - MAX_EVENTS_PER_RECORD
    ? (index) => String(exact + index)
    : (index) => String(record + BigInt(index));
}

/**
 * One bound per partition number: everything below it has been processed. The bound is the `offset` of the
 * next unprocessed record, packed with index 0. For a missing partition nothing has been processed.
 */
export type WatermarkVector = Readonly<Record<number, Position>>;

/** Whether a read below the vector includes the event at this place. */
export function isReadBelow(
  vector: WatermarkVector,
  { partition, position }: { readonly partition: number; readonly position: Position },
): boolean {
  return position < (vector[partition] ?? 0n);
}
