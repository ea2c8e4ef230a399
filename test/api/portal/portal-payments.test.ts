import { startTestApi, type TestApi } from '../../support/api.ts';
import { invoiceDue } from '../../support/payments.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => api.close());

/** The portal of a customer. */
async function portalOf({ external_id }: { external_id: string }) {
  const { body } = await api.get(`/v1/customers/portal/${external_id}`);
  const headers = { 'x-api-key': '', 'x-session-token': body.token };
  return {
    get: (path: string) => api.get(`/v1/customer/portal${path}`, headers),
    post: (path: string, sent: object = {}) =>
      api.post(`/v1/customer/portal${path}`, sent, headers),
    put: (path: string, sent: object = {}) => api.put(`/v1/customer/portal${path}`, sent, headers),
    delete: (path: string) => api.delete(`/v1/customer/portal${path}`, undefined, headers),
  };
}
const outcome = (session: any, name: string) =>
  api.post(`/v1/test-gateway/payments/${session.checkout_payment_id}/outcome`, { outcome: name });

/** A customer with an open invoice of 40 and an empty wallet. */
async function customerWithBill() {
  const due = await invoiceDue(api, '40');
  const { body: wallet } = await api.post('/v1/wallets', {
    customer_id: due.customer.id,
    currency: 'usd',
  });
  return { ...due, wallet, portal: await portalOf(due.customer) };
}

test('an invoice is paid on a page; two clicks open one page; the notes of the tenant stay hidden', async () => {
  const { portal, invoice } = await customerWithBill();
  const first = await portal.post(`/invoices/${invoice.id}/pay`);
  expect(first.status).toBe(200);
  expect(first.body).toMatchObject({
    payment: { amount: '40', payment_status: 'PENDING', metadata: {} },
    checkout_session: { checkout_status: 'pending', configuration: {}, metadata: {} },
  });
  const { checkout_session: session } = first.body;
  const again = await portal.post(`/invoices/${invoice.id}/pay`);
  expect(again.body.checkout_session.id).toBe(session.id);
  await outcome(session, 'success');
  expect((await portal.get(`/checkout/${session.id}`)).body.checkout_status).toBe('completed');
  expect((await portal.get(`/invoices/${invoice.id}`)).body.payment_status).toBe('SUCCEEDED');
  expect((await portal.post(`/invoices/${invoice.id}/pay`)).status).toBe(400);
});

test('a saved method is listed without the tenant’s ids, charged at once, and forgotten', async () => {
  const { portal, invoice } = await customerWithBill();
  const saved = await portal.post('/payment-methods', { gateway_method_id: 'pm_test_success' });
  expect(saved.status).toBe(201);
  const elsewhere = { gateway_method_id: 'pm_test_success', payment_provider: 'razorpay' };
  const refused = await portal.post('/payment-methods', elsewhere);
  expect([refused.status, refused.body.details[0].path]).toEqual([400, 'payment_provider']);
  expect(Object.keys(saved.body)).not.toContain('connection_id');
  expect((await portal.get('/payment-methods')).body.items).toEqual([saved.body]);
  const paid = await portal.post(`/invoices/${invoice.id}/pay`, {
    payment_method_id: saved.body.id,
  });
  expect(paid.body).toMatchObject({
    payment: { payment_status: 'SUCCEEDED', amount: '40' },
    checkout_session: null,
  });
  const other = await portal.put(`/payment-methods/${saved.body.id}`, { is_default: false });
  expect(other.body.is_default).toBe(false);
  expect((await portal.delete(`/payment-methods/${saved.body.id}`)).status).toBe(200);
  expect((await portal.get('/payment-methods')).body.items).toEqual([]);
});

test('an absent customer: the default method is charged; without one a page is opened', async () => {
  const { portal, invoice, wallet } = await customerWithBill();
  const topUp = (key: string) =>
    portal.post(`/wallets/${wallet.id}/top-up`, {
      credits_to_add: '20',
      customer_not_present: true,
      idempotency_key: key,
    });
  const waiting = await topUp('before');
  expect(waiting.body).toMatchObject({
    wallet_transaction: { transaction_status: 'pending' },
    checkout_session: { payment_action: { url: expect.any(String) } },
  });
  await outcome(waiting.body.checkout_session, 'success');
  await portal.post('/payment-methods', { gateway_method_id: 'pm_test_success', is_default: true });
  expect((await topUp('after')).body).toMatchObject({
    wallet_transaction: { transaction_status: 'completed' },
    checkout_session: { checkout_status: 'completed', payment_action: null },
  });
  const paid = await portal.post(`/invoices/${invoice.id}/pay`, { customer_not_present: true });
  expect(paid.body).toMatchObject({
    payment: { payment_status: 'SUCCEEDED', amount: '40' },
    checkout_session: { checkout_status: 'completed' },
  });
  expect((await portal.get(`/invoices/${invoice.id}`)).body.payment_status).toBe('SUCCEEDED');
});

