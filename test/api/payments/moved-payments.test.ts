import { createRefund } from '../../../api/billing/refunds/create-refund.ts';
import { dispatchRefund } from '../../../api/billing/refunds/settle-refund.ts';
import { CreateRefundBody } from '../../../schemas/refund.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';
import { brokenMoney } from '../../support/money-identities.ts';
import { payOffline } from '../../support/payments.ts';
import { inTurns } from '../../support/turns.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => api.close());

async function issued() {
  const customer = await catalogOf(api).customer();
  const { body } = await api.post('/v1/invoices', {
    customer_id: customer.id,
    invoice_type: 'ONE_OFF',
    currency: 'usd',
    line_items: [{ display_name: 'Work', amount: '100', quantity: '1' }],
  });
  return { customer, invoice: body as { id: string } };
}

const pay = async (invoice: { id: string }, more: object) =>
  (await payOffline(api, invoice, '100', more)).body as { id: string };
const byCard = (invoice: { id: string }) =>
  pay(invoice, {
    payment_method_type: 'CARD',
    payment_method_id: 'pm_test_success',
    payment_gateway: 'test',
  });

/**
 * Replaces the invoice while `command` waits for its lock: both want the invoice, which a third transaction holds
 * until they wait, the replacement first. Returns the replacement as it is afterwards.
 */
async function replacedDuring(invoice: { id: string }, command: () => Promise<unknown>) {
  const row = { action: 'add', display_name: 'More', amount: '10', quantity: '1' };
  await inTurns(
    api,
    (tx) => tx`select from invoices where id = ${invoice.id} for update`,
    () => api.post(`/v1/invoices/${invoice.id}/modify/execute`, { line_items: [row] }),
    command,
  );
  const { recalculated_invoice_id: id } = (await api.get(`/v1/invoices/${invoice.id}`)).body;
  return (await api.get(`/v1/invoices/${id}`)).body;
}

/** A payment moves to the replacement of its invoice (money 9.15), also while another command waits for both. */
describe('a payment whose invoice is replaced at this moment', () => {
  test('is settled by hand: the replacement is paid', async () => {
    const { customer, invoice } = await issued();
    const payment = await pay(invoice, { process_payment: false });
    const replacement = await replacedDuring(invoice, () =>
      api.put(`/v1/payments/${payment.id}`, { payment_status: 'SUCCEEDED' }),
    );
    expect(replacement).toMatchObject({ total: '110', amount_paid: '100', amount_remaining: '10' });
    expect(await brokenMoney(api, customer.id)).toEqual([]);
  });

  test('is refunded: the replacement counts the refund', async () => {
    const { customer, invoice } = await issued();
    const payment = await pay(invoice, {});
    const body = { payment_id: payment.id, amount: '40', target: 'PREPAID_WALLET' };
    const replacement = await replacedDuring(invoice, () => api.post('/v1/refunds', body));
    expect(replacement).toMatchObject({
      amount_paid: '100',
      refunded_amount: '40',
      payment_status: 'PARTIALLY_REFUNDED',
    });
    expect(await brokenMoney(api, customer.id)).toEqual([]);
  });

  test('has a refund that its gateway reports: the replacement counts it', async () => {
    const { customer, invoice } = await issued();
    const payment = await byCard(invoice);
    const caller = { scope: api.scope, user_id: '' };
    const asked = { payment_id: payment.id, amount: '40', target: 'BACK_TO_SOURCE' };
    const body = CreateRefundBody.parse(asked);
    const { refund } = await api.pool.begin((tx) => createRefund(tx, api.deps, caller, body));
    const replacement = await replacedDuring(invoice, () =>
      dispatchRefund(api.deps, caller, refund.id),
    );
    expect(replacement).toMatchObject({
      refunded_amount: '40',
      payment_status: 'PARTIALLY_REFUNDED',
    });
    expect(await brokenMoney(api, customer.id)).toEqual([]);
  });

  test('is paid at its gateway: the money stays, on the replacement', async () => {
    const { customer, invoice } = await issued();
    const link = { payment_method_type: 'PAYMENT_LINK', payment_gateway: 'test' };
    const payment = await pay(invoice, link);
    const replacement = await replacedDuring(invoice, () =>
      api.post(`/v1/test-gateway/payments/${payment.id}/outcome`, { outcome: 'success' }),
    );
    expect(replacement).toMatchObject({ amount_paid: '100', refunded_amount: '0' });
    expect(await brokenMoney(api, customer.id)).toEqual([]);
  });
});
