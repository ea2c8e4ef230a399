import { evaluateAlerts } from '../../jobs/evaluate-alerts.ts';
import { evaluateWallets } from '../../jobs/evaluate-wallets.ts';
import { runJob } from '../../jobs/run-job.ts';
import { createLogger } from '../../platform/log.ts';
import { startTestApi, type TestApi, type TestCaller } from '../support/api.ts';
import { catalogOf, type TestCatalog } from '../support/catalog.ts';
import { completeBackfills, createUsageOracle } from '../support/usage-oracle.ts';

/** Alerts on spend (money 20), on granted usage (money 7.12) and of features (money 4.12), from current usage. */
const oracle = createUsageOracle();
let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi({ usageReader: oracle.reader });
  oracle.attach(api.pool);
  catalog = catalogOf(api);
  await put('subscription_alert_config', { alert_enabled: true });
});
afterAll(() => api.close());

const put = async (key: string, value: object) =>
  expect((await api.put(`/v1/settings/${key}`, { value })).status).toBe(200);
let tick = Date.parse('2000-01-01T00:00:00Z');
async function evaluate(job: typeof evaluateAlerts = evaluateAlerts) {
  tick += 60_000;
  const now = async () => new Date(api.clock.now()).toISOString();
  const runner = { pool: api.pool, log: createLogger('silent', 'test'), holder: 'test', now };
  const report = await runJob(runner, job, api.deps, new Date(tick).toISOString());
  expect(report).not.toBeNull();
  return report;
}
const level = (threshold: string, more: object = {}) => ({
  threshold,
  condition: 'above',
  ...more,
});
const config = {
  alert_enabled: true,
  critical: level('100'),
  warning: level('50'),
  info: level('10'),
};
const NOVEMBER = '2026-11-01T00:00:00.000Z';

/** A customer with calls at 1 each, data at 2 each in a group, and a fee of 20, from November on. */
async function subscribed(own: TestCatalog = catalog, caller: TestCaller = api) {
  const plan = await own.plan();
  const [calls, data] = [await own.meter(), await own.meter()];
  const group = (
    await caller.post('/v1/groups', { name: 'G', lookup_key: plan.id, entity_type: 'price' })
  ).body;
  await own.fixed(plan, '20');
  await own.usage(plan, calls, { amount: '1' });
  const { id: priceId } = await own.usage(plan, data, { amount: '2', group_id: group.id });
  await completeBackfills(api.pool);
  const customer = await own.customer();
  const subscription = await own.subscribe(customer, plan, { start_date: NOVEMBER });
  const line = subscription.line_items.find(
    (row: { price_id: string }) => row.price_id === priceId,
  );
  return { customer, calls, data, group, subscription, line, plan };
}
type Subscribed = Awaited<ReturnType<typeof subscribed>>;
const use = (
  { customer }: Pick<Subscribed, 'customer'>,
  meter: { id: string },
  value: string,
  at = '2026-11-10T00:00:00.000Z',
) => oracle.use(meter, customer, at, value);
const watch = async (body: object, caller: TestCaller = api) => {
  const answer = await caller.post('/v1/alerts/setting', { config, ...body });
  expect(answer.status).toBe(201);
  return answer.body;
};
const watchSubscription = ({ subscription }: Subscribed, more: object = {}) =>
  watch({ entity_type: 'subscription', entity_id: subscription.id, ...more });
const stateOf = async ({ id }: { id: string }) =>
  (await api.get(`/v1/alerts/setting/${id}`)).body.alert_state;
const logsOf = async (filter: object) =>
  (await api.post('/v1/alerts/search', filter)).body.items
    .map((row: any) => `${row.alert_status} ${row.alert_info.value_at_time}`)
    .reverse();
const eventsOf = async (entityId: string, like: string) =>
  (
    await api.pool<{ event_type: string; payload: any }[]>`
      select event_type, payload from outbox
       where entity_id = ${entityId} and event_type like ${like} order by sequence`
  ).map(({ event_type, payload }) => ({ event_type, ...payload }));

