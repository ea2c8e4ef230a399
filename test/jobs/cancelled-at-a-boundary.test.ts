import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';

/**
 * A subscription that is cancelled at once at the very start of a period that the clock has opened: the fee in
 * advance was due, so without proration it stays (billing 5.2); with proration all of it comes back.
 */
let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

async function feesAfter(proration_behavior: string): Promise<string[]> {
  const { api, catalog } = world;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '50');
  const { body: clock } = await api.post('/v1/test-clocks', { now: '2025-02-03T12:00:00.000Z' });
  const customer = await catalog.customer({ test_clock_id: clock.id });
  const subscription = await catalog.subscribe(customer, plan);
  await world.advance(clock, '2025-03-03T12:00:00.000Z');
  const { status } = await api.post(`/v1/subscriptions/${subscription.id}/cancel`, {
    cancellation_type: 'immediate',
    proration_behavior,
    cancel_immediately_inovice_policy: 'generate_invoice',
  });
  expect(status).toBe(200);
  await world.advance(clock, '2025-03-04T12:00:00.000Z');
  const { body } = await api.post('/v1/invoices/search', { customer_id: customer.id });
  const { body: wallets } = await api.get(`/v1/customers/${customer.id}/wallets`);
  return [
    ...body.items
      .reverse()
      .map(
        ({ billing_reason, total, invoice_status }: any) =>
          `${billing_reason} ${total} ${invoice_status}`,
      ),
    ...wallets.map(({ credit_balance }: any) => `credits ${credit_balance}`),
  ];
}

test.each([
  ['none', ['SUBSCRIPTION_CREATE 50 FINALIZED', 'SUBSCRIPTION_CYCLE 50 FINALIZED']],
  [
    'create_prorations',
    ['SUBSCRIPTION_CREATE 50 FINALIZED', 'SUBSCRIPTION_CYCLE 50 FINALIZED', 'credits 50'],
  ],
])('proration_behavior %s', async (behavior, expected) => {
  expect(await feesAfter(behavior)).toEqual(expected);
});
