import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

/** Analytics of terms of commitments that are longer than a period (billing 6.4, money 19.10). */
let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

test('a cancellation changes neither the invoice nor the analytics of a period before it', async () => {
  const { api, catalog, usage } = world;
  api.clock.set(day('2026-06-01'));
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  const price = await catalog.usage(plan, meter, { amount: '1' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    ...{ start_date: day('2026-06-01'), proration_behavior: 'create_prorations' },
    line_item_commitments: {
      [price.id]: {
        ...{ commitment_type: 'amount', commitment_amount: '120', overage_factor: '2' },
        commitment_duration: 'ANNUAL',
      },
    },
  });
  await usage.use(meter, customer, day('2026-06-10'), '200');
  api.clock.set(day('2026-07-01'));
  await world.close();
  api.clock.set(day('2026-07-02'));
  await world.finalize();
  api.clock.set(day('2026-07-16'));
  await api.postOk(`/v1/subscriptions/${subscription.id}/cancel`, {
    cancellation_type: 'immediate',
  });

  const { items } = await api.postOk('/v1/invoices/search', { subscription_id: subscription.id });
  const june = items.find(({ period_end }: any) => period_end === day('2026-07-01'));
  // 120.00 of the year, and 80.00 twice.
  expect(june.subtotal).toBe('280');
  const asked = { start_time: day('2026-06-01'), end_time: day('2026-07-01') };
  const { total_cost } = await api.postOk('/v1/events/analytics', {
    ...{ external_customer_id: customer.external_id, ...asked },
  });
  expect(total_cost).toBe('280');
});
