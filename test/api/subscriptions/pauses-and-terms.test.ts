import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

const world = billingWorldFrom('2026-01-01T00:00:00.000Z');

const span = (row: any) => `${row.period_start.slice(5, 10)}..${row.period_end.slice(5, 10)}`;
const post = ({ id }: { id: string }, path: string, body: object = {}) =>
  world.api.postOk(`/v1/subscriptions/${id}/${path}`, body);
async function at(date: string) {
  world.api.clock.set(day(date));
  await world.close();
}
/** Pauses at a date, and resumes at another. */
async function pause(subscription: { id: string }, from: string, until: string) {
  await at(from);
  await post(subscription, 'pause', { pause_end: day(until) });
  await at(until);
}

/** Calls of a SUM meter; from 1 January. */
async function sold(price: object, more: (price: { id: string }) => object = () => ({})) {
  const { catalog } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  const calls = await catalog.usage(plan, meter, { display_name: 'Calls', ...price });
  await completeBackfills(world.api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('2026-01-01'),
    ...more(calls),
  });
  const use = (date: string, value: string) => world.usage.use(meter, customer, day(date), value);
  return { subscription, use, customer };
}

/** The rows of invoices of cycles, oldest first. */
async function cycles({ id }: { id: string }) {
  const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id, limit: 100 });
  return (body.items as any[])
    .filter(({ billing_reason }) => billing_reason === 'SUBSCRIPTION_CYCLE')
    .sort((left, right) => left.billing_sequence - right.billing_sequence)
    .map((invoice) =>
      invoice.line_items.map(
        (row: any) => `${row.display_name} ${row.quantity} ${row.amount} ${span(row)}`,
      ),
    );
}
const trueUps = async (subscription: { id: string }, amount: string) =>
  (await cycles(subscription)).map(
    (rows: string[]) => rows.filter((row) => row.includes(` ${amount} `)).length,
  );

const QUARTER = { commitment_duration: 'QUARTERLY', enable_true_up: true };

