import { expireCheckouts } from '../../../jobs/expire-checkouts.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';
import { checkout, checkoutKinds, planFor } from '../../support/checkout-kinds.ts';
import { jobRunAt } from '../../support/job-run.ts';
import { eventsOf } from '../../support/payments.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => api.close());

const outcome = (session: any, name = 'success') =>
  api.post(`/v1/test-gateway/payments/${session.checkout_payment_id}/outcome`, { outcome: name });
const sessionOf = async ({ id }: { id: string }) =>
  (await api.get(`/v1/checkout/sessions/${id}`)).body;
const cancel = (session: { id: string }) => api.post(`/v1/checkout/sessions/${session.id}/cancel`);
const invoiceOf = async ({ checkout_invoice_id: id }: any) =>
  (await api.get(`/v1/invoices/${id}`)).body;
const refundsOf = async ({ checkout_payment_id }: any) => {
  const rows = await api.pool<{ amount: string; refund_status: string }[]>`
    select amount, refund_status from refunds where payment_id = ${checkout_payment_id}`;
  return rows;
};
/** The status columns of everything that a draft subscription owns. */
const rowsOf = async (subscriptionId: string) => {
  const rows = await api.pool<{ status: string }[]>`
    select status from subscriptions where id = ${subscriptionId}
    union all select status from subscription_line_items where subscription_id = ${subscriptionId}
    union all select status from coupon_associations where subscription_id = ${subscriptionId}
    union all select status from credit_grants where subscription_id = ${subscriptionId}`;
  return [...new Set(rows.map(({ status }) => status))];
};

const kinds = checkoutKinds(() => api);
const planOf = (amount: string) => planFor(api, amount);

describe.each(kinds)('a checkout of $name', ({ open }) => {
  test('nothing happens before the payment; a decline leaves the page payable; once paid, all of it', async () => {
    const { session, done } = await open();
    expect(session).toMatchObject({
      checkout_status: 'pending',
      payment: { amount: '30', payment_status: 'PENDING' },
    });
    const gated = await invoiceOf(session);
    expect(gated).toMatchObject({
      invoice_status: 'DRAFT',
      amount_due: '30',
      invoice_number: null,
      checkout_session: {
        id: session.id,
        checkout_status: 'pending',
        payment_action: session.payment_action,
      },
    });
    for (const [method, path] of [
      ['POST', 'finalize'],
      ['POST', 'void'],
      ['PUT', 'payment'],
    ] as const) {
      const body = path === 'payment' ? { payment_status: 'SUCCEEDED' } : {};
      const refused = await api.call(method, `/v1/invoices/${gated.id}/${path}`, body);
      expect([path, refused.status]).toEqual([path, 409]);
    }
    await outcome(session, 'decline');
    expect(await done()).toBe(false);
    expect((await sessionOf(session)).checkout_status).toBe('pending');
    await outcome(session, 'duplicate');
    expect(await done()).toBe(true);
    expect(await sessionOf(session)).toMatchObject({ checkout_status: 'completed' });
    expect(await invoiceOf(session)).toMatchObject({
      invoice_status: 'FINALIZED',
      payment_status: 'SUCCEEDED',
      amount_paid: '30',
      overpaid_amount: '0',
      invoice_number: expect.stringMatching(/^INV/),
      checkout_session: { id: session.id, checkout_status: 'completed' },
    });
    expect(await eventsOf(api, session.id)).toEqual([
      'checkout.session.initiated',
      'checkout.session.completed',
    ]);
    const { invoice_number } = await invoiceOf(session);
    const [told] = await api.pool<{ payload: any }[]>`
      select payload from outbox
       where entity_id = ${session.checkout_payment_id} and event_type = 'payment.success'`;
    expect(told!.payload.payment.invoice_number).toBe(invoice_number);
  });

  test('cancelled: nothing is left of it, once; money that comes late goes back', async () => {
    const { session, done } = await open();
    const both = await Promise.all([cancel(session), cancel(session)]);
    expect(both.map(({ body }) => body.checkout_status)).toEqual(['expired', 'expired']);
    expect(await done().catch(() => false)).toBe(false);
    const read = await api.get(`/v1/invoices/${session.checkout_invoice_id}`);
    expect([read.status, read.body]).toMatchObject([
      200,
      {
        invoice_status: 'VOIDED',
        payment_status: 'VOIDED',
        status: 'archived',
        invoice_number: null,
      },
    ]);
    const listed = await api.post('/v1/invoices/search', {
      invoice_ids: [session.checkout_invoice_id],
    });
    expect(listed.body.items).toEqual([]);
    await outcome(session, 'late');
    const paid = await api.pool<{ id: string; payment_status: string }[]>`
      select id, payment_status from payments where destination_id = ${session.checkout_invoice_id}
        and succeeded_at is not null`;
    expect(paid).toMatchObject([{ payment_status: 'REFUNDED' }]);
    expect(await refundsOf({ checkout_payment_id: paid[0]!.id })).toMatchObject([
      { amount: '30', refund_status: 'SUCCEEDED' },
    ]);
  });
});

