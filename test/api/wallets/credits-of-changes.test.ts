import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

/** Credits that a change of a subscription gives do not pay the invoice of that change (money 5.2.5, 5.6.1). */
let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());
beforeEach(() => api.clock.set('2026-11-21T12:00:00.000Z'));

/** A running subscription of a customer whose wallet has a quarter and pays every row. */
async function payingWithCredits() {
  const customer = await catalog.customer();
  const plan = await catalog.plan();
  await catalog.fixed(plan, '1');
  const start_date = '2026-11-01T00:00:00.000Z';
  const subscription = await catalog.subscribe(customer, plan, { start_date });
  const { status } = await api.post('/v1/wallets', {
    ...{ customer_id: customer.id, currency: 'usd', wallet_type: 'PRE_PAID' },
    ...{ config: { allowed_price_types: ['ALL'] }, initial_credits_to_load: '0.25' },
  });
  expect(status).toBe(200);
  return { customer, subscription };
}

/** Sells 10 credits, once, with what costs 31. */
async function withCredits(scope: 'PLAN' | 'ADDON', owner: object): Promise<void> {
  const { status } = await api.post('/v1/creditgrants', {
    ...{ name: 'Grant', scope, credits: '10', cadence: 'ONETIME', expiration_type: 'NEVER' },
    ...owner,
  });
  expect(status).toBe(201);
}

async function expectOwnCreditsKept(customer: { id: string }, subscription: { id: string }) {
  const { body } = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
  const invoice = body.items.find(
    ({ billing_reason }: any) => billing_reason === 'SUBSCRIPTION_UPDATE',
  );
  expect(invoice).toMatchObject({
    invoice_status: 'FINALIZED',
    total_prepaid_credits_applied: '0.25',
  });
  const wallets = await api.get(`/v1/customers/${customer.id}/wallets`);
  expect(wallets.body).toMatchObject([{ balance: '10' }]);
}

test.each(['keep', 'anchor_at_effect'])('a plan, %s', async (billing_period_behaviour) => {
  const { customer, subscription } = await payingWithCredits();
  const plan = await catalog.plan();
  await catalog.fixed(plan, '31');
  await withCredits('PLAN', { plan_id: plan.id });
  const path = `/v1/subscriptions/${subscription.id}/change/v2/execute`;
  const { status, body } = await api.post(path, {
    ...{ target_plan_id: plan.id, change_at: 'immediate', billing_period_behaviour },
    proration_behavior: 'create_prorations',
  });
  expect([status, body.message]).toEqual([200, undefined]);
  await expectOwnCreditsKept(customer, subscription);
});

test.each(['attached', 'modified'])('an addon, %s', async (how) => {
  const { customer, subscription } = await payingWithCredits();
  const addon = (await api.post('/v1/addons', { name: 'Extra', lookup_key: `extra-${how}` })).body;
  await catalog.fixed(addon, '31', { entity_type: 'ADDON', entity_id: addon.id });
  await withCredits('ADDON', { addon_id: addon.id });
  const add = { addon_id: addon.id, proration_behavior: 'create_prorations' };
  const { status, body } =
    how === 'attached'
      ? await api.post('/v1/subscriptions/addon', { ...add, subscription_id: subscription.id })
      : await api.post(`/v1/subscriptions/${subscription.id}/modify/execute`, {
          type: 'addon',
          addon_params: { action: 'add', add },
        });
  expect([status, body.message]).toEqual([200, undefined]);
  await expectOwnCreditsKept(customer, subscription);
});
