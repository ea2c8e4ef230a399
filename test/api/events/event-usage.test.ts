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
        { window_size: '2026-01-09T18:30:00.000Z', value: 10 },
        { window_size: '2026-01-10T18:30:00.000Z', value: 6.5 },
        { window_size: '2026-01-20T18:30:00.000Z', value: 4.5 },
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
      const january = '2026-01-01T00:00:00.000Z';
      const values = body.results.map((row: { value: number }) => row.value).sort();
      expect([status, body.value, values]).toEqual([200, 14.5, [10, 4.5]]);
      expect(new Set(body.results.map((row: { window_size: string }) => row.window_size))).toEqual(
        new Set([january]),
      );
    },
  );

  test.each([
    ['group_by', { aggregation_type: 'SUM', bucket_size: 'DAY', group_by: ['tier'] }],
    ['group_by', { aggregation_type: 'MAX', group_by: ['tier'] }],
    ['group_by_property', { aggregation_type: 'COUNT', group_by_property: 'tier' }],
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
