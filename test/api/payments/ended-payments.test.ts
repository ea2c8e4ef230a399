import { expireCheckouts } from '../../../jobs/expire-checkouts.ts';
import { reconcilePayments } from '../../../jobs/reconcile-payments.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { runAtNow } from '../../support/job-run.ts';
import { invoiceDue, payOffline } from '../../support/payments.ts';
import { startStripeServer, type StripeServer } from '../../support/stripe-server.ts';

/**
 * A request that ends a payment only asks its gateway: it never sends a charge that did not arrive (money 8.3.7,
 * 11.16).
 */
const KEY = 'sk_test_of_this_test';
let api: TestApi;
let stripe: StripeServer;
let connection: { id: string };
beforeAll(async () => {
  stripe = await startStripeServer(KEY);
  api = await startTestApi({ stripeApiUrl: stripe.url });
});
afterAll(async () => {
  await api.close();
  await stripe.close();
});
beforeEach(async () => {
  connection = await api.postOk('/v1/connections', {
    name: 'Stripe',
    provider_type: 'stripe',
    encrypted_secret_data: { secret_key: KEY },
  });
});
afterEach(async () => {
  stripe.isSearchLate = false;
  await api.delete(`/v1/connections/${connection.id}`);
});

const useKey = async (secret_key: string) =>
  expect(
    (
      await api.put(`/v1/connections/${connection.id}`, {
        encrypted_secret_data: { secret_key },
      })
    ).status,
  ).toBe(200);
const withCard = async () => {
  const due = await invoiceDue(api, '40');
  const path = `/v1/customers/${due.customer.id}/payment-methods`;
  await api.postOk(path, { gateway_method_id: 'pm_card_visa', payment_gateway: 'stripe' });
  return due;
};
const card = { payment_method_type: 'CARD', payment_gateway: 'stripe' };
const charges = () => stripe.requests.filter(({ path }) => path === '/v1/payment_intents').length;
const reconcile = () => runAtNow(api, reconcilePayments, api.deps);

/** A charge that the gateway never gets, because it refuses the key. */
const neverSent = async () => {
  const due = await withCard();
  await useKey('sk_test_withdrawn');
  const payment = await api.postOk('/v1/payments', {
    destination_type: 'INVOICE',
    destination_id: due.invoice.id,
    amount: '40',
    currency: 'usd',
    ...card,
  });
  expect([payment.payment_status, payment.gateway_payment_id]).toEqual(['PENDING', null]);
  await useKey(KEY);
  return { ...due, payment, path: `/v1/payments/${payment.id}`, before: charges() };
};
const session = async () => {
  const due = await withCard();
  await useKey('sk_test_withdrawn');
  const made = await api.postOk('/v1/checkout/sessions', {
    customer_external_id: due.customer.external_id,
    action: 'pay_invoice',
    payment_provider: 'stripe',
    configuration: { pay_invoice_params: { invoice_id: due.invoice.id } },
    payment_provider_config: { collection_method: 'charge_automatically' },
    success_url: 'https://shop.example/thanks',
  });
  return { ...due, made, path: `/v1/checkout/sessions/${made.id}`, before: charges() };
};

test('a deleted payment is not charged, neither by the deletion nor by the job', async () => {
  const { path, before, read } = await neverSent();
  api.clock.advance(60_001);
  expect((await api.delete(path)).status).toBe(200);
  api.clock.advance(3_600_000);
  expect(await reconcile()).toMatchObject({ failed: 0 });
  expect(charges()).toBe(before);
  expect(await read()).toMatchObject({ payment_status: 'PENDING', amount_paid: '0' });
});

test('409 within a minute of the charge: the gateway may not show it yet', async () => {
  const { path, before } = await neverSent();
  const refused = await api.delete(path);
  expect([refused.status, refused.body.code]).toEqual([409, 'payment_in_progress']);
  api.clock.advance(60_001);
  expect((await api.delete(path)).status).toBe(200);
  expect(charges()).toBe(before);
});

