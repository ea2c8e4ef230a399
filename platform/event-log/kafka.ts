import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import type { LogEpoch } from '../../domain/metering/epochs.ts';
import type { Logger } from '../log.ts';
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
import { kafkaClient, readAgain, type KafkaAddress } from './kafka-client.ts';
import { isKafkaOutage } from './kafka-outage.ts';
import { KafkaLogConsumer } from './kafka-consumer.ts';
import { readPartition } from './kafka-read.ts';
import { KafkaAppender } from './kafka-producer.ts';
import {
  checkBrokers,
  checkTopic,
  createEpoch,
  findEpochs,
  groupOf,
  isSealed,
  sealEpoch,
  topicOf,
} from './kafka-topics.ts';

export interface KafkaEventLogOptions extends KafkaAddress {
  /** Name of the log; its topics are `<topic>-e<epoch>`. */
  readonly topic: string;
  readonly logger: Logger;
  /** Brokers that keep a copy of each record. Default 3. */
  readonly replicationFactor?: number;
  /** Partitions of a new log; an existing log keeps its count. */
  readonly partitions?: number;
  /** An append is answered within this time or refused. */
  readonly appendDeadlineMs?: number;
  /** Bytes that may wait for the log in memory. */
  readonly maxPendingBytes?: number;
  /** How long a vanished consumer keeps its partitions; the broker's minimum is 6 s. */
  readonly sessionTimeoutMs?: number;
  /** A resize that takes longer than this was interrupted, and an appender completes it. */
  readonly resizeMsMax?: number;
}

const DEFAULT_PARTITIONS = 12;
const DEFAULT_REPLICATION_FACTOR = 3;
/** Brokers apply a topic's settings once the controller has propagated them. */
const SEAL_SPREAD_MS = 2_000;
const RESIZE_MS_MAX = 30_000;

export interface KafkaEventLog extends EventLog {
  /**
   * Closes the epoch and opens the next one with that many partitions and a number of at least `atLeast`.
   * Returns the new epoch.
   */
  resize(partitions: number, atLeast?: number): Promise<number>;
}

/** The log on Apache Kafka. Records are acknowledged by all in-sync replicas. */
export async function openKafkaEventLog(options: KafkaEventLogOptions): Promise<KafkaEventLog> {
  const log = new Log(options);
  await log.open(options.partitions ?? DEFAULT_PARTITIONS);
  return log;
}

class Log implements KafkaEventLog {
  epoch = 0;
  partitions = 0;
  readonly #options: KafkaEventLogOptions;
  readonly #kafka: Kafka;
  readonly #admin: Admin;
  readonly #appender: KafkaAppender;
  readonly #queue: AppendQueue;
  readonly #consumers = new Set<KafkaLogConsumer>();
  #failing = false;
  /** When an append first found the open epoch sealed; null while it takes records. */
  #sealedSinceMs: number | null = null;
  readonly #replicas: number;

