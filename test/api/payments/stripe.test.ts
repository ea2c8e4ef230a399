import { reconcilePayments } from '../../../jobs/reconcile-payments.ts';
import { dispatchRefund } from '../../../api/billing/refunds/settle-refund.ts';
import { fromStripeAmount, toStripeAmount } from '../../../platform/gateways/stripe-amount.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { jobRunAt } from '../../support/job-run.ts';
import { invoiceDue, payOffline } from '../../support/payments.ts';
import { startStripeServer, type StripeServer } from '../../support/stripe-server.ts';

const KEY = 'sk_test_of_this_test';
const SECRET = 'whsec_of_this_test';
let api: TestApi;
let stripe: StripeServer;
let connection: { id: string };
beforeAll(async () => {
  stripe = await startStripeServer(KEY);
  api = await startTestApi({ stripeApiUrl: stripe.url });
  connection = (
    await api.post('/v1/connections', {
      name: 'Stripe',
      provider_type: 'stripe',
      encrypted_secret_data: { secret_key: KEY, webhook_secret: SECRET },
    })
  ).body;
});
afterAll(async () => {
  await api.close();
  await stripe.close();
});

const card = (invoice: { id: string }, amount: string, method: string, more: object = {}) =>
  payOffline(api, invoice, amount, {
    payment_method_type: 'CARD',
    payment_method_id: `pm_card_${method}`,
    payment_gateway: 'stripe',
    ...more,
  });
const link = (invoice: { id: string }, amount: string, more: object = {}) =>
  payOffline(api, invoice, amount, {
    payment_method_type: 'PAYMENT_LINK',
    payment_gateway: 'stripe',
    success_url: 'https://shop.example/thanks',
    ...more,
  });
const sessionFor = ({ customer, invoice }: any) =>
  api.post('/v1/checkout/sessions', {
    customer_external_id: customer.external_id,
    action: 'pay_invoice',
    payment_provider: 'stripe',
    configuration: { pay_invoice_params: { invoice_id: invoice.id } },
    success_url: 'https://shop.example/thanks',
  });
const read = async (payment: { id: string }) => (await api.get(`/v1/payments/${payment.id}`)).body;
const intentsOf = (payment: { id: string }) =>
  [...stripe.objects.values()].filter((object) => object['metadata']?.payment_id === payment.id);

/** Sends the event as Stripe does, to the address of the connection. */
async function send(
  type: string,
  object: object,
  options: { secret?: string; ageMs?: number; more?: object; event?: { raw: string } } = {},
) {
  const { raw } = options.event ?? stripe.event(type, object as never, options.more as never);
  const { tenant_id, environment_id } = api.scope;
  const at = api.clock.now() - (options.ageMs ?? 0);
  return await api.app.inject({
    method: 'POST',
    url: `/v1/webhooks/stripe/${tenant_id}/${environment_id}/${connection.id}`,
    headers: {
      'content-type': 'application/json',
      'stripe-signature': stripe.sign(raw, options.secret ?? SECRET, at),
    },
    payload: raw,
  });
}
async function reconcile() {
  const at = new Date(api.clock.now() + 3_600_000).toISOString();
  return await reconcilePayments.run(api.deps, jobRunAt(at));
}

