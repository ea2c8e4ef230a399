import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

/** An update with null clears an optional field; an update without the field leaves it (api 7). */
let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());

let number = 0;
async function entitlement(feature: object, more: object = {}): Promise<string> {
  const { id } = await api.postOk('/v1/features', { name: `F${(number += 1)}`, ...feature });
  const { type } = feature as { type: string };
  const of = { plan_id: (await catalog.plan()).id, feature_id: id, feature_type: type };
  return `/entitlements/${(await api.postOk('/v1/entitlements', { ...of, ...more })).id}`;
}
const counted = async () => ({ type: 'metered', meter_id: (await catalog.meter()).id });

async function taxRate(): Promise<string> {
  const code = `t${(number += 1)}`;
  const rate = { name: 'T', code, tax_rate_type: 'percentage', percentage_value: '7' };
  return `/taxes/rates/${(await api.postOk('/v1/taxes/rates', rate)).id}`;
}

async function paymentMethod(): Promise<string> {
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
  const methods = `/customers/${(await catalog.customer()).id}/payment-methods`;
  const body = { payment_gateway: 'test', gateway_method_id: 'pm_test_success' };
  return `${methods}/${(await api.postOk(`/v1${methods}`, body)).id}`;
}

async function taxAssociation(): Promise<string> {
  const code = `t${(number += 1)}`;
  const rate = { name: 'T', code, tax_rate_type: 'percentage', percentage_value: '7' };
  await api.postOk('/v1/taxes/rates', rate);
  const of = { entity_type: 'customer', entity_id: (await catalog.customer()).id };
  const made = { tax_rate_code: code, currency: 'usd', ...of };
  return `/taxes/associations/${(await api.postOk('/v1/taxes/associations', made)).id}`;
}

const wallet = async (): Promise<string> => {
  const of = { customer_id: (await catalog.customer()).id, currency: 'usd' };
  return `/wallets/${(await api.postOk('/v1/wallets', of)).id}`;
};

const PHASES = [
  { start_date: '2026-11-01T00:00:00Z', end_date: '2027-02-01T00:00:00Z' },
  { start_date: '2027-02-01T00:00:00Z' },
];
async function subscription(): Promise<any> {
  const plan = await catalog.plan();
  await catalog.fixed(plan, '30');
  return await api.postOk('/v1/subscriptions', {
    customer_id: (await catalog.customer()).id,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: PHASES[0]!.start_date,
    phases: PHASES,
  });
}

test.each<[string, string, () => Promise<string>, unknown, unknown]>([
  [
    'the country of a customer',
    'address_country',
    async () => `/customers/${(await catalog.customer()).id}`,
    'BE',
    '',
  ],
  ['the metadata of the tenant', 'metadata', async () => '/tenants/update', { a: 'b' }, {}],
  [
    'the metadata of a phase',
    'metadata',
    async () => {
      const { id, phases } = await subscription();
      return `/subscriptions/${id}/phases/${phases[1].id}`;
    },
    { a: 'b' },
    {},
  ],
  [
    'the metadata of a line item',
    'metadata',
    async () => `/subscriptions/lineitems/${(await subscription()).line_items[0].id}`,
    { a: 'b' },
    {},
  ],
  ['the order of a plan', 'display_order', async () => `/plans/${(await catalog.plan()).id}`, 3, 0],
  ['the order of an entitlement', 'display_order', () => entitlement({ type: 'boolean' }), 3, 0],
  ['a switch', 'is_enabled', () => entitlement({ type: 'boolean' }), true, false],
  [
    'an entitlement to usage',
    'is_enabled',
    async () => await entitlement(await counted()),
    false,
    true,
  ],
  [
    'a soft limit',
    'is_soft_limit',
    async () => await entitlement(await counted(), { usage_limit: 5 }),
    true,
    false,
  ],
  [
    'the aggregation of quotas',
    'aggregation_mode',
    async () =>
      await entitlement(await counted(), {
        ...{ grant_quota: '5', grant_measure: 'quantity' },
        ...{ grant_duration_unit: 'hour', grant_duration_value: 5 },
      }),
    'parallel',
    'additive',
  ],
  ['the state of a tax rate', 'tax_rate_status', taxRate, 'INACTIVE', 'ACTIVE'],
  ['the default method of a customer', 'is_default', paymentMethod, true, false],
  ['the priority of a tax', 'priority', taxAssociation, 3, 0],
  ['the choice to apply a tax', 'auto_apply', taxAssociation, true, false],
  ['the behaviour of a tax', 'tax_behavior', taxAssociation, 'inclusive', 'exclusive'],
  ['the name of a wallet', 'name', wallet, 'Main', 'Prepaid Wallet - USD'],
  [
    'what a wallet pays for',
    'config',
    wallet,
    { allowed_price_types: ['FIXED'] },
    { allowed_price_types: ['USAGE'] },
  ],
  [
    'the automatic top-up',
    'auto_topup',
    wallet,
    { enabled: true, threshold: 5, amount: 20, invoicing: true, cooldown: null },
    null,
  ],
])('%s', async (_, field, record, value, cleared) => {
  const path = `/v1${await record()}`;
  const put = async (body: object) => {
    const { status, body: answer } = await api.put(path, body);
    expect(status).toBe(200);
    return answer[field];
  };
  expect(await put({ [field]: value })).toEqual(value);
  expect(await put({})).toEqual(value);
  expect(await put({ [field]: null })).toEqual(cleared);
});
