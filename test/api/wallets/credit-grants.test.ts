import { applyCreditGrants } from '../../../jobs/apply-credit-grants.ts';
import { runJob } from '../../../jobs/run-job.ts';
import { createLogger } from '../../../platform/log.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

/** Credits that grants give: at once, on schedule, late, and not at all (money 5). */
let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());
beforeEach(() => api.clock.set('2026-11-21T12:00:00.000Z'));

const START = '2026-10-01T00:00:00.000Z';
const grant = (more: object = {}) => ({
  name: 'Grant',
  scope: 'SUBSCRIPTION',
  credits: '10',
  cadence: 'RECURRING',
  period: 'MONTHLY',
  period_count: 1,
  expiration_type: 'NEVER',
  ...more,
});
const once = (more: object = {}) =>
  grant({ cadence: 'ONETIME', period: undefined, period_count: undefined, ...more });
const planWithFee = async () => {
  const plan = await catalog.plan();
  await catalog.fixed(plan, '1');
  return plan;
};
async function subscribed(grants: object[], more: object = {}) {
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, await planWithFee(), {
    start_date: START,
    credit_grants: grants,
    ...more,
  });
  return { customer, subscription };
}
const walletsOf = async ({ id }: { id: string }) =>
  (await api.get(`/v1/customers/${id}/wallets`)).body;
const rowsOf = async (customer: { id: string }) => {
  const { body } = await api.post('/v1/wallets/transactions/search', {
    customer_id: customer.id,
    sort: [{ field: 'created_at', direction: 'asc' }],
  });
  return body.items.reverse();
};
const applications = (subscription: { id: string }) =>
  api.pool<any[]>`
    select application_status as state, period_start, credits, failure_reason, retry_count
      from credit_grant_applications where subscription_id = ${subscription.id}
     order by period_start, credit_grant_id`;
const states = async (subscription: { id: string }) =>
  (await applications(subscription)).map(
    ({ state, period_start }) => `${period_start.slice(0, 10)} ${state}`,
  );
let tick = Date.parse('2000-01-01T00:00:00Z');
const runAt = async (at: string) => {
  api.clock.set(at);
  tick += 60_000;
  const now = async () => new Date(api.clock.now()).toISOString();
  const log = createLogger('silent', 'test');
  const runner = { pool: api.pool, log, holder: 'test', now };
  return await runJob(runner, applyCreditGrants, api.deps, new Date(tick).toISOString());
};

test('a new subscription has its credits at once, missed periods too, in a wallet that is made', async () => {
  const { customer, subscription } = await subscribed([
    once({ name: 'Once', credits: '100', priority: 1 }),
    grant(),
  ]);
  expect(await walletsOf(customer)).toMatchObject([
    { name: 'Prepaid Wallet - USD', balance: '120', wallet_type: 'PRE_PAID' },
  ]);
  const rows = await rowsOf(customer);
  expect(rows).toHaveLength(3);
  expect(rows.find((row: any) => row.credit_amount === '100')).toMatchObject({
    transaction_reason: 'SUBSCRIPTION_CREDIT_GRANT',
    priority: 1,
    source_type: null,
    cause_type: 'CREDIT_GRANT_APPLICATION',
    metadata: { subscription_id: subscription.id },
  });
  expect((await states(subscription)).sort()).toEqual([
    '2026-10-01 applied',
    '2026-10-01 applied',
    '2026-11-01 applied',
    '2026-12-01 pending',
  ]);
  const upcoming = await api.get(`/v1/subscriptions/${subscription.id}/grants/upcoming`);
  expect(upcoming.body.items).toMatchObject([
    { scheduled_for: '2026-12-01T00:00:00.000Z', application_status: 'pending', credits: '10' },
  ]);
});

test('credits that are given at the creation come after the opening invoice (money 5.2.1)', async () => {
  const customer = await catalog.customer();
  const wallet = await api.post('/v1/wallets', {
    ...{ customer_id: customer.id, currency: 'usd', wallet_type: 'PRE_PAID' },
    ...{ config: { allowed_price_types: ['ALL'] }, initial_credits_to_load: '0.25' },
  });
  expect(wallet.status).toBe(200);
  const subscription = await catalog.subscribe(customer, await planWithFee(), {
    credit_grants: [once()],
  });
  expect(subscription.latest_invoice).toMatchObject({
    ...{ total_prepaid_credits_applied: '0.25', total: '0.75' },
  });
  expect(await walletsOf(customer)).toMatchObject([{ balance: '10' }]);
});

