import { startTestApi, type TestApi } from '../../support/api.ts';

describe('entitlements', () => {
  let api: TestApi;
  let plan: string;
  const features: Record<string, string> = {};
  beforeAll(async () => {
    api = await startTestApi();
    const meter = (aggregation: object) => ({
      name: 'M',
      event_name: 'm',
      aggregation,
      reset_usage: 'BILLING_PERIOD',
    });
    const feature = async (name: string, fields: object) => {
      features[name] = (await api.post('/v1/features', { name, ...fields })).body.id;
    };
    await feature('metered', { type: 'metered', meter: meter({ type: 'COUNT' }) });
    await feature('peak', {
      type: 'metered',
      meter: meter({ type: 'MAX', field: 'n', bucket_size: 'HOUR' }),
    });
    await feature('hourly', {
      type: 'metered',
      meter: meter({ type: 'SUM', field: 'n', bucket_size: 'HOUR' }),
    });
    await feature('boolean', { type: 'boolean' });
    await feature('static', { type: 'static' });
    await feature('config', { type: 'config' });
  });
  beforeEach(async () => {
    plan = (await api.post('/v1/plans', { name: 'P' })).body.id;
  });
  afterAll(() => api.close());

  const grant = (feature: string, fields: object = {}) =>
    api.post('/v1/entitlements', {
      plan_id: plan,
      feature_id: features[feature],
      feature_type: feature in { boolean: 1, static: 1, config: 1 } ? feature : 'metered',
      ...fields,
    });

  describe('201', () => {
    test.each([
      [
        'metered',
        { is_enabled: false, usage_limit: 0, usage_reset_period: 'MONTHLY' },
        { is_enabled: true, usage_limit: 0 },
      ],
      ['metered', { usage_limit: null }, { usage_limit: null, usage_reset_period: '' }],
      ['metered', { usage_limit: 10_000_000_000 }, { usage_limit: 10_000_000_000 }],
      ['boolean', { usage_limit: 5 }, { is_enabled: false, usage_limit: null }],
      [
        'boolean',
        { usage_reset_period: 'DAILY', is_soft_limit: true, static_value: 'x' },
        { usage_reset_period: '', is_soft_limit: false, static_value: '' },
      ],
      [
        'metered',
        { static_value: 'x', is_soft_limit: true },
        { static_value: '', is_soft_limit: true },
      ],
      ['boolean', { is_enabled: true }, { is_enabled: true }],
      ['static', { static_value: 'gold' }, { is_enabled: true, static_value: 'gold' }],
      ['config', { config_value: { a: [1] } }, { config_value: { a: [1] } }],
      ['metered', { grant_quota: null, grant_measure: '' }, { grant_quota: null }],
    ])('%s with %j', async (feature, fields, expected) => {
      const { status, body } = await grant(feature, fields);
      expect(status).toBe(201);
      expect(body).toMatchObject({
        entity_type: 'PLAN',
        entity_id: plan,
        plan_id: plan,
        aggregation_mode: 'additive',
        plan: { id: plan },
        ...expected,
      });
    });

    test('an addon’s entitlement has no plan', async () => {
      const { body: addon } = await api.post('/v1/addons', { name: 'A', lookup_key: `a-${plan}` });
      const { body } = await grant('boolean', {
        plan_id: null,
        entity_type: 'ADDON',
        entity_id: addon.id,
      });
      expect(body).toMatchObject({ plan_id: null, plan: null, addon: { id: addon.id } });
      expect((await api.get(`/v1/addons/${addon.id}`)).body.entitlements).toHaveLength(1);
    });
  });

  describe('fields of other types are named as ignored, or refused if the client is strict (money 6.2)', () => {
    test.each([
      ['boolean', { usage_limit: 5, static_value: 'x' }, 'usage_limit, static_value'],
      ['boolean', { usage_reset_period: 'DAILY', is_soft_limit: true }, 'usage_reset_period, is_soft_limit'],
      ['metered', { is_enabled: false, static_value: 'x' }, 'is_enabled, static_value'],
      ['static', { static_value: 'gold', usage_limit: 0 }, 'usage_limit'],
      ['static', { static_value: 'gold', is_enabled: true, usage_limit: null, is_soft_limit: false }, undefined],
      ['metered', { usage_limit: 5, is_enabled: true, static_value: '' }, undefined],
      ['boolean', { is_enabled: false, usage_reset_period: '' }, undefined],
    ])('new: %s with %j', async (feature, fields, named) => {
      const { status, headers } = await grant(feature, fields);
      expect([status, headers['x-ignored-fields']]).toEqual([201, named]);
    }); // prettier-ignore

    test('several, and a change', async () => {
      const of = { plan_id: plan, feature_id: features['boolean'], feature_type: 'boolean' };
      const bulk = { items: [{ ...of, is_soft_limit: true }] };
      const strict = await api.post('/v1/entitlements/bulk', bulk, { prefer: 'handling=strict' });
      expect([strict.status, strict.body.details[0].path]).toEqual([400, 'items[0].is_soft_limit']);
      const { headers, body } = await api.post('/v1/entitlements/bulk', bulk);
      expect(decodeURI(headers['x-ignored-fields'] as string)).toBe('items[0].is_soft_limit');
      const put = await api.put(`/v1/entitlements/${body.items[0].id}`, { usage_limit: 5 });
      expect([put.status, put.headers['x-ignored-fields']]).toEqual([200, 'usage_limit']);
      const off = await api.put(`/v1/entitlements/${body.items[0].id}`, { is_enabled: false });
      expect([off.status, off.headers['x-ignored-fields']]).toEqual([200, undefined]);
    });
  });

  test('200: a limit of null is no limit, 0 is nothing, absent is unchanged', async () => {
    const { body } = await grant('metered', { usage_limit: 500, is_soft_limit: true });
    const put = async (fields: object) =>
      (await api.put(`/v1/entitlements/${body.id}`, fields)).body;
    expect(await put({ is_enabled: false })).toMatchObject({
      usage_limit: 500,
      is_enabled: false,
      is_soft_limit: true,
    });
    expect((await put({ usage_limit: 0 })).usage_limit).toBe(0);
    expect((await put({ usage_limit: null })).usage_limit).toBeNull();
    expect((await api.put(`/v1/entitlements/${body.id}`, { usage_limit: -5 })).status).toBe(400);
  });

  test('200: fields of other types have no effect, also in changes', async () => {
    const { body } = await grant('static', { static_value: 'gold' });
    const { body: updated } = await api.put(`/v1/entitlements/${body.id}`, {
      static_value: 'silver',
      usage_limit: 5,
      usage_reset_period: 'DAILY',
      is_soft_limit: true,
    });
    expect(updated).toMatchObject({
      static_value: 'silver',
      usage_limit: null,
      usage_reset_period: '',
      is_soft_limit: false,
    });
  });

  test('200: what is searched, sorted and expanded', async () => {
    const { body: limited } = await grant('metered', { usage_limit: 50, is_soft_limit: true });
    const { body: level } = await grant('static', { static_value: 'Gold' });
    const find = async (fields: object) =>
      (await api.post('/v1/entitlements/search', { plan_ids: [plan], ...fields })).body.items;
    const ids = async (fields: object) =>
      (await find(fields)).map((item: { id: string }) => item.id);
    const filters = (field: string, operator: string, value: object) => ({
      filters: [{ field, operator, value }],
    });
    expect(await ids(filters('usage_limit', 'gte', { number: 50 }))).toEqual([limited.id]);
    expect(await ids(filters('is_soft_limit', 'eq', { boolean: true }))).toEqual([limited.id]);
    expect(await ids(filters('static_value', 'contains', { string: 'gold' }))).toEqual([level.id]);
    expect(await ids(filters('id', 'in', { array: [level.id, 'ent_x'] }))).toEqual([level.id]);
    expect(await ids({ sort: [{ field: 'usage_limit', direction: 'asc' }] })).toEqual([
      limited.id,
      level.id,
    ]);
    expect(await ids({ status: '', feature_type: '' })).toEqual([level.id, limited.id]);
    const [, withMeter] = await find({ expand: 'meters' });
    expect(withMeter.feature.meter.id).toBe(withMeter.feature.meter_id);
  });

  const QUOTA = {
    ...{ grant_quota: '5.50', grant_measure: 'quantity' },
    ...{ grant_duration_unit: 'day', grant_duration_value: 2 },
  };

  test('quotas for windows of time are stored, found, changed and cleared', async () => {
    const { status, body } = await grant('metered', QUOTA);
    const stored = { ...QUOTA, grant_quota: '5.5', grant_allocation_behavior: 'first_usage' };
    expect([status, body]).toEqual([201, expect.objectContaining(stored)]);
    const put = (fields: object) => api.put(`/v1/entitlements/${body.id}`, fields);
    expect((await put({ display_order: 3 })).body).toMatchObject(stored);
    const changed = { grant_quota: '7', grant_allocation_behavior: 'unit_start' };
    expect((await put({ ...changed, aggregation_mode: 'parallel' })).body).toMatchObject({
      ...{ ...stored, ...changed },
      aggregation_mode: 'parallel',
    });
    const found = await api.post('/v1/entitlements/search', { has_grant_config: true });
    expect(found.body.items.map(({ id }: any) => id)).toEqual([body.id]);
    expect((await put({ clear_grant_config: true, usage_limit: 7 })).body).toMatchObject({
      ...{ usage_limit: 7, grant_quota: null, grant_measure: null, grant_duration_unit: null },
      ...{ grant_duration_value: null, grant_allocation_behavior: null },
      aggregation_mode: 'additive',
    });
    expect((await put(QUOTA)).body.details[0].path).toBe('usage_limit');
    expect((await put({ ...QUOTA, usage_limit: null })).body).toMatchObject(stored);
    const period = { clear_grant_config: true, grant_quota: 1, grant_measure: 'quantity' };
    expect((await put({ ...period, grant_duration_unit: 'subscription_period' })).body).toMatchObject({
      ...{ grant_quota: '1', grant_duration_value: 1, grant_allocation_behavior: 'first_usage' },
    }); // prettier-ignore
  });

  test.each([
    ['grant_quota', { grant_quota: '0' }],
    ['grant_quota', { grant_quota: null }],
    ['grant_measure', { grant_measure: 'amount' }],
    ['grant_measure', { grant_measure: null }],
    ['grant_duration_unit', { grant_duration_unit: 'month' }],
    ['grant_duration_value', { grant_duration_value: 0 }],
    ['grant_duration_value', { grant_duration_value: 1001 }],
    ['grant_duration_value', { grant_duration_unit: 'subscription_period' }],
    ['usage_limit', { usage_limit: 5 }],
    ['usage_reset_period', { usage_reset_period: 'DAILY' }],
  ])('400 for a quota: %s in %p', async (path, fields) => {
    const { status, body } = await grant('metered', { ...QUOTA, ...fields });
    expect([status, body.details[0].path]).toEqual([400, path]);
  });

  describe('400', () => {
    test.each([
      ['static_value', 'static', {}],
      ['feature_type', 'static', { feature_type: 'boolean' }],
      ['feature_type', 'static', { feature_type: 'x' }],
      ['config_value', 'boolean', { config_value: {} }],
      ['usage_limit', 'metered', { usage_limit: -1 }],
      ['usage_reset_period', 'metered', { usage_reset_period: 'HOURLY' }],
      ['entity_type', 'boolean', { plan_id: '' }],
      ['entity_id', 'boolean', { plan_id: '', entity_type: 'PLAN' }],
      ['entity_type', 'boolean', { entity_type: 'ADDON' }],
      ['feature_id', 'peak', {}],
    ])('%s of a %s feature', async (path, feature, fields) => {
      const answer = await grant(feature, fields);
      expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
    });
  });

  test('only an entitlement of a subscription replaces another, one of the same feature', async () => {
    const { body: parent } = await grant('metered', { usage_limit: 5 });
    const refusal = async (feature: string, fields: object) => {
      const { status, body } = await grant(feature, fields);
      return [status, body.details[0]?.path];
    };
    const of = (id: string) => ({ parent_entitlement_id: id });
    expect(await refusal('boolean', of('ent_x'))).toEqual([404, undefined]);
    expect(await refusal('boolean', of(parent.id))).toEqual([400, 'parent_entitlement_id']);
  });

  test('404 and 409, in bulk too: all or none', async () => {
    expect((await grant('boolean', { plan_id: 'plan_x' })).status).toBe(404);
    expect((await grant('boolean', { feature_id: 'feat_x' })).status).toBe(404);
    const { body } = await grant('boolean');
    expect((await grant('boolean')).status).toBe(409);
    const item = (feature: string, fields: object = {}) => ({
      plan_id: plan,
      feature_id: features[feature],
      feature_type: feature,
      ...fields,
    });
    const bulk = (items: object[]) => api.post('/v1/entitlements/bulk', { items });
    const taken = await bulk([item('metered'), item('boolean')]);
    expect([taken.status, taken.body.details[0].path]).toEqual([409, 'items[1].feature_id']);
    const wrong = await bulk([item('metered'), item('static')]);
    expect([wrong.status, wrong.body.details[0].path]).toEqual([400, 'items[1].static_value']);
    const missing = await bulk([item('metered'), item('boolean', { feature_id: 'feat_x' })]);
    expect(missing.status).toBe(404);
    expect((await api.get(`/v1/plans/${plan}/entitlements`)).body.pagination.total).toBe(1);
    await api.delete(`/v1/entitlements/${body.id}`);
    expect((await api.delete(`/v1/entitlements/${body.id}`)).status).toBe(200);
    expect((await grant('boolean')).status).toBe(201);
    const { body: listed } = await api.post('/v1/entitlements/search', { plan_ids: [plan] });
    expect(listed.pagination.total).toBe(1);
  });

  test('of two concurrent creates one is made', async () => {
    const answers = await Promise.all([grant('boolean'), grant('boolean'), grant('boolean')]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409]);
  });
});