describe('cards', () => {
  test('success: one intent with our reference and our token as its key; amounts in minor units', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { status, body } = await card(invoice, '50', 'visa');
    expect([status, body.payment_status]).toEqual([201, 'SUCCEEDED']);
    expect(await invoiceNow()).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '50' });
    const request = stripe.requests.findLast(({ path }) => path === '/v1/payment_intents')!;
    expect(request.body).toMatchObject({
      amount: '5000',
      currency: 'usd',
      'metadata[payment_id]': body.id,
    });
    expect(request.key).toBe(request.body['metadata[payment_token]']);
    expect(body.gateway_payment_id).toMatch(/^pi_/);
  });

  test('decline: failed with the reason; another card pays', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const { body } = await card(invoice, '50', 'chargeDeclined');
    expect(body).toMatchObject({
      payment_status: 'FAILED',
      error_message: expect.stringContaining('card_declined'),
    });
    expect((await card(invoice, '50', 'visa')).body.payment_status).toBe('SUCCEEDED');
  });

  test('an id that Stripe does not have fails the payment, and never sends a card number', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const { body } = await card(invoice, '50', '', { payment_method_id: 'pm_none' });
    expect(body).toMatchObject({ payment_status: 'FAILED', gateway_payment_id: null });
    const number = await card(invoice, '50', '', { payment_method_id: '4242424242424242' });
    expect([number.status, number.body.details[0].path]).toEqual([400, 'payment_method_id']);
    expect(JSON.stringify(stripe.requests)).not.toContain('4242424242424242');
  });

  test('3D Secure: the page of the bank, then the event; the returning browser settles nothing', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const more = { success_url: 'https://shop.example/thanks' };
    const { body } = await card(invoice, '50', 'authenticationRequired', more);
    expect(body).toMatchObject({
      payment_status: 'PENDING',
      payment_url: `https://bank.example/${body.gateway_payment_id}`,
    });
    const intent = stripe.confirm(body.gateway_payment_id);
    expect((await read(body)).payment_status).toBe('PENDING');
    expect((await send('payment_intent.succeeded', intent)).statusCode).toBe(200);
    expect((await read(body)).payment_status).toBe('SUCCEEDED');
  });

  test('an answer that is lost: pending, then found by the job; the money moves once', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    stripe.loseAnswers = 2;
    const { body } = await card(invoice, '50', 'visa');
    expect(body).toMatchObject({ payment_status: 'PENDING', gateway_payment_id: null });
    expect((await reconcile())['failed']).toBe(0);
    expect((await read(body)).payment_status).toBe('SUCCEEDED');
    expect(intentsOf(body)).toHaveLength(1);
    expect(await invoiceNow()).toMatchObject({ amount_paid: '50', overpaid_amount: '0' });
  });
});