test('the job gives each period once, however often it runs', async () => {
  const { customer, subscription } = await subscribed([grant()]);
  await runAt('2026-11-30T23:59:00.000Z');
  expect(await walletsOf(customer)).toMatchObject([{ balance: '20' }]);
  await runAt('2027-02-01T00:00:00.000Z');
  await runAt('2027-02-01T00:15:00.000Z');
  expect(await walletsOf(customer)).toMatchObject([{ balance: '50' }]);
  expect(await states(subscription)).toEqual([
    '2026-10-01 applied',
    '2026-11-01 applied',
    '2026-12-01 applied',
    '2027-01-01 applied',
    '2027-02-01 applied',
    '2027-03-01 pending',
  ]);
});

test('credits that would have expired are skipped, and the next period is given', async () => {
  const { customer, subscription } = await subscribed([
    grant({
      expiration_type: 'DURATION',
      expiration_duration: 1,
      expiration_duration_unit: 'MONTH',
    }),
  ]);
  expect(await states(subscription)).toEqual([
    '2026-10-01 skipped',
    '2026-11-01 applied',
    '2026-12-01 pending',
  ]);
  const [row] = await rowsOf(customer);
  expect(row).toMatchObject({ expiry_date: '2026-12-01T00:00:00.000Z', credit_amount: '10' });
});

test('BILLING_CYCLE ends with the billing period', async () => {
  const { customer } = await subscribed([once({ expiration_type: 'BILLING_CYCLE' })], {
    start_date: '2026-11-01T00:00:00.000Z',
  });
  expect(await rowsOf(customer)).toMatchObject([{ expiry_date: '2026-12-01T00:00:00.000Z' }]);
});

test('in a trial nothing is given before it ends', async () => {
  const { customer, subscription } = await subscribed([grant()], {
    start_date: '2026-11-20T00:00:00.000Z',
    trial_period_days: 10,
  });
  expect(subscription.subscription_status).toBe('trialing');
  expect(await walletsOf(customer)).toEqual([]);
  expect(await states(subscription)).toEqual(['2026-11-30 pending']);
  await runAt('2026-11-30T00:00:00.000Z');
  expect(await states(subscription)).toEqual(['2026-11-30 pending']);
  await api.pool`update subscriptions set subscription_status = 'active' where id = ${subscription.id}`;
  await runAt('2026-11-30T01:00:00.000Z');
  expect(await walletsOf(customer)).toMatchObject([{ balance: '10' }]);
});

test('a draft has nothing; a paused period is lost; an incomplete subscription waits', async () => {
  const { customer, subscription } = await subscribed([grant()], { subscription_status: 'draft' });
  expect(await states(subscription)).toEqual([]);
  expect(await walletsOf(customer)).toEqual([]);
  const other = await subscribed([grant()]);
  const become = (status: string) =>
    api.pool`update subscriptions set subscription_status = ${status} where id = ${other.subscription.id}`;
  await become('paused');
  await runAt('2026-12-02T00:00:00.000Z');
  await become('incomplete');
  await runAt('2027-01-02T00:00:00.000Z');
  expect((await states(other.subscription)).slice(2)).toEqual([
    '2026-12-01 skipped',
    '2027-01-01 pending',
  ]);
  await runAt('2027-01-02T00:10:00.000Z');
  await become('active');
  await runAt('2027-01-02T01:00:00.000Z');
  expect(await walletsOf(other.customer)).toMatchObject([{ balance: '30' }]);
});

test('a cancelled subscription gets nothing from its end on', async () => {
  const { customer, subscription } = await subscribed([grant()]);
  await api.post(`/v1/subscriptions/${subscription.id}/cancel`, { cancellation_type: 'immediate' });
  await runAt('2026-12-02T00:00:00.000Z');
  expect(await walletsOf(customer)).toMatchObject([{ balance: '20' }]);
  expect((await states(subscription)).at(-1)).toBe('2026-12-01 cancelled');
});

