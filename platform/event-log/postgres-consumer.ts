import { randomUUID } from 'node:crypto';
import type { LogEpoch } from '../../domain/metering/epochs.ts';
import type { Pool } from '../../postgres/client.ts';
import type { Logger } from '../log.ts';
import type { LogConsumer, LogReader } from './event-log.ts';
import { RECORDS_CHANNEL } from './postgres-channel.ts';
import { renewLeases } from './postgres-leases.ts';
import { PostgresPartitionReader } from './postgres-partition-reader.ts';

export interface PostgresConsumerOptions {
  readonly pool: Pool;
  readonly group: string;
  readonly reader: LogReader;
  readonly epochs: () => Promise<LogEpoch[]>;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly maxBatchEvents: number;
  readonly maxBatchWaitMs: number;
  readonly onClosed: () => void;
}

/** How long a failed partition is left to other members, doubled with each failure in a row. */
const RETRY_MS = 200;
const RETRY_MS_MAX = 5_000;

/**
 * One member of a group. A tick renews its leases, takes free partitions up to its even share and gives back
 * the rest; each leased partition has a read loop of its own. A partition passes to another member only after
 * its batch in flight has ended, unless the lease expired first.
 */
export class PostgresLogConsumer implements LogConsumer {
  readonly #options: PostgresConsumerOptions;
  readonly #member = randomUUID();
  readonly #readers = new Map<number, PostgresPartitionReader>();
  /** Readers that are stopping. Their partition starts again only when the old loop has ended. */
  readonly #leaving = new Map<PostgresPartitionReader, Promise<void>>();
  readonly #failures = new Map<number, { count: number; retryAt: number }>();
  #epoch = -1;
  #epochPartitions = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #unlisten: (() => Promise<void>) | undefined;
  #noticedAt = 0;

  constructor(options: PostgresConsumerOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    await this.#listen().catch((error: unknown) => this.#warn(error, 'cannot listen'));
    await this.#tick();
  }

