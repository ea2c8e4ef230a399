import { readSetting } from '../../../postgres/settings.ts';
import { SETTINGS, type SettingKey } from '../../../schemas/settings/settings.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

describe('settings', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());
  const put = (key: string, value: unknown) => api.put(`/v1/settings/${key}`, { value });

  test.each(Object.keys(SETTINGS) as SettingKey[])(
    '%s has a default that is no record',
    async (key) => {
      const { status, body } = await api.get(`/v1/settings/${key}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ id: null, status: null, created_at: null, key });
      expect(body.value).toEqual(SETTINGS[key].default);
    },
  );

  const invoice = {
    prefix: 'ACME',
    format: 'YYYY',
    separator: '',
    start_sequence: 7,
    suffix_length: 4,
    timezone: 'Asia/Kolkata',
  };

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

  test('a setting of the tenant holds in all of its environments', async () => {
    const sibling = await api.newCaller({ inTenantOf: api });
    const { body } = await put('tenant_config', { development: 3 });
    expect([body.environment_id, body.value]).toEqual([
      null,
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
    ['invoice_config', { ...invoice, colour: 'red' }, 'value.body'],
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
    ['bonus_credits_topup_config', { enabled: true }, 'value.slabs'],
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
    ['saml_config', { default_role: 'super_admin' }, 'value.default_role'],
  ])('%s %j is refused at %s', async (key, value, path) => {
    const answer = await put(key, value);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
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
});
