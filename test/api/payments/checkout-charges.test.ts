import { expireCheckouts } from '../../../jobs/expire-checkouts.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { planFor } from '../../support/checkout-kinds.ts';
import { runAtNow } from '../../support/job-run.ts';
import { eventsOf } from '../../support/payments.ts';

/** Sessions that charge a saved method while the customer is absent (money 11.22). */
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => api.close());

const get = async (path: string) => (await api.get(`/v1${path}`)).body;
const charging = (more: object = {}) => ({
  payment_provider: 'test',
  payment_provider_config: { collection_method: 'charge_automatically', ...more },
});
const chargesOf = async (session: { id: string }) =>
  await api.pool<{ kind: string; state: string }[]>`
    select p.payment_method_type as kind, t.state
      from payments p left join test_gateway_payments t on t.reference = p.id
     where p.metadata ->> 'checkout_session_id' = ${session.id} order by p.created_at, p.id`;
const outcome = (session: any, name: string) =>
  api.post(`/v1/test-gateway/payments/${session.checkout_payment_id}/outcome`, { outcome: name });
const save = (customer: { id: string }, method: string) =>
  api.post(`/v1/customers/${customer.id}/payment-methods`, {
    gateway_method_id: `pm_test_${method}`,
    is_default: true,
  });

/** A customer whose default method has this outcome, and a plan of 30. */
async function buyer(method: string | null) {
  const found = await planFor(api, '30');
  if (method !== null) await save(found.customer, method);
  return found;
}
async function oneOff(method: string | null, more: object = {}) {
  const { customer } = await buyer(method);
  const { status, body } = await api.post('/v1/invoices', {
    invoice_type: 'ONE_OFF',
    customer_id: customer.id,
    currency: 'usd',
    line_items: [{ display_name: 'Work', amount: '30', quantity: '1' }],
    checkout: charging(more),
  });
  expect(status).toBe(201);
  return { customer, invoice: body, session: body.checkout_session };
}

describe('a saved method that pays', () => {
  test('a subscription is active in the answer of its creation', async () => {
    const { catalog, customer, plan } = await buyer('success');
    const subscription = await catalog.subscribe(customer, plan, { checkout: charging() });
    expect(subscription).toMatchObject({
      subscription_status: 'active',
      checkout_session: {
        checkout_status: 'completed',
        payment_action: null,
        payment: { payment_method_type: 'CARD', payment_status: 'SUCCEEDED', amount: '30' },
      },
    });
    const session = subscription.checkout_session;
    expect(await chargesOf(session)).toEqual([{ kind: 'CARD', state: 'succeeded' }]);
    expect(await eventsOf(api, session.id)).toEqual(['checkout.session.completed']);
  });

  test('an invoice is issued and paid in the answer of its creation', async () => {
    const { invoice } = await oneOff('success');
    expect(invoice).toMatchObject({
      invoice_status: 'FINALIZED',
      payment_status: 'SUCCEEDED',
      invoice_number: expect.any(String),
      checkout_session: { checkout_status: 'completed' },
    });
  });

  test('the credits of a top-up are in the answer', async () => {
    const { customer } = await buyer('success');
    const { body: wallet } = await api.post('/v1/wallets', {
      customer_id: customer.id,
      currency: 'usd',
    });
    const { body } = await api.post(`/v1/wallets/${wallet.id}/top-up`, {
      credits_to_add: '30',
      transaction_reason: 'PURCHASED_CREDIT_INVOICED',
      checkout: charging(),
    });
    expect(body).toMatchObject({
      wallet: { credit_balance: '30' },
      wallet_transaction: { transaction_status: 'completed', credits_available: '30' },
      checkout_session: { checkout_status: 'completed' },
    });
  });

  test('an attached addon is active in the answer', async () => {
    const { catalog, customer, plan } = await buyer('success');
    const subscription = await catalog.subscribe(customer, plan);
    const { body: addon } = await api.post('/v1/addons', {
      name: 'More',
      lookup_key: `more_${subscription.id}`,
      type: 'onetime',
    });
    await catalog.fixed(addon, '30', { entity_type: 'ADDON' });
    const { body } = await api.post('/v1/subscriptions/addon', {
      subscription_id: subscription.id,
      addon_id: addon.id,
      proration_behavior: 'create_prorations',
      checkout: charging(),
    });
    expect(body).toMatchObject({
      addon_status: 'active',
      checkout_session: { checkout_status: 'completed' },
    });
    const path = `/v1/subscriptions/${subscription.id}/addons/associations`;
    expect((await api.get(path)).body.items).toMatchObject([
      { id: body.id, addon_status: 'active', created_at: body.created_at },
    ]);
  });
});

