import { onboardCustomers } from '../../jobs/onboard-customers.ts';
import type { JobReport } from '../../jobs/job.ts';
import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';
import { runAtNow } from '../support/job-run.ts';

/** Tenancy 16.1: what the setting asks for happens to each new customer, once. */
let world: BillingWorld;
let plan: { id: string };
beforeAll(async () => {
  world = await startBillingWorld();
  plan = await world.catalog.plan('Welcome');
  await world.catalog.fixed(plan, '9');
});
beforeEach(() => world.api.clock.set('2026-11-21T12:00:00.000Z'));
afterAll(() => world.stop());

const WALLET = {
  ...{ action: 'create_wallet', currency: 'usd', initial_credits_to_load: '10' },
  ...{ initial_credits_expiration_duration: 30, initial_credits_expiration_duration_unit: 'DAY' },
};
const subscribe = () => ({ action: 'create_subscription', plan_id: plan.id });
const configure = async (value: object) => {
  const { status } = await world.api.put('/v1/settings/customer_onboarding', { value });
  expect(status).toBe(200);
};
const onboard = (): Promise<JobReport | null> =>
  runAtNow(world.api, onboardCustomers, world.api.deps);
const walletsOf = async ({ id }: { id: string }): Promise<any[]> =>
  (await world.api.get(`/v1/customers/${id}/wallets`)).body;
const subscriptionsOf = async ({ id }: { id: string }): Promise<any[]> =>
  (await world.api.post('/v1/subscriptions/search', { customer_id: id })).body.items;
const workflowsOf = async ({ id }: { id: string }): Promise<any[]> =>
  (await world.api.post('/v1/workflows/search', { entity_id: id })).body.items;

test('each action once, in their order, as the setting was when the customer was created', async () => {
  await configure({ actions: [WALLET, subscribe()] });
  const customer = await world.catalog.customer();
  await configure({ actions: [] });
  expect(await workflowsOf(customer)).toMatchObject([
    { workflow_type: 'CustomerOnboarding', status: 'Running', entity: 'customer' },
  ]);
  expect(await onboard()).toMatchObject({ completed: 1, failed: 0 });
  expect(await onboard()).toMatchObject({ completed: 0 });
  const [wallet, ...others] = await walletsOf(customer);
  expect([wallet.currency, wallet.credit_balance, others]).toEqual(['usd', '10', []]);
  const { body: rows } = await world.api.get(`/v1/wallets/${wallet.id}/transactions`);
  expect(rows.items).toMatchObject([
    { credit_amount: '10', expiry_date: '2026-12-21T12:00:00.000Z' },
  ]);
  expect(await subscriptionsOf(customer)).toMatchObject([
    { plan_id: plan.id, currency: 'usd', billing_period: 'MONTHLY', subscription_status: 'active' },
  ]);
  expect(await workflowsOf(customer)).toMatchObject([{ status: 'Completed' }]);
});

test('a customer may skip the actions, or name other ones', async () => {
  await configure({ actions: [WALLET], custom_workflows: { plain: [subscribe()] } });
  const skipped = await world.catalog.customer({ skip_onboarding_workflow: true });
  const other = await world.catalog.customer({ onboarding_workflow_name: 'plain' });
  expect(await onboard()).toMatchObject({ completed: 1 });
  expect([await walletsOf(skipped), await subscriptionsOf(skipped)]).toEqual([[], []]);
  expect(await walletsOf(other)).toEqual([]);
  expect(await subscriptionsOf(other)).toHaveLength(1);
  const refused = await world.api.post('/v1/customers', {
    ...{ external_id: 'both', name: 'Both' },
    ...{ skip_onboarding_workflow: true, onboarding_workflow_name: 'plain' },
  });
  expect([refused.status, refused.body.details[0].path]).toEqual([400, 'onboarding_workflow_name']);
});

test('with tax rates, links or a clock a customer is onboarded too; the clock’s time is that of the actions', async () => {
  await configure({ actions: [WALLET, subscribe()] });
  const { body: clock } = await world.api.post('/v1/test-clocks', {
    now: '2025-02-01T00:00:00.000Z',
  });
  const first = await world.catalog.customer({ test_clock_id: clock.id });
  expect(await onboard()).toMatchObject({ completed: 1 });
  expect(await subscriptionsOf(first)).toMatchObject([{ start_date: '2025-02-01T00:00:00.000Z' }]);
  // An advance does at the customer's time what no run has done before it.
  const second = await world.catalog.customer({ test_clock_id: clock.id });
  await world.advance(clock, '2025-04-10T00:00:00.000Z');
  expect(await subscriptionsOf(second)).toMatchObject([
    { start_date: '2025-02-01T00:00:00.000Z', current_period_start: '2025-04-01T00:00:00.000Z' },
  ]);
  expect(await onboard()).toMatchObject({ completed: 0 });
});

test('an action that is refused is noted and does not stop the next ones', async () => {
  await world.api.post('/v1/prices', {
    ...{ entity_type: 'PLAN', entity_id: plan.id, type: 'FIXED', price_unit_type: 'FIAT' },
    ...{ billing_model: 'FLAT_FEE', amount: '7', currency: 'eur', invoice_cadence: 'ADVANCE' },
    ...{ billing_period: 'MONTHLY', billing_period_count: 1 },
  });
  await configure({ actions: [{ ...subscribe(), plan_id: 'plan_none' }, subscribe(), WALLET] });
  const unclear = await world.catalog.customer();
  const european = await world.catalog.customer({ billing_currency: 'eur' });
  expect(await onboard()).toMatchObject({ completed: 0, failed: 2 });
  expect(await subscriptionsOf(unclear)).toEqual([]);
  expect(await subscriptionsOf(european)).toMatchObject([{ currency: 'eur' }]);
  for (const customer of [unclear, european]) expect(await walletsOf(customer)).toHaveLength(1);
  const [workflow] = await workflowsOf(unclear);
  expect(workflow.status).toBe('Failed');
  const { body } = await world.api.get(`/v1/workflows/${workflow.workflow_id}/${workflow.run_id}`);
  expect(body.metadata.error).toMatch(/create_subscription: .+ create_subscription: .*currenc/);
});

test('a run that loses its lease after an action does not repeat it', async () => {
  await configure({ actions: [WALLET, { ...subscribe(), currency: 'usd' }] });
  const customer = await world.catalog.customer();
  const { pool } = world.api;
  await pool`
    create function stop_onboarding() returns trigger language plpgsql as $$
      begin
        if new.next_action = 2 then raise exception 'stopped' using errcode = '57P01'; end if;
        return new;
      end $$`;
  await pool`
    create trigger stop_onboarding before update on customer_onboardings
      for each row execute function stop_onboarding()`;
  // The job fails as a whole: the database is going down.
  expect(await onboard()).toBeNull();
  expect([await walletsOf(customer), await subscriptionsOf(customer)]).toMatchObject([[{}], []]);
  await pool`drop trigger stop_onboarding on customer_onboardings`;
  expect(await onboard()).toMatchObject({ completed: 1 });
  expect(await walletsOf(customer)).toHaveLength(1);
  expect(await subscriptionsOf(customer)).toHaveLength(1);
});
