import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.api.clock.set('2026-03-31T00:00:00.000Z'));

const day = (text: string) => `2026-${text}T00:00:00.000Z`;
const SLAB = {
  billing_model: 'TIERED',
  tier_mode: 'SLAB',
  tiers: [
    { up_to: 10, unit_amount: '1' },
    { up_to: null, unit_amount: '0.5' },
  ],
};

/** A plan that sells calls and grants some of them. */
async function granted(entitlement: object, price: object = {}, more: object = {}) {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  const feature = await api.post('/v1/features', {
    lookup_key: meter.id,
    name: 'Calls',
    type: 'metered',
    meter_id: meter.id,
  });
  const made = await api.post('/v1/entitlements', {
    entity_type: 'PLAN', entity_id: plan.id, feature_id: feature.body.id, feature_type: 'metered',
    is_enabled: true, ...entitlement,
  }); // prettier-ignore
  expect(made.status).toBe(201);
  await catalog.usage(plan, meter, { display_name: 'Calls', amount: '1', ...price });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('03-01'),
    ...more,
  });
  return {
    plan,
    meter,
    customer,
    subscription,
    entitlement: made.body,
    use: (at: string, value: string) => world.usage.use(meter, customer, at, value),
  };
}
const preview = async (subscription: { id: string }, more: object = {}) =>
  (await world.api.post('/v1/invoices/preview', { subscription_id: subscription.id, ...more }))
    .body;
const allowanceStep = ({ line_items: [line] }: any) =>
  line.explanation.steps.find(({ step }: { step: string }) => step === 'allowance');
const row = ({ line_items: [line] }: any) => [
  line.quantity,
  line.adjusted_entitlement_quantity,
  line.amount,
];