describe('a term that is longer than a period has as many periods as without pauses (billing 12.4, 6.4)', () => {
  test('a pause longer than a period', async () => {
    const { subscription, use } = await sold({ amount: '1' }, () => ({
      ...{ commitment_amount: '90', ...QUARTER },
    }));
    await use('2026-01-05', '10');
    await pause(subscription, '2026-01-11', '2026-03-21');
    for (const end of ['2026-04-11', '2026-05-11', '2026-06-11', '2026-07-11']) await at(end);
    expect(await trueUps(subscription, '80')).toEqual([0, 0, 1, 0]);
    for (const end of ['2026-08-11', '2026-09-11']) await at(end);
    expect(await trueUps(subscription, '90')).toEqual([0, 0, 0, 0, 0, 1]);
  });

  test('pauses in several periods of the term', async () => {
    const { subscription, use } = await sold({ amount: '1' }, () => ({
      ...{ commitment_amount: '90', ...QUARTER },
    }));
    await use('2026-01-05', '10');
    await pause(subscription, '2026-01-11', '2026-01-31');
    await pause(subscription, '2026-03-01', '2026-03-21');
    for (const end of ['2026-04-10', '2026-05-10', '2026-06-10']) await at(end);
    expect(await trueUps(subscription, '80')).toEqual([0, 0, 1, 0]);
  });

  test('a pause of months from the end of a period', async () => {
    const { subscription, use } = await sold({ amount: '1' }, () => ({
      ...{ commitment_amount: '90', ...QUARTER },
    }));
    await use('2026-01-05', '10');
    await post(subscription, 'pause', { pause_mode: 'period_end' });
    await at('2026-02-01');
    await at('2026-06-15');
    await post(subscription, 'resume');
    for (const end of ['2026-07-15', '2026-08-15', '2026-09-15']) await at(end);
    expect(await trueUps(subscription, '80')).toEqual([0, 0, 1, 0]);
  });

  test('on a calendar, periods that are paused from their start to their end do not count', async () => {
    const { subscription, use } = await sold({ amount: '1' }, () => ({
      ...{ billing_cycle: 'calendar', commitment_amount: '90', ...QUARTER },
    }));
    await use('2026-01-05', '10');
    await pause(subscription, '2026-01-11', '2026-04-05');
    for (const end of ['2026-05-01', '2026-06-01', '2026-07-01']) await at(end);
    const found = await trueUps(subscription, '80');
    expect(found.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(
      (await cycles(subscription)).findIndex((rows: string[]) =>
        rows.some((row) => row.includes(' 80 ')),
      ),
    ).toBe(
      (await cycles(subscription)).findIndex((rows: string[]) =>
        rows.some((row) => row.endsWith('05-01..06-01')),
      ),
    );
  });

  test('the commitment of a line: its last period of the term is paused, and the true-up is there once', async () => {
    const { subscription, use } = await sold({ amount: '1' }, ({ id }) => ({
      line_item_commitments: {
        [id]: {
          commitment_amount: '90',
          commitment_duration: 'QUARTERLY',
          enable_true_up: true,
          overage_factor: '2',
        },
      },
    }));
    await use('2026-03-05', '60');
    await use('2026-04-05', '50');
    for (const end of ['2026-02-01', '2026-03-01']) await at(end);
    await pause(subscription, '2026-03-11', '2026-03-21');
    await at('2026-04-11');
    // 110 of 90: 20 beyond, twice the price.
    expect((await cycles(subscription)).at(-1)).toEqual([
      'Calls 110 90 03-01..04-11',
      'Calls (Overage) 1 40 03-01..04-11',
    ]);
  });
});

describe('a pause that begins with the end of a period counts from its resumption on (billing 6.4)', () => {
  /** 90.00 a quarter of 90 days; the subscription ends after 75 of them. */
  async function upTo75Days() {
    const { subscription, use } = await sold({ amount: '1' }, () => ({
      ...{ end_date: day('2026-03-17'), proration_behavior: 'create_prorations' },
      ...{ commitment_amount: '90', commitment_duration: 'QUARTERLY', overage_factor: '2' },
    }));
    await use('2026-01-05', '100');
    await use('2026-02-20', '10');
    return subscription;
  }
  const JANUARY = ['Calls 75 75 01-01..02-01', 'Calls (Overage) 25 50 01-01..02-01'];

  test.each([
    ['at its own time', { pause_end: day('2026-02-11') }],
    ['by hand', {}],
  ])('the period before it has the share of 75 days, if the pause ends %s', async (_, end) => {
    const subscription = await upTo75Days();
    await post(subscription, 'pause', { pause_mode: 'period_end', ...end });
    await at('2026-02-01');
    expect(await cycles(subscription)).toEqual([JANUARY]);
    world.api.clock.set('2026-02-01T02:00:00.000Z');
    await world.finalize();
    expect(await cycles(subscription)).toEqual([JANUARY]);
  });

  test('the pause does not change it when it is computed again, and the later periods know the pause', async () => {
    const subscription = await upTo75Days();
    await post(subscription, 'pause', { pause_mode: 'period_end', pause_end: day('2026-02-11') });
    await at('2026-02-01');
    world.api.clock.set('2026-02-01T02:00:00.000Z');
    await world.finalize();
    await at('2026-02-11');
    const search = { subscription_id: subscription.id, invoice_status: ['FINALIZED'] };
    const { items } = await world.api.postOk('/v1/invoices/search', search);
    const january = items.find((one: any) => one.billing_reason === 'SUBSCRIPTION_CYCLE');
    await world.api.postOk(`/v1/invoices/${january.id}/recalculate`);
    expect(await cycles(subscription)).toEqual([JANUARY, JANUARY]);
    await at('2026-03-11');
    // 65.00 of 90.00 for the quarter: all of it was used before.
    expect((await cycles(subscription)).at(-1)).toEqual([
      'Calls 0 0 02-11..03-11',
      'Calls (Overage) 10 20 02-11..03-11',
    ]);
  });
});

describe('usage before and after a pause is that of one period (billing 3.3, 12.3)', () => {
  test('tiers go on after it', async () => {
    const { subscription, use } = await sold({
      ...{ billing_model: 'TIERED', tier_mode: 'SLAB' },
      tiers: [
        { up_to: 10, unit_amount: '1' },
        { up_to: null, unit_amount: '0.5' },
      ],
    });
    await use('2026-01-05', '8');
    await use('2026-01-15', '1000');
    await use('2026-01-25', '12');
    await pause(subscription, '2026-01-11', '2026-01-21');
    await at('2026-02-11');
    expect(await cycles(subscription)).toEqual([['Calls 20 15 01-01..02-11']]);
  });

  test('packages are counted once, also in a pause on a calendar', async () => {
    const { subscription, use } = await sold(
      {
        ...{ billing_model: 'PACKAGE', amount: '5' },
        transform_quantity: { divide_by: 10, round: 'up' },
      },
      () => ({ billing_cycle: 'calendar' }),
    );
    for (const [date, value] of [['2026-01-05', '3'], ['2026-01-15', '70'], ['2026-01-25', '4']] as const) await use(date, value); // prettier-ignore
    await pause(subscription, '2026-01-11', '2026-01-21');
    await at('2026-02-01');
    expect((await cycles(subscription))[0]).toEqual(['Calls 7 5 01-01..02-01']);
  });

  test('a commitment of the line counts once for the period', async () => {
    const { subscription, use } = await sold({ amount: '1' }, ({ id }) => ({
      line_item_commitments: {
        [id]: { commitment_amount: '50', enable_true_up: true, overage_factor: '2' },
      },
    }));
    await use('2026-01-05', '40');
    await use('2026-01-25', '40');
    await pause(subscription, '2026-01-11', '2026-01-21');
    await at('2026-02-11');
    expect(await cycles(subscription)).toEqual([['Calls 80 110 01-01..02-11']]);
  });

  test.each([
    ['in the period', '2026-01-21', 'none', 'Calls 40 50 01-01..02-01'],
    ['beyond its end', '2026-02-05', 'none', 'Calls 40 50 01-01..01-11'],
    ['beyond its end', '2026-02-05', 'create_prorations', 'Calls 40 40 01-01..01-11'],
  ])('on a calendar, and the pause ends %s (%s, %s)', async (_, until, proration_behavior, row) => {
    const { subscription, use } = await sold({ amount: '1' }, ({ id }) => ({
      ...{ billing_cycle: 'calendar', proration_behavior },
      line_item_commitments: { [id]: { commitment_amount: '50', enable_true_up: true } },
    }));
    await use('2026-01-05', '40');
    await pause(subscription, '2026-01-11', until);
    await at('2026-02-06');
    expect((await cycles(subscription))[0]).toEqual([row]);
  });

  test('on a calendar, the commitment of the subscription has the active time on both sides of a pause', async () => {
    const { subscription, use } = await sold({ amount: '1' }, () => ({
      ...{ billing_cycle: 'calendar', proration_behavior: 'create_prorations' },
      ...{ commitment_amount: '62', overage_factor: '2' },
    }));
    await use('2026-01-05', '50');
    await use('2026-02-20', '50');
    await pause(subscription, '2026-01-22', '2026-02-08');
    await at('2026-03-01');
    // 21 of 31 days: 42.00; 21 of 28 days: 46.50.
    expect(await cycles(subscription)).toEqual([
      ['Calls 42 42 01-01..01-22', 'Calls (Overage) 8 16 01-01..01-22'],
      ['Calls 46.5 46.5 02-08..03-01', 'Calls (Overage) 3.5 7 02-08..03-01'],
    ]);
  });

  test('weeks of a commitment go on from the anchor before the pause', async () => {
    const { subscription, use } = await sold({ amount: '1' }, ({ id }) => ({
      line_item_commitments: {
        [id]: { commitment_amount: '10', commitment_duration: 'WEEKLY', overage_factor: '2' },
      },
    }));
    await at('2026-02-01');
    // Weeks begin on 29 January and on 5 February: neither has more than 10.
    await use('2026-02-03', '8');
    await use('2026-02-06', '8');
    await pause(subscription, '2026-02-08', '2026-02-18');
    await at('2026-03-11');
    expect((await cycles(subscription)).at(-1)).toEqual(['Calls 16 16 02-01..03-11']);
  });

  test('windows of a commitment in the pause do not count', async () => {
    const { subscription, use } = await sold({ amount: '1' }, ({ id }) => ({
      line_item_commitments: {
        [id]: { commitment_amount: '2', commitment_duration: 'DAILY', enable_true_up: true },
      },
    }));
    await use('2026-01-05', '10');
    await use('2026-01-15', '10');
    await pause(subscription, '2026-01-11', '2026-01-21');
    await at('2026-02-11');
    // 31 days of service: 30 days at 2, and one with 10.
    expect(await cycles(subscription)).toEqual([['Calls 10 70 01-01..02-11']]);
  });

  /** A plan with a fee for a quarter and calls for a month, and a pause of two days and seven hours in March. */
  async function pausedQuarter(commitment: object, more: object = {}) {
    const { catalog } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '0', { billing_period: 'QUARTERLY', display_name: 'Base' });
    const calls = await catalog.usage(plan, await catalog.meter(), { display_name: 'Calls' });
    await completeBackfills(world.api.pool);
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      ...{ start_date: day('2026-01-01'), billing_period: 'QUARTERLY' },
      include_price_ids: [calls.id],
      line_item_commitments: { [calls.id]: { ...commitment, enable_true_up: true } },
      ...more,
    });
    await at('2026-03-03');
    const pause_end = '2026-03-05T07:00:00.000Z';
    await post(subscription, 'pause', { pause_end });
    world.api.clock.set(pause_end);
    await world.close();
    await at('2026-04-04');
    const [rows] = await cycles(subscription);
    return rows.filter((row: string) => row.startsWith('Calls'));
  }

  test('a pause does not move the windows of a commitment in earlier charge periods', async () => {
    // 31, 28 and 31 days at 2: those after the pause begin at 7 o'clock.
    expect(await pausedQuarter({ commitment_amount: '2', commitment_duration: 'DAILY' })).toEqual([
      'Calls 0 62 01-01..02-01',
      'Calls 0 56 02-01..03-01',
      'Calls 0 62 03-01..04-03',
    ]);
  });

  test('a week of a commitment is not longer by the pause in the part that another charge period has', async () => {
    // Weeks begin on Thursdays: 3 days of the one from 26 February are in that month, 4 in March.
    expect(
      await pausedQuarter(
        { commitment_amount: '7', commitment_duration: 'WEEKLY' },
        { proration_behavior: 'create_prorations' },
      ),
    ).toEqual(['Calls 0 31 01-01..02-01', 'Calls 0 28 02-01..03-01', 'Calls 0 31 03-01..04-03']);
  });

  /** A plan of calls at 1 with an entitlement, and a customer on it. */
  async function granted(entitlement: object, more: object = {}) {
    const { catalog, api } = world;
    const plan = await catalog.plan();
    const meter = await catalog.meter();
    await catalog.usage(plan, meter, { display_name: 'Calls', amount: '1' });
    const feature = await api.post('/v1/features', {
      ...{ name: `Calls of ${meter.id}`, type: 'metered', meter_id: meter.id },
    });
    const created = await api.post('/v1/entitlements', {
      ...{ entity_type: 'PLAN', entity_id: plan.id, feature_id: feature.body.id },
      ...{ feature_type: 'metered', ...entitlement },
    });
    expect([feature.status, created.status]).toEqual([201, 201]);
    await completeBackfills(api.pool);
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, {
      start_date: day('2026-01-01'),
      ...more,
    });
    const use = (date: string, value: string) => world.usage.use(meter, customer, day(date), value);
    return { subscription, use, customer };
  }

  test.each<[string, object, string, string | null]>([
    ['a month', { usage_reset_period: 'MONTHLY' }, '16', day('2026-02-11')],
    ['each charge period', {}, '16', null],
    ['a week', { usage_reset_period: 'WEEKLY' }, '8', day('2026-02-01')],
    ['a year', { usage_reset_period: 'ANNUAL' }, '16', null],
  ])('the used part of an allowance of %s has no usage of the pause', async (...values) => {
    const [, reset, used, next] = values;
    const { subscription, use, customer } = await granted({ usage_limit: 100, ...reset });
    await use('2026-01-05', '8');
    await use('2026-01-15', '1000');
    await use('2026-01-26', '8');
    await pause(subscription, '2026-01-11', '2026-01-21');
    await at('2026-01-27');
    const { body } = await world.api.get(`/v1/customers/${customer.id}/usage`);
    expect(body.features).toMatchObject([{ current_usage: used, next_usage_reset_at: next }]);
  });

  test('weeks of an allowance go on from the anchor before the pause', async () => {
    const { subscription, use } = await granted({ usage_limit: 10, usage_reset_period: 'WEEKLY' });
    await at('2026-02-01');
    await use('2026-02-03', '8');
    await use('2026-02-06', '13');
    await pause(subscription, '2026-02-08', '2026-02-18');
    await at('2026-03-11');
    expect((await cycles(subscription)).at(-1)).toEqual(['Calls 3 3 02-01..03-11']);
  });

  test('usage before the subscription takes nothing of an allowance whose week began earlier', async () => {
    const { subscription, use } = await granted(
      { usage_limit: 10, usage_reset_period: 'WEEKLY' },
      { billing_anchor: day('2026-01-12') },
    );
    // The first week began on 29 December.
    await use('2025-12-30', '20');
    await use('2026-01-03', '8');
    await pause(subscription, '2026-01-06', '2026-01-08');
    await at('2026-01-14');
    expect((await cycles(subscription)).at(-1)).toEqual(['Calls 0 0 01-01..01-14']);
  });

  test('the used part of a quota has no usage of the pause', async () => {
    const { subscription, use, customer } = await granted({
      ...{ grant_measure: 'quantity', grant_quota: '100', aggregation_mode: 'additive' },
      ...{ grant_duration_value: 1, grant_duration_unit: 'subscription_period' },
      ...{ grant_allocation_behavior: 'first_usage' },
    });
    await use('2026-01-05', '8');
    await use('2026-01-15', '50');
    await use('2026-01-26', '8');
    await pause(subscription, '2026-01-11', '2026-01-21');
    await at('2026-01-27');
    const { body } = await world.api.get(`/v1/customers/${customer.id}/usage`);
    expect(body.features[0].quotas).toMatchObject([{ used: '16', left: '84' }]);
  });

  const ONCE_IN_A_PERIOD: [string, object][] = [
    ['an allowance of each period', { usage_limit: 10, usage_reset_period: 'MONTHLY' }],
    ['an allowance without a reset', { usage_limit: 10 }],
    [
      'a quota of each period',
      {
        ...{ grant_measure: 'quantity', grant_quota: '10', aggregation_mode: 'additive' },
        ...{ grant_duration_value: 1, grant_duration_unit: 'subscription_period' },
        ...{ grant_allocation_behavior: 'first_usage' },
      },
    ],
  ];

  test.each(ONCE_IN_A_PERIOD)(
    '%s is there once for a line whose terms change before a pause',
    async (_, entitlement) => {
      const { subscription, use } = await granted(entitlement);
      await use('2026-01-03', '8');
      await use('2026-01-07', '1');
      await use('2026-01-25', '3');
      await at('2026-01-05');
      const [line] = subscription.line_items;
      const answer = await world.api.put(`/v1/subscriptions/lineitems/${line.id}`, { amount: '2' });
      expect(answer.status).toBe(200);
      await pause(subscription, '2026-01-11', '2026-01-21');
      await at('2026-02-11');
      expect(await cycles(subscription)).toEqual([
        ['Calls 0 0 01-01..01-05', 'Calls 2 4 01-05..02-11'],
      ]);
    },
  );

  test.each(ONCE_IN_A_PERIOD)('%s is there once in the longer period', async (_, entitlement) => {
    const { subscription, use } = await granted(entitlement);
    await use('2026-01-05', '8');
    await use('2026-01-15', '1000');
    await use('2026-01-25', '8');
    await use('2026-02-20', '11');
    await pause(subscription, '2026-01-11', '2026-01-21');
    await at('2026-02-11');
    await at('2026-03-11');
    expect(await cycles(subscription)).toEqual([
      ['Calls 6 6 01-01..02-11'],
      ['Calls 1 1 02-11..03-11'],
    ]);
  });

  test('usage of the pause does not use an allowance that is longer than a period (12.3)', async () => {
    const { subscription, use } = await granted({
      ...{ usage_limit: 100, usage_reset_period: 'ANNUAL' },
    });
    await use('2026-01-05', '30');
    await use('2026-01-15', '1000');
    await use('2026-02-20', '80');
    await pause(subscription, '2026-01-11', '2026-01-21');
    await at('2026-02-11');
    await at('2026-03-11');
    expect(await cycles(subscription)).toEqual([
      ['Calls 0 0 01-01..02-11'],
      ['Calls 10 10 02-11..03-11'],
    ]);
  });
});

