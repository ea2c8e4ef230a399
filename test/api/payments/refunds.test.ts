import { startTestApi, type TestApi } from '../../support/api.ts';
import { eventsOf, invoiceDue, payOffline } from '../../support/payments.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const refund = (payment: { id: string }, more: object = {}) =>
  api.post('/v1/refunds', { payment_id: payment.id, ...more });
const wallet = async (customer: { id: string }, more: object = {}) =>
  (await api.post('/v1/wallets', { customer_id: customer.id, currency: 'usd', ...more })).body;
const topUp = (id: string, credits: string) =>
  api.post(`/v1/wallets/${id}/top-up`, {
    credits_to_add: credits,
    transaction_reason: 'FREE_CREDIT_GRANT',
    idempotency_key: `t-${id}-${credits}`,
  });
const balance = async (id: string) => (await api.get(`/v1/wallets/${id}`)).body.credit_balance;
const payCredits = (invoice: { id: string }, amount: string, more: object = {}) =>
  payOffline(api, invoice, amount, { payment_method_type: 'CREDITS', ...more });

describe('POST /refunds', () => {
  test('201: parts, then the rest; never more than was paid', async () => {
    const { invoice, customer, read } = await invoiceDue(api, '100');
    const { body: payment } = await payOffline(api, invoice, '100');
    const first = await refund(payment, { amount: '30', reason: 'DUPLICATE' });
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      refund_status: 'SUCCEEDED',
      refund_target: 'PREPAID_WALLET',
      refund_reason: 'DUPLICATE',
      amount: '30',
    });
    expect(await eventsOf(api, first.body.id)).toEqual(['refund.created', 'refund.succeeded']);
    expect(await read()).toMatchObject({
      payment_status: 'PARTIALLY_REFUNDED',
      amount_paid: '100',
    });
    expect((await refund(payment, { amount: '70.01' })).status).toBe(400);
    expect((await refund(payment)).body.amount).toBe('70');
    expect(await read()).toMatchObject({ payment_status: 'REFUNDED', refunded_amount: '100' });
    expect((await refund(payment)).status).toBe(400);
    const { body: wallets } = await api.get(`/v1/customers/${customer.id}/wallets`);
    expect(wallets).toMatchObject([{ balance: '100' }]);
    expect((await refund({ id: 'pay_none' })).status).toBe(404);
  });

  test('after a refund of all that was paid, the part that was never paid can be paid (money 8.1.4)', async () => {
    const { invoice, read } = await invoiceDue(api, '100');
    const { body: part } = await payOffline(api, invoice, '40');
    await refund(part);
    expect(await read()).toMatchObject({ payment_status: 'REFUNDED', amount_remaining: '60' });
    expect((await api.post(`/v1/invoices/${invoice.id}/payment/attempt`)).status).toBe(400);
    expect((await payOffline(api, invoice, '60')).status).toBe(201);
    expect(await read()).toMatchObject({
      ...{ payment_status: 'PARTIALLY_REFUNDED', amount_paid: '100', amount_remaining: '0' },
      refunded_amount: '40',
    });
    expect((await payOffline(api, invoice, '1')).status).toBe(400);
  });

  test('two at once never exceed the payment; the same key is one refund', async () => {
    const { invoice } = await invoiceDue(api, '100');
    const { body: payment } = await payOffline(api, invoice, '100');
    const both = await Promise.all([
      refund(payment, { amount: '60' }),
      refund(payment, { amount: '60' }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 400]);
    const key = { amount: '5', idempotency_key: 'r1' };
    const [left, right] = await Promise.all([refund(payment, key), refund(payment, key)]);
    expect(left.body.id).toBe(right.body.id);
    expect((await refund(payment, { ...key, amount: '6' })).status).toBe(409);
  });

  test('400: back to a source that offline money does not have; a payment in flight', async () => {
    const { invoice } = await invoiceDue(api, '100');
    const { body: payment } = await payOffline(api, invoice, '10');
    expect((await refund(payment, { target: 'BACK_TO_SOURCE' })).status).toBe(400);
    const { body: waiting } = await payOffline(api, invoice, '10', { process_payment: false });
    expect((await refund(waiting)).status).toBe(400);
    expect((await refund(payment, { amount: '0.001' })).status).toBe(400);
  });

  test('400: a refund that has not failed is not retried', async () => {
    const { invoice } = await invoiceDue(api, '10');
    const { body: payment } = await payOffline(api, invoice, '10');
    const { body } = await refund(payment);
    expect((await api.post(`/v1/refunds/${body.id}/retry`)).status).toBe(400);
  });
});

