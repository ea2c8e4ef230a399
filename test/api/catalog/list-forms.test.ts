import { startTestApi, TEST_NOW, type TestApi } from '../../support/api.ts';

/** Every list of the catalog answers the same to GET and to POST search, for every query (api 4). */
describe('lists of the catalog', () => {
  let api: TestApi;
  let ids: Record<string, string>;
  beforeAll(async () => {
    api = await startTestApi();
    ids = await fill();
  });
  afterAll(() => api.close());

  const make = async (path: string, body: object): Promise<string> => {
    const answer = await api.post(`/v1${path}`, body);
    expect([path, answer.status]).toEqual([path, path === '/taxes/associations' ? 200 : 201]);
    return answer.body.id;
  };

  /** Two or more of each, of which one is archived or ended. */
  async function fill() {
    const plan = await make('/plans', { name: 'A', lookup_key: 'plan_a', metadata: { tier: '1' } });
    await make('/plans', { name: 'B', lookup_key: 'plan_b', display_order: 4 });
    const addon = await make('/addons', { name: 'A', lookup_key: 'addon_a' });
    const oldAddon = await make('/addons', { name: 'B', lookup_key: 'addon_b' });
    await api.delete(`/v1/addons/${oldAddon}`);
    const unit = { name: 'U', symbol: 'u', base_currency: 'usd', conversion_rate: '0.5' };
    const priceUnit = await make('/prices/units', { ...unit, code: 'ua1' });
    await make('/prices/units', { ...unit, code: 'ub2' });
    const price = { entity_type: 'PLAN', entity_id: plan, type: 'FIXED', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', currency: 'usd' }; // prettier-ignore
    const fee = await make('/prices', { ...price, amount: '5', lookup_key: 'fee' });
    await make('/prices', { ...price, amount: '7', min_quantity: 2, billing_period: 'ANNUAL' });
    await make('/prices', { ...price, amount: '9', end_date: '2020-01-01T00:00:00Z' });
    await make('/prices', { ...price, entity_type: 'ADDON', entity_id: addon, price_unit_type: 'CUSTOM', price_unit_config: { price_unit: 'ua1', amount: '4' } }); // prettier-ignore
    const off = { name: 'C', type: 'fixed', amount_off: '3', currency: 'usd', cadence: 'once' };
    const coupon = await make('/coupons', { ...off, coupon_code: 'SAVE' });
    await make('/coupons', { name: 'D', type: 'percentage', percentage_off: '20', cadence: 'forever', max_redemptions: 5 }); // prettier-ignore
    const grant = { name: 'G', credits: '10', cadence: 'ONETIME', expiration_type: 'NEVER' };
    await make('/creditgrants', { ...grant, scope: 'PLAN', plan_id: plan });
    await make('/creditgrants', { ...grant, scope: 'ADDON', addon_id: addon, priority: 3 });
    const rate = { name: 'T', tax_rate_type: 'percentage', percentage_value: '19' };
    const taxRate = await make('/taxes/rates', { ...rate, code: 'vat' });
    await make('/taxes/rates', { ...rate, code: 'gst', scope: 'EXTERNAL', tax_rate_status: 'INACTIVE' }); // prettier-ignore
    const customer = await make('/customers', { external_id: 'acme', name: 'Acme' });
    const tax = { tax_rate_code: 'vat', entity_type: 'customer', entity_id: customer };
    await make('/taxes/associations', tax);
    await make('/taxes/associations', { ...tax, currency: 'usd', auto_apply: true, priority: 2 });
    return { plan, addon, priceUnit, fee, coupon, taxRate, customer };
  }

  const asQuery = (body: Record<string, unknown>): string =>
    Object.entries(body)
      .map(([name, value]) => {
        const text = Array.isArray(value) ? value.join(',') : typeof value === 'object' ? JSON.stringify(value) : String(value); // prettier-ignore
        return `${name}=${encodeURIComponent(text)}`;
      })
      .join('&');

  /** The requested path, and the number of matching records. Names in braces are replaced by ids. */
  const ASKED: readonly [string, Record<string, unknown>, number][] = [
    ['/plans', {}, 2],
    ['/plans', { plan_ids: ['{plan}', 'plan_x'] }, 1],
    ['/plans', { lookup_key: 'plan_b' }, 1],
    ['/plans', { lookup_keys: ['plan_a', 'plan_b'], sort: 'display_order', order: 'asc' }, 2],
    ['/plans', { metadata: { tier: '1' }, expand: 'prices,meters,entitlements,features,credit_grant,price_sync_status' }, 1], // prettier-ignore
    ['/plans', { status: 'archived' }, 0],
    ['/plans', { start_time: TEST_NOW, limit: 1, offset: 1 }, 2],
    ['/plans', { end_time: TEST_NOW }, 0],
    ['/prices', {}, 3],
    ['/prices', { allow_expired_prices: true, sort: 'amount', order: 'asc' }, 4],
    ['/prices', { plan_ids: ['{plan}'] }, 2],
    ['/prices', { entity_ids: ['{addon}'], entity_type: 'ADDON', expand: 'addons,priceunit' }, 1],
    ['/prices', { price_ids: ['{fee}'], expand: 'meters,groups,priceunit,plan,addons,features' }, 1], // prettier-ignore
    ['/prices', { parent_price_id: '{fee}' }, 1],
    ['/prices', { billing_periods: ['ANNUAL'], currency: 'USD', type: 'FIXED' }, 1],
    ['/prices', { meter_ids: ['meter_x'] }, 0],
    ['/prices', { start_date_lt: '2020-01-01T00:00:00Z' }, 3],
    ['/prices/units', { sort: 'code', order: 'asc' }, 2],
    ['/prices/units', { code: 'UA1' }, 1],
    ['/prices/units', { price_unit_ids: ['{priceUnit}'], limit: 1 }, 1],
    ['/addons', {}, 1],
    ['/addons', { addon_ids: ['{addon}'], expand: 'prices,meters,entitlements,features,credit_grants' }, 1], // prettier-ignore
    ['/addons', { lookup_keys: ['addon_b'] }, 0],
    ['/addons', { lookup_keys: ['addon_b'], status: 'archived' }, 1],
    ['/addons', { addon_statuses: ['active'] }, 1],
    ['/addons', { addon_statuses: ['active', 'cancelled'] }, 2],
    ['/addons', { addon_statuses: ['pending'] }, 0],
    ['/addons', { active_at: TEST_NOW }, 1],
    ['/addons', { active_at: '2020-01-01T00:00:00Z' }, 0],
    ['/coupons', { sort: 'name', order: 'desc' }, 2],
    ['/coupons', { coupon_codes: ['Save'] }, 1],
    ['/coupons', { coupon_ids: ['{coupon}'] }, 1],
    ['/coupons/associations', { coupon_ids: ['{coupon}'], active_only: true, expand: 'coupon' }, 0],
    ['/creditgrants', { plan_ids: ['{plan}'] }, 1],
    ['/creditgrants', { addon_ids: ['{addon}'], scope: 'ADDON' }, 1],
    ['/creditgrants', { sort: 'priority', order: 'desc' }, 2],
    ['/taxes/rates', { scope: 'EXTERNAL' }, 1],
    ['/taxes/rates', { taxrate_codes: ['vat', 'gst'], sort: 'code', order: 'asc' }, 2],
    ['/taxes/rates', { taxrate_ids: ['{taxRate}'] }, 1],
    ['/taxes/associations', { entity_type: 'customer', entity_id: '{customer}', expand: 'tax_rate' }, 2], // prettier-ignore
    ['/taxes/associations', { external_customer_id: 'acme', currency: 'USD' }, 1],
    ['/taxes/associations', { tax_rate_id: '{taxRate}', auto_apply: false }, 1],
  ];

  test.each(ASKED)('%s %j: %i', async (path, asked, total) => {
    const named = JSON.parse(
      JSON.stringify(asked).replace(/\{(\w+)\}/g, (_, name: string) => ids[name]!),
    ) as Record<string, unknown>;
    const found = await api.post(`/v1${path}/search`, named);
    expect([found.status, found.body.pagination?.total]).toEqual([200, total]);
    expect((await api.get(`/v1${path}?${asQuery(named)}`)).body).toEqual(found.body);
  });

  test.each<[string, string, 'string' | 'number' | 'date' | 'boolean', string, unknown, number]>([
    ['/plans', 'id', 'string', 'eq', '{plan}', 1],
    ['/plans', 'description', 'string', 'contains', 'x', 0],
    ['/plans', 'description', 'string', 'eq', '', 2],
    ['/prices', 'price_unit', 'string', 'eq', '', 2],
    ['/prices', 'min_quantity', 'number', 'gt', 1, 1],
    ['/prices', 'price_unit', 'string', 'eq', 'ua1', 1],
    ['/prices', 'price_unit_type', 'string', 'eq', 'CUSTOM', 1],
    ['/prices', 'billing_period_count', 'number', 'eq', 1, 3],
    ['/prices/units', 'conversion_rate', 'number', 'lt', 1, 2],
    ['/addons', 'description', 'string', 'contains', 'x', 0],
    ['/coupons', 'percentage_off', 'number', 'gt', 10, 1],
    ['/coupons', 'max_redemptions', 'number', 'eq', 5, 1],
    ['/coupons', 'redeem_before', 'date', 'before', TEST_NOW, 0],
    ['/creditgrants', 'credits', 'number', 'gte', '10', 2],
    ['/creditgrants', 'plan_id', 'string', 'eq', '{plan}', 1],
    ['/taxes/rates', 'percentage_value', 'number', 'eq', '19.0', 2],
    ['/taxes/associations', 'auto_apply', 'boolean', 'eq', true, 1],
    ['/taxes/associations', 'start_date', 'date', 'after', '2020-01-01T00:00:00Z', 2],
  ])('%s: %s as a %s, %s %s: %i', async (path, field, data_type, operator, value, total) => {
    const sought = typeof value === 'string' ? value.replace(/\{(\w+)\}/, (_, name: string) => ids[name]!) : value; // prettier-ignore
    const filters = [{ field, operator, data_type, value: { [data_type]: sought } }];
    const answer = await api.post(`/v1${path}/search`, {
      filters,
      sort: [{ field, direction: 'desc' }],
    });
    expect([answer.status, answer.body.pagination?.total]).toEqual([200, total]);
  });

  test.each([
    ['in', ['ua1', ''], 3],
    ['in', [''], 2],
    ['not_in', [''], 1],
    ['not_in', ['ua1'], 2],
    ['contains', '', 3],
    ['not_contains', '', 0],
  ])('an unset text is the empty text (api 37): %s %j: %i', async (operator, sought, total) => {
    const value = Array.isArray(sought) ? { array: sought } : { string: sought };
    const filters = [{ field: 'price_unit', operator, value }];
    const { body } = await api.post('/v1/prices/search', { filters });
    expect(body.pagination?.total).toBe(total);
  });

  test.each([
    ['/plans', 'limit=0', 'limit'],
    ['/prices', 'limit=1001', 'limit'],
    ['/prices/units', 'offset=-1', 'offset'],
    ['/coupons', 'expand=odd', 'expand'],
    ['/addons', 'addon_statuses=odd', 'addon_statuses[0]'],
    ['/creditgrants', 'sort=odd', 'sort'],
    ['/taxes/rates', 'scope=odd', 'scope'],
    ['/taxes/associations', 'entity_type=subscription&external_customer_id=acme', 'external_customer_id'], // prettier-ignore
    ['/taxes/associations', 'entity_id=cust_x&external_customer_id=acme', 'entity_id'],
  ])('400: GET %s?%s', async (path, query, field) => {
    const answer = await api.get(`/v1${path}?${query}`);
    expect([answer.status, answer.body.details?.[0]?.path]).toEqual([400, field]);
  });

  test('404: associations of an unknown customer, by both forms', async () => {
    const external_customer_id = 'nobody';
    const path = '/v1/taxes/associations';
    expect((await api.get(`${path}?external_customer_id=nobody`)).status).toBe(404);
    expect((await api.post(`${path}/search`, { external_customer_id })).status).toBe(404);
  });
});
