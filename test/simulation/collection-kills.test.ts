import { jobRunAt } from '../support/job-run.ts';
import { reconcilePayments } from '../../jobs/reconcile-payments.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import type { ChildTask } from '../support/billing-child.ts';
import { BillingChildren, databaseUrl, untilLeased } from '../support/billing-children.ts';
import { catalogOf } from '../support/catalog.ts';

const AT = '2026-11-01T01:00:00.000Z';

let api: TestApi;
let url: string;
let children: BillingChildren;
beforeAll(async () => {
  children = await BillingChildren.create();
  api = await startTestApi();
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
  url = await databaseUrl(api.pool);
});
afterAll(async () => {
  await children.close();
  await api.close();
});

async function run(action: ChildTask['action'], failpoints = '') {
  const caller = { scope: api.scope, user_id: api.user_id };
  const task: ChildTask = { url, at: AT, failpoints, caller, action };
  return await children.run(task);
}

let tick = Date.parse('2000-01-01T00:00:00Z');
const collect = (failpoints = '') =>
  untilLeased(() => {
    const at = new Date((tick += 60_000)).toISOString();
    return run({ name: 'collect-job', tick: at }, failpoints);
  });

/** Wherever the process is killed, the invoice is charged exactly once (money 8.2.4, 8.6). */
describe('a killed charge', () => {
  test.each([
    'jobs.collect_invoices.before_commit',
    'jobs.collect_invoices.after_commit',
    'api.sync_payment.after_answer',
  ])('killed at %s', async (failpoint) => {
    const catalog = catalogOf(api);
    const plan = await catalog.plan();
    await catalog.fixed(plan, '100');
    const customer = await catalog.customer();
    const method = { gateway_method_id: 'pm_test_success' };
    await api.post(`/v1/customers/${customer.id}/payment-methods`, method);
    const created = await run({
      name: 'create',
      body: {
        customer_id: customer.id,
        plan_id: plan.id,
        currency: 'usd',
        billing_period: 'MONTHLY',
        billing_period_count: 1,
        start_date: '2026-11-01T00:00:00.000Z',
      },
    });
    expect(created.signal).toBeNull();
    const killed = await collect(failpoint);
    expect(killed.signal).toBe('SIGKILL');
    await collect();
    await reconcilePayments.run(api.deps, jobRunAt('2026-11-01T02:00:00.000Z'));
    const [invoice] = (await api.post('/v1/invoices/search', { subscription_id: created.answer }))
      .body.items;
    expect(invoice).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '100',
      collection: { status: 'collected', attempt_count: 1 },
    });
    const charges = await api.pool`
      select 1 from test_gateway_payments t join payments p on p.id = t.reference
       where p.destination_id = ${invoice.id}`;
    expect(charges).toHaveLength(1);
  });
});
