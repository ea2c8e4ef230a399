import { startTestApi, type TestApi } from '../../support/api.ts';

describe('coupons', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());
  const create = (fields: object = {}) =>
    api.post('/v1/coupons', {
      name: 'Ten',
      type: 'fixed',
      amount_off: '10',
      currency: 'USD',
      cadence: 'once',
      ...fields,
    });

  test('201: a percentage has no currency, a code is kept in lower case', async () => {
    expect((await create()).body).toMatchObject({
      amount_off: '10',
      percentage_off: '0',
      currency: 'usd',
      coupon_code: null,
      rules: null,
      total_redemptions: 0,
    });
    const { body } = await create({
      type: 'percentage',
      amount_off: null,
      percentage_off: '25.5',
      coupon_code: ' SAVE ',
      rules: {},
    });
    expect(body).toMatchObject({
      amount_off: '0',
      percentage_off: '25.5',
      currency: '',
      coupon_code: 'save',
      rules: null,
    });
    expect((await api.get('/v1/coupons/code/Save')).body.id).toBe(body.id);
    expect(
      (await api.post('/v1/coupons/search', { coupon_codes: ['SAVE'] })).body.pagination.total,
    ).toBe(1);
    expect((await create({ coupon_code: 'save' })).status).toBe(409);
    expect((await api.delete(`/v1/coupons/${body.id}`)).status).toBe(200);
    expect((await api.get('/v1/coupons/code/save')).status).toBe(404);
    expect((await create({ coupon_code: 'save' })).status).toBe(201);
  });

  test.each([
    ['name', { name: '' }],
    ['type', { type: '' }],
    ['cadence', { cadence: undefined }],
    ['cadence', { cadence: 'weekly' }],
    ['amount_off', { amount_off: '0' }],
    ['currency', { currency: null }],
    ['percentage_off', { type: 'percentage', amount_off: null }],
    ['percentage_off', { type: 'percentage', amount_off: null, percentage_off: '101' }],
    ['duration_in_periods', { cadence: 'repeated' }],
    ['duration_in_periods', { duration_in_periods: 2 }],
    ['max_redemptions', { max_redemptions: 0 }],
    ['rules', { rules: { any: [1] } }],
    ['max_redemptions', { max_redemptions: 1_000_001 }],
    [
      'redeem_before',
      { redeem_after: '2026-02-01T00:00:00Z', redeem_before: '2026-01-15T00:00:00Z' },
    ],
  ])('400: %s', async (path, fields) => {
    const answer = await create(fields);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });

  test('an update renames; the discount of a coupon never changes', async () => {
    const { body } = await create();
    const { body: updated } = await api.put(`/v1/coupons/${body.id}`, {
      name: 'New',
      amount_off: '99',
      metadata: { a: '1' },
    });
    expect(updated).toMatchObject({ name: 'New', amount_off: '10', metadata: { a: '1' } });
    expect((await api.put(`/v1/coupons/${body.id}`, { name: '' })).status).toBe(400);
    expect((await api.delete('/v1/coupons/coupon_x')).status).toBe(404);
  });
});