  assigned(): number[] {
    return [...this.#readers.keys()].sort((a, b) => a - b);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#ticking;
    clearTimeout(this.#timer);
    await Promise.all([...this.#readers.values()].map((reader) => this.#leave(reader)));
    await Promise.all(this.#leaving.values());
    const { pool, group } = this.#options;
    try {
      await pool`delete from log_leases where group_name = ${group} and member = ${this.#member}`;
      await pool`delete from log_members where group_name = ${group} and member = ${this.#member}`;
      await this.#unlisten?.();
    } catch (error) {
      this.#warn(error, 'leases were left to run out');
    }
    this.#options.onClosed();
  }

  #schedule(): void {
    if (this.#closing !== undefined) return;
    this.#timer = setTimeout(() => void this.#tick(), this.#options.leaseMs / 4);
  }

  #tick(): Promise<void> {
    this.#ticking = this.#renew()
      .catch((error: unknown) => this.#warn(error, 'leases were not renewed'))
      .finally(() => this.#schedule());
    return this.#ticking;
  }

  async #renew(): Promise<void> {
    const { pool, group, leaseMs, reader: asked } = this.#options;
    const epochs = await this.#options.epochs();
    const epoch = await asked.epochToRead(epochs);
    if (epoch !== this.#epoch) {
      for (const reader of this.#readers.values()) void this.#leave(reader);
      this.#failures.clear();
      this.#epoch = epoch;
    }
    const reading = epochs.find((each) => each.epoch === epoch)!;
    const isClosed = reading.ends !== null;
    // A partition of an epoch that was closed in the meantime is assigned again, to compare its end.
    if (isClosed !== this.#isClosed)
      for (const reader of this.#readers.values()) void this.#leave(reader);
    this.#isClosed = isClosed;
    this.#epochPartitions = reading.partitions;
    const unwanted = this.#unwanted();
    const held = await renewLeases(pool, { group, member: this.#member, leaseMs, epoch, unwanted });
    for (const [partition, reader] of this.#readers)
      if (!held.partitions.includes(partition)) void this.#leave(reader);
    // A lease that is being given back is still in the result, and may be gone by now.
    const skipped = new Set([...unwanted, ...this.#unwanted()]);
    for (const partition of held.partitions)
      if (!this.#readers.has(partition) && !skipped.has(partition)) this.#enter(partition);
    for (const partition of this.assigned().slice(held.share))
      void this.#leave(this.#readers.get(partition)!);
    // Every tick of every member sends a notice, so silence means that the listening session is lost.
    if (performance.now() - this.#noticedAt > 2 * leaseMs) await this.#listen();
  }

  /** Partitions that failed recently, and those whose old loop still runs. */
  #unwanted(): number[] {
    const now = performance.now();
    const failed = [...this.#failures].filter(([, failure]) => failure.retryAt > now);
    return [
      ...failed.map(([partition]) => partition),
      ...[...this.#leaving.keys()].map((reader) => reader.partition),
    ];
  }

  #enter(partition: number): void {
    const { pool, group, reader, logger, maxBatchEvents, maxBatchWaitMs } = this.#options;
    const partitionReader = new PostgresPartitionReader({
      pool,
      group,
      reader,
      assignment: {
        epoch: this.#epoch,
        partition,
        partitions: this.#epochPartitions,
        closed: this.#isClosed,
      },
      maxBatchEvents,
      maxBatchWaitMs,
      onBatch: () => this.#failures.delete(partition),
    });
    this.#readers.set(partition, partitionReader);
    partitionReader.failed.then((error) => {
      if (error === undefined) return;
      const count = (this.#failures.get(partition)?.count ?? 0) + 1;
      const waitMs = Math.min(RETRY_MS * 2 ** (count - 1), RETRY_MS_MAX);
      this.#failures.set(partition, { count, retryAt: performance.now() + waitMs });
      logger.error(
        { err: error, partition, epoch: partitionReader.epoch },
        'event log: partition given up',
      );
      void this.#leave(partitionReader).then(() => {
        if (this.#closing === undefined) setTimeout(() => void this.#retick(), waitMs + 5).unref();
      });
    });
  }

  /** An extra tick, for a partition whose retry delay is over. */
  async #retick(): Promise<void> {
    if (this.#closing !== undefined) return;
    clearTimeout(this.#timer);
    await this.#ticking;
    clearTimeout(this.#timer);
    if (this.#closing === undefined) await this.#tick();
  }

  /** Ends the loop after its batch in flight, notifies the reader, and gives the lease back. */
  #leave(reader: PostgresPartitionReader): Promise<void> {
    const known = this.#leaving.get(reader);
    if (known !== undefined) return known;
    if (this.#readers.get(reader.partition) === reader) this.#readers.delete(reader.partition);
    const left = (async () => {
      await reader.stop();
      await this.#options.reader.revoked?.(reader.partition, reader.epoch);
      await this.#options.pool`
        delete from log_leases
         where group_name = ${this.#options.group} and member = ${this.#member}
           and epoch = ${reader.epoch} and partition = ${reader.partition}`;
    })()
      .catch((error: unknown) => this.#warn(error, 'partition was not given back'))
      .finally(() => this.#leaving.delete(reader));
    this.#leaving.set(reader, left);
    return left;
  }

  async #listen(): Promise<void> {
    await this.#unlisten?.().catch(() => {});
    const { unlisten } = await this.#options.pool.listen(RECORDS_CHANNEL, () => {
      this.#noticedAt = performance.now();
      for (const reader of this.#readers.values()) reader.wake();
    });
    this.#unlisten = unlisten;
    this.#noticedAt = performance.now();
  }

  #warn(error: unknown, message: string): void {
    this.#options.logger.warn({ err: error, group: this.#options.group }, `event log: ${message}`);
  }
}