describe('a saved method that is declined', () => {
  test('the customer gets a page, which keeps its method; the session stays open until it is paid', async () => {
    const { customer, session, invoice } = await oneOff('decline');
    expect(invoice.invoice_status).toBe('DRAFT');
    expect(session).toMatchObject({
      checkout_status: 'pending',
      payment_action: { url: expect.any(String) },
      payment: { payment_method_type: 'PAYMENT_LINK', payment_status: 'PENDING', amount: '30' },
    });
    expect(await chargesOf(session)).toEqual([
      { kind: 'CARD', state: 'failed' },
      { kind: 'PAYMENT_LINK', state: 'pending' },
    ]);
    await outcome(session, 'success');
    expect(await get(`/checkout/sessions/${session.id}`)).toMatchObject({
      checkout_status: 'completed',
    });
    expect(await get(`/invoices/${invoice.id}`)).toMatchObject({
      invoice_status: 'FINALIZED',
      amount_paid: '30',
      overpaid_amount: '0',
    });
    expect(await eventsOf(api, session.id)).toEqual([
      'checkout.session.initiated',
      'checkout.session.completed',
    ]);
    const { items } = await get(`/customers/${customer.id}/payment-methods`);
    expect(items).toHaveLength(2);
  });

  test('the page of an expired session is closed, and nothing is left of its invoice', async () => {
    const { session, invoice } = await oneOff('decline');
    api.clock.advance(31 * 60_000);
    await runAtNow(api, expireCheckouts, api.deps);
    expect(await get(`/checkout/sessions/${session.id}`)).toMatchObject({
      checkout_status: 'expired',
      payment: { payment_status: 'VOIDED' },
    });
    expect(await get(`/invoices/${invoice.id}`)).toMatchObject({ invoice_status: 'VOIDED' });
  });

  test('after a question of its bank, too: the page follows once, however often it is asked for', async () => {
    const { session } = await oneOff('3ds');
    expect(session).toMatchObject({
      checkout_status: 'pending',
      payment: { payment_method_type: 'CARD' },
    });
    await outcome(session, 'decline');
    const [polled, second] = await Promise.all([
      get(`/checkout/sessions/${session.id}`),
      get(`/checkout/sessions/${session.id}`),
    ]);
    expect(polled).toMatchObject({
      checkout_status: 'pending',
      payment_action: { url: expect.any(String) },
      payment: { payment_method_type: 'PAYMENT_LINK' },
    });
    expect(second.checkout_payment_id).toBe(polled.checkout_payment_id);
    expect(await chargesOf(session)).toHaveLength(2);
  });

  test('a cancellation during the charge: it never becomes a page', async () => {
    const { session, invoice } = await oneOff('3ds');
    const { body } = await api.post(`/v1/checkout/sessions/${session.id}/cancel`);
    expect(body.checkout_status).toBe('expired');
    await outcome(session, 'decline');
    expect(await chargesOf(session)).toHaveLength(1);
    expect(await get(`/invoices/${invoice.id}`)).toMatchObject({ invoice_status: 'VOIDED' });
  });
});

test('an answer that is lost: the session completes when the gateway is asked again', async () => {
  const { session } = await oneOff('timeout');
  expect(session).toMatchObject({ checkout_status: 'initiated', payment_action: null });
  api.clock.advance(3_000);
  expect(await get(`/checkout/sessions/${session.id}`)).toMatchObject({
    checkout_status: 'completed',
    payment: { payment_method_type: 'CARD', payment_status: 'SUCCEEDED' },
  });
  expect(await chargesOf(session)).toHaveLength(1);
});

describe('the customer pays on a page', () => {
  test.each`
    why                                   | method       | config
    ${'without a saved method'}           | ${null}      | ${{}}
    ${'above the limit of the request'}   | ${'success'} | ${{ max_mandate_limit: '29.99' }}
    ${'if the method is of another type'} | ${'success'} | ${{ payment_method: 'UPI' }}
    ${'if invoices are sent'}             | ${'success'} | ${{ collection_method: 'send_invoice' }}
  `('$why', async ({ method, config }) => {
    const { session } = await oneOff(method, config);
    expect(session).toMatchObject({ checkout_status: 'pending' });
    expect(await chargesOf(session)).toEqual([{ kind: 'PAYMENT_LINK', state: 'pending' }]);
  });

  test.each([{ max_mandate_limit: '30' }, { payment_method: 'CARD' }])(
    'not within the terms: %j',
    async (config) => {
      const { session } = await oneOff('success', config);
      expect(session.checkout_status).toBe('completed');
    },
  );

  test('above payment_mandate_limits', async () => {
    await api.put('/v1/settings/payment_mandate_limits', {
      value: { mandate_limits: { CARD: { max_amount: '29.99', currency: '' } } },
    });
    const { session } = await oneOff('success');
    expect(session.checkout_status).toBe('pending');
    await api.delete('/v1/settings/payment_mandate_limits');
  });
});

test.each([
  [{ payment_method: 'CARD' }, 'payment_method'],
  [{ collection_method: 'send_invoice', max_mandate_limit: '5' }, 'max_mandate_limit'],
  [{ collection_method: 'charge_automatically', max_mandate_limit: '0' }, 'max_mandate_limit'],
  [{ collection_method: 'charge_automatically', payment_method: 'CREDITS' }, 'payment_method'],
])('400: %j', async (payment_provider_config, field) => {
  const { customer } = await buyer(null);
  const { status, body } = await api.post('/v1/invoices', {
    invoice_type: 'ONE_OFF',
    customer_id: customer.id,
    currency: 'usd',
    line_items: [{ display_name: 'Work', amount: '30', quantity: '1' }],
    checkout: { payment_provider: 'test', payment_provider_config },
  });
  expect(status).toBe(400);
  expect(body.details[0].path).toBe(`checkout.payment_provider_config.${field}`);
});