test('windows of months of an earlier period keep its anchor when it is computed again (billing 2.4, 12.4)', async () => {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter({ type: 'MAX', field: 'v' });
  await catalog.usage(plan, meter, { display_name: 'Peak', amount: '1', bucket_size: 'MONTH' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, { start_date: day('2026-01-01') });
  await world.usage.use(meter, customer, day('2026-01-05'), '5');
  await world.usage.use(meter, customer, day('2026-01-20'), '7');
  await at('2026-02-01');
  await pause(subscription, '2026-02-05', '2026-02-15');
  const { body } = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
  const again = `/v1/invoices/${body.items[0].id}/recalculate-v2?finalize=false`;
  expect((await api.post(again, {})).status).toBe(200);
  expect(await cycles(subscription)).toEqual([['Peak 7 7 01-01..02-01']]);
});

describe('a window of a month in a period that a pause made longer (billing 2.4, 12.4)', () => {
  const MONTHS = {
    ...{ billing_model: 'TIERED', tier_mode: 'SLAB', bucket_size: 'MONTH' },
    tiers: [
      { up_to: 10, unit_amount: '1' },
      { up_to: null, unit_amount: '0.5' },
    ],
  };

  test('is as long as the period, and is rated once', async () => {
    const { subscription, use } = await sold(MONTHS);
    for (const [date, value] of [['2026-01-05', '8'], ['2026-01-15', '99'], ['2026-02-05', '12'], ['2026-02-15', '4']] as const) await use(date, value); // prettier-ignore
    await pause(subscription, '2026-01-11', '2026-01-21');
    await at('2026-02-11');
    await at('2026-03-11');
    expect(await cycles(subscription)).toEqual([
      ['Calls 20 15 01-01..02-11'],
      ['Calls 4 4 02-11..03-11'],
    ]);
  });

  test('counts for its commitment once, and whole', async () => {
    const { subscription, use } = await sold(MONTHS, ({ id }) => ({
      proration_behavior: 'create_prorations',
      line_item_commitments: {
        [id]: {
          ...{ commitment_amount: '62', overage_factor: '2' },
          ...{ enable_true_up: true, is_window_commitment: true },
        },
      },
    }));
    await use('2026-01-05', '40');
    await pause(subscription, '2026-01-11', '2026-01-21');
    await at('2026-02-11');
    expect(await cycles(subscription)).toEqual([['Calls 40 62 01-01..02-11']]);
  });

  test('of a quarter: as many months as without the pause', async () => {
    const quarter = { billing_period: 'QUARTERLY' };
    const { subscription, use } = await sold({ ...MONTHS, ...quarter }, () => quarter);
    for (const [date, value] of [['2026-01-05', '12'], ['2026-02-05', '12'], ['2026-02-11', '6'], ['2026-03-10', '8']] as const) await use(date, value); // prettier-ignore
    await pause(subscription, '2026-01-11', '2026-01-21');
    await at('2026-04-11');
    // 24 units in the first month, 14 in the second.
    expect(await cycles(subscription)).toEqual([['Calls 38 29 01-01..04-11']]);
  });
});

describe('changes after a pause, in the period that it made longer (billing 5.3, 12.4)', () => {
  async function seats() {
    const { catalog } = world;
    const plan = await catalog.plan();
    const price = await catalog.fixed(plan, '31', { display_name: 'Seat' });
    await catalog.fixed(plan, '62', { display_name: 'Support', invoice_cadence: 'ARREAR' });
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, {
      start_date: day('2026-01-01'),
      proration_behavior: 'create_prorations',
    });
    await pause(subscription, '2026-01-11', '2026-01-21');
    return { subscription, price, customer };
  }
  const credited = async ({ id }: { id: string }) =>
    (await world.api.get(`/v1/customers/${id}/wallets`)).body.map(
      ({ balance }: { balance: string }) => balance,
    );

  test('a cancellation credits the days that are left of the paid ones, and arrears pay the active ones', async () => {
    const { subscription, customer } = await seats();
    await at('2026-01-31');
    await post(subscription, 'cancel', { cancellation_type: 'immediate' });
    // 20 of 31 days are over.
    expect(await credited(customer)).toEqual(['11']);
    const { body } = await world.api.post('/v1/invoices/search', {
      subscription_id: subscription.id,
    });
    const rows = body.items.flatMap(({ line_items }: any) => line_items);
    expect(
      rows.filter((row: any) => row.display_name === 'Support').map((row: any) => row.amount),
    ).toEqual(['40']);
  });

  test('more seats: the difference for the days that are left', async () => {
    const { subscription } = await seats();
    await at('2026-01-31');
    const { line_items } = (await world.api.get(`/v1/subscriptions/${subscription.id}`)).body;
    const seat = line_items.find(({ display_name }: any) => display_name === 'Seat');
    await post(subscription, 'modify/execute', {
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: seat.id, quantity: '3' }] },
    });
    const { body } = await world.api.post('/v1/invoices/search', {
      subscription_id: subscription.id,
    });
    const updates = body.items.filter(
      ({ billing_reason }: any) => billing_reason === 'SUBSCRIPTION_UPDATE',
    );
    expect(updates.map(({ subtotal }: any) => subtotal)).toEqual(['22']);
  });
});

