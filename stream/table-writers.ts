import type { EncodedRows } from '../clickhouse/writing/encode-rows.ts';
import type { UsageStore } from '../clickhouse/writing/usage-store.ts';
import type { StreamMetrics } from './metrics.ts';
import type { OutagePatience } from './outage.ts';

/**
 * Combines the rows that several partitions write into one table: rows that arrive during an insert go
 * together into the next one. ClickHouse needs few large inserts, and the load sets their size: if the table
 * is idle, rows are written at once.
 */
export class TableWriter {
  readonly #write: (parts: readonly EncodedRows[]) => Promise<void>;
  #waiting: Waiting[] = [];
  #writing = false;

  constructor(write: (parts: readonly EncodedRows[]) => Promise<void>) {
    this.#write = write;
  }

  /** Resolves when the rows are stored. All rows of a call go into one insert. */
  append(rows: EncodedRows | null): Promise<void> {
    if (rows === null) return Promise.resolve();
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
        await this.#write(group.map(({ rows }) => rows));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#writing = false;
  }

  #takeGroup(): Waiting[] {
    let rows = 0;
    let bytes = 0;
    const end = this.#waiting.findIndex(({ rows: part }, place) => {
      rows += part.rowCount;
      bytes += part.bytes.length;
      return place > 0 && (rows > ROWS_MAX || bytes > BYTES_MAX);
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }
}

interface Waiting {
  readonly rows: EncodedRows;
  resolve(): void;
  reject(error: unknown): void;
}

/** Bound the memory of one insert; a single call may exceed them. */
const ROWS_MAX = 60_000;
const BYTES_MAX = 32 * 1024 * 1024;

/** One writer for each table that the stream writes. */
export interface TableWriters {
  readonly raw: TableWriter;
  readonly index: TableWriter;
  readonly usage: TableWriter;
  readonly rejected: TableWriter;
  readonly voids: TableWriter;
}

/** Retries during outages: repeating an insert that may have succeeded is harmless. */
export function createTableWriters(
  store: UsageStore,
  patience: OutagePatience,
  metrics: StreamMetrics,
): TableWriters {
  const writer = () =>
    new TableWriter(async (parts) => {
      const { table } = parts[0]!;
      await patience.outlast(`insert into ${table}`, () => store.appendEncoded(parts));
      metrics.inserted(
        table,
        parts.reduce((sum, part) => sum + part.rowCount, 0),
      );
    });
  return { raw: writer(), index: writer(), usage: writer(), rejected: writer(), voids: writer() };
}
