import { startPipeline, type PipelineWorld } from '../support/pipeline-world.ts';
import { eventually } from '../support/metering-world.ts';

/** Reliability S31: the identity of a customer and the properties of its events are deleted; invoices stay. */
describe('erasure of a customer', () => {
  let world: PipelineWorld;
  beforeAll(async () => {
    world = await startPipeline();
    world.api.clock.set('2026-06-20T00:00:00.000Z');
  });
  afterAll(() => world.close());

  const PERSON = {
    name: 'Ada Lovelace',
    email: 'ada@example.test',
    contact: '+44 1',
    contact_persons: [{ first_name: 'Ada', email: 'ada@example.test' }],
    address_line1: 'St James’s Square',
    metadata: { nickname: 'countess' },
  };
  const event = (name: string, id: string, customer: string, properties?: object) => ({
    event_name: name,
    event_id: id,
    external_customer_id: customer,
    timestamp: '2026-06-15T10:00:00.000Z',
    ...(properties === undefined ? {} : { properties }),
  });
  const usage = async (meter: { id: string }, customer: string) =>
    (
      await world.api.post('/v1/events/usage/meter', {
        meter_id: meter.id,
        external_customer_id: customer,
        start_time: '2026-06-01T00:00:00Z',
        end_time: '2026-07-01T00:00:00Z',
      })
    ).body.value;
  const everywhere = async (text: string): Promise<string[]> => {
    const { pool } = world.api;
    const tables = await pool<{ name: string }[]>`
      select table_name as name from information_schema.tables
       where table_schema = 'public' and table_type = 'BASE TABLE'
         and table_name not in ('log_records', 'idempotency_keys')`;
    const found: string[] = [];
    for (const { name } of tables) {
      const [row] = await pool`
        select 1 from ${pool(name)} t where to_jsonb(t)::text like ${`%${text}%`} limit 1`;
      if (row !== undefined) found.push(name);
    }
    return found;
  };

  test('202: the record, the snapshots and the properties are deleted; usage, invoices and ids stay', async () => {
    const { api, catalog } = world;
    const event_name = 'erased_usage';
    const sum = await catalog.meter({ type: 'SUM', field: 'v' }, { event_name });
    const customer = await catalog.customer({ external_id: 'c-ada', ...PERSON });
    await world.send([
      event(event_name, 'a1', 'c-ada', { v: 3, note: 'secret' }),
      event(event_name, 'a2', 'c-ada', { v: 'many', note: 'secret' }),
      event(event_name, 'a3', 'c-ada'),
      event(event_name, 'b1', 'c-other', { v: 4, note: 'kept' }),
    ]);
    await world.settled();
    expect(await usage(sum, 'c-ada')).toBe(3);
    // The events without a usable value were announced, with their content.
    const noticed = async () => {
      const rows = await api.pool`
        select payload #>> '{event,id}' as id, payload #>> '{event,customer_id}' as customer_id,
               payload #> '{event,properties}' as properties
          from outbox where event_type = 'event.rejected' order by 1`;
      return rows.map((row) => [row['id'], row['customer_id'], row['properties']]);
    };
    await eventually(async () =>
      expect(await noticed()).toEqual([
        ['a2', customer.id, { v: 'many', note: 'secret' }],
        ['a3', customer.id, {}],
      ]),
    );

    api.clock.advance(1_000);
    const erase = () =>
      api.post(`/v1/customers/${customer.id}/erase`, { reason: 'asked for by the person' });
    const { status, body } = await erase();
    expect(status).toBe(202);
    expect(body).toMatchObject({
      customer_id: customer.id,
      external_customer_id: 'c-ada',
      state: 'requested',
      created_by: api.user_id,
      reason: 'asked for by the person',
    });
    expect((await erase()).body.id).toBe(body.id);
    const { body: after } = await api.get(`/v1/customers/${customer.id}`);
    expect(after).toMatchObject({
      external_id: 'c-ada',
      name: 'Erased customer',
      email: '',
      contact: null,
      contact_persons: [],
      address_line1: '',
      metadata: {},
    });
    for (const text of ['Lovelace', 'ada@example.test', 'countess', 'James'])
      expect([text, await everywhere(text)]).toEqual([text, []]);
    expect(await noticed()).toEqual([
      ['a2', customer.id, null],
      ['a3', customer.id, null],
    ]);

    expect(await world.job('erase-events')).toEqual({ erased: 1 });
    expect(await world.job('erase-events')).toEqual({ erased: 0 });
    const erasures = async () =>
      (await api.get(`/v1/customers/${customer.id}/erasures`)).body.items;
    expect(await erasures()).toMatchObject([{ id: body.id, state: 'erased', erased_events: 2 }]);

    const copy = async (id: string) => (await api.get(`/v1/events/${id}`)).body.events[0];
    expect(await copy('a1')).toMatchObject({
      external_customer_id: 'c-ada',
      properties: null,
      is_erased: true,
      verdict: 'counted',
    });
    expect(await copy('b1')).toMatchObject({
      properties: { v: 4, note: 'kept' },
      is_erased: false,
    });
    expect(await usage(sum, 'c-ada')).toBe(3);

    // A second check, after their records have left the log.
    api.clock.advance(49 * 3_600_000);
    expect(await world.job('erase-events')).toEqual({ erased: 1 });
    expect(await erasures()).toMatchObject([{ state: 'complete', erased_events: 2 }]);
    expect((await erase()).body.id).not.toBe(body.id);
  });

  test('a later meter counts the readable events, and reports the number of unreadable ones', async () => {
    const { api, catalog } = world;
    const event_name = 'erased_before';
    const first = await catalog.meter({ type: 'SUM', field: 'v' }, { event_name });
    const customer = await catalog.customer({ external_id: 'c-late' });
    await world.send([
      ...Array.from({ length: 7 }, (_, n) => event(event_name, `l${n}`, 'c-late', { v: 2 })),
      event(event_name, 'kept', 'c-kept', { v: 5 }),
    ]);
    await world.settled();
    api.clock.advance(1_000);
    await api.post(`/v1/customers/${customer.id}/erase`, { reason: 'asked for' });
    await world.job('erase-events');

    const later = await catalog.meter({ type: 'SUM', field: 'v' }, { event_name });
    const count = await catalog.meter({ type: 'COUNT' }, { event_name });
    await world.settled();
    const [version] = (await api.get(`/v1/meters/${later.id}/versions`)).body.items;
    expect(version).toMatchObject({
      backfill: {
        state: 'complete',
        events_total: 8,
        events_done: 8,
        events_unmetered: 7,
        events_erased: 7,
      },
      verification: { is_equal: true, customers_left_out: 1 },
    });
    expect(await usage(later, 'c-late')).toBe(0);
    expect(await usage(later, 'c-kept')).toBe(5);
    expect(await usage(first, 'c-late')).toBe(14);
    expect(await usage(count, 'c-late')).toBe(7);
    const { body } = await api.get('/v1/events/l0');
    expect(body.metering.find(({ meter_id }: any) => meter_id === later.id)).toMatchObject({
      quantity: null,
      reason: 'properties_erased',
    });
  });

  test('an erasure that a crash interrupted is finished by the next run', async () => {
    const { api, catalog } = world;
    const customer = await catalog.customer({ external_id: 'c-crash' });
    await world.send([event('crash', 'x1', 'c-crash', { v: 1 })]);
    await world.settled();
    api.clock.advance(1_000);
    const { body } = await api.post(`/v1/customers/${customer.id}/erase`, { reason: 'asked for' });
    await world.job('erase-events');
    // As if the process had ended between the store and the note.
    await api.pool`update erasures set state = 'requested', erased_at = null where id = ${body.id}`;
    expect(await world.job('erase-events')).toEqual({ erased: 1 });
    await eventually(async () => {
      const { body: list } = await api.get(`/v1/customers/${customer.id}/erasures`);
      expect(list.items).toMatchObject([{ state: 'erased', erased_events: 1 }]);
    });
  });

  test('400 without a reason, 404 for an unknown customer and for another tenant’s', async () => {
    const customer = await world.catalog.customer();
    const path = `/v1/customers/${customer.id}/erase`;
    expect((await world.api.post(path, {})).status).toBe(400);
    const reason = { reason: 'x' };
    expect((await world.api.post('/v1/customers/cust_x/erase', reason)).status).toBe(404);
    const stranger = await world.api.newCaller();
    expect((await stranger.post(path, reason)).status).toBe(404);
    expect((await stranger.get(`/v1/customers/${customer.id}/erasures`)).status).toBe(404);
  });
});
