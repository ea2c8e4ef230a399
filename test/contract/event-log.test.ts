import { randomBytes } from 'node:crypto';
import { Kafka } from 'kafkajs';
import { pino } from 'pino';
import { openKafkaEventLog } from '../../platform/event-log/kafka.ts';
import { sealEpoch } from '../../platform/event-log/kafka-topics.ts';
import { openPostgresEventLog, type PostgresEventLog } from '../../platform/event-log/postgres.ts';
import { createTestDatabase } from '../support/database.ts';
import { startFaultProxy, type FaultProxy } from '../../bench/kill/fault-proxy.ts';
import { WAIT_MS } from '../support/patience.ts';
import { describeWith } from '../support/requires.ts';
import { eventLogContract, poll, Reading, record } from './event-log/contract.ts';

const logger = pino({ level: 'silent' });

async function postgresLog(partitions: number) {
  const database = await createTestDatabase(1);
  const common = { logger, partitions, leaseMs: 1_000, appendDeadlineMs: WAIT_MS };
  const proxies: { close(): Promise<void> }[] = [];
  return {
    address: JSON.stringify({ url: database.url }),
    open: (options = {}) => openPostgresEventLog({ ...common, ...options, url: database.url }),
    async openThroughProxy(options = {}) {
      const url = new URL(database.url);
      const proxy = await startFaultProxy({ host: url.hostname, port: Number(url.port) });
      proxies.push(proxy);
      url.port = String(proxy.port);
      const log = await openPostgresEventLog({ ...common, ...options, url: url.toString() });
      return { log, proxy };
    },
    async close() {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await database.drop();
    },
  };
}

describe('event log in Postgres', () => eventLogContract(postgresLog));

