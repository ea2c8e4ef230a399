import { startIngest, type TestIngest } from './start-ingest.ts';

let ingest: TestIngest;
beforeAll(async () => {
  ingest = await startIngest();
});
afterAll(() => ingest.close());

const event = (external_customer_id: string, event_id: string) => ({
  event_name: 'call',
  external_customer_id,
  event_id,
});
const send = async (...customers: string[]) => {
  const events = customers.map((customer, index) => event(customer, `${customer}-${index}`));
  const { status, headers } = await ingest.post('/v1/events/bulk', { events });
  return [status, headers['x-filtered-events'] ?? null];
};
const customers = async () =>
  (await ingest.stored()).map(({ external_customer_id }) => external_customer_id).sort();

test('event_ingestion_filter leaves out events of other customers, and says how many', async () => {
  const { pool } = ingest;
  expect(await send('acme', 'rival')).toEqual([202, null]);
  const [key] = await pool<{ tenant_id: string; environment_id: string }[]>`
    select tenant_id, environment_id from api_keys limit 1`;
  const set = (value: object) => pool`
    insert into settings ${pool({ id: 'setting_1', ...key!, key: 'event_ingestion_filter', value: pool.json(value as never) })}
    on conflict on constraint settings_key_key do update set value = excluded.value`;
  const filter = { enabled: true, allowed_external_customer_ids: ['acme', 'other'] };
  await set(filter);
  // The setting is read again after five seconds.
  ingest.clock.advance(5_001);
  expect(await send('acme', 'rival', 'rival', 'other')).toEqual([202, '2']);
  expect(await customers()).toEqual(['acme', 'acme', 'other', 'rival']);

  const single = await ingest.post('/v1/events', event('rival', 'one'));
  expect([single.status, single.body.event_id]).toEqual([202, 'one']);
  expect(single.headers['x-filtered-events']).toBe('1');
  expect(await customers()).toHaveLength(4);

  await set({ ...filter, enabled: false });
  ingest.clock.advance(5_001);
  expect(await send('rival')).toEqual([202, null]);
  expect(await customers()).toHaveLength(5);
});