  constructor(options: KafkaEventLogOptions) {
    this.#options = options;
    this.#replicas = options.replicationFactor ?? DEFAULT_REPLICATION_FACTOR;
    const deadlineMs = options.appendDeadlineMs ?? 2_000;
    const { logger } = options;
    // Reading and administration may be slow, and a new broker refuses the first requests.
    this.#kafka = kafkaClient(options, logger, 15_000, 8);
    this.#admin = this.#kafka.admin();
    this.#appender = new KafkaAppender(
      // An unavailable seed broker must not delay; the next one is tried at once.
      kafkaClient(options, logger, deadlineMs, 3),
      options.topic,
      Math.round(deadlineMs * 0.75),
    );
    this.#queue = new AppendQueue({
      write: (epoch, records, signal) => this.#write(epoch, records, signal),
      // More parallel writes make each smaller and gain nothing (measured with 4 and 8).
      maxWrites: 2,
      maxWriteBytes: 2 * 1024 * 1024,
      maxPendingBytes: options.maxPendingBytes ?? 64 * 1024 * 1024,
      deadlineMs,
    });
  }

  async open(partitions: number): Promise<void> {
    await this.#admin.connect();
    const found = await findEpochs(this.#admin, this.#options.topic);
    if (found.length === 0)
      await createEpoch(this.#admin, this.#options.topic, { epoch: 0, partitions }, this.#replicas);
    await this.#reload();
    const { topic, brokers } = this.#options;
    await checkTopic(this.#admin, topic, this.epoch, {
      brokers,
      replicationFactor: this.#replicas,
    });
  }

  append(records: readonly LogAppend[]): Promise<void> {
    return this.#queue.append(this.epoch, records);
  }

  async consume(
    group: string,
    reader: LogReader,
    options: ConsumeOptions = {},
  ): Promise<LogConsumer> {
    const { topic, logger, sessionTimeoutMs } = this.#options;
    const consumer = new KafkaLogConsumer({
      kafka: this.#kafka,
      topic,
      group,
      reader,
      logger,
      sessionTimeoutMs: sessionTimeoutMs ?? 10_000,
      maxBatchEvents: options.maxBatchEvents ?? 20_000,
      maxBatchWaitMs: options.maxBatchWaitMs ?? 200,
      epochs: () => this.epochs(),
      bounds: (epoch, partition) => this.#bounds(epoch, partition),
      onClosed: () => this.#consumers.delete(consumer),
    });
    this.#consumers.add(consumer);
    await consumer.open();
    return consumer;
  }

  async epochs(): Promise<LogEpoch[]> {
    const { topic } = this.#options;
    const found = await findEpochs(this.#admin, topic);
    const open = found.at(-1)!.epoch;
    return Promise.all(
      found.map(async ({ epoch, partitions }) => {
        if (epoch === open) return { epoch, partitions, ends: null };
        const offsets = await readAgain(() => this.#admin.fetchTopicOffsets(topicOf(topic, epoch)));
        const ends = new Array<bigint>(partitions).fill(0n);
        for (const { partition, high } of offsets) ends[partition] = BigInt(high);
        return { epoch, partitions, ends };
      }),
    );
  }

  async positions(group: string): Promise<PartitionPositions[]> {
    const epochs = await findEpochs(this.#admin, this.#options.topic);
    const all = await Promise.all(epochs.map(({ epoch }) => this.#positionsOf(group, epoch)));
    return all.flat();
  }

  async *read(epoch: number, partition: number): AsyncIterable<LogRecord[]> {
    const { first, next } = await this.#bounds(epoch, partition);
    if (first >= next) return;
    const place = { topic: topicOf(this.#options.topic, epoch), partition, first, next };
    yield* readPartition(this.#kafka, place);
  }

  async truncate(partition: number, offset: bigint, epoch = this.epoch): Promise<void> {
    const { next } = await this.#bounds(epoch, partition);
    await this.#admin.deleteTopicRecords({
      topic: topicOf(this.#options.topic, epoch),
      partitions: [{ partition, offset: String(offset < next ? offset : next) }],
    });
  }

  async resize(partitions: number, atLeast = 0): Promise<number> {
    const { topic } = this.#options;
    do {
      const epoch = (await findEpochs(this.#admin, topic)).at(-1)!.epoch;
      await checkBrokers(this.#admin, this.#replicas);
      await sealEpoch(this.#admin, topic, epoch, this.#replicas);
      await sleep(SEAL_SPREAD_MS);
      const next = { epoch: Math.max(epoch + 1, atLeast), partitions };
      await createEpoch(this.#admin, topic, next, this.#replicas);
      await this.#reload();
      // Another process that resized at the same time may have created it, with another count.
    } while (this.partitions !== partitions || this.epoch < atLeast);
    return this.epoch;
  }

  async close(): Promise<void> {
    await this.#queue.close();
    await Promise.all([...this.#consumers].map((consumer) => consumer.close()));
    await Promise.all([this.#appender.close(), this.#admin.disconnect()]);
  }

  async #reload(): Promise<void> {
    const open = (await findEpochs(this.#admin, this.#options.topic)).at(-1)!;
    this.epoch = open.epoch;
    this.partitions = open.partitions;
  }

  async #write(epoch: number, records: readonly LogAppend[], signal: AbortSignal): Promise<void> {
    try {
      await this.#appender.send(epoch, records, signal);
    } catch (error) {
      if (isTooLarge(error)) await this.#refuseSealed(epoch);
      if (!this.#failing) this.#options.logger.error({ err: error }, 'event log: appends fail');
      this.#failing = true;
      if (!isKafkaOutage(error)) throw error;
      throw logUnavailable('its brokers do not acknowledge');
    }
    if (this.#failing) this.#options.logger.info('event log: appends work again');
    this.#failing = false;
    this.#sealedSinceMs = null;
  }

  /**
   * Called when the brokers refuse a record as too large. Throws if the reason is a resize: the next epoch is
   * open, or soon will be. If the resize was interrupted, the next epoch gets the partition count of this one.
   */
  async #refuseSealed(epoch: number): Promise<void> {
    await this.#reload();
    if (this.epoch !== epoch) throw new EpochClosed(epoch);
    const { topic, logger, resizeMsMax = RESIZE_MS_MAX } = this.#options;
    if (!(await isSealed(this.#admin, topic, epoch))) return;
    this.#sealedSinceMs ??= performance.now();
    if (performance.now() - this.#sealedSinceMs < resizeMsMax)
      throw logUnavailable('it is being resized');
    logger.warn({ epoch }, 'event log: a resize was interrupted; the next epoch is opened');
    const next = { epoch: epoch + 1, partitions: this.partitions };
    await createEpoch(this.#admin, topic, next, this.#replicas).catch((error: unknown) => {
      logger.error({ err: error, epoch }, 'event log: the next epoch cannot be opened');
      throw logUnavailable('its next epoch cannot be opened');
    });
    this.#sealedSinceMs = null;
    await this.#reload();
    throw new EpochClosed(epoch);
  }

  async #positionsOf(group: string, epoch: number): Promise<PartitionPositions[]> {
    const topic = topicOf(this.#options.topic, epoch);
    const [offsets, committed] = await Promise.all([
      readAgain(() => this.#admin.fetchTopicOffsets(topic)),
      readAgain(() =>
        this.#admin.fetchOffsets({
          groupId: groupOf(this.#options.topic, epoch, group),
          topics: [topic],
        }),
      ),
    ]);
    const passed = new Map(
      committed[0]?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]),
    );
    return offsets
      .map(({ partition, low, high }) => {
        const offset = passed.get(partition) ?? -1n;
        return {
          epoch,
          partition,
          first: BigInt(low),
          next: BigInt(high),
          committed: offset < 0n ? null : offset,
        };
      })
      .sort((a, b) => a.partition - b.partition);
  }

  async #bounds(epoch: number, partition: number): Promise<{ first: bigint; next: bigint }> {
    const topic = topicOf(this.#options.topic, epoch);
    const offsets = await readAgain(() => this.#admin.fetchTopicOffsets(topic));
    const found = offsets.find((each) => each.partition === partition);
    if (found === undefined) throw new Error(`No partition ${partition} in epoch ${epoch}`);
    return { first: BigInt(found.low), next: BigInt(found.high) };
  }
}

/** The brokers' error for records of a sealed epoch. */
function isTooLarge(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if ((cause as { type?: unknown }).type === 'MESSAGE_TOO_LARGE') return true;
  return false;
}
