import { setTimeout as sleep } from 'node:timers/promises';
import type { LogEpoch } from '../../domain/metering/epochs.ts';
import { connectPostgres, type Pool } from '../../postgres/client.ts';
import { isPostgresOutage } from '../../postgres/outage.ts';
import type { Logger } from '../log.ts';
import { errorCode } from '../network-outage.ts';
import { AppendQueue } from './append-queue.ts';
import {
  EpochClosed,
  logUnavailable,
  type ConsumeOptions,
  type EventLog,
  type LogAppend,
  type LogConsumer,
  type LogReader,
  type LogRecord,
  type PartitionPositions,
} from './event-log.ts';
import { PostgresLogConsumer } from './postgres-consumer.ts';
import { RECORDS_CHANNEL } from './postgres-channel.ts';

export interface PostgresEventLogOptions {
  /** A migrated database. The log has connections of its own, so that it never waits for the API's. */
  readonly url: string;
  readonly logger: Logger;
  /** Partitions of a new log; an existing log keeps its count. */
  readonly partitions?: number;
  /** An append is answered within this time or refused. */
  readonly appendDeadlineMs?: number;
  /** Bytes that may wait for the log in memory. */
  readonly maxPendingBytes?: number;
  /** How long a vanished consumer keeps its partitions. */
  readonly leaseMs?: number;
}

const DEFAULT_PARTITIONS = 4;
const RECORDS_PER_DELETE = 500;
const RECORDS_PER_READ = 20;

export interface PostgresEventLog extends EventLog {
  /**
   * Closes the epoch and opens the next one with that many partitions and a number of at least `atLeast`.
   * Returns the new epoch.
   */
  resize(partitions: number, atLeast?: number): Promise<number>;
}

/**
 * The partitioned log in Postgres. Offsets are gapless, in commit order, and a record is visible only
 * when every smaller offset of its partition is: see `append_to_log`.
 */
export async function openPostgresEventLog(
  options: PostgresEventLogOptions,
): Promise<PostgresEventLog> {
  const log = new Log(options);
  await log.open(options.partitions ?? DEFAULT_PARTITIONS);
  return log;
}

class Log implements PostgresEventLog {
  epoch = 0;
  partitions = 0;
  readonly #options: PostgresEventLogOptions;
  readonly #deadlineMs: number;
  readonly #queue: AppendQueue;
  readonly #pool: Pool;
  readonly #consumers = new Set<PostgresLogConsumer>();
  #writer: Pool;
  #noticePending = false;
  /** Logged when it changes: an unavailable log refuses thousands of appends a second. */
  #failing = false;

