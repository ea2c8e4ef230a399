import { startTestApi, type TestApi } from '../../support/api.ts';
import { fixedPriceBody } from '../../support/price-body.ts';

/** Currencies of a tenant's own (specification, Custom currency; money 12.3). */
describe('custom currencies', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  const tok = { code: 'tok', name: 'Tokens', symbol: '◊', conversion_factors: { usd: '0.5' } };
  const gem = { code: 'gem', name: 'Gems', symbol: '♦', conversion_factors: { usd: '2' } };
  const put = (...currencies: object[]) =>
    api.put('/v1/settings/custom_currency_config', { value: { currencies } });
  const forget = () => api.delete('/v1/settings/custom_currency_config');
  const refusal = (answer: Awaited<ReturnType<typeof put>>) => [
    answer.status,
    answer.body.code,
    answer.body.details?.[0]?.path,
  ];

  test('400: the code of a real currency, a factor to an unknown currency', async () => {
    expect(refusal(await put({ ...tok, code: 'EUR' }))).toEqual([
      400,
      'validation_error',
      'value.currencies[0].code',
    ]);
    const factors = { usd: '1', zzz: '1' };
    expect(refusal(await put({ ...tok, conversion_factors: factors }))).toEqual([
      400,
      'validation_error',
      'value.currencies[0].conversion_factors.zzz',
    ]);
  });

  test('amounts are shown with its symbol, in every version', async () => {
    expect((await put(tok, gem)).status).toBe(200);
    const plan = (await api.post('/v1/plans', { name: 'Pro' })).body.id;
    const { body: price } = await api.post(
      '/v1/prices',
      fixedPriceBody(plan, { currency: 'TOK', amount: '12.5' }),
    );
    expect([price.currency, price.display_amount]).toEqual(['tok', '◊12.50']);
    const { body: next } = await api.put(`/v1/prices/${price.id}`, { amount: '13' });
    expect(next.display_amount).toBe('◊13.00');

    // What is in use stays in the list; what is not may go.
    expect(refusal(await put(gem))).toEqual([400, 'invalid_operation', 'value.currencies']);
    expect(refusal(await forget())).toEqual([400, 'invalid_operation', 'value.currencies']);
    expect((await put(tok)).status).toBe(200);
    await api.delete(`/v1/prices/${next.id}`, {});
    expect((await put(gem)).status).toBe(200);
    expect((await forget()).status).toBe(200);
  });

  test('400: without the currency of a coupon', async () => {
    await put(tok);
    const coupon = { name: 'C', type: 'fixed', amount_off: '5', currency: 'tok', cadence: 'once' };
    const { body } = await api.post('/v1/coupons', coupon);
    expect(refusal(await forget())).toEqual([400, 'invalid_operation', 'value.currencies']);
    await api.delete(`/v1/coupons/${body.id}`);
    expect((await forget()).status).toBe(200);
  });
});
