import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';
import { eventually } from '../support/metering-world.ts';
import { day } from '../support/day.ts';
import { payOffline } from '../support/payments.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
  await world.api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => world.stop());
beforeEach(async () => {
  world.api.clock.set('2026-11-01T00:00:00.000Z');
  await world.api.pool`update subscriptions set due_at = null`;
  await world.api.pool`update invoices set finalize_after = null`;
  await world.api.pool`delete from settings where key = 'payment_retry_config'`;
  await world.api.pool`delete from invoice_collections`;
});

const get = async (path: string) => (await world.api.get(`/v1${path}`)).body;
const methodsOf = (customer: { id: string }) => `/v1/customers/${customer.id}/payment-methods`;
const save = async (customer: { id: string }, outcome: string, more: object = {}) => {
  const sent = { gateway_method_id: `pm_test_${outcome}`, is_default: true, ...more };
  return (await world.api.post(methodsOf(customer), sent)).body;
};
const chargesOf = async (invoice: { id: string }) =>
  await world.api.pool<{ state: string; amount: string }[]>`
    select t.state, t.amount from test_gateway_payments t join payments p on p.id = t.reference
     where p.destination_id = ${invoice.id} order by t.created_at, t.id`;
const outcomeOf = (paymentId: string, outcome: string) =>
  world.api.post(`/v1/test-gateway/payments/${paymentId}/outcome`, { outcome });
const configure = (value: object) => world.api.put('/v1/settings/payment_retry_config', { value });

/** A credit note over the whole invoice. */
async function credited(invoice_id: string) {
  const { line_items } = await get(`/invoices/${invoice_id}`);
  return await world.api.post('/v1/creditnotes', {
    invoice_id,
    reason: 'BILLING_ERROR',
    process_credit_note: true,
    line_items: [{ invoice_line_item_id: line_items[0].id, amount: '100' }],
  });
}

/** A customer with a saved method, and a plan of 100 in advance. */
async function buyer(outcome: string | null = 'success') {
  const { catalog } = world;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '100', { display_name: 'Base' });
  const customer = await catalog.customer();
  if (outcome !== null) await save(customer, outcome);
  const subscribe = (more: object = {}) =>
    world.api.post('/v1/subscriptions', {
      customer_id: customer.id,
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: day('2026-11-01'),
      ...more,
    });
  return { customer, plan, subscribe };
}

/** Finalizes the cycle's draft of December: no customer is there. */
async function renewed(customer: { id: string }, subscribe: () => Promise<{ body: any }>) {
  const { body: subscription } = await subscribe();
  world.api.clock.set('2026-12-01T03:00:00.000Z');
  await world.close();
  await world.finalize();
  const found = await world.api.post('/v1/invoices/search', { subscription_id: subscription.id });
  const invoice = found.body.items.find((row: any) => row.billing_reason === 'SUBSCRIPTION_CYCLE');
  expect([invoice.invoice_status, invoice.customer_id]).toEqual(['FINALIZED', customer.id]);
  return { subscription, invoice, read: () => get(`/invoices/${invoice.id}`) };
}