describe('spend', () => {
  test('each change is logged and announced once; the setting answers the state (money 20.5)', async () => {
    const world = await subscribed();
    const setting = await watchSubscription(world);
    expect(setting.alert_state).toBe('ok');
    await use(world, world.calls, '9.5');
    await evaluate();
    expect(await stateOf(setting)).toBe('ok');
    await use(world, world.data, '25');
    await evaluate();
    await evaluate();
    expect(await stateOf(setting)).toBe('warning');
    await use(world, world.calls, '40.5');
    await evaluate();
    const filter = { entity_id: world.subscription.id, alert_type: 'subscription_spend' };
    expect(await logsOf(filter)).toEqual(['warning 59.5', 'in_alarm 100']);
    expect(await eventsOf(world.subscription.id, 'subscription.spend.%')).toMatchObject([
      {
        event_type: 'subscription.spend.threshold_reached',
        subscription: { id: world.subscription.id, customer: { id: world.customer.id } },
        alert_type: 'subscription_spend',
        alert_status: 'warning',
        previous_status: 'ok',
        current_spend: '59.5',
        threshold: '50',
        currency: 'usd',
        subscription_line_item_id: null,
        group_id: null,
      },
      { alert_status: 'in_alarm', previous_status: 'warning', threshold: '100' },
    ]);

    const raised = { ...config, critical: level('1000'), warning: level('500'), info: null };
    await api.put(`/v1/alerts/setting/${setting.id}`, { config: raised });
    await evaluate();
    expect(await stateOf(setting)).toBe('ok');
    expect((await eventsOf(world.subscription.id, 'subscription.spend.%')).at(-1)).toMatchObject({
      event_type: 'subscription.spend.threshold_recovered',
      alert_status: 'ok',
    });
  });

  test('a line and a group have their own rows only (money 20.4)', async () => {
    const world = await subscribed();
    const parent = { parent_entity_type: 'subscription', parent_entity_id: world.subscription.id };
    await watch({ entity_type: 'subscription_line_item', entity_id: world.line.id, ...parent });
    await watch({ entity_type: 'group', entity_id: world.group.id, ...parent });
    await use(world, world.calls, '1000');
    await use(world, world.data, '6');
    await evaluate();
    expect(await logsOf({ entity_id: world.line.id })).toEqual(['info 12']);
    expect(await logsOf({ entity_id: world.group.id })).toEqual(['info 12']);
    expect(await eventsOf(world.subscription.id, 'subscription.%_spend.%')).toMatchObject([
      {
        event_type: 'subscription.line_item_spend.threshold_reached',
        subscription_line_item_id: world.line.id,
      },
      { event_type: 'subscription.group_spend.threshold_reached', group_id: world.group.id },
    ]);
  });

  test('hysteresis: a level is left only below its threshold less its margin (api 44)', async () => {
    const world = await subscribed();
    const critical = level('10', { hysteresis: 5 });
    const setting = await watchSubscription(world, { config: { alert_enabled: true, critical } });
    expect(setting.config.critical).toEqual({ ...critical, hysteresis: 5 });
    await use(world, world.calls, '10');
    await evaluate();
    await use(world, world.calls, '-4');
    await evaluate();
    expect(await stateOf(setting)).toBe('in_alarm');
    await use(world, world.calls, '-1');
    await evaluate();
    expect(await stateOf(setting)).toBe('ok');
  });

  test('a new period begins at ok without a recovery (money 20.3)', async () => {
    const world = await subscribed();
    const setting = await watchSubscription(world);
    await use(world, world.calls, '60');
    await evaluate();
    await api.pool`
      update subscriptions set current_period_start = '2026-12-01T00:00:00Z',
                               current_period_end = '2027-01-01T00:00:00Z'
       where id = ${world.subscription.id}`;
    api.clock.set('2026-12-02T00:00:00.000Z');
    await evaluate();
    expect(await stateOf(setting)).toBe('ok');
    await use(world, world.calls, '70', '2026-12-01T10:00:00.000Z');
    await evaluate();
    api.clock.set('2026-11-21T12:00:00.000Z');
    expect(await logsOf({ entity_id: world.subscription.id })).toEqual([
      'warning 60',
      'warning 70',
    ]);
    const events = await eventsOf(world.subscription.id, 'subscription.spend.%');
    expect(events.map((row) => row.alert_status)).toEqual(['warning', 'warning']);
  });

  test('switched off: the alert ends, and nothing is evaluated any more', async () => {
    const world = await subscribed();
    const setting = await watchSubscription(world);
    await use(world, world.calls, '60');
    await evaluate();
    const off = { config: { ...config, alert_enabled: false } };
    await api.put(`/v1/alerts/setting/${setting.id}`, off);
    await evaluate();
    expect(await stateOf(setting)).toBe('ok');
    await use(world, world.calls, '600');
    await evaluate();
    expect(await logsOf({ entity_id: world.subscription.id })).toEqual(['warning 60', 'ok 60']);

    await put('subscription_alert_config', { alert_enabled: false });
    const other = await subscribed();
    await watchSubscription(other);
    await use(other, other.calls, '60');
    await evaluate();
    expect(await logsOf({ entity_id: other.subscription.id })).toEqual([]);
    await put('subscription_alert_config', { alert_enabled: true });
  });

  test('levels of the environment apply without a setting; other tenants are left alone', async () => {
    const stranger = await api.newCaller();
    const foreign = await subscribed(catalogOf(stranger), stranger);
    await use(foreign, foreign.calls, '500');
    const [plain, own] = [await subscribed(), await subscribed()];
    await watchSubscription(own, {
      config: { alert_enabled: true, critical: level('900'), warning: null },
    });
    for (const each of [plain, own]) await use(each, each.calls, '60');
    await put('subscription_alert_config', {
      alert_enabled: true,
      critical: level('200'),
      warning: level('40'),
    });
    await evaluate();
    expect(await logsOf({ entity_id: plain.subscription.id })).toEqual(['warning 60']);
    expect(await logsOf({ entity_id: own.subscription.id })).toEqual([]);
    expect(await eventsOf(foreign.subscription.id, '%spend%')).toEqual([]);
    expect((await stranger.post('/v1/alerts/search', {})).body.items).toEqual([]);
    await put('subscription_alert_config', { critical: null, warning: null });
  });

  test('a page is one read of usage; one subscription that fails leaves the others', async () => {
    const [good, bad] = [await subscribed(), await subscribed()];
    for (const each of [good, bad]) {
      await watchSubscription(each);
      await use(each, each.calls, '60');
    }
    const before = oracle.reads.count;
    await evaluate();
    expect(oracle.reads.count - before).toBe(1);
    for (const each of [good, bad]) await use(each, each.calls, '60');
    oracle.failFor(bad.customer, new Error('refused'));
    await evaluate();
    oracle.failFor(bad.customer, null);
    expect(await logsOf({ entity_id: good.subscription.id })).toEqual([
      'warning 60',
      'in_alarm 120',
    ]);
    expect(await logsOf({ entity_id: bad.subscription.id })).toEqual(['warning 60']);
  });
});

