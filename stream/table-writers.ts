import type {
  EventIndexRow,
  MeterUsageRow,
  RawEventRow,
  RejectedRow,
  UsageVoidRow,
} from '../clickhouse/rows.ts';
import type { UsageStore } from '../clickhouse/usage-store.ts';
import type { StreamMetrics } from './metrics.ts';
import type { OutagePatience } from './outage.ts';

/**
 * Collects what several partitions write into one table: rows that arrive while an insert is under
 * way go together into the next one. ClickHouse wants few large inserts, and the pace sets their size:
 * no row waits for company when the table is idle.
 */
export class TableWriter<Row> {
  readonly #write: (rows: readonly Row[]) => Promise<void>;
  #waiting: Waiting<Row>[] = [];
  #writing = false;

  constructor(write: (rows: readonly Row[]) => Promise<void>) {
    this.#write = write;
  }

  /** Resolves when the rows are stored. All or none of a call's rows go into one insert. */
  append(rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ rows, resolve, reject });
      if (!this.#writing) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup();
      try {
        await this.#write(group.length === 1 ? group[0]!.rows : group.flatMap(({ rows }) => rows));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#writing = false;
  }

  #takeGroup(): Waiting<Row>[] {
    let rows = 0;
    let count = 0;
    do rows += this.#waiting[count++]!.rows.length;
    while (count < this.#waiting.length && rows + this.#waiting[count]!.rows.length <= ROWS_MAX);
    return this.#waiting.splice(0, count);
  }
}

interface Waiting<Row> {
  readonly rows: readonly Row[];
  resolve(): void;
  reject(error: unknown): void;
}

/** Bounds the memory of one insert; a single call may bring more. */
const ROWS_MAX = 60_000;

/** One writer for each table that the stream fills. */
export interface TableWriters {
  readonly raw: TableWriter<RawEventRow>;
  readonly index: TableWriter<EventIndexRow>;
  readonly usage: TableWriter<MeterUsageRow>;
  readonly rejected: TableWriter<RejectedRow>;
  readonly voids: TableWriter<UsageVoidRow>;
}

/** Outages are outlasted here: an insert that may have happened is repeated, which is harmless. */
export function createTableWriters(
  store: UsageStore,
  patience: OutagePatience,
  metrics: StreamMetrics,
): TableWriters {
  const writer = <Row>(table: string, append: (rows: readonly Row[]) => Promise<void>) =>
    new TableWriter<Row>(async (rows) => {
      await patience.outlast(`insert into ${table}`, () => append(rows));
      metrics.inserted(table, rows.length);
    });
  return {
    raw: writer('events_raw', (rows) => store.appendRawEvents(rows)),
    index: writer('event_index', (rows) => store.appendIndex(rows)),
    usage: writer('meter_usage', (rows) => store.appendUsage(rows)),
    rejected: writer('events_rejected', (rows) => store.appendRejected(rows)),
    voids: writer('usage_void', (rows) => store.appendVoids(rows)),
  };
}