test('credits wait for their payment, at the minimum or more, and once per key of the customer', async () => {
  const { portal, wallet } = await customerWithBill();
  const path = `/wallets/${wallet.id}/top-up`;
  expect((await portal.post(path, { amount: '0.50' })).status).toBe(400);
  const bought = { credits_to_add: '20', idempotency_key: 'k' };
  const first = await portal.post(path, bought);
  expect(first.body).toMatchObject({
    wallet_transaction: { transaction_status: 'pending', credit_amount: '20' },
    checkout_session: { action: 'wallet_topup', payment: { amount: '20' } },
  });
  const again = await portal.post(path, bought);
  expect(again.body.wallet_transaction.id).toBe(first.body.wallet_transaction.id);
  await outcome(first.body.checkout_session, 'success');
  expect((await portal.get(`/wallets/${wallet.id}`)).body.credit_balance).toBe('20');
  const stranger = await customerWithBill();
  const same = await stranger.portal.post(`/wallets/${stranger.wallet.id}/top-up`, bought);
  expect(same.status).toBe(200);
  for (const more of [
    { transaction_reason: 'FREE_CREDIT_GRANT' },
    { bonus_credits_to_add: '100' },
    { priority: 0 },
  ]) {
    const { body } = await portal.post(path, { credits_to_add: '5', ...more });
    if (body.checkout_session) await outcome(body.checkout_session, 'decline');
    expect(body.wallet_transaction?.transaction_status ?? 'pending').toBe('pending');
  }
});

test('an automatic top-up of the portal always sells an invoice', async () => {
  const { portal, wallet } = await customerWithBill();
  const path = `/wallets/${wallet.id}/auto-topup`;
  const set = { enabled: true, threshold: '10', amount: '50' };
  expect(await portal.put(path, { enabled: true, amount: '50' })).toMatchObject({
    status: 400,
    body: { message: 'threshold: is required', details: [{ path: 'threshold' }] },
  });
  const { status, body } = await portal.put(path, { ...set, invoicing: false });
  expect([status, body.auto_topup]).toMatchObject([200, { enabled: true, invoicing: true }]);
  expect((await portal.put(path, { ...set, amount: '0' })).status).toBe(400);
});

test('a closed wallet cannot be given an automatic top-up or alerts, which would do nothing (money 2.12)', async () => {
  const { portal, wallet } = await customerWithBill();
  expect((await api.post(`/v1/wallets/${wallet.id}/terminate`, {})).status).toBe(200);
  const set = { enabled: true, threshold: '10', amount: '50' };
  const level = { threshold: '10', condition: 'below' };
  for (const { status, body } of [
    await portal.put(`/wallets/${wallet.id}/auto-topup`, set),
    await api.put(`/v1/wallets/${wallet.id}`, {
      auto_topup: { enabled: true, threshold: 10, amount: 50, invoicing: true },
    }),
    await api.put(`/v1/wallets/${wallet.id}`, {
      alert_settings: { alert_enabled: true, critical: level },
    }),
  ])
    expect([status, body.details?.[0].path]).toEqual([400, 'wallet_status']);
  const renamed = await api.put(`/v1/wallets/${wallet.id}`, {
    ...{ name: 'Old', alert_settings: null },
  });
  expect(renamed).toMatchObject({ status: 200, body: { name: 'Old', alert_settings: null } });
});

test('a record of another customer is not found, for any operation', async () => {
  const { invoice, wallet, portal: own } = await customerWithBill();
  const { body: method } = await own.post('/payment-methods', {
    gateway_method_id: 'pm_test_success',
  });
  const { body: opened } = await own.post(`/invoices/${invoice.id}/pay`);
  const { portal, invoice: mine } = await customerWithBill();
  const answers = [
    await portal.post(`/invoices/${invoice.id}/pay`),
    await portal.get(`/invoices/${invoice.id}/pdf`),
    await portal.post(`/wallets/${wallet.id}/top-up`, { credits_to_add: '20' }),
    await portal.put(`/wallets/${wallet.id}/auto-topup`, { enabled: false }),
    await portal.get(`/checkout/${opened.checkout_session.id}`),
    await portal.put(`/payment-methods/${method.id}`, { is_default: true }),
    await portal.delete(`/payment-methods/${method.id}`),
    await portal.post(`/invoices/${mine.id}/pay`, { payment_method_id: method.id }),
  ];
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
  const listed = await portal.get('/payment-methods');
  expect(listed.body.items).toEqual([]);
});

test('return addresses need the tenant’s list; the gateways are named without their secrets', async () => {
  const { portal, invoice } = await customerWithBill();
  const path = `/invoices/${invoice.id}/pay`;
  const wanted = { success_url: 'https://app.example/paid' };
  expect((await portal.post(path, wanted)).status).toBe(400);
  const person = await api.newCaller({ beside: api, roles: ['super_admin'] });
  const saved = await person.put('/v1/settings/checkout_config', {
    value: { return_origins: ['https://app.example'] },
  });
  expect(saved.status).toBe(200);
  expect((await portal.post(path, { success_url: 'https://evil.example/' })).status).toBe(400);
  expect((await portal.post(path, wanted)).status).toBe(200);
  expect((await portal.get('/integrations')).body).toEqual({
    items: [{ provider: 'test', livemode: false }],
  });
});
