import { setTimeout as wait } from 'node:timers/promises';
import { lastTotals, type Totals } from '../../../api/billing/balances/last-totals.ts';
import { usageUnavailable } from '../../../clickhouse/reading/usage-errors.ts';
import { decimal } from '../../../domain/money.ts';
import { InProcessCache } from '../../../platform/cache/in-process.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';
import { completeBackfills, createUsageOracle } from '../../support/usage-oracle.ts';

/** Balances whose usage was read before (money 2.8.9). */
const oracle = createUsageOracle();
let isAway = false;
let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi({
    usageReader: {
      read: (...call) =>
        isAway ? Promise.reject(usageUnavailable()) : oracle.reader.read(...call),
    },
  });
  oracle.attach(api.pool);
  catalog = catalogOf(api);
});
afterAll(() => api.close());
beforeEach(() => {
  isAway = false;
});

/** A wallet of 100 whose customer has used 18.4 at 1 each. */
async function walletWithUsage() {
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.usage(plan, meter, { amount: '1' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: '2026-11-01T00:00:00.000Z',
  });
  const use = (quantity: string) =>
    oracle.use(meter, customer, '2026-11-10T00:00:00.000Z', quantity);
  await use('18.4');
  const { body: wallet } = await api.post('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    initial_credits_to_load: '100',
  });
  const balance = async (headers: object = {}) =>
    (await api.get(`/v1/wallets/${wallet.id}/balance/real-time`, headers)).body;
  return { customer, subscription, wallet, use, balance };
}

test('while usage cannot be read, the last one serves; credits are those of the moment', async () => {
  const { wallet, balance, customer } = await walletWithUsage();
  expect(await balance()).toMatchObject({ real_time_balance: '81.6', is_cached_fallback: false });
  isAway = true;
  const known = { current_period_usage: '18.4', is_cached_fallback: true };
  expect(await balance()).toMatchObject({ real_time_balance: '81.6', ...known });
  await api.post(`/v1/wallets/${wallet.id}/top-up`, {
    credits_to_add: '10',
    transaction_reason: 'FREE_CREDIT_GRANT',
  });
  expect(await balance()).toMatchObject({ real_time_balance: '91.6', ...known });
  const listed = await api.get(
    `/v1/customers/wallets?id=${customer.id}&include_real_time_balance=true`,
  );
  expect(listed.body).toMatchObject([{ real_time_balance: '91.6', is_cached_fallback: true }]);
  isAway = false;
  expect(await balance()).toMatchObject({ real_time_balance: '91.6', is_cached_fallback: false });
});

test('without an earlier read, after a change, and after a day it is refused', async () => {
  const { subscription, balance } = await walletWithUsage();
  isAway = true;
  expect(await balance()).toMatchObject({ code: 'usage_unavailable' });
  isAway = false;
  await balance();
  api.clock.advance(1_000);
  const { status } = await api.put(`/v1/subscriptions/${subscription.id}`, {
    cancel_at_period_end: true,
  });
  expect(status).toBe(200);
  isAway = true;
  expect(await balance()).toMatchObject({ code: 'usage_unavailable' });
  isAway = false;
  await balance();
  api.clock.advance(24 * 3_600_000);
  isAway = true;
  expect(await balance()).toMatchObject({ code: 'usage_unavailable' });
});

test('x-max-live: usage of the last seconds serves, and not a second longer', async () => {
  const { use, balance } = await walletWithUsage();
  await balance();
  await use('1.6');
  api.clock.advance(30_000);
  const live = (seconds: string) => balance({ 'x-max-live': seconds });
  expect(await live('30')).toMatchObject({ real_time_balance: '81.6', is_cached_fallback: false });
  expect(await live('29')).toMatchObject({ real_time_balance: '80' });
  await use('1');
  expect(await live('0')).toMatchObject({ real_time_balance: '79' });
  for (const wrong of ['-1', '1.5', '86401', 'now'])
    expect(await live(wrong)).toMatchObject({
      http_status_code: 400,
      details: [{ path: 'x-max-live' }],
    });
});

test('a read that takes too long is not waited for, and its error is not lost on a first read', async () => {
  const cache = new InProcessCache({ now: () => 0 });
  const scope = { tenant_id: 't', environment_id: 'e' };
  const options = { cache, nowMs: 0, maxAgeMs: -1, patienceMs: 20 };
  const totals: Totals = new Map([['cust_1 usd', decimal('3')]]);
  const slow = () => wait(60_000, totals, { ref: false });
  const first = await lastTotals(options, scope, [], async () => totals);
  expect(first).toEqual({ totals, isFallback: false });
  const second = await lastTotals(options, scope, [], slow);
  expect(second).toEqual({ totals, isFallback: true });
  const bug = () => Promise.reject(new TypeError('a bug'));
  await expect(lastTotals(options, scope, [], bug)).rejects.toThrow('a bug');
});
