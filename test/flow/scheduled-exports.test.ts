import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { startPipeline, type PipelineWorld } from '../support/pipeline-world.ts';
import { startStorage, STORAGE_KEYS, type TestStorage } from '../support/s3-server.ts';

/** Money 19.4: what an export of events or usage writes to storage is what the API reads from the event store. */
let world: PipelineWorld;
let storage: TestStorage;
let connection: string;
const HOUR = { start_time: '2026-11-21T11:00:00.000Z', end_time: '2026-11-21T12:00:00.000Z' };
const EVENTS = 40;
const COPIES = 10;
const CUSTOMERS = ['=c0', 'c1', 'c,"2"'];

beforeAll(async () => {
  storage = await startStorage();
  world = await startPipeline();
  const { api, catalog } = world;
  const events = Array.from({ length: EVENTS }, (_, n) => ({
    event_id: `e-${n}`,
    event_name: 'call',
    external_customer_id: CUSTOMERS[n % CUSTOMERS.length]!,
    // The first and the last are outside of the hour.
    timestamp: new Date(Date.parse(HOUR.start_time) + (n - 1) * 95_000).toISOString(),
    properties: { n: String(n), text: 'a,"b"\nc' },
  }));
  await catalog.customer({ external_id: 'c1' });
  await world.send(events);
  // Copies count once.
  await world.send(events.slice(0, COPIES));
  const made = await api.post('/v1/connections', {
    name: 'Bucket',
    provider_type: 's3',
    encrypted_secret_data: STORAGE_KEYS,
    sync_config: { s3: { bucket: 'b', region: 'eu-west-1' } },
  });
  connection = made.body.id;
});
afterAll(async () => {
  await world.close();
  await storage.close();
});

/** Carries out one run of the hour by hand; its files in the order of their names. */
async function exported(entity_type: string, config: object = {}): Promise<string[]> {
  const { api } = world;
  storage.objects.clear();
  const task = await api.post('/v1/tasks/scheduled', {
    connection_id: connection, entity_type, interval: 'daily', enabled: false,
    job_config: { endpoint_url: storage.url, use_path_style: true, ...config },
  }); // prettier-ignore
  expect(task).toMatchObject({ status: 201 });
  const run = await api.post(`/v1/tasks/scheduled/${task.body.id}/run`, HOUR);
  expect(run.status).toBe(200);
  expect(await world.job('run-scheduled-exports')).toMatchObject({ exported: 1, failed: 0 });
  return [...storage.objects]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, { body }]) => (key.endsWith('.gz') ? gunzipSync(body) : body).toString());
}
const range = `start_time=${HOUR.start_time}&end_time=${HOUR.end_time}`;

test('usage of an environment without meters: a file without rows', async () => {
  const [file, ...others] = await exported('usage_analytics');
  expect(others).toEqual([]);
  expect(parse(file!)).toEqual([expect.arrayContaining(['meter_id', 'quantity'])]);
});

test('events: every copy of the window, as the API exports and lists them', async () => {
  await world.settled();
  const [file, ...others] = await exported('events', { compression: 'gzip' });
  expect(others).toEqual([]);
  expect(file).toBe((await world.api.get(`/v1/events/export?${range}`)).body);
  const rows: any[] = parse(file!, { columns: true });
  const listed = await world.api.post('/v1/events/query', { ...HOUR, page_size: 50 });
  expect(listed.status).toBe(200);
  expect(rows.map(({ event_id }) => event_id).sort()).toEqual(
    listed.body.events.map(({ id }: any) => id).sort(),
  );
  const canonical = rows.filter(({ is_canonical }) => is_canonical === 'true');
  expect(canonical).toHaveLength(EVENTS - 2);
  expect(rows).toHaveLength(EVENTS - 2 + COPIES - 1);
});

test('usage: meter by meter, the quantities that the API answers', async () => {
  const { api, catalog } = world;
  const count = await catalog.meter({ type: 'COUNT' }, { event_name: 'call' });
  const sum = await catalog.meter({ type: 'SUM', field: 'n' }, { event_name: 'call' });
  await world.settled();
  const files = await exported('usage_analytics');
  const meters = [count, sum].sort((left, right) => (left.id < right.id ? -1 : 1));
  expect(files).toHaveLength(meters.length);
  for (const [index, meter] of meters.entries()) {
    const { body } = await api.get(`/v1/usage/export?${range}&meter_id=${meter.id}`);
    expect(files[index]).toBe(body);
    const rows: any[] = parse(files[index]!, { columns: true });
    expect(rows).toHaveLength(CUSTOMERS.length);
    for (const external_customer_id of CUSTOMERS) {
      const usage = await api.post('/v1/events/usage/meter', {
        ...HOUR, meter_id: meter.id, external_customer_id,
      }); // prettier-ignore
      const cell = external_customer_id.replace(/^=/, "'=");
      const row = rows.find((each) => each.external_customer_id === cell);
      expect(Number(row.quantity)).toBe(usage.body.value);
    }
  }
});
