import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';

describe('addons', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  test('metadata takes any JSON; the key is needed, unique, and free after a delete', async () => {
    const { status, body: addon } = await api.post('/v1/addons', {
      name: 'A',
      lookup_key: 'a',
      metadata: { n: 1, deep: { x: [true] } },
    });
    expect([status, addon.type, addon.metadata]).toEqual([
      201,
      'onetime',
      { n: 1, deep: { x: [true] } },
    ]);
    expect((await api.post('/v1/addons', { name: 'A', lookup_key: 'a' })).status).toBe(409);
    expect((await api.post('/v1/addons', { name: 'A' })).status).toBe(400);
    expect(
      (await api.put(`/v1/addons/${addon.id}`, { name: 'B', metadata: { m: 2 } })).body,
    ).toMatchObject({ name: 'B', metadata: { m: 2 } });
    expect((await api.get('/v1/addons/lookup/a')).body).toMatchObject({
      id: addon.id,
      prices: [],
      entitlements: [],
      credit_grants: [],
    });
    for (const expand of ['credit_grant', 'credit_grants']) {
      const { body: found } = await api.post('/v1/addons/search', { expand });
      expect(found.items).toMatchObject([{ prices: null, credit_grants: [] }]);
    }
    await api.delete(`/v1/addons/${addon.id}`);
    expect((await api.get('/v1/addons/lookup/a')).status).toBe(404);
    expect((await api.get(`/v1/addons/${addon.id}`)).body.status).toBe('archived');
    expect((await api.post('/v1/addons', { name: 'A', lookup_key: 'a' })).status).toBe(201);
  });

  test('are found by their type', async () => {
    const many = { name: 'Many', lookup_key: 'many', type: 'multiple_instance' };
    const { body: addon } = await api.post('/v1/addons', many);
    const filters = [
      {
        field: 'type',
        operator: 'eq',
        data_type: 'string',
        value: { string: 'multiple_instance' },
      },
    ];
    const { body: found } = await api.post('/v1/addons/search', { filters });
    expect(found.items.map(({ id }: { id: string }) => id)).toEqual([addon.id]);
  });

  test('a search of subscriptions by addon finds those that have it in the current period or later', async () => {
    const catalog = catalogOf(api);
    const plan = await catalog.plan();
    await catalog.fixed(plan, '10');
    const { body: seats } = await api.post('/v1/addons', { name: 'Seats', lookup_key: 'seats' });
    const { body: other } = await api.post('/v1/addons', { name: 'Other', lookup_key: 'other' });
    for (const addon of [seats, other]) await catalog.fixed(addon, '5', { entity_type: 'ADDON' });
    const subscribe = async (addons: object[]) =>
      (await catalog.subscribe(await catalog.customer(), plan, { addons })).id as string;
    const [has, hasBoth, ends, removed] = [
      await subscribe([{ addon_id: seats.id }]),
      await subscribe([{ addon_id: other.id }, { addon_id: seats.id }]),
      await subscribe([{ addon_id: seats.id, cadence: 'onetime' }]),
      await subscribe([{ addon_id: seats.id }]),
    ];
    await subscribe([{ addon_id: other.id }]);
    await subscribe([]);
    const found = async (more: object = {}) => {
      const body = { addon_id: seats.id, ...more };
      const { body: page } = await api.post('/v1/subscriptions/search', body);
      expect(page.pagination.total).toBe(page.items.length);
      return page.items.map(({ id }: { id: string }) => id).toSorted();
    };
    expect(await found()).toEqual([has, hasBoth, ends, removed].toSorted());
    expect(await found({ plan_id: 'plan_none' })).toEqual([]);
    const list = await api.get(`/v1/subscriptions?addon_id=${other.id}`);
    expect(list.body.pagination.total).toBe(2);

    const at = (await api.get(`/v1/subscriptions/${removed}`)).body;
    const path = `/v1/subscriptions/${removed}/addons/associations`;
    const [association] = (await api.get(path)).body.items;
    const gone = await api.delete('/v1/subscriptions/addon', {
      addon_association_id: association.id,
      effective_date: at.start_date,
    });
    expect([gone.status, await found()]).toEqual([200, [has, hasBoth, ends].toSorted()]);
    // One that ends with the running period is still billed in it.
    await api.pool`
      update subscriptions set current_period_start = current_period_end,
                               current_period_end = current_period_end + interval '1 month'
       where id = ${ends}`;
    expect(await found()).toEqual([has, hasBoth].toSorted());
  });
});