test('the job ends a session: a draft subscription goes with its parts, its coupon may be used again', async () => {
  const { plan, customer } = await planOf('30');
  const { body: coupon } = await api.post('/v1/coupons', {
    name: 'Once',
    type: 'percentage',
    percentage_off: '10',
    cadence: 'forever',
    max_redemptions: 1,
    coupon_code: 'once',
  });
  const more = {
    coupons: [coupon.id],
    credit_grants: [
      {
        name: 'Start',
        scope: 'SUBSCRIPTION',
        cadence: 'ONETIME',
        credits: '5',
        expiration_type: 'NEVER',
        start_date: new Date(api.clock.now()).toISOString(),
      },
    ],
    checkout,
  };
  const first = await catalogOf(api).subscribe(customer, plan, more);
  expect(first.checkout_session.payment.amount).toBe('27');
  const at = new Date(api.clock.now() + 1_801_000).toISOString();
  const report = await expireCheckouts.run(api.deps, jobRunAt(at));
  expect(report['failed']).toBe(0);
  expect(await sessionOf(first.checkout_session)).toMatchObject({
    checkout_status: 'expired',
    failure_reason: 'session expired before payment',
  });
  expect(await rowsOf(first.id)).toEqual(['archived']);
  const gone = await api.get(`/v1/subscriptions/${first.id}`);
  expect([gone.status, gone.body]).toMatchObject([
    200,
    { subscription_status: 'draft', status: 'archived' },
  ]);
  const pause = await api.post(`/v1/subscriptions/${first.id}/pause`, { pause_mode: 'immediate' });
  expect(pause.status).toBe(404);
  const second = await catalogOf(api).subscribe(customer, plan, more);
  await outcome(second.checkout_session);
  expect(await rowsOf(second.id)).toEqual(['published']);
  const wallets = (await api.get(`/v1/customers/${customer.id}/wallets`)).body;
  expect(wallets).toMatchObject([{ credit_balance: '5' }]);
});

test('409: a subscription whose session waits is neither activated nor discarded by hand', async () => {
  const { catalog, plan, customer } = await planOf('30');
  const { id, start_date, checkout_session } = await catalog.subscribe(customer, plan, {
    checkout,
  });
  const begin = () => api.post(`/v1/subscriptions/${id}/activate`, { start_date });
  const statusOf = async () => (await api.get(`/v1/subscriptions/${id}`)).body.subscription_status;
  expect(await begin()).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining('checkout session') } },
  });
  expect((await api.post(`/v1/subscriptions/${id}/discard`)).status).toBe(409);
  expect(await statusOf()).toBe('draft');
  await outcome(checkout_session);
  expect(await statusOf()).toBe('active');
});

