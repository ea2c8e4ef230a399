import { startPipeline, type PipelineWorld } from '../../support/pipeline-world.ts';

/** The reading side beside analytics: meters, customers, subscriptions, costs, monitoring, records. */
describe('usage reads', () => {
  let world: PipelineWorld;
  let sum: { id: string };
  let weighted: { id: string };
  let feature: { id: string };
  let customer: { id: string };
  let subscription: { id: string };
  const JUNE = { start_time: '2026-06-01T00:00:00Z', end_time: '2026-07-01T00:00:00Z' };
  const start = { start_date: '2026-01-01T00:00:00Z' };

  const event = (id: string, name: string, timestamp: string, properties: object) => ({
    event_id: id,
    event_name: name,
    external_customer_id: 'acme',
    timestamp,
    properties,
  });
  const post = (path: string, body: object) => world.api.post(`/v1${path}`, body);
  const get = (path: string) => world.api.get(`/v1${path}`);

  beforeAll(async () => {
    world = await startPipeline();
    const { catalog } = world;
    sum = await catalog.meter({ type: 'SUM', field: 'n' }, { event_name: 'calls' });
    weighted = await catalog.meter({ type: 'WEIGHTED_SUM', field: 'n' }, { event_name: 'seats' });
    feature = (await post('/features', { name: 'Calls', type: 'metered', meter_id: sum.id, lookup_key: 'calls' })).body; // prettier-ignore
    const plan = await catalog.plan();
    await catalog.usage(plan, sum, { ...start, amount: '0.002' });
    await catalog.usage(plan, weighted, { ...start, amount: '1' });
    await post('/entitlements', {
      plan_id: plan.id, feature_id: feature.id, feature_type: 'metered', usage_limit: 40, usage_reset_period: 'ANNUAL',
    }); // prettier-ignore
    customer = await catalog.customer({ external_id: 'acme', timezone: 'Asia/Kolkata' });
    subscription = await catalog.subscribe(customer as never, plan, {
      start_date: '2026-06-01T00:00:00Z', billing_period: 'MONTHLY', timezone: 'Asia/Kolkata',
    }); // prettier-ignore
    await world.send([
      event('r1', 'calls', '2026-06-10T10:00:00Z', { n: 10 }),
      event('r1', 'calls', '2026-06-20T10:00:00Z', { n: 1000 }), // a second copy is inert
      event('r2', 'calls', '2026-06-10T20:00:00Z', { n: 4 }), // the 11th in Kolkata
      event('r3', 'calls', '2026-06-12T11:00:00Z', { n: '-3' }), // negative values are legal
      event('r4', 'calls', '2026-06-12T11:00:00Z', { n: 'none' }),
      event('r5', 'seats', '2026-06-16T00:00:00Z', { n: 30 }),
    ]);
    await world.settled();
  });
  afterAll(() => world.close());

  describe('POST /meter-usage/query', () => {
    const ask = (more: object) =>
      post('/meter-usage/query', {
        external_customer_id: 'acme', meter_id: sum.id, ...JUNE, aggregation_type: 'SUM', ...more,
      }); // prettier-ignore

    test.each([
      ['SUM', '11'],
      ['COUNT', '3'],
      ['MAX', '10'],
      ['MIN', '-3'],
      ['AVG', '3.666666666666667'],
      ['latest', '-3'],
    ])('200: %s of the meter’s values is %s', async (aggregation_type, total_value) => {
      const { status, body } = await ask({ aggregation_type });
      expect([status, body.total_value, body.event_count, body.points]).toEqual([
        200,
        total_value,
        3,
        null,
      ]);
    });

    test('200: the weighted sum, not the sum', async () => {
      const { body } = await ask({ meter_id: weighted.id, aggregation_type: 'WEIGHTED_SUM' });
      expect(body.total_value).toBe('15');
    });

    test('200: windows of the subscription’s zone; the total is of the range, not of the points', async () => {
      const { body } = await ask({ aggregation_type: 'MAX', window_size: 'DAY' });
      expect(body.total_value).toBe('10');
      expect(body.points).toEqual([
        { timestamp: '2026-06-09T18:30:00.000Z', value: '10', event_count: 1 },
        { timestamp: '2026-06-10T18:30:00.000Z', value: '4', event_count: 1 },
        { timestamp: '2026-06-11T18:30:00.000Z', value: '-3', event_count: 1 },
      ]);
    });

    test('200 and zero: a meter on no line, an unknown meter, an unknown customer', async () => {
      const other = await world.catalog.meter({ type: 'COUNT' }, { event_name: 'elsewhere' });
      for (const more of [{ meter_id: other.id }, { meter_id: 'meter_missing' }, { external_customer_id: 'nobody' }]) {
        const { status, body } = await ask(more);
        expect([status, body.total_value, body.event_count]).toEqual([200, '0', 0]);
      } // prettier-ignore
    });

    test.each([
      ['aggregation_type', { aggregation_type: 'MEDIAN' }],
      ['aggregation_type', { aggregation_type: 'COUNT_UNIQUE' }],
      ['window_size', { window_size: 'YEAR' }],
      ['timezone', { timezone: 'Mars/Olympus' }],
      ['external_customer_id', { external_customer_id: '' }],
      ['start_time', { start_time: undefined }],
      ['end_time', { end_time: '2026-05-01T00:00:00Z' }],
    ])('400 names %s: %j', async (path, more) => {
      const { status, body } = await ask(more);
      expect([status, body.details[0].path]).toEqual([400, path]);
    });

    test('analytics: items of several meters, those without usage left out; no meter: 400', async () => {
      const asked = { external_customer_id: 'acme', ...JUNE, aggregation_type: 'SUM' };
      const { body } = await post('/meter-usage/analytics', { ...asked, meter_ids: [sum.id, 'x'] });
      expect(body.items.map((item: any) => [item.meter_id, item.total_value])).toEqual([
        [sum.id, '11'],
      ]);
      expect((await post('/meter-usage/analytics', { ...asked, meter_ids: [] })).status).toBe(400);
    });

    test('detailed analytics: the answer of /events/analytics for a named customer', async () => {
      const detailed = await post('/meter-usage/detailed-analytics', {
        external_customer_id: 'acme', ...JUNE, meter_ids: [sum.id],
      }); // prettier-ignore
      const { body } = await post('/events/analytics', {
        external_customer_id: 'acme', ...JUNE, feature_ids: [feature.id],
      }); // prettier-ignore
      expect(detailed.body).toEqual(body);
      expect((await post('/meter-usage/detailed-analytics', JUNE)).status).toBe(400);
    });
  });

  describe('GET /customers/usage', () => {
    test('200: the running reset window, against the limit of all sources', async () => {
      const { status, body } = await get(`/customers/usage?customer_id=${customer.id}`);
      expect(status).toBe(200);
      expect(body.features).toHaveLength(1);
      expect(body.features[0]).toMatchObject({
        total_limit: 40, is_unlimited: false, current_usage: '11', usage_percent: '27.5',
        is_enabled: true, is_soft_limit: false, next_usage_reset_at: null,
        sources: [{ subscription_id: subscription.id, entity_type: 'plan', usage_limit: 40, quantity: 1 }],
      }); // prettier-ignore
      const byKey = await get(
        '/customers/usage?customer_lookup_key=acme&feature_lookup_keys=calls,x',
      );
      const byPath = await get(
        `/customers/${customer.id}/usage?subscription_ids=${subscription.id}`,
      );
      expect([byKey.body, byPath.body]).toEqual([body, body]);
    });

    test("200: a subscription's own entitlement counts, as in the list of entitlements", async () => {
      const own = await post('/entitlements', {
        entity_type: 'SUBSCRIPTION', entity_id: subscription.id, feature_id: feature.id,
        feature_type: 'metered', usage_limit: 4, usage_reset_period: 'ANNUAL',
      }); // prettier-ignore
      const [used] = (await get(`/customers/${customer.id}/usage`)).body.features;
      const [granted] = (await get(`/customers/${customer.id}/entitlements`)).body.features;
      expect([used.total_limit, used.usage_percent]).toEqual([44, '25']);
      expect(granted.entitlement.usage_limit).toBe(44);
      expect(used.sources).toHaveLength(2);
      expect(used.sources).toEqual(granted.sources);
      expect((await world.api.delete(`/v1/entitlements/${own.body.id}`)).status).toBe(200);
    });

    test('200 and empty where a filter matches nothing', async () => {
      for (const filter of [
        'feature_ids=feat_x',
        'feature_lookup_keys=x',
        'subscription_ids=subs_x',
      ]) {
        const { body } = await get(`/customers/${customer.id}/usage?${filter}`);
        expect(body).toEqual({
          customer_id: customer.id,
          features: [],
          period: null,
          pagination: null,
        });
      }
    });

    test('400 without a customer, 404 for an unknown one', async () => {
      expect((await get('/customers/usage')).status).toBe(400);
      expect((await get('/customers/usage?customer_id=cust_missing')).status).toBe(404);
      expect((await get('/customers/usage?customer_lookup_key=nobody')).status).toBe(404);
      const both = `/customers/usage?customer_id=${customer.id}&customer_lookup_key=`;
      expect((await get(`${both}acme`)).status).toBe(200);
      const differ = await get(`${both}nobody`);
      expect([differ.status, differ.body.details[0].path]).toEqual([400, 'customer_lookup_key']);
      expect((await get('/customers/cust_missing/usage')).status).toBe(404);
    });
  });

  describe('POST /subscriptions/usage', () => {
    test('200: numbers, before the allowance; the whole rounds the unrounded sum', async () => {
      const { status, body } = await post('/subscriptions/usage', {
        subscription_id: subscription.id, ...JUNE,
      }); // prettier-ignore
      expect(status).toBe(200);
      const charges = body.charges.map((c: any) => [
        c.meter_id,
        c.quantity,
        c.amount,
        c.is_overage,
      ]);
      expect(charges).toEqual([
        [sum.id, 11, 0.02, false],
        [weighted.id, 15, 15, false],
      ]);
      expect(body).toMatchObject({
        amount: 15.02, currency: 'usd', display_amount: '$15.02', has_overage: false,
        commitment_amount: 0, overage_factor: 1,
      }); // prettier-ignore
    });

    test('400 without an id or with times the wrong way round, 404 for an unknown one', async () => {
      expect((await post('/subscriptions/usage', JUNE)).status).toBe(400);
      expect((await post('/subscriptions/usage', { subscription_id: 'subs_x' })).status).toBe(404);
      const reversed = { start_time: JUNE.end_time, end_time: JUNE.start_time };
      const asked = { subscription_id: subscription.id, ...reversed };
      expect((await post('/subscriptions/usage', asked)).status).toBe(400);
    });
  });

  describe('POST /costs/analytics', () => {
    const ask = (more: object = {}) =>
      post('/costs/analytics', { external_customer_id: 'acme', ...JUNE, ...more });

    test('200: without a costsheet the cost is 0; with one, cost and revenue of the same usage', async () => {
      const before = await ask({ external_customer_id: 'nobody' });
      expect(before.body).toMatchObject({
        cost_analytics: [], total_revenue: '0', total_cost: '0', margin: '0', margin_percent: '0', roi: '0',
        roi_percent: '0', currency: '',
      }); // prettier-ignore
      const sheet = await post('/costs', { name: 'Cost' });
      await post('/prices', {
        ...start, entity_type: 'COSTSHEET', entity_id: sheet.body.costsheet.id, type: 'USAGE', meter_id: weighted.id,
        currency: 'usd', billing_period: 'MONTHLY', billing_period_count: 1, billing_model: 'FLAT_FEE',
        invoice_cadence: 'ARREAR', price_unit_type: 'FIAT', amount: '0.4',
      }); // prettier-ignore
      const { body } = await ask();
      // Calls stay within their allowance; seats bring 15 and cost 6.
      expect(body).toMatchObject({
        total_revenue: '15', total_cost: '6', margin: '9', margin_percent: '60', roi: '1.5', roi_percent: '150',
        currency: 'usd', start_time: '2026-06-01T00:00:00.000Z',
      }); // prettier-ignore
      expect(body.cost_analytics).toMatchObject([
        { meter_id: weighted.id, total_cost: '6', total_quantity: '15', total_events: 1, customer_id: customer.id },
      ]); // prettier-ignore
      expect(
        (await post('/costs/analytics-v2', { external_customer_id: 'acme', ...JUNE })).body,
      ).toEqual(body);
      const everyone = await post('/costs/analytics', JUNE);
      expect([everyone.body.total_revenue, everyone.body.total_cost]).toEqual(['15', '6']);
      const none = await ask({ feature_ids: [feature.id] });
      expect([none.body.total_cost, none.body.total_revenue]).toEqual(['0', '0']);
      expect((await ask({ external_customer_id: 'nobody' })).body.roi).toBe('0');
    });

    test('400: invalid times, or an end before the start', async () => {
      expect((await ask({ start_time: 'x' })).status).toBe(400);
      expect((await ask({ end_time: '2025-01-01T00:00:00Z' })).status).toBe(400);
    });
  });

  describe('POST /events/analytics', () => {
    test('200: what an allowance leaves free costs nothing, and its groups share that', async () => {
      const { body } = await post('/events/analytics', {
        external_customer_id: 'acme', ...JUNE, feature_ids: [feature.id], include_children: true,
      }); // prettier-ignore
      expect(body.items).toMatchObject([{ total_usage: '11', total_cost: '0', event_count: 3 }]);
    });
  });

  describe('GET /events/monitoring', () => {
    test('200: accepted, duplicates, metered, rejected; nothing waits', async () => {
      const query = 'start_time=2026-06-01T00:00:00Z&end_time=2026-07-01T00:00:00Z';
      const { status, body } = await get(`/events/monitoring?${query}&window_size=DAY`);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        total_count: 6, accepted_count: 6, duplicate_count: 1, metered_count: 4, rejected_count: 1,
        post_processing_lag: 0,
      }); // prettier-ignore
      expect(body.points).toEqual([
        { timestamp: '2026-06-10T00:00:00.000Z', event_count: 2 },
        { timestamp: '2026-06-12T00:00:00.000Z', event_count: 2 },
        { timestamp: '2026-06-16T00:00:00.000Z', event_count: 1 },
        { timestamp: '2026-06-20T00:00:00.000Z', event_count: 1 },
      ]);
      const elsewhere = await world.api.newCaller();
      const other = await elsewhere.get(`/v1/events/monitoring?${query}`);
      expect([other.body.total_count, other.body.points]).toEqual([0, null]);
    });

    test.each(['start_time=2001-01-01T00:00:00Z', 'start_time=x', 'window_size=YEAR'])(
      '400: %s',
      async (query) => {
        expect((await get(`/events/monitoring?${query}`)).status).toBe(400);
      },
    );
  });

  describe('POST /events/huggingface-billing', () => {
    test('200: billionths of a dollar, in the requested order; unknown or uncounted usage costs 0', async () => {
      const { body } = await post('/events/huggingface-billing', {
        requestIds: ['r2', 'missing', 'r4', 'r2'],
      });
      expect(body.requests.map((r: any) => [r.requestId, r.costNanoUsd])).toEqual([
        ['r2', '8000000'],
        ['missing', '0'],
        ['r4', '0'],
        ['r2', '8000000'],
      ]);
    });

    test.each([{}, { requestIds: [] }, { requestIds: 'r2' }])('400: %j', async (body) => {
      expect((await post('/events/huggingface-billing', body)).status).toBe(400);
    });
  });

  test('POST /events/raw/reprocess: says what was rejected; bad times are 400', async () => {
    const body = { start_date: '2026-06-01T00:00:00Z', end_date: '2026-07-01T00:00:00Z' };
    for (const which of ['all', 'pending']) {
      const { status, body: answer } = await post(`/events/raw/reprocess/${which}`, body);
      expect([status, answer.message]).toEqual([200, expect.stringMatching(/^1 events/)]);
      expect((await post(`/events/raw/reprocess/${which}`, {})).status).toBe(400);
      expect((await post(`/events/raw/reprocess/${which}`, { start_date: 'x' })).status).toBe(400);
      const reversed = { start_date: body.end_date, end_date: body.start_date };
      expect((await post(`/events/raw/reprocess/${which}`, reversed)).status).toBe(400);
    }
  });

  test('POST /usage-records/search: pages; bad limits and fields are 400', async () => {
    const { body } = await post('/usage-records/search', { customer_external_id: 'acme', limit: 10, offset: 20 }); // prettier-ignore
    expect(body).toEqual({
      items: [],
      pagination: { total: expect.any(Number), limit: 10, offset: 30 },
    });
    for (const wrong of [
      { limit: 0 },
      { limit: -1 },
      { limit: 1001 },
      { sort: [{ field: 'x', direction: 'asc' }] },
    ])
      expect((await post('/usage-records/search', wrong)).status).toBe(400);
  });
});
