import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import { readAgain } from './kafka-client.ts';

/** Largest record batch of our topics: one event may have some 3 MiB of properties. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Smaller than any record batch: the setting of a sealed epoch. */
const SEALED_MESSAGE_BYTES = 1;
/** The protocol's number for the resource type topic. */
const TOPIC_RESOURCE = 2;
const LEADERS_WITHIN_MS = 120_000;

export interface Epoch {
  readonly epoch: number;
  readonly partitions: number;
}

/** One topic per epoch: `<topic>-e0`, `<topic>-e1`, … */
export const topicOf = (topic: string, epoch: number): string => `${topic}-e${epoch}`;

/**
 * The consumer group of an epoch. Its name includes the topic, because groups are cluster-wide: readers of
 * another log with the same group name would share it and wait for each other at every rebalance.
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
 * Creates the topic of an epoch if it is missing, with that many replicas. With three replicas, two must have
 * a record before it is acknowledged, so one may be lost. Kafka's retention deletes nothing; a job deletes
 * what the stream has passed. A topic that another process has created keeps its partitions.
 */
export async function createEpoch(
  admin: Admin,
  topic: string,
  { epoch, partitions }: Epoch,
  replicationFactor: number,
): Promise<void> {
  await checkBrokers(admin, replicationFactor);
  const isCreated = await admin.createTopics({
    // Waiting for leaders fails while metadata has not reached all brokers.
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
  await untilLeaders(admin, topicOf(topic, epoch), isCreated ? partitions : 1);
}

/** Refuses to go on with fewer brokers than a new topic has replicas. Call it before an epoch is sealed. */
export async function checkBrokers(admin: Admin, replicationFactor: number): Promise<void> {
  const { brokers } = await admin.describeCluster();
  if (brokers.length < replicationFactor) throw tooFewBrokers(replicationFactor, brokers.length);
}

/**
 * Makes the brokers refuse every further record of an epoch: no record batch is that small. An edge that does
 * not know the next epoch yet is refused, instead of being acknowledged into a topic that is no longer read.
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
        configEntries: topicSettings(replicationFactor, SEALED_MESSAGE_BYTES),
      },
    ],
  });
}

/** Whether an epoch is sealed. The open epoch is sealed while a resize creates the next one. */
export async function isSealed(admin: Admin, topic: string, epoch: number): Promise<boolean> {
  return isSeal((await readSettings(admin, topicOf(topic, epoch))).get(MESSAGE_BYTES));
}

const MESSAGE_BYTES = 'max.message.bytes';
const isSeal = (value: string | undefined): boolean => Number(value) === SEALED_MESSAGE_BYTES;

async function readSettings(admin: Admin, name: string): Promise<Map<string, string>> {
  const resource = { type: TOPIC_RESOURCE, name };
  const described = await readAgain(() =>
    admin.describeConfigs({ includeSynonyms: false, resources: [resource] }),
  );
  return new Map(
    described.resources[0]!.configEntries.map(({ configName, configValue }) => [
      configName,
      configValue,
    ]),
  );
}

/** Notifications are kept for a week; an operator can change the topic to keep them longer. */
const NOTIFICATION_RETENTION_MS = 7 * 24 * 3_600_000;
const NOTIFICATION_PARTITIONS = 12;

/** Creates the topic of notifications if it is missing. An existing topic keeps its partitions and settings. */
export async function createNotificationTopic(
  admin: Admin,
  topic: string,
  replicationFactor: number,
): Promise<void> {
  if ((await readAgain(() => admin.listTopics())).includes(topic)) return;
  await checkBrokers(admin, replicationFactor);
  const settings = topicSettings(replicationFactor, MAX_MESSAGE_BYTES);
  await admin.createTopics({
    waitForLeaders: false,
    topics: [
      {
        topic,
        numPartitions: NOTIFICATION_PARTITIONS,
        replicationFactor,
        configEntries: settings.map((each) =>
          each.name === 'retention.ms'
            ? { ...each, value: String(NOTIFICATION_RETENTION_MS) }
            : each,
        ),
      },
    ],
  });
  await untilLeaders(admin, topic, NOTIFICATION_PARTITIONS);
}

/** Settings that protect acknowledged records. All are set at once, because Kafka replaces them together. */
function topicSettings(replicationFactor: number, maxMessageBytes: number) {
  return [
    { name: 'cleanup.policy', value: 'delete' },
    { name: 'retention.ms', value: '-1' },
    { name: 'retention.bytes', value: '-1' },
    { name: MESSAGE_BYTES, value: String(maxMessageBytes) },
    { name: 'min.insync.replicas', value: String(Math.max(1, replicationFactor - 1)) },
    { name: 'unclean.leader.election.enable', value: 'false' },
  ];
}

/**
 * Refuses the topic of the open epoch when its settings could lose acknowledged records, or records that the
 * stream has not read yet. The error names the command that repairs it. A sealed topic is accepted: it loses
 * nothing, and a process that starts during a resize must not fail.
 */
export async function checkTopic(
  admin: Admin,
  topic: string,
  epoch: number,
  { brokers, replicationFactor }: { brokers: readonly string[]; replicationFactor: number },
): Promise<void> {
  const name = topicOf(topic, epoch);
  const [metadata, values] = await Promise.all([
    readAgain(() => admin.fetchTopicMetadata({ topics: [name] })),
    readSettings(admin, name),
  ]);
  const replicas = Math.min(...metadata.topics[0]!.partitions.map((each) => each.replicas.length));
  const wrong = topicSettings(replicationFactor, MAX_MESSAGE_BYTES).filter(
    (setting) => !isGoodEnough(setting, values.get(setting.name)),
  );
  if (wrong.length === 0 && replicas >= replicationFactor) return;
  const lines = wrong.map(
    (setting) => `${setting.name} is ${values.get(setting.name)}, and must be ${setting.value}`,
  );
  if (wrong.length > 0)
    lines.push(
      'Repair it with: kafka-configs.sh' +
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

/** For settings that are a minimum, larger numbers are accepted. A sealed topic is being resized. */
function isGoodEnough(
  { name, value }: { readonly name: string; readonly value: string },
  found: string | undefined,
): boolean {
  if (name === MESSAGE_BYTES && isSeal(found)) return true;
  const isLeast = name === 'min.insync.replicas' || name === MESSAGE_BYTES;
  return isLeast ? Number(found) >= Number(value) : found === value;
}

const tooFewBrokers = (replicationFactor: number, brokers: number): Error =>
  new Error(
    `KAFKA_REPLICATION_FACTOR is ${replicationFactor}, and the cluster has ${brokers} broker${brokers === 1 ? '' : 's'}: ` +
      'wait for the others, or set it to their number (1 keeps a single copy, for trials)',
  );

/** A named leader may not know its role yet: it is ready when it can report the offsets of its partition. */
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
