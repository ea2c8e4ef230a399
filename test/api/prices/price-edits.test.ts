import { startTestApi, type TestApi } from '../../support/api.ts';
import { fixedPriceBody } from '../../support/price-body.ts';

/** Versions of prices over changes of their model, and of what they stand on (billing 2.1, 2.7). */
describe('price edits', () => {
  let api: TestApi;
  let plan: string;
  let meter: string;
  beforeAll(async () => {
    api = await startTestApi();
    plan = (await api.post('/v1/plans', { name: 'Pro' })).body.id;
    meter = await newMeter();
    const unit = { name: 'Tokens', code: 'tok', symbol: 't', base_currency: 'usd' };
    await api.post('/v1/prices/units', { ...unit, conversion_rate: '0.02' });
  });
  afterAll(() => api.close());

  const newMeter = async (): Promise<string> =>
    (
      await api.post('/v1/meters', {
        name: 'Calls',
        event_name: 'call',
        aggregation: { type: 'SUM', field: 'n' },
        reset_usage: 'BILLING_PERIOD',
      })
    ).body.id;
  const flat = (fields: object = {}) => fixedPriceBody(plan, fields);
  const tiers = [{ up_to: 5, unit_amount: '2' }, { unit_amount: '1' }];
  const tiered = { billing_model: 'TIERED', tier_mode: 'SLAB', amount: null, tiers };
  const inUnits = (config: object, fields: object = {}) =>
    flat({
      price_unit_type: 'CUSTOM',
      amount: null,
      price_unit_config: { price_unit: 'tok', ...config },
      ...fields,
    });
  const unitTiers = { billing_model: 'TIERED', tier_mode: 'SLAB' };
  const create = async (body: object): Promise<string> => {
    const { status, body: price } = await api.post('/v1/prices', body);
    expect(status).toBe(201);
    return price.id;
  };
  const problems = (answer: { body: { details: { path: string }[] } }) =>
    answer.body.details.map(({ path }) => path);

  test.each<[string, () => object, object, string[]]>([
    ['to FLAT_FEE from tiers, without an amount', () => flat(tiered), { billing_model: 'FLAT_FEE' }, ['amount']],
    ['to PACKAGE, without a size', flat, { billing_model: 'PACKAGE' }, ['transform_quantity']],
    ['to TIERED, without tiers', flat, { billing_model: 'TIERED', tier_mode: 'VOLUME' }, ['tiers']],
    ['tiers for a flat fee', flat, { tiers }, ['tiers']],
    ['a tier mode for a flat fee', flat, { tier_mode: 'SLAB' }, ['tier_mode']],
    ['an amount beside tiers', () => flat(tiered), { amount: '3' }, ['amount']],
    ['a package size for a flat fee', flat, { transform_quantity: { divide_by: 5 } }, ['transform_quantity']],
    ['a negative amount in units', () => inUnits({ amount: '100' }), { price_unit_amount: '-1' }, ['price_unit_amount']],
    ['tiers in units for a flat fee', () => inUnits({ amount: '100' }), { price_unit_tiers: tiers }, ['price_unit_tiers']],
    ['no amount in units after tiers', () => inUnits({ price_unit_tiers: tiers }, unitTiers), { billing_model: 'FLAT_FEE' }, ['price_unit_amount']],
    ['a bad tier in units', () => inUnits({ price_unit_tiers: tiers }, unitTiers), { price_unit_tiers: [{ up_to: 0, unit_amount: '1' }] }, ['price_unit_tiers[0].up_to']],
  ])('400: %s; the price stays as it is', async (_title, made, edit, paths) => {
    const id = await create(made());
    const answer = await api.put(`/v1/prices/${id}`, edit);
    expect([answer.status, answer.body.code, problems(answer)]).toEqual([400, 'validation_error', paths]);
    expect((await api.get(`/v1/prices/${id}`)).body.end_date).toBeNull();
  }); // prettier-ignore

  test('200: with what the new model needs, and nothing of the old one', async () => {
    const id = await create(flat(tiered));
    const edit = { billing_model: 'PACKAGE', amount: '7', transform_quantity: { divide_by: 10 } };
    const { status, body } = await api.put(`/v1/prices/${id}`, edit);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      amount: '7',
      tiers: null,
      tier_mode: null,
      transform_quantity: { divide_by: 10, round: null },
      parent_price_id: id,
    });
    const back = await api.put(`/v1/prices/${body.id}`, { ...tiered, amount: undefined });
    expect(back.body).toMatchObject({ amount: '0', tier_mode: 'SLAB', parent_price_id: id });
    expect(back.body.transform_quantity).toEqual({ divide_by: 1, round: null });
  });

  test('200: a single price embeds the requested records, by id and by key', async () => {
    const feature = { name: 'Calls', type: 'metered', lookup_key: 'calls', meter_id: meter };
    const { body: made } = await api.post('/v1/features', feature);
    const usage = { type: 'USAGE', invoice_cadence: 'ARREAR', meter_id: meter };
    const id = await create(flat({ ...usage, lookup_key: 'calls' }));
    const asked = 'expand=features,plan';
    for (const path of [`/v1/prices/${id}`, '/v1/prices/lookup/calls']) {
      const { body } = await api.get(`${path}?${asked}`);
      expect([body.features.map((each: { id: string }) => each.id), body.plan.id]).toEqual([[made.id], plan]); // prettier-ignore
      expect((await api.get(path)).body).toMatchObject({ features: null, plan: null, meter: { id: meter } }); // prettier-ignore
      expect(problems(await api.get(`${path}?expand=odd`))).toEqual(['expand']);
    }
  });

  test('201: an override keeps the rate of the plan’s price after a change of the unit', async () => {
    const unit = { name: 'Old', code: 'old', symbol: 'o', base_currency: 'usd' };
    const { body: made } = await api.post('/v1/prices/units', { ...unit, conversion_rate: '0.5' });
    const { body: own } = await api.post('/v1/plans', { name: 'In units' });
    const config = { price_unit: 'old', amount: '20' };
    const id = await create(inUnits(config, { entity_id: own.id, price_unit_config: config }));
    await api.delete(`/v1/prices/units/${made.id}`);
    await api.post('/v1/prices/units', { ...unit, conversion_rate: '2' });
    await api.post('/v1/customers', { external_id: 'acme', name: 'Acme' });
    const { status, body } = await api.post('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: own.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      override_line_items: [
        { price_id: id, billing_model: 'PACKAGE', transform_quantity: { divide_by: 2 } },
      ],
    });
    expect(status).toBe(201);
    const { body: price } = await api.get(`/v1/prices/${body.line_items[0].price_id}`);
    expect(price).toMatchObject({
      entity_type: 'SUBSCRIPTION',
      parent_price_id: id,
      amount: '10',
      price_unit_amount: '20',
      conversion_rate: '0.5',
    });
  });

  test('400: a new price of an archived meter; existing prices stay in force', async () => {
    const archived = await newMeter();
    const usage = (meter_id: string) =>
      flat({ type: 'USAGE', invoice_cadence: 'ARREAR', meter_id });
    const id = await create(usage(archived));
    await api.delete(`/v1/meters/${archived}`);
    const refused = await api.post('/v1/prices', usage(archived));
    expect([refused.status, problems(refused)]).toEqual([400, ['meter_id']]);
    const items = [usage(meter), usage(archived)];
    const bulk = await api.post('/v1/prices/bulk', { items });
    expect([bulk.status, problems(bulk)]).toEqual([400, ['items[1].meter_id']]);
    expect((await api.put(`/v1/prices/${id}`, { amount: '12' })).status).toBe(200);
  });

  test.each<[string, () => object, string]>([
    ['its plan', flat, 'Pro'],
    ['its meter', () => flat({ type: 'USAGE', invoice_cadence: 'ARREAR', meter_id: meter }), 'Calls'],
  ])('a price whose name is cleared is called as %s again', async (_title, made, name) => {
    const id = await create({ ...made(), display_name: 'Seats' });
    expect((await api.put(`/v1/prices/${id}`, { description: 'x' })).body.display_name).toBe('Seats');
    expect((await api.put(`/v1/prices/${id}`, { display_name: '' })).body.display_name).toBe(name);
    await api.put(`/v1/prices/${id}`, { display_name: 'Seats' });
    const { body: next } = await api.put(`/v1/prices/${id}`, { amount: '9', display_name: null });
    expect(next).toMatchObject({ amount: '9', display_name: name });
  }); // prettier-ignore

  test('a date makes a version of terms that stay the same', async () => {
    const id = await create(flat({ amount: '10' }));
    const effective_from = '2026-12-01T00:00:00.000Z';
    const { status, body: next } = await api.put(`/v1/prices/${id}`, {
      amount: '10.0',
      effective_from,
    });
    expect(status).toBe(200);
    expect(next).toMatchObject({ amount: '10', start_date: effective_from, parent_price_id: id });
    expect((await api.get(`/v1/prices/${id}`)).body.end_date).toBe(effective_from);
  });

  test('a group that is archived concurrently keeps no price, without a deadlock', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { body: group } = await api.post('/v1/groups', {
        name: 'G', lookup_key: `going-${round}`, entity_type: 'price',
      }); // prettier-ignore
      const inGroup = flat({ amount: '1', group_id: group.id });
      const [member, other, third] = [await create(inGroup), await create(flat()), await create(inGroup)]; // prettier-ignore
      const joining = [
        api.post('/v1/prices', inGroup),
        api.put(`/v1/prices/${other}`, { group_id: group.id }),
        api.put(`/v1/prices/${member}`, { group_id: group.id }),
      ];
      const carrying = [
        api.put(`/v1/prices/${third}`, { amount: '2' }),
        api.post(`/v1/plans/${plan}/clone`, { name: 'Copy', lookup_key: `copy-${round}` }),
      ];
      const gone = api.delete(`/v1/groups/${group.id}`);
      for (const { status } of await Promise.all(joining))
        expect([200, 201, 400]).toContain(status);
      for (const { status } of await Promise.all(carrying)) expect([200, 201]).toContain(status);
      expect((await gone).status).toBe(204);
      expect((await api.get(`/v1/groups/${group.id}`)).body.entity_ids).toEqual([]);
    }
  });
});
