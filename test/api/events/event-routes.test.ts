import { catalogOf } from '../../support/catalog.ts';
import { startPipeline, type PipelineWorld } from '../../support/pipeline-world.ts';

/** Raw events and the debugger over HTTP, behind the real edge and stream. */
describe('event routes', () => {
  let world: PipelineWorld;
  beforeAll(async () => {
    world = await startPipeline();
  });
  afterAll(() => world.close());

  const JUNE = '2026-06-15T10:00:00.000Z';
  const event = (id: string, name: string, given: object = {}) => ({
    event_id: id,
    event_name: name,
    external_customer_id: 'acme',
    timestamp: JUNE,
    properties: { v: 5 },
    ...given,
  });
  const send = async (...events: object[]) => {
    await world.send(events);
    await world.settled();
  };
  const get = (path: string) => world.api.get(`/v1${path}`);
  const post = (path: string, body: object) => world.api.post(`/v1${path}`, body);
  const failure = async (id: string) => {
    const { body } = await get(`/events/${id}`);
    return [body.status, body.debug_tracker?.failure_point?.failure_point_type ?? null];
  };

  describe('GET /events/{id}', () => {
    test('200 processed: the charge it belongs to, what the meter counted, every copy with its verdict', async () => {
      const { catalog } = world;
      const plan = await catalog.plan();
      const meter = await catalog.meter({ type: 'SUM', field: 'v' }, { event_name: 'paid' });
      const price = await catalog.usage(plan, meter, { start_date: '2026-01-01T00:00:00Z' });
      const customer = await catalog.customer({ external_id: 'payer' });
      const subscription = await catalog.subscribe(customer, plan, {
        start_date: '2026-06-01T00:00:00Z',
      });
      // Bills nothing before it is activated.
      await catalog.subscribe(customer, plan, {
        start_date: '2026-06-01T00:00:00Z',
        subscription_status: 'draft',
      });
      await send(
        event('paid-1', 'paid', {
          external_customer_id: 'payer',
          properties: { v: '2.50', note: 'x' },
        }),
      );
      await send(event('paid-1', 'paid', { external_customer_id: 'other', properties: { v: 9 } }));

      const { status, body } = await get('/events/paid-1');
      expect(status).toBe(200);
      expect(body).toMatchObject({
        status: 'processed',
        debug_tracker: null,
        event: {
          id: 'paid-1',
          external_customer_id: 'payer',
          timestamp: JUNE,
          properties: { v: '2.50', note: 'x' },
        },
        processed_events: [
          {
            customer_id: customer.id,
            subscription_id: subscription.id,
            price_id: price.id,
            meter_id: meter.id,
            feature_id: null,
            qty_total: '2.5',
          },
        ],
        metering: [{ meter_id: meter.id, quantity: '2.5', reason: null }],
      });
      expect(
        body.events.map((copy: any) => [
          copy.external_customer_id,
          copy.verdict,
          copy.is_canonical,
        ]),
      ).toEqual([
        ['other', 'duplicate', false],
        ['payer', 'counted', true],
      ]);
      expect(body.events[0].duplicate_of).toBe(body.events[1].ingested_at);
      expect((await get('/events/lookup?id=paid-1')).body).toEqual(body);
    });

    test('200 failed: where the way to a charge ended, in order', async () => {
      const { catalog } = world;
      const meter = await catalog.meter(
        { type: 'SUM', field: 'v' },
        { event_name: 'steps', filters: [{ key: 'tier', values: ['pro'] }] },
      );
      await send(
        event('s1', 'steps', { external_customer_id: 'nobody' }),
        event('s2', 'steps', {
          external_customer_id: 'walker',
          properties: { v: 1, tier: 'free' },
        }),
        event('s3', 'steps', { external_customer_id: 'walker', properties: { v: 1, tier: 'pro' } }),
        event('s4', 'steps', {
          external_customer_id: 'walker',
          properties: { v: 'many', tier: 'pro' },
        }),
      );
      expect(await failure('s1')).toEqual(['failed', 'customer_lookup']);
      expect((await get('/events/s1')).body.customer).toBeNull();
      const customer = await catalog.customer({ external_id: 'walker' });
      // Accepted before the customer was created: the copy names none, the answer says who it is now.
      const early = (await get('/events/s2')).body;
      const { name, created_at } = (await get(`/customers/${customer.id}`)).body;
      expect([early.event.customer_id, early.customer]).toEqual([
        '',
        { id: customer.id, name, created_at },
      ]);
      expect(await failure('s2')).toEqual(['failed', 'meter_lookup']);
      expect(await failure('s3')).toEqual(['failed', 'price_lookup']);
      const plan = await catalog.plan();
      await catalog.usage(plan, meter, { start_date: '2026-01-01T00:00:00Z' });
      expect(await failure('s3')).toEqual(['failed', 'subscription_line_item_lookup']);
      await catalog.subscribe(customer, plan, { start_date: '2026-06-01T00:00:00Z' });
      expect(await failure('s3')).toEqual(['processed', null]);
      expect(await failure('s4')).toEqual(['failed', 'metering']);
      const { body } = await get('/events/s4');
      expect(body.debug_tracker.failure_point.error.code).toBe('value_not_numeric');
      expect(body.debug_tracker.customer_lookup.customer.id).toBe(customer.id);
      expect(body.debug_tracker.meter_matching.matched_meters[0].meter.id).toBe(meter.id);
      expect(body.metering).toMatchObject([
        { meter_id: meter.id, quantity: null, reason: 'value_not_numeric' },
      ]);
      expect(body.events[0].verdict).toBe('not_metered');
    });

    test('200 processed: an event counts for the lines of its invoice, and not for a line whose events another line takes', async () => {
      const { catalog } = world;
      const plan = await catalog.plan();
      const meter = await catalog.meter(
        { type: 'SUM_WITH_MULTIPLIER', field: 'v', multiplier: '2.5' },
        { event_name: 'shared' },
      );
      const own = { start_date: '2026-01-01T00:00:00Z' };
      const all = await catalog.usage(plan, meter, own);
      const eu = await catalog.usage(plan, meter, {
        ...own,
        amount: '3',
        filter_values: { region: ['eu'] },
      });
      const customer = await catalog.customer({ external_id: 'sharer' });
      await catalog.subscribe(customer, plan, { start_date: '2026-06-01T00:00:00Z' });
      await catalog.subscribe(customer, plan, {
        start_date: '2026-06-01T00:00:00Z',
        subscription_status: 'draft',
      });
      const of = (region: string) => ({
        external_customer_id: 'sharer',
        properties: { v: '0.2', region },
      });
      await send(event('sh-eu', 'shared', of('eu')), event('sh-us', 'shared', of('us')));
      const fed = async (id: string) =>
        (await get(`/events/${id}`)).body.processed_events.map((line: any) => [
          line.price_id,
          line.qty_total,
        ]);
      expect(await fed('sh-eu')).toEqual([[eu.id, '0.5']]);
      expect(await fed('sh-us')).toEqual([[all.id, '0.5']]);
      const bench = await post(`/meters/${meter.id}/test`, {
        event: event('none', 'shared', of('eu')),
      });
      expect(bench.body.charges.map((line: any) => line.price_id)).toEqual([eu.id]);
      const costs = await post('/events/huggingface-billing', { requestIds: ['sh-eu'] });
      expect(costs.body.requests[0].costNanoUsd).toBe('1500000000');
    });

    test('200 processed: a meter with more prices than the check reads, of which the customer pays the newest', async () => {
      const { catalog } = world;
      const meter = await catalog.meter({ type: 'COUNT' }, { event_name: 'popular' });
      const plan = await catalog.plan();
      const other = await catalog.plan();
      const one = {
        currency: 'usd', billing_period: 'MONTHLY', entity_type: 'PLAN', entity_id: other.id,
        price_unit_type: 'FIAT', billing_model: 'FLAT_FEE', type: 'USAGE', invoice_cadence: 'ARREAR',
        meter_id: meter.id, amount: '1',
      }; // prettier-ignore
      const many = await post('/prices/bulk', { items: Array.from({ length: 100 }, () => one) });
      expect(many.status).toBe(201);
      const price = await catalog.usage(plan, meter, { start_date: '2026-01-01T00:00:00Z' });
      const customer = await catalog.customer({ external_id: 'late' });
      await catalog.subscribe(customer, plan, { start_date: '2026-06-01T00:00:00Z' });
      await send(event('pop-1', 'popular', { external_customer_id: 'late' }));
      const { body } = await get('/events/pop-1');
      expect([body.status, body.processed_events?.[0].price_id]).toEqual(['processed', price.id]);
    });

    test('200: 50 of a thousand copies, newest first', async () => {
      for (let call = 0; call < 2; call += 1) {
        await world.send(
          Array.from({ length: 40 }, (_, n) =>
            event('often', 'often', { properties: { n: call * 40 + n } }),
          ),
        );
      }
      await world.settled();
      const { body } = await get('/events/often');
      expect(body.events).toHaveLength(50);
      expect(body.events.map((copy: any) => copy.properties.n)).toEqual(
        Array.from({ length: 50 }, (_, n) => 79 - n),
      );
      expect(body.event.properties).toEqual({ n: 0 });
    });

    test('404 for an unknown id and for another tenant; 400 without an id; ids of any characters by lookup', async () => {
      await send(event('a/b c?€', 'odd'));
      expect((await get('/events/missing')).status).toBe(404);
      expect((await get('/events/lookup?id=missing')).status).toBe(404);
      expect((await get('/events/lookup')).status).toBe(400);
      expect((await get(`/events/lookup?id=${encodeURIComponent('a/b c?€')}`)).body.event.id).toBe(
        'a/b c?€',
      );
      const stranger = await world.api.newCaller();
      expect(
        (await stranger.get(`/v1/events/lookup?id=${encodeURIComponent('a/b c?€')}`)).status,
      ).toBe(404);
    });
  });

  describe('POST /events/query and GET /events', () => {
    const range = {
      start_time: '2026-01-01T00:00:00Z',
      end_time: '2026-02-01T00:00:00Z',
      external_customer_id: 'lister',
    };
    const ids = (body: any) => body.events.map(({ id }: any) => id);
    beforeAll(async () => {
      await send(
        ...Array.from({ length: 7 }, (_, n) =>
          event(`l${n}`, n < 5 ? 'list' : 'other', {
            external_customer_id: 'lister',
            timestamp: `2026-01-1${n}T10:00:00Z`,
            source: n % 2 ? 'api' : 'web',
            properties: { plan: n < 3 ? 'pro' : 'free', n },
          }),
        ),
        event('bare', 'list', {
          external_customer_id: 'bare',
          timestamp: '2026-01-10T00:00:00Z',
          properties: undefined,
        }),
      );
    });

    test('while events are replayed into the store, lists and look-ups say that copies may be missing', async () => {
      const { app, key, pool } = world.api;
      const marks = async () => {
        const headers = { 'x-api-key': key };
        const [list, found, missing] = await Promise.all([
          app.inject({ method: 'GET', url: '/v1/events', headers }),
          app.inject({ method: 'GET', url: '/v1/events/l0', headers }),
          app.inject({ method: 'GET', url: '/v1/events/lookup?id=nowhere', headers }),
        ]);
        return [list, found, missing].map(({ statusCode, headers: answered }) => [
          statusCode,
          answered['x-under-repair'],
        ]);
      };
      await pool`
        insert into stream_replays (epoch, partition, next_offset, until_offset) values (99, 0, 0, 1)`;
      expect(await marks()).toEqual([
        [200, 'events'],
        [200, 'events'],
        [404, 'events'],
      ]);
      await pool`delete from stream_replays where epoch = 99`;
      expect(await marks()).toEqual([
        [200, undefined],
        [200, undefined],
        [404, undefined],
      ]);
    });

    test('200: pages by offset and by key', async () => {
      const { body: first } = await post('/events/query', { ...range, page_size: 3 });
      expect(ids(first)).toEqual(['l6', 'l5', 'l4']);
      expect(first).toMatchObject({
        has_more: true,
        total_count: 7,
        offset: 3,
        iter_first_key: '1768557600000000000::l6',
        iter_last_key: '1768384800000000000::l4',
      });
      expect(first.events[0]).toMatchObject({
        customer_id: '', event_name: 'other', timestamp: '2026-01-16T10:00:00.000Z', source: 'web',
        properties: { plan: 'free', n: 6 }, environment_id: world.api.scope.environment_id,
      }); // prettier-ignore
      const { body: last } = await post('/events/query', { ...range, page_size: 3, offset: 6 });
      expect([ids(last), last.has_more, last.offset]).toEqual([['l0'], false, 9]);
      const { body: next } = await post('/events/query', {
        ...range,
        page_size: 3,
        iter_last_key: first.iter_last_key,
      });
      expect([ids(next), next.total_count, next.offset]).toEqual([['l3', 'l2', 'l1'], 4, null]);
      const { body: newer } = await post('/events/query', {
        ...range,
        page_size: 3,
        iter_first_key: next.iter_first_key,
      });
      expect([ids(newer), newer.has_more]).toEqual([['l6', 'l5', 'l4'], false]);
    });

    test('200: pages by key lose no copy of one id and time, and repeat none', async () => {
      const at = { external_customer_id: 'copier', timestamp: '2026-01-12T10:00:00Z' };
      const twin = (n: number) => event('twin', n < 5 ? 'b' : 'a', { ...at, properties: { n } });
      // One by one, so that the order in which they are accepted is known.
      for (let n = 0; n < 7; n += 1) await send(twin(n));
      await send(
        event('early', 'c', { ...at, timestamp: '2026-01-11T10:00:00Z', properties: { n: 7 } }),
        event('late', 'c', { ...at, timestamp: '2026-01-13T10:00:00Z', properties: { n: 8 } }),
      );
      const copies = { ...range, external_customer_id: 'copier' };
      const numbers = (body: any) => body.events.map(({ properties }: any) => properties.n);
      const orders = {
        desc: { timestamp: [8, 6, 5, 4, 3, 2, 1, 0, 7], event_name: [8, 7, 4, 3, 2, 1, 0, 6, 5] },
        asc: { timestamp: [7, 0, 1, 2, 3, 4, 5, 6, 8], event_name: [6, 5, 4, 3, 2, 1, 0, 8, 7] },
      };
      for (const order of ['desc', 'asc'] as const) {
        for (const sort of ['timestamp', 'event_name'] as const) {
          for (const page_size of [1, 2, 3, 4]) {
            const asked = { ...copies, order, sort, page_size };
            const pages: any[] = [(await post('/events/query', asked)).body];
            while (pages.at(-1).has_more) {
              const { iter_last_key } = pages.at(-1);
              pages.push((await post('/events/query', { ...asked, iter_last_key })).body);
              expect(pages.length).toBeLessThan(10);
            }
            const all = orders[order][sort];
            expect(pages.flatMap(numbers)).toEqual(all);
            // The events before the page are those that the key finds as newer.
            const { iter_first_key } = pages.at(-1);
            const before = await post('/events/query', { ...copies, order, sort, iter_first_key });
            expect(numbers(before.body)).toEqual(all.slice(0, (pages.length - 1) * page_size));
            const offset = 4;
            const middle = await post('/events/query', { ...asked, offset });
            const key = middle.body.iter_first_key;
            const ahead = await post('/events/query', {
              ...copies,
              order,
              sort,
              iter_first_key: key,
            });
            expect(numbers(ahead.body)).toEqual(all.slice(0, offset));
          }
        }
      }
      const { body } = await post('/events/query', { ...copies, page_size: 3 });
      expect(body.iter_first_key).toBe('1768298400000000000::late');
      expect(body.iter_last_key).toMatch(/^1768212000000000000\.\d+::twin$/);
      const { iter_last_key: ofUrl } = body;
      const url = `/events?external_customer_id=copier&start_time=2026-01-01T00:00:00Z&end_time=2026-02-01T00:00:00Z`;
      const next = await get(`${url}&page_size=50&iter_last_key=${encodeURIComponent(ofUrl)}`);
      expect(numbers(next.body)).toEqual([4, 3, 2, 1, 0, 7]);
      // A key without a copy stands for all of them, as clients made it before.
      const plain = await post('/events/query', { ...copies, iter_last_key: '1768212000000000000::twin' }); // prettier-ignore
      expect(numbers(plain.body)).toEqual([7]);
    });

    test('200: filters, order, ends, nothing found', async () => {
      const found = async (more: object) =>
        ids((await post('/events/query', { ...range, ...more })).body);
      expect(await found({ event_name: 'list', sort: 'timestamp', order: 'asc' })).toEqual([
        'l0',
        'l1',
        'l2',
        'l3',
        'l4',
      ]);
      expect(await found({ event_id: 'l4' })).toEqual(['l4']);
      expect(await found({ source: 'api' })).toEqual(['l5', 'l3', 'l1']);
      expect(await found({ property_filters: { plan: ['pro', 'free'], n: ['4'] } })).toEqual([
        'l4',
      ]);
      expect(await found({ end_time: '2026-01-11T10:00:00Z' })).toEqual(['l1', 'l0']);
      expect(await found({ start_time: '2026-01-15T10:00:00Z' })).toEqual(['l6', 'l5']);
      const { body } = await post('/events/query', { ...range, external_customer_id: 'nobody' });
      expect(body).toMatchObject({
        events: [],
        has_more: false,
        total_count: 0,
        iter_first_key: null,
        offset: 50,
      });
      const bare = await post('/events/query', { ...range, external_customer_id: 'bare' });
      expect(bare.body.events[0].properties).toBeNull();
    });

    test('200: by outcome: as many as the monitoring counts', async () => {
      await catalogOf(world.api).meter({ type: 'SUM', field: 'v' }, { event_name: 'outcome' });
      const timestamp = '2026-07-02T10:00:00Z';
      await send(
        event('o1', 'outcome', { timestamp }),
        event('o2', 'outcome', { timestamp }),
        event('o3', 'outcome', { timestamp, properties: { v: 'many' } }),
        event('o4', 'unknown', { timestamp }),
      );
      await send(event('o1', 'outcome', { timestamp }));
      const day = { start_time: '2026-07-02T00:00:00Z', end_time: '2026-07-03T00:00:00Z' };
      const { body: counts } = await get(`/events/monitoring?${new URLSearchParams(day)}`);
      for (const [outcome, found] of [
        ['metered', ['o2', 'o1']],
        ['rejected', ['o3']],
        ['duplicate', ['o1']],
      ] as const) {
        const { body } = await post('/events/query', { ...day, outcome });
        expect([ids(body), body.total_count]).toEqual([found, counts[`${outcome}_count`]]);
        const { body: same } = await get(`/events?${new URLSearchParams({ ...day, outcome })}`);
        expect(ids(same)).toEqual(found);
      }
    });

    test('200: the monitoring of one customer counts as many copies as the list has', async () => {
      await catalogOf(world.api).meter({ type: 'SUM', field: 'v' }, { event_name: 'volume' });
      const of = (id: string, customer: string, properties: object = { v: 1 }) =>
        event(id, 'volume', {
          timestamp: '2026-07-04T10:00:00Z',
          external_customer_id: customer,
          properties,
        });
      await send(of('w1', 'loud'), of('w2', 'loud', { v: 'many' }), of('w3', 'quiet'));
      await send(of('w1', 'loud'));
      const day = { start_time: '2026-07-04T00:00:00Z', end_time: '2026-07-05T00:00:00Z' };
      const monitored = async (external_customer_id: string) => {
        const query = new URLSearchParams({ ...day, window_size: 'DAY', external_customer_id });
        return (await get(`/events/monitoring?${query}`)).body;
      };
      expect(await monitored('loud')).toMatchObject({
        total_count: 3,
        duplicate_count: 1,
        metered_count: 1,
        rejected_count: 1,
        points: [{ timestamp: '2026-07-04T00:00:00.000Z', event_count: 3 }],
      });
      expect(await monitored('quiet')).toMatchObject({ total_count: 1, metered_count: 1 });
      expect(await monitored('nobody')).toMatchObject({ total_count: 0, points: [] });
    });

    test('200: the URL form', async () => {
      const url = `/events?external_customer_id=lister&start_time=2026-01-01T00:00:00Z&end_time=2026-02-01T00:00:00Z`;
      expect(ids((await get(`${url}&page_size=2`)).body)).toEqual(['l6', 'l5']);
      expect(
        ids((await get(`${url}&property_filters=plan:free;n:5,6&count_total=true`)).body),
      ).toEqual(['l6', 'l5']);
      expect(ids((await get(`${url}&page_size=many`)).body)).toHaveLength(7);
      expect((await get(`${url}&page_size=-1`)).status).toBe(400);
    });

    test.each([
      [{ sort: 'source' }],
      [{ outcome: 'counted' }],
      [{ order: 'up' }],
      [{ end_time: '2025-01-01T00:00:00Z' }],
      [{ start_time: 'x' }],
      [{ iter_last_key: 'not-a-key' }],
      [{ iter_first_key: '1768212000000000000.99999999999999999999::twin' }],
      [{ sort: 'event_name', iter_last_key: '1768212000000000000::no-such-event' }],
      [{ property_filters: 'plan' }],
      [{ offset: -1 }],
      [{ page_size: -1 }],
      [{ page_size: 0 }],
    ])('400 for %j', async (more) => {
      expect((await post('/events/query', { ...range, ...more })).status).toBe(400);
    });
  });
});
