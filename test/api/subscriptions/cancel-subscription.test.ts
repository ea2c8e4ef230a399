import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

const world = billingWorldFrom('2026-03-21T00:00:00.000Z');

async function subscribed(more: object = {}) {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.fixed(plan, '100', { display_name: 'Base' });
  await catalog.fixed(plan, '31', { display_name: 'Support', invoice_cadence: 'ARREAR' });
  await catalog.usage(plan, meter, { display_name: 'Calls', amount: '0.5' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('2026-03-01'),
    ...more,
  });
  return { plan, meter, customer, subscription };
}
const cancel = (subscription: { id: string }, body: object) =>
  world.api.post(`/v1/subscriptions/${subscription.id}/cancel`, body);
const read = async (subscription: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${subscription.id}`)).body;
const rows = (invoice: any) =>
  invoice.line_items.map(
    (line: any) =>
      `${line.display_name} ${line.quantity} ${line.amount} ${line.period_start.slice(5, 10)}..${line.period_end.slice(5, 10)}`,
  );

describe('200 immediate', () => {
  test('now: the rest of usage and arrears on a final draft, lines ended, no next period', async () => {
    const { meter, customer, subscription } = await subscribed();
    await world.usage.use(meter, customer, day('2026-03-20'), '6');
    const { status, body } = await cancel(subscription, {
      cancellation_type: 'immediate',
      reason: 'too dear',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      subscription_id: subscription.id,
      status: 'cancelled',
      cancellation_type: 'immediate',
      effective_date: day('2026-03-21'),
      reason: 'too dear',
      total_credit_amount: '0',
      proration_invoice: {
        invoice_status: 'DRAFT',
        billing_reason: 'PRORATION',
        billing_sequence: 2,
      },
    });
    // With `none` an arrear fee is paid in full; usage is what it was.
    expect(rows(body.proration_invoice)).toEqual([
      'Support 1 31 03-01..03-21',
      'Calls 6 3 03-01..03-21',
    ]);
    const cancelled = await read(subscription);
    expect(cancelled).toMatchObject({
      subscription_status: 'cancelled',
      cancelled_at: day('2026-03-21'),
      end_date: day('2026-03-21'),
      current_period_end: day('2026-04-01'),
      metadata: { cancellation_reason: 'too dear', cancellation_type: 'immediate' },
    });
    expect(cancelled.line_items.map(({ end_date }: any) => end_date)).toEqual(
      Array(3).fill(day('2026-03-21')),
    );
    world.api.clock.set(day('2026-06-01'));
    expect(await world.close()).toMatchObject({ advanced: 0 });
  });

  test('back-dated with prorations where nothing was paid in advance: the fee for the days served', async () => {
    const { catalog } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '31', { display_name: 'Support', invoice_cadence: 'ARREAR' });
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      start_date: day('2026-03-01'),
    });
    const { body } = await cancel(subscription, {
      cancellation_type: 'immediate',
      cancel_at: day('2026-03-11'),
      proration_behavior: 'create_prorations',
    });
    expect(rows(body.proration_invoice)).toEqual(['Support 1 10 03-01..03-11']);
    expect(body.effective_date).toBe(day('2026-03-11'));
  });

  test('late usage within the grace is on the final invoice; what came after the end is not', async () => {
    const { meter, customer, subscription } = await subscribed();
    await cancel(subscription, { cancellation_type: 'immediate' });
    await world.usage.use(meter, customer, day('2026-03-15'), '4');
    await world.usage.use(meter, customer, day('2026-03-21'), '1000');
    world.api.clock.set('2026-03-21T01:00:00.000Z');
    expect(await world.finalize()).toMatchObject({ finalized: 1 });
    const { body } = await world.api.post('/v1/invoices/search', {
      subscription_id: subscription.id,
      billing_reason: 'PRORATION',
    });
    expect(rows(body.items[0])).toEqual(['Support 1 31 03-01..03-21', 'Calls 4 2 03-01..03-21']);
  });

  test.each([
    ['earlier', 'cancel_immediately_inovice_policy'],
    ['current', 'cancel_immediately_invoice_policy'],
  ])('skip: no final invoice, by the name that %s clients send', async (_clients, policy) => {
    const { subscription } = await subscribed();
    const { body } = await cancel(subscription, {
      cancellation_type: 'immediate',
      [policy]: 'skip',
    });
    expect(body).toMatchObject({ status: 'cancelled', proration_invoice: null });
  });

  test('400: two names with different policies', async () => {
    const { subscription } = await subscribed();
    const { status, body } = await cancel(subscription, {
      cancellation_type: 'immediate',
      cancel_immediately_inovice_policy: 'skip',
      cancel_immediately_invoice_policy: 'generate_invoice',
    });
    expect([status, body.details[0].path]).toEqual([400, 'cancel_immediately_invoice_policy']);
  });

  test('with a draft of the running period at hand that one becomes the final invoice', async () => {
    const { customer, subscription } = await subscribed();
    const draft = await world.api.post('/v1/invoices', {
      invoice_type: 'SUBSCRIPTION',
      customer_id: customer.id,
      subscription_id: subscription.id,
      currency: 'usd',
    });
    const { body } = await cancel(subscription, { cancellation_type: 'immediate' });
    expect(body.proration_invoice).toMatchObject({
      id: draft.body.id,
      billing_reason: 'PRORATION',
      period_end: day('2026-03-21'),
    });
    const computed = await world.api.post(`/v1/invoices/${draft.body.id}/compute`);
    expect(rows(computed.body.invoice)).toEqual([
      'Support 1 31 03-01..03-21',
      'Calls 0 0 03-01..03-21',
    ]);
    expect(computed.body.invoice.period_end).toBe(day('2026-03-21'));
  });

  test('with create_prorations: unserved advances return to the wallet', async () => {
    const { customer, subscription } = await subscribed();
    const { body } = await cancel(subscription, {
      cancellation_type: 'immediate',
      proration_behavior: 'create_prorations',
      cancel_immediately_inovice_policy: 'skip',
    });
    expect(body).toMatchObject({ total_credit_amount: '35.48', proration_invoice: null });
    expect(body.proration_details).toMatchObject([
      {
        original_amount: '35.48',
        credit_amount: '35.48',
        charge_amount: '0',
        proration_days: 11,
        description: 'Cancellation (2026-03-21)',
      },
    ]);
    const { body: wallets } = await world.api.get(`/v1/customers/${customer.id}/wallets`);
    expect(wallets).toMatchObject([{ name: 'Proration Credit Wallet', balance: '35.48' }]);
  });

  test('with the job behind: elapsed periods are billed in full first', async () => {
    const { subscription } = await subscribed();
    await world.api
      .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
    world.api.clock.set(day('2026-05-11'));
    await cancel(subscription, { cancellation_type: 'immediate' });
    const { body } = await world.api.post('/v1/invoices/search', {
      subscription_id: subscription.id,
    });
    expect(
      body.items.map(({ billing_reason, total }: any) => `${billing_reason} ${total}`),
    ).toEqual([
      'PRORATION 31',
      'SUBSCRIPTION_CYCLE 131',
      'SUBSCRIPTION_CYCLE 131',
      'SUBSCRIPTION_CREATE 100',
    ]);
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'cancelled',
      current_period_start: day('2026-05-01'),
    });
  });

  test('with the job behind by years: the usage of many periods is read at once, and each is billed its own', async () => {
    const { meter, customer, subscription } = await subscribed();
    const months = Array.from({ length: 34 }, (_, month) =>
      new Date(Date.UTC(2026, 2 + month)).toISOString(),
    );
    for (const [index, month] of months.entries())
      await world.usage.use(meter, customer, month, String(index + 1));
    await world.api
      .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
    world.api.clock.set(new Date(Date.UTC(2026, 2 + 33, 11)).toISOString());
    world.usage.reads.count = 0;
    await cancel(subscription, { cancellation_type: 'immediate' });
    // Two for 33 periods, and one for the final invoice.
    expect(world.usage.reads.count).toBe(3);
    const { body } = await world.api.post('/v1/invoices/search', {
      subscription_id: subscription.id,
      limit: 100,
    });
    const totals = body.items
      .filter(({ billing_reason }: any) => billing_reason === 'SUBSCRIPTION_CYCLE')
      .map(({ total }: any) => Number(total))
      .sort((left: number, right: number) => left - right);
    expect(totals).toEqual(months.slice(0, 33).map((_, index) => 131 + (index + 1) / 2));
  });

  test('503 with the job behind by more than 240 periods: each request bills 240 of them', async () => {
    const { subscription } = await subscribed();
    await world.api
      .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
    world.api.clock.set(new Date(Date.UTC(2026, 2 + 241, 11)).toISOString());
    const first = await cancel(subscription, { cancellation_type: 'immediate' });
    expect([first.status, first.body.code, first.headers['retry-after']]).toEqual([
      503,
      'billing_behind',
      '1',
    ]);
    expect((await read(subscription)).current_period_start).toBe(
      new Date(Date.UTC(2026, 2 + 240)).toISOString(),
    );
    const second = await cancel(subscription, { cancellation_type: 'immediate' });
    expect([second.status, second.body.effective_date]).toEqual([
      200,
      new Date(Date.UTC(2026, 2 + 241, 11)).toISOString(),
    ]);
  });

  test('end_of_period with the job behind ends at the period that runs now', async () => {
    const { subscription } = await subscribed();
    await world.api
      .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
    world.api.clock.set(day('2026-05-11'));
    const { body } = await cancel(subscription, { cancellation_type: 'end_of_period' });
    expect(body).toMatchObject({ status: 'active', effective_date: day('2026-06-01') });
  });

  test('none in the hours of grace leaves the drafted advance unchanged', async () => {
    const { subscription } = await subscribed({ proration_behavior: 'create_prorations' });
    world.api.clock.set(day('2026-04-01'));
    await world.api
      .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
    await world.close();
    world.api.clock.set('2026-04-01T12:00:00.000Z');
    await cancel(subscription, { cancellation_type: 'immediate', proration_behavior: 'none' });
    const search = await world.api.post('/v1/invoices/search', {
      subscription_id: subscription.id,
    });
    const cycle = search.body.items.find(
      ({ billing_reason }: any) => billing_reason === 'SUBSCRIPTION_CYCLE',
    );
    const { body } = await world.api.post(`/v1/invoices/${cycle.id}/compute`);
    expect(rows(body.invoice)).toContain('Base 1 100 04-01..05-01');
  });

  test('an incomplete subscription: its unpaid opening invoice is void', async () => {
    const { subscription } = await subscribed({ payment_behavior: 'default_incomplete' });
    expect(subscription.subscription_status).toBe('incomplete');
    await cancel(subscription, { cancellation_type: 'immediate' });
    const { body } = await world.api.get(`/v1/invoices/${subscription.latest_invoice.id}`);
    expect(body).toMatchObject({
      invoice_status: 'VOIDED',
      payment_status: 'VOIDED',
      invoice_number: subscription.latest_invoice.invoice_number,
      voided_at: day('2026-03-21'),
    });
  });

  test('a trial: nothing is charged', async () => {
    const { subscription } = await subscribed({
      start_date: day('2026-03-20'),
      trial_period_days: 14,
    });
    const { body } = await cancel(subscription, { cancellation_type: 'immediate' });
    expect(body).toMatchObject({ status: 'cancelled', proration_invoice: null });
  });
});

describe('200 later', () => {
  test('end of the period: it runs until then, and the last invoice opens no further period', async () => {
    const { subscription } = await subscribed();
    const { body } = await cancel(subscription, { cancellation_type: 'end_of_period' });
    expect(body).toMatchObject({
      status: 'active',
      effective_date: day('2026-04-01'),
      proration_invoice: null,
    });
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'active',
      cancel_at: day('2026-04-01'),
      cancel_at_period_end: true,
      cancelled_at: null,
      end_date: null,
    });
    world.api.clock.set(day('2026-04-01'));
    await world.close();
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'cancelled',
      cancelled_at: day('2026-04-01'),
      end_date: day('2026-04-01'),
      latest_invoice: { billing_reason: 'SUBSCRIPTION_CYCLE' },
    });
    expect(rows((await read(subscription)).latest_invoice)).toEqual([
      'Support 1 31 03-01..04-01',
      'Calls 0 0 03-01..04-01',
    ]);
  });

  test('a date inside a later period: that one is cut there', async () => {
    const { meter, customer, subscription } = await subscribed();
    await cancel(subscription, {
      cancellation_type: 'scheduled_date',
      cancel_at: day('2026-04-16'),
    });
    expect((await read(subscription)).current_period_end).toBe(day('2026-04-01'));
    await world.usage.use(meter, customer, day('2026-04-15'), '2');
    world.api.clock.set(day('2026-05-01'));
    expect(await world.close()).toMatchObject({ advanced: 2, invoices: 2 });
    const cancelled = await read(subscription);
    expect(cancelled).toMatchObject({
      subscription_status: 'cancelled',
      end_date: day('2026-04-16'),
    });
    expect(rows(cancelled.latest_invoice)).toEqual([
      'Support 1 31 04-01..04-16',
      'Calls 2 1 04-01..04-16',
    ]);
  });
});

describe('the preview of a period that a cancellation at a date ends', () => {
  test('shows the invoice that the cancellation makes', async () => {
    const { meter, customer, subscription } = await subscribed();
    const cancel_at = day('2026-03-25');
    await cancel(subscription, {
      ...{ cancellation_type: 'scheduled_date', cancel_at },
      proration_behavior: 'create_prorations',
    });
    await world.usage.use(meter, customer, day('2026-03-20'), '6');
    await world.usage.use(meter, customer, day('2026-03-26'), '7');
    world.api.clock.set('2026-03-24T23:59:59.999Z');
    const asked = { subscription_id: subscription.id };
    const { body: previewed } = await world.api.post('/v1/invoices/preview', asked);
    expect(previewed).toMatchObject({ billing_reason: 'PRORATION', period_end: cancel_at });
    expect(rows(previewed)).toEqual(['Support 1 24 03-01..03-25', 'Calls 6 3 03-01..03-25']);
    world.api.clock.set(cancel_at);
    await world.close();
    expect(rows((await read(subscription)).latest_invoice)).toEqual(rows(previewed));
  });

  test('of a window of its own, it shows that window', async () => {
    const { subscription } = await subscribed();
    await cancel(subscription, {
      ...{ cancellation_type: 'scheduled_date', cancel_at: day('2026-03-25') },
      proration_behavior: 'create_prorations',
    });
    const { body } = await world.api.post('/v1/invoices/preview', {
      ...{ subscription_id: subscription.id, period_end: day('2026-03-11') },
    });
    expect(body).toMatchObject({ period_end: day('2026-03-11') });
  });
});

describe('refused', () => {
  test.each`
    name                            | body                                                                         | path
    ${'no type'}                    | ${{}}                                                                        | ${'cancellation_type'}
    ${'an unknown type'}            | ${{ cancellation_type: 'later' }}                                            | ${'cancellation_type'}
    ${'a date is missing'}          | ${{ cancellation_type: 'scheduled_date' }}                                   | ${'cancel_at'}
    ${'a future date, immediately'} | ${{ cancellation_type: 'immediate', cancel_at: '2030-01-01T00:00:00Z' }}     | ${'cancel_at'}
    ${'a date with another type'}   | ${{ cancellation_type: 'end_of_period', cancel_at: '2026-04-20T00:00:00Z' }} | ${'cancel_at'}
    ${'before the period'}          | ${{ cancellation_type: 'immediate', cancel_at: '2026-03-01T00:00:00Z' }}     | ${'cancel_at'}
  `('400: $name', async ({ body, path }) => {
    const { subscription } = await subscribed();
    const answer = await cancel(subscription, body);
    expect(answer.status).toBe(400);
    expect(answer.body.details[0].path).toBe(path);
    expect((await read(subscription)).subscription_status).toBe('active');
  });

  test('400 for one that is cancelled or will be at its end, 404 for none', async () => {
    const { subscription } = await subscribed();
    await cancel(subscription, { cancellation_type: 'end_of_period' });
    expect(await cancel(subscription, { cancellation_type: 'end_of_period' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation' },
    });
    expect(await cancel(subscription, { cancellation_type: 'immediate' })).toMatchObject({
      status: 200,
    });
    expect(await cancel(subscription, { cancellation_type: 'immediate' })).toMatchObject({
      status: 400,
    });
    const nobody = { id: 'subs_00000000000000000000000000' };
    expect(await cancel(nobody, { cancellation_type: 'immediate' })).toMatchObject({ status: 404 });
  });

  test('503 while usage cannot be read: nothing is cancelled', async () => {
    const { subscription } = await subscribed();
    world.usage.outage(true);
    expect(await cancel(subscription, { cancellation_type: 'immediate' })).toMatchObject({
      status: 503,
      body: { code: 'usage_unavailable' },
    });
    world.usage.outage(false);
    expect((await read(subscription)).subscription_status).toBe('active');
  });
});

describe('a period that was closed before the cancellation (billing 6.4)', () => {
  test('keeps the commitment of its term: final, and when it is recalculated', async () => {
    const { api, catalog, usage } = world;
    api.clock.set(day('2026-01-01'));
    const plan = await catalog.plan();
    const meter = await catalog.meter();
    await catalog.usage(plan, meter, { display_name: 'Calls', amount: '1' });
    await completeBackfills(api.pool);
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, {
      ...{ start_date: day('2026-01-01'), proration_behavior: 'create_prorations' },
      ...{ commitment_amount: '365', commitment_duration: 'ANNUAL', overage_factor: '2' },
    });
    await usage.use(meter, customer, day('2026-01-05'), '100');
    api.clock.set(day('2026-02-01'));
    await world.close();
    // The draft of January waits for late usage.
    api.clock.set('2026-02-01T01:00:00.000Z');
    const cancelled = await cancel(subscription, {
      ...{ cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
    });
    expect(cancelled.status).toBe(200);
    api.clock.set('2026-02-01T02:00:00.000Z');
    await world.finalize();
    const { body: found } = await api.post('/v1/invoices/search', {
      ...{ subscription_id: subscription.id, invoice_status: ['FINALIZED'] },
    });
    const [january] = found.items;
    expect(rows(january)).toEqual(['Calls 100 100 01-01..02-01']);
    const { body: again } = await api.post(`/v1/invoices/${january.id}/recalculate`, {});
    expect(rows(again)).toEqual(['Calls 100 100 01-01..02-01']);
  });
});
