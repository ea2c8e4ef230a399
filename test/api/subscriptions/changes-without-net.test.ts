import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

test('a change that nets to zero gives back nothing, also if its taxes round differently (billing 5.3)', async () => {
  const { api, catalog } = world;
  api.clock.set(day('2026-04-01'));
  await api.postOk('/v1/taxes/rates', {
    ...{ name: 'VAT', code: 'vat_of_cents', tax_rate_type: 'percentage', percentage_value: '10' },
  });
  const plan = await catalog.plan();
  // Both quantities are one package: 0.05, with 0.01 of tax.
  await catalog.fixed(plan, '0.05', {
    ...{ display_name: 'Seats', billing_model: 'PACKAGE' },
    transform_quantity: { divide_by: 10, round: 'up' },
  });
  const { id, line_items } = await catalog.subscribe(await catalog.customer(), plan, {
    start_date: day('2026-04-01'),
    tax_rate_overrides: [{ tax_rate_code: 'vat_of_cents', currency: 'usd', auto_apply: true }],
  });
  api.clock.set(day('2026-04-07'));
  // 24 of 30 days: -0.04 with 0.01 of tax, and 0.04 with a tax of 0.004.
  const { changed_resources } = await api.postOk(`/v1/subscriptions/${id}/modify/execute`, {
    type: 'quantity_change',
    quantity_change_params: { line_items: [{ id: line_items[0].id, quantity: '2' }] },
  });
  expect(changed_resources.invoices).toEqual([]);
});