test('an ended grant gives nothing from its end on, and its boundary is not upcoming', async () => {
  const { customer, subscription } = await subscribed([grant()]);
  const [{ id }] = subscription.credit_grants;
  await api.delete(`/v1/creditgrants/${id}`, { effective_date: '2026-12-01T00:00:00Z' });
  const upcoming = await api.get(`/v1/customers/${customer.id}/grants/upcoming`);
  expect(upcoming.body.items).toEqual([]);
  await runAt('2026-12-02T00:00:00.000Z');
  expect(await walletsOf(customer)).toMatchObject([{ balance: '20' }]);
});

test('a grant that is added later with a past start is given at once', async () => {
  const { customer, subscription } = await subscribed([]);
  const made = await api.post('/v1/creditgrants', {
    ...once({ name: 'Later', credits: '7' }),
    subscription_id: subscription.id,
    start_date: '2026-11-01T00:00:00Z',
  });
  expect(made.status).toBe(201);
  expect(await walletsOf(customer)).toMatchObject([{ balance: '7' }]);
});

test('rates that the wallet does not have: a command is refused, the job stores the reason', async () => {
  const customer = await catalog.customer();
  await api.post('/v1/wallets', { customer_id: customer.id, currency: 'usd' });
  const plan = await planWithFee();
  const refused = await api.post('/v1/subscriptions', {
    customer_id: customer.id,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: START,
    credit_grants: [once({ conversion_rate: '2' })],
  });
  expect(refused.status).toBe(400);
  const other = await subscribed([grant({ conversion_rate: '1', topup_conversion_rate: '1' })]);
  await api.pool`update wallets set conversion_rate = 2, balance = credit_balance * 2
                  where customer_id = ${other.customer.id}`;
  await runAt('2026-12-01T00:00:00.000Z');
  const failed = (await applications(other.subscription)).at(-1);
  expect(failed).toMatchObject({ state: 'failed', retry_count: 1 });
  expect(failed.failure_reason).toMatch(/conversion_rate/);
  const path = `/v1/subscriptions/${other.subscription.id}/cancel`;
  await api.post(path, { cancellation_type: 'immediate' });
  await runAt('2026-12-02T00:00:00.000Z');
  expect((await applications(other.subscription)).at(-1)).toMatchObject({ state: 'cancelled' });
});

test('credits that failed ten times are named by the doctor until they are given (money 5.3.6)', async () => {
  const { customer } = await subscribed([
    grant({ conversion_rate: '1', topup_conversion_rate: '1' }),
  ]);
  const replaceWallet = async (conversion_rate: string) => {
    const active = (await walletsOf(customer)).find(
      ({ wallet_status }: any) => wallet_status === 'active',
    );
    expect((await api.post(`/v1/wallets/${active.id}/terminate`)).status).toBe(200);
    const wallet = { customer_id: customer.id, currency: 'usd', conversion_rate };
    expect((await api.post('/v1/wallets', wallet)).status).toBe(200);
  };
  const check = async () => {
    const { checks } = (await api.post('/v1/operations/doctor')).body;
    return checks.find(({ name }: any) => name === 'credits of grants that failed ten times');
  };
  await replaceWallet('2');
  const none = { state: 'ok', found: 'none', mend: null };
  for (let day = 1; day <= 10; day += 1) {
    expect(await check()).toMatchObject(none);
    await runAt(`2026-12-${String(day).padStart(2, '0')}T00:00:00.000Z`);
  }
  expect(await check()).toMatchObject({
    ...{ state: 'bad', found: '1', mend: expect.stringContaining('failure_reason') },
  });
  await replaceWallet('1');
  await runAt('2026-12-11T00:00:00.000Z');
  expect(await check()).toMatchObject(none);
  expect((await walletsOf(customer)).map(({ balance }: any) => balance)).toContain('10');
});

test('a wallet that a grant opens is announced with the credits of the grant', async () => {
  const { customer } = await subscribed([once({ credits: '40' })]);
  const [wallet] = await walletsOf(customer);
  const events = await api.pool<{ event_type: string; wallet: object | null }[]>`
    select event_type, payload -> 'wallet' as wallet from outbox
     where event_type in ('wallet.created', 'wallet.transaction.created')
       and coalesce(payload -> 'wallet' ->> 'id', payload -> 'transaction' ->> 'wallet_id') = ${wallet.id}
     order by sequence`;
  expect(events).toMatchObject([
    { event_type: 'wallet.created', wallet: { balance: '40', credit_balance: '40' } },
    { event_type: 'wallet.transaction.created' },
  ]);
  expect(wallet).toMatchObject(events[0]!.wallet!);
});
