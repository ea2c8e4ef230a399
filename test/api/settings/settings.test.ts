import { readSetting } from '../../../postgres/tables/settings.ts';
import { SETTINGS, type SettingKey } from '../../../schemas/settings/settings.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

const GRAPH = 'value.sections[0].tabs[0].usage_graph';
const graph = (usage_graph: object) => ({
  sections: [{ id: 'usage', tabs: [{ id: '2', type: 'usage_graph', usage_graph }] }],
});

describe('settings', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());
  // Keys do not set up single sign-on.
  const put = async (key: string, value: unknown) =>
    await api.put(
      `/v1/settings/${key}`,
      { value },
      key === 'saml_config' ? await api.sessionOf(api, api.scope.environment_id) : {},
    );

  test.each(Object.keys(SETTINGS) as SettingKey[])(
    '%s has a default that is no record',
    async (key) => {
      const { status, body } = await api.get(`/v1/settings/${key}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ id: '', status: '', created_at: null, key });
      expect([body.created_by, body.updated_by]).toEqual(['', '']);
      expect(body.value).toEqual({
        ...SETTINGS[key].default,
        ...(key === 'invoice_config' ? { finalization_delay_seconds: operatorsDelay() } : {}),
      });
    },
  );

  const operatorsDelay = (): number => api.deps.settings.grace_seconds;

  // The recorded answers have "" here, which is never null (api 37).
  test('a setting of the tenant has an empty environment_id, stored or not', async () => {
    expect((await api.get('/v1/settings/tenant_config')).body.environment_id).toBe('');
    expect((await put('tenant_config', {})).body.environment_id).toBe('');
    expect((await api.get('/v1/settings/tenant_config')).body.environment_id).toBe('');
    await api.delete('/v1/settings/tenant_config');
  });

  const invoice = {
    prefix: 'ACME',
    format: 'YYYY',
    separator: '',
    start_sequence: 7,
    suffix_length: 4,
    timezone: 'Asia/Kolkata',
  };

  test('until the tenant sets a delay, the answered one is the one that holds: the operator’s', async () => {
    const delay = async () =>
      (await api.get('/v1/settings/invoice_config')).body.value.finalization_delay_seconds;
    expect(operatorsDelay()).toBe(3600);
    const changed = await put('invoice_config', { ...invoice, prefix: 'A' });
    expect(changed.body.value.finalization_delay_seconds).toBe(operatorsDelay());
    expect(await delay()).toBe(operatorsDelay());
    await put('invoice_config', { ...invoice, finalization_delay_seconds: 60 });
    expect(await delay()).toBe(60);
    await put('invoice_config', { ...invoice, finalization_delay_seconds: null });
    expect(await delay()).toBe(operatorsDelay());
    await api.delete('/v1/settings/invoice_config');
  });

  test('what is sent must be right by itself, is laid over what is stored, and defaults fill the rest', async () => {
    const { body } = await put('invoice_config', {
      ...invoice,
      due_date_days: 30,
      finalization_delay_seconds: 0,
    });
    expect(body.value).toMatchObject({
      separator: '',
      finalization_delay_seconds: 0,
      due_date_days: 30,
    });
    expect(body.environment_id).toBe(api.scope.environment_id);
    expect((await put('invoice_config', invoice)).body.value.due_date_days).toBe(30);
    expect((await put('invoice_config', { prefix: 'X' })).status).toBe(400);
    expect(await readSetting(api.pool, api.scope, 'invoice_config')).toMatchObject({
      prefix: 'ACME',
      due_date_days: 30,
    });
    expect((await api.delete('/v1/settings/invoice_config')).status).toBe(200);
    expect((await api.delete('/v1/settings/invoice_config')).status).toBe(404);
    expect((await readSetting(api.pool, api.scope, 'invoice_config')).prefix).toBe('INV');
  });

  test('a setting of the tenant applies to all its environments', async () => {
    const sibling = await api.newCaller({ inTenantOf: api });
    const { body } = await put('tenant_config', { development: 3 });
    expect([body.environment_id, body.value]).toEqual([
      '',
      { development: 3, production: 0, max_users: 10 },
    ]);
    expect((await sibling.get('/v1/settings/tenant_config')).body.value.development).toBe(3);
    await put('subscription_config', { grace_period_days: 9 });
    expect(
      (await sibling.get('/v1/settings/subscription_config')).body.value.grace_period_days,
    ).toBe(3);
  });

  test.each([
    ['invoice_config', { ...invoice, format: 'DDMM' }, 'value.format'],
    ['invoice_config', { ...invoice, suffix_length: 0 }, 'value.suffix_length'],
    ['invoice_config', { ...invoice, timezone: 'Mars/Base' }, 'value.timezone'],
    ['invoice_config', { ...invoice, due_date_days: -1 }, 'value.due_date_days'],
    ['subscription_config', { grace_period_days: 0 }, 'value.grace_period_days'],
    ['tenant_config', { max_users: 0 }, 'value.max_users'],
    ['event_ingestion_filter', { enabled: true }, 'value.allowed_external_customer_ids'],
    [
      'wallet_balance_alert_config',
      {
        critical: { threshold: '5', condition: 'below' },
        warning: { threshold: '3', condition: 'below' },
      },
      'value.warning.threshold',
    ],
    ['wallet_balance_alert_config', { alert_enabled: true }, 'value.critical'],
    [
      'wallet_balance_alert_config',
      { warning: { threshold: '3', condition: 'below' } },
      'value.critical',
    ],
    [
      'wallet_balance_alert_config',
      {
        critical: { threshold: '10', condition: 'above' },
        info: { threshold: '3', condition: 'above' },
      },
      'value.info.threshold',
    ],
    [
      'wallet_balance_alert_config',
      {
        critical: { threshold: '5', condition: 'below' },
        warning: { threshold: '30', condition: 'above' },
      },
      'value.warning.condition',
    ],
    [
      'subscription_alert_config',
      {
        critical: { threshold: '10', condition: 'above' },
        warning: { threshold: '10', condition: 'above' },
      },
      'value.warning.threshold',
    ],
    [
      'entitlement_alert_config',
      { critical: { threshold: '10', condition: 'below' } },
      'value.critical.condition',
    ],
    ['bonus_credits_topup_config', { enabled: true }, 'value.slabs'],
    [
      'bonus_credits_topup_config',
      { slabs: [{ threshold: '1', operator: 'gt', bonus: { type: 'flat', value: '1' } }] },
      'value.slabs[0].operator',
    ],
    [
      'bonus_credits_topup_config',
      { slabs: [{ threshold: '1', operator: 'gte', bonus: { type: 'gift', value: '1' } }] },
      'value.slabs[0].bonus.type',
    ],
    [
      'bonus_credits_topup_config',
      { slabs: [{ threshold: '1', operator: 'gte', bonus: { type: 'flat', value: '-1' } }] },
      'value.slabs[0].bonus.value',
    ],
    [
      'bonus_credits_topup_config',
      {
        slabs: [
          {
            threshold: '1',
            operator: 'gte',
            bonus: { type: 'flat', value: '1' },
            expiration_duration: 3,
          },
        ],
      },
      'value.slabs[0].expiration_duration',
    ],
    [
      'bonus_credits_topup_config',
      {
        slabs: ['10', '10'].map((threshold) => ({
          threshold,
          operator: 'gte',
          bonus: { type: 'flat', value: '1' },
        })),
      },
      'value.slabs[1].threshold',
    ],
    [
      'payment_mandate_limits',
      { mandate_limits: { UPI: { max_amount: '-1' } } },
      'value.mandate_limits.UPI.max_amount',
    ],
    [
      'payment_mandate_limits',
      { mandate_limits: { UPI: { max_amount: '1', currency: 'RUPEE' } } },
      'value.mandate_limits.UPI.currency',
    ],
    ['invoice_pdf_config', { template_name: 'invoice.typ', group_by: [''] }, 'value.group_by[0]'],
    [
      'custom_analytics_config',
      { rules: [{ id: 'revenue-per-minute', target_type: 'plan', target_id: 'x' }] },
      'value.rules[0].target_type',
    ],
    ['customer_portal_config', { sections: [{ label: 'x' }] }, 'value.sections[0].id'],
    ['customer_portal_config', { theme: { primary_color: 'red' } }, 'value.theme.primary_color'],
    [
      'customer_portal_config',
      { theme: { tertiary_color: '#1d4ed' } },
      'value.theme.tertiary_color',
    ],
    [
      'customer_portal_config',
      { sections: [{ id: 'a', tabs: [{ id: 'b' }] }] },
      'value.sections[0].tabs[0].type',
    ],
    ['customer_portal_config', graph({ date_presets: ['last_week'] }), `${GRAPH}.date_presets[0]`],
    ['customer_portal_config', graph({ default_preset: 'last_week' }), `${GRAPH}.default_preset`],
    [
      'customer_portal_config',
      graph({ date_presets: ['today'], default_preset: 'last_month' }),
      `${GRAPH}.default_preset`,
    ],
    [
      'customer_portal_config',
      graph({ feature_filter_mode: 'exc' }),
      `${GRAPH}.feature_filter_mode`,
    ],
    ['customer_onboarding', { actions: [{ action: 'dance' }] }, 'value.actions[0].action'],
    [
      'customer_onboarding',
      { actions: [{ action: 'create_wallet' }] },
      'value.actions[0].currency',
    ],
    ['customer_onboarding', { workflow_type: 'other', actions: [] }, 'value.workflow_type'],
    [
      'custom_currency_config',
      {
        currencies: [
          { code: 'abc', name: 'A', symbol: 'a', conversion_factors: { usd: '2' } },
          { code: 'abd', name: 'B', symbol: 'b', conversion_factors: { eur: '2' } },
        ],
      },
      'value.currencies[1].conversion_factors',
    ],
    [
      'customer_onboarding',
      { actions: [{ action: 'create_subscription' }] },
      'value.actions[0].plan_id',
    ],
    // Valid, but nothing in this version would run or read them.
    [
      'customer_onboarding',
      { actions: [{ action: 'create_customer' }] },
      'value.actions[0].action',
    ],
    [
      'customer_onboarding',
      { custom_workflows: { gold: [{ action: 'rollout_to_subscriptions', plan_id: 'plan_x' }] } },
      'value.custom_workflows.gold[0].action',
    ],
    [
      'prepare_processed_events_config',
      { actions: [{ action: 'rollout_to_subscriptions', plan_id: 'plan_x' }] },
      'value.actions',
    ],
    [
      'custom_analytics_config',
      { rules: [{ id: 'revenue-per-minute', target_type: 'meter', target_id: 'x' }] },
      'value.rules',
    ],
    ['saml_config', { default_role: 'super_admin' }, 'value.default_role'],
  ])('%s %j is refused at %s', async (key, value, path) => {
    const answer = await put(key, value);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });

  test.each([
    ['draft_invoice_recompute_config', {}, { enabled: false }],
    ['custom_analytics_config', {}, { rules: [] }],
    ['payment_mandate_limits', {}, SETTINGS.payment_mandate_limits.default],
    ['custom_currency_config', {}, { currencies: [] }],
    [
      'payment_mandate_limits',
      { mandate_limits: { CARD: { max_amount: 5 } } },
      { mandate_limits: { CARD: { max_amount: '5', currency: '' } } },
    ],
    [
      'wallet_balance_alert_config',
      {
        alert_enabled: true,
        critical: { threshold: 5, condition: 'above' },
        warning: { threshold: '5.0', condition: 'above' },
        info: { threshold: '12345678901234567890.5', condition: 'above' },
      },
      {
        alert_enabled: true,
        critical: { threshold: '5', condition: 'above' },
        warning: { threshold: '5', condition: 'above' },
        info: { threshold: '12345678901234567890.5', condition: 'above' },
      },
    ],
    [
      'subscription_alert_config',
      { alert_enabled: true },
      { alert_enabled: true, critical: null, warning: null, info: null },
    ],
    [
      'bonus_credits_topup_config',
      {
        enabled: true,
        slabs: [
          {
            threshold: 10000,
            operator: 'gte',
            bonus: { type: 'percentage', value: '20' },
            expiration_duration: 3,
            expiration_duration_unit: 'MONTH',
          },
          { threshold: '5000', operator: 'gte', bonus: { type: 'flat', value: '750' } },
        ],
      },
      {
        enabled: true,
        slabs: [
          {
            threshold: '10000',
            operator: 'gte',
            bonus: { type: 'percentage', value: '20' },
            expiration_duration: 3,
            expiration_duration_unit: 'MONTH',
          },
          { threshold: '5000', operator: 'gte', bonus: { type: 'flat', value: '750' } },
        ],
      },
    ],
    [
      'customer_onboarding',
      { actions: [], custom_workflows: { gold: [] } },
      { workflow_type: 'customer_onboarding', actions: [], custom_workflows: { gold: [] } },
    ],
    [
      'customer_portal_config',
      { version: '2', sections: [{ id: 'a', tabs: [{ id: '1', type: 'invoices' }] }] },
      {
        version: '2',
        theme: {},
        sections: [
          {
            id: 'a',
            label: '',
            enabled: false,
            order: 0,
            tabs: [{ id: '1', type: 'invoices', enabled: false, order: 0 }],
          },
        ],
      },
    ],
  ])('%s %j holds as it is answered', async (key, value, held) => {
    const { status, body } = await put(key, value);
    expect([status, body.value]).toEqual([200, held]);
    expect((await api.get(`/v1/settings/${key}`)).body.value).toEqual(held);
    await api.delete(`/v1/settings/${key}`);
  });

  test('fields that a setting does not have are dropped and named, at any depth; refused when strict', async () => {
    const value = {
      version: '1',
      colour: 'red',
      sections: [{ id: 'a', icon: 'x', tabs: [{ id: '1', type: 'invoices', icon: 'y' }] }],
    };
    const { status, body, headers } = await put('customer_portal_config', value);
    expect([status, headers['x-ignored-fields']]).toEqual([
      200,
      'value.colour, value.sections%5B0%5D.icon, value.sections%5B0%5D.tabs%5B0%5D.icon',
    ]);
    expect(JSON.stringify(body.value)).not.toMatch(/colour|icon/);
    const strict = await api.put(
      '/v1/settings/invoice_config',
      { value: { ...invoice, colour: 'red' } },
      { prefer: 'handling=strict' },
    );
    expect([strict.status, strict.body.code, strict.body.details[0].path]).toEqual([
      400,
      'unknown_field',
      'value.colour',
    ]);
  });

  test('what is stored and what is sent must be right together', async () => {
    const key = 'wallet_balance_alert_config';
    const level = (threshold: string) => ({ threshold, condition: 'below' });
    await put(key, { critical: level('5'), warning: level('10'), info: level('20') });
    const answer = await put(key, { critical: level('15') });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, 'value.warning.threshold']);
    expect((await put(key, { critical: level('7'), info: null })).body.value).toMatchObject({
      critical: level('7'),
      warning: level('10'),
      info: null,
    });
    expect((await put('event_ingestion_filter', { enabled: false })).status).toBe(200);
    const all = { enabled: true, allowed_external_customer_ids: ['a'] };
    expect((await put('event_ingestion_filter', all)).status).toBe(200);
    expect(
      (await put('event_ingestion_filter', { allowed_external_customer_ids: [] })).status,
    ).toBe(400);
  });

  test('null brings the default of an optional field back, and is no value of a required one', async () => {
    await api.delete('/v1/settings/tenant_config');
    await api.delete('/v1/settings/wallet_balance_alert_config');
    await put('tenant_config', { max_users: 20, production: 3 });
    const { status, body } = await put('tenant_config', { max_users: null });
    expect([status, body.value]).toEqual([200, { max_users: 10, production: 3, development: 2 }]);
    const missing = await put('subscription_config', { grace_period_days: null });
    expect([missing.status, missing.body.details[0].path]).toEqual([
      400,
      'value.grace_period_days',
    ]);
    expect((await put('wallet_balance_alert_config', { critical: null })).body.value.critical).toBe(
      null,
    );
    await api.delete('/v1/settings/tenant_config');
    await api.delete('/v1/settings/wallet_balance_alert_config');
  });

  test.each([
    ['production', 21],
    ['development', 21],
    ['max_users', 1001],
  ])('400: %s above what the operator allows', async (field, value) => {
    const answer = await put('tenant_config', { [field]: value });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, `value.${field}`]);
    expect((await put('tenant_config', { [field]: value - 1 })).status).toBe(200);
    await api.delete('/v1/settings/tenant_config');
  });

  test('writers at once leave what is right together', async () => {
    const key = 'wallet_balance_alert_config';
    const level = (threshold: string) => ({ threshold, condition: 'below' });
    await api.delete(`/v1/settings/${key}`);
    await Promise.all([
      put(key, { critical: level('5'), warning: level('10') }),
      put(key, { critical: level('20') }),
      put(key, { critical: level('30'), info: level('40') }),
    ]);
    const held = (await api.get(`/v1/settings/${key}`)).body.value;
    expect((await put(key, held)).status).toBe(200);
  });

  test('unknown keys: 400 to read and write, 404 to delete; a value is an object', async () => {
    expect((await api.get('/v1/settings/nonsense')).status).toBe(400);
    expect((await put('nonsense', {})).status).toBe(400);
    expect((await api.delete('/v1/settings/nonsense')).status).toBe(404);
    expect((await api.get('/v1/settings/__proto__')).status).toBe(400);
    for (const value of [undefined, null, [], 'x'])
      expect((await put('tenant_config', value)).status).toBe(400);
  });

  test('only a person who is super admin may change them', async () => {
    const robot = await api.newCaller({ beside: api, userType: 'service_account' });
    expect(
      (await robot.put('/v1/settings/tenant_config', { value: { max_users: 5 } })).status,
    ).toBe(403);
    expect((await robot.get('/v1/settings/tenant_config')).status).toBe(200);
  });

  test('only a person who is super admin reads how a tenant logs in', async () => {
    const read = async (caller: typeof robot) =>
      (await caller.get('/v1/settings/saml_config')).status;
    const robot = await api.newCaller({ beside: api, userType: 'service_account' });
    const reader = await api.newCaller({ beside: api, roles: ['all_reader'] });
    expect([await read(api), await read(robot), await read(reader)]).toEqual([200, 403, 403]);
  });
});