describe('events', () => {
  test('401 without effect: another secret, too old, from the future, changed bytes', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const { body } = await link(invoice, '50');
    const page = stripe.payPage(body.gateway_payment_id);
    const type = 'checkout.session.completed';
    expect((await send(type, page, { secret: 'whsec_other' })).statusCode).toBe(401);
    expect((await send(type, page, { ageMs: 301_000 })).statusCode).toBe(401);
    expect((await send(type, page, { ageMs: -301_000 })).statusCode).toBe(401);
    expect((await read(body)).payment_status).toBe('PENDING');
    expect((await send(type, page, { ageMs: 290_000 })).statusCode).toBe(200);
    expect((await read(body)).payment_status).toBe('SUCCEEDED');
  });

  test('twice, late and out of order: the money counts once, and a final state stays', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { body } = await link(invoice, '50');
    const before = stripe.event('checkout.session.expired', { id: body.gateway_payment_id });
    const page = stripe.payPage(body.gateway_payment_id);
    const event = stripe.event('checkout.session.completed', page);
    const both = await Promise.all([send('', page, { event }), send('', page, { event })]);
    expect(both.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    await send('', page, { event: before });
    expect((await read(body)).payment_status).toBe('SUCCEEDED');
    expect(await invoiceNow()).toMatchObject({ amount_paid: '50', overpaid_amount: '0' });
  });

  test('an event before the answer of the request finds the payment by our reference', async () => {
    const { invoice } = await invoiceDue(api, '50');
    stripe.loseAnswers = 2;
    const { body } = await card(invoice, '50', 'visa');
    const [intent] = intentsOf(body);
    await send('payment_intent.succeeded', intent!);
    expect(await read(body)).toMatchObject({ payment_status: 'SUCCEEDED' });
    expect(intentsOf(body)).toHaveLength(1);
  });

  test('401 without effect: a signed content that is no event, or none that can be read', async () => {
    const { invoice } = await invoiceDue(api, '40');
    const { body } = await card(invoice, '40', 'authenticationRequired');
    const intent = stripe.objects.get(body.gateway_payment_id)!;
    const of = (object: unknown, more: object = {}) =>
      JSON.stringify({
        ...{ id: 'evt_odd', type: 'payment_intent.succeeded', livemode: false, data: { object } },
        ...more,
      });
    const refunded = { type: 'refund.created' };
    const lost = { type: 'charge.dispute.closed' };
    const dispute = { id: 'dp', status: 'lost', amount: 5, currency: 'usd', payment_intent: 'pi' };
    for (const raw of [
      ...['null', '[]', '"x"', '1', '{}', '{{'],
      of(intent, { id: null }),
      of(intent, { id: 7 }),
      of(intent, { id: 'evt\u0000' }),
      of(intent, { id: 'e'.repeat(5_000) }),
      of(intent, { data: null }),
      of(undefined),
      of({ ...intent, id: 5 }),
      of({ ...intent, id: 'pi\u0000' }),
      of({ ...intent, metadata: 'x' }),
      of({ payment_intent: 'pi' }, refunded),
      of({ id: 're', payment_intent: 5 }, refunded),
      of({ ...dispute, amount: 'x' }, lost),
      of({ ...dispute, amount: -5 }, lost),
      of({ ...dispute, currency: null }, lost),
    ]) {
      const answer = await send('', {}, { event: { raw } });
      expect([raw, answer.statusCode]).toEqual([raw, 401]);
    }
    // Read, and about nothing of ours.
    for (const object of [
      { ...intent, id: 'pi_unknown', metadata: null },
      { ...intent, id: '../../customers', metadata: { payment_id: 'not ours\u0000' } },
    ])
      expect((await send('payment_intent.succeeded', object)).statusCode).toBe(200);
    expect((await read(body)).payment_status).toBe('PENDING');
  });

  test('of live money, of another account, or about nothing of ours: 200 and no effect', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const { body } = await link(invoice, '50');
    const page = stripe.payPage(body.gateway_payment_id);
    const type = 'checkout.session.completed';
    for (const more of [{ livemode: true }, { account: 'acct_other' }])
      expect((await send(type, page, { more })).statusCode).toBe(200);
    expect((await send('customer.created', { id: 'cus_1' })).statusCode).toBe(200);
    expect(
      (await send('payment_intent.succeeded', { id: 'pi_none', metadata: {} })).statusCode,
    ).toBe(200);
    expect((await read(body)).payment_status).toBe('PENDING');
  });

  test('money of another amount is set aside', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { body } = await link(invoice, '50');
    const page = stripe.payPage(body.gateway_payment_id);
    page['amount_total'] = 4999;
    expect((await send('checkout.session.completed', page)).statusCode).toBe(200);
    expect((await read(body)).payment_status).toBe('PENDING');
    expect(await invoiceNow()).toMatchObject({ amount_paid: '0' });
  });

  test('a lost dispute of a page takes the money back, once', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { body } = await link(invoice, '50');
    const page = stripe.payPage(body.gateway_payment_id);
    await send('checkout.session.completed', page);
    const dispute = {
      id: 'dp_1',
      payment_intent: page['payment_intent'].id,
      amount: 5000,
      currency: 'usd',
    };
    await send('charge.dispute.closed', { ...dispute, status: 'won' });
    expect(await invoiceNow()).toMatchObject({ payment_status: 'SUCCEEDED' });
    await send('charge.dispute.closed', { ...dispute, status: 'lost' });
    await send('charge.dispute.closed', { ...dispute, status: 'lost' });
    expect(await invoiceNow()).toMatchObject({ payment_status: 'REFUNDED', refunded_amount: '50' });
  });
});