describeWith('KAFKA_BROKERS', 'event log on Kafka', (list) => {
  const brokers = list.split(',');

  async function kafkaLog(partitions: number) {
    const topic = `contract-${randomBytes(6).toString('hex')}`;
    // A paused member has not left the group; a member that leaves is another process.
    const common = {
      brokers, topic, partitions, logger, replicationFactor: brokers.length >= 3 ? 3 : 1, sessionTimeoutMs: 20_000, appendDeadlineMs: WAIT_MS,
    }; // prettier-ignore
    const proxies: FaultProxy[] = [];
    return {
      address: JSON.stringify({ brokers, topic }),
      open: (options = {}) => openKafkaEventLog({ ...common, ...options }),
      async openThroughProxy(options = {}) {
        const own = await Promise.all(
          brokers.map((broker) => {
            const [host, port] = broker.split(':') as [string, string];
            return startFaultProxy({ host, port: Number(port) });
          }),
        );
        proxies.push(...own);
        const log = await openKafkaEventLog({
          ...common,
          ...options,
          route: (host, port) => ({
            host: '127.0.0.1',
            port: own[brokers.indexOf(`${host}:${port}`)]!.port,
          }),
        });
        return { log, proxy: together(own) };
      },
      async close() {
        await Promise.all(proxies.map((proxy) => proxy.close()));
        const admin = new Kafka({ brokers, logLevel: 0 }).admin();
        await admin.connect();
        const topics = (await admin.listTopics()).filter((name) => name.startsWith(topic));
        await admin.deleteTopics({ topics });
        await admin.disconnect();
      },
    };
  }

  eventLogContract(kafkaLog);

  test('a resize: edges that still use the old epoch are refused, readers drain it first', async () => {
    const subject = await kafkaLog(2);
    const log = await subject.open();
    const edge = await subject.open();
    for (let n = 0; n < 6; n++) await edge.append([record(n % 2, `old-${n}`)]);
    expect(await log.resize(3)).toBe(1);
    await expect(edge.append([record(1, 'late')])).rejects.toThrow('Epoch 0');
    expect([edge.epoch, edge.partitions]).toEqual([1, 3]);
    for (let n = 0; n < 9; n++) await edge.append([record(n % 3, `new-${n}`)]);
    expect((await log.positions('g')).map((p) => [p.epoch, p.partition, p.next])).toEqual([
      [0, 0, 3n], [0, 1, 3n], [1, 0, 3n], [1, 1, 3n], [1, 2, 3n],
    ]); // prettier-ignore
    const reading = new Reading(log, 'g', {});
    await reading.until(() => reading.count() >= 15);
    const epochs = reading.batches.map((batch) => batch.epoch);
    expect(epochs.lastIndexOf(0)).toBeLessThan(epochs.indexOf(1));
    expect(reading.assigned()).toEqual([0, 1, 2]);
    await reading.stop();
    const later = new Reading(log, 'never-committed', {
      passed: (epoch) => (epoch === 0 ? 3n : 0n),
    });
    await later.until(() => later.count() >= 9);
    expect(later.batches.map((batch) => batch.epoch)).not.toContain(0);
    await later.stop();
    await Promise.all([log.close(), edge.close()]);
    await subject.close();
  });

  test('a topic that could lose acknowledged events is refused with the command that corrects it', async () => {
    const subject = await kafkaLog(1);
    const { topic } = JSON.parse(subject.address) as { topic: string };
    await (await subject.open()).close();
    const admin = new Kafka({ brokers, logLevel: 0 }).admin();
    await admin.connect();
    const set = (entries: Record<string, string>) =>
      admin.alterConfigs({
        validateOnly: false,
        resources: [
          {
            type: 2,
            name: `${topic}-e0`,
            configEntries: Object.entries(entries).map(([name, value]) => ({ name, value })),
          },
        ],
      });
    await set({ 'unclean.leader.election.enable': 'true', 'retention.ms': '86400000' });
    const refusal = await subject.open().then(
      () => '',
      (error: Error) => error.message,
    );
    expect(refusal).toContain('unclean.leader.election.enable is true, and must be false');
    expect(refusal).toContain('retention.ms is 86400000, and must be -1');
    const [, mend] = /--add-config (\S+)/.exec(refusal)!;
    await set(
      Object.fromEntries(mend!.split(',').map((entry) => entry.split('=') as [string, string])),
    );
    await poll(() =>
      subject.open().then(
        (log) => log.close().then(() => true),
        () => false,
      ),
    );
    await admin.disconnect();
    await subject.close();
  });

  test('a resize that was interrupted: processes start, appends wait, and one of them completes it', async () => {
    const subject = await kafkaLog(2);
    const { topic } = JSON.parse(subject.address) as { topic: string };
    await (await subject.open()).close();
    const admin = new Kafka({ brokers, logLevel: 0 }).admin();
    await admin.connect();
    await sealEpoch(admin, topic, 0, brokers.length >= 3 ? 3 : 1);
    await admin.disconnect();

    const waiting = await subject.open({ resizeMsMax: WAIT_MS });
    await poll(() =>
      waiting.append([record(0, 'refused')]).then(
        () => false,
        (error: { code?: string }) => error.code === 'event_log_unavailable',
      ),
    );
    const completing = await subject.open({ resizeMsMax: 0 });
    await expect(completing.append([record(0, 'a')])).rejects.toThrow('Epoch 0');
    expect([completing.epoch, completing.partitions]).toEqual([1, 2]);
    await completing.append([record(1, 'b')]);
    await expect(waiting.append([record(0, 'c')])).rejects.toThrow('Epoch 0');
    await waiting.append([record(1, 'd')]);

    // Two operators at once, with other counts: the later one has its count.
    const resized = await Promise.all([waiting.resize(3), completing.resize(4)]);
    expect(resized.toSorted()).toEqual([2, 3]);
    const counts = (await waiting.epochs()).map(({ partitions }) => partitions);
    expect([counts.slice(0, 2), counts.slice(2).toSorted()]).toEqual([[2, 2], [3, 4]]); // prettier-ignore
    await Promise.all([waiting.close(), completing.close()]);
    await subject.close();
  });

  test('more copies than there are brokers are refused with what to do', async () => {
    const subject = await kafkaLog(1);
    await expect(subject.open({ replicationFactor: 9 })).rejects.toThrow(
      /KAFKA_REPLICATION_FACTOR is 9.*the cluster has \d+ broker/s,
    );
    const log = await subject.open();
    if (brokers.length < 3)
      await expect(subject.open({ replicationFactor: 2 })).rejects.toThrow(
        'KAFKA_REPLICATION_FACTOR',
      );
    await log.close();
    await subject.close();
  });

  /** Several brokers' networks as one. */
  function together(all: readonly FaultProxy[]): FaultProxy {
    return {
      port: all[0]!.port,
      pass: () => all.forEach((proxy) => proxy.pass()),
      refuse: () => all.forEach((proxy) => proxy.refuse()),
      hang: () => all.forEach((proxy) => proxy.hang()),
      cutAnswers: () => all.forEach((proxy) => proxy.cutAnswers()),
      close: () => Promise.all(all.map((proxy) => proxy.close())).then(() => {}),
    };
  }
});