describe('a coupon that counts periods discounts as many as without the pause (billing 12.4)', () => {
  /** Discounts of the opening invoice and of cycles, oldest first, of a fee of 31.00. */
  async function discounts(more: object, from: string, until: string, ends: readonly string[]) {
    const { api, catalog } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '31');
    const { body: coupon } = await api.post('/v1/coupons', {
      ...{ name: 'Off', type: 'percentage', percentage_off: '10' },
      ...{ cadence: 'repeated', duration_in_periods: 2 },
    });
    api.clock.set(day('2026-07-01'));
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      ...{ start_date: day('2026-07-01'), coupons: [coupon.id] },
      ...more,
    });
    await pause(subscription, from, until);
    for (const end of ends) await at(end);
    const { body } = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
    return body.items
      .sort((left: any, right: any) => left.billing_sequence - right.billing_sequence)
      .map((invoice: any) => invoice.total_discount);
  }

  test('the periods after the pause are shorter than those before it', async () => {
    const ends = ['2026-09-15', '2026-10-15', '2026-11-15'];
    expect(await discounts({}, '2026-07-11', '2026-08-25', ends)).toEqual(['3.1', '3.1', '0', '0']);
  });

  test('the end of the coupon passes in a pause from the end of a period', async () => {
    const { catalog } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '31');
    const coupon = await world.api.postOk('/v1/coupons', {
      ...{ name: 'Off', type: 'percentage', percentage_off: '10' },
      ...{ cadence: 'repeated', duration_in_periods: 2 },
    });
    world.api.clock.set(day('2026-07-01'));
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      ...{ start_date: day('2026-07-01'), coupons: [coupon.id] },
    });
    await post(subscription, 'pause', { pause_mode: 'period_end' });
    await at('2026-08-01');
    await at('2026-09-15');
    await post(subscription, 'resume', { resume_mode: 'immediate' });
    await at('2026-10-15');
    const { items } = await world.api.postOk('/v1/invoices/search', {
      subscription_id: subscription.id,
    });
    const discounted = items.map((invoice: any) => [
      `${invoice.period_start.slice(5, 10)}..${invoice.period_end.slice(5, 10)}`,
      invoice.total,
      invoice.total_discount,
    ]);
    expect(discounted).toContainEqual(['09-15..10-15', '27.9', '3.1']);
    expect(discounted).toContainEqual(['07-01..08-01', '27.9', '3.1']);
    expect(discounted[0]).toEqual(['09-15..10-15', '31', '0']);
  });

  test('on a calendar, whose periods do not move', async () => {
    const calendar = { billing_cycle: 'calendar' };
    const ends = ['2026-08-01', '2026-09-01', '2026-10-01'];
    expect(await discounts(calendar, '2026-07-11', '2026-07-21', ends)).toEqual([
      ...['3.1', '3.1', '0', '0'],
    ]);
  });

  test('on a calendar, a period that is paused as a whole does not count', async () => {
    const calendar = { billing_cycle: 'calendar' };
    const ends = ['2026-10-01', '2026-11-01', '2026-12-01'];
    expect(await discounts(calendar, '2026-07-11', '2026-09-11', ends)).toEqual([
      // July; its cycle, in the pause; September from its 11th on; September to November.
      ...['3.1', '0', '2.07', '0', '0', '0'],
    ]);
  });
});

