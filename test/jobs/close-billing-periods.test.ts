import { billingWorldFrom } from '../support/billing-world.ts';
import { day } from '../support/day.ts';
import { completeBackfills } from '../support/usage-oracle.ts';

const world = billingWorldFrom('2026-03-10T00:00:00.000Z');

/** A plan of 100 in advance, 10 in arrears and calls at 0.5. */
async function subscribed(more: object = {}) {
  const { catalog } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.fixed(plan, '100', { display_name: 'Base' });
  await catalog.fixed(plan, '10', { display_name: 'Support', invoice_cadence: 'ARREAR' });
  await catalog.usage(plan, meter, { display_name: 'Calls', amount: '0.5' });
  await completeBackfills(world.api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('2026-03-01'),
    ...more,
  });
  return { plan, meter, customer, subscription };
}

async function invoicesOf(subscription: { id: string }) {
  const { body } = await world.api.post('/v1/invoices/search', {
    subscription_id: subscription.id,
  });
  return body.items.sort((left: any, right: any) => left.billing_sequence - right.billing_sequence);
}
const shown = (invoice: any) => ({
  reason: invoice.billing_reason,
  status: invoice.invoice_status,
  sequence: invoice.billing_sequence,
  period: `${invoice.period_start.slice(0, 10)}..${invoice.period_end.slice(0, 10)}`,
  rows: invoice.line_items.map(
    (line: any) =>
      `${line.display_name} ${line.quantity} ${line.amount} ${line.period_start.slice(5, 10)}..${line.period_end.slice(5, 10)}`,
  ),
});
const read = async (subscription: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${subscription.id}`)).body;

describe('the billing run', () => {
  test('a period that is over gets its draft, and the next one begins', async () => {
    const { meter, customer, subscription } = await subscribed();
    await world.usage.use(meter, customer, '2026-03-15T00:00:00.000Z', '7');
    await world.usage.use(meter, customer, day('2026-04-01'), '1000');
    world.api.clock.set(day('2026-04-01'));
    expect(await world.close()).toEqual({ advanced: 1, invoices: 1, failed: 0 });

    expect((await invoicesOf(subscription)).map(shown)).toEqual([
      {
        reason: 'SUBSCRIPTION_CREATE',
        status: 'FINALIZED',
        sequence: 1,
        period: '2026-03-01..2026-04-01',
        rows: ['Base 1 100 03-01..04-01'],
      },
      {
        reason: 'SUBSCRIPTION_CYCLE',
        status: 'DRAFT',
        sequence: 2,
        period: '2026-03-01..2026-04-01',
        rows: ['Base 1 100 04-01..05-01', 'Support 1 10 03-01..04-01', 'Calls 7 3.5 03-01..04-01'],
      },
    ]);
    expect(await read(subscription)).toMatchObject({
      current_period_start: day('2026-04-01'),
      current_period_end: day('2026-05-01'),
      subscription_status: 'active',
    });
  });

  test('without due subscriptions nothing is written or read', async () => {
    await subscribed();
    const reads = world.usage.reads.count;
    expect(await world.close()).toEqual({ advanced: 0, invoices: 0, failed: 0 });
    expect(world.usage.reads.count).toBe(reads);
  });

  test('several periods behind: one invoice each, oldest first, numbered in that order', async () => {
    world.api.clock.set(day('2026-06-20'));
    const { meter, customer, subscription } = await subscribed({ start_date: day('2026-02-28') });
    await world.usage.use(meter, customer, day('2026-03-01'), '2');
    await world.usage.use(meter, customer, day('2026-05-01'), '4');
    expect(await world.close()).toEqual({ advanced: 3, invoices: 3, failed: 0 });
    const cycles = (await invoicesOf(subscription)).slice(1).map(shown);
    expect(cycles.map(({ sequence, period, rows }: any) => [sequence, period, rows[2]])).toEqual([
      [2, '2026-02-28..2026-03-28', 'Calls 2 1 02-28..03-28'],
      [3, '2026-03-28..2026-04-28', 'Calls 0 0 03-28..04-28'],
      [4, '2026-04-28..2026-05-28', 'Calls 4 2 04-28..05-28'],
    ]);
    expect((await read(subscription)).current_period_start).toBe(day('2026-05-28'));
  });

  test('a whole page of subscriptions is one usage read', async () => {
    for (let index = 0; index < 5; index += 1) await subscribed();
    world.api.clock.set(day('2026-04-01'));
    const reads = world.usage.reads.count;
    const report = await world.close();
    expect(report!['advanced']).toBeGreaterThanOrEqual(5);
    expect(world.usage.reads.count).toBe(reads + 1);
    expect(world.usage.reads.questions).toBe(report!['advanced']);
  });

  test('usage cannot be read: nothing is written, and the next run does it', async () => {
    const { subscription } = await subscribed();
    world.api.clock.set(day('2026-04-01'));
    world.usage.outage(true);
    expect(await world.close()).toBeNull();
    expect(await invoicesOf(subscription)).toHaveLength(1);
    expect((await read(subscription)).current_period_start).toBe(day('2026-03-01'));
    world.usage.outage(false);
    await world.close();
    expect(await invoicesOf(subscription)).toHaveLength(2);
  });

  test('one subscription that cannot be billed does not delay the others', async () => {
    const bad = await subscribed();
    const good = await subscribed();
    const { pool } = world.api;
    await pool`update subscription_line_items set price_id = 'price_gone' where subscription_id = ${bad.subscription.id}`;
    world.api.clock.set(day('2026-04-01'));
    const report = await world.close();
    expect(report!['failed']).toBe(1);
    expect(await invoicesOf(bad.subscription)).toHaveLength(1);
    expect(await invoicesOf(good.subscription)).toHaveLength(2);
  });

  test('a row that the database refuses does not delay the others either', async () => {
    const bad = await subscribed();
    const good = await subscribed();
    const { pool } = world.api;
    await pool`alter table invoices add constraint refuses check (subscription_id <> ${pool.unsafe(`'${bad.subscription.id}'`)}) not valid`;
    world.api.clock.set(day('2026-04-01'));
    const report = await world.close();
    await pool`alter table invoices drop constraint refuses`;
    expect(report!['failed']).toBe(1);
    expect(await invoicesOf(bad.subscription)).toHaveLength(1);
    expect(await invoicesOf(good.subscription)).toHaveLength(2);
  });

  test('a draft that was created before is the draft of the period', async () => {
    const { customer, subscription } = await subscribed();
    const made = await world.api.post('/v1/invoices', {
      invoice_type: 'SUBSCRIPTION',
      customer_id: customer.id,
      subscription_id: subscription.id,
      currency: 'usd',
    });
    expect(made.status).toBe(201);
    world.api.clock.set(day('2026-04-01'));
    await world.close();
    const invoices = await invoicesOf(subscription);
    expect(invoices.map(({ id }: any) => id)).toEqual([invoices[0].id, made.body.id]);
    expect((await read(subscription)).current_period_start).toBe(day('2026-04-01'));
  });
});

describe('what else the clock does', () => {
  test('a start in the future: no invoice until it comes', async () => {
    const { subscription } = await subscribed({ start_date: day('2026-03-20') });
    expect(subscription).toMatchObject({ subscription_status: 'active', latest_invoice: null });
    await world.close();
    expect(await invoicesOf(subscription)).toHaveLength(0);
    world.api.clock.set(day('2026-03-20'));
    await world.close();
    expect((await invoicesOf(subscription)).map(shown)).toEqual([
      {
        reason: 'SUBSCRIPTION_CREATE',
        status: 'FINALIZED',
        sequence: 1,
        period: '2026-03-20..2026-04-20',
        rows: ['Base 1 100 03-20..04-20'],
      },
    ]);
    world.api.clock.set(day('2026-04-20'));
    await world.close();
    expect(await invoicesOf(subscription)).toHaveLength(2);
  });

  test('a trial: nothing to pay, its usage is free, then paid periods from its end', async () => {
    const { meter, customer, subscription } = await subscribed({
      start_date: day('2026-03-10'),
      trial_period_days: 14,
    });
    expect(subscription).toMatchObject({
      subscription_status: 'trialing',
      trial_start: day('2026-03-10'),
      trial_end: day('2026-03-24'),
      current_period_end: day('2026-03-24'),
    });
    await world.usage.use(meter, customer, day('2026-03-12'), '1000');
    await world.usage.use(meter, customer, day('2026-03-24'), '6');
    world.api.clock.set(day('2026-04-24'));
    await world.close();
    expect((await invoicesOf(subscription)).map(shown)).toEqual([
      {
        reason: 'SUBSCRIPTION_TRIAL_START',
        status: 'FINALIZED',
        sequence: 1,
        period: '2026-03-10..2026-03-24',
        rows: ['Base 1 0 03-10..03-24'],
      },
      {
        reason: 'SUBSCRIPTION_TRIAL_END',
        status: 'FINALIZED',
        sequence: 2,
        period: '2026-03-24..2026-04-24',
        rows: ['Base 1 100 03-24..04-24'],
      },
      {
        reason: 'SUBSCRIPTION_CYCLE',
        status: 'DRAFT',
        sequence: 3,
        period: '2026-03-24..2026-04-24',
        rows: ['Base 1 100 04-24..05-24', 'Support 1 10 03-24..04-24', 'Calls 6 3 03-24..04-24'],
      },
    ]);
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'active',
      billing_anchor: day('2026-03-24'),
      current_period_start: day('2026-04-24'),
    });
  });

  test('a calendar subscription keeps its grid after a trial', async () => {
    const { subscription } = await subscribed({
      start_date: day('2026-03-10'),
      trial_period_days: 14,
      billing_cycle: 'calendar',
      proration_behavior: 'create_prorations',
    });
    world.api.clock.set(day('2026-03-24'));
    await world.close();
    const [, first] = await invoicesOf(subscription);
    // 8 of 31 days.
    expect(shown(first).rows).toEqual(['Base 1 25.81 03-24..04-01']);
    expect((await read(subscription)).current_period_end).toBe(day('2026-04-01'));
  });

  test('an unpaid first invoice after a trial leaves allow_incomplete incomplete, and its cycles wait', async () => {
    const { subscription } = await subscribed({
      start_date: day('2026-03-10'),
      trial_period_days: 14,
      payment_behavior: 'allow_incomplete',
    });
    world.api.clock.set(day('2026-08-01'));
    await world.close();
    expect((await read(subscription)).subscription_status).toBe('incomplete');
    expect(await invoicesOf(subscription)).toHaveLength(2);
  });

  test('an end date: the last period is cut, opens no other, and the subscription is over', async () => {
    const { meter, customer, subscription } = await subscribed({
      end_date: day('2026-04-11'),
      proration_behavior: 'create_prorations',
    });
    await world.usage.use(meter, customer, day('2026-04-10'), '3');
    await world.usage.use(meter, customer, day('2026-04-11'), '1000');
    world.api.clock.set(day('2026-05-01'));
    await world.close();
    const cycles = (await invoicesOf(subscription)).slice(1).map(shown);
    expect(cycles.map(({ rows }: any) => rows)).toEqual([
      // 10 of 30 days.
      ['Base 1 33.33 04-01..04-11', 'Support 1 10 03-01..04-01', 'Calls 0 0 03-01..04-01'],
      ['Support 1 3.33 04-01..04-11', 'Calls 3 1.5 04-01..04-11'],
    ]);
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'cancelled',
      cancelled_at: day('2026-04-11'),
      end_date: day('2026-04-11'),
    });
  });

  test('notifications are written with their payload', async () => {
    const { subscription } = await subscribed({ end_date: day('2026-04-01') });
    world.api.clock.set(day('2026-04-01'));
    await world.close();
    const events = await world.api.pool`
      select event_type, entity_type from outbox
       where payload -> 'subscription' ->> 'id' = ${subscription.id}
          or payload -> 'invoice' ->> 'subscription_id' = ${subscription.id}
       order by sequence`;
    expect(events.map((row) => row['event_type'])).toEqual([
      'subscription.created',
      'invoice.update.finalized',
      'invoice.update',
      'subscription.cancelled',
    ]);
  });
});
