import { createHash } from 'node:crypto';
import type { Producer } from 'kafkajs';
import type { Logger } from '../log.ts';
import { kafkaClient, readAgain, type KafkaAddress } from './kafka-client.ts';
import { createNotificationTopic } from './kafka-topics.ts';
import type { NotificationLog } from './notification-log.ts';

export interface KafkaNotificationOptions extends KafkaAddress {
  readonly topic: string;
  readonly replicationFactor: number;
  readonly logger: Logger;
}

const TIMEOUT_MS = 15_000;
const READ_RETRIES = 5;

/** The topic of notifications. */
export const notificationTopicOf = (topic: string): string => `${topic}-notifications`;

/**
 * Notifications as records of a Kafka topic: the key is the id of the notification, and the partition follows
 * from its entity, so that the notifications of one entity keep their order. Connects with the first append,
 * and creates the topic if it is missing. A failed request is not retried here (see `kafka-producer.ts`): the
 * caller appends again, through a new connection.
 */
export function openKafkaNotificationLog(options: KafkaNotificationOptions): NotificationLog {
  const { topic, replicationFactor, logger } = options;
  const kafka = kafkaClient(options, logger, TIMEOUT_MS, READ_RETRIES);
  let current: Promise<Sender> | null = null;

  async function connect(): Promise<Sender> {
    const admin = kafka.admin();
    await admin.connect();
    try {
      await createNotificationTopic(admin, topic, replicationFactor);
      const metadata = await readAgain(() => admin.fetchTopicMetadata({ topics: [topic] }));
      const producer = kafka.producer({
        allowAutoTopicCreation: false,
        retry: { retries: 0 },
        createPartitioner:
          () =>
          ({ message }) =>
            message.partition!,
      });
      await producer.connect();
      return { producer, partitions: metadata.topics[0]!.partitions.length };
    } finally {
      await admin.disconnect();
    }
  }

  return {
    async append(records) {
      const connecting = (current ??= connect());
      try {
        const { producer, partitions } = await connecting;
        const messages = records.map(({ id, entity, value, headers }) => ({
          key: id,
          value,
          headers: { ...headers },
          partition: partitionOf(entity, partitions),
        }));
        const answers = await producer.send({ topic, acks: -1, timeout: TIMEOUT_MS, messages });
        const acknowledged = new Set(answers.map(({ partition }) => partition));
        const forgotten = messages.find(({ partition }) => !acknowledged.has(partition));
        if (forgotten !== undefined)
          throw new Error(`Partition ${forgotten.partition} of ${topic} was not acknowledged.`);
      } catch (error) {
        if (current === connecting) current = null;
        connecting.then(({ producer }) => producer.disconnect()).catch(() => {});
        throw error;
      }
    },
    async close() {
      await current?.then(({ producer }) => producer.disconnect()).catch(() => {});
    },
  };
}

interface Sender {
  readonly producer: Producer;
  readonly partitions: number;
}

const partitionOf = (entity: string, partitions: number): number =>
  createHash('sha256').update(entity).digest().readUInt32BE(0) % partitions;