describe('charged at issue (money 8.6)', () => {
  test('a renewal is charged to the saved method, once, however often the job runs', async () => {
    const { customer, subscribe } = await buyer();
    const { invoice, read } = await renewed(customer, subscribe);
    expect(invoice).toMatchObject({
      payment_status: 'PENDING',
      collection: { status: 'scheduled', attempt_count: 0, last_payment_id: null },
    });
    await world.collect();
    await world.collect();
    expect(await chargesOf(invoice)).toMatchObject([{ state: 'succeeded', amount: '100' }]);
    expect(await read()).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '100',
      collection: { status: 'collected', attempt_count: 1, next_attempt_at: null },
    });
  });

  test.each`
    what                        | method       | terms
    ${'without a method'}       | ${null}      | ${{}}
    ${'when invoices are sent'} | ${'success'} | ${{ collection_method: 'send_invoice' }}
  `('nothing is charged $what; the invoice stays PENDING', async ({ method, terms }) => {
    const { customer, subscribe } = await buyer(method);
    const { invoice, read } = await renewed(customer, () => subscribe(terms));
    await world.collect();
    expect(await chargesOf(invoice)).toEqual([]);
    expect(await read()).toMatchObject({ payment_status: 'PENDING', collection: null });
  });

  test('the method that the subscription names is charged, else the default', async () => {
    const { customer, subscribe } = await buyer('decline');
    const named = await save(customer, 'success', { is_default: false });
    const terms = { gateway_payment_method_id: named.id };
    const { body } = await subscribe(terms);
    expect(body).toMatchObject({ gateway_payment_method_id: named.id });
    expect(body.latest_invoice.payment_status).toBe('SUCCEEDED');
    await world.api.delete(`${methodsOf(customer)}/${named.id}`);
    const { body: other } = await subscribe({});
    expect(other.latest_invoice.payment_status).toBe('FAILED');
    const refused = await subscribe(terms);
    expect(refused.body.details[0].path).toBe('gateway_payment_method_id');
  });

  test('an amount above payment_mandate_limits of the method waits for the customer', async () => {
    const limit = (max_amount: string, currency: string) =>
      world.api.put('/v1/settings/payment_mandate_limits', {
        value: { mandate_limits: { CARD: { max_amount, currency } } },
      });
    const paid = async () => {
      const { subscribe } = await buyer();
      return (await subscribe({})).body.latest_invoice.payment_status;
    };
    expect((await limit('99.99', 'USD')).status).toBe(200);
    expect(await paid()).toBe('PENDING');
    await limit('99.99', 'EUR');
    expect(await paid()).toBe('SUCCEEDED');
    await limit('100', '');
    expect(await paid()).toBe('SUCCEEDED');
    await world.api.delete('/v1/settings/payment_mandate_limits');
  });

  test('an amount that was paid in another way is not charged again', async () => {
    const { customer, subscribe } = await buyer();
    const { invoice, read } = await renewed(customer, subscribe);
    await payOffline(world.api, invoice, '40');
    await world.collect();
    expect(await chargesOf(invoice)).toMatchObject([{ amount: '60' }]);
    expect(await read()).toMatchObject({ amount_paid: '100', overpaid_amount: '0' });
  });

  test('a void invoice and one that a link in flight covers are not charged', async () => {
    const { customer, subscribe } = await buyer();
    const voided = await renewed(customer, subscribe);
    await world.api.post(`/v1/invoices/${voided.invoice.id}/void`);
    world.api.clock.set('2026-11-01T00:00:00.000Z');
    const other = await buyer();
    const linked = await renewed(other.customer, other.subscribe);
    await payOffline(world.api, linked.invoice, '100', {
      payment_method_type: 'PAYMENT_LINK',
      payment_gateway: 'test',
    });
    await world.collect();
    expect(await chargesOf(voided.invoice)).toEqual([]);
    expect(await chargesOf(linked.invoice)).toMatchObject([{ state: 'pending' }]);
    expect((await voided.read()).collection).toMatchObject({ status: 'stopped' });
  });

  test('a second click at the same time as the job: one charge', async () => {
    const { customer, subscribe } = await buyer();
    const { invoice, read } = await renewed(customer, subscribe);
    const attempt = () => world.api.post(`/v1/invoices/${invoice.id}/payment/attempt`);
    await Promise.all([attempt(), attempt(), world.collect()]);
    expect(await chargesOf(invoice)).toHaveLength(1);
    expect(await read()).toMatchObject({ amount_paid: '100', payment_status: 'SUCCEEDED' });
  });
});