describe('the addons of a subscription', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  test('are those that have not ended, those of a status, or those of a time (specification, addon)', async () => {
    const catalog = catalogOf(api);
    const plan = await catalog.plan();
    await catalog.fixed(plan, '10');
    const { body: seats } = await api.post('/v1/addons', { name: 'Seats', lookup_key: 'seats' });
    await catalog.fixed(seats, '5', { entity_type: 'ADDON' });
    const addons = [{ addon_id: seats.id }, { addon_id: seats.id }];
    const { id } = await catalog.subscribe(await catalog.customer(), plan, { addons });
    const listed = async (query = '') => {
      const path = `/v1/subscriptions/${id}/addons/associations${query}`;
      const { body } = await api.get(path);
      expect(body.pagination.total).toBe(body.items.length);
      return body.items.map((association: { id: string }) => association.id);
    };
    const [kept, gone] = await listed();
    const { start_date } = (await api.get(`/v1/subscriptions/${id}`)).body;
    await api.delete('/v1/subscriptions/addon', {
      addon_association_id: gone,
      effective_date: start_date,
    });
    expect(await listed()).toEqual([kept]);
    expect(await listed('?addon_statuses=active')).toEqual([kept]);
    expect(await listed('?addon_statuses=cancelled')).toEqual([gone]);
    expect(await listed('?addon_statuses=cancelled,active')).toEqual([kept, gone]);
    expect(await listed(`?active_at=${start_date}`)).toEqual([kept]);
    expect(await listed('?active_at=2001-01-01T00:00:00Z')).toEqual([]);
    const path = `/v1/subscriptions/${id}/addons/associations`;
    expect((await api.get(`${path}?addon_statuses=zz`)).status).toBe(400);
  });
});

describe('pricing units', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());
  const create = (fields: object = {}) =>
    api.post('/v1/prices/units', {
      name: 'C',
      code: 'abc',
      symbol: 'c',
      base_currency: 'usd',
      conversion_rate: '0.333333333333333333',
      ...fields,
    });

  test('the whole rate is kept; the code is unique among published units', async () => {
    const { body: unit } = await create();
    expect(unit.conversion_rate).toBe('0.333333333333333333');
    expect((await api.get(`/v1/prices/units/${unit.id}`)).body.conversion_rate).toBe(
      '0.333333333333333333',
    );
    expect((await create()).status).toBe(409);
    expect((await api.get('/v1/prices/units/code/ABC')).body.id).toBe(unit.id);
    const { id: _, ...terms } = unit;
    const renamed = await api.put(`/v1/prices/units/${unit.id}`, { ...terms, name: 'D' });
    expect(renamed).toMatchObject({ status: 200, body: { name: 'D', code: 'abc' } });
    await api.delete(`/v1/prices/units/${unit.id}`);
    expect((await api.get('/v1/prices/units/code/abc')).status).toBe(404);
    expect((await create()).status).toBe(201);
    const { body: list } = await api.post('/v1/prices/units/search', { limit: 1 });
    expect(list.pagination).toEqual({ total: 1, limit: 1, offset: 1 });
  });

  test('400: PUT names what cannot change, and changes nothing; current values are accepted (money 12.1)', async () => {
    const { body: unit } = await create({ code: 'fix', conversion_rate: '0.5' });
    const path = `/v1/prices/units/${unit.id}`;
    const other = { code: 'oth', symbol: 'o', base_currency: 'eur', conversion_rate: '0.25' };
    for (const [field, value] of Object.entries(other)) {
      const answer = await api.put(path, { name: 'Renamed', [field]: value });
      expect(answer).toMatchObject({ status: 400, body: { details: [{ path: field, code: 'immutable' }] } }); // prettier-ignore
    }
    const all = await api.put(path, { name: 'Renamed', ...other });
    expect(all.body.details.map(({ path: field }: any) => field)).toEqual(Object.keys(other));
    expect((await api.get(path)).body).toEqual(unit);
    const same = { code: 'FIX', symbol: 'c', base_currency: 'USD', conversion_rate: '0.50' };
    expect(await api.put(path, { name: 'Renamed', ...same })).toMatchObject({
      status: 200,
      body: { name: 'Renamed', code: 'fix', conversion_rate: '0.5' },
    });
    const missing = '/v1/prices/units/price_unit_00000000000000000000000000';
    expect((await api.put(missing, other)).status).toBe(404);
  });

  test('400: a price whose money is too large at the rate of its unit, with the name of the sent field', async () => {
    const { body: unit } = await create({ code: 'big', conversion_rate: '9'.repeat(20) });
    const { body: plan } = await api.post('/v1/plans', { name: 'P' });
    const price = { price_unit_type: 'CUSTOM', entity_type: 'PLAN', entity_id: plan.id };
    const of = (amount: string) =>
      api.post('/v1/prices', {
        ...price,
        currency: 'usd',
        type: 'FIXED',
        billing_model: 'FLAT_FEE',
        billing_period: 'MONTHLY',
        invoice_cadence: 'ADVANCE',
        price_unit_config: { price_unit: unit.code, amount },
      });
    const path = ({ status, body }: any) => [status, body.details[0]?.path];
    expect(path(await of('2'))).toEqual([400, 'price_unit_config.amount']);
    const { body: one } = await of('1');
    expect(one.amount).toBe('9'.repeat(20));
    const dearer = await api.put(`/v1/prices/${one.id}`, { price_unit_amount: '2' });
    expect(path(dearer)).toEqual([400, 'price_unit_amount']);
  });

  test.each([
    ['conversion_rate', { conversion_rate: '0' }],
    ['conversion_rate', { conversion_rate: 0.02 }],
    ['code', { code: 'credits' }],
    ['symbol', { symbol: '' }],
    ['base_currency', { base_currency: 'dollar' }],
    ['base_currency', { base_currency: 'xyz' }],
  ])('400: %s', async (path, fields) => {
    const answer = await create(fields);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });
});

