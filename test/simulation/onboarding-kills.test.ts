import { startTestApi, type TestApi } from '../support/api.ts';
import type { ChildTask } from '../support/billing-child.ts';
import { BillingChildren, databaseUrl, untilLeased } from '../support/billing-children.ts';
import { catalogOf } from '../support/catalog.ts';

let api: TestApi;
let url: string;
let children: BillingChildren;
beforeAll(async () => {
  children = await BillingChildren.create();
  api = await startTestApi();
  url = await databaseUrl(api.pool);
});
afterAll(async () => {
  await children.close();
  await api.close();
});

let tick = Date.parse('2000-01-01T00:00:00Z');
const onboard = (failpoints = '') =>
  untilLeased(() => {
    const action = { name: 'onboard-job', tick: new Date((tick += 60_000)).toISOString() } as const;
    const caller = { scope: api.scope, user_id: api.user_id };
    const at = new Date(api.clock.now()).toISOString();
    return children.run({ url, at, failpoints, caller, action } satisfies ChildTask);
  });

/** Wherever the process is killed, each action of an onboarding happens exactly once (tenancy 16.1). */
test.each(['jobs.onboard_customers.before_commit', 'jobs.onboard_customers.after_commit'])(
  'killed at %s',
  async (failpoint) => {
    const catalog = catalogOf(api);
    const plan = await catalog.plan();
    await catalog.fixed(plan, '9');
    const actions = [
      { action: 'create_wallet', currency: 'usd', initial_credits_to_load: '10' },
      { action: 'create_subscription', plan_id: plan.id },
    ];
    await api.put('/v1/settings/customer_onboarding', { value: { actions } });
    const customer = await catalog.customer();
    expect((await onboard(failpoint)).signal).toBe('SIGKILL');
    await onboard();
    const wallets = (await api.get(`/v1/customers/${customer.id}/wallets`)).body;
    expect(wallets).toMatchObject([{ credit_balance: '10' }]);
    const { body } = await api.post('/v1/subscriptions/search', { customer_id: customer.id });
    expect(body.items).toHaveLength(1);
    const invoices = await api.post('/v1/invoices/search', { customer_id: customer.id });
    expect(invoices.body.items).toHaveLength(1);
  },
);
