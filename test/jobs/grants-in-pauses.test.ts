import { billingWorldFrom } from '../support/billing-world.ts';
import { day } from '../support/day.ts';

/** Credits of grants around pauses (money 5.4, billing 12.3, 12.4). */
const world = billingWorldFrom(day('2026-01-01'));

/** From 1 January, 31.00 a month in advance with 100 credits a month, or with another grant. */
async function subscribed(grant: object = {}, more: object = {}) {
  const { catalog } = world;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '31', { invoice_cadence: 'ADVANCE' });
  await world.api.postOk('/v1/creditgrants', {
    ...{ name: 'Credits', scope: 'PLAN', plan_id: plan.id, credits: '100' },
    ...{ cadence: 'RECURRING', period: 'MONTHLY', period_count: 1, expiration_type: 'NEVER' },
    ...grant,
  });
  const customer = await catalog.customer();
  const start = { start_date: day('2026-01-01') };
  const subscription = await catalog.subscribe(customer, plan, { ...start, ...more });
  return { customer, subscription };
}
type Subscribed = Awaited<ReturnType<typeof subscribed>>;

const pause = ({ subscription }: Subscribed, body: object = {}) =>
  world.api.postOk(`/v1/subscriptions/${subscription.id}/pause`, body);
const resume = ({ subscription }: Subscribed) =>
  world.api.postOk(`/v1/subscriptions/${subscription.id}/resume`);
const clockTo = (at: string) => world.api.clock.set(at.length === 10 ? day(at) : at);
async function credits(at: string) {
  clockTo(at);
  await world.run('apply-credit-grants');
}
async function periods(at: string) {
  clockTo(at);
  for (;;) if ((await world.close())?.['advanced'] === 0) return;
}
/** Both jobs at each of the days, the credits first, which is the harder order. */
async function until(...days: string[]) {
  for (const date of days) {
    await credits(date);
    await periods(date);
    await credits(date);
  }
}
/** The periods for which credits were given, with the end of those that expire, oldest first. */
async function given({ subscription, customer }: Subscribed): Promise<string[]> {
  const rows = await world.api.pool<{ period_start: string; application_status: string }[]>`
    select period_start, application_status from credit_grant_applications
     where subscription_id = ${subscription.id} and application_status = 'applied'
     order by period_start`;
  const { items } = await world.api.postOk('/v1/wallets/transactions/search', {
    ...{ customer_id: customer.id, transaction_reason: 'SUBSCRIPTION_CREDIT_GRANT', limit: 100 },
  });
  const ends = items.map(({ expiry_date }: any) => expiry_date).reverse();
  expect(ends).toHaveLength(rows.length);
  return rows.map(
    ({ period_start }, index) =>
      period_start.slice(5, 10) + (ends[index] === null ? '' : ` to ${ends[index].slice(5, 10)}`),
  );
}
const upcoming = async ({ subscription }: Subscribed) => {
  const { body } = await world.api.get(`/v1/subscriptions/${subscription.id}/grants/upcoming`);
  return body.items.map(({ period_start, period_end }: any) => [
    period_start.slice(0, 10),
    period_end.slice(0, 10),
  ]);
};

describe('a late job decides by the time at which the credits were due (money 5.4.2)', () => {
  test('a period that began before the pause is given', async () => {
    const one = await subscribed({}, { billing_cycle: 'calendar' });
    await periods('2026-02-01');
    clockTo('2026-02-01T00:05:00.000Z');
    await pause(one);
    await credits('2026-02-01T00:15:00.000Z');
    expect(await given(one)).toEqual(['01-01', '02-01']);
  });

  test('a period that began in the pause is lost on a calendar, also after the resumption', async () => {
    const one = await subscribed({}, { billing_cycle: 'calendar' });
    clockTo('2026-01-20');
    await pause(one, { pause_end: day('2026-02-03') });
    await periods('2026-02-03');
    await credits('2026-02-04');
    expect(await given(one)).toEqual(['01-01']);
    await until('2026-03-01');
    expect(await given(one)).toEqual(['01-01', '03-01']);
  });

  test('a planned pause that begins with a period takes its credits, whichever job is first', async () => {
    const one = await subscribed();
    await pause(one, { pause_mode: 'scheduled', pause_start: day('2026-02-01') });
    await until('2026-02-01');
    expect(await given(one)).toEqual(['01-01']);
  });
});

