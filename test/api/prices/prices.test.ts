import { meterVersionsOf } from '../../../postgres/tables/meter-versions.ts';
import { startTestApi, TEST_NOW, type TestApi } from '../../support/api.ts';
import { fixedPriceBody } from '../../support/price-body.ts';

describe('prices', () => {
  let api: TestApi;
  let plan: string;
  let meter: string;
  beforeAll(async () => {
    api = await startTestApi();
    plan = (await api.post('/v1/plans', { name: 'Pro' })).body.id;
    meter = (await api.post('/v1/meters', { name: 'Calls', event_name: 'call', aggregation: { type: 'SUM', field: 'n' }, reset_usage: 'BILLING_PERIOD' })).body.id; // prettier-ignore
  });
  afterAll(() => api.close());

  const fixed = (fields: object = {}) => fixedPriceBody(plan, fields);
  const usage = (fields: object = {}) =>
    fixed({ type: 'USAGE', invoice_cadence: 'ARREAR', meter_id: meter, ...fields });

  describe('201', () => {
    test('what is left out has its default', async () => {
      const { status, body: price } = await api.post('/v1/prices', fixed({ amount: '49.990' }));
      expect(status).toBe(201);
      expect(price).toMatchObject({
        amount: '49.99',
        display_amount: '$49.99',
        display_name: 'Pro',
        billing_period_count: 1,
        billing_cadence: 'RECURRING',
        price_unit_type: 'FIAT',
        price_unit_amount: '0',
        conversion_rate: '1',
        parent_price_id: price.id,
        start_date: null,
        end_date: null,
        trial_period: 0,
        trial_period_days: 0,
        min_quantity: null,
        transform_quantity: { divide_by: 1, round: null },
        tiers: null,
        meter: null,
      });
    });

    test.each([
      ['12.5', 'jpy', '¥12.5'],
      ['12.5', 'EUR', '€12.50'],
      ['0.0004', 'usd', '$0.0004'],
      ['7', 'CHF', 'CHF7.00'],
      ['0.12345678901234567', 'usd', '$0.123456789012346'],
    ])('%s %s is shown as %s', async (amount, currency, shown) => {
      const { body: price } = await api.post('/v1/prices', fixed({ amount, currency }));
      expect(price.display_amount).toBe(shown);
    });

    test('tiers keep their order; an open end is null', async () => {
      const { body: price } = await api.post(
        '/v1/prices',
        usage({
          billing_model: 'TIERED',
          amount: undefined,
          tier_mode: 'SLAB',
          tiers: [{ unit_amount: '0.005' }, { up_to: 1000, unit_amount: '0.01', flat_amount: '2' }],
        }),
      );
      expect(price).toMatchObject({
        amount: '0',
        display_name: 'Calls',
        tiers: [
          { up_to: null, unit_amount: '0.005', flat_amount: null },
          { up_to: 1000, unit_amount: '0.01', flat_amount: '2' },
        ],
      });
    });

    test('a unit is converted to money at its current rate, without rounding', async () => {
      const { body: unit } = await api.post('/v1/prices/units', {
        name: 'C',
        code: 'CRD',
        symbol: 'cr',
        base_currency: 'USD',
        conversion_rate: '0.3333',
      });
      expect(unit).toMatchObject({ code: 'crd', base_currency: 'usd', conversion_rate: '0.3333' });
      const custom = {
        amount: undefined,
        price_unit_type: 'CUSTOM',
        price_unit_config: { price_unit: 'crd', amount: '100.5' },
      };
      const { body: price } = await api.post('/v1/prices', fixed(custom));
      expect(price).toMatchObject({
        amount: '33.49665',
        price_unit: 'crd',
        price_unit_id: unit.id,
        price_unit_amount: '100.5',
        display_price_unit_amount: 'cr100.50',
        conversion_rate: '0.3333',
        pricing_unit: { id: unit.id },
      });
      await api.delete(`/v1/prices/units/${unit.id}`);
      expect((await api.post('/v1/prices', fixed(custom))).status).toBe(404);
      const { body: next } = await api.put(`/v1/prices/${price.id}`, { price_unit_amount: '200' });
      expect(next).toMatchObject({
        amount: '66.66',
        parent_price_id: price.id,
        conversion_rate: '0.3333',
      });
    });

    test('a filter on a new property makes a version of the meter that keeps it', async () => {
      const dimensions = async () =>
        (await meterVersionsOf(api.pool, api.scope, [meter])).map((version) => version.dimensions);
      const before = (await dimensions()).length;
      await api.post('/v1/prices/bulk', {
        items: [
          usage({ filter_values: { region: ['eu'] } }),
          usage({ filter_values: { region: ['us'], tier: ['a'] } }),
        ],
      });
      expect(await dimensions()).toHaveLength(before + 1);
      expect((await dimensions())[0]).toEqual(['region', 'tier']);
      await api.post('/v1/prices', usage({ filter_values: { tier: ['b'] } }));
      expect(await dimensions()).toHaveLength(before + 1);
    });

    test('a price may have a bucket', async () => {
      const { body: price } = await api.post('/v1/prices', usage({ bucket_size: 'HOUR' }));
      expect(price.bucket_size).toBe('HOUR');
      const { body: next } = await api.put(`/v1/prices/${price.id}`, { bucket_size: 'none' });
      expect([next.bucket_size, next.parent_price_id]).toEqual([null, price.id]);
    });

    test('a meter on a fixed price is dropped', async () => {
      expect((await api.post('/v1/prices', fixed({ meter_id: meter }))).body.meter_id).toBe('');
    });

    test('bulk keeps the order', async () => {
      const { body } = await api.post('/v1/prices/bulk', {
        items: [fixed({ amount: '1' }), fixed({ amount: '2' }), fixed({ amount: '3' })],
      });
      expect(body.items.map((price: { amount: string }) => price.amount)).toEqual(['1', '2', '3']);
    });
  });

  describe('versions', () => {
    test('a change of terms ends one version and begins the next at the same instant', async () => {
      const { body: first } = await api.post(
        '/v1/prices',
        fixed({
          lookup_key: 'v',
          metadata: { a: '1' },
          description: 'one',
          start_date: '2026-01-15T00:00:00Z',
        }),
      );
      const { body: second } = await api.put(`/v1/prices/${first.id}`, {
        amount: '12',
        effective_from: '2026-02-01T00:00:00Z',
      });
      const { body: third } = await api.put(`/v1/prices/${second.id}`, { amount: '15' });
      expect(second).toMatchObject({
        amount: '12',
        start_date: '2026-02-01T00:00:00.000Z',
        parent_price_id: first.id,
        lookup_key: 'v',
        description: 'one',
        metadata: { a: '1' },
      });
      expect(third).toMatchObject({
        amount: '15',
        start_date: TEST_NOW,
        parent_price_id: first.id,
      });
      expect((await api.get(`/v1/prices/${first.id}`)).body.end_date).toBe(
        '2026-02-01T00:00:00.000Z',
      );
      expect((await api.get('/v1/prices/lookup/v')).body.id).toBe(third.id);
      const lineage = await api.post('/v1/prices/search', {
        parent_price_id: first.id,
        allow_expired_prices: true,
        sort: 'start_date',
        order: 'asc',
      });
      expect(lineage.body.items.map((price: { id: string }) => price.id)).toEqual([
        first.id,
        second.id,
        third.id,
      ]);
      const live = await api.post('/v1/prices/search', { parent_price_id: first.id });
      expect(live.body.items.map((price: { id: string }) => price.id)).toEqual([third.id]);
    });

    test('text changes the version itself; null clears', async () => {
      const { body: price } = await api.post(
        '/v1/prices',
        fixed({ description: 'one', metadata: { a: '1' } }),
      );
      const { body: same } = await api.put(`/v1/prices/${price.id}`, {
        description: null,
        display_name: 'Base',
        metadata: { b: '2' },
        amount: '10.00',
      });
      expect(same).toMatchObject({
        id: price.id,
        description: '',
        display_name: 'Base',
        metadata: { b: '2' },
      });
    });

    test('delete sets the end and nothing else', async () => {
      const { body: price } = await api.post('/v1/prices', fixed({ lookup_key: 'ends' }));
      expect(
        (await api.delete(`/v1/prices/${price.id}`, { end_date: '2027-01-01T00:00:00Z' })).status,
      ).toBe(200);
      expect((await api.get(`/v1/prices/${price.id}`)).body).toMatchObject({
        status: 'published',
        end_date: '2027-01-01T00:00:00.000Z',
      });
      expect((await api.delete(`/v1/prices/${price.id}`, {})).body.code).toBe('invalid_operation');
      expect((await api.get('/v1/prices/lookup/ends')).status).toBe(404);
      expect((await api.post('/v1/prices', fixed({ lookup_key: 'ends' }))).status).toBe(201);
    });

    test('a plan says how many of its subscriptions are behind', async () => {
      const { body: sold } = await api.post('/v1/plans', { name: 'Sold' });
      const { body: price } = await api.post('/v1/prices', fixed({ entity_id: sold.id }));
      const { body: customer } = await api.post('/v1/customers', {
        external_id: 'sync',
        name: 'S',
      });
      const made = await api.post('/v1/subscriptions', {
        customer_id: customer.id,
        plan_id: sold.id,
        currency: 'usd',
        billing_period: 'MONTHLY',
        billing_cycle: 'anniversary',
      });
      expect(made.status).toBe(201);
      const behind = async () =>
        (await api.get(`/v1/plans/${sold.id}?expand=price_sync_status`)).body.price_sync_status
          .unsynced_subscription_count;
      expect(await behind()).toBe(0);
      await api.put(`/v1/prices/${price.id}`, {
        description: 'text alone concerns no subscription',
      });
      expect(await behind()).toBe(0);
      await api.put(`/v1/prices/${price.id}`, { amount: '11' });
      expect(await behind()).toBe(1);
    });
  });

  describe('400', () => {
    test.each([
      ['amount', { amount: null }],
      ['amount', { amount: '-1' }],
      ['billing_period_count', { billing_period_count: 0 }],
      ['tier_mode', { billing_model: 'TIERED', amount: null, tiers: [{ unit_amount: '1' }] }],
      ['tiers', { billing_model: 'TIERED', amount: null, tier_mode: 'SLAB' }],
      [
        'tiers[1].up_to',
        {
          billing_model: 'TIERED',
          amount: null,
          tier_mode: 'SLAB',
          tiers: [
            { up_to: 5, unit_amount: '1' },
            { up_to: 5, unit_amount: '1' },
          ],
        },
      ],
      ['transform_quantity', { billing_model: 'PACKAGE' }],
      [
        'transform_quantity.round',
        { billing_model: 'PACKAGE', transform_quantity: { divide_by: 5, round: 'near' } },
      ],
      ['end_date', { start_date: '2026-01-01T00:00:00Z', end_date: '2026-01-01T00:00:00Z' }],
      ['price_unit_config', { price_unit_type: 'CUSTOM', amount: null }],
      ['price_unit_type', { price_unit_type: 'SHELLS' }],
      ['trial_period_days', { trial_period: 3, trial_period_days: 4 }],
      ['min_quantity', { min_quantity: '5' }],
      ['entity_type', { entity_type: 'PRICE' }],
      ['filter_values', { filter_values: { a: ['b'] } }],
      ['group_id', { group_id: 'group_x' }],
    ])('%s', async (path, fields) => {
      const answer = await api.post('/v1/prices', fixed(fields));
      expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
    });

    test.each([
      ['meter_id', { meter_id: null }],
      ['invoice_cadence', { invoice_cadence: 'ADVANCE' }],
      ['billing_period', { billing_period: 'ONETIME' }],
      ['min_quantity', { min_quantity: 2 }],
      ['trial_period', { trial_period: 7 }],
    ])('of usage: %s', async (path, fields) => {
      const answer = await api.post('/v1/prices', usage(fields));
      expect(answer.status).toBe(400);
      expect(answer.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
    });

    test('an archived plan takes no prices', async () => {
      const { body: old } = await api.post('/v1/plans', { name: 'Old' });
      await api.delete(`/v1/plans/${old.id}`);
      expect(
        (await api.post('/v1/prices', fixed({ entity_id: old.id }))).body.details[0].path,
      ).toBe('entity_id');
    });

    test('a new version may not begin before the old one, nor an ended price have one', async () => {
      const { body: price } = await api.post(
        '/v1/prices',
        fixed({ start_date: '2026-03-01T00:00:00Z' }),
      );
      const put = (body: object) => api.put(`/v1/prices/${price.id}`, body);
      expect(
        (await put({ amount: '11', effective_from: '2026-02-01T00:00:00Z' })).body.details[0].path,
      ).toBe('effective_from');
      expect((await put({ effective_from: '2026-04-01T00:00:00Z' })).body.details[0].path).toBe(
        'effective_from',
      );
      expect((await put({ price_unit_amount: '5' })).status).toBe(400);
      expect((await put({ group_id: 'group_x' })).body.details[0].path).toBe('group_id');
      await api.delete(`/v1/prices/${price.id}`, { end_date: '2026-04-01T00:00:00Z' });
      expect((await put({ amount: '11' })).body.code).toBe('invalid_operation');
      expect((await put({ description: 'text goes on' })).status).toBe(200);
    });

    test('a delete has a body', async () => {
      const { body: price } = await api.post('/v1/prices', fixed());
      expect((await api.delete(`/v1/prices/${price.id}`)).status).toBe(400);
      expect((await api.delete(`/v1/prices/${price.id}`, {})).status).toBe(200);
    });
  });

  describe('404 and 409', () => {
    test.each([
      ['plan', { entity_id: 'plan_x' }],
      ['addon', { entity_type: 'ADDON', entity_id: 'addon_x' }],
      ['subscription', { entity_type: 'SUBSCRIPTION', entity_id: 'subs_x' }],
      ['costsheet', { entity_type: 'COSTSHEET', entity_id: 'cost_x' }],
      [
        'unit',
        {
          amount: undefined,
          price_unit_type: 'CUSTOM',
          price_unit_config: { price_unit: 'zzz', amount: '1' },
        },
      ],
    ])('an unknown %s', async (_what, fields) => {
      expect((await api.post('/v1/prices', fixed(fields))).status).toBe(404);
    });

    test('an unknown meter, though a contradiction comes first', async () => {
      expect((await api.post('/v1/prices', usage({ meter_id: 'meter_x' }))).status).toBe(404);
      expect(
        (await api.post('/v1/prices', usage({ meter_id: 'meter_x', invoice_cadence: 'ADVANCE' })))
          .status,
      ).toBe(400);
    });

    test('bulk makes all or none and names the item', async () => {
      const count = async () =>
        (await api.post('/v1/prices/search', { plan_ids: [plan] })).body.pagination.total;
      await api.post('/v1/prices', fixed({ lookup_key: 'once' }));
      const before = await count();
      const taken = await api.post('/v1/prices/bulk', {
        items: [fixed(), fixed({ lookup_key: 'once' })],
      });
      expect([taken.status, taken.body.details[0].path]).toEqual([409, 'items[1].lookup_key']);
      const wrong = await api.post('/v1/prices/bulk', {
        items: [fixed(), fixed({ amount: null })],
      });
      expect([wrong.status, wrong.body.details[0].path]).toEqual([400, 'items[1].amount']);
      const missing = await api.post('/v1/prices/bulk', {
        items: [fixed(), fixed({ entity_id: 'plan_x' })],
      });
      expect([missing.status, missing.body.details[0].path]).toEqual([404, 'items[1]']);
      expect(await count()).toBe(before);
    });
  });
});
