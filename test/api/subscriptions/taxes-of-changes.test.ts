import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

const world = billingWorldFrom('2026-04-01T00:00:00.000Z');

test('the charge of a change is credited with the tax on it, not a share of the tax of the net (billing 5.3)', async () => {
  const { api, catalog } = world;
  await api.postOk('/v1/taxes/rates', {
    ...{ name: 'VAT', code: 'vat_of_net', tax_rate_type: 'percentage', percentage_value: '10' },
  });
  const plan = await catalog.plan();
  await catalog.fixed(plan, '0.08', { display_name: 'Seats' });
  const customer = await catalog.customer();
  const { id, line_items } = await catalog.subscribe(customer, plan, {
    ...{ start_date: day('2026-04-01'), proration_behavior: 'create_prorations' },
    tax_rate_overrides: [{ tax_rate_code: 'vat_of_net', currency: 'usd', auto_apply: true }],
  });
  api.clock.set(day('2026-04-16'));
  // Half of the month: -0.04, and 0.08 with 0.01 of tax. The tax of the net of 0.04 is rounded to zero.
  await api.postOk(`/v1/subscriptions/${id}/modify/execute`, {
    type: 'quantity_change',
    quantity_change_params: { line_items: [{ id: line_items[0].id, quantity: '2' }] },
  });
  const { items } = await api.postOk('/v1/invoices/search', { subscription_id: id });
  const [change] = items.filter((one: any) => one.billing_reason === 'SUBSCRIPTION_UPDATE');
  expect(change).toMatchObject({ subtotal: '0.04', total_tax: '0', total: '0.04' });
  await api.postOk(`/v1/subscriptions/${id}/cancel`, {
    ...{ cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
  });
  const { body: wallets } = await api.get(`/v1/customers/${customer.id}/wallets`);
  expect(wallets).toMatchObject([{ balance: '0.09' }]);
});