describe('granted usage (money 7.12)', () => {
  test('percent of the limit, and one notice per window once nothing is left', async () => {
    const meter = await catalog.meter();
    await completeBackfills(api.pool);
    const feature = (
      await api.post('/v1/features', { name: 'Calls', type: 'metered', meter_id: meter.id })
    ).body;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '5');
    const { body: entitlement } = await api.post('/v1/entitlements', {
      plan_id: plan.id,
      feature_id: feature.id,
      feature_type: 'metered',
      usage_limit: 200,
      usage_reset_period: 'MONTHLY',
    });
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, { start_date: NOVEMBER });
    await use({ customer }, meter, '170');
    await evaluate();
    const filter = { entity_type: 'entitlement_grant', entity_id: entitlement.id };
    expect(await logsOf(filter)).toEqual([]);

    await put('entitlement_alert_config', {
      alert_enabled: true,
      critical: level('95'),
      warning: level('80'),
    });
    await evaluate();
    await evaluate();
    expect(await logsOf(filter)).toEqual(['warning 85']);
    expect(await eventsOf(entitlement.id, 'entitlement.grant.%')).toEqual([]);

    await use({ customer }, meter, '30');
    await evaluate();
    await use({ customer }, meter, '10');
    await evaluate();
    expect(await logsOf({ ...filter, alert_type: 'entitlement_grant_threshold' })).toEqual([
      'warning 85',
      'in_alarm 100',
    ]);
    expect(await logsOf({ ...filter, alert_type: 'entitlement_grant_exhausted' })).toEqual([
      'in_alarm 100',
    ]);
    expect(await eventsOf(entitlement.id, 'entitlement.grant.%')).toMatchObject([
      {
        event_type: 'entitlement.grant.exhausted',
        subscription_id: subscription.id,
        customer_id: customer.id,
        entitlement_id: entitlement.id,
        usage_ratio: '1',
        alert_status: 'in_alarm',
      },
    ]);

    api.clock.set('2026-12-02T00:00:00.000Z');
    await use({ customer }, meter, '300', '2026-12-01T10:00:00.000Z');
    await evaluate();
    api.clock.set('2026-11-21T12:00:00.000Z');
    expect(await eventsOf(entitlement.id, 'entitlement.grant.%')).toHaveLength(2);
    await put('entitlement_alert_config', { alert_enabled: false });
  });
});