describe('what the plan grants is free (billing 4)', () => {
  test('units above the limit are billed, and tiers begin at the first of them', async () => {
    const { subscription, use } = await granted(
      { usage_limit: 100, usage_reset_period: 'MONTHLY' },
      { ...SLAB, amount: undefined },
    );
    await use(day('03-10'), '90');
    expect(row(await preview(subscription))).toEqual(['0', '90', '0']);
    await use(day('03-20'), '45');
    expect(row(await preview(subscription))).toEqual(['35', '100', '22.5']);
  });

  test.each`
    name                        | entitlement                                                                 | expected
    ${'unlimited: all is free'} | ${{ usage_limit: null, usage_reset_period: 'MONTHLY' }}                     | ${['0', '135', '0']}
    ${'0: nothing is'}          | ${{ usage_limit: 0, usage_reset_period: 'MONTHLY' }}                        | ${['135', '0', '135']}
    ${'soft limits bill too'}   | ${{ usage_limit: 100, usage_reset_period: 'MONTHLY', is_soft_limit: true }} | ${['35', '100', '35']}
  `('$name', async ({ entitlement, expected }) => {
    const { subscription, use } = await granted(entitlement);
    await use(day('03-10'), '135');
    expect(row(await preview(subscription))).toEqual(expected);
  });

  test('disabled: it is not there', async () => {
    const { subscription, use, entitlement } = await granted({
      usage_limit: 100,
      usage_reset_period: 'MONTHLY',
    });
    await world.api.put(`/v1/entitlements/${entitlement.id}`, { is_enabled: false });
    await use(day('03-10'), '135');
    expect(row(await preview(subscription))).toEqual(['135', null, '135']);
  });

  test('by day: each day has its own', async () => {
    const { subscription, use } = await granted({ usage_limit: 50, usage_reset_period: 'DAILY' });
    await use(day('03-10'), '30');
    await use('2026-03-10T12:00:00.000Z', '30');
    await use(day('03-11'), '49');
    await use(day('03-12'), '75');
    expect(row(await preview(subscription))).toEqual(['35', '149', '35']);
  });

  test('by day in windows of a month: each day has its own, and the rest of the month is rated together', async () => {
    const { subscription, use } = await granted(
      { usage_limit: 50, usage_reset_period: 'DAILY' },
      { ...SLAB, amount: undefined, bucket_size: 'MONTH' },
    );
    await use(day('03-10'), '55');
    await use(day('03-11'), '30');
    await use(day('03-12'), '60');
    expect(row(await preview(subscription))).toEqual(['15', '130', '12.5']);
  });

  test('invoices of several periods that are computed together: each has the allowance once', async () => {
    const { subscription, use } = await granted(
      { usage_limit: 100, usage_reset_period: 'MONTHLY' },
      {},
      { start_date: day('01-01') },
    );
    await use(day('01-10'), '150');
    await use(day('02-10'), '170');
    await world.close();
    world.api.clock.set('2026-03-31T06:00:00.000Z');
    await world.finalize();
    const { body } = await world.api.post('/v1/invoices/search', {
      ...{ subscription_id: subscription.id, invoice_status: ['FINALIZED'] },
    });
    const cycles = body.items.filter((one: any) => one.line_items.length > 0);
    expect(cycles.map(row).toSorted()).toEqual([
      ['50', '100', '50'],
      ['70', '100', '70'],
    ]);
  });

  test('by year: the usage of earlier months reduces the allowance', async () => {
    const { subscription, use } = await granted({ usage_limit: 100, usage_reset_period: 'ANNUAL' });
    await use(day('03-10'), '80');
    await use(day('04-10'), '30');
    expect(row(await preview(subscription))).toEqual(['0', '80', '0']);
    const april = { period_start: day('04-01'), period_end: day('05-01') };
    expect(row(await preview(subscription, april))).toEqual(['10', '20', '10']);
  });

  test('without a reset period: once in each charge period, also in one of two months', async () => {
    const two = { billing_period: 'MONTHLY', billing_period_count: 2 };
    const { subscription, use } = await granted({ usage_limit: 7 }, two, two);
    await use(day('03-10'), '12');
    await use(day('04-10'), '12');
    expect(row(await preview(subscription))).toEqual(['17', '7', '17']);
  });

  test('without a reset period: once in a day that begins at noon', async () => {
    const daily = { billing_period: 'DAILY' };
    const start_date = '2026-03-30T12:00:00.000Z';
    const more = { ...daily, start_date };
    const { subscription, use } = await granted({ usage_limit: 7 }, daily, more);
    await use('2026-03-30T20:00:00.000Z', '5');
    await use('2026-03-31T08:00:00.000Z', '5');
    await use('2026-03-31T20:00:00.000Z', '5');
    const first = { period_start: start_date, period_end: '2026-03-31T12:00:00.000Z' };
    expect(row(await preview(subscription, first))).toEqual(['3', '7', '3']);
    const second = { period_start: first.period_end, period_end: '2026-04-01T12:00:00.000Z' };
    expect(row(await preview(subscription, second))).toEqual(['0', '5', '0']);
  });

  test('two lines of one meter share one allowance', async () => {
    const {
      plan,
      meter,
      subscription: before,
      customer,
      use,
    } = await granted({ usage_limit: 100, usage_reset_period: 'MONTHLY' });
    expect(before.line_items).toHaveLength(1);
    await world.catalog.usage(plan, meter, {
      display_name: 'Calls eu',
      amount: '2',
      filter_values: { region: ['eu'] },
    });
    await completeBackfills(world.api.pool);
    const subscription = await world.catalog.subscribe(customer, plan, {
      start_date: day('03-01'),
    });
    await use(day('03-10'), '60');
    await world.usage.use(meter, customer, day('03-11'), '70', { region: 'eu' });
    const { line_items } = await preview(subscription);
    const free = line_items.map((line: any) => Number(line.adjusted_entitlement_quantity));
    const billed = line_items.map((line: any) => Number(line.quantity));
    expect(free[0] + free[1]).toBe(100);
    expect(billed[0] + billed[1]).toBe(30);
  });

  test('a stub has its share, with prorations', async () => {
    const entitlement = { usage_limit: 31, usage_reset_period: 'MONTHLY' };
    const stub = { start_date: day('03-22'), billing_cycle: 'calendar' };
    const whole = await granted(entitlement, {}, stub);
    await whole.use(day('03-25'), '40');
    expect(row(await preview(whole.subscription))).toEqual(['9', '31', '9']);
    const share = await granted(
      entitlement,
      {},
      { ...stub, proration_behavior: 'create_prorations' },
    );
    await share.use(day('03-25'), '40');
    const prorated = await preview(share.subscription);
    expect(row(prorated)).toEqual(['30', '10', '30']);
    const DAY_MS = 86_400_000;
    expect(allowanceStep(prorated).proration).toEqual({ whole: '31', own: '0', part_ms: 10 * DAY_MS, whole_ms: 31 * DAY_MS, limit: '10' }); // prettier-ignore
    expect(allowanceStep(await preview(whole.subscription))).not.toHaveProperty('proration');
  });

  test('the explanation contains it', async () => {
    const { subscription, customer, use } = await granted({
      usage_limit: 100,
      usage_reset_period: 'ANNUAL',
    });
    await use(day('03-10'), '135');
    const draft = await world.api.post('/v1/invoices', {
      invoice_type: 'SUBSCRIPTION', customer_id: customer.id, subscription_id: subscription.id, currency: 'usd',
    }); // prettier-ignore
    const { body } = await world.api.get(
      `/v1/invoices/${draft.body.id}/lines/${draft.body.line_items[0].id}/explanation`,
    );
    expect(body.explanation.steps).toMatchObject([
      { step: 'usage', quantity: '135' },
      { step: 'allowance', free: '100', billable: '35' },
      { step: 'rate', quantity: '35' },
      { step: 'rounding' },
    ]);
  });
});
