import { startTestApi, type TestApi } from '../../support/api.ts';
import { invoiceDue, payOffline } from '../../support/payments.ts';
import { startStripeServer, type StripeServer } from '../../support/stripe-server.ts';

/** Pages that are opened while the connection to their gateway is being deleted. */
const KEY = 'sk_test_of_this_test';
let api: TestApi;
let stripe: StripeServer;
beforeAll(async () => {
  stripe = await startStripeServer(KEY);
  api = await startTestApi({ stripeApiUrl: stripe.url });
});
afterEach(() => {
  stripe.meanwhile = async () => {};
});
afterAll(async () => {
  await api.close();
  await stripe.close();
});

const connected = async (): Promise<string> => {
  const { body } = await api.post('/v1/connections', {
    name: 'Stripe',
    provider_type: 'stripe',
    encrypted_secret_data: { secret_key: KEY },
  });
  return `/v1/connections/${body.id}`;
};
const openPage = async () =>
  await payOffline(api, (await invoiceDue(api, '40')).invoice, '40', {
    payment_method_type: 'PAYMENT_LINK',
    payment_gateway: 'stripe',
    success_url: 'https://shop.example/thanks',
  });
const openAtStripe = () =>
  [...stripe.objects.values()].filter(
    ({ object, status }) => object === 'checkout.session' && status === 'open',
  ).length;
const whileOneIsClosed = (work: () => Promise<unknown>) => {
  stripe.meanwhile = async (verb, path) => {
    if (verb === 'POST' && path.endsWith('/expire')) await work();
  };
};

test('one that is opened while another is closed is closed too', async () => {
  const path = await connected();
  expect((await openPage()).status).toBe(201);
  let opened = 0;
  whileOneIsClosed(async () => {
    if ((opened += 1) === 1) expect((await openPage()).status).toBe(201);
  });
  expect((await api.delete(path)).status).toBe(204);
  expect([opened, openAtStripe()]).toEqual([2, 0]);
  const late = await openPage();
  expect([late.status, late.body.details[0].path]).toEqual([400, 'payment_gateway']);
});

test('409 while pages are opened as fast as they are closed; the connection stays', async () => {
  const path = await connected();
  await openPage();
  whileOneIsClosed(openPage);
  const { status, body } = await api.delete(path);
  expect([status, body.code]).toEqual([409, 'payments_open']);
  stripe.meanwhile = async () => {};
  expect((await api.get(path)).status).toBe(200);
  expect((await api.delete(path)).status).toBe(204);
  expect(openAtStripe()).toBe(0);
});

test('money that has reached a page of a void invoice is booked and returned', async () => {
  const path = await connected();
  const { body: payment } = await openPage();
  const invoice = `/v1/invoices/${payment.destination_id}`;
  expect((await api.post(`${invoice}/void`, {})).status).toBe(200);
  stripe.payPage(payment.gateway_payment_id);
  expect((await api.delete(path)).status).toBe(204);
  expect((await api.get(invoice)).body).toMatchObject({
    ...{ invoice_status: 'VOIDED', amount_paid: '40', refunded_amount: '40' },
  });
});

test('one that is being opened when the connection is deleted is closed by the one who opens it', async () => {
  const path = await connected();
  let deleted: number | null = null;
  stripe.meanwhile = async (verb, asked) => {
    if (verb !== 'POST' || !asked.endsWith('/checkout/sessions') || deleted !== null) return;
    deleted = 0;
    deleted = (await api.delete(path)).status;
  };
  const { body } = await openPage();
  expect([deleted, openAtStripe()]).toEqual([204, 0]);
  expect(body).toMatchObject({
    ...{ payment_status: 'FAILED', error_message: 'The connection to the gateway was deleted.' },
  });
});

test('of payments and a deletion at the same time, no page stays open', async () => {
  const path = await connected();
  const dues = await Promise.all(Array.from({ length: 6 }, () => invoiceDue(api, '40')));
  const pay = (due: (typeof dues)[number]) =>
    payOffline(api, due.invoice, '40', {
      payment_method_type: 'PAYMENT_LINK',
      payment_gateway: 'stripe',
      success_url: 'https://shop.example/thanks',
    });
  const answers = await Promise.all([...dues.map(pay), api.delete(path)]);
  if (answers.at(-1)!.status === 409) expect((await api.delete(path)).status).toBe(204);
  expect(openAtStripe()).toBe(0);
});
