import { billingWorldFrom } from '../support/billing-world.ts';
import { day } from '../support/day.ts';
import { completeBackfills } from '../support/usage-oracle.ts';
import { eventsOf, invoiceDue, payOffline } from '../support/payments.ts';
import { inTurns } from '../support/turns.ts';

const world = billingWorldFrom('2026-11-01T00:00:00.000Z');
beforeEach(async () => {
  await world.api.pool`delete from settings where key = 'subscription_config'`;
});

const read = async ({ id }: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${id}`)).body;
async function invoicesOf({ id }: { id: string }) {
  const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id });
  return body.items
    .sort((left: any, right: any) => left.billing_sequence - right.billing_sequence)
    .map((invoice: any) => [
      invoice.billing_reason,
      invoice.invoice_status,
      invoice.period_start.slice(0, 10),
      invoice.total,
    ]);
}
const configure = (value: object) => world.api.put('/v1/settings/subscription_config', { value });

describe('an incomplete subscription (billing 10.3)', () => {
  test('is not billed on; once its first invoice is paid, the passed periods are caught up', async () => {
    const { subscription, invoice } = await invoiceDue(world.api, '100', {
      payment_behavior: 'default_incomplete',
    });
    world.api.clock.set(day('2027-01-10'));
    await world.close();
    expect(await invoicesOf(subscription)).toHaveLength(1);

    await payOffline(world.api, invoice, '100');
    expect(await read(subscription)).toMatchObject({ subscription_status: 'active' });
    await world.close();
    expect(await invoicesOf(subscription)).toEqual([
      ['SUBSCRIPTION_CREATE', 'FINALIZED', '2026-11-01', '100'],
      ['SUBSCRIPTION_CYCLE', 'DRAFT', '2026-11-01', '100'],
      ['SUBSCRIPTION_CYCLE', 'DRAFT', '2026-12-01', '100'],
    ]);
    expect(await read(subscription)).toMatchObject({ current_period_start: day('2027-01-01') });
  });

  test('a trial that ends unpaid waits as well, and continues when it is paid', async () => {
    const { subscription } = await invoiceDue(world.api, '100', {
      payment_behavior: 'default_incomplete',
      trial_period_days: 5,
    });
    world.api.clock.set(day('2026-11-06'));
    await world.close();
    const waiting = await read(subscription);
    expect(waiting).toMatchObject({ subscription_status: 'incomplete' });
    await payOffline(world.api, waiting.latest_invoice, '100');
    world.api.clock.set(day('2026-12-06'));
    await world.close();
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'active',
      current_period_start: day('2026-12-06'),
    });
  });

  test('a payment in progress waits for its outcome and holds up no other subscription', async () => {
    await configure({ grace_period_days: 2, auto_cancellation_enabled: true });
    const terms = { payment_behavior: 'default_incomplete' };
    const both = [
      await invoiceDue(world.api, '100', terms),
      await invoiceDue(world.api, '100', terms),
    ];
    const [first, second] = both.sort((left, right) =>
      left.subscription.id < right.subscription.id ? -1 : 1,
    );
    const { body: payment } = await payOffline(world.api, first!.invoice, '100', {
      process_payment: false,
    });
    const become = (payment_status: string) =>
      world.api.put(`/v1/payments/${payment.id}`, { payment_status });
    expect((await become('PROCESSING')).status).toBe(200);
    world.api.clock.set(day('2026-11-10'));
    expect(await world.cancelUnpaid()).toEqual({ cancelled: 1, failed: 0 });
    expect(await read(second!.subscription)).toMatchObject({ subscription_status: 'cancelled' });
    expect(await read(first!.subscription)).toMatchObject({ subscription_status: 'incomplete' });
    expect((await become('FAILED')).status).toBe(200);
    expect(await world.cancelUnpaid()).toEqual({ cancelled: 1, failed: 0 });
    expect(await read(first!.subscription)).toMatchObject({ subscription_status: 'cancelled' });
  });

  test('stays by default; with the setting it is cancelled after the grace, and its invoice void', async () => {
    const { subscription, invoice } = await invoiceDue(world.api, '100', {
      payment_behavior: 'default_incomplete',
    });
    const paid = await invoiceDue(world.api, '100', { payment_behavior: 'default_incomplete' });
    await payOffline(world.api, paid.invoice, '1');
    // Due a day after the issue, and two days of grace.
    world.api.clock.set(day('2026-11-04'));
    expect(await world.cancelUnpaid()).toEqual({ cancelled: 0, failed: 0 });
    await configure({ grace_period_days: 2, auto_cancellation_enabled: true });
    world.api.clock.set('2026-11-03T23:59:59.999Z');
    expect(await world.cancelUnpaid()).toEqual({ cancelled: 0, failed: 0 });
    world.api.clock.set(day('2026-11-04'));
    expect(await world.cancelUnpaid()).toEqual({ cancelled: 1, failed: 0 });
    expect(await world.cancelUnpaid()).toEqual({ cancelled: 0, failed: 0 });

    expect(await read(subscription)).toMatchObject({
      subscription_status: 'cancelled',
      cancelled_at: day('2026-11-04'),
      end_date: day('2026-11-04'),
      metadata: { cancellation_reason: 'The first invoice was not paid in time.' },
    });
    expect((await world.api.get(`/v1/invoices/${invoice.id}`)).body.invoice_status).toBe('VOIDED');
    expect(await eventsOf(world.api, subscription.id)).toContain('subscription.cancelled');
    expect(await read(paid.subscription)).toMatchObject({ subscription_status: 'incomplete' });
  });
});

/** It was never active, so its end bills nothing and takes back what it was asked to pay (billing 13). */
test('the job waits for a later due date that is being set, and then leaves the subscription', async () => {
  await configure({ grace_period_days: 2, auto_cancellation_enabled: true });
  const terms = { payment_behavior: 'default_incomplete' };
  const { subscription, invoice } = await invoiceDue(world.api, '100', terms);
  world.api.clock.set(day('2026-11-10'));
  const put = { due_date: day('2026-11-20') };
  const [updated, report] = await inTurns<[{ status: number }, unknown]>(
    world.api,
    (tx) => tx`select from subscriptions where id = ${subscription.id} for update`,
    () => world.api.put(`/v1/invoices/${invoice.id}`, put),
    () => world.cancelUnpaid(),
  );
  expect(updated.status).toBe(200);
  expect(report).toEqual({ cancelled: 0, failed: 0 });
  expect(await read(subscription)).toMatchObject({ subscription_status: 'incomplete' });
  world.api.clock.set(day('2026-11-22'));
  expect(await world.cancelUnpaid()).toEqual({ cancelled: 1, failed: 0 });
});

describe('an incomplete subscription that is cancelled', () => {
  /** 100.00 in advance, 31.00 in arrears and 50 calls at 0.02 on 11 November. */
  async function incomplete(more: object = {}) {
    const plan = await world.catalog.plan();
    const meter = await world.catalog.meter();
    await world.catalog.fixed(plan, '100');
    await world.catalog.fixed(plan, '31', { invoice_cadence: 'ARREAR' });
    await world.catalog.usage(plan, meter);
    const customer = await world.catalog.customer();
    const subscription = await world.catalog.subscribe(customer, plan, {
      start_date: day('2026-11-01'),
      payment_behavior: 'default_incomplete',
      proration_behavior: 'create_prorations',
      ...more,
    });
    expect(subscription.subscription_status).toBe('incomplete');
    await world.usage.use(meter, customer, day('2026-11-11'), '50');
    await completeBackfills(world.api.pool);
    return { customer, subscription, opening: subscription.latest_invoice };
  }
  const cancel = ({ id }: { id: string }, body: object) =>
    world.api.post(`/v1/subscriptions/${id}/cancel`, body);
  const creditsOf = async ({ id }: { id: string }) => {
    const { body } = await world.api.get(`/v1/customers/${id}/wallets`);
    return body.map(({ balance }: any) => balance);
  };
  const VOIDED = [['SUBSCRIPTION_CREATE', 'VOIDED', '2026-11-01', '100']];

  test.each(['2026-11-16', '2027-01-10'])('by hand on %s: nothing is billed', async (date) => {
    const { customer, subscription } = await incomplete();
    world.api.clock.set(day(date));
    const { status, body } = await cancel(subscription, { cancellation_type: 'immediate' });
    expect([status, body.proration_invoice, body.total_credit_amount]).toEqual([200, null, '0']);
    expect(await invoicesOf(subscription)).toEqual(VOIDED);
    expect(await creditsOf(customer)).toEqual([]);
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'cancelled',
      cancelled_at: day(date),
    });
  });

  test('by the job: nothing is billed, and what was planned does not take place', async () => {
    const { subscription } = await incomplete();
    await configure({ grace_period_days: 2, auto_cancellation_enabled: true });
    await cancel(subscription, {
      cancellation_type: 'scheduled_date',
      cancel_at: day('2027-03-01'),
    });
    world.api.clock.set(day('2026-11-16'));
    expect(await world.cancelUnpaid()).toEqual({ cancelled: 1, failed: 0 });
    expect(await invoicesOf(subscription)).toEqual(VOIDED);
    const { body } = await world.api.get(
      `/v1/subscriptions/schedules?subscription_id=${subscription.id}&pending_only=false`,
    );
    expect(body.schedules.map(({ status }: any) => status)).toEqual(['cancelled']);
  });

  test('after a part of the first invoice was paid: that part returns to the customer', async () => {
    const { customer, subscription, opening } = await incomplete();
    await payOffline(world.api, opening, '40');
    world.api.clock.set(day('2026-11-16'));
    expect((await cancel(subscription, { cancellation_type: 'immediate' })).status).toBe(200);
    expect(await invoicesOf(subscription)).toEqual(VOIDED);
    expect(await creditsOf(customer)).toEqual(['40']);
  });

  test.each`
    what                     | ends            | more                               | body
    ${"at the period's end"} | ${'2026-12-01'} | ${{}}                              | ${{ cancellation_type: 'end_of_period' }}
    ${'at a date'}           | ${'2026-11-16'} | ${{}}                              | ${{ cancellation_type: 'scheduled_date', cancel_at: day('2026-11-16') }}
    ${'in a later period'}   | ${'2027-01-10'} | ${{}}                              | ${{ cancellation_type: 'scheduled_date', cancel_at: day('2027-01-10') }}
    ${'by its own end'}      | ${'2026-11-16'} | ${{ end_date: day('2026-11-16') }} | ${null}
  `('$what: it ends then, and nothing is billed', async ({ ends, more, body }) => {
    const { customer, subscription } = await incomplete(more);
    if (body !== null) expect((await cancel(subscription, body)).status).toBe(200);
    world.api.clock.set(new Date(Date.parse(day(ends)) - 1).toISOString());
    await world.close();
    expect(await read(subscription)).toMatchObject({ subscription_status: 'incomplete' });
    world.api.clock.set(day('2027-02-01'));
    await world.close();
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'cancelled',
      cancelled_at: day(ends),
      end_date: day(ends),
    });
    expect(await invoicesOf(subscription)).toEqual([
      [...VOIDED[0]!.slice(0, 3), expect.any(String)],
    ]);
    expect(await creditsOf(customer)).toEqual([]);
    const events = await eventsOf(world.api, subscription.id);
    expect(events.filter((event) => event === 'subscription.cancelled')).toHaveLength(1);
  });

  test('paid in time: its cancellation at the end of the period takes place as that of an active one', async () => {
    const { subscription, opening } = await incomplete();
    await cancel(subscription, { cancellation_type: 'end_of_period' });
    world.api.clock.set(day('2026-11-20'));
    await payOffline(world.api, opening, '100');
    world.api.clock.set(day('2026-12-01'));
    await world.close();
    // 31.00 in arrears and 50 calls.
    expect(await invoicesOf(subscription)).toEqual([
      ['SUBSCRIPTION_CREATE', 'FINALIZED', '2026-11-01', '100'],
      ['SUBSCRIPTION_CYCLE', 'DRAFT', '2026-11-01', '32'],
    ]);
    expect(await read(subscription)).toMatchObject({ subscription_status: 'cancelled' });
  });

  test('its changes are billed and taken back as well, and their payment does not activate it', async () => {
    const { customer, subscription } = await incomplete();
    const { body: addon } = await world.api.post('/v1/addons', {
      name: 'Support',
      lookup_key: `support-${subscription.id}`,
      type: 'multiple_instance',
    });
    await world.catalog.fixed(addon, '30', { entity_type: 'ADDON' });
    world.api.clock.set(day('2026-11-16'));
    const attached = await world.api.post(`/v1/subscriptions/${subscription.id}/modify/execute`, {
      type: 'addon',
      addon_params: { action: 'add', add: { addon_id: addon.id } },
    });
    expect([attached.status, attached.body.message]).toEqual([200, undefined]);
    const { latest_invoice } = await read(subscription);
    // 15 of 30 days.
    expect([latest_invoice.billing_reason, latest_invoice.total]).toEqual([
      'SUBSCRIPTION_UPDATE',
      '15',
    ]);
    await payOffline(world.api, latest_invoice, '15');
    expect((await read(subscription)).subscription_status).toBe('incomplete');
    await cancel(subscription, { cancellation_type: 'immediate' });
    expect((await invoicesOf(subscription)).map(([, status]: string[]) => status)).toEqual([
      'VOIDED',
      'VOIDED',
    ]);
    expect(await creditsOf(customer)).toEqual(['15']);
  });

  test('a draft that replaces its first invoice is void too', async () => {
    const { subscription, opening } = await incomplete();
    const edited = await world.api.post(`/v1/invoices/${opening.id}/modify/execute`, {
      line_items: [{ action: 'add', display_name: 'Work', amount: '1', quantity: '1' }],
    });
    expect([edited.status, edited.body.message]).toEqual([200, undefined]);
    await cancel(subscription, { cancellation_type: 'immediate' });
    expect((await invoicesOf(subscription)).map(([, status]: string[]) => status)).toEqual([
      'VOIDED',
      'VOIDED',
    ]);
  });

  test('its periods are not drafted on request; they are caught up once it is paid', async () => {
    const { customer, subscription, opening } = await incomplete();
    const draft = () =>
      world.api.post('/v1/invoices', {
        ...{ subscription_id: subscription.id, customer_id: customer.id, currency: 'usd' },
        ...{ invoice_type: 'SUBSCRIPTION', amount_due: '0', subtotal: '0', total: '0' },
        ...{ period_start: day('2026-11-01'), period_end: day('2026-12-01') },
      });
    const refused = await draft();
    expect([refused.status, refused.body.details[0].path]).toEqual([400, 'subscription_status']);
    expect(await invoicesOf(subscription)).toHaveLength(1);
    const { body } = await world.api.get(`/v1/invoices/${opening.id}`);
    await payOffline(world.api, opening, body.amount_remaining);
    expect((await read(subscription)).subscription_status).toBe('active');
    expect((await draft()).status).toBe(201);
  });
});