describe('resizing the log in Postgres', () => {
  let subject: Awaited<ReturnType<typeof postgresLog>>;
  let log: PostgresEventLog;
  let other: PostgresEventLog;
  beforeEach(async () => {
    subject = await postgresLog(2);
    log = await subject.open();
    other = await subject.open();
  });
  afterEach(async () => {
    await Promise.all([log.close(), other.close()]);
    await subject.close();
  });

  test('opens the next epoch; a process that still appends to the old one gets an error', async () => {
    await other.append([record(1, 'old')]);
    expect(await log.resize(5)).toBe(1);
    expect([log.epoch, log.partitions]).toEqual([1, 5]);
    // The other process has not heard of it: its append is refused, and then it knows.
    await expect(other.append([record(1, 'lost')])).rejects.toThrow('Epoch 0');
    expect([other.epoch, other.partitions]).toEqual([1, 5]);
    await other.append([{ ...record(4, 'new'), epoch: 1 }]);
    await expect(other.append([{ ...record(0, 'late'), epoch: 0 }])).rejects.toThrow('Epoch 0');
  });

  test('the new epoch is read when the group has drained the old one, never before', async () => {
    for (let n = 0; n < 6; n++) await log.append([record(n % 2, `old-${n}`)]);
    await log.resize(3);
    for (let n = 0; n < 9; n++) await log.append([record(n % 3, `new-${n}`)]);
    expect((await log.positions('g')).map((p) => [p.epoch, p.partition, p.next])).toEqual([
      [0, 0, 3n], [0, 1, 3n], [1, 0, 3n], [1, 1, 3n], [1, 2, 3n],
    ]); // prettier-ignore

    let open = false;
    const starts: string[] = [];
    const reading = new Reading(log, 'g', {
      options: { maxBatchWaitMs: 5, maxBatchEvents: 1 },
      start: (partition, epoch) => {
        starts.push(`${epoch}:${partition}`);
        return 0n;
      },
      handle: (batch) => {
        if (batch.epoch === 0 && batch.partition === 1 && !open) throw new Error('not yet');
      },
    });
    await reading.until(() => reading.values(0).length === 3);
    await reading.until(() => reading.starts(1) >= 3);
    expect(reading.batches.every((batch) => batch.epoch === 0)).toBe(true);
    open = true;
    await reading.until(() => reading.count() >= 15);
    expect(reading.assigned()).toEqual([0, 1, 2]);
    const epochs = reading.batches.map((batch) => batch.epoch);
    expect(epochs.lastIndexOf(0)).toBeLessThan(epochs.indexOf(1));
    expect(starts.slice(-3).sort()).toEqual(['1:0', '1:1', '1:2']);
    await poll(async () => (await log.positions('g')).every((p) => p.committed === p.next));
    expect((await log.positions('g')).map((p) => p.epoch)).toEqual([0, 0, 1, 1, 1]);
    await reading.stop();
  });

  test('an epoch is drained when the reader has processed it, also without commits in the log', async () => {
    for (let n = 0; n < 6; n++) await log.append([record(n % 2, `old-${n}`)]);
    await log.resize(3);
    await log.append([record(2, 'new')]);
    expect(await other.epochs()).toEqual([
      { epoch: 0, partitions: 2, ends: [3n, 3n] },
      { epoch: 1, partitions: 3, ends: null },
    ]);
    const reading = new Reading(other, 'never-committed', { passed: () => 3n });
    await reading.until(() => reading.count() === 1);
    expect(reading.all()).toEqual(['new']);
    await reading.stop();
  });

  test('records of a closed epoch are deleted once they are truncated, and its end stays known', async () => {
    for (let n = 0; n < 6; n++) await log.append([record(n % 2, `old-${n}`)]);
    await log.resize(3);
    await log.append([record(2, 'new')]);
    await log.truncate(0, 3n, 0);
    await log.truncate(1, 2n, 0);
    const kept = async (epoch: number, partition: number) => {
      const found: string[] = [];
      for await (const records of other.read(epoch, partition))
        found.push(...records.map(({ value }) => value.toString()));
      return found;
    };
    expect([await kept(0, 0), await kept(0, 1), await kept(1, 2)]).toEqual([
      [],
      ['old-5'],
      ['new'],
    ]);
    expect((await other.epochs())[0]).toEqual({ epoch: 0, partitions: 2, ends: [3n, 3n] });
    const reading = new Reading(other, 'g', { passed: () => 3n });
    await reading.until(() => reading.count() === 1);
    expect(reading.all()).toEqual(['new']);
    await reading.stop();
  });

  test('two processes that resize at once open one epoch each, one after the other', async () => {
    await Promise.all([log.resize(3), other.resize(4)]);
    const last = await subject.open();
    expect(last.epoch).toBe(2);
    await last.close();
  });
});
