import { startPipeline, type PipelineWorld } from '../../support/pipeline-world.ts';

/** Usage over HTTP, behind the real edge and stream. */
describe('usage routes', () => {
  let world: PipelineWorld;
  beforeAll(async () => {
    world = await startPipeline();
    await world.send([
      event(1, '2026-01-10T10:00:00Z', { n: 10, who: 'a', tier: 'pro' }),
      event(1, '2026-01-12T10:00:00Z', { n: 1000, who: 'z', tier: 'pro' }), // a second copy is inert
      event(2, '2026-01-11T10:00:00Z', { n: '6.5', who: 'b', tier: 'pro' }),
      event(3, '2026-01-21T00:00:00Z', { n: 4.5, who: 'a', tier: 'free' }),
      event(4, '2026-01-31T23:59:59.999Z', { who: 'c', tier: 'free' }),
      event(5, '2026-02-01T00:00:00Z', { n: 100, who: 'd', tier: 'pro' }),
    ]);
    await world.settled();
  });
  afterAll(() => world.close());

  const event = (n: number, timestamp: string, properties: object) => ({
    event_id: `u${n}`,
    event_name: 'agg',
    external_customer_id: 'acme',
    timestamp,
    properties,
  });
  const question = {
    event_name: 'agg',
    external_customer_id: 'acme',
    property_name: 'n',
    start_time: '2026-01-01T00:00:00Z',
    end_time: '2026-02-01T00:00:00Z',
  };
  const usage = (more: object) => world.api.post('/v1/events/usage', { ...question, ...more });
  const byGroup = (results: { group: object }[]) =>
    results.toSorted((left, right) =>
      JSON.stringify(left.group) < JSON.stringify(right.group) ? -1 : 1,
    );

  test.each(['COUNT', 'SUM', 'WEIGHTED_SUM'])(
    'a multiplier of %s is refused, because only SUM_WITH_MULTIPLIER multiplies (api 33)',
    async (aggregation_type) => {
      const { status, body } = await usage({ aggregation_type, multiplier: '2' });
      expect([status, body.details?.[0].path]).toEqual([400, 'multiplier']);
      expect((await usage({ aggregation_type, multiplier: '1' })).status).toBe(200);
    },
  );

  test.each`
    aggregation_type         | more                                                  | value
    ${'COUNT'}               | ${{}}                                                 | ${4}
    ${'SUM'}                 | ${{}}                                                 | ${21}
    ${'sum'}                 | ${{}}                                                 | ${21}
    ${'AVG'}                 | ${{}}                                                 | ${7}
    ${'MAX'}                 | ${{}}                                                 | ${10}
    ${'MIN'}                 | ${{}}                                                 | ${4.5}
    ${'LATEST'}              | ${{}}                                                 | ${4.5}
    ${'WEIGHTED_SUM'}        | ${{}}                                                 | ${12.875}
    ${'COUNT_UNIQUE'}        | ${{ property_name: 'who' }}                           | ${3}
    ${'SUM_WITH_MULTIPLIER'} | ${{ multiplier: '2.5' }}                              | ${52.5}
    ${'SUM'}                 | ${{ filters: { tier: ['pro'] } }}                     | ${16.5}
    ${'SUM'}                 | ${{ filters: { tier: ['pro', 'free'], who: ['a'] } }} | ${14.5}
    ${'SUM'}                 | ${{ filters: { tier: ['gold'] } }}                    | ${0}
    ${'SUM'}                 | ${{ property_name: null }}                            | ${4}
    ${'COUNT'}               | ${{ external_customer_id: 'nobody' }}                 | ${0}
  `(
    'POST /events/usage: $aggregation_type $more is $value',
    async ({ aggregation_type, more, value }) => {
      const { status, body } = await usage({ aggregation_type, ...more });
      expect([status, body.value, body.results]).toEqual([200, value, null]);
    },
  );

  test('POST /events/usage: windows, and buckets with their sum', async () => {
    const days = await usage({
      aggregation_type: 'SUM',
      window_size: 'DAY',
      timezone: 'Asia/Kolkata',
    });
    expect(days.body).toEqual({
      event_name: 'agg',
      type: 'SUM',
      value: null,
      results: [
        { window_size: '2026-01-09T18:30:00.000Z', value: 10, group: null },
        { window_size: '2026-01-10T18:30:00.000Z', value: 6.5, group: null },
        { window_size: '2026-01-20T18:30:00.000Z', value: 4.5, group: null },
      ],
    });
    const buckets = await usage({
      aggregation_type: 'MAX',
      bucket_size: 'MONTH',
      billing_anchor: '2026-01-18T00:00:00Z',
    });
    expect(buckets.body).toMatchObject({
      value: 14.5,
      results: [
        { window_size: '2025-12-18T00:00:00.000Z', value: 10 },
        { window_size: '2026-01-18T00:00:00.000Z', value: 4.5 },
      ],
    });
  });

  test.each([[{ group_by: ['tier'] }], [{ group_by_property: 'tier' }]])(
    'POST /events/usage: each bucket and group has its maximum, the value is their sum: %j',
    async (groups) => {
      const { status, body } = await usage({
        aggregation_type: 'MAX',
        bucket_size: 'MONTH',
        ...groups,
      });
      const window_size = '2026-01-01T00:00:00.000Z';
      expect([status, body.value]).toEqual([200, 14.5]);
      expect(byGroup(body.results)).toEqual([
        { window_size, value: 4.5, group: { tier: 'free' } },
        { window_size, value: 10, group: { tier: 'pro' } },
      ]);
    },
  );

  test('both routes: groups of several properties by name, beside the value of all; in windows too', async () => {
    const meter = await world.catalog.meter({ type: 'SUM', field: 'n' }, { event_name: 'agg' });
    await world.settled();
    const window_size = '2026-01-01T00:00:00.000Z';
    const groups = [
      { window_size, value: 4.5, group: { tier: 'free', who: 'a', none: '' } },
      { window_size, value: 10, group: { tier: 'pro', who: 'a', none: '' } },
      { window_size, value: 6.5, group: { tier: 'pro', who: 'b', none: '' } },
    ];
    for (const path of ['/v1/events/usage', '/v1/events/usage/meter']) {
      const ask = async (more: object) =>
        (
          await world.api.post(path, {
            ...question,
            aggregation_type: 'SUM',
            meter_id: meter.id,
            ...more,
          })
        ).body;
      const all = await ask({ group_by: ['tier', 'who', 'none', 'tier'] });
      expect([path, all.value, byGroup(all.results)]).toEqual([path, 21, groups]);
      const months = await ask({ group_by: ['tier', 'who', 'none'], window_size: 'MONTH' });
      expect([path, months.value, byGroup(months.results)]).toEqual([path, null, groups]);
      const nothing = await ask({ group_by: ['tier'], external_customer_id: 'nobody' });
      expect([path, nothing.value, nothing.results]).toEqual([path, 0, []]);
    }
  });

  test('both routes: empty fields have no effect', async () => {
    const meter = await world.catalog.meter({ type: 'SUM', field: 'n' }, { event_name: 'agg' });
    await world.settled();
    const empty = { window_size: '', timezone: '', filters: { tier: [] }, group_by: [] };
    for (const path of ['/v1/events/usage', '/v1/events/usage/meter']) {
      const { status, body } = await world.api.post(path, {
        ...question, aggregation_type: 'SUM', meter_id: meter.id, ...empty,
        external_customer_id: '',
      }); // prettier-ignore
      expect([path, status, body.value, body.results]).toEqual([path, 200, 21, null]);
    }
    const listed = await world.api.post('/v1/events/query', {
      ...question, event_name: 'agg', property_filters: { tier: [] }, sort: '', order: '',
    }); // prettier-ignore
    expect([listed.status, listed.body.total_count]).toEqual([200, 6]);
    const query = 'start_time=&end_time=&order=&sort=';
    expect((await world.api.get(`/v1/events?${query}`)).status).toBe(200);
    expect((await world.api.get('/v1/events/monitoring?start_time=&end_time=')).status).toBe(200);
  });

  test('POST /events/usage/meter: a bucketed meter answers its buckets, whatever windows are requested', async () => {
    const meter = await world.catalog.meter(
      { type: 'MAX', field: 'n', bucket_size: 'DAY', group_by: 'tier' },
      { event_name: 'agg' },
    );
    await world.settled();
    const ask = async (more: object) =>
      (await world.api.post('/v1/events/usage/meter', { ...question, meter_id: meter.id, ...more }))
        .body;
    const own = await ask({});
    expect(own).toMatchObject({
      value: 21,
      results: [
        { window_size: '2026-01-10T00:00:00.000Z', value: 10, group: { tier: 'pro' } },
        { window_size: '2026-01-11T00:00:00.000Z', value: 6.5, group: { tier: 'pro' } },
        { window_size: '2026-01-21T00:00:00.000Z', value: 4.5, group: { tier: 'free' } },
      ],
    });
    for (const window_size of ['HOUR', 'MONTH']) expect(await ask({ window_size })).toEqual(own);
    expect(await ask({ bucket_size: 'MONTH' })).toEqual(own);
  });

  test('a name, customer and source of every accepted length can be queried', async () => {
    const long = (letter: string) => letter.repeat(1000);
    const own = { event_name: long('n'), external_customer_id: long('c') };
    await world.send([
      { ...own, event_id: 'long', source: long('s'), timestamp: question.start_time },
    ]);
    await world.settled();
    const { start_time, end_time } = question;
    const asked = { ...own, start_time, end_time };
    const counted = await world.api.post('/v1/events/usage', {
      ...asked,
      aggregation_type: 'COUNT',
    });
    expect(counted.body.value).toBe(1);
    const listed = await world.api.post('/v1/events/query', { ...asked, source: long('s') });
    expect(listed.body.total_count).toBe(1);
    const { status, body } = await world.api.post('/v1/events/query', {
      event_name: `${long('n')}n`,
    });
    expect([status, body.details[0].path]).toEqual([400, 'event_name']);
  });

  test('a meter whose backfill is not complete is answered from the events, by its own rule', async () => {
    const aggregations = [
      { type: 'COUNT' },
      { type: 'SUM', field: 'n' },
      { type: 'SUM', expression: 'properties.n * 2' },
      { type: 'COUNT_UNIQUE', field: 'who' },
      { type: 'MAX', field: 'n', bucket_size: 'DAY', group_by: 'tier' },
    ];
    const filters = [{ key: 'tier', values: ['pro'] }];
    const meters: { id: string }[] = [];
    for (const aggregation of aggregations)
      meters.push(await world.catalog.meter(aggregation, { event_name: 'agg', filters }));
    await world.settled();
    const answers = async () => {
      const found: unknown[] = [];
      for (const { id } of meters)
        for (const more of [{}, { window_size: 'DAY' }, { filters: { who: ['a'] } }]) {
          const asked = { ...question, meter_id: id, ...more };
          const { status, body } = await world.api.post('/v1/events/usage/meter', asked);
          found.push([status, body]);
        }
      return found;
    };
    const whole = await answers();
    expect(whole[3]).toMatchObject([200, { value: 16.5 }]);
    const ids = meters.map(({ id }) => id);
    const setState = (state: string) =>
      world.api.pool`
        update meter_versions set backfill_state = ${state} where meter_id = any(${ids})`;
    await setState('mismatched');
    try {
      expect(await answers()).toEqual(whole);
      // What is kept and paid for waits until it is.
      const { status } = await world.api.get(`/v1/usage/export?meter_id=${ids[0]}`);
      expect(status).toBe(503);
    } finally {
      await setState('complete');
    }
  });

  test('POST /events/usage/meter: in the buckets of a price, for MAX and SUM', async () => {
    const max = await world.catalog.meter({ type: 'MAX', field: 'n' }, { event_name: 'agg' });
    const count = await world.catalog.meter({ type: 'COUNT' }, { event_name: 'agg' });
    await world.settled();
    const ask = (meter: { id: string }) =>
      world.api.post('/v1/events/usage/meter', { ...question, meter_id: meter.id, bucket_size: 'DAY' }); // prettier-ignore
    const raw = await usage({ aggregation_type: 'MAX', property_name: 'n', bucket_size: 'DAY' });
    expect(raw.body.results.length).toBeGreaterThan(1);
    expect((await ask(max)).body).toEqual(raw.body);
    const refused = await ask(count);
    expect([refused.status, refused.body.details[0].path]).toEqual([400, 'bucket_size']);
  });

  test.each([
    ['bucket_size', { aggregation_type: 'COUNT', bucket_size: 'DAY' }],
    ['group_by[0]', { aggregation_type: 'MAX', bucket_size: 'DAY', group_by: [''] }],
  ])('POST /events/usage: 400 names %s: %j', async (path, more) => {
    const { status, body } = await usage(more);
    expect([status, body.details[0].path]).toEqual([400, path]);
  });

  test.each(['/v1/events/usage', '/v1/events/usage/meter'])(
    '%s: a customer by id is the same as by its external id; 404 unknown, 400 for two customers',
    async (path) => {
      const acme = await world.catalog.customer({ external_id: 'acme' });
      const meter = await world.catalog.meter({ type: 'SUM', field: 'n' }, { event_name: 'agg' });
      await world.settled();
      const { external_customer_id: _, ...rest } = question;
      const ask = (more: object) =>
        world.api.post(path, { ...rest, aggregation_type: 'SUM', meter_id: meter.id, ...more });
      const byId = await ask({ customer_id: acme.id });
      expect([byId.status, byId.body.value]).toEqual([200, 21]);
      expect((await ask({ external_customer_id: 'acme' })).body).toEqual(byId.body);
      expect((await ask({ customer_id: 'cust_x' })).status).toBe(404);
      const two = await ask({ customer_id: acme.id, external_customer_id: 'other' });
      expect([two.status, two.body.details[0].path]).toEqual([400, 'customer_id']);
      expect((await world.api.delete(`/v1/customers/${acme.id}`)).status).toBe(204);
    },
  );

  test.each([
    [{}],
    [{ aggregation_type: 'MODE' }],
    [{ aggregation_type: 'COUNT', event_name: '' }],
    [{ aggregation_type: 'COUNT', end_time: '2025-01-01T00:00:00Z' }],
    [{ aggregation_type: 'COUNT', start_time: 'x' }],
    [{ aggregation_type: 'COUNT', window_size: 'YEAR' }],
    [{ aggregation_type: 'SUM', window_size: 'DAY', timezone: 'Nowhere/City' }],
    [{ aggregation_type: 'AVG', bucket_size: 'DAY' }],
  ])('POST /events/usage: 400 for %j', async (more) => {
    expect((await usage(more)).status).toBe(400);
  });

  test('POST /events/usage/meter: the same events by the meter, its filters applied', async () => {
    const meter = await world.catalog.meter(
      { type: 'SUM', field: 'n' },
      { event_name: 'agg', filters: [{ key: 'tier', values: ['pro'] }] },
    );
    await world.settled();
    const { start_time, end_time } = question;
    const asked = { meter_id: meter.id, start_time, end_time };
    const one = await world.api.post('/v1/events/usage/meter', {
      ...asked,
      external_customer_id: 'acme',
    });
    expect(one.body).toMatchObject({ type: 'SUM', value: 16.5 });
    const all = await world.api.post('/v1/events/usage/meter', asked);
    expect(all.body.value).toBe(16.5);
    expect(
      (await world.api.post('/v1/events/usage/meter', { ...asked, meter_id: 'meter_missing' }))
        .status,
    ).toBe(404);
  });
});
