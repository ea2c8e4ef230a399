import type { LogBatch } from '../platform/event-log/event-log.ts';
import type { Assignment } from '../postgres/tables/stream-progress.ts';
import { StoredCopies } from './stored-copies.ts';
import type { PartitionIndex } from './event-index.ts';

/** Another process owns the partition now: unfinished work of this process is invalid. */
export class PartitionLost extends Error {
  constructor(partition: number) {
    super(`Partition ${partition} belongs to another owner.`);
    this.name = 'PartitionLost';
  }
}

/** One partition from its assignment until it is revoked. */
export class OwnedPartition {
  readonly epoch: number;
  readonly partition: number;
  readonly generation: string;
  readonly index: PartitionIndex;
  /**
   * Copies that an unfinished batch has stored beyond the progress: the log must have exactly these there.
   */
  readonly stored: StoredCopies;
  /** Start of the next batch; lower than `offset` while a replay is due. */
  readFrom: bigint;
  #offset: bigint;
  #evaluatedWith: number;
  #lost = false;
  #tail: Promise<void> = Promise.resolve();

  constructor(
    assignment: Assignment,
    index: PartitionIndex,
    readFrom: bigint,
    stored: StoredCopies = new StoredCopies([]),
  ) {
    this.epoch = assignment.epoch;
    this.partition = assignment.partition;
    this.generation = assignment.generation;
    this.index = index;
    this.readFrom = readFrom;
    this.stored = stored;
    this.#offset = assignment.nextOffset;
    this.#evaluatedWith = assignment.catalogVersion;
  }

  /** The watermark: everything below has been processed. */
  get offset(): bigint {
    return this.#offset;
  }

  /** The newest catalog recorded with the progress. */
  get evaluatedWith(): number {
    return this.#evaluatedWith;
  }

  get isLost(): boolean {
    return this.#lost;
  }

  moved(to: bigint, catalogVersion: number): void {
    this.#offset = to;
    this.#evaluatedWith = Math.max(this.#evaluatedWith, catalogVersion);
  }

  lose(): PartitionLost {
    this.#lost = true;
    return new PartitionLost(this.partition);
  }

  /**
   * Runs `work` after all earlier work has ended, so that a batch and a note of the catalog never overlap.
   */
  exclusive(work: () => Promise<void>): Promise<void> {
    const done = this.#tail.then(work);
    this.#tail = done.catch(() => {});
    return done;
  }

  /** The part of a batch below the watermark, and the part at and beyond it. */
  split(batch: LogBatch): { again: LogBatch | null; anew: LogBatch | null } {
    if (batch.nextOffset <= this.#offset) return { again: batch, anew: null };
    if (this.readFrom >= this.#offset) return { again: null, anew: batch };
    const below = batch.records.filter((record) => record.offset < this.#offset);
    const beyond = batch.records.slice(below.length);
    return {
      again: { ...batch, records: below, nextOffset: this.#offset },
      anew: { ...batch, records: beyond },
    };
  }
}
