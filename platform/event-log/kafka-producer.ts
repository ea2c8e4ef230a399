import type { Kafka, Producer } from 'kafkajs';
import { logUnavailable, type LogAppend } from './event-log.ts';
import { topicOf } from './kafka-topics.ts';

/** Header with the event count of a record. Readers bound a batch with it, without decoding. */
export const EVENT_COUNT_HEADER = 'n';

/**
 * Sends records with acks from all in-sync replicas, each call once. Two features of the client would lose
 * acknowledged records, so neither is used:
 *
 * - Its retry sends again only to the brokers that have not answered. If the leader of a partition has moved
 *   to a broker that has answered, the partition is left out, and the call resolves. So retries are off, and
 *   an answer counts only when it names every partition that was sent.
 * - Its idempotent mode resets sequence numbers after a failure. If the broker had stored the records anyway,
 *   the next records get the same numbers, and the broker acknowledges them as a repetition without storing
 *   them. So it is off; a repeated record is a copy like any other, and the event's id ensures that it is
 *   counted once.
 *
 * After a failure the producer is replaced: its connections may be half open and its metadata old.
 */
export class KafkaAppender {
  readonly #kafka: Kafka;
  readonly #topic: string;
  readonly #timeoutMs: number;
  #current: Promise<Producer> | null = null;

  constructor(kafka: Kafka, topic: string, timeoutMs: number) {
    this.#kafka = kafka;
    this.#topic = topic;
    this.#timeoutMs = timeoutMs;
  }

  async send(epoch: number, records: readonly LogAppend[], signal: AbortSignal): Promise<void> {
    const connecting = (this.#current ??= this.#connect());
    const replace = () => this.#replace(connecting);
    signal.addEventListener('abort', replace, { once: true });
    try {
      const producer = await connecting;
      const answers = await producer.send({
        topic: topicOf(this.#topic, epoch),
        acks: -1,
        timeout: this.#timeoutMs,
        messages: records.map((record) => ({
          partition: record.partition,
          key: null,
          value: record.value,
          headers: { [EVENT_COUNT_HEADER]: String(record.eventCount) },
        })),
      });
      const acknowledged = new Set(answers.map((answer) => answer.partition));
      const forgotten = records.find((record) => !acknowledged.has(record.partition));
      if (forgotten !== undefined)
        throw logUnavailable(`partition ${forgotten.partition} was not acknowledged`);
    } catch (error) {
      replace();
      throw error;
    } finally {
      signal.removeEventListener('abort', replace);
    }
  }

  async close(): Promise<void> {
    await this.#current?.then((producer) => producer.disconnect()).catch(() => {});
  }

  async #connect(): Promise<Producer> {
    const producer = this.#kafka.producer({
      allowAutoTopicCreation: false,
      retry: { retries: 0 },
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition!,
    });
    await producer.connect();
    return producer;
  }

  /** Sends in flight end within their own time limit; the next ones use another producer. */
  #replace(connecting: Promise<Producer>): void {
    if (this.#current !== connecting) return;
    this.#current = null;
    connecting.then((producer) => producer.disconnect()).catch(() => {});
  }
}
