import { recordCrc } from './record-crc.ts';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { logFault, type HandledLog, type LogFault } from '../../domain/metering/log-identity.ts';
import type { LogEpoch } from '../../domain/metering/epochs.ts';
import type { Logger } from '../log.ts';
import {
  LogDiffers,
  type LogAssignment,
  type LogConsumer,
  type LogReader,
  type LogRecord,
} from './event-log.ts';
import { EVENT_COUNT_HEADER } from './kafka-producer.ts';
import { groupOf, topicOf } from './kafka-topics.ts';

export interface KafkaConsumerOptions {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly group: string;
  readonly reader: LogReader;
  readonly logger: Logger;
  readonly sessionTimeoutMs: number;
  readonly maxBatchEvents: number;
  readonly maxBatchWaitMs: number;
  readonly epochs: () => Promise<LogEpoch[]>;
  /** First and next offset of a partition. */
  readonly bounds: (epoch: number, partition: number) => Promise<{ first: bigint; next: bigint }>;
  readonly onClosed: () => void;
}

const RETRY_MS = 200;
const RETRY_MS_MAX = 5_000;
const EPOCH_CHECK_MS = 3_000;
const MAX_BYTES_PER_PARTITION = 4 * 1024 * 1024;
const MAX_BYTES = 32 * 1024 * 1024;
/**
 * A batch that was fetched before a seek may still arrive; after several seeks the batch is the log's answer.
 */
const STRAYS_MAX = 3;
/** A fetch is answered when this many bytes are available, or when the wait is over. */
const MIN_BYTES = 1024 * 1024;

/** A membership in the group of one epoch. */
interface Session {
  readonly consumer: Consumer;
  readonly epoch: number;
  readonly partitions: number;
  readonly closed: boolean;
  readonly topic: string;
}

/** One assignment of one partition, from its start until it is revoked or fails. */
interface Assignment {
  readonly partition: number;
  /**
   * The offset at which the next batch must begin; null while `start` has not resolved, or when there is
   * nothing to read.
   */
  expected: bigint | null;
  /**
   * Set until the record before the progress is compared: what it must be, and where reading starts after it.
   */
  compare: { readonly handled: HandledLog; readonly then: bigint; readonly next: bigint } | null;
  /** Consecutive batches that began at another offset. */
  strays: number;
  /** Set when the assignment is over. A batch in flight may still finish. */
  ended: boolean;
  inFlight: Promise<void>;
}

/**
 * A member of a Kafka consumer group. Kafka assigns the partitions; the reader decides where reading begins.
 * At every assignment the partition is paused, `start` is called, and only then the partition is sought and
 * resumed. A batch that does not begin where the last one ended is dropped and sought again.
 */
