import { closeGateway } from '../../../api/billing/connections/close-gateway.ts';
import { jobRunAt } from '../../support/job-run.ts';
import { expireCheckouts } from '../../../jobs/expire-checkouts.ts';
import { reconcilePayments } from '../../../jobs/reconcile-payments.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { eventsOf, invoiceDue, payOffline } from '../../support/payments.ts';

/** The connection to the gateway was deleted, with its credentials: nothing can be asked any more. */
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

async function connected(): Promise<() => Promise<void>> {
  const sent = { name: 'Test', provider_type: 'test' };
  const { body } = await api.post('/v1/connections', sent);
  return async () => {
    expect((await api.delete(`/v1/connections/${body.id}`)).status).toBe(204);
  };
}
const open = (due: any) =>
  api.post('/v1/checkout/sessions', {
    customer_external_id: due.customer.external_id,
    action: 'pay_invoice',
    payment_provider: 'test',
    configuration: { pay_invoice_params: { invoice_id: due.invoice.id } },
  });
const read = async (path: string) => (await api.get(`/v1${path}`)).body;

test('a session expires, and its invoice can be paid in another way', async () => {
  const disconnect = await connected();
  const due = await invoiceDue(api, '40');
  const { body: session } = await open(due);
  await disconnect();
  const at = new Date(api.clock.now() + 1_801_000).toISOString();
  expect(await expireCheckouts.run(api.deps, jobRunAt(at))).toMatchObject({ failed: 0 });
  expect(await read(`/checkout/sessions/${session.id}`)).toMatchObject({
    checkout_status: 'expired',
  });
  expect((await payOffline(api, due.invoice, '40')).status).toBe(201);
});

test('a session is cancelled by hand', async () => {
  const disconnect = await connected();
  const { body: session } = await open(await invoiceDue(api, '40'));
  await disconnect();
  const { status, body } = await api.post(`/v1/checkout/sessions/${session.id}/cancel`);
  expect([status, body.checkout_status]).toEqual([200, 'expired']);
});

test('a payment in flight can be read and deleted', async () => {
  const disconnect = await connected();
  const due = await invoiceDue(api, '40');
  const { body: payment } = await payOffline(api, due.invoice, '40', {
    payment_method_type: 'PAYMENT_LINK',
    payment_gateway: 'test',
  });
  await disconnect();
  const at = new Date(api.clock.now() + 120_000).toISOString();
  expect(await reconcilePayments.run(api.deps, jobRunAt(at))).toMatchObject({ failed: 0 });
  expect((await api.delete(`/v1/payments/${payment.id}`)).status).toBe(200);
  expect((await payOffline(api, due.invoice, '40')).status).toBe(201);
});

const outcome = (payment_id: string, name: string) =>
  api.post(`/v1/test-gateway/payments/${payment_id}/outcome`, { outcome: name });
const pageState = async (payment_id: string) => {
  const [row] = await api.pool<{ state: string }[]>`
    select state from test_gateway_payments where reference = ${payment_id}`;
  return row!.state;
};
const cardOf = (due: any, method: string) =>
  payOffline(api, due.invoice, '40', {
    payment_method_type: 'CARD',
    payment_gateway: 'test',
    payment_method_id: method,
  });

test('its open pages are closed first, so that nobody pays where nothing is asked any more', async () => {
  const disconnect = await connected();
  const page = await invoiceDue(api, '40');
  const { body: session } = await open(page);
  const linked = await invoiceDue(api, '40');
  const { body: link } = await payOffline(api, linked.invoice, '40', {
    payment_method_type: 'PAYMENT_LINK',
    payment_gateway: 'test',
  });
  await disconnect();
  expect(await pageState(session.checkout_payment_id)).toBe('cancelled');
  expect(await pageState(link.id)).toBe('cancelled');
  expect(await read(`/checkout/sessions/${session.id}`)).toMatchObject({
    checkout_status: 'expired',
  });
  expect(await read(`/payments/${link.id}`)).toMatchObject({ payment_status: 'FAILED' });
  for (const { invoice } of [page, linked])
    expect((await payOffline(api, invoice, '40')).status).toBe(201);
});

test('409 while more pages are open than one request closes; the next request goes on', async () => {
  const { body: connection } = await api.post('/v1/connections', {
    name: 'Test',
    provider_type: 'test',
  });
  const sessions: { readonly checkout_payment_id: string }[] = [];
  for (const due of [await invoiceDue(api, '40'), await invoiceDue(api, '40')])
    sessions.push((await open(due)).body);
  const states = () => Promise.all(sessions.map((each) => pageState(each.checkout_payment_id)));
  const caller = { scope: api.scope, user_id: api.user_id };
  const close = () => closeGateway(api.deps, caller, connection.id, 1);
  await expect(close()).rejects.toMatchObject({ kind: 'conflict', code: 'payments_open' });
  expect((await states()).filter((state) => state === 'cancelled')).toHaveLength(1);
  await close();
  expect(await states()).toEqual(['cancelled', 'cancelled']);
  expect((await api.delete(`/v1/connections/${connection.id}`)).status).toBe(204);
});

