import assert from 'node:assert/strict';

/**
 * Where an event stands in the log. Within one slot (all copies of one event id) positions are
 * totally ordered, and the copy with the smallest one is canonical. Packed as an unsigned 64-bit
 * number, `epoch << 56 | offset << 16 | index`, so that both the order of JavaScript bigints and the
 * order of ClickHouse UInt64 columns are the order of the log; the partition stands beside it.
 *
 * epoch: how often the partition count was changed, 0 to 255. offset: the record's offset in its
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
 * The positions of one record's events as decimal text, for writing. Made without a bigint for each
 * event wherever a double holds the number exactly, which is what most records come to: up to offset
 * 2^37 of the first epoch.
 */
export function positionTexts(record: Position): (index: number) => string {
  const exact = Number(record);
  return exact <= Number.MAX_SAFE_INTEGER - MAX_EVENTS_PER_RECORD
    ? (index) => String(exact + index)
    : (index) => String(record + BigInt(index));
}

/**
 * One bound per partition number: everything below it has been processed. `offset` of the next
 * unprocessed record, packed with index 0. A partition that is missing has processed nothing.
 */
export type WatermarkVector = Readonly<Record<number, Position>>;
