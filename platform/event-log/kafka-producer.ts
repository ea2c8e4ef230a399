import type { Kafka, Producer } from 'kafkajs';
import { logUnavailable, type LogAppend } from './event-log.ts';
import { topicOf } from './kafka-topics.ts';

/** Carries the event count of a record, so that readers can bound a batch without decoding it. */
export const EVENT_COUNT_HEADER = 'n';

/**
 * Sends records with acks from all in-sync replicas, each call once. Two habits of the client would
 * lose acknowledged records, so neither is used:
 *
 * - Its retry sends again to those brokers that have not answered. A partition whose leader has moved
 *   to one that has is then left out, and the call resolves. So it retries nothing, and an answer
 *   counts only when it names every partition that was sent.
 * - Its idempotent mode takes sequence numbers back after a failure. When the broker had stored the
 *   records all the same, the next ones get the same numbers, and the broker acknowledges them as a
 *   repetition without storing them. So it is off; a repeated record is a copy like any other, and
 *   counting once is decided by the event's id.
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

  /** Sends in flight end by themselves, in time; the next ones use another producer. */
  #replace(connecting: Promise<Producer>): void {
    if (this.#current !== connecting) return;
    this.#current = null;
    connecting.then((producer) => producer.disconnect()).catch(() => {});
  }
}
