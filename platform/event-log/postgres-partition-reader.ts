import { recordCrc } from './record-crc.ts';
import { logFault, type HandledLog } from '../../domain/metering/log-identity.ts';
import type { Pool } from '../../postgres/client.ts';
import { LogDiffers, type LogAssignment, type LogBatch, type LogReader } from './event-log.ts';

export interface PartitionReaderOptions {
  readonly pool: Pool;
  readonly group: string;
  readonly reader: LogReader;
  readonly assignment: LogAssignment;
  readonly maxBatchEvents: number;
  readonly maxBatchWaitMs: number;
  readonly onBatch: () => void;
}

/** Also bounds the cost of one look-ahead: about a millisecond. */
const MAX_BATCH_RECORDS = 2_000;
const MAX_BATCH_BYTES = 16 * 1024 * 1024;
/** Fallback for missed notices. */
const POLL_MS = 200;

interface Waiting {
  readonly nextOffset: bigint;
  readonly full: boolean;
}

/** Reads one leased partition in order, one batch at a time, until it is stopped or an error is thrown. */
export class PostgresPartitionReader {
  readonly epoch: number;
  readonly partition: number;
  /** Resolves when the loop has ended: with the error, or with undefined after `stop`. */
  readonly failed: Promise<unknown>;
  readonly #options: PartitionReaderOptions;
  #stopped = false;
  #wake: (() => void) | undefined;

  constructor(options: PartitionReaderOptions) {
    this.#options = options;
    this.epoch = options.assignment.epoch;
    this.partition = options.assignment.partition;
    this.failed = this.#run().then(
      () => undefined,
      (error: unknown) => error ?? new Error('unknown failure'),
    );
  }

  /** There may be new records. */
  wake(): void {
    this.#wake?.();
  }

  /** Resolves when the batch in flight has ended, with success or failure. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    await this.failed;
  }

  async #run(): Promise<void> {
    const { reader, assignment } = this.#options;
    const start = await reader.start(assignment);
    if (start === null) return this.#untilStopped();
    await this.#compare(start.handled);
    let { offset } = start;
    while (!this.#stopped) {
      const waiting = await this.#lookAhead(offset);
      if (waiting === null) {
        await this.#sleep(POLL_MS);
        continue;
      }
      const batch = await this.#gather(offset, waiting);
      if (this.#stopped) return;
      await reader.handle(batch);
      offset = batch.nextOffset;
      await this.#commit(offset);
      this.#options.onBatch();
    }
  }

  /** Waits for more records to join the first one, then reads the batch. Checks four times while it waits. */
  async #gather(offset: bigint, first: Waiting): Promise<LogBatch> {
    const until = performance.now() + this.#options.maxBatchWaitMs;
    let waiting = first;
    while (!waiting.full && performance.now() < until && !this.#stopped) {
      await this.#sleepDeaf(Math.min(this.#options.maxBatchWaitMs / 4, until - performance.now()));
      waiting = (await this.#lookAhead(offset)) ?? waiting;
    }
    return this.#read(offset, waiting.nextOffset);
  }

  /** Which records make the next batch, from sizes only, without reading values. Null when there are none. */
  async #lookAhead(offset: bigint): Promise<Waiting | null> {
    const rows = await this.#options.pool<{ offset: string; event_count: number; bytes: number }[]>`
      select "offset", event_count, octet_length(value) as bytes
        from log_records
       where epoch = ${this.epoch} and partition = ${this.partition}
         and "offset" >= ${offset.toString()}
       order by "offset"
       limit ${MAX_BATCH_RECORDS}`;
    let events = 0;
    let bytes = 0;
    let count = 0;
    for (const row of rows) {
      if (count > 0 && bytes + row.bytes > MAX_BATCH_BYTES) break;
      events += row.event_count;
      bytes += row.bytes;
      count++;
      if (events >= this.#options.maxBatchEvents) break;
    }
    if (count === 0) return null;
    const full =
      count < rows.length || count === MAX_BATCH_RECORDS || events >= this.#options.maxBatchEvents;
    return { nextOffset: BigInt(rows[count - 1]!.offset) + 1n, full };
  }

  /** The records before a gap are a batch of their own; the next batch begins at the gap and is missing. */
  async #read(from: bigint, to: bigint): Promise<LogBatch> {
    const rows = await this.#options.pool<{ offset: string; value: Buffer }[]>`
      select "offset", value
        from log_records
       where epoch = ${this.epoch} and partition = ${this.partition}
         and "offset" >= ${from.toString()} and "offset" < ${to.toString()}
       order by "offset"`;
    const found = rows.map((row) => ({ offset: BigInt(row.offset), value: row.value }));
    const gap = found.findIndex(({ offset }, n) => offset !== from + BigInt(n));
    const records = gap < 0 ? found : found.slice(0, gap);
    if (records.length === 0) await this.#missing(from, to);
    const nextOffset = from + BigInt(records.length);
    return { epoch: this.epoch, partition: this.partition, records, nextOffset };
  }

  /** A retry does not help unless the records were truncated: then the next start compares the log again. */
  async #missing(from: bigint, to: bigint): Promise<never> {
    const { pool, reader, assignment } = this.#options;
    const [head] = await pool<{ first_offset: string }[]>`
      select first_offset from log_partitions
       where epoch = ${this.epoch} and partition = ${this.partition}`;
    const facts = `records ${from} to ${to} are not all in it`;
    if (head === undefined || BigInt(head.first_offset) > from)
      throw new Error(`Partition ${this.partition} of the log was truncated: ${facts}.`);
    await reader.differs?.(assignment, 'records_missing');
    throw new LogDiffers(assignment, 'records_missing', facts);
  }

  /** For lag only, and never backwards: a paused process may send an old number late. */
  async #commit(offset: bigint): Promise<void> {
    await this.#options.pool`
      insert into log_commits (group_name, epoch, partition, "offset")
      values (${this.#options.group}, ${this.epoch}, ${this.partition}, ${offset.toString()})
          on conflict (group_name, epoch, partition)
          do update set "offset" = greatest(log_commits."offset", excluded."offset")`;
  }

  /** Throws if the log does not match the reader's progress. */
  async #compare(handled: HandledLog): Promise<void> {
    const { pool, reader, assignment } = this.#options;
    const [head] = await pool<{ first_offset: string; next_offset: string; last: Buffer | null }[]>`
      select first_offset, next_offset,
             (select value from log_records last
               where last.epoch = head.epoch and last.partition = head.partition
                 and last."offset" = ${String(handled.nextOffset - 1n)}::bigint) as last
        from log_partitions head
       where epoch = ${this.epoch} and partition = ${this.partition}`;
    const first = BigInt(head?.first_offset ?? 0);
    const next = BigInt(head?.next_offset ?? 0);
    const last = head?.last ?? null;
    const fault = logFault(handled, {
      first,
      next,
      lastCrc: last === null ? null : recordCrc(last),
    });
    if (fault === null) return await reader.agrees?.(assignment, next);
    await reader.differs?.(assignment, fault);
    const facts = `it holds ${first} to ${next}, ${handled.nextOffset} is next`;
    throw new LogDiffers(assignment, fault, facts);
  }

  /** There is nothing to read; the lease is kept, so that no other member checks. */
  async #untilStopped(): Promise<void> {
    while (!this.#stopped) await this.#sleep(60_000);
  }

  #sleep(ms: number): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Keeps sleeping when notices arrive, but not when the reader is stopped. */
  async #sleepDeaf(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (!this.#stopped && performance.now() < until)
      await this.#sleep(until - performance.now());
  }
}
