import { reconcilePayments } from '../../../jobs/reconcile-payments.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { runAtNow } from '../../support/job-run.ts';
import { invoiceDue, payOffline } from '../../support/payments.ts';
import { startStripeServer, type StripeServer } from '../../support/stripe-server.ts';

/** A connection to Stripe whose credentials have no `secret_key` takes no payment. */
const KEY = 'sk_test_of_this_test';
const KEYLESS = { webhook_secret: 'whsec_alone' };
let api: TestApi;
let stripe: StripeServer;
let connection: { id: string };
beforeAll(async () => {
  stripe = await startStripeServer(KEY);
  api = await startTestApi({ stripeApiUrl: stripe.url });
  const sent = { name: 'Stripe', provider_type: 'stripe', encrypted_secret_data: KEYLESS };
  connection = (await api.post('/v1/connections', sent)).body;
});
afterAll(async () => {
  await api.close();
  await stripe.close();
});

const secrets = async (encrypted_secret_data: object | null) =>
  expect(
    (await api.put(`/v1/connections/${connection.id}`, { encrypted_secret_data })).status,
  ).toBe(200);
const refusal = ({ status, body }: { status: number; body: any }) => [
  status,
  body.details?.[0]?.path,
];
const success_url = 'https://shop.example/thanks';
const link = { payment_method_type: 'PAYMENT_LINK', payment_gateway: 'stripe', success_url };
const card = { payment_method_type: 'CARD', payment_gateway: 'stripe' };
const open = (due: any, more: object = {}) =>
  api.post('/v1/checkout/sessions', {
    customer_external_id: due.customer.external_id,
    action: 'pay_invoice',
    payment_provider: 'stripe',
    configuration: { pay_invoice_params: { invoice_id: due.invoice.id } },
    success_url,
    ...more,
  });
const saveCard = (customer: { id: string }) =>
  api.post(`/v1/customers/${customer.id}/payment-methods`, {
    gateway_method_id: 'pm_card_visa',
    payment_gateway: 'stripe',
  });
async function offeredTo(customer: { external_id: string }): Promise<string[]> {
  const { body } = await api.get(`/v1/customers/portal/${customer.external_id}`);
  const answer = await api.app.inject({
    method: 'GET',
    url: '/v1/customer/portal/integrations',
    headers: { 'x-api-key': '', 'x-session-token': body.token },
  });
  return answer.json().items.map(({ provider }: { provider: string }) => provider);
}

test.each([
  ['other credentials', KEYLESS],
  ['no credentials', null],
])('with %s it is not chosen, and the portal does not offer it', async (_, credentials) => {
  await secrets(credentials);
  const due = await invoiceDue(api, '40');
  expect(refusal(await payOffline(api, due.invoice, '40', link))).toEqual([400, 'payment_gateway']);
  expect(refusal(await open(due))).toEqual([400, 'payment_provider']);
  expect(refusal(await saveCard(due.customer))).toEqual([400, 'payment_gateway']);
  expect(await offeredTo(due.customer)).toEqual([]);
  await secrets({ secret_key: KEY });
  expect(await offeredTo(due.customer)).toEqual(['stripe']);
  expect((await payOffline(api, due.invoice, '40', link)).status).toBe(201);
});

test('a saved card is not charged while the key is missing, and is when it is back', async () => {
  await secrets({ secret_key: KEY });
  const due = await invoiceDue(api, '40');
  expect((await saveCard(due.customer)).status).toBe(201);
  await secrets(KEYLESS);
  expect(refusal(await payOffline(api, due.invoice, '40', card))).toEqual([400, 'payment_gateway']);
  const renewed = await invoiceDue(api, '30', { customer_id: due.customer.id });
  expect(renewed.invoice.payment_status).toBe('PENDING');
  await secrets({ secret_key: KEY });
  expect((await payOffline(api, due.invoice, '40', card)).body.payment_status).toBe('SUCCEEDED');
});

const unanswered = async () => {
  await secrets({ secret_key: KEY });
  const due = await invoiceDue(api, '40');
  await saveCard(due.customer);
  stripe.loseAnswers = 9;
  const { body: payment } = await payOffline(api, due.invoice, '40', card);
  stripe.loseAnswers = 0;
  expect([payment.payment_status, payment.gateway_payment_id]).toEqual(['PENDING', null]);
  await secrets({ secret_key: 'sk_test_withdrawn' });
  return { ...due, payment };
};

test('503 for the deletion of a payment whose charge got no answer; the money is booked later', async () => {
  const { payment, read } = await unanswered();
  const deleted = await api.delete(`/v1/payments/${payment.id}`);
  expect([deleted.status, deleted.body.code]).toEqual([503, 'gateway_unavailable']);
  await secrets({ secret_key: KEY });
  api.clock.advance(120_000);
  expect(await runAtNow(api, reconcilePayments, api.deps)).toMatchObject({ failed: 0 });
  expect(await read()).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '40' });
});

test('503 for the deletion of a card while its gateway cannot be told', async () => {
  await secrets({ secret_key: KEY });
  const { customer } = await invoiceDue(api, '40');
  const { body: method } = await saveCard(customer);
  await secrets(KEYLESS);
  const path = `/v1/customers/${customer.id}/payment-methods/${method.id}`;
  const refused = await api.delete(path);
  expect([refused.status, refused.body.code]).toEqual([503, 'gateway_unavailable']);
  await secrets({ secret_key: KEY });
  expect((await api.delete(path)).status).toBe(200);
  expect(stripe.objects.get('pm_card_visa')).toMatchObject({ customer: null });
});

test('a session whose charge got no answer waits for a day, and late money is booked', async () => {
  await secrets({ secret_key: KEY });
  const due = await invoiceDue(api, '40');
  await saveCard(due.customer);
  stripe.loseAnswers = 9;
  const { status, body: session } = await open(due, {
    payment_provider_config: { collection_method: 'charge_automatically' },
  });
  stripe.loseAnswers = 0;
  expect(status).toBe(201);
  await secrets({ secret_key: 'sk_test_withdrawn' });
  const cancel = () => api.post(`/v1/checkout/sessions/${session.id}/cancel`);
  expect((await cancel()).status).toBe(503);
  api.clock.advance(1_800_000 + 86_400_000);
  expect((await cancel()).body).toMatchObject({ checkout_status: 'expired' });
  await secrets({ secret_key: KEY });
  api.clock.advance(86_400_000);
  expect(await runAtNow(api, reconcilePayments, api.deps)).toMatchObject({ failed: 0 });
  expect(await due.read()).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '40' });
});

test('once the connection is deleted, such a payment is deleted, and a recorded one is not sent', async () => {
  const { payment } = await unanswered();
  await secrets({ secret_key: KEY });
  const { invoice } = await invoiceDue(api, '40');
  const recorded = await payOffline(api, invoice, '40', {
    ...card,
    payment_method_id: 'pm_card_visa',
    process_payment: false,
  });
  expect(recorded.status).toBe(201);
  await secrets({ secret_key: 'sk_test_withdrawn' });
  expect((await api.delete(`/v1/connections/${connection.id}`)).status).toBe(204);
  expect((await api.delete(`/v1/payments/${payment.id}`)).status).toBe(200);
  const sent = await api.post(`/v1/payments/${recorded.body.id}/process`);
  expect(refusal(sent)).toEqual([400, 'payment_gateway']);
  expect((await api.delete(`/v1/payments/${recorded.body.id}`)).status).toBe(200);
});