test('a top-up that is not paid fails, with its bonus', async () => {
  const { session } = await kinds[2]!.open();
  await cancel(session);
  const rows = await api.pool<{ transaction_status: string; metadata: any }[]>`
    select transaction_status, metadata from wallet_transactions
     where source_id = ${session.checkout_invoice_id}`;
  expect(rows).toHaveLength(2);
  for (const row of rows)
    expect([row.transaction_status, row.metadata.failure_reason]).toEqual([
      'failed',
      'session expired before payment',
    ]);
  const { body } = await api.get(`/v1/checkout/sessions/${session.id}`);
  expect(body.failure_reason).toBe('session cancelled before payment');
});

test('what cannot be done any more is paid back: the subscription ended while the page was open', async () => {
  const { session } = await kinds[3]!.open();
  const { subscription_id } = await invoiceOf(session);
  const ended = await api.post(`/v1/subscriptions/${subscription_id}/cancel`, {
    cancellation_type: 'immediate',
    proration_behavior: 'none',
  });
  expect(ended.status).toBe(200);
  await outcome(session);
  expect(await sessionOf(session)).toMatchObject({ checkout_status: 'failed' });
  expect(await refundsOf(session)).toMatchObject([{ amount: '30' }]);
});

test('without anything due there is no session; a trial begins as usual', async () => {
  const { catalog, plan, customer } = await planOf('30');
  const trial = await catalog.subscribe(customer, plan, { trial_period_days: 7, checkout });
  expect(trial).toMatchObject({ subscription_status: 'trialing', checkout_session: null });
  const free = await planOf('0');
  const nothing = await catalog.subscribe(free.customer, free.plan, { checkout });
  expect(nothing).toMatchObject({ subscription_status: 'active', checkout_session: null });
  const generic = (id: string) =>
    api.post('/v1/checkout/sessions', {
      customer_external_id: free.customer.external_id,
      action: 'create_subscription',
      payment_provider: 'test',
      configuration: {
        create_subscription_params: {
          plan_id: id,
          currency: 'usd',
          billing_period: 'MONTHLY',
          billing_period_count: 1,
        },
      },
    });
  expect((await generic(free.plan.id)).status).toBe(400);
  const { status, body } = await generic(plan.id);
  expect([status, body.action, body.payment.amount]).toEqual([201, 'create_subscription', '30']);
});

describe('return addresses', () => {
  const withUrl = async (success_url: string) => {
    const { catalog, plan, customer } = await planOf('30');
    const monthly = { billing_period: 'MONTHLY', billing_period_count: 1, currency: 'usd' };
    void catalog;
    const answer = await api.post('/v1/subscriptions', {
      ...monthly,
      customer_id: customer.id,
      plan_id: plan.id,
      checkout: { ...checkout, success_url },
    });
    return [success_url, answer.status];
  };

  test('only https or this machine; with an allow-list only its origins', async () => {
    for (const url of [
      'javascript:alert(1)',
      '//evil.example',
      'http://evil.example',
      'https://a:b@x.example',
    ])
      expect(await withUrl(url)).toEqual([url, 400]);
    expect((await withUrl('https://shop.example/done?a=1'))[1]).toBe(201);
    const person = await api.newCaller({ beside: api, roles: ['super_admin'] });
    const saved = await person.put('/v1/settings/checkout_config', {
      value: { return_origins: ['https://app.example'] },
    });
    expect(saved.status).toBe(200);
    for (const url of [
      'https://shop.example/',
      'https://app.example.evil.example/',
      'https://app.example:444/',
    ])
      expect(await withUrl(url)).toEqual([url, 400]);
    expect((await withUrl('https://app.example/thanks'))[1]).toBe(201);
    const wrong = await person.put('/v1/settings/checkout_config', {
      value: { return_origins: ['https://app.example/path'] },
    });
    expect(wrong.status).toBe(400);
  });
});
