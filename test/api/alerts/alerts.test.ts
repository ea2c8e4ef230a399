import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

describe('alert settings', () => {
  let api: TestApi;
  let catalog: TestCatalog;
  beforeAll(async () => {
    api = await startTestApi();
    catalog = catalogOf(api);
  });
  afterAll(() => api.close());

  const level = (threshold: number | string, condition = 'above') => ({ threshold, condition });
  const config = { alert_enabled: true, critical: level('100'), warning: level('50') };

  async function subscription() {
    const plan = await catalog.plan();
    const { body: group } = await api.post('/v1/groups', {
      name: 'G',
      lookup_key: plan.id,
      entity_type: 'price',
    });
    await catalog.usage(plan, await catalog.meter(), { group_id: group.id });
    const subscribed = await catalog.subscribe(await catalog.customer(), plan);
    return { id: subscribed.id, lineId: subscribed.line_items[0].id, groupId: group.id };
  }
  const create = (body: object) => api.post('/v1/alerts/setting', body);

  test('201: a subscription, a line item and a group on it, thresholds as text', async () => {
    const { id, lineId, groupId } = await subscription();
    const made = await create({ entity_type: 'subscription', entity_id: id, config });
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        id: expect.stringMatching(/^alert_set_/),
        entity_id: id,
        parent_entity_type: null,
        parent_entity_id: null,
        enabled: true,
        config: { ...config, info: null },
      },
    ]);
    const parent = { parent_entity_type: 'subscription', parent_entity_id: id };
    for (const [entity_type, entity_id] of [
      ['subscription_line_item', lineId],
      ['group', groupId],
    ])
      expect((await create({ entity_type, entity_id, ...parent, config })).status).toBe(201);
    const { body } = await api.post('/v1/alerts/setting/search', { parent_entity_id: id });
    expect(body.items.map((item: { entity_id: string }) => item.entity_id)).toEqual([
      groupId,
      lineId,
    ]);
  });

  test('a group may be watched on two subscriptions, once on each', async () => {
    const first = await subscription();
    const second = await subscription();
    const body = (parent: string) => ({
      entity_type: 'group',
      entity_id: first.groupId,
      parent_entity_type: 'subscription',
      parent_entity_id: parent,
      config,
    });
    expect((await create(body(first.id))).status).toBe(201);
    expect((await create(body(second.id))).status).toBe(201);
    expect((await create(body(second.id))).status).toBe(409);
  });

  test('409, and free again after the delete', async () => {
    const { id } = await subscription();
    const body = { entity_type: 'subscription', entity_id: id, config };
    const { body: made } = await create(body);
    expect((await create(body)).body).toMatchObject({ code: 'already_exists' });
    expect((await api.delete(`/v1/alerts/setting/${made.id}`)).status).toBe(204);
    expect((await api.delete(`/v1/alerts/setting/${made.id}`)).status).toBe(404);
    expect((await api.get(`/v1/alerts/setting/${made.id}`)).status).toBe(404);
    expect((await api.put(`/v1/alerts/setting/${made.id}`, { config })).status).toBe(404);
    expect((await create(body)).status).toBe(201);
  });

  test('of two concurrent creates one succeeds', async () => {
    const { id } = await subscription();
    const body = { entity_type: 'subscription', entity_id: id, config };
    const answers = await Promise.all([1, 2, 3, 4].map(() => create(body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  test('PUT replaces the config as a whole', async () => {
    const { id } = await subscription();
    const { body: made } = await create({ entity_type: 'subscription', entity_id: id, config });
    const put = (next: object) => api.put(`/v1/alerts/setting/${made.id}`, { config: next });
    const { body } = await put({ alert_enabled: false, critical: level(10) });
    expect(body).toMatchObject({
      enabled: false,
      config: { alert_enabled: false, critical: level('10'), warning: null, info: null },
    });
    expect((await put({ alert_enabled: true, critical: level(10, 'below') })).status).toBe(400);
    expect((await api.get(`/v1/alerts/setting/${made.id}`)).body).toEqual(body);
    const found = async (filter: object) =>
      (await api.post('/v1/alerts/setting/search', { entity_id: id, ...filter })).body.pagination
        .total;
    expect([await found({ enabled: true }), await found({ enabled: false })]).toEqual([0, 1]);
  });

  test.each([
    ['entity_type', { entity_type: 'wallet' }],
    ['entity_id', { entity_id: undefined }],
    ['config', { config: undefined }],
    ['config', { config: { alert_enabled: true } }],
    [
      'config.warning.threshold',
      { config: { ...config, critical: level(10), warning: level(20) } },
    ],
    [
      'config.warning.threshold',
      { config: { ...config, critical: level(50), warning: level(50) } },
    ],
    ['config.info.threshold', { config: { ...config, warning: null, info: level(200) } }],
    ['config.critical.threshold', { config: { ...config, critical: level(-1), warning: null } }],
    ['config.warning.condition', { config: { ...config, warning: level(5, 'below') } }],
    ['config.critical', { config: { alert_enabled: true, warning: level(5) } }],
    ['config.critical.condition', { config: { critical: level(5, 'beside') } }],
    ['config.critical.threshold', { config: { critical: { condition: 'above' } } }],
    ['parent_entity_type', { parent_entity_type: 'subscription' }],
    ['parent_entity_id', { parent_entity_id: 'x' }],
    ['parent_entity_type', { entity_type: 'group' }],
    ['parent_entity_id', { entity_type: 'group', parent_entity_type: 'subscription' }],
  ])('400: %s %j', async (path, change) => {
    const answer = await create({
      entity_type: 'subscription',
      entity_id: 'subs_missing',
      config,
      ...change,
    });
    expect([answer.status, answer.body.details.map((d: { path: string }) => d.path)]).toEqual([
      400,
      expect.arrayContaining([path]),
    ]);
  });

  test('404: the entity, its parent, a line item of another subscription', async () => {
    const { id } = await subscription();
    const { lineId } = await subscription();
    const parent = { parent_entity_type: 'subscription', parent_entity_id: id };
    for (const body of [
      { entity_type: 'subscription', entity_id: 'subs_missing' },
      { entity_type: 'subscription_line_item', entity_id: lineId, ...parent },
      { entity_type: 'group', entity_id: 'group_missing', ...parent },
      { entity_type: 'group', entity_id: 'x', ...parent, parent_entity_id: 'subs_missing' },
    ])
      expect((await create({ ...body, config })).status).toBe(404);
  });
});

describe('alert logs', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  test('200: none, with the default page', async () => {
    expect((await api.post('/v1/alerts/search', {})).body).toEqual({
      items: [],
      pagination: { total: 0, limit: 50, offset: 50 },
    });
  });

  test('200: newest first, by type, state, customer and time, embedded where asked', async () => {
    const catalog = catalogOf(api);
    const customer = await catalog.customer();
    const { body: flag } = await api.post('/v1/features', { name: 'Flag', type: 'boolean' });
    const row = (alert_status: string, created_at: string) => ({
      id: api.deps.ids.next('alert'),
      ...api.scope,
      entity_type: 'feature',
      entity_id: flag.id,
      customer_id: customer.id,
      alert_type: 'feature_wallet_balance',
      alert_status,
      alert_info: api.pool.json({
        alert_settings: null,
        value_at_time: '4.5',
        timestamp: created_at,
      }),
      created_at,
    });
    await api.pool`insert into alert_logs ${api.pool([
      row('in_alarm', '2026-11-01T00:00:00.000Z'),
      row('ok', '2026-11-02T00:00:00.000Z'),
    ])}`;
    const states = async (filter: object) =>
      (await api.post('/v1/alerts/search', filter)).body.items.map(
        (item: { alert_status: string }) => item.alert_status,
      );
    expect(await states({})).toEqual(['ok', 'in_alarm']);
    expect(await states({ alert_status: 'ok' })).toEqual(['ok']);
    expect(await states({ end_time: '2026-11-02T00:00:00Z' })).toEqual(['in_alarm']);
    expect(await states({ alert_type: 'subscription_spend' })).toEqual([]);
    expect(await states({ customer_id: customer.id, entity_id: flag.id })).toHaveLength(2);
    const { body } = await api.post('/v1/alerts/search', { expand: 'customer,feature', limit: 1 });
    expect(body.items[0]).toMatchObject({
      customer: { id: customer.id },
      feature: { id: flag.id },
      wallet: null,
    });
  });

  test('the wallet that an alert is about, or that its feature watches, is embedded where asked', async () => {
    const customer = await catalogOf(api).customer();
    const { body: wallet } = await api.post('/v1/wallets', {
      customer_id: customer.id,
      currency: 'usd',
    });
    const row = (fields: object) => ({
      ...{ id: api.deps.ids.next('alert'), ...api.scope, customer_id: customer.id },
      ...{ alert_status: 'info', created_at: '2026-11-03T00:00:00.000Z', ...fields },
      alert_info: api.pool.json({
        ...{ alert_settings: null, value_at_time: '4.5', timestamp: '2026-11-03T00:00:00.000Z' },
      }),
    });
    const none = { parent_entity_type: null, parent_entity_id: null };
    await api.pool`insert into alert_logs ${api.pool([
      row({
        ...{ entity_type: 'wallet', entity_id: wallet.id, ...none },
        alert_type: 'low_credit_balance',
      }),
      row({
        ...{ entity_type: 'feature', entity_id: 'feat_x', alert_type: 'feature_wallet_balance' },
        ...{ parent_entity_type: 'wallet', parent_entity_id: wallet.id },
      }),
    ])}`;
    const found = async (expand: string) =>
      (await api.post('/v1/alerts/search', { customer_id: customer.id, expand })).body.items.map(
        (item: { wallet: object | null }) => item.wallet,
      );
    expect(await found('wallet')).toEqual([wallet, wallet]);
    expect(await found('customer')).toEqual([null, null]);
  });

  test.each([
    ['entity_type', { entity_type: 'nothing' }],
    ['alert_type', { alert_type: 'nothing' }],
    ['alert_status', { alert_status: 'nothing' }],
    ['limit', { limit: 1001 }],
    ['expand', { expand: 'shoe' }],
  ])('400: %s', async (path, filter) => {
    const answer = await api.post('/v1/alerts/search', filter);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });
});