describe('an addon that ends with a period ends with it when a pause makes it longer (billing 15)', () => {
  async function withAddon() {
    const { catalog } = world;
    const { subscription, customer } = await sold({ amount: '0.50' });
    const { body: addon } = await world.api.post('/v1/addons', {
      ...{ name: 'Seats', lookup_key: `seats-${subscription.id}` },
    });
    const owner = { id: addon.id, entity_type: 'ADDON' };
    const meter = await catalog.meter();
    for (const [display_name, terms] of [
      ['Seats', { type: 'FIXED', invoice_cadence: 'ARREAR', amount: '31' }],
      ['Sends', { type: 'USAGE', invoice_cadence: 'ARREAR', amount: '2', meter_id: meter.id }],
    ] as const) {
      const price = {
        ...{ entity_id: owner.id, entity_type: owner.entity_type, display_name, ...terms },
        ...{ billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', currency: 'usd' },
      };
      expect((await world.api.post('/v1/prices', price)).status).toBe(201);
    }
    await completeBackfills(world.api.pool);
    const use = (date: string, value: string) => world.usage.use(meter, customer, day(date), value);
    const modify = (addon_params: object) =>
      post(subscription, 'modify/execute', { type: 'addon', addon_params });
    const attach = (more: object = {}) =>
      modify({ action: 'add', add: { addon_id: addon.id, ...more } });
    const associations = async () => {
      const path = `/v1/subscriptions/${subscription.id}/addons/associations`;
      const { body } = await world.api.get(path);
      return (body.items ?? body) as any[];
    };
    return { subscription, customer, addon, use, modify, attach, associations };
  }

  test('none is attached in the pause, which charges nothing', async () => {
    const { subscription, addon, associations } = await withAddon();
    await post(subscription, 'pause', { pause_mode: 'immediate' });
    const refusal = { status: 400, body: { details: [{ path: 'subscription_status' }] } };
    const direct = { subscription_id: subscription.id, addon_id: addon.id };
    expect(await world.api.post('/v1/subscriptions/addon', direct)).toMatchObject(refusal);
    const modify = { type: 'addon', addon_params: { action: 'add', add: { addon_id: addon.id } } };
    const path = `/v1/subscriptions/${subscription.id}/modify`;
    expect(await world.api.post(`${path}/preview`, modify)).toMatchObject(refusal);
    expect(await world.api.post(`${path}/execute`, modify)).toMatchObject(refusal);
    expect(await associations()).toEqual([]);
    await post(subscription, 'resume', {});
    expect(await world.api.post('/v1/subscriptions/addon', direct)).toMatchObject({ status: 200 });
  });

  test('bought once: it serves the longer period, and no other', async () => {
    const { subscription, use, attach, associations } = await withAddon();
    await attach({ cadence: 'onetime' });
    await pause(subscription, '2026-01-11', '2026-01-21');
    await use('2026-02-05', '3');
    expect((await associations())[0]).toMatchObject({ end_date: day('2026-02-11') });
    await at('2026-02-11');
    await at('2026-03-11');
    expect(await cycles(subscription)).toEqual([
      ['Seats 1 31 01-01..02-11', 'Calls 0 0 01-01..02-11', 'Sends 3 6 01-01..02-11'],
      ['Calls 0 0 02-11..03-11'],
    ]);
  });

  test('bought once: its credits are given until the end of the longer period', async () => {
    const { subscription, customer, addon, attach } = await withAddon();
    const grant = await world.api.post('/v1/creditgrants', {
      ...{ name: 'Weekly', scope: 'ADDON', addon_id: addon.id, credits: '5' },
      ...{ cadence: 'RECURRING', period: 'WEEKLY', period_count: 1, expiration_type: 'NEVER' },
    });
    expect(grant.status).toBe(201);
    await attach({ cadence: 'onetime' });
    const search = { subscription_ids: [subscription.id] };
    const ends = async () =>
      (await world.api.post('/v1/creditgrants/search', search)).body.items.map(
        ({ end_date }: any) => end_date,
      );
    expect(await ends()).toEqual([day('2026-02-01')]);
    await pause(subscription, '2026-01-11', '2026-01-21');
    expect(await ends()).toEqual([day('2026-02-11')]);
    const balanceAt = async (date: string) => {
      await at(date);
      await world.run('apply-credit-grants');
      const { body } = await world.api.get(`/v1/customers/${customer.id}/wallets`);
      return Number(body[0].balance);
    };
    const before = await balanceAt('2026-01-28');
    // The week from 1 February, which the pause moved, fits in the longer period only; that from 8 February in none.
    expect((await balanceAt('2026-02-10')) - before).toBe(5);
    expect((await balanceAt('2026-03-01')) - before).toBe(5);
  });

  test('removed at the end of the period: the same', async () => {
    const { subscription, use, attach, modify, associations } = await withAddon();
    await attach();
    const [{ id }] = await associations();
    await modify({ action: 'remove', remove: { addon_association_id: id } });
    await pause(subscription, '2026-01-11', '2026-01-21');
    await use('2026-02-05', '3');
    await at('2026-02-11');
    expect((await cycles(subscription))[0]).toContain('Sends 3 6 01-01..02-11');
  });

  test('bought once for a later period: it ends with the one in which it starts after the pause', async () => {
    const { subscription, attach, associations } = await withAddon();
    await attach({ cadence: 'onetime', start_date: day('2026-03-15') });
    expect((await associations())[0]).toMatchObject({ end_date: day('2026-04-01') });
    await pause(subscription, '2026-01-11', '2026-01-21');
    expect((await associations())[0]).toMatchObject({ end_date: day('2026-04-11') });
  });

  test('removed at a date within the period: it ends then', async () => {
    const { subscription, attach, modify, associations } = await withAddon();
    await attach();
    const [{ id }] = await associations();
    const remove = { addon_association_id: id, effective_date: day('2026-01-25') };
    await modify({ action: 'remove', remove });
    await pause(subscription, '2026-01-11', '2026-01-21');
    expect((await associations())[0]).toMatchObject({ end_date: day('2026-01-25') });
  });
});

test('a month over weeks is longer by the pause: each week has its share of it (billing 2.4, 12.4)', async () => {
  world.api.clock.set(day('2026-02-01'));
  const { subscription } = await sold(
    { billing_period: 'WEEKLY', bucket_size: 'MONTH' },
    ({ id }) => ({
      ...{ billing_period: 'WEEKLY', proration_behavior: 'create_prorations' },
      start_date: day('2026-02-01'),
      line_item_commitments: {
        [id]: { commitment_amount: '28', is_window_commitment: true, enable_true_up: true },
      },
    }),
  );
  await pause(subscription, '2026-02-03', '2026-02-06');
  await at('2026-02-11');
  // 7 of 28 days; with the pause, the month ends three days later.
  expect(await cycles(subscription)).toEqual([['Calls 0 7 02-01..02-11']]);
});
