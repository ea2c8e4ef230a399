import { startTestApi, TEST_NOW, type TestAnswer, type TestApi } from '../../support/api.ts';
import { fixedPriceBody } from '../../support/price-body.ts';

/** What single fields of catalog records may say (observed answers of the catalog; money 5, 12, 13). */
describe('terms of catalog records', () => {
  let api: TestApi;
  let plan: string;
  beforeAll(async () => {
    api = await startTestApi();
    plan = (await api.post('/v1/plans', { name: 'Pro', lookup_key: 'pro' })).body.id;
  });
  afterAll(() => api.close());

  const refusal = ({ status, body }: TestAnswer) => [status, body.details?.[0]?.path];
  const price = (fields: object) => fixedPriceBody(plan, fields);
  const coupon = (fields: object) => ({
    name: 'Off',
    type: 'fixed',
    amount_off: '5',
    currency: 'usd',
    cadence: 'once',
    ...fields,
  });
  const rate = (fields: object) => ({
    name: 'VAT',
    tax_rate_type: 'percentage',
    percentage_value: '19',
    ...fields,
  });
  const grant = (fields: object) => ({
    name: 'G',
    scope: 'PLAN',
    plan_id: plan,
    credits: '5',
    cadence: 'ONETIME',
    expiration_type: 'NEVER',
    ...fields,
  });

  test.each<[string, () => object, object]>([
    ['/prices', () => price({ tier_mode: '', price_unit_type: '', bucket_size: '' }), { tier_mode: null, price_unit_type: 'FIAT', bucket_size: null }],
    ['/addons', () => ({ name: 'A', lookup_key: 'a', type: '' }), { type: 'onetime' }],
    ['/taxes/rates', () => rate({ code: 'words', scope: '', tax_rate_status: '' }), { scope: 'INTERNAL', tax_rate_status: 'ACTIVE' }],
    ['/creditgrants', () => grant({ period: '', period_count: 0, expiration_duration: 0, expiration_duration_unit: '' }), { period: null, period_count: null, expiration_duration: null }],
  ])('201 %s: an empty optional word says nothing', async (path, body, expected) => {
    const answer = await api.post(`/v1${path}`, body());
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject(expected);
  }); // prettier-ignore

  test('a recurring grant without a count recurs in every period', async () => {
    const { status, body } = await api.post(
      '/v1/creditgrants',
      grant({ cadence: 'RECURRING', period: 'MONTHLY' }),
    );
    expect([status, body.period, body.period_count]).toEqual([201, 'MONTHLY', 1]);
  });

  test.each<[string, () => object, string, string]>([
    ['/prices', () => price({ bucket_size: 'YEAR' }), 'bucket_size', '"15MIN"'],
    ['/prices', () => price({ transform_quantity: { divide_by: 1, round: 'UP' } }), 'transform_quantity.round', '"up"|"down"'],
    ['/prices', () => price({ tier_mode: 'STAIRS' }), 'tier_mode', '"VOLUME"|"SLAB"'],
    ['/coupons', () => coupon({ currency: 'euro' }), 'currency', 'three letters'],
    ['/taxes/rates', () => rate({ code: 'odd', scope: 'internal' }), 'scope', '"INTERNAL"'],
    ['/creditgrants', () => grant({ cadence: 'RECURRING', period: 'ONETIME', period_count: 1 }), 'period', '"MONTHLY"'],
    ['/plans/search', () => ({ sort: [{ field: 'name', direction: 'up' }] }), 'sort[0].direction', '"asc"|"desc"'],
  ])('400 %s: what would be right is said', async (path, body, field, right) => {
    const answer = await api.post(`/v1${path}`, body());
    expect(refusal(answer)).toEqual([400, field]);
    expect(answer.body.details[0].message).toContain(right);
  }); // prettier-ignore

  describe('coupons', () => {
    test('201: the 0 that reads answer for the other type may be sent back', async () => {
      const { body: made } = await api.post('/v1/coupons', coupon({ coupon_code: 'one' }));
      const again = await api.post('/v1/coupons', { ...made, coupon_code: 'two' });
      expect([again.status, again.body.amount_off, again.body.percentage_off]).toEqual([201, '5', '0']); // prettier-ignore
      const share = coupon({ type: 'percentage', percentage_off: '5', amount_off: '0.00' });
      expect((await api.post('/v1/coupons', share)).status).toBe(201);
    });
    test.each<[string, object]>([
      ['percentage_off', { percentage_off: '5' }],
      ['amount_off', { type: 'percentage', percentage_off: '5' }],
      ['amount_off', { amount_off: '0' }],
      ['percentage_off', { type: 'percentage', amount_off: null, percentage_off: '0' }],
    ])('400: %s', async (field, fields) => {
      expect(refusal(await api.post('/v1/coupons', coupon(fields)))).toEqual([400, field]);
    });
  });

  describe('pricing units', () => {
    const unit = { name: 'U', symbol: 'u', base_currency: 'usd', conversion_rate: '0.5' };
    test.each(['usd', 'EUR', 'jpy'])('400: %s is the code of a currency', async (code) => {
      expect(refusal(await api.post('/v1/prices/units', { ...unit, code }))).toEqual([400, 'code']);
    });
  });

  describe('credit grants of subscriptions', () => {
    let subscription: string;
    const start = '2026-11-01T00:00:00.000Z';
    const end = '2027-11-01T00:00:00.000Z';
    beforeAll(async () => {
      await api.post('/v1/prices', price({}));
      await api.post('/v1/customers', { external_id: 'acme', name: 'Acme' });
      const created = await api.post('/v1/subscriptions', {
        external_customer_id: 'acme',
        plan_id: plan,
        currency: 'usd',
        billing_period: 'MONTHLY',
        start_date: start,
        end_date: end,
        credit_grants: [],
      });
      expect(created.status).toBe(201);
      subscription = created.body.id;
    });
    const own = (fields: object = {}) =>
      grant({ scope: 'SUBSCRIPTION', plan_id: null, subscription_id: subscription, start_date: start, ...fields }); // prettier-ignore
    const create = async (fields: object = {}) =>
      (await api.post('/v1/creditgrants', own(fields))).body;
    const read = async (id: string) => (await api.get(`/v1/creditgrants/${id}`)).body;

    test('400 before 404: invalid fields are refused before unknown ids', async () => {
      const unknown = own({ subscription_id: 'subs_x', start_date: null });
      expect(refusal(await api.post('/v1/creditgrants', unknown))).toEqual([400, 'start_date']);
      const known = { ...unknown, start_date: start };
      expect((await api.post('/v1/creditgrants', known)).status).toBe(404);
    });

    test('200: a delete ends it now, or when it says; it stays published', async () => {
      const [now, later] = [await create(), await create()];
      await api.delete(`/v1/creditgrants/${now.id}`);
      expect(await read(now.id)).toMatchObject({ status: 'published', end_date: TEST_NOW });
      const effective_date = '2027-01-01T00:00:00.000Z';
      await api.delete(`/v1/creditgrants/${later.id}`, { effective_date });
      expect((await read(later.id)).end_date).toBe(effective_date);
    });

    test('200: an association that has not begun ends at its start', async () => {
      const start_date = '2027-02-01T00:00:00.000Z';
      const { id } = await create({ start_date });
      expect((await api.delete(`/v1/creditgrants/${id}`)).status).toBe(200);
      expect((await read(id)).end_date).toBe(start_date);
    });

    test('400: a second delete, and another end, of what has ended', async () => {
      const { id } = await create();
      await api.delete(`/v1/creditgrants/${id}`);
      for (const answer of [
        await api.delete(`/v1/creditgrants/${id}`),
        await api.put(`/v1/creditgrants/${id}`, { end_date: '2027-01-01T00:00:00Z' }),
      ])
        expect([answer.status, answer.body.code]).toEqual([400, 'invalid_operation']);
    });

    test.each([
      ['before the grant', '2026-10-01T00:00:00Z'],
      ['after the subscription', '2028-01-01T00:00:00Z'],
    ])('400: an end %s', async (_when, at) => {
      const { id } = await create();
      const deleted = await api.delete(`/v1/creditgrants/${id}`, { effective_date: at });
      expect(refusal(deleted)).toEqual([400, 'effective_date']);
      const updated = await api.put(`/v1/creditgrants/${id}`, { end_date: at });
      expect(refusal(updated)).toEqual([400, 'end_date']);
      expect((await read(id)).end_date).toBeNull();
    });
  });

  describe('tax associations', () => {
    beforeAll(async () => {
      await api.post('/v1/taxes/rates', rate({ code: 'vat' }));
      await api.post('/v1/customers', { external_id: 'taxed', name: 'Taxed' });
    });
    const path = '/v1/taxes/associations';

    test('200: an external customer id says what kind of entity it is; 409: a second, by the code', async () => {
      const body = { tax_rate_code: 'vat', external_customer_id: 'taxed' };
      const made = await api.post(path, body);
      expect([made.status, made.body.entity_type]).toEqual([200, 'customer']);
      const again = await api.post(path, { ...body, entity_type: 'customer' });
      expect(refusal(again)).toEqual([409, 'tax_rate_code']);
      expect(again.body.details[0].message).toContain('"vat"');
    });

    test.each<[string, object]>([
      ['entity_type', { entity_id: 'cust_x' }],
      ['external_customer_id', { entity_type: 'subscription', external_customer_id: 'taxed' }],
      ['end_date', { entity_type: 'customer', entity_id: 'cust_x', start_date: '2026-02-01T00:00:00Z', end_date: '2026-01-01T00:00:00Z' }],
    ])('400: %s', async (field, fields) => {
      expect(refusal(await api.post(path, { tax_rate_code: 'none', ...fields }))).toEqual([400, field]);
    }); // prettier-ignore
  });
});
