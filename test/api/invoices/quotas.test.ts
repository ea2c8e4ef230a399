import { billingWorldFrom } from '../../support/billing-world.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

const world = billingWorldFrom('2026-03-31T00:00:00.000Z');

const at = (text: string) => `2026-${text}${text.includes('T') ? '' : 'T00:00'}:00.000Z`;
const FIVE_HOURS = {
  grant_quota: '100',
  grant_measure: 'quantity',
  grant_duration_unit: 'hour',
  grant_duration_value: 5,
};
let count = 0;

const feature = (meter: { id: string }) =>
  world.api.postOk('/v1/features', {
    name: 'Calls',
    type: 'metered',
    meter_id: meter.id,
    lookup_key: `calls-${(count += 1)}`,
  });
const entitle = (entity_type: string, entity_id: string, feature_id: string, terms: object) =>
  world.api.postOk('/v1/entitlements', {
    entity_type,
    entity_id,
    feature_id,
    feature_type: 'metered',
    ...terms,
  });

/** A plan that sells calls at 1.00 and has a quota for them. */
async function granted(terms: object = FIVE_HOURS, price: object = {}, more: object = {}) {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  const calls = await feature(meter);
  const entitlement = await entitle('PLAN', plan.id, calls.id, terms);
  await catalog.usage(plan, meter, { display_name: 'Calls', amount: '1', ...price });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: at('03-01'),
    ...more,
  });
  const use = (time: string, value: string, dimensions: Record<string, string> = {}) =>
    world.usage.use(meter, customer, at(time), value, dimensions);
  return { plan, meter, calls, entitlement, customer, subscription, use };
}
type Granted = Awaited<ReturnType<typeof granted>>;

const rows = ({ line_items }: any): string[] =>
  line_items
    .filter((line: any) => line.price_type === 'USAGE')
    .map((line: any) => `${line.quantity} ${line.adjusted_entitlement_quantity} ${line.amount}`);
const preview = async ({ subscription }: Pick<Granted, 'subscription'>, more: object = {}) =>
  (await world.api.post('/v1/invoices/preview', { subscription_id: subscription.id, ...more }))
    .body;
const draft = ({ customer, subscription }: Granted) =>
  world.api.postOk('/v1/invoices', {
    ...{ invoice_type: 'SUBSCRIPTION', currency: 'usd' },
    ...{ customer_id: customer.id, subscription_id: subscription.id },
  });
/** What the job bills when the periods until then end. */
async function closed({ subscription }: Pick<Granted, 'subscription'>, until: string) {
  world.api.clock.set(at(until));
  await world.api
    .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
  await world.close();
  const { body } = await world.api.post('/v1/invoices/search', {
    subscription_id: subscription.id,
    expand: 'line_items',
  });
  return body.items as any[];
}