describe('taxes', () => {
  let api: TestApi;
  let customer: string;
  let codes = 0;
  beforeAll(async () => {
    api = await startTestApi();
    customer = (await api.post('/v1/customers', { external_id: 'c', name: 'C' })).body.id;
  });
  afterAll(() => api.close());
  const rate = async (fields: object = {}) =>
    await api.post('/v1/taxes/rates', {
      name: 'VAT',
      code: `vat-${(codes += 1)}`,
      tax_rate_type: 'percentage',
      percentage_value: '20',
      ...fields,
    });
  const associate = (fields: object) =>
    api.post('/v1/taxes/associations', { entity_type: 'customer', entity_id: customer, ...fields });

  test('201: scope and status have defaults; an update keeps what is left out', async () => {
    const { status, body } = await rate({ tax_rate_status: 'INACTIVE' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      scope: 'INTERNAL',
      tax_rate_status: 'INACTIVE',
      fixed_value: null,
      percentage_value: '20',
    });
    const rateUrl = `/v1/taxes/rates/${body.id}`;
    const other = await api.put(rateUrl, { name: 'Other', percentage_value: '7' });
    expect(other).toMatchObject({ status: 400 });
    expect(other.body.details[0].path).toBe('percentage_value');
    const same = await api.put(rateUrl, body);
    expect(same).toMatchObject({ status: 200, body: { name: body.name } });
    expect((await api.put(`/v1/taxes/rates/${body.id}`, { name: 'New' })).body).toMatchObject({
      name: 'New',
      tax_rate_status: 'INACTIVE',
    });
  });

  test.each([
    ['name', { name: '' }],
    ['code', { code: '' }],
    ['percentage_value', { percentage_value: null }],
    ['percentage_value', { percentage_value: '101' }],
    ['percentage_value', { percentage_value: '-1' }],
    ['tax_rate_type', { tax_rate_type: 'fixed' }],
    ['tax_rate_type', { tax_rate_type: undefined }],
    ['scope', { scope: 'ODD' }],
  ])('400: %s', async (path, fields) => {
    const answer = await rate(fields);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });

  test('an association defaults to exclusive, is made once, and locks its rate until it goes', async () => {
    const { body: vat } = await rate();
    const { status, body } = await associate({
      tax_rate_code: vat.code,
      entity_id: null,
      external_customer_id: 'c',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      tax_rate_id: vat.id,
      entity_id: customer,
      tax_behavior: 'exclusive',
      auto_apply: false,
      priority: 0,
      currency: null,
    });
    expect((await associate({ tax_rate_code: vat.code })).status).toBe(409);
    const put = (fields: object) => api.put(`/v1/taxes/associations/${body.id}`, fields);
    expect((await put({ tax_behavior: 'inclusive' })).body.tax_behavior).toBe('inclusive');
    expect((await put({ priority: 2 })).body).toMatchObject({
      tax_behavior: 'inclusive',
      priority: 2,
    });
    expect((await associate({ tax_rate_code: vat.code, currency: 'EUR' })).body.currency).toBe(
      'eur',
    );
    expect((await api.put(`/v1/taxes/rates/${vat.id}`, { name: 'N' })).status).toBe(400);
    expect((await api.delete(`/v1/taxes/rates/${vat.id}`)).status).toBe(400);
    expect((await api.get(`/v1/taxes/associations/${body.id}`)).body.tax_rate.code).toBe(vat.code);
    const { body: list } = await api.get(
      `/v1/taxes/associations?external_customer_id=c&tax_rate_id=${vat.id}`,
    );
    expect(list.pagination.total).toBe(2);
    for (const item of list.items)
      expect((await api.delete(`/v1/taxes/associations/${item.id}`)).body.status).toBe('archived');
    expect((await api.delete(`/v1/taxes/rates/${vat.id}`)).status).toBe(204);
    expect((await api.get(`/v1/taxes/rates/${vat.id}`)).body.status).toBe('archived');
    expect((await rate({ code: vat.code })).status).toBe(201);
  });

  test('400, 404 and 409', async () => {
    const { body: vat } = await rate();
    const named = { tax_rate_code: vat.code };
    expect((await associate({ tax_rate_code: 'none' })).status).toBe(404);
    expect((await associate({ ...named, entity_id: 'cust_x' })).status).toBe(404);
    expect(
      (await associate({ ...named, entity_id: 'cust_x', external_customer_id: 'c' })).status,
    ).toBe(400);
    expect((await associate({ ...named, entity_id: null })).status).toBe(400);
    expect((await associate({ ...named, entity_type: 'planet' })).status).toBe(400);
    expect(
      (await associate({ ...named, entity_type: 'subscription', entity_id: 'subs_x' })).status,
    ).toBe(404);
    expect(
      (await associate({ ...named, entity_type: 'tenant', entity_id: null })).body.entity_id,
    ).toBe(api.scope.tenant_id);
    expect((await rate({ code: vat.code })).status).toBe(409);
    expect((await api.get('/v1/taxes/rates/taxrate_x')).status).toBe(404);
  });
});

