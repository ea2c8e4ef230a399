import { expireCheckouts } from '../../../jobs/expire-checkouts.ts';
import { reconcilePayments } from '../../../jobs/reconcile-payments.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { runAtNow } from '../../support/job-run.ts';
import { invoiceDue, payOffline } from '../../support/payments.ts';
import { startStripeServer, type StripeServer } from '../../support/stripe-server.ts';

/** A gateway that cannot be asked for a long time: its key is missing or was withdrawn. */
const KEY = 'sk_test_of_this_test';
let api: TestApi;
let stripe: StripeServer;
let connection: { id: string };
beforeAll(async () => {
  stripe = await startStripeServer(KEY);
  api = await startTestApi({ stripeApiUrl: stripe.url });
  const encrypted_secret_data = { secret_key: KEY };
  const sent = { name: 'Stripe', provider_type: 'stripe', encrypted_secret_data };
  connection = (await api.post('/v1/connections', sent)).body;
});
afterAll(async () => {
  await api.close();
  await stripe.close();
});
afterEach(() => secrets({ secret_key: KEY }));

const secrets = async (encrypted_secret_data: object | null) =>
  expect(
    (await api.put(`/v1/connections/${connection.id}`, { encrypted_secret_data })).status,
  ).toBe(200);
const opened = async () => {
  const due = await invoiceDue(api, '40');
  const { status, body: session } = await api.post('/v1/checkout/sessions', {
    customer_external_id: due.customer.external_id,
    action: 'pay_invoice',
    payment_provider: 'stripe',
    configuration: { pay_invoice_params: { invoice_id: due.invoice.id } },
    success_url: 'https://shop.example/thanks',
  });
  expect(status).toBe(201);
  return { ...due, session, path: `/v1/checkout/sessions/${session.id}` };
};

describe('without credentials', () => {
  test('a session can be read, and waits for them', async () => {
    const { path, session } = await opened();
    await secrets(null);
    api.clock.advance(3_000);
    const { status, body } = await api.get(path);
    expect([status, body.checkout_status, body.stale]).toEqual([200, 'pending', true]);
    const cancelled = await api.post(`${path}/cancel`);
    expect([cancelled.status, cancelled.body.code]).toEqual([503, 'gateway_unavailable']);
    await secrets({ secret_key: KEY });
    expect((await api.post(`${path}/cancel`)).body).toMatchObject({
      id: session.id,
      checkout_status: 'expired',
    });
  });
});

describe('for a day after its end', () => {
  const withdraw = () => secrets({ secret_key: 'sk_test_withdrawn' });
  const expire = () => runAtNow(api, expireCheckouts, api.deps);

  test('a session expires without its gateway; the invoice can be paid, and late money is booked', async () => {
    const { path, session, invoice, read } = await opened();
    await withdraw();
    api.clock.set(new Date(Date.parse(session.expires_at) + 86_399_000).toISOString());
    expect(await expire()).toMatchObject({ expired: 0, failed: 1 });
    expect((await api.get(path)).body).toMatchObject({ checkout_status: 'pending', stale: true });
    api.clock.advance(1_000);
    expect(await expire()).toMatchObject({ expired: 1, failed: 0 });
    expect((await api.get(path)).body).toMatchObject({
      checkout_status: 'expired',
      failure_reason: 'session expired before payment',
    });
    expect((await payOffline(api, invoice, '40')).status).toBe(201);

    // The gateway answers again, and the page was paid meanwhile.
    await secrets({ secret_key: KEY });
    stripe.payPage(
      (await api.get(`/v1/payments/${session.checkout_payment_id}`)).body.gateway_payment_id,
    );
    api.clock.advance(60_000);
    expect(await runAtNow(api, reconcilePayments, api.deps)).toMatchObject({ failed: 0 });
    expect(await read()).toMatchObject({ amount_paid: '80', overpaid_amount: '40' });
  });

  test('a person can cancel it then', async () => {
    const { path } = await opened();
    await withdraw();
    expect((await api.post(`${path}/cancel`)).status).toBe(503);
    api.clock.advance(1_800_000 + 86_400_000);
    const { status, body } = await api.post(`${path}/cancel`);
    expect([status, body.checkout_status]).toEqual([200, 'expired']);
  });
});