describe('usage beyond the quota of its window is billed (money 7.10)', () => {
  test('preview, draft and the invoice of the job say the same, and explain it', async () => {
    const of = await granted();
    await of.use('03-10T10:20', '60');
    expect(rows(await preview(of))).toEqual(['0 60 0']);
    await of.use('03-10T15:19', '70');
    await of.use('03-10T15:20', '90');
    await of.use('03-12T08:00', '130');
    expect(rows(await preview(of))).toEqual(['60 290 60']);
    const stored = await draft(of);
    const { body } = await world.api.get(
      `/v1/invoices/${stored.id}/lines/${stored.line_items[0].id}/explanation`,
    );
    expect(body.explanation.steps).toMatchObject([
      { step: 'usage', quantity: '350' },
      {
        ...{ step: 'quota', free: '290', billable: '60', outside: '0', omitted: null },
        windows: [
          { start: at('03-10T10:20'), end: at('03-10T15:20'), quota: '100', used: '130', over: '30' },
          { start: at('03-10T15:20'), end: at('03-10T20:20'), used: '90', over: '0' },
          { entitlement_id: of.entitlement.id, used: '130', exhausted_at: at('03-12T08:00') },
        ],
      },
      { step: 'rate', quantity: '60' },
      { step: 'rounding' },
    ]); // prettier-ignore
    const [invoice] = await closed(of, '04-01');
    expect(rows(invoice)).toEqual(['60 290 60']);
  });

  test('late usage moves the windows of a period that is not billed yet', async () => {
    const of = await granted();
    await of.use('03-10T10:00', '90');
    await of.use('03-10T14:00', '90');
    expect(rows(await preview(of))).toEqual(['80 100 80']);
    await of.use('03-10T08:00', '10');
    expect(rows(await preview(of))).toEqual(['0 190 0']);
  });

  test.each`
    name                                       | terms                                                                   | expected
    ${'the start of the hour'}                 | ${{ grant_allocation_behavior: 'unit_start' }}                          | ${'30 230 30'}
    ${'a day'}                                 | ${{ grant_duration_unit: 'day', grant_duration_value: 1 }}              | ${'60 200 60'}
    ${'a week'}                                | ${{ grant_duration_unit: 'week', grant_duration_value: 1 }}             | ${'160 100 160'}
    ${'the period'}                            | ${{ grant_duration_unit: 'subscription_period', grant_duration_value: null }} | ${'160 100 160'}
    ${'as long as the period: counts nothing'} | ${{ grant_duration_unit: 'week', grant_duration_value: 5 }}             | ${'260 0 260'}
  `('$name', async ({ terms, expected }) => {
    const of = await granted({ ...FIVE_HOURS, ...terms });
    for (const [time, value] of [
      ['03-10T10:20', '90'],
      ['03-10T15:10', '70'],
      ['03-12T15:10', '100'],
    ] as const)
      await of.use(time, value);
    // From 10:00 to 15:00 the unit holds 90, and from 15:00 on 70.
    const shown = terms.grant_allocation_behavior === undefined ? expected : '0 260 0';
    expect(rows(await preview(of))).toEqual([shown]);
  }); // prettier-ignore

  test('a week of the unit lasts seven days from a period that begins within it (money 7.7)', async () => {
    const week = { grant_duration_unit: 'week', grant_duration_value: 1 };
    const of = await granted({ ...FIVE_HOURS, ...week, grant_allocation_behavior: 'unit_start' });
    // March begins on a Sunday: one window until the next Sunday.
    await of.use('03-01T10:00', '90');
    await of.use('03-02T10:00', '60');
    await of.use('03-08T10:00', '100');
    expect(rows(await preview(of))).toEqual(['50 200 50']);
  });

  test.each([
    ['is the window of the next period', '22:00', '04-01T00:00', ['0 60 0', '0 60 0']],
    ['of half an hour belongs to the window before it', '18:30', '03-31T23:45', ['20 100 20']],
    ['of an hour does not', '18:00', '03-31T23:45', ['0 120 0']],
  ] as const)('the rest of a cycle: usage %s (money 7.7)', async (_, first, second, expected) => {
    const of = await granted();
    await of.use(`03-31T${first}`, '60');
    await of.use(second, '60');
    const invoices = await closed(of, '05-01T02:00');
    const billed = invoices.filter(({ billing_reason }) => billing_reason === 'SUBSCRIPTION_CYCLE');
    const used = billed.toReversed().flatMap(rows);
    expect(used.filter((row) => row !== '0 0 0')).toEqual(expected);
  });

  test('a day lasts until the same hour of the wall clock (money 7.7)', async () => {
    const day = { grant_duration_unit: 'day', grant_duration_value: 1 };
    const of = await granted({ ...FIVE_HOURS, ...day }, {}, { timezone: 'Europe/Berlin' });
    // From noon of the 28th in Berlin; in the night the clocks go forward, and noon is an hour earlier.
    await of.use('03-28T11:00', '100');
    await of.use('03-29T09:59', '5');
    await of.use('03-29T10:00', '100');
    expect(rows(await preview(of))).toEqual(['5 200 5']);
  });

  test('tiers begin at the first unit beyond, and windows of a price are rated alone', async () => {
    const tiers = [
      { up_to: 10, unit_amount: '1' },
      { up_to: null, unit_amount: '0.5' },
    ];
    const slab = { billing_model: 'TIERED', tier_mode: 'SLAB', tiers, amount: undefined };
    const plain = await granted(FIVE_HOURS, slab);
    const daily = await granted(FIVE_HOURS, { ...slab, bucket_size: 'DAY' });
    for (const each of [plain, daily]) {
      await each.use('03-10T10:00', '120');
      await each.use('03-11T10:00', '120');
    }
    expect(rows(await preview(plain))).toEqual(['40 200 25']);
    expect(rows(await preview(daily))).toEqual(['40 200 30']);
  });

  test('lines of one meter use the same windows', async () => {
    const of = await granted();
    await world.catalog.usage(of.plan, of.meter, {
      ...{ display_name: 'Calls eu', amount: '2' },
      filter_values: { region: ['eu'] },
    });
    await completeBackfills(world.api.pool);
    const subscription = await world.catalog.subscribe(of.customer, of.plan, {
      start_date: at('03-01'),
    });
    await of.use('03-10T10:00', '80');
    await of.use('03-10T11:00', '50', { region: 'eu' });
    await of.use('03-10T12:00', '7');
    expect(rows(await preview({ subscription })).toSorted()).toEqual(['30 20 60', '7 80 7']);
  });
});

