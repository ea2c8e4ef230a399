import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';

describe('the test bench of meters', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  const EVENT = { event_name: 'tokens', external_customer_id: 'acme', event_id: 'e1' };
  const definition = (aggregation: object, more: object = {}) => ({
    name: 'M',
    event_name: 'tokens',
    aggregation,
    reset_usage: 'BILLING_PERIOD',
    ...more,
  });
  const bench = async (aggregation: object, properties: object, more: object = {}) => {
    const answer = await api.post('/v1/meters/test', {
      meter: definition(aggregation, more),
      event: { ...EVENT, properties },
    });
    expect(answer.status).toBe(200);
    return answer.body;
  };

  describe('200: a definition', () => {
    test.each([
      ['COUNT', { type: 'COUNT' }, {}, { quantity: '1', source: 'event', field: null }],
      ['a field', { type: 'SUM', field: 'n' }, { n: '1.50' }, { quantity: '1.5', source: 'field' }],
      [
        'an expression',
        { type: 'SUM', expression: 'a + b' },
        { a: 0.1, b: 0.2 },
        { quantity: '0.3', source: 'expression', expression: 'a + b' },
      ],
      [
        'a multiplier',
        { type: 'SUM_WITH_MULTIPLIER', field: 'n', multiplier: '0.5' },
        { n: 3 },
        { quantity: '3', multiplier: '0.5', multiplied: '1.5' },
      ],
      [
        'a distinct value',
        { type: 'COUNT_UNIQUE', field: 'user' },
        { user: 5 },
        {
          quantity: '1',
          unique_value: '5',
          // sha256('5'), the first half
          unique_hash: 'ef2d127de37b942baad06145e54b0c61',
        },
      ],
    ])('the value of %s, and how it was found', async (_name, aggregation, properties, value) => {
      const body = await bench(aggregation, properties);
      expect(body).toMatchObject({ matches: true, is_metered: true, reason: null, value });
    });

    test.each([
      ['value_missing', { type: 'SUM', field: 'n' }, {}],
      ['value_not_numeric', { type: 'SUM', field: 'n' }, { n: 'many' }],
      ['value_out_of_range', { type: 'SUM', field: 'n' }, { n: '123456789012345678901' }],
      ['expression_failed', { type: 'SUM', expression: '1 / n' }, { n: 0 }],
      ['value_missing', { type: 'COUNT_UNIQUE', field: 'n' }, { n: null }],
    ])('%s: it matches and is not metered', async (reason, aggregation, properties) => {
      const body = await bench(aggregation, properties);
      expect(body).toMatchObject({ matches: true, is_metered: false, reason, value: null });
      expect(body.message).not.toBe('');
    });

    test('filters, one by one: what was wanted and what was found', async () => {
      const filters = [
        { key: 'region', values: ['eu', 'us'] },
        { key: 'tier', values: ['1'] },
        { key: 'plan', values: ['pro'] },
      ];
      const body = await bench({ type: 'COUNT' }, { region: 'eu', tier: 1 }, { filters });
      expect(body).toMatchObject({
        matches: false,
        is_metered: false,
        reason: 'filter_differs',
        filters: [
          { key: 'region', wanted: ['eu', 'us'], found: 'eu', matches: true },
          { key: 'tier', wanted: ['1'], found: '1', matches: true },
          { key: 'plan', wanted: ['pro'], found: null, matches: false },
        ],
      });
    });

    test('another event name; the group and the bucket of MAX in windows', async () => {
      const other = await bench({ type: 'COUNT' }, {}, { event_name: 'requests' });
      expect(other).toMatchObject({
        matches: false,
        reason: 'event_name_differs',
        event_name: { wanted: 'requests', found: 'tokens', matches: false },
      });
      const { body } = await api.post('/v1/meters/test', {
        meter: definition({ type: 'MAX', field: 'n', bucket_size: 'HOUR', group_by: 'host' }),
        event: {
          ...EVENT,
          timestamp: '2026-11-20T10:17:00+01:00',
          properties: { n: 4, host: 'a' },
        },
      });
      expect(body).toMatchObject({
        group: 'a',
        dimensions: { host: 'a' },
        timestamp: '2026-11-20T09:17:00.000Z',
        bucket: { bucket_size: 'HOUR', window_start: '2026-11-20T09:00:00.000Z', timezone: 'UTC' },
        customer_id: null,
        charges: [],
      });
    });
  });

  test('200: a stored meter, and what of the customer would be charged', async () => {
    const catalog = catalogOf(api);
    const meter = await catalog.meter({ type: 'SUM', field: 'n' }, { event_name: 'tokens' });
    const plan = await catalog.plan();
    const price = await catalog.usage(plan, meter, { filter_values: { region: ['eu'] } });
    await catalog.usage(plan, meter, { filter_values: { region: ['us'] } });
    const customer = await catalog.customer({ external_id: 'acme' });
    const subscription = await catalog.subscribe(customer, plan, {
      start_date: '2026-11-01T00:00:00Z',
    });
    const test = async (properties: object, more: object = {}) =>
      (
        await api.post(`/v1/meters/${meter.id}/test`, {
          event: { ...EVENT, timestamp: '2026-11-10T00:00:00Z', properties, ...more },
        })
      ).body;
    expect(await test({ n: 2, region: 'eu' })).toMatchObject({
      is_metered: true,
      customer_id: customer.id,
      dimensions: { region: 'eu' },
      charges: [{ subscription_id: subscription.id, price_id: price.id }],
    });
    expect((await test({ n: 2, region: 'asia' })).charges).toEqual([]);
    expect((await test({ region: 'eu' })).charges).toEqual([]);
    const early = { timestamp: '2026-10-31T23:59:59Z' };
    expect((await test({ n: 2, region: 'eu' }, early)).charges).toEqual([]);
  });

  test.each([
    [
      'event.event_name',
      { meter: definition({ type: 'COUNT' }), event: { external_customer_id: 'a' } },
    ],
    ['meter.aggregation.field', { meter: definition({ type: 'SUM' }), event: EVENT }],
    [
      'meter.aggregation.expression',
      { meter: definition({ type: 'SUM', expression: 'n +' }), event: EVENT },
    ],
    [
      'event.properties.n',
      { meter: definition({ type: 'COUNT' }), event: { ...EVENT, properties: { n: 0.1 + 0.2 } } },
    ],
    [
      'event.timestamp',
      { meter: definition({ type: 'COUNT' }), event: { ...EVENT, timestamp: 'x' } },
    ],
  ])('400: %s', async (path, body) => {
    const answer = await api.post('/v1/meters/test', body);
    expect([answer.status, answer.body.details?.[0]?.path]).toEqual([400, path]);
  });

  test('404 for an unknown meter', async () => {
    expect((await api.post('/v1/meters/meter_x/test', { event: EVENT })).status).toBe(404);
  });
});