export class KafkaLogConsumer implements LogConsumer {
  readonly #options: KafkaConsumerOptions;
  readonly #assignments = new Map<number, Assignment>();
  readonly #failures = new Map<number, number>();
  #session: Session | null = null;
  #epochTimer: NodeJS.Timeout | undefined;
  #changing: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(options: KafkaConsumerOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    await this.#join();
    this.#watchEpoch();
  }

  assigned(): number[] {
    return [...this.#assignments.keys()].sort((a, b) => a - b);
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      clearTimeout(this.#epochTimer);
      await this.#changing;
      await this.#leave();
      this.#options.onClosed();
    })();
    return this.#closing;
  }

  async #join(): Promise<void> {
    const { kafka, group, sessionTimeoutMs, maxBatchWaitMs } = this.#options;
    const { epoch, partitions, ends } = await this.#epochToRead();
    const topic = topicOf(this.#options.topic, epoch);
    const consumer = kafka.consumer({
      groupId: groupOf(this.#options.topic, epoch, group),
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: Math.floor(sessionTimeoutMs / 5),
      maxBytesPerPartition: MAX_BYTES_PER_PARTITION,
      maxBytes: MAX_BYTES,
      minBytes: MIN_BYTES,
      maxWaitTimeInMs: maxBatchWaitMs,
      retry: { retries: 5, restartOnFailure: () => Promise.resolve(true) },
    });
    const session = { consumer, epoch, partitions, closed: ends !== null, topic };
    this.#session = session;
    consumer.on('consumer.group_join', ({ payload }) => {
      if (this.#session === session) this.#assign(payload.memberAssignment[topic] ?? []);
    });
    consumer.on('consumer.crash', ({ payload }) => {
      if (payload.restart || this.#session !== session) return;
      this.#warn(payload.error, 'the consumer ended and is created again');
      setTimeout(() => this.#change(() => this.#rejoin(session)), RETRY_MS).unref();
    });
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: partitions,
      eachBatch: (payload) => this.#eachBatch(payload),
    });
  }

  async #epochToRead(): Promise<LogEpoch> {
    const epochs = await this.#options.epochs();
    const chosen = await this.#options.reader.epochToRead(epochs);
    return epochs.find(({ epoch }) => epoch === chosen)!;
  }

  async #rejoin(session: object): Promise<void> {
    if (this.#session !== session) return;
    await this.#leave();
    await this.#join();
  }

  async #leave(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    await session?.consumer
      .disconnect()
      .catch((error: unknown) => this.#warn(error, 'leaving the group failed'));
    await Promise.all(
      [...this.#assignments.values()].map((each) => this.#end(each, session!.epoch)),
    );
  }

  /** Changes of the session run one after another, and none begins after `close`. */
  #change(work: () => Promise<void>): void {
    this.#changing = this.#changing
      .then(() => (this.#closing === undefined ? work() : undefined))
      .catch((error: unknown) => this.#warn(error, 'could not join'));
  }

  /** Moves to the next epoch to read when the group has drained this one. */
  #watchEpoch(): void {
    this.#epochTimer = setTimeout(() => {
      this.#change(async () => {
        const { epoch, ends } = await this.#epochToRead();
        const isClosed = ends !== null;
        if (this.#session === null) await this.#join();
        // A partition of an epoch that was closed in the meantime is assigned again, to compare its end.
        else if (epoch !== this.#session.epoch || isClosed !== this.#session.closed)
          await this.#rejoin(this.#session);
      });
      this.#watchEpoch();
    }, EPOCH_CHECK_MS);
    this.#epochTimer.unref();
  }

  /**
   * A new generation of the group: every earlier assignment ends, also of partitions that are assigned again.
   */
  #assign(partitions: readonly number[]): void {
    const { consumer, epoch, topic } = this.#session!;
    const before = [...this.#assignments.values()];
    const over = before.map((assignment) => this.#end(assignment, epoch));
    if (partitions.length > 0) consumer.pause([{ topic, partitions: [...partitions] }]);
    for (const partition of partitions) {
      const earlier = over[before.findIndex((each) => each.partition === partition)];
      void this.#begin(partition, earlier);
    }
  }

  /** Calls `start`, then resumes the partition. Retries with growing delays while it throws. */
  async #begin(partition: number, earlier: Promise<void> | undefined): Promise<void> {
    const session = this.#session!;
    const assignment: Assignment = {
      partition,
      expected: null,
      compare: null,
      strays: 0,
      ended: false,
      inFlight: Promise.resolve(),
    };
    this.#assignments.set(partition, assignment);
    await earlier;
    try {
      if (assignment.ended) return;
      const start = await this.#options.reader.start(at(session, partition));
      if (start === null) return;
      const { offset, handled } = start;
      const kept = await this.#options.bounds(session.epoch, partition);
      const fault = logFault(handled, { ...kept, lastCrc: null });
      if (fault !== null) return await this.#differs(session, assignment, fault, handled);
      if (assignment.ended || this.#session !== session) return;
      const last = handled.nextOffset - 1n;
      if (handled.lastCrc !== null && last >= kept.first) {
        assignment.compare = { handled, then: offset, next: kept.next };
        assignment.expected = last;
      } else {
        await this.#options.reader.agrees?.(at(session, partition), kept.next);
        assignment.expected = offset;
      }
      const from = assignment.expected.toString();
      session.consumer.seek({ topic: session.topic, partition, offset: from });
      session.consumer.resume([{ topic: session.topic, partitions: [partition] }]);
    } catch (error) {
      this.#fail(assignment, error);
    }
  }

  /** Notifies the reader that this is not the log it has read, and gives up the partition. */
  async #differs(
    session: Session,
    assignment: Assignment,
    fault: LogFault,
    { nextOffset }: Pick<HandledLog, 'nextOffset'>,
  ): Promise<void> {
    const where = at(session, assignment.partition);
    await this.#options.reader.differs?.(where, fault);
    throw new LogDiffers(where, fault, `${nextOffset} is next`);
  }

  /** Gives up the partition and, unless it was revoked, starts it again after a delay. */
  #fail(assignment: Assignment, error: unknown): void {
    const session = this.#session;
    const { partition } = assignment;
    this.#options.logger.error({ err: error, partition }, 'event log: partition given up');
    if (session === null || assignment.ended) return;
    session.consumer.pause([{ topic: session.topic, partitions: [partition] }]);
    const count = (this.#failures.get(partition) ?? 0) + 1;
    this.#failures.set(partition, count);
    const ended = this.#end(assignment, session.epoch);
    this.#assignments.set(partition, assignment); // still assigned by Kafka, though paused
    setTimeout(
      () => {
        if (this.#session === session && this.#assignments.get(partition) === assignment)
          void this.#begin(partition, ended);
      },
      Math.min(RETRY_MS * 2 ** (count - 1), RETRY_MS_MAX),
    ).unref();
  }

  async #end(assignment: Assignment, epoch: number): Promise<void> {
    if (this.#assignments.get(assignment.partition) === assignment)
      this.#assignments.delete(assignment.partition);
    if (assignment.ended) return;
    assignment.ended = true;
    await assignment.inFlight;
    try {
      await this.#options.reader.revoked?.(assignment.partition, epoch);
    } catch (error) {
      this.#warn(error, 'the reader failed to release the partition');
    }
  }

  async #eachBatch({ batch, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> {
    const session = this.#session;
    const assignment = this.#assignments.get(batch.partition);
    if (session === null || assignment === undefined || assignment.expected === null) return;
    if (assignment.ended) return;
    const { partition } = batch;
    const seek = (offset: bigint): void =>
      session.consumer.seek({ topic: session.topic, partition, offset: offset.toString() });
    const begins = BigInt(batch.messages[0]!.offset);
    if (begins !== assignment.expected) {
      assignment.strays++;
      if (assignment.strays <= STRAYS_MAX) return seek(assignment.expected);
      // The log repeatedly answered with another record: this record does not exist.
      const error = new Error(`Asked for record ${assignment.expected}, got ${begins}.`);
      if (begins < assignment.expected) return this.#fail(assignment, error);
      const handled = { nextOffset: assignment.expected };
      return await this.#differs(session, assignment, 'records_missing', handled).catch((fault) =>
        this.#fail(assignment, fault),
      );
    }
    assignment.strays = 0;
    let { messages } = batch;
    if (assignment.compare !== null) {
      const { handled, then } = assignment.compare;
      const fault = logFault(
        { ...handled, storedUpTo: null, recordedEnd: null },
        {
          first: begins,
          next: handled.nextOffset,
          lastCrc: recordCrc(messages[0]!.value ?? EMPTY),
        },
      );
      if (fault !== null)
        return await this.#differs(session, assignment, fault, handled).catch((error) =>
          this.#fail(assignment, error),
        );
      await this.#options.reader.agrees?.(at(session, partition), assignment.compare.next);
      assignment.compare = null;
      assignment.expected = then;
      messages = messages.slice(1);
      if (messages.length === 0 || BigInt(messages[0]!.offset) !== then) return seek(then);
    }
    // A long batch must not look like a dead member. A rebalance shows at the next fetch.
    const beat = setInterval(() => void heartbeat().catch(() => {}), 1_000);
    let finished!: () => void;
    assignment.inFlight = new Promise((resolve) => (finished = resolve));
    try {
      for (const records of this.#split(messages)) {
        const nextOffset = records.at(-1)!.offset + 1n;
        await this.#options.reader.handle({
          epoch: session.epoch,
          partition: batch.partition,
          records,
          nextOffset,
        });
        this.#failures.delete(batch.partition);
        if (assignment.ended) return;
        assignment.expected = nextOffset;
        resolveOffset(String(nextOffset - 1n));
        await this.#commit(session, batch.partition, nextOffset);
      }
    } catch (error) {
      finished();
      this.#fail(assignment, error);
    } finally {
      finished();
      clearInterval(beat);
    }
  }

  /** Splits one fetch into batches of bounded event counts. */
  #split(messages: EachBatchPayload['batch']['messages']): LogRecord[][] {
    const batches: LogRecord[][] = [];
    let batch: LogRecord[] = [];
    let events = 0;
    for (const message of messages) {
      batch.push({ offset: BigInt(message.offset), value: message.value ?? EMPTY });
      events += Number(message.headers?.[EVENT_COUNT_HEADER]?.toString() ?? 1);
      if (events >= this.#options.maxBatchEvents) {
        batches.push(batch);
        batch = [];
        events = 0;
      }
    }
    if (batch.length > 0) batches.push(batch);
    return batches;
  }

  /** For lag only. Refused during a rebalance, which loses nothing. */
  async #commit(
    session: { consumer: Consumer; topic: string },
    partition: number,
    offset: bigint,
  ): Promise<void> {
    await session.consumer
      .commitOffsets([{ topic: session.topic, partition, offset: offset.toString() }])
      .catch((error: unknown) =>
        this.#options.logger.debug({ err: error, partition }, 'event log: commit refused'),
      );
  }

  #warn(error: unknown, message: string): void {
    this.#options.logger.warn({ err: error, group: this.#options.group }, `event log: ${message}`);
  }
}

const EMPTY = Buffer.alloc(0);

const at = ({ epoch, partitions, closed }: Session, partition: number): LogAssignment => ({
  epoch,
  partition,
  partitions,
  closed,
});