/** A customer with a quota of 100 for each 5 hours of usage. */
async function quotaByHours() {
  const meter = await catalog.meter();
  const { body: feature } = await api.post('/v1/features', {
    ...{
      name: 'Calls by the hour',
      lookup_key: `calls-by-hour-${meter.id}`,
      type: 'metered',
      meter_id: meter.id,
    },
  });
  const plan = await catalog.plan();
  await catalog.usage(plan, meter, { display_name: 'Calls' });
  await completeBackfills(api.pool);
  const { body: entitlement } = await api.post('/v1/entitlements', {
    ...{ plan_id: plan.id, feature_id: feature.id, feature_type: 'metered', grant_quota: '100' },
    ...{ grant_measure: 'quantity', grant_duration_unit: 'hour', grant_duration_value: 5 },
  });
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, { start_date: NOVEMBER });
  expect(entitlement).toMatchObject({ grant_quota: '100' });
  const announced = () => eventsOf(entitlement.id, 'entitlement.grant.%');
  return { meter, entitlement, customer, subscription, announced };
}

test('late usage that moves the start of a used-up window does not announce it again (money 7.12)', async () => {
  const { meter, customer, entitlement, announced } = await quotaByHours();
  await put('entitlement_alert_config', { alert_enabled: true });
  const used = async (quantity: string, at: string) => {
    await use({ customer }, meter, quantity, `2026-11-21T${at}:00.000Z`);
    await evaluate();
  };
  await used('100', '08:00');
  expect(await announced()).toHaveLength(1);
  // 07:30 to 12:30 instead of 08:00 to 13:00.
  await used('5', '07:30');
  expect(await announced()).toHaveLength(1);
  // The next window, from 12:40, is another one.
  api.clock.set('2026-11-21T13:00:00.000Z');
  await used('100', '12:40');
  expect(await announced()).toHaveLength(2);
  const { body } = await api.post('/v1/alerts/search', { entity_id: entitlement.id });
  const states = body.items.filter((row: any) => row.alert_type === 'entitlement_grant_exhausted');
  expect(states).toHaveLength(2);
  api.clock.set('2026-11-21T12:00:00.000Z');
  await put('entitlement_alert_config', { alert_enabled: false });
});

