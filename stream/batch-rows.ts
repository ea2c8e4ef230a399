import {
  EVENT_INDEX_LINES,
  METER_USAGE_LINES,
  RAW_EVENT_LINES,
  REJECTED_LINES,
  RowEncoder,
  type EncodedRows,
  type Written,
} from '../clickhouse/writing/encode-rows.ts';
import type { EventIndexRow, MeterUsageRow, RawEventRow, RejectedRow } from '../clickhouse/rows.ts';
import { MetersFailed, whyItFailed } from './meter-catalog.ts';
import type { MeteredEvent, MeteredRows } from './meter-events.ts';

/** The subject of a rejection, for metrics and notices; the row itself is encoded. */
export interface Rejection extends Omit<Written<RejectedRow>, 'raw'> {
  /** Null if the record of the log could not be read as an event. */
  readonly event: MeteredEvent | null;
}

/** What one batch writes, by table; null where it writes nothing. */
export interface EncodedBatch {
  readonly raw: EncodedRows | null;
  readonly index: EncodedRows | null;
  readonly usage: EncodedRows | null;
  readonly rejected: EncodedRows | null;
  readonly rejections: readonly Rejection[];
}

/**
 * Collects the rows of one batch as bytes. The batches of one process use it one after another. From the
 * first row to `take` there is no `await`, so that events become garbage while they are young.
 */
export class BatchRows implements MeteredRows {
  readonly #raw = new RowEncoder(RAW_EVENT_LINES);
  readonly #index = new RowEncoder(EVENT_INDEX_LINES);
  readonly #usage = new RowEncoder(METER_USAGE_LINES);
  readonly #rejected = new RowEncoder(REJECTED_LINES);
  #rejections: Rejection[] = [];
  readonly #failed = new Map<string, string>();

  raw(row: Written<RawEventRow>): void {
    this.#raw.add(row);
  }

  index(row: Written<EventIndexRow>): void {
    this.#index.add(row);
  }

  usage(row: Written<MeterUsageRow>): void {
    this.#usage.add(row);
  }

  rejected(row: Written<RejectedRow>, event: MeteredEvent | null): void {
    this.#rejected.add(row);
    const { raw: _, ...rejection } = row;
    this.#rejections.push({ ...rejection, event });
  }

  failed(meterVersionId: string, error: unknown): void {
    if (!this.#failed.has(meterVersionId)) this.#failed.set(meterVersionId, whyItFailed(error));
  }

  /**
   * Throws `MetersFailed`, with nothing to write, if a version failed: the batch is processed again without
   * it.
   */
  take(): EncodedBatch {
    const rejections = this.#rejections;
    this.#rejections = [];
    const failed = [...this.#failed].map(([id, reason]) => ({ id, reason }));
    this.#failed.clear();
    const batch = {
      raw: this.#raw.take(),
      index: this.#index.take(),
      usage: this.#usage.take(),
      rejected: this.#rejected.take(),
      rejections,
    };
    if (failed.length > 0) throw new MetersFailed(failed);
    return batch;
  }
}
