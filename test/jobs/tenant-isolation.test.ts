import { usageQueryTooLarge } from '../../clickhouse/reading/usage-errors.ts';
import type { TestCaller } from '../support/api.ts';
import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';
import { catalogOf } from '../support/catalog.ts';
import { invoiceDue } from '../support/payments.ts';
import { completeBackfills } from '../support/usage-oracle.ts';

const TENANTS = 50;
const MARCH = '2026-03-01T00:00:00.000Z';
const APRIL = '2026-04-01T00:00:00.000Z';
const AFTER_GRACE = '2026-04-01T01:00:00.000Z';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

interface Sold {
  readonly caller: TestCaller;
  readonly subscription: { id: string };
  readonly customer: { id: string; external_id: string };
}

async function soldTo(caller: TestCaller, count: number): Promise<Sold[]> {
  const catalog = catalogOf(caller);
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.fixed(plan, '100');
  await catalog.usage(plan, meter, { amount: '0.5' });
  await completeBackfills(world.api.pool);
  const sold: Sold[] = [];
  for (let index = 0; index < count; index += 1) {
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, { start_date: MARCH });
    sold.push({ caller, subscription, customer });
  }
  return sold;
}

const cyclesOf = async ({ caller, subscription }: Sold) =>
  (
    await caller.post('/v1/invoices/search', {
      subscription_id: subscription.id,
      billing_reason: 'SUBSCRIPTION_CYCLE',
    })
  ).body.items;
const refusalOf = async ({ subscription }: Sold) => {
  const [row] = await world.api.pool`
    select billing_refusal from subscriptions where id = ${subscription.id}`;
  return row!['billing_refusal'];
};
const answered = async ({ caller, subscription }: Sold) =>
  (await caller.get(`/v1/subscriptions/${subscription.id}`)).body;
const invoiceConstraint = (sql: string) => world.api.pool.unsafe(`alter table invoices ${sql}`);

test('50 tenants, one of them poisoned in five ways: 49 are billed on time, and so is its sixth subscription', async () => {
  const { api, usage } = world;
  api.clock.set('2026-03-10T00:00:00.000Z');
  // The first in every order, so that a job that stops at a failure stops before all other tenants.
  const [unreadable, tooWide, noPrice, noZone, refused, healthy] = (await soldTo(api, 6)) as [
    Sold, Sold, Sold, Sold, Sold, Sold,
  ]; // prettier-ignore
  const others: Sold[] = [];
  while (others.length < TENANTS - 1) {
    const caller = await api.newCaller();
    others.push(...(await soldTo(caller, 1)));
  }

  usage.failFor(unreadable.customer, new TypeError('rows of this customer cannot be decoded'));
  usage.failFor(tooWide.customer, usageQueryTooLarge('more usage than one call may read'));
  await api.pool`
    update subscription_line_items set price_id = 'price_gone'
     where subscription_id = ${noPrice.subscription.id}`;
  await api.pool`
    update subscriptions set customer_timezone = 'Mars/Phobos'
     where id = ${noZone.subscription.id}`;
  await invoiceConstraint(
    `add constraint refuses check (subscription_id <> '${refused.subscription.id}') not valid`,
  );
  api.clock.set(APRIL);
  expect(await world.close()).toEqual({ advanced: TENANTS, invoices: TENANTS, failed: 5 });

  for (const each of [healthy, ...others]) expect(await cyclesOf(each)).toHaveLength(1);
  for (const each of [unreadable, noPrice, noZone, refused]) {
    expect(await refusalOf(each)).toMatchObject({ code: 'internal_error', attempts: 1 });
    expect(JSON.stringify(await refusalOf(each))).not.toContain('decoded');
  }
  expect((await answered(tooWide)).billing_refusal).toMatchObject({
    code: 'usage_query_too_large',
    message: 'more usage than one call may read',
    since: APRIL,
    attempts: 1,
  });
  expect((await answered(healthy)).billing_refusal).toBeNull();
  const told = await api.pool`
    select count(*)::integer as count from outbox
     where event_type = 'subscription.updated' and payload -> 'subscription' ? 'billing_refusal'`;
  expect(told[0]!['count']).toBe(5);

  // Not asked again with every run, and told once for one reason.
  const reads = usage.reads.count;
  expect(await world.close()).toEqual({ advanced: 0, invoices: 0, failed: 0 });
  expect(usage.reads.count).toBe(reads);
  api.clock.set('2026-04-01T00:01:00.000Z');
  expect(await world.close()).toMatchObject({ advanced: 0, failed: 5 });
  expect(await refusalOf(tooWide)).toMatchObject({ attempts: 2, since: APRIL });

  // After the faults are removed, they are billed for the same period.
  usage.failFor(tooWide.customer, null);
  usage.failFor(unreadable.customer, null);
  await invoiceConstraint('drop constraint refuses');
  api.clock.set('2026-04-01T00:10:00.000Z');
  expect(await world.close()).toMatchObject({ advanced: 3, invoices: 3 });
  expect(await cyclesOf(tooWide)).toMatchObject([{ period_start: MARCH, period_end: APRIL }]);
  expect((await answered(tooWide)).billing_refusal).toBeNull();
  await api.pool`update subscriptions set due_at = null`;

  // The finalizer is held to the same: two drafts it cannot compute, one it may not write.
  usage.failFor(tooWide.customer, usageQueryTooLarge('more usage than one call may read'));
  usage.failFor(unreadable.customer, new TypeError('rows of this customer cannot be decoded'));
  await invoiceConstraint(
    `add constraint refuses check (subscription_id <> '${refused.subscription.id}' or invoice_number is null) not valid`,
  );
  api.clock.set('2026-04-02T00:00:00.000Z');
  expect(AFTER_GRACE < new Date(api.clock.now()).toISOString()).toBe(true);
  expect(await world.finalize()).toMatchObject({ finalized: TENANTS, failed: 3 });
  for (const each of [healthy, ...others])
    expect(await cyclesOf(each)).toMatchObject([
      { invoice_status: 'FINALIZED', finalize_refusal: null },
    ]);
  expect(await cyclesOf(tooWide)).toMatchObject([
    { invoice_status: 'DRAFT', finalize_refusal: 'more usage than one call may read' },
  ]);
  expect(await cyclesOf(unreadable)).toMatchObject([
    { invoice_status: 'DRAFT', finalize_refusal: expect.stringMatching(/unexpected error/) },
  ]);
  // The refusal is final; the two bugs are tried again.
  usage.failFor(unreadable.customer, null);
  await invoiceConstraint('drop constraint refuses');
  expect(await world.finalize()).toMatchObject({ finalized: 2, failed: 0 });
  expect(await cyclesOf(unreadable)).toMatchObject([
    { invoice_status: 'FINALIZED', finalize_refusal: null },
  ]);
});