describe('costsheets', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  test('are named once, carry prices, and the newest published one is active', async () => {
    expect((await api.get('/v1/costs/active')).status).toBe(404);
    const { status, body } = await api.post('/v1/costs', { name: 'One', lookup_key: 'k' });
    expect(status).toBe(201);
    const { id } = body.costsheet;
    expect((await api.post('/v1/costs', { name: 'One' })).status).toBe(409);
    expect((await api.post('/v1/costs', { name: 'Other', lookup_key: 'k' })).status).toBe(409);
    api.clock.advance(1);
    const { body: second } = await api.post('/v1/costs', { name: 'Two' });
    expect((await api.get('/v1/costs/active')).body.id).toBe(second.costsheet.id);
    await api.post('/v1/prices', {
      entity_type: 'COSTSHEET',
      entity_id: id,
      type: 'FIXED',
      billing_model: 'FLAT_FEE',
      billing_period: 'MONTHLY',
      invoice_cadence: 'ARREAR',
      currency: 'usd',
      amount: '1',
    });
    const { body: read } = await api.get(`/v1/costs/${id}`);
    expect([read.prices.length, read.costsheet.prices.length, read.id]).toEqual([1, 1, id]);
    expect(
      (await api.put(`/v1/costs/${id}`, { description: 'd' })).body.costsheet.description,
    ).toBe('d');
    expect((await api.delete(`/v1/costs/${second.costsheet.id}`)).body.id).toBe(
      second.costsheet.id,
    );
    const again = await api.delete(`/v1/costs/${second.costsheet.id}`);
    expect([again.status, again.body.code]).toEqual([400, 'invalid_operation']);
    expect((await api.get('/v1/costs/active')).body.id).toBe(id);
    expect(
      (await api.post('/v1/costs/search', { costsheet_ids: [id], limit: 1 })).body.pagination.total,
    ).toBe(1);
  });

  test('are found by the names of the older form as well; those on top go first', async () => {
    const made: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      const { body } = await api.post('/v1/costs', { name, lookup_key: `older-${name}` });
      made.push(body.costsheet.id);
    }
    const [a, b, c] = made;
    const find = async (fields: object) => {
      const { status, body } = await api.post('/v1/costs/search', fields);
      expect(status).toBe(200);
      return body.items.map((item: { id: string }) => item.id);
    };
    const costsheetIDs = [a, b, c];
    expect(await find({ lookupKey: 'older-b' })).toEqual([b]);
    expect(await find({ lookup_keys: ['older-a', 'older-c'] })).toEqual([c, a]);
    expect(await find({ costsheetIDs, queryFilter: { sort: 'name', order: 'asc' } })).toEqual(made);
    expect(await find({ costsheetIDs, queryFilter: { limit: 1, offset: 1 } })).toHaveLength(1);
    expect(await find({ costsheetIDs, limit: 2, queryFilter: { limit: 1 } })).toHaveLength(2);
    expect(await find({ costsheetIDs, queryFilter: { status: 'deleted' } })).toEqual([]);
    const timeRangeFilter = { end_time: '2000-01-01T00:00:00Z' };
    expect(await find({ costsheetIDs, timeRangeFilter })).toEqual([]);
    const wrong = await api.post('/v1/costs/search', { queryFilter: { limit: 0 } });
    expect([wrong.status, wrong.body.details[0].path]).toEqual([400, 'queryFilter.limit']);
  });

  test('cost analytics expand the meter and the price, and nothing else', async () => {
    const { status, body } = await api.post('/v1/costs/analytics', { expand: ['prize'] });
    expect([status, body.details[0].path]).toEqual([400, 'expand[0]']);
  });

  test('cost analytics take both times or neither', async () => {
    for (const half of [
      { start_time: '2026-07-01T00:00:00Z' },
      { end_time: '2026-07-01T00:00:00Z' },
    ])
      expect((await api.post('/v1/costs/analytics', half)).status).toBe(400);
  });
});
