import { evaluateWallets } from '../../../jobs/evaluate-wallets.ts';
import { runJob } from '../../../jobs/run-job.ts';
import { createLogger } from '../../../platform/log.ts';
import { WebhookPayload } from '../../../schemas/webhooks/payloads.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';
import { completeBackfills, createUsageOracle } from '../../support/usage-oracle.ts';

/** Balances of this moment, alerts on them, and the automatic top-up (money 2.8, 3, 4). */
const oracle = createUsageOracle();
let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi({ usageReader: oracle.reader });
  oracle.attach(api.pool);
  catalog = catalogOf(api);
});
afterAll(() => api.close());

const ok = async (path: string, body: object = {}) => {
  const answer = await api.post(`/v1${path}`, body);
  if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const walletOf = async (more: object = {}) =>
  await ok('/wallets', { customer_id: (await catalog.customer()).id, currency: 'usd', ...more });
const topUp = ({ id }: { id: string }, credits: string, more: object = {}) =>
  ok(`/wallets/${id}/top-up`, {
    credits_to_add: credits,
    transaction_reason: 'FREE_CREDIT_GRANT',
    ...more,
  });
let keys = 0;
const debit = ({ id }: { id: string }, credits: string) =>
  ok(`/wallets/${id}/debit`, {
    credits,
    transaction_reason: 'MANUAL_BALANCE_DEBIT',
    idempotency_key: `debit ${(keys += 1)}`,
  });
const get = async (path: string) => (await api.get(`/v1${path}`)).body;
const level = (threshold: string, more: object = {}) => ({
  threshold,
  condition: 'below',
  ...more,
});
const LEVELS = {
  alert_enabled: true,
  critical: level('10'),
  warning: level('20'),
  info: level('30'),
};
const logsOf = async ({ id }: { id: string }, alert_type = 'low_credit_balance') =>
  (await ok('/alerts/search', { entity_type: 'wallet', entity_id: id, alert_type })).items
    .map((row: any) => row.alert_status)
    .reverse();
const eventsOf = async ({ id }: { id: string }, like: string) =>
  (
    await api.pool<{ event_type: string; state: string | null }[]>`
      select event_type, payload -> 'alert' ->> 'state' as state from outbox
       where entity_id = ${id} and event_type like ${like} order by sequence`
  ).map(({ event_type, state }) => `${event_type} ${state}`);
/** The body that receivers get. */
const envelope = (payload: object) => ({
  ...payload,
  event_type: 'wallet.ongoing_balance.updated',
  id: 'outbox_1',
  created_at: '2026-11-21T12:00:00.000Z',
  environment_id: 'env_1',
  sequence: 1,
});
let tick = Date.parse('2000-01-01T00:00:00Z');
const evaluate = async () => {
  tick += 60_000;
  const now = async () => new Date(api.clock.now()).toISOString();
  const runner = { pool: api.pool, log: createLogger('silent', 'test'), holder: 'test', now };
  return await runJob(runner, evaluateWallets, api.deps, new Date(tick).toISOString());
};

/** A customer with calls at 1 each and a fee of 20 in advance, from November on. */
async function customerUsing(used: string, more: object = {}) {
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.usage(plan, meter, { amount: '1' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const start_date = '2026-11-01T00:00:00.000Z';
  await catalog.subscribe(customer, plan, { start_date, ...more });
  await oracle.use(meter, customer, '2026-11-10T00:00:00.000Z', used);
  return { ...customer, meter };
}

/** When a wallet is empty at the pace of recent weeks (money 2.8.8). */
describe('the forecast', () => {
  const DAY_MS = 86_400_000;
  const later = (at: string, days: number) =>
    new Date(Date.parse(at) + days * DAY_MS).toISOString();

  test('is the balance at the mean of a day since the first usage', async () => {
    const customer = await customerUsing('18.4');
    await oracle.use(customer.meter, customer, '2026-11-12T00:00:00.000Z', '1.6004');
    const wallet = await ok('/wallets', { customer_id: customer.id, currency: 'usd' });
    await topUp(wallet, '60');
    const forecast = await get(`/wallets/${wallet.id}/forecast`);
    const days = (Date.parse(forecast.at) - Date.parse('2026-11-10T00:00:00.000Z')) / DAY_MS;
    const balance = await get(`/wallets/${wallet.id}/balance/real-time`);
    expect(forecast).toMatchObject({
      wallet_id: wallet.id,
      currency: 'usd',
      timezone: 'UTC',
    });
    // Not rounded to the currency: the mean of small amounts would lose its digits.
    expect(forecast.daily_usage).toMatch(/^\d+\.\d{3,}$/);
    expect(Number(forecast.daily_usage)).toBeCloseTo(20.0004 / days, 10);
    const used = forecast.usage.filter(({ amount }: { amount: string }) => amount !== '0');
    expect(used).toEqual([
      { day: '2026-11-10T00:00:00.000Z', amount: '18.4' },
      { day: '2026-11-12T00:00:00.000Z', amount: '1.6004' },
    ]);
    // Four weeks touch 29 days, each of which is there once.
    expect(forecast.usage.map(({ day }: { day: string }) => day)).toEqual(
      Array.from({ length: 29 }, (_, day) => later('2026-10-24T00:00:00.000Z', day)),
    );
    expect(forecast.points[0]).toEqual({ at: forecast.at, balance: balance.real_time_balance });
    const left = Number(balance.real_time_balance);
    const expected = Date.parse(later(forecast.at, left / (20.0004 / days)));
    expect(Math.abs(Date.parse(forecast.empty_at) - expected)).toBeLessThan(1_000);
  });

  test('counts usage beyond the commitment of the subscription at its price (billing 6.3)', async () => {
    const customer = await customerUsing('30', { commitment_amount: 10, overage_factor: 2 });
    const wallet = await ok('/wallets', { customer_id: customer.id, currency: 'usd' });
    await topUp(wallet, '60');
    const { at, usage, daily_usage } = await get(`/wallets/${wallet.id}/forecast`);
    expect(usage.filter(({ amount }: { amount: string }) => amount !== '0')).toEqual([
      { day: '2026-11-10T00:00:00.000Z', amount: '50' },
    ]);
    const days = (Date.parse(at) - Date.parse('2026-11-10T00:00:00.000Z')) / DAY_MS;
    expect(Number(daily_usage)).toBeCloseTo(50 / days, 10);
  });

  test.each([
    ['without usage', {}],
    ['of a wallet that pays fixed fees only', { config: { allowed_price_types: ['FIXED'] } }],
    ['of a wallet that is paid afterwards', { wallet_type: 'POST_PAID' }],
  ])('%s: never', async (_what, more) => {
    const customer = 'config' in more ? await customerUsing('1') : await catalog.customer();
    const wallet = await ok('/wallets', { customer_id: customer.id, currency: 'usd', ...more });
    await topUp(wallet, '60');
    const forecast = await get(`/wallets/${wallet.id}/forecast`);
    expect(forecast).toMatchObject({ daily_usage: '0', usage: [], empty_at: null });
  });
});

describe('the balance of this moment', () => {
  test.each([
    ['30', {}, '30'],
    ['30', { commitment_amount: 10, overage_factor: 2 }, '50'],
    ['4', { commitment_amount: 10, overage_factor: 2 }, '4'],
    ['4', { commitment_amount: 10, overage_factor: 2, enable_true_up: true }, '10'],
  ])('usage of %s with %j is a claim of %s (billing 6.3)', async (used, more, claim) => {
    const customer = await customerUsing(used, more);
    const wallet = await ok('/wallets', {
      ...{ customer_id: customer.id, currency: 'usd' },
      config: { allowed_price_types: ['USAGE'] },
    });
    await topUp(wallet, '100');
    expect(await get(`/wallets/${wallet.id}/balance/real-time`)).toMatchObject({
      balance: '100',
      current_period_usage: claim,
      real_time_balance: String(100 - Number(claim)),
    });
  });

  test('is the balance less the usage of running periods', async () => {
    const customer = await customerUsing('18.4');
    const wallet = await ok('/wallets', {
      customer_id: customer.id,
      currency: 'usd',
      conversion_rate: '2',
    });
    await topUp(wallet, '50');
    expect(await get(`/wallets/${wallet.id}/balance/real-time`)).toMatchObject({
      balance: '100',
      real_time_balance: '81.6',
      real_time_credit_balance: '40.8',
      current_period_usage: '18.4',
      unpaid_invoices_amount: '0',
      is_cached_fallback: false,
    });
    const query = `?id=${customer.id}&include_real_time_balance=true&expand=credits_available_breakdown`;
    expect(await get(`/customers/wallets${query}`)).toMatchObject([
      { real_time_balance: '81.6', credits_available_breakdown: { free: '50', purchased: '0' } },
    ]);
  });

  test('of a postpaid wallet is the settled one, of a closed wallet zero', async () => {
    const customer = await customerUsing('5');
    const postpaid = { customer_id: customer.id, currency: 'usd', wallet_type: 'POST_PAID' };
    const wallet = await ok('/wallets', { ...postpaid, initial_credits_to_load: '9' });
    const path = `/wallets/${wallet.id}/balance/real-time`;
    expect(await get(path)).toMatchObject({ real_time_balance: '9' });
    await ok(`/wallets/${wallet.id}/terminate`);
    expect(await get(path)).toMatchObject({
      real_time_balance: '0',
      real_time_credit_balance: '0',
    });
  });

  test('expired credits no longer count', async () => {
    const wallet = await walletOf();
    await topUp(wallet, '10', { expiry_date_utc: '2026-11-22T00:00:00Z' });
    await topUp(wallet, '5');
    api.clock.set('2026-11-22T00:00:00.000Z');
    const path = `/wallets/${wallet.id}/balance/real-time`;
    expect(await get(path)).toMatchObject({ balance: '15', real_time_balance: '5' });
    api.clock.set('2026-11-21T12:00:00.000Z');
  });
});

describe('alerts', () => {
  test('ok → info → warning → in_alarm → ok, each logged and announced once', async () => {
    const wallet = await walletOf({ alert_settings: LEVELS, initial_credits_to_load: '100' });
    expect((await debit(wallet, '75')).alert_state).toBe('info');
    expect((await debit(wallet, '1')).alert_state).toBe('info');
    expect((await debit(wallet, '9')).alert_state).toBe('warning');
    expect((await debit(wallet, '10')).alert_state).toBe('in_alarm');
    expect((await topUp(wallet, '50')).wallet.alert_state).toBe('ok');
    for (const type of ['low_credit_balance', 'low_ongoing_balance'])
      expect(await logsOf(wallet, type)).toEqual(['info', 'warning', 'in_alarm', 'ok']);
    expect(await eventsOf(wallet, 'wallet.credit_balance.%')).toEqual([
      'wallet.credit_balance.dropped info',
      'wallet.credit_balance.dropped warning',
      'wallet.credit_balance.dropped in_alarm',
      'wallet.credit_balance.recovered ok',
    ]);
  });

  test('usage alone lowers the ongoing balance: the job sees it', async () => {
    const customer = await customerUsing('0');
    const wallet = await ok('/wallets', {
      customer_id: customer.id,
      currency: 'usd',
      alert_settings: LEVELS,
      initial_credits_to_load: '50',
    });
    const announced = async () =>
      (
        await api.pool<{ payload: { wallet: object } }[]>`
          select payload from outbox
           where entity_id = ${wallet.id} and event_type = 'wallet.ongoing_balance.updated'
           order by sequence`
      ).map(({ payload }) => WebhookPayload.parse(envelope(payload)));
    await evaluate();
    expect(await logsOf(wallet, 'low_ongoing_balance')).toEqual([]);
    expect(await announced()).toEqual([]);
    await oracle.use(customer.meter, customer, '2026-11-11T00:00:00.000Z', '35');
    await evaluate();
    await evaluate();
    expect(await announced()).toMatchObject([
      { wallet: { id: wallet.id, credit_balance: '50', real_time_credit_balance: '15' } },
    ]);
    await debit(wallet, '1');
    await debit(wallet, '1');
    api.clock.advance(59_999);
    await evaluate();
    expect(await announced()).toHaveLength(1);
    api.clock.advance(1);
    await evaluate();
    await evaluate();
    expect(await announced()).toMatchObject([
      { wallet: { real_time_balance: '15' } },
      { wallet: { credit_balance: '48', real_time_balance: '13' } },
    ]);
    expect(await logsOf(wallet, 'low_ongoing_balance')).toEqual(['warning']);
    expect(await logsOf(wallet)).toEqual([]);
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ alert_state: 'warning' });
  });

  test('hysteresis: a level is left only above its threshold and its margin', async () => {
    const critical = level('10', { hysteresis: 5 });
    const wallet = await walletOf({
      alert_settings: { alert_enabled: true, critical },
      initial_credits_to_load: '20',
    });
    expect(wallet.alert_settings.critical).toEqual({ ...critical, hysteresis: 5 });
    expect((await debit(wallet, '11')).alert_state).toBe('in_alarm');
    expect((await topUp(wallet, '6')).wallet.alert_state).toBe('in_alarm');
    expect((await topUp(wallet, '1')).wallet.alert_state).toBe('ok');
  });

  test('percent of the credits that were added', async () => {
    const wallet = await walletOf({
      alert_settings: { ...LEVELS, alert_threshold_type: 'percentage' },
      initial_credits_to_load: '1000',
    });
    expect((await debit(wallet, '850')).alert_state).toBe('warning');
    expect(await logsOf(wallet)).toEqual([]);
    expect(await logsOf(wallet, 'low_ongoing_balance')).toEqual(['warning']);
  });

  test('percent of the credits that were added since the earliest running period began (money 4.6)', async () => {
    const customer = await customerUsing('0');
    const now = new Date(api.clock.now()).toISOString();
    api.clock.set('2026-10-15T12:00:00.000Z');
    const wallet = await ok('/wallets', {
      customer_id: customer.id,
      currency: 'usd',
      alert_settings: { ...LEVELS, alert_threshold_type: 'percentage' },
      initial_credits_to_load: '9000',
    });
    expect(wallet.alert_state).toBe('ok');
    api.clock.set(now);
    await topUp(wallet, '600');
    await topUp(wallet, '400');
    await topUp(wallet, '5000', { transaction_reason: 'PURCHASED_CREDIT_INVOICED' });
    expect((await debit(wallet, '9799')).alert_state).toBe('info');
    expect((await debit(wallet, '1')).alert_state).toBe('warning');
  });

  test('alerts that are switched off are ok again; settings are replaced as a whole', async () => {
    const wallet = await walletOf({ alert_settings: LEVELS, initial_credits_to_load: '5' });
    expect(wallet.alert_state).toBe('in_alarm');
    const put = (body: object) => api.put(`/v1/wallets/${wallet.id}`, body);
    const only = await put({ alert_settings: { alert_enabled: true, info: level('15') } });
    expect(only.body.alert_settings).toMatchObject({ critical: null, warning: null });
    expect(only.body.alert_state).toBe('info');
    const off = await put({ alert_settings: { alert_enabled: false } });
    expect(off.body.alert_state).toBe('ok');
  });

  test.each([
    [{ alert_enabled: true }],
    [{ alert_enabled: true, warning: level('5') }],
    [{ alert_enabled: true, critical: level('20'), warning: level('10') }],
    [{ alert_enabled: true, critical: level('10'), warning: level('20', { condition: 'above' }) }],
    [{ alert_enabled: true, alert_threshold_type: 'percentage', critical: level('101') }],
    [{ alert_enabled: true, critical: level('1', { hysteresis: -1 }) }],
  ])('400: %j', async (alert_settings) => {
    const customer = await catalog.customer();
    const body = { customer_id: customer.id, currency: 'usd', alert_settings };
    expect((await api.post('/v1/wallets', body)).status).toBe(400);
  });
});

describe('the automatic top-up', () => {
  const AUTO = { enabled: true, threshold: '10', amount: '25', invoicing: false };

  test('adds its credits once when the balance has fallen to the threshold', async () => {
    const wallet = await walletOf({ auto_topup: AUTO, initial_credits_to_load: '50' });
    expect(wallet.auto_topup).toEqual({
      enabled: true,
      invoicing: false,
      threshold: 10,
      amount: 25,
      cooldown: null,
    });
    expect((await debit(wallet, '45')).balance).toBe('30');
    const { items } = await ok('/wallets/transactions/search', {
      id: wallet.id,
      type: 'credit',
      limit: 1,
    });
    expect(items).toMatchObject([
      {
        transaction_reason: 'PURCHASED_CREDIT_DIRECT',
        metadata: { auto_topup: 'true' },
        credit_amount: '25',
      },
    ]);
  });

  test('a new wallet is not topped up, and raises no alert, before it held credits', async () => {
    const wallet = await walletOf({ auto_topup: AUTO, alert_settings: LEVELS });
    await evaluate();
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ balance: '0', alert_state: 'ok' });
  });

  test('usage lowers a wallet that never held credits: it is topped up, and raises an alert', async () => {
    const customer = await customerUsing('0');
    const watches = { auto_topup: AUTO, alert_settings: LEVELS };
    const wallet = await ok('/wallets', { customer_id: customer.id, currency: 'usd', ...watches });
    const settled = await ok('/wallets', { customer_id: customer.id, currency: 'eur', ...watches });
    await evaluate();
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ balance: '0', alert_state: 'ok' });
    await oracle.use(customer.meter, customer, '2026-11-11T00:00:00.000Z', '3');
    await evaluate();
    expect(await logsOf(wallet, 'low_ongoing_balance')).toEqual(['in_alarm']);
    expect(await logsOf(wallet)).toEqual([]);
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ balance: '25' });
    expect(await get(`/wallets/${settled.id}`)).toMatchObject({ balance: '0', alert_state: 'ok' });
  });

  test('waits for its cooldown, and merges the sent fields', async () => {
    const wallet = await walletOf({
      auto_topup: { ...AUTO, cooldown: { value: 2, unit: 'hour' } },
      initial_credits_to_load: '50',
    });
    expect(wallet.auto_topup.cooldown).toBe('2h');
    expect((await debit(wallet, '45')).balance).toBe('30');
    expect((await debit(wallet, '25')).balance).toBe('5');
    api.clock.advance(2 * 3_600_000);
    await evaluate();
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ balance: '30' });
    api.clock.set('2026-11-21T12:00:00.000Z');
    const { body } = await api.put(`/v1/wallets/${wallet.id}`, { auto_topup: { threshold: 3 } });
    expect(body.auto_topup).toEqual({
      enabled: true,
      invoicing: false,
      threshold: 3,
      amount: 25,
      cooldown: '2h',
    });
    for (const cleared of [null, '']) {
      const sent = async (cooldown: string | null) =>
        (await api.put(`/v1/wallets/${wallet.id}`, { auto_topup: { cooldown } })).body.auto_topup;
      expect((await sent('PT90M')).cooldown).toBe('1h30m');
      expect(await sent(cleared)).toMatchObject({ threshold: 3, cooldown: null });
    }
  });

  test.each([
    [{ enabled: true, amount: '1' }],
    [{ enabled: true, threshold: '1' }],
    [{ enabled: true, threshold: '1', amount: '1' }],
    [{ ...AUTO, amount: '0' }],
    [{ ...AUTO, amount: '0.5' }],
    [{ ...AUTO, cooldown: 'soon' }],
  ])('400: %j', async (auto_topup) => {
    const customer = await catalog.customer();
    const body = { customer_id: customer.id, currency: 'usd', auto_topup };
    expect((await api.post('/v1/wallets', body)).status).toBe(400);
  });
});

test('the portal shows the customer’s own wallets and their transactions only', async () => {
  const customer = await catalog.customer();
  const own = await ok('/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    initial_credits_to_load: '7',
    metadata: { note: 'private' },
  });
  const foreign = await walletOf();
  const session = await get(`/customers/portal/${customer.external_id}`);
  const headers = { 'x-session-token': session.token, 'x-api-key': '' };
  const base = '/v1/customer/portal/wallets';
  expect((await api.post(base, {}, headers)).body).toMatchObject([
    { id: own.id, real_time_balance: '7', metadata: {} },
  ]);
  expect((await api.get(`${base}/${own.id}`, headers)).body).toMatchObject({ balance: '7' });
  const rows = await api.get(`${base}/${own.id}/transactions?limit=5`, headers);
  expect(rows.body.items).toHaveLength(1);
  expect((await api.get(`${base}/${foreign.id}`, headers)).status).toBe(404);
  expect((await api.get(`${base}/${foreign.id}/transactions`, headers)).status).toBe(404);
});
