import { reconcilePayments } from '../../../jobs/reconcile-payments.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { runAtNow } from '../../support/job-run.ts';
import { invoiceDue, payOffline } from '../../support/payments.ts';

/** What each card of the test gateway does, and the amounts that a payment can have (money 8.1.2). */
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => api.close());

const card = (invoice: { id: string }, name: string, more: object = {}) =>
  payOffline(api, invoice, '40', {
    payment_method_type: 'CARD',
    payment_method_id: `pm_test_${name}`,
    payment_gateway: 'test',
    ...more,
  });
const outcome = (payment: { id: string }, how: string) =>
  api.post(`/v1/test-gateway/payments/${payment.id}/outcome`, { outcome: how });

test.each([
  ['success', 'SUCCEEDED'],
  ['decline', 'FAILED'],
  ['3ds', 'PENDING'],
  ['timeout', 'PENDING'],
  ['duplicate', 'PENDING'],
  ['late', 'PENDING'],
  ['reordered', 'PENDING'],
  ['dispute', 'SUCCEEDED'],
])('pm_test_%s answers %s; its outcome counts the money once', async (name, status) => {
  const due = await invoiceDue(api, '40');
  const { status: code, body } = await card(due.invoice, name);
  expect([code, body.payment_status]).toEqual([201, status]);
  const paid = { payment_status: 'SUCCEEDED', amount_paid: '40', amount_remaining: '0' };
  if (name === 'decline') return expect(await due.read()).toMatchObject({ amount_paid: '0' });
  if (name === 'timeout') {
    api.clock.advance(120_000);
    expect(await runAtNow(api, reconcilePayments, api.deps)).toMatchObject({ failed: 0 });
  } else expect((await outcome(body, name === '3ds' ? 'success' : name)).status).toBe(200);
  expect(await due.read()).toMatchObject(
    name === 'dispute' ? { payment_status: 'REFUNDED', refunded_amount: '40' } : paid,
  );
});

test.each(['pm_test_', 'pm_test_other', 'pm_card_visa', '4242424242424242', 'pm_test_success '])(
  '400 for the card %j',
  async (payment_method_id) => {
    const due = await invoiceDue(api, '40');
    const { status, body } = await card(due.invoice, '', { payment_method_id });
    expect([status, body.details[0].path]).toEqual([400, 'payment_method_id']);
    const saved = await api.post(`/v1/customers/${due.customer.id}/payment-methods`, {
      gateway_method_id: payment_method_id,
    });
    expect(saved.status).toBe(400);
  },
);

test.each([
  ['usd', '10.005', 400], ['usd', '10.50', 201], ['jpy', '10.5', 400], ['jpy', '10', 201],
  ['kwd', '0.001', 201], ['kwd', '0.0001', 400], ['usd', '0', 400], ['usd', '-1', 400],
])('an amount in %s of %s to a customer: %i (8.1.2)', async (currency, amount, status) => {
  const { customer } = await invoiceDue(api, '40');
  const sent = { destination_type: 'CUSTOMER', destination_id: customer.id, currency };
  const answer = await payOffline(api, { id: '' }, amount, sent);
  expect(answer.status).toBe(status);
}); // prettier-ignore

test('the currency of a payment in another case is that of the invoice (8.1.4)', async () => {
  const due = await invoiceDue(api, '40');
  const { status, body } = await payOffline(api, due.invoice, '40', { currency: 'USD' });
  expect([status, body.currency]).toEqual([201, 'usd']);
});

test('409 with a code of its own for a key with another request (8.2.1)', async () => {
  const due = await invoiceDue(api, '40');
  const pay = (amount: string) =>
    payOffline(api, due.invoice, amount, { idempotency_key: due.invoice.id });
  expect((await pay('10')).status).toBe(201);
  const { status, body } = await pay('11');
  expect([status, body.code]).toEqual([409, 'idempotency_key_reused']);
});

test('events up to five times in any order: the money and its refunds count once', async () => {
  const hows = ['late', 'duplicate', 'reordered', 'success', 'timeout'];
  for (let round = 0; round < 4; round += 1) {
    const due = await invoiceDue(api, '40');
    const { body: payment } = await card(due.invoice, 'late');
    await Promise.all(hows.map((_, index) => outcome(payment, hows[(index + round) % 5]!)));
    const row = await due.read();
    expect(row.payment_status).toBe('SUCCEEDED');
    expect(row).toMatchObject({ amount_paid: '40', overpaid_amount: '0' });
    await Promise.all([1, 2, 3].map(() => outcome(payment, 'dispute')));
    expect(await due.read()).toMatchObject({ refunded_amount: '40' });
  }
});