describe('periods of grants move with those of the subscription (billing 12.4)', () => {
  test('a pause of ten days: the next credits come ten days later, with the next period', async () => {
    const one = await subscribed({ expiration_type: 'BILLING_CYCLE' });
    clockTo('2026-01-11');
    await pause(one, { pause_end: day('2026-01-21') });
    await periods('2026-01-21');
    expect(await upcoming(one)).toEqual([['2026-02-11', '2026-03-11']]);
    await until('2026-02-01', '2026-02-11', '2026-03-01', '2026-03-11');
    expect(await given(one)).toEqual(['01-01 to 02-01', '02-11 to 03-11', '03-11 to 04-11']);
  });

  test('a pause of months: one period is paid, and its credits are given once', async () => {
    const one = await subscribed();
    clockTo('2026-01-11');
    await pause(one);
    await until('2026-02-01', '2026-03-01');
    clockTo('2026-03-05');
    await resume(one);
    expect(await upcoming(one)).toEqual([['2026-03-26', '2026-04-26']]);
    await until('2026-03-05', '2026-03-26', '2026-04-01', '2026-04-26');
    expect(await given(one)).toEqual(['01-01', '03-26', '04-26']);
  });

  test('a pause from the end of a period: the new period begins with its credits', async () => {
    const one = await subscribed();
    await pause(one, { pause_mode: 'period_end' });
    await until('2026-02-01', '2026-03-01');
    clockTo('2026-03-05');
    await resume(one);
    await credits('2026-03-05');
    expect(await given(one)).toEqual(['01-01', '03-05']);
    await until('2026-04-01', '2026-04-05');
    expect(await given(one)).toEqual(['01-01', '03-05', '04-05']);
  });

  test('weekly credits: no week is given twice, whichever job is late', async () => {
    const one = await subscribed({ period: 'WEEKLY' });
    await until('2026-01-01');
    clockTo('2026-01-05');
    await pause(one, { pause_end: day('2026-01-13') });
    // The week from 8 January is that from 16 January.
    await credits('2026-01-17');
    await periods('2026-01-17');
    await until('2026-01-17', '2026-01-22', '2026-01-23');
    expect(await given(one)).toEqual(['01-01', '01-16', '01-23']);
  });

  test('two pauses in one period', async () => {
    const one = await subscribed();
    for (const [start, pause_end] of [['2026-01-06', '2026-01-08'], ['2026-01-20', '2026-01-23']]) {
      clockTo(start!);
      await pause(one, { pause_end: day(pause_end!) });
      await periods(pause_end!);
    } // prettier-ignore
    await until('2026-02-01', '2026-02-05', '2026-02-06');
    expect(await given(one)).toEqual(['01-01', '02-06']);
  });

  test('credits that were due before the pause and are given after it do not repeat', async () => {
    const one = await subscribed();
    await periods('2026-02-01');
    clockTo('2026-02-01T00:05:00.000Z');
    await pause(one, { pause_end: '2026-02-11T00:05:00.000Z' });
    await periods('2026-02-11T00:05:00.000Z');
    await until('2026-02-12', '2026-03-01', '2026-03-11', '2026-03-12');
    expect(await given(one)).toEqual(['01-01', '02-01', '03-11']);
  });

  test('on a calendar nothing moves', async () => {
    const one = await subscribed({}, { billing_cycle: 'calendar' });
    clockTo('2026-01-11');
    await pause(one, { pause_end: day('2026-01-21') });
    await periods('2026-01-21');
    expect(await upcoming(one)).toEqual([['2026-02-01', '2026-03-01']]);
  });
});

describe('credits that are announced lie outside of the pause (money 5.6.4)', () => {
  const PAUSED = '2026-01-11';
  const to = (end: string) => ({ pause_end: day(end) });
  const later = { pause_mode: 'scheduled', pause_start: day('2026-02-20') };
  const sooner = { pause_mode: 'scheduled', pause_start: day('2026-01-25') };
  test.each`
    cycle            | what                             | body                                  | next
    ${'anniversary'} | ${'after one over the boundary'} | ${to('2026-02-05')}                   | ${[['2026-02-26', '2026-03-26']]}
    ${'anniversary'} | ${'after one within the period'} | ${to('2026-01-21')}                   | ${[['2026-02-11', '2026-03-11']]}
    ${'anniversary'} | ${'in one without an end'}       | ${{}}                                 | ${[]}
    ${'anniversary'} | ${'before a later one'}          | ${later}                              | ${[['2026-02-01', '2026-03-01']]}
    ${'anniversary'} | ${'after a planned one'}         | ${{ ...sooner, ...to('2026-02-04') }} | ${[['2026-02-11', '2026-03-11']]}
    ${'calendar'}    | ${'after one over the boundary'} | ${to('2026-02-05')}                   | ${[['2026-03-01', '2026-04-01']]}
    ${'calendar'}    | ${'after one within the period'} | ${to('2026-01-21')}                   | ${[['2026-02-01', '2026-03-01']]}
    ${'calendar'}    | ${'in one without an end'}       | ${{}}                                 | ${[]}
    ${'calendar'}    | ${'after one to a boundary'}     | ${to('2026-02-01')}                   | ${[['2026-02-01', '2026-03-01']]}
  `('$cycle, $what', async ({ cycle, body, next }) => {
    const one = await subscribed({}, { billing_cycle: cycle });
    clockTo(PAUSED);
    await pause(one, body);
    expect(await upcoming(one)).toEqual(next);
    const [announced] = next;
    if (announced === undefined) return;
    await until('2026-01-21', '2026-01-25', '2026-02-01', '2026-02-05', announced[0]);
    expect(await given(one)).toEqual(['01-01', announced[0].slice(5)]);
  });

  test('credits that are given once and fall into the pause are not announced', async () => {
    const { catalog } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '31', { invoice_cadence: 'ADVANCE' });
    const customer = await catalog.customer();
    const credit_grants = [
      {
        name: 'Once',
        scope: 'SUBSCRIPTION',
        credits: '5',
        cadence: 'ONETIME',
        start_date: day('2026-01-15'),
        expiration_type: 'NEVER',
      },
    ];
    const start = { start_date: day('2026-01-01'), credit_grants };
    const one = { customer, subscription: await catalog.subscribe(customer, plan, start) };
    const list = async () =>
      (await world.api.get(`/v1/subscriptions/${one.subscription.id}/grants/upcoming`)).body.items;
    expect(await list()).toHaveLength(1);
    clockTo(PAUSED);
    await pause(one, to('2026-01-21'));
    expect(await list()).toEqual([]);
    await until('2026-01-21');
    expect(await given(one)).toEqual([]);
  });
});

test('credits at the end of a subscription are not announced (money 5.6.3, 5.6.4)', async () => {
  const one = await subscribed();
  expect(await upcoming(one)).toEqual([['2026-02-01', '2026-03-01']]);
  await world.api.postOk(`/v1/subscriptions/${one.subscription.id}/cancel`, {
    cancellation_type: 'end_of_period',
  });
  expect(await upcoming(one)).toEqual([]);
});
