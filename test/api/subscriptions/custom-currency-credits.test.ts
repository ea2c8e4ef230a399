import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

test('the tax on a credit in a custom currency is rounded once, as money (billing 5.3)', async () => {
  const { api, catalog } = world;
  api.clock.set(day('2026-04-01'));
  const currencies = [
    { code: 'crx', name: 'Credits', symbol: '¤', conversion_factors: { usd: '100' } },
  ];
  await api.put('/v1/settings/custom_currency_config', { value: { currencies } });
  await api.postOk('/v1/taxes/rates', {
    ...{ name: 'VAT', code: 'vat_of_credits', tax_rate_type: 'percentage', percentage_value: '10' },
  });
  const plan = await catalog.plan();
  await catalog.fixed(plan, '1', { currency: 'crx' });
  const customer = await catalog.customer();
  const { id } = await catalog.subscribe(customer, plan, {
    ...{ currency: 'crx', start_date: day('2026-04-01') },
    tax_rate_overrides: [{ tax_rate_code: 'vat_of_credits', currency: 'usd', auto_apply: true }],
  });
  const { body: found } = await api.post('/v1/invoices/search', { subscription_id: id });
  expect(found.items).toMatchObject([{ total: '110' }]);
  api.clock.set(day('2026-04-21'));
  const change = { cancellation_type: 'immediate', proration_behavior: 'create_prorations' };
  await api.postOk(`/v1/subscriptions/${id}/cancel`, change);
  // 10 of 30 days are left: 0.33 of 1.00, 33.00 in dollars, with 10% of it.
  const { body: wallets } = await api.get(`/v1/customers/${customer.id}/wallets`);
  expect(wallets).toMatchObject([{ currency: 'usd', balance: '36.3' }]);
});