describe('the first invoice (billing 10.3)', () => {
  test.each`
    behavior                 | method       | status          | payment
    ${'default_active'}      | ${'success'} | ${'active'}     | ${'SUCCEEDED'}
    ${'default_active'}      | ${'decline'} | ${'active'}     | ${'FAILED'}
    ${'allow_incomplete'}    | ${'success'} | ${'active'}     | ${'SUCCEEDED'}
    ${'allow_incomplete'}    | ${'decline'} | ${'incomplete'} | ${'FAILED'}
    ${'error_if_incomplete'} | ${'success'} | ${'active'}     | ${'SUCCEEDED'}
    ${'error_if_incomplete'} | ${'timeout'} | ${'incomplete'} | ${'PENDING'}
    ${'default_incomplete'}  | ${'success'} | ${'incomplete'} | ${'PENDING'}
  `('$behavior, $method: $status', async ({ behavior, method, status, payment }) => {
    const { subscribe } = await buyer(method);
    const { status: code, body } = await subscribe({ payment_behavior: behavior });
    expect(code).toBe(201);
    expect(body).toMatchObject({
      subscription_status: status,
      latest_invoice: { payment_status: payment },
    });
  });

  test('error_if_incomplete, declined: refused, and nothing of it is left to bill', async () => {
    const { customer, subscribe } = await buyer('decline');
    const { status, body } = await subscribe({ payment_behavior: 'error_if_incomplete' });
    expect([status, body.details[0].code]).toEqual([400, 'payment_failed']);
    const found = await world.api.post('/v1/subscriptions/search', { customer_id: customer.id });
    expect(found.body.items).toEqual([]);
    const invoices = await world.api.post('/v1/invoices/search', { customer_id: customer.id });
    expect(invoices.body.items).toEqual([]);
  });

  test('an unknown outcome settles later, and then activates', async () => {
    const { subscribe } = await buyer('timeout');
    const { body } = await subscribe({ payment_behavior: 'allow_incomplete' });
    expect(body.subscription_status).toBe('incomplete');
    world.api.clock.advance(3_600_000);
    await world.reconcile();
    expect(await get(`/subscriptions/${body.id}`)).toMatchObject({ subscription_status: 'active' });
  });

  test.each(['success', 'decline'])('at the end of a trial, %s', async (method) => {
    const { subscribe } = await buyer(method);
    const terms = { payment_behavior: 'allow_incomplete', trial_period_days: 5 };
    const { body } = await subscribe(terms);
    expect(body.subscription_status).toBe('trialing');
    world.api.clock.set(day('2026-11-06'));
    await world.close();
    await world.collect();
    expect(await get(`/subscriptions/${body.id}`)).toMatchObject({
      subscription_status: method === 'success' ? 'active' : 'incomplete',
    });
  });

  test('at the activation of a draft', async () => {
    const { subscribe } = await buyer();
    const { body: draft } = await subscribe({
      payment_behavior: 'allow_incomplete',
      subscription_status: 'draft',
    });
    const path = `/v1/subscriptions/${draft.id}/activate`;
    const { body } = await world.api.post(path, { start_date: day('2026-11-01') });
    expect(body).toMatchObject({
      subscription_status: 'active',
      latest_invoice: { payment_status: 'SUCCEEDED' },
    });
  });
});