test('money that came before is booked', async () => {
  const disconnect = await connected();
  const due = await invoiceDue(api, '40');
  const { body: session } = await open(due);
  await outcome(session.checkout_payment_id, 'timeout');
  await disconnect();
  expect(await read(`/checkout/sessions/${session.id}`)).toMatchObject({
    checkout_status: 'completed',
  });
  expect(await due.read()).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '40' });
});

test('a refund to it fails with the reason, and goes to the wallet instead', async () => {
  const disconnect = await connected();
  const due = await invoiceDue(api, '40');
  const { body: payment } = await cardOf(due, 'pm_test_success');
  const asked = { payment_id: payment.id, amount: '30', target: 'BACK_TO_SOURCE' };
  await disconnect();
  api.clock.set(new Date(api.clock.now() + 1_000).toISOString());
  const { body: refund } = await api.post('/v1/refunds', asked);
  const at = new Date(api.clock.now() + 120_000).toISOString();
  expect(await reconcilePayments.run(api.deps, jobRunAt(at))).toMatchObject({ failed: 0 });
  expect(await read(`/refunds/${refund.id}`)).toMatchObject({
    refund_status: 'FAILED',
    failure_reason: expect.stringMatching(/^The connection to the gateway was deleted/),
  });
  const { status, body } = await api.post(`/v1/refunds/${refund.id}/retry`);
  expect([status, body.refund_status, body.refund_target]).toEqual([
    200,
    'SUCCEEDED',
    'PREPAID_WALLET',
  ]);
  expect(await due.read()).toMatchObject({ refunded_amount: '30' });
});

test('a refund to it fails at once, also in the time of a customer whose test clock is behind', async () => {
  const disconnect = await connected();
  const due = await invoiceDue(api, '40');
  const { body: payment } = await cardOf(due, 'pm_test_success');
  const asked = { payment_id: payment.id, amount: '30', target: 'BACK_TO_SOURCE' };
  await disconnect();
  const now = api.clock.now();
  api.clock.set(new Date(now - 60_000).toISOString());
  const { body: refund } = await api.post('/v1/refunds', asked);
  api.clock.set(new Date(now).toISOString());
  expect(refund).toMatchObject({
    refund_status: 'FAILED',
    failure_reason: expect.stringMatching(/^The connection to the gateway was deleted/),
  });
  expect(await eventsOf(api, refund.id)).toEqual(['refund.created', 'refund.failed']);
  // Its capacity is free again (money 9.5).
  const again = await api.post('/v1/refunds', { ...asked, amount: '40', target: 'PREPAID_WALLET' });
  expect([again.status, again.body.refund_status]).toEqual([201, 'SUCCEEDED']);
});

test.each([
  ['was accepted', { refund_status: 'PROCESSING' }],
  ['may have been sent', { refund_status: 'PENDING', gateway_refund_id: null }],
])('a refund that %s stays open: failing it could return the money twice', async (_, state) => {
  const disconnect = await connected();
  const due = await invoiceDue(api, '40');
  const { body: payment } = await cardOf(due, 'pm_test_success');
  const asked = { payment_id: payment.id, amount: '30', target: 'BACK_TO_SOURCE' };
  const { body: refund } = await api.post('/v1/refunds', asked);
  await disconnect();
  await api.pool`
    update refunds set ${api.pool({ ...state, succeeded_at: null })} where id = ${refund.id}`;
  const at = new Date(api.clock.now() + 120_000).toISOString();
  expect(await reconcilePayments.run(api.deps, jobRunAt(at))).toMatchObject({ failed: 0 });
  expect(await read(`/refunds/${refund.id}`)).toMatchObject({ refund_status: state.refund_status });
  expect((await api.post('/v1/refunds', asked)).status).toBe(400);
  const { refund_status, gateway_refund_id, succeeded_at } = refund;
  await api.pool`
    update refunds set ${api.pool({ refund_status, gateway_refund_id, succeeded_at })}
     where id = ${refund.id}`;
});

test('a payment that the bank is still deciding on is reported by hand', async () => {
  const disconnect = await connected();
  const due = await invoiceDue(api, '40');
  const { body: payment } = await cardOf(due, 'pm_test_3ds');
  await api.pool`
    update test_gateway_payments set state = 'processing' where reference = ${payment.id}`;
  const report = (payment_status: string) =>
    api.put(`/v1/payments/${payment.id}`, { payment_status });
  expect((await report('SUCCEEDED')).status).toBe(400);
  await disconnect();
  expect(await read(`/payments/${payment.id}`)).toMatchObject({ payment_status: 'PROCESSING' });
  const { status, body } = await report('SUCCEEDED');
  expect([status, body.payment_status]).toEqual([200, 'SUCCEEDED']);
  expect(await due.read()).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '40' });
});