describe('CREDITS payments', () => {
  test('201: the POST_PAID wallet is found and debited; too little is refused', async () => {
    const { invoice, customer, read } = await invoiceDue(api, '30');
    const { id } = await wallet(customer, { wallet_type: 'POST_PAID', conversion_rate: '0.5' });
    await topUp(id, '100');
    const { status, body } = await payCredits(invoice, '20');
    expect(status).toBe(201);
    expect(body).toMatchObject({
      payment_status: 'SUCCEEDED',
      payment_method_id: id,
      metadata: { wallet_id: id, wallet_type: 'POST_PAID' },
    });
    expect(await balance(id)).toBe('60');
    expect(await read()).toMatchObject({ amount_paid: '20', amount_remaining: '10' });
    expect((await payCredits(invoice, '10.01')).status).toBe(400);
  });

  test('404 without a wallet, 400 with a prepaid one or too little in it', async () => {
    const { invoice, customer } = await invoiceDue(api, '30');
    expect((await payCredits(invoice, '1')).status).toBe(404);
    expect((await payCredits(invoice, '1', { payment_method_id: 'wallet_none' })).status).toBe(404);
    const prepaid = await wallet(customer);
    await topUp(prepaid.id, '10');
    const named = { payment_method_id: prepaid.id };
    expect((await payCredits(invoice, '1', named)).status).toBe(400);
    const postpaid = await wallet(customer, { wallet_type: 'POST_PAID' });
    await topUp(postpaid.id, '5');
    const short = await payCredits(invoice, '6');
    expect([short.status, short.body.code]).toEqual([400, 'invalid_operation']);
    const { body: list } = await api.get(`/v1/payments?destination_id=${invoice.id}`);
    expect(list.items).toEqual([]);
  });

  test('two at once cannot spend the same credits', async () => {
    const { invoice, customer } = await invoiceDue(api, '30');
    const { id } = await wallet(customer, { wallet_type: 'POST_PAID' });
    await topUp(id, '10');
    const both = await Promise.all([payCredits(invoice, '7'), payCredits(invoice, '7')]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect(await balance(id)).toBe('3');
  });

  test('an attempt pays from the wallets what they hold', async () => {
    const { invoice, customer, read } = await invoiceDue(api, '30');
    const { id } = await wallet(customer, { wallet_type: 'POST_PAID' });
    await topUp(id, '12');
    await api.post(`/v1/invoices/${invoice.id}/payment/attempt`);
    expect(await read()).toMatchObject({ amount_paid: '12', payment_status: 'PENDING' });
    expect(await balance(id)).toBe('0');
  });

  test.each(['a payment', 'an attempt'])(
    '10.00 bought at three a credit pay 10.00 in any parts: %s',
    async (last) => {
      const { invoice, customer, read } = await invoiceDue(api, '10');
      const { id } = await wallet(customer, { wallet_type: 'POST_PAID', conversion_rate: '3' });
      await api.postOk(`/v1/wallets/${id}/top-up`, {
        amount: '10',
        transaction_reason: 'FREE_CREDIT_GRANT',
      });
      const paid = [await payCredits(invoice, '0.89'), await payCredits(invoice, '4')];
      expect(paid.map(({ status }) => status)).toEqual([201, 201]);
      if (last === 'a payment') expect((await payCredits(invoice, '5.11')).status).toBe(201);
      else await api.post(`/v1/invoices/${invoice.id}/payment/attempt`);
      expect(await read()).toMatchObject({ amount_paid: '10', payment_status: 'SUCCEEDED' });
      const { body: list } = await api.get(`/v1/payments?destination_id=${invoice.id}`);
      for (const payment of list.items) expect((await refund(payment)).status).toBe(201);
      expect(await read()).toMatchObject({ payment_status: 'REFUNDED', refunded_amount: '10' });
      expect(await balance(id)).toBe('3.333333333333333333');
    },
  );

  test('refunds return the credits to the wallet that paid, to the last one', async () => {
    const { invoice, customer, read } = await invoiceDue(api, '10');
    const { id } = await wallet(customer, { wallet_type: 'POST_PAID', conversion_rate: '0.3' });
    await topUp(id, '40');
    const { body: payment } = await payCredits(invoice, '10');
    const spent = await balance(id);
    const { body: part } = await refund(payment, { amount: '3.33' });
    expect(part).toMatchObject({ refund_target: 'BACK_TO_SOURCE', refund_status: 'SUCCEEDED' });
    expect(Number(await balance(id))).toBeCloseTo(Number(spent) + 11.1, 12);
    await refund(payment);
    expect(await balance(id)).toBe('40');
    expect(await read()).toMatchObject({ payment_status: 'REFUNDED', refunded_amount: '10' });
  });

  test('the rows of returned credits are worth what is refunded, at a rate of three', async () => {
    const { invoice, customer } = await invoiceDue(api, '10');
    const { id } = await wallet(customer, { wallet_type: 'POST_PAID', conversion_rate: '3' });
    await topUp(id, '40');
    const { body: payment } = await payCredits(invoice, '10');
    await refund(payment, { amount: '4' });
    await refund(payment);
    expect(await balance(id)).toBe('40');
    const { body } = await api.get(`/v1/wallets/${id}/transactions?limit=100`);
    const returned = body.items.filter(
      ({ transaction_reason }: any) => transaction_reason === 'INVOICE_VOID_REFUND',
    );
    expect(returned.map(({ amount }: any) => amount).sort()).toEqual(['4', '6']);
  });
});

describe('GET /invoices/{id}/ledger', () => {
  test('every movement in its order, with the open amount after it', async () => {
    const { invoice } = await invoiceDue(api, '100');
    const line = invoice.line_items[0]!.id;
    await api.post('/v1/creditnotes', {
      invoice_id: invoice.id,
      reason: 'SERVICE_ISSUE',
      line_items: [{ invoice_line_item_id: line, amount: '20' }],
      process_credit_note: true,
    });
    api.clock.advance(1000);
    const { body: payment } = await payOffline(api, invoice, '90');
    api.clock.advance(1000);
    await refund(payment, { amount: '10' });
    const { body } = await api.get(`/v1/invoices/${invoice.id}/ledger`);
    expect(
      body.entries.map((entry: any) => [entry.type, entry.amount, entry.effect, entry.open_amount]),
    ).toEqual([
      ['charge', '100', '100', '100'],
      ['credit_note', '20', '-20', '80'],
      ['payment', '90', '-90', '-10'],
      ['refund', '10', '0', '-10'],
    ]);
    expect(body).toMatchObject({ amount_due: '80', amount_paid: '90', overpaid_amount: '10' });
  });
});