describe('links', () => {
  test('need a return address; a deleted one is closed at Stripe', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const refused = await link(invoice, '50', { success_url: undefined });
    expect([refused.status, refused.body.details[0].path]).toEqual([400, 'success_url']);
    const { body } = await link(invoice, '50');
    expect(body).toMatchObject({
      payment_status: 'PENDING',
      payment_url: `https://checkout.example/${body.gateway_payment_id}`,
    });
    expect((await api.delete(`/v1/payments/${body.id}`)).status).toBe(200);
    expect(stripe.objects.get(body.gateway_payment_id)).toMatchObject({ status: 'expired' });
  });
});

describe('a page that Stripe refuses', () => {
  const REASON = /must be at least \$0.50/;

  test('the link fails with the reason, and is not in the way of another payment', async () => {
    const { invoice } = await invoiceDue(api, '0.3');
    const { status, body } = await link(invoice, '0.3');
    expect([status, body.payment_status]).toEqual([201, 'FAILED']);
    expect(body.error_message).toMatch(REASON);
    expect((await payOffline(api, invoice, '0.3')).status).toBe(201);
  });

  test('the checkout session fails with it (money 8.3.6)', async () => {
    const { status, body } = await sessionFor(await invoiceDue(api, '0.3'));
    expect([status, body.checkout_status, body.terminal]).toEqual([201, 'failed', true]);
    expect(body.failure_reason).toMatch(REASON);
  });
});

describe('while Stripe does not answer', () => {
  const useKey = (secret_key: string) =>
    api.put(`/v1/connections/${connection.id}`, {
      encrypted_secret_data: { secret_key, webhook_secret: SECRET },
    });
  beforeEach(() => useKey('sk_test_rolled'));
  afterEach(() => useKey(KEY));
  /** A session whose page exists. */
  async function opened() {
    await useKey(KEY);
    const { body } = await sessionFor(await invoiceDue(api, '40'));
    await useKey('sk_test_rolled');
    return body;
  }

  test('a session that is over is answered as it is, and is stale', async () => {
    const session = await opened();
    api.clock.advance(3_600_000);
    const { status, body } = await api.get(`/v1/checkout/sessions/${session.id}`);
    expect([status, body.checkout_status]).toEqual([200, 'pending']);
    await useKey(KEY);
    const after = await api.get(`/v1/checkout/sessions/${session.id}`);
    expect(after.body.checkout_status).toBe('expired');
  });

  test('503: nothing is cancelled or deleted that may have been paid', async () => {
    const session = await opened();
    const path = `/v1/checkout/sessions/${session.id}`;
    const payment = `/v1/payments/${session.checkout_payment_id}`;
    for (const answer of [
      await api.post(`${path}/cancel`),
      await api.delete(path),
      await api.delete(payment),
    ])
      expect([answer.status, answer.body.code]).toEqual([503, 'gateway_unavailable']);
    expect((await api.get(payment)).body.payment_status).toBe('PENDING');
  });
});

test('a customer whom Stripe refuses: the payment fails with the reason, and another one pays', async () => {
  const { customer, invoice } = await invoiceDue(api, '40');
  await api.put(`/v1/customers/${customer.id}`, { email: 'ada@example.invalid' });
  const { status, body } = await card(invoice, '40', 'visa');
  expect([status, body.payment_status]).toEqual([201, 'FAILED']);
  expect(body.error_message).toMatch(/Invalid email address: ada@example.invalid/);
  const method = { gateway_method_id: 'pm_card_visa' };
  const saved = await api.post(`/v1/customers/${customer.id}/payment-methods`, method);
  expect([saved.status, saved.body.message]).toEqual([400, expect.stringMatching(/Invalid email/)]);
  await api.put(`/v1/customers/${customer.id}`, { email: 'ada@example.com' });
  expect((await card(invoice, '40', 'visa')).body.payment_status).toBe('SUCCEEDED');
});

