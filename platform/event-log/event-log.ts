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
   * For appenders: the epoch that this process believes to be open, and its partition count. Both change
   * together when an append finds the epoch closed. Readers use the values of their assignment.
   */
  readonly epoch: number;
  readonly partitions: number;
  /**
   * Resolves once every record would survive a crash: acks from all in-sync replicas on Kafka, a committed
   * transaction on Postgres. Throws otherwise, within a bounded time; the caller then answers 503. After a
   * throw the records may or may not be stored. Throws `EpochClosed`, without appending anything, when the
   * records name a closed epoch.
   */
  append(records: readonly LogAppend[]): Promise<void>;
  /**
   * At least once, in order within a partition, from the offset that `start` returns when the partition is
   * assigned: the caller's own fenced progress, not the log's. As far as the log can tell, a partition is
   * assigned to one consumer of the group at a time. A paused process may still believe it owns a partition,
   * so the caller fences its progress.
   */
  consume(group: string, reader: LogReader, options?: ConsumeOptions): Promise<LogConsumer>;
  /** Every epoch, ascending; the last one is open. Read from the store: another process may have resized. */
  epochs(): Promise<LogEpoch[]>;
  /**
   * Per partition of every epoch: first, next and committed offsets, for lag and "has the stream passed
   * this point".
   */
  positions(group: string): Promise<PartitionPositions[]>;
  /**
   * The kept records of one partition, ascending, up to its current end; outside of any group, for repairs.
   */
  read(epoch: number, partition: number): AsyncIterable<LogRecord[]>;
  /**
   * Marks records below `offset` as deletable. Part of the port so that a job can drop what all readers have
   * passed. `epoch` defaults to the open one.
   */
  truncate(partition: number, offset: bigint, epoch?: number): Promise<void>;
  close(): Promise<void>;
}

export interface LogAppend {
  readonly partition: number;
  readonly value: Buffer;
  /** Number of events in the record, for limits and metrics. */
  readonly eventCount: number;
  /** The epoch from which the partition was chosen; defaults to the open one. */
  readonly epoch?: number;
}

/** Largest batch for `handle`, and how long records wait for others to join them. */
export interface ConsumeOptions {
  /** A batch ends with the record that reaches this many events. Default 20,000. */
  readonly maxBatchEvents?: number;
  /** How long the first record of a batch waits for more. Default 200. */
  readonly maxBatchWaitMs?: number;
}

export interface LogReader {
  /**
   * The epoch that the group reads now, decided from the reader's own progress (`epochToRead`): the commits
   * that the log keeps for the group may be late or missing. Called repeatedly.
   */
  epochToRead(epochs: readonly LogEpoch[]): Promise<number>;
  /**
   * Called when a partition is assigned; returns where reading starts, or null when there is nothing to read.
   * Throws to refuse the assignment. A partition of epoch n + 1 is assigned only when the group has drained
   * epoch n.
   */
  start(assignment: LogAssignment): Promise<LogStart | null>;
  /**
   * The log does not hold what the reader handled (`logFault`). The assignment fails after that; the reader
   * refuses the next one until an operator has decided how to continue.
   */
  differs?(assignment: LogAssignment, fault: LogFault): Promise<void>;
  /**
   * The log holds what the reader handled, and reading continues at offset `next`. Called before the first
   * batch.
   */
  agrees?(assignment: LogAssignment, next: bigint): Promise<void>;
  /**
   * Called with one batch of a partition at a time; the next batch follows when it has resolved. A throw
   * makes the log give the partition up and assign it again (`start` is called again).
   */
  handle(batch: LogBatch): Promise<void>;
  /**
   * The partition was revoked (rebalance, lease lost, close). Work in flight may finish; its progress is
   * fenced.
   */
  revoked?(partition: number, epoch: number): Promise<void>;
}

/** One partition, as assigned to a reader. */
export interface LogAssignment {
  readonly epoch: number;
  readonly partition: number;
  /** Partition count of the epoch; it decides which slots belong to this partition. */
  readonly partitions: number;
  /** Whether the epoch is closed for appends. */
  readonly closed: boolean;
}

/** Where reading starts. */
export interface LogStart {
  /** Lower than the handled offset if records must be read again. */
  readonly offset: bigint;
  /** Compared with the log before the first batch. */
  readonly handled: HandledLog;
}

export interface LogBatch {
  readonly epoch: number;
  readonly partition: number;
  /** Consecutive records, ascending. The first one is at the offset where the previous batch ended. */
  readonly records: readonly LogRecord[];
  /** The offset after the last record: where the next batch begins. */
  readonly nextOffset: bigint;
}

export interface LogRecord {
  readonly offset: bigint;
  readonly value: Buffer;
}

export interface LogConsumer {
  /** Partitions held now, ascending; all of one epoch. */
  assigned(): number[];
  /** Finishes the batches in flight, gives up the partitions, and resolves. */
  close(): Promise<void>;
}

export interface PartitionPositions {
  readonly epoch: number;
  readonly partition: number;
  /** The first offset still kept. */
  readonly first: bigint;
  /** The offset the next record will get. */
  readonly next: bigint;
  /**
   * The handled offset that the group reported to the log, for lag tools only; null before the first batch.
   */
  readonly committed: bigint | null;
}

/** The log is not the one that was read before. */
export class LogDiffers extends Error {
  readonly fault: LogFault;

  constructor({ epoch, partition }: LogAssignment, fault: LogFault, facts: string) {
    super(`Partition ${partition} of epoch ${epoch}: ${LOG_FAULT_TEXT[fault]} (${facts}).`);
    this.name = 'LogDiffers';
    this.fault = fault;
  }
}

/** The log was resized: choose the partition again, among the partitions of the open epoch. */
export class EpochClosed extends Error {
  constructor(epoch: number) {
    super(`Epoch ${epoch} of the event log takes no more records.`);
    this.name = 'EpochClosed';
  }
}

/** 503 `event_log_unavailable`: nothing was acknowledged; sending again with the same ids is safe. */
export const logUnavailable = (reason: string): BillingError =>
  new BillingError(
    'unavailable',
    'event_log_unavailable',
    `The event log cannot take events now (${reason}). Send them again with the same event ids.`,
  );
