import { startPipeline, type PipelineWorld } from '../../support/pipeline-world.ts';

/** Usage and cost of one customer over HTTP, behind the real edge and stream. */
describe('POST /events/analytics', () => {
  let world: PipelineWorld;
  let sum: { id: string };
  let bucketed: { id: string };
  let feature: { id: string };
  const range = { start_time: '2026-06-01T00:00:00Z', end_time: '2026-08-01T00:00:00Z' };
  const ask = (more: object = {}) =>
    world.api.post('/v1/events/analytics', { external_customer_id: 'ana', ...range, ...more });

  beforeAll(async () => {
    world = await startPipeline();
    const { catalog } = world;
    sum = await catalog.meter({ type: 'SUM', field: 'n' }, { event_name: 'calls' });
    bucketed = await catalog.meter(
      { type: 'MAX', field: 'n', bucket_size: 'DAY' },
      { event_name: 'seats' },
    );
    const { body } = await world.api.post('/v1/features', {
      name: 'Calls', type: 'metered', meter_id: sum.id, unit_singular: 'call', unit_plural: 'calls',
    }); // prettier-ignore
    feature = body;
    const plan = await catalog.plan();
    const start = { start_date: '2026-01-01T00:00:00Z' };
    await catalog.usage(plan, sum, {
      ...start, billing_model: 'TIERED', tier_mode: 'SLAB',
      tiers: [{ up_to: 10, unit_amount: '1' }, { up_to: null, unit_amount: '0.5' }],
    }); // prettier-ignore
    await catalog.usage(plan, bucketed, { ...start, amount: '2' });
    const customer = await catalog.customer({ external_id: 'ana' });
    await catalog.subscribe(customer, plan, { start_date: '2026-06-01T00:00:00Z' });
    // Bills nothing before it is activated.
    await catalog.subscribe(customer, plan, {
      start_date: '2026-06-01T00:00:00Z',
      subscription_status: 'draft',
    });
    const event = (id: number, name: string, timestamp: string, source: string, properties: object) => ({
      event_id: `a${id}`, event_name: name, external_customer_id: 'ana', timestamp, source, properties,
    }); // prettier-ignore
    await world.send([
      event(1, 'calls', '2026-06-10T10:00:00Z', 'web', { n: 10, region: 'eu' }),
      event(2, 'calls', '2026-06-10T11:00:00Z', 'api', { n: 4, region: 'us' }),
      event(3, 'calls', '2026-06-12T11:00:00Z', 'web', { n: 6, region: 'eu' }),
      event(4, 'seats', '2026-06-11T08:00:00Z', '', { n: 7 }),
      event(5, 'seats', '2026-06-11T09:00:00Z', '', { n: 5 }),
      event(6, 'seats', '2026-06-13T00:00:00Z', '', { n: 3 }),
      event(7, 'calls', '2026-05-31T23:59:59Z', 'web', { n: 1000 }), // before the subscription
    ]);
    await world.settled();
  });
  afterAll(() => world.close());

  const brief = (body: any) =>
    body.items.map((item: any) => [
      item.meter_id,
      item.total_usage,
      item.total_cost,
      item.event_count,
    ]);

  test('200: each usage line with its quantity and its cost', async () => {
    const { status, body } = await ask();
    expect(status).toBe(200);
    expect(brief(body)).toEqual([
      [sum.id, '20', '15', 3],
      [bucketed.id, '10', '20', 3],
    ]);
    expect(body).toMatchObject({
      subtotal: '35',
      total_cost: '35',
      total_discount: '0',
      currency: 'usd',
    });
    expect(body.items[0]).toMatchObject({
      feature_id: feature.id, name: 'Calls', unit: 'call', unit_plural: 'calls', event_name: 'calls',
      aggregation_type: 'SUM', source: null, properties: null, points: null, meter: null, feature: null,
    }); // prettier-ignore
  });

  test.each<[string | null, string | null, string | null]>([
    [null, null, null],
    ['HOUR', 'HOUR', 'DAY'],
    ['DAY', 'DAY', 'DAY'],
    ['WEEK', 'WEEK', 'WEEK'],
  ])('the windows of the points, asked for by %s: a bucket has no shorter ones', async (...row) => {
    const [asked, ofSum, ofBucket] = row;
    const { body } = await ask(asked === null ? {} : { window_size: asked });
    const sizes = body.items.map((item: any) => item.windows_of_points?.window_size ?? null);
    expect(sizes).toEqual([ofSum, ofBucket]);
    for (const { windows_of_points: windows } of body.items)
      if (windows !== null)
        expect(windows).toMatchObject({ timezone: 'UTC', billing_anchor: null });
  });

  test('200: filters and groups, also by properties that nothing keeps', async () => {
    const only = { feature_ids: [feature.id] };
    const usage = async (more: object) =>
      brief((await ask({ ...only, ...more })).body).map((row: any) => row[1]);
    expect(await usage({ sources: ['web'] })).toEqual(['16']);
    expect(await usage({ property_filters: { region: ['us'] } })).toEqual(['4']);
    expect(await usage({ property_filters: { region: ['eu', 'us'] }, sources: ['api'] })).toEqual([
      '4',
    ]);
    expect(await usage({ sources: ['cron'] })).toEqual([]);
    const { body: bySource } = await ask({ ...only, group_by: ['source'] });
    expect(bySource.items.map((item: any) => [item.source, item.total_usage])).toEqual([
      ['api', '4'],
      ['web', '16'],
    ]);
    const { body: byRegion } = await ask({
      ...only,
      group_by: ['properties.region', 'feature_id'],
    });
    expect(byRegion.items.map((item: any) => [item.properties, item.total_usage])).toEqual([
      [{ region: 'eu' }, '16'],
      [{ region: 'us' }, '4'],
    ]);
    const { body: none } = await ask({ ...only, group_by: ['properties.none'] });
    expect(none.items.map((item: any) => [item.properties, item.total_usage])).toEqual([
      [{ none: '' }, '20'],
    ]);
    expect((await ask({ feature_ids: ['feat_missing'] })).body).toMatchObject({
      items: [],
      currency: '',
    });
  });

  test('200: points; buckets in coarser windows show the greatest and cost the sum', async () => {
    const { body } = await ask({ window_size: 'DAY' });
    expect(
      body.items[0].points.map((p: any) => [p.timestamp, p.usage, p.cost, p.event_count]),
    ).toEqual([
      // Shares of the line's 15, whose tiers see its 20 calls together.
      ['2026-06-10T00:00:00.000Z', '14', '10.5', 2],
      ['2026-06-12T00:00:00.000Z', '6', '4.5', 1],
    ]);
    expect(body.items[1].points.map((p: any) => [p.usage, p.cost])).toEqual([
      ['7', '14'],
      ['3', '6'],
    ]);
    const { body: monthly } = await ask({ window_size: 'MONTH' });
    expect(monthly.items[1].points.map((p: any) => [p.usage, p.cost])).toEqual([['7', '20']]);
  });

  test('200: points of the asked zone; months then begin on the first', async () => {
    const timesOf = async (more: object) =>
      (await ask({ meter_ids: [sum.id], ...more })).body.items
        .find((item: any) => item.meter_id === sum.id)
        .points.map(({ timestamp, usage }: any) => [timestamp, usage]);
    expect(await timesOf({ window_size: 'DAY', timezone: 'Pacific/Auckland' })).toEqual([
      ['2026-06-09T12:00:00.000Z', '14'],
      ['2026-06-11T12:00:00.000Z', '6'],
    ]);
    expect(await timesOf({ window_size: 'MONTH', timezone: 'Europe/Berlin' })).toEqual([
      ['2026-05-31T22:00:00.000Z', '20'],
    ]);
    expect(await ask({ window_size: 'DAY', timezone: 'Mars/Olympus' })).toMatchObject({
      status: 400,
    });
  });

  test('200: expand embeds records; unknown names are ignored', async () => {
    const expand = ['meter', 'feature', 'price', 'plan', 'subscription_line_item', 'nothing'];
    const { body } = await ask({ feature_ids: [feature.id], expand });
    const [item] = body.items;
    expect(item.meter.id).toBe(sum.id);
    expect(item.feature.id).toBe(feature.id);
    expect(item.price.id).toBe(item.price_id);
    expect(item.plan.id).toBe(item.plan_id);
    expect(item.subscription_line_item.id).toBe(item.sub_line_item_id);
  });

  test('200: without a subscription usage has no price; without a customer it is everyone’s', async () => {
    const later = { start_time: '2026-05-01T00:00:00Z', end_time: '2026-06-01T00:00:00Z' };
    const { body } = await ask(later);
    expect(brief(body)).toEqual([[sum.id, '1000', '0', 1]]);
    expect(body).toMatchObject({ currency: '', total_cost: '0' });
    const everyone = await world.api.post('/v1/events/analytics', range);
    expect(
      brief(everyone.body)
        .map((row: any) => row[1])
        .sort(),
    ).toEqual(['10', '20']);
    const nobody = await ask({ external_customer_id: 'nobody' });
    expect(nobody.body.items).toEqual([]);
  });

  test('200: without a subscription the usage of the newest of more than a thousand meters', async () => {
    const { tenant_id, environment_id } = world.api.scope;
    await world.api.pool`
      insert into meters (id, tenant_id, environment_id, name, event_name, aggregation, filters,
                          reset_usage, status, created_at, updated_at, created_by, updated_by)
      select 'meter_old_' || n, ${tenant_id}, ${environment_id}, 'Old', 'old', '{"type": "COUNT"}', '[]',
             'BILLING_PERIOD', 'published', '2020-01-01', '2020-01-01', 'test', 'test'
        from generate_series(1, 1001) n`;
    const newest = await world.catalog.meter({ type: 'COUNT' }, { event_name: 'newest' });
    await world.send([{ event_id: 'n1', event_name: 'newest', external_customer_id: 'bare', timestamp: '2026-06-10T00:00:00Z' }]); // prettier-ignore
    await world.settled();
    const { body } = await ask({ external_customer_id: 'bare' });
    expect(brief(body)).toEqual([[newest.id, '1', '0', 1]]);
  });

  test('currencies are not added up: the totals of each (money 19.11)', async () => {
    const { catalog } = world;
    const customer = await catalog.customer({ external_id: 'two currencies' });
    const start_date = '2026-06-01T00:00:00Z';
    for (const [currency, amount] of [
      ['usd', '2'],
      ['jpy', '300'],
    ] as const) {
      const meter = await catalog.meter({ type: 'COUNT' }, { event_name: `in ${currency}` });
      const plan = await catalog.plan();
      await catalog.usage(plan, meter, { amount, currency, start_date: '2026-01-01T00:00:00Z' });
      await catalog.subscribe(customer, plan, { start_date, currency });
    }
    await world.send(
      ['usd', 'usd', 'jpy'].map((currency, number) => ({
        event_id: `two ${number}`,
        event_name: `in ${currency}`,
        external_customer_id: 'two currencies',
        timestamp: '2026-06-10T10:00:00Z',
        properties: {},
      })),
    );
    await world.settled();
    const { body } = await ask({ external_customer_id: 'two currencies' });
    const total = (currency: string, cost: string) => ({
      currency,
      subtotal: cost,
      total_discount: '0',
      total_cost: cost,
    });
    expect(body.totals).toHaveLength(2);
    expect(body.totals).toEqual(expect.arrayContaining([total('usd', '4'), total('jpy', '300')]));
    expect(body).toMatchObject(body.totals[0]);
    expect(body.totals[0].currency).toBe(body.items[0].currency);
  });

  test.each([
    [{ group_by: ['colour'] }],
    [{ group_by: ['properties.'] }],
    [{ start_time: '2026-08-01T00:00:00Z', end_time: '2026-06-01T00:00:00Z' }],
    [{ start_time: 'x' }],
    [{ window_size: 'YEAR' }],
  ])('400 for %j', async (more) => {
    expect((await ask(more)).status).toBe(400);
  });
});