describe('saved methods and customers', () => {
  test('kept for the customer at Stripe, charged without them, forgotten', async () => {
    const { customer, invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const path = `/v1/customers/${customer.id}/payment-methods`;
    const { body: method } = await api.post(path, { gateway_method_id: 'pm_card_visa' });
    expect(method).toMatchObject({
      brand: 'visa',
      last4: '4242',
      exp_year: 2031,
      is_default: true,
    });
    const customers = stripe.requests.filter(
      (request) => request.body['metadata[customer_id]'] === customer.id,
    );
    expect(customers).toHaveLength(1);
    await api.post(`/v1/invoices/${invoice.id}/payment/attempt`);
    expect(await invoiceNow()).toMatchObject({ payment_status: 'SUCCEEDED' });
    const charge = stripe.requests.findLast((request) => request.path === '/v1/payment_intents')!;
    expect(charge.body['customer']).toMatch(/^cus_/);
    await api.delete(`${path}/${method.id}`);
    expect(stripe.objects.get('pm_card_visa')).toMatchObject({ customer: null });
  });

  test('save_card_and_make_default on a page', async () => {
    const { customer, invoice } = await invoiceDue(api, '50');
    const { body } = await link(invoice, '50', { save_card_and_make_default: true });
    await send('checkout.session.completed', stripe.payPage(body.gateway_payment_id));
    const found = await api.get(`/v1/customers/${customer.id}/payment-methods`);
    expect(found.body.items).toMatchObject([
      { gateway_method_id: 'pm_card_visa', is_default: true },
    ]);
  });
});

describe('a checkout session', () => {
  test('its notifications carry the page of Stripe', async () => {
    const { customer, invoice } = await invoiceDue(api, '50');
    const { body } = await api.post('/v1/checkout/sessions', {
      customer_external_id: customer.external_id,
      action: 'pay_invoice',
      payment_provider: 'stripe',
      success_url: 'https://shop.example.com/done',
      configuration: { pay_invoice_params: { invoice_id: invoice.id } },
    });
    expect(body).toMatchObject({ checkout_status: 'pending' });
    expect(body.payment_action).toEqual({
      type: 'payment_link',
      url: expect.stringMatching(/^https/),
    });
    await api.post(`/v1/checkout/sessions/${body.id}/cancel`);
    const sent = await api.pool<{ event_type: string; action: object }[]>`
      select event_type, payload #> '{checkout_session,payment_action}' as action
        from outbox where entity_id = ${body.id} order by sequence`;
    expect(sent).toEqual([
      { event_type: 'checkout.session.initiated', action: body.payment_action },
      { event_type: 'checkout.session.expired', action: body.payment_action },
    ]);
  });
});

describe('gateway_options', () => {
  const asked = { gateway_options: { stripe: { tax_id_collection_enabled: true } } };

  test('the page of Stripe asks for the tax id of a payment that wants it, and of no other', async () => {
    const { invoice } = await invoiceDue(api, '50');
    await link(invoice, '20', {
      gateway_options: { stripe: { tax_id_collection_enabled: false } },
    });
    const { status, body } = await link(invoice, '30', asked);
    expect([status, body.gateway_metadata]).toEqual([201, { tax_id_collection_enabled: 'true' }]);
    const pages = stripe.requests.filter((request) => request.path === '/v1/checkout/sessions');
    expect(pages.slice(-2).map(({ body }) => body['tax_id_collection[enabled]'])).toEqual([
      undefined,
      'true',
    ]);
    const last = pages.at(-1)!.body;
    expect(last['customer_update[name]']).toBe(last['customer'] === undefined ? undefined : 'auto');
  });

  test('400 for a payment without such a page', async () => {
    const { invoice } = await invoiceDue(api, '50');
    expect(await card(invoice, '50', 'visa', asked)).toMatchObject({
      status: 400,
      body: { details: [{ path: 'gateway_options.stripe.tax_id_collection_enabled' }] },
    });
  });
});

describe('refunds', () => {
  test('to the card, once per token, also when its answer was lost', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { body: payment } = await card(invoice, '50', 'visa');
    stripe.loseAnswers = 2;
    const sent = { payment_id: payment.id, amount: '20', target: 'BACK_TO_SOURCE' };
    const { body: refund } = await api.post('/v1/refunds', sent);
    expect(refund.refund_status).toBe('PENDING');
    await dispatchRefund(api.deps, { scope: api.scope, user_id: '' }, refund.id);
    expect(await invoiceNow()).toMatchObject({ refunded_amount: '20' });
    const made = [...stripe.objects.values()].filter(
      (object) => object['metadata']?.refund_id === refund.id,
    );
    expect(made).toHaveLength(1);
  });

  test('one that was made at Stripe is recorded, once', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { body: payment } = await card(invoice, '50', 'visa');
    const outside = {
      id: 're_outside',
      object: 'refund',
      amount: 1000,
      currency: 'usd',
      payment_intent: payment.gateway_payment_id,
      metadata: {},
      status: 'succeeded',
    };
    (stripe.objects as Map<string, object>).set(outside.id, outside);
    await send('refund.created', outside);
    await send('refund.updated', outside);
    expect(await invoiceNow()).toMatchObject({ refunded_amount: '10' });
  });

  test('one that Stripe refuses fails and frees its money', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { body: payment } = await card(invoice, '50', 'visa');
    stripe.objects.get(payment.gateway_payment_id)!['amount_received'] = 0;
    const sent = { payment_id: payment.id, amount: '20', target: 'BACK_TO_SOURCE' };
    const { body: refund } = await api.post('/v1/refunds', sent);
    expect(refund).toMatchObject({ refund_status: 'FAILED' });
    expect(await invoiceNow()).toMatchObject({ refunded_amount: '0', payment_status: 'SUCCEEDED' });
  });
});

