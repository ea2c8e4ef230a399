import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka } from 'kafkajs';
import { publishNotifications } from '../../jobs/publish-notifications.ts';
import { runJob } from '../../jobs/run-job.ts';
import { openKafkaNotificationLog } from '../../platform/event-log/kafka-notifications.ts';
import type { NotificationLog } from '../../platform/event-log/notification-log.ts';
import { createLogger } from '../../platform/log.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { WAIT_MS } from '../support/patience.ts';
import { describeWith } from '../support/requires.ts';

/** Notifications as records of a Kafka topic (docs/webhooks.md). */
describeWith('KAFKA_BROKERS', 'notifications on Kafka', (list) => {
  const brokers = list.split(',');
  const topic = `notifications-${randomBytes(6).toString('hex')}`;
  const logger = createLogger('silent', 'test');
  const client = new Kafka({ brokers, logLevel: 0 });
  let api: TestApi;
  let log: NotificationLog;
  let ticks = 0;
  beforeAll(async () => {
    api = await startTestApi();
    const replicationFactor = brokers.length >= 3 ? 3 : 1;
    log = openKafkaNotificationLog({ brokers, topic, replicationFactor, logger });
  });
  afterAll(async () => {
    await log.close();
    await api.close();
    const admin = client.admin();
    await admin.connect();
    await admin.deleteTopics({ topics: [topic] });
    await admin.disconnect();
  });

  async function publish(notificationLog: NotificationLog = log) {
    ticks += 1;
    const now = async () => new Date(api.clock.now()).toISOString();
    const runner = { pool: api.pool, log: logger, holder: 'test', now };
    const at = new Date(Date.UTC(2026, 0, 1) + ticks * 1000).toISOString();
    return await runJob(runner, publishNotifications, { ...api.deps, notificationLog }, at);
  }

  /** Reads the topic until it has given that many records. */
  async function readTopic(count: number) {
    const consumer = client.consumer({ groupId: randomBytes(6).toString('hex') });
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    const records: { key: string; partition: number; body: any; headers: any }[] = [];
    await consumer.run({
      eachMessage: async ({ partition, message: { key, value, headers } }) => {
        const texts = Object.entries(headers ?? {}).map(([name, text]) => [name, String(text)]);
        const body = JSON.parse(String(value));
        records.push({ key: String(key), partition, body, headers: Object.fromEntries(texts) });
      },
    });
    const until = performance.now() + WAIT_MS;
    while (records.length < count && performance.now() < until) await sleep(50);
    await consumer.disconnect();
    return records;
  }

  test('each once in the order of its entity; after a lost answer again with the same key', async () => {
    const customers = ['A', 'B', 'C'].map((name) => ({ name, external_id: `on_log_${name}` }));
    const ids: string[] = [];
    for (const body of customers) ids.push((await api.post('/v1/customers', body)).body.id);
    expect(await publish()).toEqual({ published: 3 });
    expect(await publish()).toEqual({ published: 0 });

    const forgetful: NotificationLog = {
      ...log,
      async append(records) {
        await log.append(records);
        throw new Error('the answer was lost');
      },
    };
    for (const name of ['first', 'second'])
      for (const id of ids) await api.put(`/v1/customers/${id}`, { name });
    expect(await publish(forgetful)).toBeNull();
    expect(await publish()).toEqual({ published: 6 });

    const stored = await api.pool<{ id: string; sequence: string }[]>`
      select id, sequence::text from outbox where entity_id = any(${ids}) order by sequence`;
    const records = await readTopic(stored.length + 6);
    expect(records).toHaveLength(15);
    expect(new Set(records.map(({ key }) => key))).toEqual(new Set(stored.map(({ id }) => id)));
    for (const id of ids) {
      const own = records.filter(({ body }) => body.customer.id === id);
      expect(new Set(own.map(({ partition }) => partition)).size).toBe(1);
      expect(own.map(({ body }) => body.customer.name)).toEqual([
        expect.stringMatching(/^[ABC]$/), 'first', 'second', 'first', 'second',
      ]); // prettier-ignore
      for (const { key, body, headers } of own) {
        expect(body).toMatchObject({ id: key, environment_id: api.scope.environment_id });
        expect(String(body.sequence)).toBe(stored.find((row) => row.id === key)!.sequence);
        expect(headers).toEqual({ event_type: body.event_type, ...api.scope });
      }
    }
  });
});
