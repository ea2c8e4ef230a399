import { startTestApi, type TestApi, type TestCaller } from '../../support/api.ts';

describe('environments', () => {
  let api: TestApi;
  let caller: TestCaller;
  beforeAll(async () => {
    api = await startTestApi();
  });
  beforeEach(async () => {
    caller = await api.newCaller();
  });
  afterAll(() => api.close());

  test('201 up to the limits of the setting, 400 beyond', async () => {
    const create = (type: string) => caller.post('/v1/environments', { name: 'E', type });
    const { status, body } = await create('development');
    expect(status).toBe(201);
    expect(Object.keys(body).sort()).toEqual(['created_at', 'id', 'name', 'type', 'updated_at']);
    expect((await create('development')).body.details[0].path).toBe('type');
    expect((await create('production')).status).toBe(400);
    await caller.put('/v1/settings/tenant_config', { value: { development: 3 } });
    expect((await create('development')).status).toBe(201);
    expect((await create('staging')).status).toBe(400);
  });

  test('of two concurrent creates only one is the last', async () => {
    const create = () => caller.post('/v1/environments', { name: 'E', type: 'development' });
    const answers = await Promise.all([create(), create(), create()]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 400, 400]);
  });

  test('200: listed oldest first with the number of all, renamed, never of another type', async () => {
    const { body: second } = await caller.post('/v1/environments', {
      name: 'Second',
      type: 'development',
    });
    const { body: list } = await caller.get('/v1/environments?limit=1&offset=1');
    expect(list).toMatchObject({
      environments: [{ id: second.id }],
      total: 2,
      limit: 1,
      offset: 1,
    });
    const put = (body: object) => caller.put(`/v1/environments/${second.id}`, body);
    expect((await put({ name: 'Renamed', type: 'development' })).body.name).toBe('Renamed');
    for (const name of ['', ' ', null, undefined, ' Renamed '])
      expect((await put({ name })).body.name).toBe('Renamed');
    expect((await put({ type: 'production' })).body.details[0].path).toBe('type');
  });

  test('200: sorted, by time and by status as other lists; 400 names what cannot be sorted by', async () => {
    await caller.post('/v1/environments', { name: 'Aardvark', type: 'development' });
    const names = async (query: string) =>
      (await caller.get(`/v1/environments?${query}`)).body.environments.map(
        (environment: { name: string }) => environment.name,
      );
    const [oldest] = await names('');
    expect(await names('sort=name&order=asc')).toEqual(['Aardvark', oldest].sort());
    expect(await names('sort=created_at&order=desc')).toEqual(['Aardvark', oldest]);
    expect(await names('status=archived')).toEqual([]);
    expect(await names('end_time=2000-01-01T00:00:00Z')).toEqual([]);
    const { status, body } = await caller.get('/v1/environments?sort=tenant_id');
    expect([status, body.details[0].path]).toEqual([400, 'sort']);
  });

  describe('clone', () => {
    const catalog = async () => {
      const { body: feature } = await caller.post('/v1/features', {
        name: 'Calls',
        type: 'metered',
        meter: {
          name: 'M',
          event_name: 'call',
          aggregation: { type: 'COUNT' },
          reset_usage: 'BILLING_PERIOD',
        },
      });
      const { body: plan } = await caller.post('/v1/plans', {
        name: 'Pro',
        lookup_key: 'pro',
        metadata: { a: '1' },
      });
      const usage = {
        entity_type: 'PLAN',
        entity_id: plan.id,
        type: 'USAGE',
        billing_model: 'TIERED',
        tier_mode: 'SLAB',
        tiers: [{ unit_amount: '0.5' }],
        billing_period: 'MONTHLY',
        invoice_cadence: 'ARREAR',
        currency: 'usd',
        meter_id: feature.meter_id,
        filter_values: { region: ['eu'] },
        lookup_key: 'usage',
      };
      const { body: price } = await caller.post('/v1/prices', usage);
      await caller.put(`/v1/prices/${price.id}`, { tiers: [{ unit_amount: '0.4' }] });
      await caller.post('/v1/entitlements', {
        plan_id: plan.id,
        feature_id: feature.id,
        feature_type: 'metered',
        usage_limit: 7,
      });
      await caller.post('/v1/creditgrants', {
        name: 'W',
        scope: 'PLAN',
        plan_id: plan.id,
        credits: '5',
        cadence: 'ONETIME',
        expiration_type: 'NEVER',
      });
      await caller.post('/v1/customers', { external_id: 'stays', name: 'Stays' });
      const subscribed = await caller.post('/v1/subscriptions', {
        external_customer_id: 'stays',
        plan_id: plan.id,
        currency: 'usd',
        billing_period: 'MONTHLY',
      });
      expect(subscribed).toMatchObject({ status: 201, body: { credit_grants: [{ name: 'W' }] } });
      return { plan, feature };
    };
    const inside = async (environment: string) => {
      const { key, ...there } = await api.newCaller({ inTenantOf: caller });
      await api.pool`update api_keys set environment_id = ${environment} where environment_id = ${there.scope.environment_id}`;
      return (path: string) => api.get(path, { 'x-api-key': key });
    };

    test('202: the new environment has a copy of the catalog with ids of its own, and no customers', async () => {
      const { plan, feature } = await catalog();
      const { status, body } = await caller.post(
        `/v1/environments/${caller.scope.environment_id}/clone`,
        { name: 'Copy', type: 'development' },
      );
      expect(status).toBe(202);
      const get = await inside(body.workflow_id);
      const { body: list } = await get('/v1/plans?lookup_key=pro');
      const [copy] = list.items;
      expect(copy).toMatchObject({ name: 'Pro', metadata: { a: '1' } });
      expect(copy.id).not.toBe(plan.id);
      const { body: read } = await get(`/v1/plans/${copy.id}`);
      expect(read.prices).toMatchObject([
        {
          lookup_key: 'usage',
          tiers: [{ unit_amount: '0.4' }],
          filter_values: { region: ['eu'] },
          meter: { event_name: 'call' },
        },
      ]);
      expect(read.prices[0].parent_price_id).toBe(read.prices[0].id);
      expect(read.prices[0].meter_id).not.toBe(feature.meter_id);
      expect(read.entitlements).toMatchObject([{ usage_limit: 7, feature: { name: 'Calls' } }]);
      expect(read.credit_grants).toMatchObject([{ credits: '5', plan_id: copy.id }]);
      expect((await get('/v1/customers')).body.items).toEqual([]);
      expect((await get('/v1/creditgrants')).body.items).toHaveLength(1);
      const [version] = await api.pool<{ dimensions: string[] }[]>`
        select dimensions from meter_versions where meter_id = ${read.prices[0].meter_id}`;
      expect(version!.dimensions).toEqual(['region']);
    });

    test('400: without a name, into itself, into an environment with a catalog; 404: from or into an environment of another tenant', async () => {
      await catalog();
      const { environment_id } = caller.scope;
      const clone = (body: object, id = environment_id) =>
        caller.post(`/v1/environments/${id}/clone`, body);
      expect((await clone({})).body.details[0].path).toBe('name');
      expect((await clone({ name: 'x' })).body.details[0].path).toBe('type');
      expect((await clone({ name: 'x', type: 'staging' })).status).toBe(400);
      expect((await clone({ target_environment_id: environment_id })).status).toBe(400);
      const full = await caller.post('/v1/environments', { name: 'Full', type: 'development' });
      expect((await clone({ target_environment_id: full.body.id })).status).toBe(202);
      expect((await clone({ target_environment_id: full.body.id })).body.code).toBe(
        'invalid_operation',
      );
      const stranger = await api.newCaller();
      expect((await clone({ target_environment_id: stranger.scope.environment_id })).status).toBe(
        404,
      );
      expect(
        (await clone({ name: 'x', type: 'development' }, stranger.scope.environment_id)).status,
      ).toBe(404);
    });
  });
});
