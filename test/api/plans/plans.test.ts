import { startTestApi, type TestApi } from '../../support/api.ts';

describe('plans', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  const fee = (entity_id: string, fields: object = {}) =>
    api.post('/v1/prices', { entity_type: 'PLAN', entity_id, type: 'FIXED', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', currency: 'usd', amount: '10', ...fields }); // prettier-ignore

  test('201: a name is enough; keys are unique among published plans', async () => {
    const { status, body: plan } = await api.post('/v1/plans', { name: 'A', lookup_key: 'a' });
    expect(status).toBe(201);
    expect(plan).toMatchObject({ description: '', display_order: 0, metadata: {}, prices: null });
    expect((await api.post('/v1/plans', { name: 'B', lookup_key: 'a' })).status).toBe(409);
    const { body: other } = await api.post('/v1/plans', { name: 'B' });
    expect((await api.put(`/v1/plans/${other.id}`, { lookup_key: 'a' })).status).toBe(409);
    await api.delete(`/v1/plans/${plan.id}`);
    expect((await api.post('/v1/plans', { name: 'B', lookup_key: 'a' })).status).toBe(201);
  });

  test('200: a plan is read with every version of its prices, its entitlements and grants', async () => {
    const { body: plan } = await api.post('/v1/plans', { name: 'Kids' });
    const { body: price } = await fee(plan.id);
    await api.put(`/v1/prices/${price.id}`, { amount: '12' });
    const { body: feature } = await api.post('/v1/features', { name: 'Level', type: 'static' });
    await api.post('/v1/entitlements', {
      plan_id: plan.id,
      feature_id: feature.id,
      feature_type: 'static',
      static_value: 'gold',
    });
    await api.post('/v1/creditgrants', {
      name: 'W',
      scope: 'PLAN',
      plan_id: plan.id,
      credits: '5',
      cadence: 'ONETIME',
      expiration_type: 'NEVER',
    });
    const { body: read } = await api.get(`/v1/plans/${plan.id}`);
    expect(read.prices.map((row: { amount: string }) => row.amount)).toEqual(['12', '10']);
    expect(read.entitlements).toMatchObject([
      { static_value: 'gold', feature: { id: feature.id } },
    ]);
    expect(read.credit_grants).toMatchObject([{ credits: '5' }]);
    const { body: found } = await api.post('/v1/plans/search', {
      plan_ids: [plan.id],
      expand: 'prices,entitlements,credit_grant',
    });
    expect(found.items[0].prices.map((row: { amount: string }) => row.amount)).toEqual(['12']);
    expect(
      (await api.post('/v1/plans/search', { plan_ids: [plan.id] })).body.items[0].prices,
    ).toBeNull();
    for (const children of ['entitlements', 'creditgrants'])
      expect((await api.get(`/v1/plans/${plan.id}/${children}`)).body.pagination).toEqual({
        total: 1,
        limit: 50,
        offset: 50,
      });
  });

  test('200: an update keeps what is left out, and clears by null and empty text', async () => {
    const { body: plan } = await api.post('/v1/plans', {
      name: 'U',
      description: 'd',
      lookup_key: 'u',
      display_order: 3,
      metadata: { a: '1' },
    });
    const put = async (body: object) => (await api.put(`/v1/plans/${plan.id}`, body)).body;
    expect(await put({})).toMatchObject({
      name: 'U',
      description: 'd',
      lookup_key: 'u',
      display_order: 3,
      metadata: { a: '1' },
    });
    expect(await put({ description: '', lookup_key: null, metadata: { b: '2' } })).toMatchObject({
      description: '',
      lookup_key: '',
      metadata: { b: '2' },
    });
  });

  test('201: a copy has its own children; keys of prices stay with the source', async () => {
    const { body: source } = await api.post('/v1/plans', {
      name: 'Src',
      metadata: { a: '1' },
      display_order: 4,
    });
    const { body: price } = await fee(source.id, {
      lookup_key: 'src-fee',
      start_date: '2026-01-15T00:00:00Z',
    });
    await fee(source.id, { end_date: '2026-02-01T00:00:00Z', amount: '99' });
    const { status, body: copy } = await api.post(`/v1/plans/${source.id}/clone`, {
      name: 'Copy',
      lookup_key: 'copy',
      metadata: { b: '2' },
    });
    expect(status).toBe(201);
    expect(copy).toMatchObject({
      display_order: 4,
      metadata: { a: '1', b: '2', source_plan_id: source.id },
    });
    expect(copy.prices).toMatchObject([
      { amount: '10', lookup_key: '', start_date: price.start_date, entity_id: copy.id },
    ]);
    expect(copy.prices[0].parent_price_id).toBe(copy.prices[0].id);
    expect(
      (await api.post(`/v1/plans/${source.id}/clone`, { name: 'Copy', lookup_key: 'copy' })).status,
    ).toBe(409);
    await api.delete(`/v1/plans/${source.id}`);
    const refused = await api.post(`/v1/plans/${source.id}/clone`, { name: 'C', lookup_key: 'c2' });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
  });

  test('400: a plan that is sold cannot be deleted', async () => {
    const { body: plan } = await api.post('/v1/plans', { name: 'Sold' });
    await fee(plan.id);
    const { body: customer } = await api.post('/v1/customers', { external_id: 'c', name: 'C' });
    await api.post('/v1/subscriptions', {
      customer_id: customer.id,
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      billing_cycle: 'anniversary',
    });
    const refused = await api.delete(`/v1/plans/${plan.id}`);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
  });

  test('400 and 404', async () => {
    expect((await api.post('/v1/plans', {})).body.details).toEqual([
      { path: 'name', code: 'required', message: 'is required' },
    ]);
    expect((await api.post('/v1/plans/search', { expand: 'shoes' })).status).toBe(400);
    expect((await api.post('/v1/plans/search', { limit: 0 })).status).toBe(400);
    for (const path of ['plan_x', 'plan_x/entitlements', 'plan_x/creditgrants'])
      expect((await api.get(`/v1/plans/${path}`)).status).toBe(404);
  });

  test('pages follow each other without overlap, newest first', async () => {
    const names = ['p1', 'p2', 'p3', 'p4', 'p5'];
    const ids: string[] = [];
    for (const name of names)
      ids.push((await api.post('/v1/plans', { name, lookup_key: name })).body.id);
    const seen: string[] = [];
    let offset = 0;
    for (;;) {
      const { body } = await api.post('/v1/plans/search', { plan_ids: ids, limit: 2, offset });
      if (body.items.length === 0) break;
      seen.push(...body.items.map((plan: { name: string }) => plan.name));
      offset = body.pagination.offset;
    }
    expect(seen).toEqual([...names].reverse());
  });
});
