import { jobRunAt } from '../../support/job-run.ts';
import { expireCheckouts } from '../../../jobs/expire-checkouts.ts';
import { reconcilePayments } from '../../../jobs/reconcile-payments.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { invoiceDue, payOffline } from '../../support/payments.ts';

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
