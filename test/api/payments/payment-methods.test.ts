import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';
import { invoiceDue, payOffline } from '../../support/payments.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => api.close());

const pathOf = (customer: { id: string }) => `/v1/customers/${customer.id}/payment-methods`;
const save = (customer: { id: string }, outcome = 'success', more: object = {}) =>
  api.post(pathOf(customer), { gateway_method_id: `pm_test_${outcome}`, ...more });
const list = async (customer: { id: string }) => (await api.get(pathOf(customer))).body.items;
const newCustomer = () => catalogOf(api).customer();
const card = (invoice: { id: string }, amount: string, more: object = {}) =>
  payOffline(api, invoice, amount, { payment_method_type: 'CARD', ...more });

describe('saved payment methods (money 8.5)', () => {
  test('the first is the default, the next is not; at most one is', async () => {
    const customer = await newCustomer();
    const first = await save(customer);
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      customer_id: customer.id,
      payment_gateway: 'test',
      gateway_method_id: 'pm_test_success',
      method_type: 'card',
      last4: '0000',
      is_default: true,
    });
    const second = await save(customer, 'decline');
    expect(second.body.is_default).toBe(false);
    const made = await api.put(`${pathOf(customer)}/${second.body.id}`, { is_default: true });
    expect(made.body.is_default).toBe(true);
    expect((await list(customer)).map((method: any) => method.is_default)).toEqual([true, false]);
  });

  test('saved twice, also at once: one method; two firsts at once: one default', async () => {
    const customer = await newCustomer();
    const both = await Promise.all([save(customer), save(customer), save(customer, 'late')]);
    expect(both[0]!.body.id).toBe(both[1]!.body.id);
    const found = await list(customer);
    expect(found).toHaveLength(2);
    expect(found.filter((method: any) => method.is_default)).toHaveLength(1);
  });

  test('deleted: not listed, not charged; no other becomes the default', async () => {
    const { customer, invoice } = await invoiceDue(api, '50');
    const { body: method } = await save(customer);
    await save(customer, 'late');
    expect((await api.delete(`${pathOf(customer)}/${method.id}`)).status).toBe(200);
    expect((await list(customer)).map((saved: any) => saved.is_default)).toEqual([false]);
    expect((await api.get(`${pathOf(customer)}/${method.id}`)).status).toBe(404);
    const paid = await card(invoice, '50', { payment_method_id: method.id });
    expect([paid.status, paid.body.details[0].path]).toEqual([400, 'payment_method_id']);
    expect((await card(invoice, '50')).status).toBe(400);
  });

  test('a card payment without a method charges the default; a named one is charged by our id', async () => {
    const { customer, invoice, read } = await invoiceDue(api, '50');
    const { body: method } = await save(customer);
    const { body: other } = await save(customer, 'decline');
    const failed = await card(invoice, '50', { payment_method_id: other.id });
    expect(failed.body).toMatchObject({ payment_status: 'FAILED', payment_method_id: other.id });
    const paid = await card(invoice, '50');
    expect(paid.body).toMatchObject({
      payment_status: 'SUCCEEDED',
      payment_method_id: method.id,
      payment_gateway: 'test',
    });
    expect(await read()).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '50' });
  });

  test('a method of another customer is refused', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const { body: method } = await save(await newCustomer());
    const { status, body } = await card(invoice, '50', { payment_method_id: method.id });
    expect([status, body.details[0].path]).toEqual([400, 'payment_method_id']);
  });

  test('save_card_and_make_default: saved once the payment has succeeded, not before', async () => {
    const { customer, invoice } = await invoiceDue(api, '50');
    await save(customer, 'late');
    const sent = { payment_method_id: 'pm_test_3ds', save_card_and_make_default: true };
    const { body: payment } = await card(invoice, '50', sent);
    expect(payment).toMatchObject({ payment_status: 'PENDING', save_card_and_make_default: true });
    expect(await list(customer)).toHaveLength(1);
    const path = `/v1/test-gateway/payments/${payment.id}/outcome`;
    await api.post(path, { outcome: 'duplicate' });
    await api.post(path, { outcome: 'success' });
    expect(await list(customer)).toMatchObject([
      { gateway_method_id: 'pm_test_3ds', is_default: true },
      { gateway_method_id: 'pm_test_late', is_default: false },
    ]);
  });

  test('a link saves the card of its page', async () => {
    const { customer, invoice } = await invoiceDue(api, '50');
    const { body: payment } = await payOffline(api, invoice, '50', {
      payment_method_type: 'PAYMENT_LINK',
      payment_gateway: 'test',
      save_card_and_make_default: true,
    });
    await api.post(`/v1/test-gateway/payments/${payment.id}/outcome`, { outcome: 'success' });
    expect(await list(customer)).toMatchObject([{ is_default: true }]);
  });

  test('400: a card number, a gateway that is not connected, a type without a method', async () => {
    const { customer, invoice } = await invoiceDue(api, '50');
    const number = await api.post(pathOf(customer), { gateway_method_id: '4242424242424242' });
    expect([number.status, number.body.details[0].path]).toEqual([400, 'gateway_method_id']);
    expect((await save(customer, 'success', { payment_gateway: 'stripe' })).status).toBe(400);
    const offline = await payOffline(api, invoice, '5', { save_card_and_make_default: true });
    expect(offline.status).toBe(400);
    expect(await list(customer)).toEqual([]);
    expect((await api.get('/v1/customers/cust_none/payment-methods')).status).toBe(404);
  });
});