describe('one tenant whose gateway knows nothing of 250 payments', () => {
  /** The session of a page that this tenant offers for an invoice. */
  async function offered(caller: TestCaller) {
    await caller.post('/v1/connections', { name: 'Test', provider_type: 'test' });
    const { customer, invoice } = await invoiceDue(caller, '10');
    const { status, body: session } = await caller.post('/v1/checkout/sessions', {
      ...{ customer_external_id: customer.external_id, action: 'pay_invoice' },
      payment_provider: 'test',
      configuration: { pay_invoice_params: { invoice_id: invoice.id } },
    });
    expect([status, session]).toEqual([201, session]);
    return session;
  }
  const copies = (table: string, id: string, more: string) =>
    world.api.pool.unsafe(
      `insert into ${table} select (jsonb_populate_record(null::${table},
              to_jsonb(r) || jsonb_build_object('id', r.id || n, ${more}))).*
         from ${table} r, generate_series(1, 250) n where r.${id}`,
    );
  /** Its session 250 times more, with payments that the gateway does not know. */
  async function repeated({ id, checkout_payment_id: payment }: any) {
    const ofPayment = `'idempotency_key', r.id || n, 'implicit_key', null, 'gateway_payment_id', 'gone' || n`;
    await copies('payments', `id = '${payment}'`, ofPayment);
    const ofAttempt = `'payment_id', r.payment_id || n, 'gateway_idempotency_token', r.id || n`;
    await copies('payment_attempts', `payment_id = '${payment}'`, ofAttempt);
    const ofSession = `'target_key', r.id || n, 'checkout_payment_id', r.checkout_payment_id || n`;
    await copies('checkout_sessions', `id = '${id}'`, ofSession);
  }
  const NOVEMBER = '2026-11-01T00:00:00.000Z';
  let healthy: { caller: TestCaller; session: any };
  beforeAll(async () => {
    const { api } = world;
    api.clock.set(NOVEMBER);
    const bad = await api.newCaller();
    await repeated(await offered(bad));
    api.clock.advance(1_000);
    const caller = await api.newCaller();
    healthy = { caller, session: await offered(caller) };
  });

  test('the payments of the others are asked about, and its own ever more seldom', async () => {
    world.api.clock.advance(60_000);
    expect(await world.reconcile()).toMatchObject({ payments: 252, failed: 0 });
    world.api.clock.advance(1_000);
    expect(await world.reconcile()).toMatchObject({ payments: 0, failed: 0 });
  });

  test('the sessions of the others expire', async () => {
    world.api.clock.advance(3_600_000);
    expect(await world.run('expire-checkouts')).toMatchObject({ expired: 2, failed: 250 });
    const { body } = await healthy.caller.get(`/v1/checkout/sessions/${healthy.session.id}`);
    expect(body.checkout_status).toBe('expired');
  });
});