test('the test gateway is off in production environments, also for a connection that exists', async () => {
  const other = await api.newCaller();
  const body = { name: 'Test', provider_type: 'test' };
  const made = await other.post('/v1/connections', body);
  expect(made.status).toBe(201);
  await api.pool`
    update environments set type = 'production' where id = ${other.scope.environment_id}`;
  const refused = await other.post('/v1/connections', body);
  expect([refused.status, refused.body.details[0].path]).toEqual([400, 'provider_type']);
  const { tenant_id, environment_id } = other.scope;
  const path = `/v1/webhooks/test/${tenant_id}/${environment_id}/${made.body.id}`;
  expect((await other.post(path, {})).status).toBe(400);
});

test('secrets are stored sealed and never answered', async () => {
  const { body } = await api.get(`/v1/connections/${connection.id}`);
  expect(JSON.stringify(body)).not.toContain(KEY);
  const [row] = await api.pool<{ secret_data: string }[]>`
    select secret_data from connections where id = ${connection.id}`;
  expect(row!.secret_data).not.toContain(KEY);
  expect(row!.secret_data).not.toContain(SECRET);
});

test.each`
  amount         | currency | units
  ${'10.5'}      | ${'usd'} | ${1050}
  ${'10.005'}    | ${'usd'} | ${null}
  ${'500'}       | ${'jpy'} | ${500}
  ${'500.5'}     | ${'jpy'} | ${null}
  ${'5'}         | ${'isk'} | ${500}
  ${'5'}         | ${'ugx'} | ${500}
  ${'7'}         | ${'mga'} | ${7}
  ${'1.23'}      | ${'kwd'} | ${1230}
  ${'1.234'}     | ${'kwd'} | ${null}
  ${'999999999'} | ${'usd'} | ${99999999900}
`('$amount $currency: $units at Stripe', ({ amount, currency, units }) => {
  expect(toStripeAmount(amount, currency)).toBe(units);
  if (units !== null) expect(fromStripeAmount(units, currency)).toBe(amount);
});
