import { BillingError } from '../../domain/errors.ts';
import type { LogEpoch } from '../../domain/metering/epochs.ts';
import {
  LOG_FAULT_TEXT,
  type HandledLog,
  type LogFault,
} from '../../domain/metering/log-identity.ts';

/** An ordered, durable, partitioned log of bytes. Partition counts are fixed per epoch. */
export interface EventLog {
  /**
   * For whoever appends: the epoch that this process believes to be open, and its partition count. Both
   * change together when an append finds the epoch closed. Readers use what their assignment says.
   */
  readonly epoch: number;
  readonly partitions: number;
  /**
   * Resolves once every record would survive a crash: acks from all in-sync replicas on Kafka, a
   * committed transaction on Postgres. Throws otherwise, within a bounded time; the caller then
   * answers 503. After a throw the records may or may not be there. Throws `EpochClosed` without
   * having appended anything when the records name an epoch that takes no more.
   */
  append(records: readonly LogAppend[]): Promise<void>;
  /**
   * At least once, in order within a partition, from the offset that `start` answers when the
   * partition is assigned: the caller's own fenced progress, not the log's. A partition is handed
   * to one consumer of the group at a time as far as the log can tell; a paused process may still
   * believe it owns one, which is why the caller fences its progress.
   */
  consume(group: string, reader: LogReader, options?: ConsumeOptions): Promise<LogConsumer>;
  /** Every epoch, ascending; the last one is open. Asked of the store: another process may have resized. */
  epochs(): Promise<LogEpoch[]>;
  /**
   * Per partition of every epoch: first, next and committed offsets, for lag and "has the stream passed
   * this point".
   */
  positions(group: string): Promise<PartitionPositions[]>;
  /** The kept records of one partition, ascending, to where it ends now; outside of any group, for repairs. */
  read(epoch: number, partition: number): AsyncIterable<LogRecord[]>;
  /**
   * Records below `offset` may go. Kept by the port so that a job can drop what all readers have
   * passed. `epoch`: the open one when left out.
   */
  truncate(partition: number, offset: bigint, epoch?: number): Promise<void>;
  close(): Promise<void>;
}

export interface LogAppend {
  readonly partition: number;
  readonly value: Buffer;
  /** How many events the record carries: for limits and metrics. */
  readonly eventCount: number;
  /** The epoch whose partition count chose the partition; the open one when left out. */
  readonly epoch?: number;
}

/** How large a batch for `handle` may grow, and how long records wait for others to join them. */
export interface ConsumeOptions {
  /** A batch ends with the record that reaches this many events. Default 20,000. */
  readonly maxBatchEvents?: number;
  /** How long the first record of a batch waits for more. Default 200. */
  readonly maxBatchWaitMs?: number;
}

export interface LogReader {
  /**
   * Which epoch the group reads now, decided from the reader's own progress (`epochToRead`): the commits
   * that the log keeps for the group may be late, or gone. Asked again and again.
   */
  epochToRead(epochs: readonly LogEpoch[]): Promise<number>;
  /**
   * Called when a partition is assigned; answers where reading starts, or null when there is nothing to
   * read. Throws to refuse the assignment. A partition of epoch n + 1 is assigned only when the group
   * has drained epoch n.
   */
  start(assignment: LogAssignment): Promise<LogStart | null>;
  /**
   * The log does not hold what the reader handled (`logFault`). The assignment fails after that; the
   * reader refuses the next one until somebody has decided how to go on.
   */
  differs?(assignment: LogAssignment, fault: LogFault): Promise<void>;
  /** The log holds what the reader handled, and the offset `next` comes next. Called before the first batch. */
  agrees?(assignment: LogAssignment, next: bigint): Promise<void>;
  /**
   * Called with one batch of a partition at a time; the next one comes when it has resolved. A throw
   * makes the log give the partition up and assign it afresh (so `start` is asked again).
   */
  handle(batch: LogBatch): Promise<void>;
  /** The partition was taken away (rebalance, lease lost, close). Work in flight may finish; its progress is fenced. */
  revoked?(partition: number, epoch: number): Promise<void>;
}

/** One partition, as it is given to a reader. */
export interface LogAssignment {
  readonly epoch: number;
  readonly partition: number;
  /** How many partitions the epoch has: which slots are this partition's. */
  readonly partitions: number;
  /** Whether the epoch takes no more records. */
  readonly closed: boolean;
}

/** Where reading starts. */
export interface LogStart {
  /** Below what was handled when records are to be read again. */
  readonly offset: bigint;
  /** What the log is compared with before the first batch. */
  readonly handled: HandledLog;
}

export interface LogBatch {
  readonly epoch: number;
  readonly partition: number;
  /** Consecutive records, ascending. The first one stands at the offset where the previous batch ended. */
  readonly records: readonly LogRecord[];
  /** The offset after the last record: where the next batch begins. */
  readonly nextOffset: bigint;
}

export interface LogRecord {
  readonly offset: bigint;
  readonly value: Buffer;
}

export interface LogConsumer {
  /** Partitions held now, ascending. All of one epoch. */
  assigned(): number[];
  /** Finishes the batches in flight, gives the partitions up, and resolves. */
  close(): Promise<void>;
}

export interface PartitionPositions {
  readonly epoch: number;
  readonly partition: number;
  /** The first offset still kept. */
  readonly first: bigint;
  /** The offset the next record will get. */
  readonly next: bigint;
  /** What the group has told the log it has handled, for lag tools only; null before the first batch. */
  readonly committed: bigint | null;
}

/** The log that is there is not the one that was read. */
export class LogDiffers extends Error {
  readonly fault: LogFault;

  constructor({ epoch, partition }: LogAssignment, fault: LogFault, facts: string) {
    super(`Partition ${partition} of epoch ${epoch}: ${LOG_FAULT_TEXT[fault]} (${facts}).`);
    this.name = 'LogDiffers';
    this.fault = fault;
  }
}

/** The log was resized: the partition must be chosen anew, among the partitions of the open epoch. */
export class EpochClosed extends Error {
  constructor(epoch: number) {
    super(`Epoch ${epoch} of the event log takes no more records.`);
    this.name = 'EpochClosed';
  }
}

/** 503 `event_log_unavailable`: nothing was acknowledged, and sending it again with the same ids is safe. */
export const logUnavailable = (reason: string): BillingError =>
  new BillingError(
    'unavailable',
    'event_log_unavailable',
    `The event log can not take events now (${reason}). Send them again with the same event ids.`,
  );
