import { unpackPosition } from '../domain/metering/position.ts';
import type { StoredCopy } from '../clickhouse/writing/usage-store.ts';
import type { LogRecord } from '../platform/event-log/event-log.ts';
import { decodeEvents, UndecodableRecord } from '../schemas/events/usage-event.ts';

/**
 * Copies in the usage store beyond the progress of a partition, left by an unfinished batch. A replay writes
 * them again. If the log has other events at these positions, it is not the original log: the database was
 * restored to an earlier state and assigns positions a second time.
 */
export class StoredCopies {
  readonly #byOffset = new Map<bigint, StoredCopy[]>();

  constructor(copies: readonly StoredCopy[]) {
    for (const copy of copies) {
      const { offset } = unpackPosition(copy.position);
      this.#byOffset.set(offset, [...(this.#byOffset.get(offset) ?? []), copy]);
    }
  }

  /**
   * The epoch and offset of the greatest position. The copies are sorted greatest first; null if there are
   * none.
   */
  static greatest(copies: readonly StoredCopy[]): { epoch: number; offset: bigint } | null {
    return copies[0] === undefined ? null : unpackPosition(copies[0].position);
  }

  /** Whether these records contain the stored events at the same positions. Each record is compared once. */
  agreeWith(records: readonly LogRecord[]): boolean {
    if (this.#byOffset.size === 0) return true;
    return records.every((record) => {
      const stored = this.#byOffset.get(record.offset);
      return stored === undefined || holds(record, stored);
    });
  }

  /** Everything below has been processed and is no longer compared. */
  passed(offset: bigint): void {
    for (const known of this.#byOffset.keys()) if (known < offset) this.#byOffset.delete(known);
  }
}

function holds(record: LogRecord, stored: readonly StoredCopy[]): boolean {
  try {
    const events = decodeEvents(record.value);
    return stored.every((copy) => {
      const event = events[unpackPosition(copy.position).index];
      return (
        event !== undefined &&
        event.event_id === copy.event_id &&
        event.tenant_id === copy.tenant_id &&
        event.environment_id === copy.environment_id
      );
    });
  } catch (error) {
    if (error instanceof UndecodableRecord) return false;
    throw error;
  }
}