describe('several quotas', () => {
  /** The plan's quota beside one of an addon. */
  async function withAddon(terms: object, quantity: number, own: object = FIVE_HOURS) {
    const of = await granted(own);
    const addon = await world.api.postOk('/v1/addons', {
      name: 'Pack',
      lookup_key: `pack-${(count += 1)}`,
    });
    const extra = await entitle('ADDON', addon.id, of.calls.id, terms);
    await world.catalog.fixed(addon, '1', { entity_type: 'ADDON', entity_id: addon.id });
    const attached = await world.api.post('/v1/subscriptions/addon', {
      ...{ subscription_id: of.subscription.id, addon_id: addon.id, quantity },
      start_date: at('03-01'),
    });
    return { ...of, extra, attached };
  }

  test('of an addon count once per unit of it', async () => {
    const of = await withAddon({ ...FIVE_HOURS, grant_quota: '30' }, 2);
    expect(of.attached.status).toBe(200);
    await of.use('03-10T10:00', '200');
    expect(rows(await preview(of))).toEqual(['40 160 40']);
  });

  test('in parallel: a unit that is beyond both is billed once', async () => {
    const parallel = { ...FIVE_HOURS, aggregation_mode: 'parallel' };
    const weekly = { ...parallel, grant_quota: '130', grant_duration_unit: 'week' };
    const of = await withAddon({ ...weekly, grant_duration_value: 1 }, 1, parallel);
    for (const [time, value] of [
      ['03-10T00:00', '90'],
      ['03-10T01:00', '20'],
      ['03-10T02:00', '50'],
      ['03-10T06:00', '30'],
    ] as const)
      await of.use(time, value);
    // 100 are free; the week has 30 left at 02:00, but the five hours have none.
    expect(rows(await preview(of))).toEqual(['90 100 90']);
  });

  test.each([
    // 200 at once: 170 are beyond the 30 of the addon, whose windows are its own.
    ['length', { grant_duration_unit: 'week', grant_duration_value: 1 }],
    ['mode', { aggregation_mode: 'parallel' }],
  ])('a changed %s of the plan: the quota of the addon that does not fit any more has windows of its own', async (_what, change) => {
    const of = await withAddon({ ...FIVE_HOURS, grant_quota: '30' }, 1);
    await of.use('03-10T10:00', '200');
    expect(rows(await preview(of))).toEqual(['70 130 70']);
    const { status } = await world.api.put(`/v1/entitlements/${of.entitlement.id}`, change);
    expect(status).toBe(200);
    expect(rows(await preview(of))).toEqual(['170 30 170']);
    const [invoice] = await closed(of, '04-01');
    expect(rows(invoice)).toEqual(['170 30 170']);
  }); // prettier-ignore

  test.each([
    ['a limit beside a quota', { usage_limit: 5 }, 'a limit and a quota'],
    ['another mode', { ...FIVE_HOURS, aggregation_mode: 'parallel' }, 'additive and parallel quotas'],
    ['another length', { ...FIVE_HOURS, grant_duration_value: 6 }, 'additive quotas for windows of'],
  ])('refused: %s', async (_name, terms, message) => {
    const { attached } = await withAddon(terms, 1);
    expect(attached.status).toBe(400);
    expect(attached.body.message).toContain(message);
  }); // prettier-ignore
});

