import type { LogBatch } from '../platform/event-log/event-log.ts';
import type { Assignment } from '../postgres/tables/stream-progress.ts';
import { StoredCopies } from './stored-copies.ts';
import type { PartitionIndex } from './event-index.ts';

/** Another process owns the partition now: what this one still has of it is void. */
export class PartitionLost extends Error {
  constructor(partition: number) {
    super(`Partition ${partition} belongs to another owner.`);
    this.name = 'PartitionLost';
  }
}

/** One partition from its assignment until it is taken away. */
export class OwnedPartition {
  readonly epoch: number;
  readonly partition: number;
  readonly generation: string;
  readonly index: PartitionIndex;
  /** Copies that a batch without an end has stored beyond the progress: the log must have just these there. */
  readonly stored: StoredCopies;
  /** Where the next batch begins; behind `offset` while a replay is due. */
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

  /** The newest catalog that the stored progress carries. */
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

  /** Runs `work` when everything given before has ended: a batch and a note of the catalog take turns. */
  exclusive(work: () => Promise<void>): Promise<void> {
    const done = this.#tail.then(work);
    this.#tail = done.catch(() => {});
    return done;
  }

  /** The part of a batch that is below the watermark, and the part at and beyond it. */
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