describe('retries (money 8.7)', () => {
  test('without the setting: one charge', async () => {
    const { subscribe } = await buyer('decline');
    const { body } = await subscribe();
    const invoice = body.latest_invoice;
    world.api.clock.set(day('2026-11-30'));
    await world.collect();
    expect(await chargesOf(invoice)).toHaveLength(1);
    expect(await get(`/invoices/${invoice.id}`)).toMatchObject({
      payment_status: 'FAILED',
      collection: { status: 'exhausted', attempt_count: 1, upcoming_attempts: [] },
    });
  });

  test('the schedule is shown and kept; a new default is charged; a late run charges once', async () => {
    await configure({ enabled: true, intervals_days: [1, 3, 5] });
    const { customer, subscribe } = await buyer('decline');
    const { body } = await subscribe();
    const invoice = body.latest_invoice;
    const collection = async () => (await get(`/invoices/${invoice.id}`)).collection;
    expect(await collection()).toMatchObject({
      status: 'scheduled',
      attempt_count: 1,
      next_attempt_at: day('2026-11-02'),
      upcoming_attempts: [day('2026-11-02'), day('2026-11-05'), day('2026-11-10')],
    });
    world.api.clock.set('2026-11-01T23:59:59.999Z');
    await world.collect();
    expect(await chargesOf(invoice)).toHaveLength(1);
    // Days late: one charge, and the next one counts from it.
    world.api.clock.set(day('2026-11-20'));
    await world.collect();
    await world.collect();
    expect(await chargesOf(invoice)).toHaveLength(2);
    expect(await collection()).toMatchObject({
      attempt_count: 2,
      upcoming_attempts: [day('2026-11-23'), day('2026-11-28')],
    });
    await save(customer, 'success');
    world.api.clock.set(day('2026-11-23'));
    await world.collect();
    expect(await chargesOf(invoice)).toHaveLength(3);
    expect(await get(`/invoices/${invoice.id}`)).toMatchObject({
      payment_status: 'SUCCEEDED',
      collection: { status: 'collected', attempt_count: 3 },
    });
  });

  test('after the last charge: the subscription is cancelled if the tenant asks for it', async () => {
    await configure({ enabled: true, intervals_days: [1], final_action: 'cancel' });
    const { subscribe } = await buyer('decline');
    const { body } = await subscribe();
    world.api.clock.set(day('2026-11-02'));
    await world.collect();
    expect(await get(`/subscriptions/${body.id}`)).toMatchObject({
      subscription_status: 'cancelled',
    });
    expect((await get(`/invoices/${body.latest_invoice.id}`)).collection).toMatchObject({
      status: 'exhausted',
      attempt_count: 2,
    });
    expect(await world.collect()).toMatchObject({ charged: 0, cancelled: 0, failed: 0 });
  });

  describe('an invoice that is settled when its subscription is to be cancelled', () => {
    /** An invoice whose last charge has failed; the job that cancels has not run yet. */
    async function exhausted() {
      await configure({ enabled: true, intervals_days: [1], final_action: 'cancel' });
      const { subscribe } = await buyer('decline');
      const { body } = await subscribe();
      const invoice = body.latest_invoice;
      await save({ id: body.customer_id }, '3ds');
      world.api.clock.set(day('2026-11-02'));
      expect(await world.collect()).toMatchObject({ charged: 1, cancelled: 0 });
      const { last_payment_id } = (await get(`/invoices/${invoice.id}`)).collection;
      await outcomeOf(last_payment_id, 'decline');
      const [mark] = await world.api.pool`
        select pending_action from invoice_collections where invoice_id = ${invoice.id}`;
      expect(mark).toEqual({ pending_action: 'cancel' });
      const status = async () => (await get(`/subscriptions/${body.id}`)).subscription_status;
      const read = () => get(`/invoices/${invoice.id}`);
      return { subscription: body, invoice, status, read };
    }

    /** Both commands want the subscription, which a third one holds until both wait, the first one first. */
    async function inOrder(
      { subscription }: { subscription: { id: string } },
      commands: readonly (() => Promise<unknown>)[],
    ) {
      const { pool } = world.api;
      const waiting = async (count: number) =>
        await eventually(async () => {
          const rows = await pool`
            select from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock'`;
          expect(rows).toHaveLength(count);
        });
      const started: Promise<unknown>[] = [];
      await pool.begin(async (tx) => {
        await tx`select from subscriptions where id = ${subscription.id} for update`;
        for (const command of commands) {
          started.push(command());
          await waiting(started.length);
        }
      });
      return await Promise.all(started);
    }

    test('the payment is first: the subscription goes on', async () => {
      const one = await exhausted();
      await inOrder(one, [() => payOffline(world.api, one.invoice, '100'), () => world.collect()]);
      expect(await one.read()).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '100' });
      expect(await one.status()).toBe('active');
      expect(await world.collect()).toMatchObject({ cancelled: 0 });
    });

    test('the cancellation is first: the payment counts, and the subscription has ended', async () => {
      const one = await exhausted();
      await inOrder(one, [() => world.collect(), () => payOffline(world.api, one.invoice, '100')]);
      expect(await one.read()).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '100' });
      expect(await one.status()).toBe('cancelled');
    });

    test.each`
      what                 | change
      ${'is void'}         | ${(id: string) => world.api.post(`/v1/invoices/${id}/void`)}
      ${'is paid by hand'} | ${(id: string) => world.api.put(`/v1/invoices/${id}/payment`, { payment_status: 'SUCCEEDED' })}
      ${'is credited'}     | ${credited}
    `('an invoice that $what before the job runs cancels nothing', async ({ change }) => {
      const one = await exhausted();
      const { status } = await change(one.invoice.id);
      expect([200, 201]).toContain(status);
      expect(await world.collect()).toMatchObject({ cancelled: 0 });
      expect(await one.status()).toBe('active');
      const { pool } = world.api;
      expect(
        await pool`select from invoice_collections where pending_action is not null`,
      ).toHaveLength(0);
    });
  });

  test('an invoice whose payments were all refunded is not charged again', async () => {
    await configure({ enabled: true, intervals_days: [1] });
    const { subscribe } = await buyer('decline');
    const { latest_invoice: invoice } = (await subscribe()).body;
    const { id: payment_id } = (await payOffline(world.api, invoice, '40')).body;
    await world.api.post('/v1/refunds', { payment_id, amount: '40', target: 'PREPAID_WALLET' });
    world.api.clock.set(day('2026-11-02'));
    expect(await world.collect()).toMatchObject({ charged: 0, failed: 0 });
    expect(await get(`/invoices/${invoice.id}`)).toMatchObject({
      payment_status: 'REFUNDED',
      amount_remaining: '60',
      collection: { status: 'stopped', attempt_count: 1 },
    });
  });

  test('a person who deletes the pending payment stops the charges', async () => {
    await configure({ enabled: true });
    const { subscribe } = await buyer('3ds');
    const { body } = await subscribe();
    const { last_payment_id } = body.latest_invoice.collection;
    await world.api.delete(`/v1/payments/${last_payment_id}`);
    expect((await get(`/invoices/${body.latest_invoice.id}`)).collection.status).toBe('stopped');
  });
});

