import type { Position } from '../domain/metering/position.ts';
import { slotGroupsOfPartition, type UsageStore } from '../clickhouse/writing/usage-store.ts';
import type { Slot } from '../schemas/events/slot.ts';
import { IdFilter } from './id-filter.ts';

export interface IndexedPartition {
  readonly partition: number;
  /** Partition count of the epoch; it decides which slots belong to this partition. */
  readonly partitions: number;
}

/**
 * The event index for one assignment of a partition. A look-up in ClickHouse costs some 0.2 s for 10,000
 * slots, so an in-memory filter answers for slots that are certainly new.
 *
 * The filter is used only while it provably covers the index below the next batch. Slots below the offset
 * where the assignment began were in ClickHouse when the generation was taken, and are read from there
 * afterwards (`load`); all later slots pass through `note`. Until the load has ended, and permanently after a
 * failed load, every slot is looked up.
 */
export class PartitionIndex {
  readonly #store: UsageStore;
  readonly #at: IndexedPartition;
  #filter = new IdFilter();
  #covers = false;
  #abandoned = false;

  constructor(store: UsageStore, at: IndexedPartition) {
    this.#store = store;
    this.#at = at;
  }

  /** Whether new slots are recognized without querying ClickHouse. */
  get covers(): boolean {
    return this.#covers;
  }

  get filterBytes(): number {
    return this.#filter.bytes;
  }

  /** Reads the partition's slots from ClickHouse. Call it after the generation was taken. */
  async load(): Promise<void> {
    const { partition, partitions } = this.#at;
    const groups = slotGroupsOfPartition(partition, partitions);
    for await (const chunk of this.#store.indexedSlots(groups)) {
      if (this.#abandoned) return;
      for (let at = 0; at + SLOT_BYTES <= chunk.length; at += SLOT_BYTES) {
        if (chunk.readUInt32BE(at) % partitions !== partition) continue;
        this.#filter.addWords(
          chunk.readUInt32BE(at + 4),
          chunk.readUInt32BE(at + 8),
          chunk.readUInt32BE(at + 12),
        );
      }
    }
    this.#covers = true;
  }

  /** The partition was given up: a running load ends early and never counts. */
  abandon(): void {
    this.#abandoned = true;
    this.#covers = false;
    this.#filter = new IdFilter();
  }

  /** The smallest position of each of these slots that the index has. */
  async smallestPositions(slots: readonly Slot[]): Promise<ReadonlyMap<Slot, Position>> {
    const unsure = this.#covers ? slots.filter((slot) => this.#filter.mayContain(slot)) : slots;
    return unsure.length === 0 ? NONE : this.#store.smallestPositions(unsure);
  }

  /** These slots are in the index, or will be before the next batch is decided. */
  note(slots: readonly Slot[]): void {
    for (const slot of slots) this.#filter.add(slot);
  }
}

const SLOT_BYTES = 16;
const NONE: ReadonlyMap<Slot, Position> = new Map();