test('a used-up window of a quota is announced once, and the next window again (money 7.12)', async () => {
  const { meter, entitlement, customer, subscription, announced } = await quotaByHours();
  await put('entitlement_alert_config', { alert_enabled: true });
  await use({ customer }, meter, '99', '2026-11-21T10:00:00.000Z');
  await evaluate();
  expect(await announced()).toEqual([]);
  await use({ customer }, meter, '1', '2026-11-21T11:00:00.000Z');
  await use({ customer }, meter, '500', '2026-11-10T11:00:00.000Z');
  await evaluate();
  await use({ customer }, meter, '50', '2026-11-21T11:30:00.000Z');
  await evaluate();
  expect(await announced()).toMatchObject([
    {
      event_type: 'entitlement.grant.exhausted',
      ...{ subscription_id: subscription.id, customer_id: customer.id, usage_ratio: '1' },
      ...{ entitlement_id: entitlement.id, entitlement_grant_id: entitlement.id },
      ...{ alert_type: 'entitlement_grant_exhausted', alert_status: 'in_alarm' },
    },
  ]);
  await use({ customer }, meter, '120', '2026-11-21T15:00:00.000Z');
  api.clock.set('2026-11-21T23:00:00.000Z');
  await evaluate();
  await evaluate();
  expect(await announced()).toHaveLength(2);
  api.clock.set('2026-11-21T12:00:00.000Z');
  await put('entitlement_alert_config', { alert_enabled: false });
});

test('usage of a pause does not use up what is granted (billing 12.3)', async () => {
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  const { body: feature } = await api.post('/v1/features', {
    ...{ name: `Calls of ${meter.id}`, type: 'metered', meter_id: meter.id },
  });
  await catalog.usage(plan, meter, { amount: '1' });
  await completeBackfills(api.pool);
  const { body: entitlement } = await api.post('/v1/entitlements', {
    ...{ plan_id: plan.id, feature_id: feature.id, feature_type: 'metered', usage_limit: 100 },
    usage_reset_period: 'MONTHLY',
  });
  api.clock.set('2026-11-05T00:00:00.000Z');
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, { start_date: NOVEMBER });
  await put('entitlement_alert_config', { alert_enabled: true });
  const change = async (path: string) =>
    expect((await api.post(`/v1/subscriptions/${subscription.id}/${path}`, {})).status).toBe(200);
  await change('pause');
  await use({ customer }, meter, '500', '2026-11-12T00:00:00.000Z');
  api.clock.set('2026-11-15T00:00:00.000Z');
  await change('resume');
  api.clock.set('2026-11-21T12:00:00.000Z');
  await use({ customer }, meter, '99', '2026-11-20T00:00:00.000Z');
  await evaluate();
  expect(await eventsOf(entitlement.id, 'entitlement.grant.%')).toEqual([]);
  await use({ customer }, meter, '1', '2026-11-20T00:00:00.000Z');
  await evaluate();
  expect(await eventsOf(entitlement.id, 'entitlement.grant.%')).toHaveLength(1);
  await put('entitlement_alert_config', { alert_enabled: false });
});

test('a feature compares the ongoing credits of each wallet (money 4.12)', async () => {
  const world = await subscribed();
  const wallet = (
    await api.post('/v1/wallets', {
      customer_id: world.customer.id,
      currency: 'usd',
      initial_credits_to_load: '100',
    })
  ).body;
  const { status, body: feature } = await api.post('/v1/features', {
    name: 'Reports',
    type: 'boolean',
    alert_settings: {
      alert_enabled: true,
      critical: { threshold: 10, condition: 'below' },
      warning: { threshold: 50.5, condition: 'below' },
    },
  });
  expect(status).toBe(201);
  const filter = { entity_type: 'feature', entity_id: feature.id };
  await evaluate(evaluateWallets);
  expect(await logsOf(filter)).toEqual([]);
  await use(world, world.calls, '49.5');
  await evaluate(evaluateWallets);
  await evaluate(evaluateWallets);
  await use(world, world.calls, '45');
  await evaluate(evaluateWallets);
  await api.put(`/v1/features/${feature.id}`, { alert_settings: { alert_enabled: false } });
  await evaluate(evaluateWallets);
  await evaluate(evaluateWallets);
  expect(await logsOf(filter)).toEqual(['warning 50.5', 'in_alarm 5.5', 'ok 5.5']);
  expect(await eventsOf(wallet.id, 'feature.wallet_balance.alert')).toMatchObject([
    {
      alert_status: 'warning',
      feature_id: feature.id,
      wallet_id: wallet.id,
      customer_id: world.customer.id,
      external_id: world.customer.external_id,
      credit_balance: '50.5',
    },
    { alert_status: 'in_alarm' },
    { alert_status: 'ok', previous_status: 'in_alarm' },
  ]);
});
