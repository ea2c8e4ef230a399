import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import { readAgain } from './kafka-client.ts';

/** The largest record batch a topic of ours takes: one event may have some 3 MiB of properties. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** The protocol's number for a topic. */
const TOPIC_RESOURCE = 2;
const LEADERS_WITHIN_MS = 120_000;

export interface Epoch {
  readonly epoch: number;
  readonly partitions: number;
}

/** One topic per epoch: `<topic>-e0`, `<topic>-e1`, … */
export const topicOf = (topic: string, epoch: number): string => `${topic}-e${epoch}`;

/**
 * The consumer group of an epoch. It carries the topic, because groups are the cluster's: readers of
 * another log under the same name would share it, and wait for each other at every rebalance.
 */
export const groupOf = (topic: string, epoch: number, group: string): string =>
  `${topicOf(topic, epoch)}-${group}`;

/** Every epoch of the log, ascending. */
export async function findEpochs(admin: Admin, topic: string): Promise<Epoch[]> {
  const prefix = `${topic}-e`;
  const epochs = (await readAgain(() => admin.listTopics()))
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => a - b);
  if (epochs.length === 0) return [];
  const names = epochs.map((epoch) => topicOf(topic, epoch));
  const { topics } = await readAgain(() => admin.fetchTopicMetadata({ topics: names }));
  return epochs.map((epoch) => ({
    epoch,
    partitions: topics.find(({ name }) => name === topicOf(topic, epoch))!.partitions.length,
  }));
}

/**
 * Creates the topic of an epoch if it is missing, with that many replicas. With three, two must have a
 * record before it is acknowledged, so that one may be lost. Kafka deletes nothing by itself: a job does,
 * when the stream has passed it.
 */
export async function createEpoch(
  admin: Admin,
  topic: string,
  { epoch, partitions }: Epoch,
  replicationFactor: number,
): Promise<void> {
  const { brokers } = await admin.describeCluster();
  if (brokers.length < replicationFactor) throw tooFewBrokers(replicationFactor, brokers.length);
  await admin.createTopics({
    // Waiting for leaders fails where metadata has not spread to all brokers yet.
    waitForLeaders: false,
    topics: [
      {
        topic: topicOf(topic, epoch),
        numPartitions: partitions,
        replicationFactor,
        configEntries: topicSettings(replicationFactor, MAX_MESSAGE_BYTES),
      },
    ],
  });
  await untilLeaders(admin, topicOf(topic, epoch), partitions);
}

/**
 * Makes the brokers refuse every further record of an epoch: no record batch is that small. An edge that has not heard of
 * the next epoch is refused instead of acknowledged into a topic that nobody reads any more.
 */
export async function sealEpoch(
  admin: Admin,
  topic: string,
  epoch: number,
  replicationFactor: number,
): Promise<void> {
  await admin.alterConfigs({
    validateOnly: false,
    resources: [
      {
        type: TOPIC_RESOURCE,
        name: topicOf(topic, epoch),
        configEntries: topicSettings(replicationFactor, 1),
      },
    ],
  });
}

/** What keeps acknowledged records: all settings at once, because Kafka replaces them together. */
function topicSettings(replicationFactor: number, maxMessageBytes: number) {
  return [
    { name: 'cleanup.policy', value: 'delete' },
    { name: 'retention.ms', value: '-1' },
    { name: 'retention.bytes', value: '-1' },
    { name: 'max.message.bytes', value: String(maxMessageBytes) },
    { name: 'min.insync.replicas', value: String(Math.max(1, replicationFactor - 1)) },
    { name: 'unclean.leader.election.enable', value: 'false' },
  ];
}

/**
 * Refuses the topic of the open epoch when its settings could lose acknowledged records, or records that
 * the stream has yet to read, and says which command mends it.
 */
export async function checkTopic(
  admin: Admin,
  topic: string,
  epoch: number,
  { brokers, replicationFactor }: { brokers: readonly string[]; replicationFactor: number },
): Promise<void> {
  const name = topicOf(topic, epoch);
  const [metadata, described] = await Promise.all([
    readAgain(() => admin.fetchTopicMetadata({ topics: [name] })),
    readAgain(() =>
      admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: TOPIC_RESOURCE, name }],
      }),
    ),
  ]);
  const replicas = Math.min(...metadata.topics[0]!.partitions.map((each) => each.replicas.length));
  const values = new Map(
    described.resources[0]!.configEntries.map(({ configName, configValue }) => [
      configName,
      configValue,
    ]),
  );
  const wrong = topicSettings(replicationFactor, MAX_MESSAGE_BYTES).filter(
    (setting) => !isGoodEnough(setting, values.get(setting.name)),
  );
  if (wrong.length === 0 && replicas >= replicationFactor) return;
  const lines = wrong.map(
    (setting) => `${setting.name} is ${values.get(setting.name)}, and must be ${setting.value}`,
  );
  if (wrong.length > 0)
    lines.push(
      'Mend it with: kafka-configs.sh' +
        ` --bootstrap-server ${brokers[0]} --alter --entity-type topics --entity-name ${name}` +
        ` --add-config ${topicSettings(replicationFactor, MAX_MESSAGE_BYTES)
          .map((each) => `${each.name}=${each.value}`)
          .join(',')}`,
    );
  if (replicas < replicationFactor)
    lines.push(
      `A partition has ${replicas} replicas, and KAFKA_REPLICATION_FACTOR is ${replicationFactor}.` +
        ` Add replicas with: kafka-reassign-partitions.sh --bootstrap-server ${brokers[0]} --reassignment-json-file FILE --execute,` +
        ` or set KAFKA_REPLICATION_FACTOR=${replicas}`,
    );
  throw new Error(`The Kafka topic ${name} could lose events.\n${lines.join('\n')}`);
}

/** Larger numbers are as good where a number is a least one. */
function isGoodEnough(
  { name, value }: { readonly name: string; readonly value: string },
  found: string | undefined,
): boolean {
  const isLeast = name === 'min.insync.replicas' || name === 'max.message.bytes';
  return isLeast ? Number(found) >= Number(value) : found === value;
}

const tooFewBrokers = (replicationFactor: number, brokers: number): Error =>
  new Error(
    `KAFKA_REPLICATION_FACTOR is ${replicationFactor}, and the cluster has ${brokers} broker${brokers === 1 ? '' : 's'}: ` +
      'wait for the others, or set it to a number that is there (1 keeps a single copy, for trials)',
  );

/** A leader that is named may not have heard of it yet: it is one when it can say where its partition stands. */
async function untilLeaders(admin: Admin, topic: string, partitions: number): Promise<void> {
  const until = performance.now() + LEADERS_WITHIN_MS;
  for (;;) {
    const metadata = await admin.fetchTopicMetadata({ topics: [topic] }).catch(() => null);
    const found = metadata?.topics[0]?.partitions ?? [];
    if (found.length >= partitions && found.every(({ leader }) => leader >= 0)) {
      const offsets = await admin.fetchTopicOffsets(topic).catch(() => []);
      if (offsets.length >= partitions) return;
    }
    if (performance.now() > until) throw new Error(`Topic ${topic} has no leaders yet.`);
    await sleep(100);
  }
}