  constructor(options: PostgresEventLogOptions) {
    this.#options = options;
    this.#deadlineMs = options.appendDeadlineMs ?? 2_000;
    this.#pool = connectPostgres({
      url: options.url,
      applicationName: 'meterline-event-log',
      maxConnections: 6,
    });
    this.#writer = this.#connectWriter();
    this.#queue = new AppendQueue({
      write: (epoch, records, signal) => this.#write(epoch, records, signal),
      // Partitions are locked until the commit, so writes of one process run one after another anyway; the
      // second write has its values parsed in the meantime.
      maxWrites: 2,
      maxWriteBytes: 1024 * 1024,
      maxPendingBytes: options.maxPendingBytes ?? 64 * 1024 * 1024,
      deadlineMs: this.#deadlineMs,
    });
  }

  async open(partitions: number): Promise<void> {
    await this.#pool.begin(async (tx) => {
      const created = await tx`
        insert into log_epochs (epoch, partitions)
        select 0, ${partitions}
         where not exists (select from log_epochs)
            on conflict do nothing`;
      if (created.count > 0)
        await tx`
          insert into log_partitions (epoch, partition)
          select 0, partition from generate_series(0, ${partitions - 1}) as partition`;
    });
    await this.#reload();
  }

  append(records: readonly LogAppend[]): Promise<void> {
    return this.#queue.append(this.epoch, records);
  }

  async consume(
    group: string,
    reader: LogReader,
    options: ConsumeOptions = {},
  ): Promise<LogConsumer> {
    const consumer = new PostgresLogConsumer({
      pool: this.#pool,
      group,
      epochs: () => this.epochs(),
      reader,
      logger: this.#options.logger,
      leaseMs: this.#options.leaseMs ?? 5_000,
      maxBatchEvents: options.maxBatchEvents ?? 20_000,
      maxBatchWaitMs: options.maxBatchWaitMs ?? 200,
      onClosed: () => this.#consumers.delete(consumer),
    });
    this.#consumers.add(consumer);
    await consumer.open();
    return consumer;
  }

  async epochs(): Promise<LogEpoch[]> {
    const rows = await this.#pool<
      { epoch: number; partitions: number; closed: boolean; ends: string[] }[]
    >`
      select epochs.epoch, epochs.partitions, epochs.closed_at is not null as closed,
             (select array_agg(next_offset::text order by partition) from log_partitions head
               where head.epoch = epochs.epoch) as ends
        from log_epochs epochs
       order by epochs.epoch`;
    return rows.map(({ epoch, partitions, closed, ends }) => ({
      epoch,
      partitions,
      ends: closed ? ends.map(BigInt) : null,
    }));
  }

  async positions(group: string): Promise<PartitionPositions[]> {
    const rows = await this.#pool<
      {
        epoch: number;
        partition: number;
        first: string;
        next: string;
        committed: string | null;
      }[]
    >`
      select head.epoch, head.partition, head.first_offset as first, head.next_offset as next,
             passed."offset" as committed
        from log_partitions head
        left join log_commits passed
          on passed.group_name = ${group}
         and passed.epoch = head.epoch
         and passed.partition = head.partition
       order by head.epoch, head.partition`;
    return rows.map((row) => ({
      epoch: row.epoch,
      partition: row.partition,
      first: BigInt(row.first),
      next: BigInt(row.next),
      committed: row.committed === null ? null : BigInt(row.committed),
    }));
  }

  async *read(epoch: number, partition: number): AsyncIterable<LogRecord[]> {
    for (let from = 0n; ;) {
      const rows = await this.#pool<{ offset: string; value: Buffer }[]>`
        select "offset", value from log_records
         where epoch = ${epoch} and partition = ${partition} and "offset" >= ${from.toString()}
         order by "offset"
         limit ${RECORDS_PER_READ}`;
      if (rows.length === 0) return;
      yield rows.map((row) => ({ offset: BigInt(row.offset), value: row.value }));
      from = BigInt(rows.at(-1)!.offset) + 1n;
    }
  }

  async truncate(partition: number, offset: bigint, epoch = this.epoch): Promise<void> {
    // Updates the bound first, so that no consumer starts on records that are about to be deleted.
    const [row] = await this.#pool<{ first_offset: string }[]>`
      update log_partitions
         set first_offset = greatest(first_offset, least(next_offset, ${offset.toString()}::bigint))
       where epoch = ${epoch} and partition = ${partition}
      returning first_offset`;
    if (row === undefined) throw new Error(`No partition ${partition} in epoch ${epoch}`);
    for (;;) {
      const deleted = await this.#pool`
        delete from log_records
         where epoch = ${epoch} and partition = ${partition}
           and "offset" in (
             select "offset" from log_records
              where epoch = ${epoch} and partition = ${partition}
                and "offset" < ${row.first_offset}
              order by "offset"
              limit ${RECORDS_PER_DELETE})`;
      if (deleted.count < RECORDS_PER_DELETE) return;
    }
  }

  async resize(partitions: number, atLeast = 0): Promise<number> {
    await this.#pool.begin(async (tx) => {
      // One resize at a time; appends do not touch this table.
      await tx`lock table log_epochs in share row exclusive mode`;
      // Locked in the same order as by appends; appends that wait for these locks find the epoch closed.
      const heads = await tx<{ epoch: number }[]>`
        select epoch from log_partitions
         where not closed order by partition for no key update`;
      const epoch = heads[0]!.epoch;
      await tx`update log_partitions set closed = true where epoch = ${epoch}`;
      await tx`update log_epochs set closed_at = clock_timestamp() where epoch = ${epoch}`;
      const next = Math.max(epoch + 1, atLeast);
      await tx`insert into log_epochs (epoch, partitions) values (${next}, ${partitions})`;
      await tx`
        insert into log_partitions (epoch, partition)
        select ${next}, partition from generate_series(0, ${partitions - 1}) as partition`;
      await tx`select pg_notify(${RECORDS_CHANNEL}, '')`;
    });
    await this.#reload();
    return this.epoch;
  }

  async close(): Promise<void> {
    await this.#queue.close();
    await Promise.all([...this.#consumers].map((consumer) => consumer.close()));
    await Promise.all([this.#writer.end({ timeout: 1 }), this.#pool.end({ timeout: 1 })]);
  }

  async #reload(): Promise<void> {
    const [open] = await this.#pool<{ epoch: number; partitions: number }[]>`
      select epoch, partitions from log_epochs where closed_at is null`;
    this.epoch = open!.epoch;
    this.partitions = open!.partitions;
  }

  async #write(epoch: number, records: readonly LogAppend[], signal: AbortSignal): Promise<void> {
    const writer = this.#writer;
    // A connection that does not answer may be half open. New connections are made, and ending the old ones
    // makes this write throw, which frees its place in the queue.
    const abandon = () => {
      if (this.#writer === writer) this.#writer = this.#connectWriter();
      writer.end({ timeout: 0 }).catch(() => {});
    };
    signal.addEventListener('abort', abandon, { once: true });
    try {
      await writer`
        select append_to_log(
          ${epoch}::integer,
          ${integers(records, (record) => record.partition)}::integer[],
          ${integers(records, (record) => record.eventCount)}::integer[],
          ${integers(records, (record) => record.value.length)}::integer[],
          ${Buffer.concat(records.map((record) => record.value))}::bytea)`;
    } catch (error) {
      if (errorCode(error) === 'ML001') {
        await this.#reload();
        throw new EpochClosed(epoch);
      }
      if (!this.#failing) this.#options.logger.error({ err: error }, 'event log: appends fail');
      this.#failing = true;
      if (!isPostgresOutage(error)) throw error;
      throw logUnavailable('its database does not answer');
    } finally {
      signal.removeEventListener('abort', abandon);
    }
    if (this.#failing) this.#options.logger.info('event log: appends work again');
    this.#failing = false;
    this.#notify();
  }

  /**
   * Wakes waiting consumers soon, at most every few milliseconds and outside of the append: a notice inside
   * the append makes the commit take a lock that all notifying commits of the server share.
   */
  #notify(): void {
    if (this.#noticePending) return;
    this.#noticePending = true;
    void sleep(5, undefined, { ref: false })
      .then(() => {
        this.#noticePending = false;
        return this.#pool`select pg_notify(${RECORDS_CHANNEL}, '')`;
      })
      .catch(() => {}); // consumers poll as well
  }

  #connectWriter(): Pool {
    return connectPostgres({
      url: this.#options.url,
      applicationName: 'meterline-event-log-append',
      maxConnections: 2,
      settings: {
        // Independent of the server's default: an acknowledged event survives a crash.
        synchronous_commit: 'on',
        statement_timeout: `${this.#deadlineMs}ms`,
      },
    });
  }
}

/** An array literal, because the driver would inspect every element of an array. */
function integers(records: readonly LogAppend[], of: (record: LogAppend) => number): string {
  return `{${records.map(of).join(',')}}`;
}
