import { Decimal } from '../../../domain/money.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { fixedPriceBody } from '../../support/price-body.ts';

/** What quantities cost, of stored and of unsaved prices (billing 2.2). */
describe('POST /prices/calculate', () => {
  let api: TestApi;
  let plan: string;
  let meter: string;
  beforeAll(async () => {
    api = await startTestApi();
    plan = (await api.post('/v1/plans', { name: 'Pro' })).body.id;
    const counts = { event_name: 'call', aggregation: { type: 'COUNT' } };
    const body = { name: 'Calls', ...counts, reset_usage: 'BILLING_PERIOD' };
    meter = (await api.post('/v1/meters', body)).body.id;
  });
  afterAll(() => api.close());

  const { entity_type: _type, entity_id: _id, ...flat } = fixedPriceBody('');
  const tiers = [
    { up_to: 1000, unit_amount: '0.10' },
    { up_to: 5000, unit_amount: '0.08', flat_amount: '5' },
    { unit_amount: '0.05', flat_amount: '20' },
  ];
  const tiered = (tier_mode: string) => ({
    ...flat,
    amount: null,
    billing_model: 'TIERED',
    tier_mode,
    tiers,
  });
  const packages = (round?: string) => ({
    ...flat,
    billing_model: 'PACKAGE',
    transform_quantity: { divide_by: 1000, round },
  });
  const calculate = (body: object) => api.post('/v1/prices/calculate', body);

  describe('200', () => {
    // The example of billing 2.2, boundaries included.
    test.each<[string, object, string[], string[]]>([
      ['a flat fee', flat, ['0', '1', '2.5'], ['0', '10', '25']],
      ['tiers by volume', tiered('VOLUME'), ['0', '1000', '1001', '5001'], ['0', '100', '85.08', '270.05']],
      ['tiers by slab', tiered('SLAB'), ['0', '1000', '1001', '5001'], ['0', '100', '105.08', '445.05']],
      ['packages', packages(), ['0', '1', '1000', '1001'], ['0', '10', '10', '20']],
      ['whole packages', packages('down'), ['1', '1000', '1999'], ['0', '10', '10']],
    ])('%s', async (_title, price, quantities, totals) => {
      const { status, body } = await calculate({ price, quantities });
      expect(status).toBe(200);
      expect([body.price_id, body.currency]).toEqual([null, 'usd']);
      expect(body.items.map((item: { quantity: string }) => item.quantity)).toEqual(quantities);
      expect(body.items.map((item: { total: string }) => item.total)).toEqual(totals);
    }); // prettier-ignore

    test('the shares of the tiers add up to the amount', async () => {
      const { body } = await calculate({ price: tiered('SLAB'), quantities: ['5001'] });
      const [{ tiers: shares, amount, packages: none }] = body.items;
      expect(none).toBeNull();
      expect(shares).toEqual([
        { tier: 1, above: '0', up_to: '1000', quantity: '1000', unit_amount: '0.1', flat_amount: '0', amount: '100' },
        { tier: 2, above: '1000', up_to: '5000', quantity: '4000', unit_amount: '0.08', flat_amount: '5', amount: '325' },
        { tier: 3, above: '5000', up_to: null, quantity: '1', unit_amount: '0.05', flat_amount: '20', amount: '20.05' },
      ]); // prettier-ignore
      expect(
        Decimal.sum(...shares.map((share: { amount: string }) => share.amount)).toFixed(),
      ).toBe(amount);
    });

    test('digits are exact; the total is rounded once, to the currency', async () => {
      const price = { ...flat, amount: '0.000000000000001' };
      const { body } = await calculate({ price, quantities: ['12345678901234567890.123456789'] });
      const [item] = body.items;
      expect([item.amount, item.total]).toEqual([
        '12345.678901234567890123456789',
        '12345.68',
      ]);
      const yen = await calculate({ price: { ...flat, currency: 'jpy', amount: '0.5' }, quantities: ['1'] });
      expect(yen.body.items[0]).toMatchObject({ amount: '0.5', total: '1' });
    }); // prettier-ignore

    test('a stored price costs what the same terms cost unsaved', async () => {
      const saved = await api.post('/v1/prices', { ...fixedPriceBody(plan), ...tiered('SLAB') });
      const quantities = ['3', '1001'];
      const stored = await calculate({ price_id: saved.body.id, quantities });
      const unsaved = await calculate({ price: tiered('SLAB'), quantities });
      expect(stored.status).toBe(200);
      expect(stored.body).toEqual({ ...unsaved.body, price_id: saved.body.id });
    });

    test('amounts in a pricing unit are converted to money', async () => {
      const unit = { name: 'Tokens', code: 'tok', symbol: 't', base_currency: 'usd' };
      await api.post('/v1/prices/units', { ...unit, conversion_rate: '0.02' });
      const price = {
        ...flat,
        amount: null,
        price_unit_type: 'CUSTOM',
        price_unit_config: { price_unit: 'tok', amount: '100' },
      };
      const { body } = await calculate({ price, quantities: ['3'] });
      expect(body.items[0].total).toBe('6');
    });

    test('nothing is stored', async () => {
      const before = (await api.get('/v1/prices')).body.pagination.total;
      await calculate({ price: flat, quantities: ['1'] });
      expect((await api.get('/v1/prices')).body.pagination.total).toBe(before);
    });
  });

  describe('400: the field is named', () => {
    const usage = { type: 'USAGE', invoice_cadence: 'ARREAR' };
    test.each<[string, () => object, string[]]>([
      ['no price', () => ({ quantities: ['1'] }), ['price_id']],
      ['both', () => ({ price_id: 'x', price: flat, quantities: ['1'] }), ['price']],
      ['no quantity', () => ({ price: flat, quantities: [] }), ['quantities']],
      ['too many', () => ({ price: flat, quantities: Array(201).fill('1') }), ['quantities']],
      ['below zero', () => ({ price: flat, quantities: ['1', '-1'] }), ['quantities[1]']],
      ['no number', () => ({ price: flat, quantities: ['1e3'] }), ['quantities[0]']],
      ['an unknown currency', () => ({ price: { ...flat, currency: 'xyz' }, quantities: ['1'] }), ['price.currency']],
      ['no amount', () => ({ price: { ...flat, amount: null }, quantities: ['1'] }), ['price.amount']],
      ['tiers that do not rise', () => ({ price: { ...tiered('SLAB'), tiers: [{ up_to: 5, unit_amount: '1' }, { up_to: 5, unit_amount: '1' }] }, quantities: ['1'] }), ['price.tiers[1].up_to']],
      ['usage without a meter', () => ({ price: { ...flat, ...usage }, quantities: ['1'] }), ['price.meter_id']],
      ['a meter and advance', () => ({ price: { ...flat, type: 'USAGE', meter_id: meter }, quantities: ['1'] }), ['price.invoice_cadence']],
    ])('%s', async (_title, body, paths) => {
      const answer = await calculate(body());
      expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
      expect(answer.body.details.map(({ path }: { path: string }) => path)).toEqual(paths);
    }); // prettier-ignore
  });

  test('404: another tenant’s price', async () => {
    const price = await api.post('/v1/prices', fixedPriceBody(plan));
    const stranger = await api.newCaller();
    const body = { price_id: price.body.id, quantities: ['1'] };
    expect((await stranger.post('/v1/prices/calculate', body)).status).toBe(404);
  });
});
