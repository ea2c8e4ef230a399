import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { eventsOf } from '../../support/payments.ts';
import { inTurns } from '../../support/turns.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

const world = billingWorldFrom('2026-01-01T00:00:00.000Z');

const rows = (invoice: any) =>
  invoice.line_items.map(
    (line: any) =>
      `${line.display_name} ${line.quantity} ${line.amount} ${line.period_start.slice(5, 10)}..${line.period_end.slice(5, 10)}`,
  );
async function invoicesOf({ id }: { id: string }) {
  const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id });
  return body.items
    .sort((left: any, right: any) => left.billing_sequence - right.billing_sequence)
    .map((invoice: any) => [invoice.billing_reason, ...rows(invoice)]);
}
async function invoicesIn({ id }: { id: string }, status: string, reason: string) {
  const { body } = await world.api.post('/v1/invoices/search', {
    ...{ subscription_id: id, invoice_status: [status] },
  });
  return (body.items as any[]).filter(({ billing_reason }) => billing_reason === reason);
}
const read = async ({ id }: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${id}`)).body;
const post = ({ id }: { id: string }, path: string, body: object = {}) =>
  world.api.post(`/v1/subscriptions/${id}/${path}`, body);
async function at(date: string) {
  world.api.clock.set(date.length === 10 ? day(date) : date);
  await world.close();
}

/** 31.00 in advance, 10 in arrears, calls at 1; from 1 January. */
async function sold(more: object = {}) {
  const { catalog } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.fixed(plan, '31', { display_name: 'Base' });
  await catalog.fixed(plan, '10', { display_name: 'Support', invoice_cadence: 'ARREAR' });
  await catalog.usage(plan, meter, { display_name: 'Calls', amount: '1' });
  await completeBackfills(world.api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('2026-01-01'),
    ...more,
  });
  const use = (time: string, value: string) =>
    world.usage.use(meter, customer, time.length === 10 ? day(time) : time, value);
  return { subscription, use };
}

describe('a pause inside a period (billing 12.4)', () => {
  test('nothing is billed in it; the period is longer by it, and the next ones follow its end', async () => {
    const { subscription, use } = await sold();
    for (const [time, value] of [
      ['2026-01-10T23:59:59.999Z', '1'], ['2026-01-11', '100'],
      ['2026-01-20T23:59:59.999Z', '100'], ['2026-01-21', '2'], ['2026-02-10', '4'],
    ] as const) await use(time, value); // prettier-ignore
    await at('2026-01-11');
    const paused = await post(subscription, 'pause', {
      reason: 'Holidays',
      metadata: { by: 'us' },
    });
    expect(paused).toMatchObject({
      status: 200,
      body: {
        pause_mode: 'immediate',
        pause_status: 'active',
        pause_start: day('2026-01-11'),
        pause_end: null,
        original_period_start: day('2026-01-01'),
        original_period_end: day('2026-02-01'),
        reason: 'Holidays',
        metadata: { by: 'us' },
      },
    });
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'paused',
      pause_status: 'active',
      active_pause_id: paused.body.id,
      pauses: [{ id: paused.body.id }],
    });

    await at('2026-01-21');
    const resumed = await post(subscription, 'resume');
    expect(resumed.body).toMatchObject({
      id: paused.body.id,
      pause_status: 'completed',
      resumed_at: day('2026-01-21'),
    });
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'active',
      pause_status: 'none',
      active_pause_id: null,
      current_period_end: day('2026-02-11'),
      billing_anchor: day('2026-02-11'),
    });
    await at('2026-02-11');
    await at('2026-03-11');
    expect(await invoicesOf(subscription)).toEqual([
      ['SUBSCRIPTION_CREATE', 'Base 1 31 01-01..02-01'],
      [
        'SUBSCRIPTION_CYCLE',
        'Base 1 31 02-11..03-11',
        'Support 1 10 01-01..02-11',
        'Calls 7 7 01-01..02-11',
      ],
      [
        'SUBSCRIPTION_CYCLE',
        'Base 1 31 03-11..04-11',
        'Support 1 10 02-11..03-11',
        'Calls 0 0 02-11..03-11',
      ],
    ]);
    expect(await eventsOf(world.api, subscription.id)).toEqual(
      expect.arrayContaining(['subscription.paused', 'subscription.resumed']),
    );
  });

  test('a pause of some days ends by itself at its time, however late the run', async () => {
    const { subscription } = await sold();
    await at('2026-01-11');
    const { body } = await post(subscription, 'pause', { pause_days: 10 });
    expect(body).toMatchObject({ pause_end: day('2026-01-21'), resume_mode: 'auto' });
    await at('2026-01-20');
    expect((await read(subscription)).subscription_status).toBe('paused');
    await at('2026-01-25');
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'active',
      current_period_end: day('2026-02-11'),
      pauses: [{ resumed_at: day('2026-01-21'), pause_status: 'completed' }],
    });
  });

  test('a pause longer than the period, and two pauses in one period', async () => {
    const { subscription } = await sold();
    await at('2026-01-11');
    await post(subscription, 'pause', { pause_end: day('2026-03-11') });
    await at('2026-03-12');
    await post(subscription, 'pause', { pause_days: 2 });
    await at('2026-03-14');
    // 59 and 2 days later than 1 February.
    expect((await read(subscription)).current_period_end).toBe(day('2026-04-03'));
    await at('2026-04-03');
    const [, cycle] = await invoicesOf(subscription);
    expect(cycle).toContain('Support 1 10 01-01..04-03');
    expect(cycle).toContain('Base 1 31 04-03..05-03');
  });

  test('the end of a pause can be set while it lasts', async () => {
    const { subscription } = await sold();
    await at('2026-01-11');
    await post(subscription, 'pause');
    const set = await post(subscription, 'resume', {
      resume_mode: 'scheduled',
      resume_at: day('2026-01-16'),
    });
    expect(set.body).toMatchObject({ pause_status: 'active', pause_end: day('2026-01-16') });
    await at('2026-01-16');
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'active',
      current_period_end: day('2026-02-06'),
    });
  });
});

describe('periods before a pause keep the grid that they had (billing 12.4)', () => {
  test('computed again after it, by request and by the job: the same rows', async () => {
    const { subscription, use } = await sold();
    await use('2026-01-05', '3');
    await use('2026-01-25', '4');
    await at('2026-02-01');
    const before = await invoicesOf(subscription);
    expect(before[1]).toEqual([
      'SUBSCRIPTION_CYCLE',
      'Base 1 31 02-01..03-01',
      'Support 1 10 01-01..02-01',
      'Calls 7 7 01-01..02-01',
    ]);
    await at('2026-02-11');
    await post(subscription, 'pause', { pause_days: 5 });
    await at('2026-02-16');
    await post(subscription, 'pause', { pause_days: 5 });
    await at('2026-02-21');
    expect(await read(subscription)).toMatchObject({ billing_anchor: day('2026-03-11') });
    const { body: found } = await world.api.post('/v1/invoices/search', {
      ...{ subscription_id: subscription.id, invoice_status: ['DRAFT'] },
    });
    const [draft] = found.items;
    const again = await world.api.post(
      `/v1/invoices/${draft.id}/recalculate-v2?finalize=false`,
      {},
    );
    expect(again.status).toBe(200);
    expect(await invoicesOf(subscription)).toEqual(before);
    await world.finalize();
    const [final] = await invoicesIn(subscription, 'FINALIZED', 'SUBSCRIPTION_CYCLE');
    const { body: replaced } = await world.api.post(`/v1/invoices/${final.id}/recalculate`, {});
    expect(rows(replaced)).toEqual(before[1].slice(1));
    await at('2026-03-11');
    expect((await invoicesOf(subscription)).at(-1)).toEqual([
      'SUBSCRIPTION_CYCLE',
      'Base 1 31 03-11..04-11',
      'Support 1 10 02-01..03-11',
      'Calls 0 0 02-01..03-11',
    ]);
  });

  test('an allowance and a commitment of a quarter last as many periods as ever', async () => {
    const { subscription, use } = await sold({
      ...{ commitment_amount: '90', commitment_duration: 'QUARTERLY', enable_true_up: true },
    });
    await use('2026-01-05', '10');
    await at('2026-01-11');
    await post(subscription, 'pause', { pause_days: 10 });
    await at('2026-01-21');
    for (const end of ['2026-02-11', '2026-03-11', '2026-04-11', '2026-05-11']) await at(end);
    const invoices = await invoicesOf(subscription);
    const trueUps = invoices.map((invoice: string[]) => invoice.filter((row) => / 80 /.test(row)));
    expect(trueUps.map((found: string[]) => found.length)).toEqual([0, 0, 0, 1, 0]);
  });
});

describe('a planned pause (billing 12.7)', () => {
  test('begins at its time, not at a boundary', async () => {
    const { subscription } = await sold();
    const planned = await post(subscription, 'pause', {
      pause_mode: 'scheduled',
      pause_start: day('2026-01-11'),
      pause_end: day('2026-01-21'),
    });
    expect(planned.body.pause_status).toBe('scheduled');
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'active',
      pause_status: 'scheduled',
      active_pause_id: planned.body.id,
    });
    await at('2026-01-11');
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'paused',
      pause_status: 'active',
    });
    await at('2026-01-21');
    expect((await read(subscription)).current_period_end).toBe(day('2026-02-11'));
  });

  test('in a later period: the periods before it are billed as ever', async () => {
    const { subscription } = await sold();
    await post(subscription, 'pause', {
      pause_mode: 'scheduled',
      pause_start: day('2026-02-11'),
      pause_end: day('2026-02-21'),
    });
    await at('2026-03-01');
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'active',
      current_period_start: day('2026-02-01'),
      current_period_end: day('2026-03-11'),
      pauses: [
        { original_period_start: day('2026-02-01'), original_period_end: day('2026-03-01') },
      ],
    });
    expect((await invoicesOf(subscription))[1]).toContain('Base 1 31 02-01..03-01');
  });

  test('at the end of the period: its invoice has no advance; the resumption begins a new period', async () => {
    const { subscription, use } = await sold();
    await use('2026-02-05', '100');
    await use('2026-02-15', '3');
    const planned = await post(subscription, 'pause', { pause_mode: 'period_end' });
    expect(planned.body.pause_start).toBe(day('2026-02-01'));
    await at('2026-02-01');
    expect((await read(subscription)).subscription_status).toBe('paused');
    await at('2026-02-10');
    await post(subscription, 'resume');
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'active',
      billing_anchor: day('2026-02-10'),
      current_period_start: day('2026-02-10'),
      current_period_end: day('2026-03-10'),
    });
    await at('2026-03-10');
    const [, january, resumption, cycle] = await invoicesOf(subscription);
    expect(january).toEqual([
      'SUBSCRIPTION_CYCLE',
      'Support 1 10 01-01..02-01',
      'Calls 0 0 01-01..02-01',
    ]);
    expect(resumption).toEqual(['SUBSCRIPTION_UPDATE', 'Base 1 31 02-10..03-10']);
    expect(cycle).toEqual([
      'SUBSCRIPTION_CYCLE',
      'Base 1 31 03-10..04-10',
      'Support 1 10 02-10..03-10',
      'Calls 3 3 02-10..03-10',
    ]);
  });

  test('the advance that the resumption bills is credited like any other (billing 5.3)', async () => {
    const { subscription } = await sold({ proration_behavior: 'create_prorations' });
    await post(subscription, 'pause', { pause_mode: 'period_end' });
    await at('2026-02-01');
    await at('2026-02-11');
    expect((await post(subscription, 'resume')).status).toBe(200);
    expect((await invoicesOf(subscription)).at(-1)).toEqual([
      'SUBSCRIPTION_UPDATE',
      'Base 1 31 02-11..03-11',
    ]);
    // 14 of 28 days are not served.
    await at('2026-02-25');
    const { status } = await post(subscription, 'cancel', { cancellation_type: 'immediate' });
    expect(status).toBe(200);
    const { body: wallets } = await world.api.get(
      `/v1/customers/${subscription.customer_id}/wallets`,
    );
    expect(wallets).toMatchObject([{ balance: '15.5' }]);
  });

  test('can be withdrawn, and nothing shifts', async () => {
    const { subscription } = await sold();
    const planned = await post(subscription, 'pause', { pause_mode: 'period_end' });
    const path = `pauses/${planned.body.id}`;
    expect((await post(subscription, `${path}/cancel`)).body.pause_status).toBe('cancelled');
    expect((await post(subscription, `${path}/cancel`)).status).toBe(400);
    expect(await read(subscription)).toMatchObject({ pause_status: 'none', active_pause_id: null });
    await at('2026-02-01');
    expect(await read(subscription)).toMatchObject({ current_period_end: day('2026-03-01') });
    const list = await world.api.get(`/v1/subscriptions/${subscription.id}/pauses`);
    expect(list.body).toMatchObject([{ id: planned.body.id, pause_status: 'cancelled' }]);
    const one = await world.api.get(`/v1/subscriptions/${subscription.id}/${path}`);
    expect(one.body).toEqual(list.body[0]);
  });
});

describe('a pause on a calendar (billing 12.4)', () => {
  test('the grid stays; fees in arrears pay active time, usage of the pause is free', async () => {
    const { subscription, use } = await sold({ billing_cycle: 'calendar' });
    await use('2026-01-15', '100');
    await at('2026-01-11');
    await post(subscription, 'pause', { pause_end: day('2026-01-21') });
    await at('2026-02-01');
    expect((await invoicesOf(subscription))[1]).toEqual([
      'SUBSCRIPTION_CYCLE',
      'Base 1 31 02-01..03-01',
      'Support 1 3.23 01-01..01-11',
      'Support 1 3.55 01-21..02-01',
      'Calls 0 0 01-01..02-01',
    ]);
  });
});

describe('a pause on a calendar with prorations (billing 12.4)', () => {
  const prorated = (more: object = {}) =>
    sold({ billing_cycle: 'calendar', proration_behavior: 'create_prorations', ...more });
  const wallet = async ({ customer_id }: { customer_id: string }) =>
    (await world.api.get(`/v1/customers/${customer_id}/wallets`)).body.map(
      ({ balance }: { balance: string }) => balance,
    );

  test('the advance of the paused time returns to the wallet at the resumption, by the job or by hand', async () => {
    const { subscription } = await prorated();
    await at('2026-01-11');
    expect((await post(subscription, 'pause', { dry_run: false })).status).toBe(200);
    await at('2026-01-21');
    expect(await wallet(subscription)).toEqual([]);
    await post(subscription, 'resume');
    expect(await wallet(subscription)).toEqual(['10']);
    expect(await read(subscription)).toMatchObject({ current_period_end: day('2026-02-01') });
    world.api.clock.set('2026-01-31T23:59:59.999Z');
    const { body: shown } = await world.api.post('/v1/invoices/preview', {
      subscription_id: subscription.id,
    });
    await at('2026-02-01');
    const [, cycle] = await invoicesOf(subscription);
    expect(cycle).toEqual([
      'SUBSCRIPTION_CYCLE',
      'Base 1 31 02-01..03-01',
      'Support 1 3.23 01-01..01-11',
      'Support 1 3.55 01-21..02-01',
      'Calls 0 0 01-01..02-01',
    ]);
    expect(rows(shown)).toEqual(cycle.slice(1));
    expect(await wallet(subscription)).toEqual(['10']);
  });

  test('twice in a period; each pause is credited once', async () => {
    const { subscription } = await prorated();
    for (const [from, to] of [
      ['2026-01-05', '2026-01-08'],
      ['2026-01-20', '2026-01-25'],
    ] as const) {
      await at(from);
      await post(subscription, 'pause', { pause_end: day(to) });
      await at(to);
      await at(to);
    }
    expect(await wallet(subscription)).toEqual(['8']);
  });

  test('across the end of the period, by a late run: the rest of the old period, and an advance from the resumption', async () => {
    const { subscription } = await prorated();
    await at('2026-01-11');
    await post(subscription, 'pause', { pause_end: day('2026-02-10') });
    await at('2026-02-20');
    expect(await wallet(subscription)).toEqual(['21']);
    expect((await invoicesOf(subscription))[1]).toEqual([
      'SUBSCRIPTION_CYCLE',
      'Base 1 21.04 02-10..03-01',
      'Support 1 3.23 01-01..01-11',
      'Calls 0 0 01-01..01-11',
    ]);
  });

  test('a discounted advance returns what was paid; a cancellation in the pause credits from its start', async () => {
    const { body: coupon } = await world.api.post('/v1/coupons', {
      name: 'Half',
      type: 'percentage',
      percentage_off: '50',
      cadence: 'forever',
    });
    const { subscription } = await prorated({ coupons: [coupon.id] });
    await at('2026-01-11');
    await post(subscription, 'pause');
    world.api.clock.set(day('2026-01-16'));
    await post(subscription, 'cancel', { cancellation_type: 'immediate' });
    expect(await wallet(subscription)).toEqual(['10.5']);
  });
});

describe('the end of a subscription', () => {
  test.each([
    ['in the time that the pause adds', '2026-02-06', '6', 'Support 1 8.39 01-01..02-06'],
    ['in the period itself', '2026-01-29', '0', 'Support 1 5.81 01-01..01-29'],
  ])('a period that a pause made longer ends with it: %s', async (_, end, units, support) => {
    const { subscription, use } = await sold({
      ...{ end_date: day(end), proration_behavior: 'create_prorations' },
    });
    await use('2026-02-05', '6');
    for (const [from, until] of [['2026-01-03', '2026-01-08'], ['2026-01-11', '2026-01-16']] as const) {
      await at(from);
      await post(subscription, 'pause', { pause_end: day(until) });
      await at(until);
    } // prettier-ignore
    expect(await read(subscription)).toMatchObject({
      ...{ current_period_end: day(end), billing_anchor: day('2026-02-11') },
    });
    await at(end);
    expect(await read(subscription)).toMatchObject({
      ...{ subscription_status: 'cancelled', end_date: day(end) },
    });
    expect((await invoicesOf(subscription))[1]).toEqual([
      ...['SUBSCRIPTION_CYCLE', support],
      `Calls ${units} ${units} 01-01..${end.slice(5)}`,
    ]);
  });

  test.each<[string, object, object | null]>([
    ['its end date', { end_date: day('2026-02-06') }, null],
    [
      'a planned cancellation',
      {},
      { cancellation_type: 'scheduled_date', cancel_at: day('2026-02-06') },
    ],
  ])('%s comes in a pause: the usage before the pause is billed', async (_, more, cancel) => {
    const { subscription, use } = await sold(more);
    await use('2026-01-05', '3');
    await use('2026-01-15', '100');
    if (cancel !== null) expect((await post(subscription, 'cancel', cancel)).status).toBe(200);
    await at('2026-01-11');
    const { body: pause } = await post(subscription, 'pause', { pause_end: day('2026-03-01') });
    await at('2026-02-06');
    expect(await read(subscription)).toMatchObject({
      ...{ subscription_status: 'cancelled', end_date: day('2026-02-06'), pause_status: 'none' },
      pauses: [{ id: pause.id, pause_status: 'completed' }],
    });
    const [, final] = await invoicesOf(subscription);
    expect(final).toContain('Calls 3 3 01-01..01-11');
  });

  test.each([
    ['before the pause', '2026-01-05', null],
    ['in the pause', '2026-01-12', null],
    ['and the pause is ended by hand', '2026-01-05', '2026-01-21'],
  ])('a cancellation at the end of the period follows it: %s', async (_, asked, resumed) => {
    const { subscription } = await sold();
    const cancel = async () =>
      expect(
        (await post(subscription, 'cancel', { cancellation_type: 'end_of_period' })).status,
      ).toBe(200);
    await at(asked < '2026-01-11' ? asked : '2026-01-11');
    if (asked < '2026-01-11') await cancel();
    await at('2026-01-11');
    await post(subscription, 'pause', resumed === null ? { pause_end: day('2026-01-21') } : {});
    await at('2026-01-12');
    if (asked === '2026-01-12') await cancel();
    await at('2026-01-21');
    if (resumed !== null) expect((await post(subscription, 'resume')).status).toBe(200);
    expect(await read(subscription)).toMatchObject({
      ...{ current_period_end: day('2026-02-11'), cancel_at: day('2026-02-11') },
    });
    const schedules = await world.api.get(`/v1/subscriptions/${subscription.id}/schedules`);
    expect(schedules.body).toMatchObject({
      schedules: [{ status: 'pending', scheduled_at: day('2026-02-11') }],
    });
    await at('2026-02-01');
    expect((await read(subscription)).subscription_status).toBe('active');
    await at('2026-02-11');
    expect(await read(subscription)).toMatchObject({
      ...{ subscription_status: 'cancelled', end_date: day('2026-02-11') },
    });
    expect(await invoicesOf(subscription)).toEqual([
      ['SUBSCRIPTION_CREATE', 'Base 1 31 01-01..02-01'],
      ['SUBSCRIPTION_CYCLE', 'Support 1 10 01-01..02-11', 'Calls 0 0 01-01..02-11'],
    ]);
  });

  test.each([
    ['a cancellation at the end of the period', {}, 'end_of_period'],
    ['an end date at the end of the period', { end_date: day('2026-02-01') }, null],
  ])('%s comes in a pause: it is the ordinary last invoice (billing 13)', async (_, more, type) => {
    const { subscription, use } = await sold({ ...more, proration_behavior: 'create_prorations' });
    await use('2026-01-05', '3');
    await use('2026-01-15', '100');
    if (type !== null)
      expect((await post(subscription, 'cancel', { cancellation_type: type })).status).toBe(200);
    await at('2026-01-11');
    await post(subscription, 'pause');
    await at('2026-02-01');
    expect(await read(subscription)).toMatchObject({
      ...{ subscription_status: 'cancelled', end_date: day('2026-02-01'), pause_status: 'none' },
    });
    const billed = [
      ['SUBSCRIPTION_CREATE', 'Base 1 31 01-01..02-01'],
      ['SUBSCRIPTION_CYCLE', 'Support 1 3.23 01-01..01-11', 'Calls 3 3 01-01..01-11'],
    ];
    expect(await invoicesOf(subscription)).toEqual(billed);
    // The advance of the paused time is returned, also when the draft is computed again and issued.
    await at('2026-02-03');
    await world.finalize();
    const [issued] = await invoicesIn(subscription, 'FINALIZED', 'SUBSCRIPTION_CYCLE');
    expect(issued).toMatchObject({ subtotal: '6.23', period_end: day('2026-02-01') });
    expect(await invoicesOf(subscription)).toEqual(billed);
    const wallets = await world.api.get(`/v1/customers/${subscription.customer_id}/wallets`);
    expect(wallets.body).toMatchObject([{ credit_balance: '18' }]);
  });

  test('a cancellation at a date stays at it', async () => {
    const { subscription } = await sold();
    await post(subscription, 'cancel', {
      ...{ cancellation_type: 'scheduled_date', cancel_at: day('2026-02-01') },
    });
    await at('2026-01-11');
    await post(subscription, 'pause', { pause_end: day('2026-01-21') });
    await at('2026-01-21');
    expect((await read(subscription)).cancel_at).toBe(day('2026-02-01'));
  });

  test('a cancellation in a pause from the end of a period: that period is billed once', async () => {
    const { subscription, use } = await sold({ end_date: day('2026-02-20') });
    await use('2026-01-05', '3');
    await post(subscription, 'pause', { pause_mode: 'period_end' });
    await at('2026-02-01');
    await at('2026-02-20');
    expect(await read(subscription)).toMatchObject({ subscription_status: 'cancelled' });
    expect(await invoicesOf(subscription)).toEqual([
      ['SUBSCRIPTION_CREATE', 'Base 1 31 01-01..02-01'],
      ['SUBSCRIPTION_CYCLE', 'Support 1 10 01-01..02-01', 'Calls 3 3 01-01..02-01'],
    ]);
    const other = await sold();
    await other.use('2026-02-05', '3');
    world.api.clock.set(day('2026-02-20'));
    await post(other.subscription, 'pause', { pause_mode: 'period_end' });
    await at('2026-03-01');
    world.api.clock.set(day('2026-03-10'));
    const cancelled = await post(other.subscription, 'cancel', {
      ...{ cancellation_type: 'immediate', cancel_immediately_inovice_policy: 'generate_invoice' },
    });
    expect(cancelled.status).toBe(200);
    expect((await invoicesOf(other.subscription)).map(([reason]: string[]) => reason)).toEqual([
      ...['SUBSCRIPTION_CREATE', 'SUBSCRIPTION_CYCLE', 'SUBSCRIPTION_CYCLE'],
    ]);
  });

  test.each([
    ['at once', null, 'create_prorations', 'Support 1 3.23 01-01..01-11'],
    [
      'as planned before the pause',
      '2026-01-05',
      'create_prorations',
      'Support 1 3.23 01-01..01-11',
    ],
    ['as planned in it', '2026-01-15', 'create_prorations', 'Support 1 3.23 01-01..01-11'],
    ['at once, without prorations', null, 'none', 'Support 1 10 01-01..01-11'],
  ])(
    'a fee in arrears of a subscription that ends in a pause is for the time before it: %s',
    async (_, asked, proration_behavior, support) => {
      const { subscription } = await sold({ proration_behavior });
      const cancel_at = day('2026-02-05');
      const cancel = async (body: object) =>
        expect((await post(subscription, 'cancel', body)).status).toBe(200);
      for (const date of ['2026-01-05', '2026-01-11', '2026-01-15', '2026-02-05']) {
        await at(date);
        if (date === '2026-01-11') await post(subscription, 'pause');
        if (date === asked) await cancel({ cancellation_type: 'scheduled_date', cancel_at });
      }
      if (asked === null) await cancel({ cancellation_type: 'immediate' });
      const [, final] = await invoicesOf(subscription);
      expect(final).toEqual(['PRORATION', support, 'Calls 0 0 01-01..01-11']);
    },
  );

  test.each([
    ['create_prorations', '10'],
    ['none', '31'],
  ])(
    'a commitment of a period that ends in a pause is for the time before it, with %s',
    async (proration_behavior, committed) => {
      const { subscription } = await sold({
        ...{ proration_behavior, commitment_amount: '31', enable_true_up: true },
      });
      await at('2026-01-05');
      const cancel_at = day('2026-02-05');
      await post(subscription, 'cancel', { cancellation_type: 'scheduled_date', cancel_at });
      await at('2026-01-11');
      await post(subscription, 'pause');
      await at('2026-02-05');
      const [, final] = await invoicesOf(subscription);
      expect(final.at(-1)).toMatch(new RegExp(` ${committed} 01-01..`, 'u'));
    },
  );

  test('a cancellation while paused ends the pause; its usage stays free', async () => {
    const { subscription, use } = await sold();
    await use('2026-01-12', '100');
    await at('2026-01-11');
    const { body: pause } = await post(subscription, 'pause');
    world.api.clock.set(day('2026-01-16'));
    const cancelled = await post(subscription, 'cancel', {
      cancellation_type: 'immediate',
      cancel_immediately_inovice_policy: 'generate_invoice',
    });
    expect(cancelled.status).toBe(200);
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'cancelled',
      pause_status: 'none',
      active_pause_id: null,
      pauses: [{ id: pause.id, pause_status: 'completed' }],
    });
    const [, final] = await invoicesOf(subscription);
    expect(final).toContain('Calls 0 0 01-01..01-11');
  });
});

describe('400, 404 and 409', () => {
  test.each`
    why                          | body                                                           | path
    ${'no start'}                | ${{ pause_mode: 'scheduled' }}                                 | ${'pause_start'}
    ${'a start in the past'}     | ${{ pause_mode: 'scheduled', pause_start: day('2025-12-31') }} | ${'pause_start'}
    ${'an end before the start'} | ${{ pause_end: day('2025-12-31') }}                            | ${'pause_end'}
    ${'an end and days'}         | ${{ pause_end: day('2026-02-01'), pause_days: 3 }}             | ${'pause_days'}
    ${'a dry run'}               | ${{ dry_run: true }}                                           | ${'dry_run'}
    ${'no days'}                 | ${{ pause_days: 0 }}                                           | ${'pause_days'}
    ${'an unknown mode'}         | ${{ pause_mode: 'soon' }}                                      | ${'pause_mode'}
  `('$why', async ({ body, path }) => {
    const { subscription } = await sold();
    const refused = await post(subscription, 'pause', body);
    expect([refused.status, refused.body.details[0].path]).toEqual([400, path]);
  });
  test('a second pause, a trial, phases, a resumption without a pause', async () => {
    const { subscription } = await sold();
    expect((await post(subscription, 'resume')).status).toBe(400);
    await post(subscription, 'pause', { pause_mode: 'period_end' });
    expect((await post(subscription, 'pause')).status).toBe(409);
    const { subscription: trial } = await sold({ trial_period_days: 5 });
    expect((await post(trial, 'pause')).status).toBe(400);
    const { subscription: phased } = await sold({ phases: [{ start_date: day('2026-01-01') }] });
    expect((await post(phased, 'pause')).body.details[0].path).toBe('phases');
    expect((await post({ id: 'subs_none' }, 'pause')).status).toBe(404);
  });
});

test('a pause that waits for another change begins after it', async () => {
  const { subscription } = await sold();
  await at('2026-01-11');
  const later = '2026-01-11T00:05:00.000Z';
  const { pool, clock } = world.api;
  const [paused] = await inTurns<[{ body: any }, unknown]>(
    world.api,
    (tx) => tx`update subscriptions set version = version + 1 where id = ${subscription.id}`,
    () => post(subscription, 'pause'),
    () => {
      clock.set(later);
      return pool.begin(
        (tx) => tx`select from subscriptions where id = ${subscription.id} for update`,
      );
    },
  );
  expect(paused.body).toMatchObject({ pause_status: 'active', pause_start: later });
});

describe('a pause that is ended by two requests', () => {
  const paused = async () => {
    const { subscription } = await sold();
    await at('2026-01-11');
    expect((await post(subscription, 'pause')).status).toBe(200);
    await at('2026-01-21');
    return subscription;
  };
  const hold =
    ({ id }: { id: string }) =>
    (tx: any) =>
      tx`select from subscriptions where id = ${id} for update`;
  const now = {};
  const scheduled = { resume_mode: 'scheduled', resume_at: day('2026-02-15') };
  const resume = (subscription: { id: string }, body: object) => () =>
    post(subscription, 'resume', body);

  test('at once and then later: it has ended, and the later end is refused', async () => {
    const subscription = await paused();
    const [first, second] = await inTurns(
      world.api,
      hold(subscription),
      resume(subscription, now),
      resume(subscription, scheduled),
    );
    expect(first.body).toMatchObject({
      ...{ pause_status: 'completed', resumed_at: day('2026-01-21') },
    });
    expect(second.status).toBe(400);
  });

  test('later and then at once: it ends at once', async () => {
    const subscription = await paused();
    const [first, second] = await inTurns(
      world.api,
      hold(subscription),
      resume(subscription, scheduled),
      resume(subscription, now),
    );
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body).toMatchObject({
      ...{ pause_status: 'completed', resumed_at: day('2026-01-21') },
    });
  });

  test('a resumption that waits for another change resumes after it', async () => {
    const subscription = await paused();
    const later = '2026-01-21T00:05:00.000Z';
    const { pool, clock } = world.api;
    const [resumed] = await inTurns<[{ body: any }, unknown]>(
      world.api,
      (tx) => tx`update subscriptions set version = version + 1 where id = ${subscription.id}`,
      resume(subscription, now),
      () => {
        clock.set(later);
        return pool.begin(
          (tx) => tx`select from subscriptions where id = ${subscription.id} for update`,
        );
      },
    );
    expect(resumed.body).toMatchObject({ pause_status: 'completed', resumed_at: later });
  });

  test('after its planned end, it has ended there', async () => {
    const { subscription } = await sold();
    await at('2026-01-11');
    await post(subscription, 'pause', { pause_end: day('2026-01-16') });
    await world.api.clock.set(day('2026-01-21'));
    expect((await post(subscription, 'resume')).status).toBe(400);
    const { body: pauses } = await world.api.get(`/v1/subscriptions/${subscription.id}/pauses`);
    expect(pauses).toMatchObject([{ pause_status: 'completed', resumed_at: day('2026-01-16') }]);
  });
});