describe('the invoice of an automatic top-up (money 3.7, 3.8)', () => {
  const AUTO = { enabled: true, invoicing: true, threshold: '10', amount: '25' };
  /** A wallet with 12 credits, whose first debit leaves 10: the first top-up. */
  async function lowWallet(outcome: string | null, more: object = {}) {
    const customer = await world.catalog.customer();
    if (outcome !== null) await save(customer, outcome);
    const { body: wallet } = await world.api.post('/v1/wallets', {
      customer_id: customer.id,
      currency: 'usd',
      initial_credits_to_load: '12',
      auto_topup: { ...AUTO, ...more },
    });
    const debit = async (key: string, credits: string) => {
      const sent = {
        credits,
        transaction_reason: 'MANUAL_BALANCE_DEBIT',
        idempotency_key: `${key} ${wallet.id}`,
      };
      const { status } = await world.api.post(`/v1/wallets/${wallet.id}/debit`, sent);
      expect(status).toBe(200);
    };
    const invoices = async () => {
      const { body } = await world.api.post('/v1/invoices/search', { customer_id: customer.id });
      return body.items;
    };
    const credits = async () => (await get(`/wallets/${wallet.id}`)).credit_balance;
    await debit('first', '2');
    return { customer, debit, invoices, credits };
  }

  test('is charged to the default method, and its payment adds the credits', async () => {
    const { invoices, credits } = await lowWallet('success');
    const [invoice] = await invoices();
    expect(invoice).toMatchObject({
      billing_reason: 'WALLET_AUTO_TOPUP',
      collection: { status: 'scheduled' },
    });
    await world.collect();
    await world.collect();
    expect(await chargesOf(invoice)).toMatchObject([{ state: 'succeeded', amount: '25' }]);
    expect((await get(`/invoices/${invoice.id}`)).payment_status).toBe('SUCCEEDED');
    expect(await credits()).toBe('35');
  });

  test('without a saved method it waits for the customer, and its payment allows the next at once', async () => {
    const { debit, invoices, credits } = await lowWallet(null);
    const [invoice] = await invoices();
    await world.collect();
    expect(invoice.collection).toBeNull();
    await payOffline(world.api, invoice, '25');
    await debit('second', '25');
    expect(await invoices()).toHaveLength(2);
    expect(await credits()).toBe('10');
  });

  test.each`
    cooldown     | early                     | late
    ${undefined} | ${'2026-11-01T00:59:59Z'} | ${'2026-11-01T01:00:00Z'}
    ${'10m'}     | ${'2026-11-01T00:09:59Z'} | ${'2026-11-01T00:10:00Z'}
  `(
    'the next charge follows an hour later, or as configured: $cooldown',
    async ({ cooldown, early, late }) => {
      const { debit, invoices } = await lowWallet('success', { cooldown });
      await world.collect();
      world.api.clock.set(early);
      await debit('second', '25');
      expect(await invoices()).toHaveLength(1);
      world.api.clock.set(late);
      await debit('third', '1');
      expect(await invoices()).toHaveLength(2);
    },
  );

  test('a declined charge blocks the next one until its invoice is paid', async () => {
    const { customer, debit, invoices, credits } = await lowWallet('decline');
    const [invoice] = await invoices();
    await world.collect();
    expect((await get(`/invoices/${invoice.id}`)).payment_status).toBe('FAILED');
    expect(await credits()).toBe('10');
    world.api.clock.set('2026-11-01T06:00:00Z');
    await debit('second', '1');
    expect(await invoices()).toHaveLength(1);
    await save(customer, 'success');
    await payOffline(world.api, invoice, '25');
    await debit('third', '24');
    expect(await invoices()).toHaveLength(2);
  });

  test('an amount above payment_mandate_limits waits for the customer', async () => {
    await world.api.put('/v1/settings/payment_mandate_limits', {
      value: { mandate_limits: { CARD: { max_amount: '24', currency: '' } } },
    });
    const { debit, invoices } = await lowWallet('success');
    const [invoice] = await invoices();
    await world.collect();
    expect(await chargesOf(invoice)).toEqual([]);
    await payOffline(world.api, invoice, '25');
    await debit('second', '25');
    expect(await invoices()).toHaveLength(2);
    await world.api.pool`delete from settings where key = 'payment_mandate_limits'`;
  });
});