test('money that is found after the deletion is booked, for a day', async () => {
  const { invoice, read } = await withCard();
  stripe.loseAnswers = 9;
  const { body: payment } = await payOffline(api, invoice, '40', card);
  stripe.loseAnswers = 0;
  stripe.isSearchLate = true;
  api.clock.advance(60_001);
  expect((await api.delete(`/v1/payments/${payment.id}`)).status).toBe(200);
  expect(await read()).toMatchObject({ payment_status: 'PENDING', amount_paid: '0' });
  stripe.isSearchLate = false;
  api.clock.advance(60_000);
  expect(await reconcile()).toMatchObject({ failed: 0 });
  expect(await read()).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '40' });
  const { items } = (await api.get(`/v1/payments?destination_id=${invoice.id}`)).body;
  expect(items.map((item: any) => item.metadata.late_payment_of)).toEqual([payment.id]);
});

test('a deleted payment is asked about for a day, not longer', async () => {
  const { payment, path } = await neverSent();
  api.clock.advance(60_001);
  await api.delete(path);
  const deletedAt = api.clock.now();
  const asked = new Set<number>();
  for (let hour = 0; hour < 72; hour += 1) {
    api.clock.advance(3_600_000);
    await reconcile();
    const [row] = await api.pool<{ last_synced_at: string }[]>`
      select last_synced_at from payments where id = ${payment.id}`;
    asked.add(Date.parse(row!.last_synced_at) - deletedAt);
  }
  const hours = [...asked].map((ms) => ms / 3_600_000);
  expect(hours).toEqual([1, 3, 7, 15, 31]);
});

test('a cancelled session does not charge the card', async () => {
  const { path, before, read } = await session();
  expect((await api.post(`${path}/cancel`)).status).toBe(503);
  await useKey(KEY);
  api.clock.advance(120_000);
  expect(await reconcile()).toMatchObject({ failed: 0 });
  expect(charges()).toBe(before);
  api.clock.advance(60_001);
  const { status, body } = await api.post(`${path}/cancel`);
  expect([status, body.checkout_status]).toEqual([200, 'expired']);
  expect(charges()).toBe(before);
  expect(await read()).toMatchObject({ payment_status: 'PENDING', amount_paid: '0' });
});

test('a session that expires while its gateway is silent does not charge the card', async () => {
  const { path, before, read } = await session();
  api.clock.advance(3_600_000);
  expect(await runAtNow(api, expireCheckouts, api.deps)).toMatchObject({ expired: 0, failed: 1 });
  await useKey(KEY);
  expect(await reconcile()).toMatchObject({ failed: 0 });
  api.clock.advance(60_001);
  expect(await runAtNow(api, expireCheckouts, api.deps)).toMatchObject({ expired: 1, failed: 0 });
  expect((await api.get(path)).body).toMatchObject({ checkout_status: 'expired' });
  expect(charges()).toBe(before);
  expect(await read()).toMatchObject({ payment_status: 'PENDING', amount_paid: '0' });
});

test('the deletion of a connection charges nothing: the payment fails', async () => {
  const { payment, path, before, read } = await neverSent();
  api.clock.advance(60_001);
  expect((await api.delete(`/v1/connections/${connection.id}`)).status).toBe(204);
  expect(charges()).toBe(before);
  expect((await api.get(path)).body).toMatchObject({
    id: payment.id,
    payment_status: 'FAILED',
    error_message: 'The connection to the gateway was deleted.',
  });
  expect(await read()).toMatchObject({ amount_paid: '0' });
});

test('a connection that is deleted within a minute of the charge leaves the payment to a person', async () => {
  const { path, before } = await neverSent();
  expect((await api.delete(`/v1/connections/${connection.id}`)).status).toBe(204);
  expect(charges()).toBe(before);
  expect((await api.get(path)).body).toMatchObject({ payment_status: 'PENDING' });
  expect((await api.put(path, { payment_status: 'FAILED' })).status).toBe(200);
});