describe('credit grants', () => {
  let api: TestApi;
  let plan: string;
  beforeAll(async () => {
    api = await startTestApi();
    plan = (await api.post('/v1/plans', { name: 'P' })).body.id;
  });
  afterAll(() => api.close());
  const create = (fields: object = {}) =>
    api.post('/v1/creditgrants', {
      name: 'G',
      scope: 'PLAN',
      plan_id: plan,
      credits: '100',
      cadence: 'ONETIME',
      expiration_type: 'NEVER',
      ...fields,
    });

  test('fields that do not belong to the cadence or the expiry are dropped', async () => {
    const { status, body } = await create({
      period: 'MONTHLY',
      period_count: 1,
      expiration_duration: 5,
      expiration_duration_unit: 'DAY',
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      period: null,
      period_count: null,
      expiration_duration: null,
      expiration_duration_unit: null,
      plan_id: plan,
    });
  });

  test('all grants of a plan have the same rates, absent ones included', async () => {
    const answer = await create({ conversion_rate: '0.7' });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, 'conversion_rate']);
  });

  test('a template is archived; a second delete is refused', async () => {
    const { body } = await create();
    expect((await api.delete(`/v1/creditgrants/${body.id}`, {})).status).toBe(200);
    expect((await api.delete(`/v1/creditgrants/${body.id}`)).body.code).toBe('invalid_operation');
    expect(
      (await api.get(`/v1/creditgrants?plan_ids=${plan}&status=archived`)).body.items.map(
        (grant: { id: string }) => grant.id,
      ),
    ).toContain(body.id);
    expect((await api.put(`/v1/creditgrants/${body.id}`, { name: 'H' })).body.name).toBe('H');
  });

  test.each([
    ['plan_id', { plan_id: null }],
    ['credits', { credits: '0' }],
    ['scope', { scope: 'TENANT' }],
    ['period', { cadence: 'RECURRING' }],
    ['expiration_type', { expiration_type: undefined }],
    ['expiration_duration', { expiration_type: 'DURATION' }],
    ['start_date', { start_date: '2026-01-15T00:00:00Z' }],
  ])('400: %s', async (path, fields) => {
    const answer = await create(fields);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });

  test('404: an unknown owner', async () => {
    expect((await create({ plan_id: 'plan_x' })).status).toBe(404);
    expect((await create({ scope: 'ADDON', addon_id: 'addon_x' })).status).toBe(404);
  });
});