describe('changes', () => {
  test('a change of plan in mid-window: the window keeps its quota, the next one has the new one', async () => {
    const of = await granted();
    const to = await world.catalog.plan('Large');
    await entitle('PLAN', to.id, of.calls.id, { ...FIVE_HOURS, grant_quota: '150' });
    await world.catalog.usage(to, of.meter, { display_name: 'Calls', amount: '0.5' });
    await of.use('03-10T10:00', '90');
    world.api.clock.set(at('03-10T12:00'));
    const changed = await world.api.post(`/v1/subscriptions/${of.subscription.id}/change/v2/execute`, {
      ...{ target_plan_id: to.id, proration_behavior: 'none' },
    }); // prettier-ignore
    expect(changed.status).toBe(200);
    await of.use('03-10T13:00', '80');
    await of.use('03-10T15:00', '170');
    const [invoice] = await closed(of, '04-01');
    expect(rows(invoice).toSorted()).toEqual(['0 90 0', '90 160 45']);
  });

  test('a cancellation in mid-window bills the usage until then', async () => {
    const of = await granted();
    await of.use('03-10T10:00', '130');
    world.api.clock.set(at('03-10T12:00'));
    const { status } = await world.api.post(`/v1/subscriptions/${of.subscription.id}/cancel`, {
      cancellation_type: 'immediate',
    });
    expect(status).toBe(200);
    await of.use('03-10T13:00', '500');
    const { body } = await world.api.post('/v1/invoices/search', {
      ...{ subscription_id: of.subscription.id, expand: 'line_items' },
    });
    expect(body.items.flatMap(rows)).toEqual(['30 100 30']);
  });

  test('a quota that is changed after the period does not change its invoice', async () => {
    const of = await granted();
    await of.use('03-10T10:00', '130');
    world.api.clock.set(at('04-02'));
    const put = await world.api.put(`/v1/entitlements/${of.entitlement.id}`, {
      grant_quota: '0.5',
      grant_duration_value: 2,
    });
    expect(put.status).toBe(200);
    const [invoice] = await closed(of, '04-02');
    expect(rows(invoice)).toEqual(['30 100 30']);
    const cleared = await world.api.put(`/v1/entitlements/${of.entitlement.id}`, {
      clear_grant_config: true,
      usage_limit: 5,
    });
    expect(cleared.body).toMatchObject({ grant_quota: null, usage_limit: 5 });
    await of.use('04-03T10:00', '9');
    const april = { period_start: at('04-01'), period_end: at('05-01') };
    expect(rows(await preview(of, april))).toEqual(['4 5 4']);
    const again = await world.api.post(`/v1/invoices/${invoice.id}/compute`, {});
    expect(again.status).toBe(200);
    expect(rows((await world.api.get(`/v1/invoices/${invoice.id}`)).body)).toEqual(['30 100 30']);
  });

  test('an own quota of the subscription replaces that of the plan', async () => {
    const of = await granted();
    await entitle('SUBSCRIPTION', of.subscription.id, of.calls.id, {
      ...FIVE_HOURS,
      ...{ grant_quota: '7', parent_entitlement_id: of.entitlement.id },
    });
    await of.use('03-10T10:00', '10');
    expect(rows(await preview(of))).toEqual(['3 7 3']);
  });

  test('another tenant counts and sees nothing of it', async () => {
    const of = await granted();
    const stranger = await world.api.newCaller();
    expect((await stranger.get(`/v1/entitlements/${of.entitlement.id}`)).status).toBe(404);
    const put = await stranger.put(`/v1/entitlements/${of.entitlement.id}`, { grant_quota: '1' });
    expect(put.status).toBe(404);
    await of.use('03-10T10:00', '130');
    expect(rows(await preview(of))).toEqual(['30 100 30']);
  });
});

describe('what a customer sees (money 6.12, 7.4)', () => {
  const usageOf = async ({ customer }: Granted) => {
    const { status, body } = await world.api.get(`/v1/customers/${customer.id}/usage`);
    expect(status).toBe(200);
    return body.features[0];
  };

  test('the open window, and a fresh quota after its end', async () => {
    const of = await granted();
    const slot = {
      ...{ subscription_id: of.subscription.id, entitlement_id: of.entitlement.id, quota: '100' },
      ...{ used: '0', left: '100', status: 'active', window_start: null, window_end: null },
    };
    expect(await usageOf(of)).toMatchObject({ is_unlimited: false, quotas: [slot] });
    await of.use('03-30T22:00', '130');
    const [window_start, window_end] = [at('03-30T22:00'), at('03-31T03:00')];
    expect(await usageOf(of)).toMatchObject({
      ...{ total_limit: 100, current_usage: '130', usage_percent: '130' },
      ...{ is_unlimited: false, next_usage_reset_at: window_end },
      quotas: [{ ...slot, used: '130', left: '0', status: 'exhausted', window_start, window_end }],
    });
    world.api.clock.set(window_end);
    expect(await usageOf(of)).toMatchObject({ current_usage: '0', quotas: [slot] });
  });

  test('the configuration of each source', async () => {
    const of = await granted({ ...FIVE_HOURS, aggregation_mode: 'parallel' });
    const bucket = {
      ...{ ...FIVE_HOURS, grant_allocation_behavior: 'first_usage', usage_limit: null },
      ...{ entitlement_id: of.entitlement.id, source_entity_id: of.plan.id },
    };
    for (const path of [
      `/customers/${of.customer.id}/entitlements`,
      `/subscriptions/${of.subscription.id}/entitlements`,
    ]) {
      const { body } = await world.api.get(`/v1${path}`);
      expect(body.features[0].entitlement).toEqual({
        ...{ is_enabled: true, is_soft_limit: false, usage_limit: null, usage_reset_period: null },
        ...{ static_values: [], config_values: [], aggregation_mode: 'parallel' },
        buckets: [bucket],
      });
    }
  });
});
