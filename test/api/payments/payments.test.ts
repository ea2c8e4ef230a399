import { startTestApi, type TestApi } from '../../support/api.ts';
import { eventsOf, invoiceDue, payOffline } from '../../support/payments.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

describe('POST /payments', () => {
  test('201: offline money settles at once; a part leaves the invoice pending', async () => {
    const { invoice, read } = await invoiceDue(api, '100');
    const paid = await payOffline(api, invoice, '40', { metadata: { ref: 'wire' } });
    expect(paid.status).toBe(201);
    expect(paid.body).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount: '40',
      invoice_number: invoice.invoice_number,
      metadata: { ref: 'wire' },
      payment_method_id: '',
      attempts: [],
    });
    expect(await read()).toMatchObject({
      payment_status: 'PENDING',
      amount_paid: '40',
      amount_remaining: '60',
      paid_at: null,
    });
    expect(await eventsOf(api, paid.body.id)).toEqual(['payment.created', 'payment.success']);
    const sent = await api.pool<{ payload: object }[]>`
      select payload from outbox where entity_id = ${paid.body.id}`;
    for (const { payload } of sent)
      expect(payload).toMatchObject({ payment: { invoice_number: invoice.invoice_number } });
  });

  test('201: money that came earlier counts on its day (money 8.1.8)', async () => {
    const { invoice } = await invoiceDue(api, '100');
    const collected = async (from: string, to: string): Promise<number> => {
      const range = { start_time: `${from}T00:00:00Z`, end_time: `${to}T00:00:00Z` };
      const { body } = await api.post('/v1/dashboard/summary', range);
      return Number(body.currencies[0]?.collected_amount ?? 0);
    };
    const [before, now] = [
      await collected('2026-10-30', '2026-10-31'),
      await collected('2026-11-21', '2026-11-22'),
    ];
    const received = { succeeded_at: '2026-10-30T00:00:00Z' };
    const { body } = await payOffline(api, invoice, '40', received);
    expect(body).toMatchObject({
      payment_status: 'SUCCEEDED',
      succeeded_at: '2026-10-30T00:00:00.000Z',
      created_at: '2026-11-21T12:00:00.000Z',
    });
    expect(await collected('2026-10-30', '2026-10-31')).toBe(before + 40);
    expect(await collected('2026-11-21', '2026-11-22')).toBe(now);
  });

  test.each([
    ['in the future', { succeeded_at: '2026-11-21T12:00:01Z' }],
    ['of a payment that is only recorded', { process_payment: false }],
    ['of a payment that a gateway collects', { payment_method_type: 'CARD' }],
  ])('400: a time of receipt %s', async (_what, more) => {
    const { invoice, read } = await invoiceDue(api, '100');
    const received = { succeeded_at: '2026-11-20T00:00:00Z', ...more };
    const { status, body } = await payOffline(api, invoice, '40', received);
    expect([status, body.details[0].path]).toEqual([400, 'succeeded_at']);
    expect(await read()).toMatchObject({ amount_paid: '0' });
  });

  test('201: the rest pays the invoice, more than the rest overpays it', async () => {
    const { invoice, read } = await invoiceDue(api, '100');
    await payOffline(api, invoice, '60');
    await payOffline(api, invoice, '60');
    expect(await read()).toMatchObject({
      payment_status: 'OVERPAID',
      amount_paid: '120',
      amount_remaining: '0',
      overpaid_amount: '20',
      paid_at: expect.any(String),
    });
    expect(await eventsOf(api, invoice.id)).toContain('invoice.update.payment');
  });

  test('201: the opening invoice paid in full activates an incomplete subscription', async () => {
    const due = await invoiceDue(api, '30', { payment_behavior: 'default_incomplete' });
    expect(due.subscription.subscription_status).toBe('incomplete');
    await payOffline(api, due.invoice, '10');
    const status = async () =>
      (await api.get(`/v1/subscriptions/${due.subscription.id}`)).body.subscription_status;
    expect(await status()).toBe('incomplete');
    await payOffline(api, due.invoice, '20');
    expect(await status()).toBe('active');
    expect(await eventsOf(api, due.subscription.id)).toContain('subscription.activated');
  });

  test('201: the same key returns the first payment, twice at once too', async () => {
    const { invoice, read } = await invoiceDue(api, '100');
    const pay = () => payOffline(api, invoice, '25', { idempotency_key: 'once' });
    const [left, right] = await Promise.all([pay(), pay()]);
    const again = await payOffline(api, invoice, '25.00', {
      idempotency_key: 'once',
      metadata: { other: 'yes' },
    });
    expect([left.status, right.status, again.status]).toEqual([201, 201, 201]);
    expect(new Set([left.body.id, right.body.id, again.body.id]).size).toBe(1);
    expect(await read()).toMatchObject({ amount_paid: '25' });
    const other = await payOffline(api, invoice, '26', { idempotency_key: 'once' });
    expect(other.status).toBe(409);
    expect(other.body.code).toBe('idempotency_key_reused');
  });

  test('201: without a key equal instalments count twice, equal payments in flight once', async () => {
    const { invoice, read } = await invoiceDue(api, '100');
    const key = { idempotency_key: undefined };
    await payOffline(api, invoice, '10', key);
    await payOffline(api, invoice, '10', key);
    expect(await read()).toMatchObject({ amount_paid: '20' });
    const waiting = { ...key, process_payment: false };
    const first = await payOffline(api, invoice, '10', waiting);
    const second = await payOffline(api, invoice, '10', waiting);
    expect(first.body.payment_status).toBe('PENDING');
    expect(second.body.id).toBe(first.body.id);
  });

  test('201: to a customer, for no invoice', async () => {
    const { customer } = await invoiceDue(api, '1');
    const sent = { destination_type: 'CUSTOMER', destination_id: customer.id };
    const { status, body } = await payOffline(api, { id: '' }, '5', sent);
    expect(status).toBe(201);
    expect(body).toMatchObject({ payment_status: 'SUCCEEDED', invoice_number: null });
  });

  test.each([
    ['usd', '5.005', '5.01'],
    ['jpy', '0.5', '1'],
    ['kwd', '5.0005', '5.001'],
  ])('400: to a customer, finer than %s (money 8.1.2)', async (currency, fine, whole) => {
    const { customer } = await invoiceDue(api, '1');
    const sent = { destination_type: 'CUSTOMER', destination_id: customer.id, currency };
    const { status, body } = await payOffline(api, { id: '' }, fine, sent);
    expect([status, body.details?.[0]?.path]).toEqual([400, 'amount']);
    expect((await payOffline(api, { id: '' }, whole, sent)).status).toBe(201);
  });

  test.each`
    field                    | sent
    ${'amount'}              | ${{ amount: '0' }}
    ${'amount'}              | ${{ amount: '-1' }}
    ${'amount'}              | ${{ amount: '1.005' }}
    ${'currency'}            | ${{ currency: 'eur' }}
    ${'currency'}            | ${{ currency: '' }}
    ${'destination_type'}    | ${{ destination_type: 'MOON' }}
    ${'payment_method_type'} | ${{ payment_method_type: 'SHELLS' }}
    ${'payment_method_id'}   | ${{ payment_method_id: 'x' }}
    ${'payment_method_id'}   | ${{ payment_method_type: 'ACH' }}
    ${'payment_gateway'}     | ${{ payment_method_type: 'PAYMENT_LINK' }}
    ${'payment_gateway'}     | ${{ payment_gateway: 'stripe' }}
  `('400: $field of $sent', async ({ field, sent }) => {
    const { invoice } = await invoiceDue(api, '50');
    const { status, body } = await payOffline(api, invoice, '10', sent);
    expect(status).toBe(400);
    expect(body.details[0].path).toBe(field);
  });

  test('400: an invoice that is paid or voided takes no more', async () => {
    const paid = await invoiceDue(api, '10');
    await payOffline(api, paid.invoice, '10');
    expect((await payOffline(api, paid.invoice, '1')).status).toBe(400);
    const voided = await invoiceDue(api, '10');
    await api.post(`/v1/invoices/${voided.invoice.id}/void`);
    expect((await payOffline(api, voided.invoice, '1')).status).toBe(400);
  });

  test('404: an unknown invoice', async () => {
    expect((await payOffline(api, { id: 'inv_none' }, '1')).status).toBe(404);
  });
});

describe('PUT /payments/{id}', () => {
  test('200: a recorded payment is reported as failed, then the invoice is', async () => {
    const { invoice, read } = await invoiceDue(api, '10');
    const { body: payment } = await payOffline(api, invoice, '10', { process_payment: false });
    const sent = { payment_status: 'FAILED', error_message: 'bounced' };
    const { status, body } = await api.put(`/v1/payments/${payment.id}`, sent);
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...sent, failed_at: expect.any(String) });
    expect(await read()).toMatchObject({ payment_status: 'FAILED', amount_paid: '0' });
    expect(await eventsOf(api, payment.id)).toEqual(['payment.created', 'payment.failed']);
  });

  test('200: metadata alone; the status as it is', async () => {
    const { invoice } = await invoiceDue(api, '10');
    const { body: payment } = await payOffline(api, invoice, '4');
    const sent = { metadata: { a: 'b' }, payment_status: 'SUCCEEDED' };
    const { status, body } = await api.put(`/v1/payments/${payment.id}`, sent);
    expect(status).toBe(200);
    expect(body).toMatchObject(sent);
  });

  test.each`
    status         | why
    ${'PENDING'}   | ${'no way back'}
    ${'REFUNDED'}  | ${'follows from refunds'}
    ${'VOIDED'}    | ${'has settled'}
    ${'INITIATED'} | ${'no way back'}
  `('400: a settled payment to $status: $why', async ({ status: to }) => {
    const { invoice } = await invoiceDue(api, '10');
    const { body: payment } = await payOffline(api, invoice, '10');
    const { status } = await api.put(`/v1/payments/${payment.id}`, { payment_status: to });
    expect(status).toBe(400);
  });

  const PAST = '2026-11-02T00:00:00.000Z';
  const FUTURE = '2099-01-01T00:00:00.000Z';

  test('200: the times of the status it gets, or has; what is stored may be sent again', async () => {
    const { invoice } = await invoiceDue(api, '10');
    const recorded = async () =>
      (await payOffline(api, invoice, '1', { process_payment: false })).body;
    for (const [payment_status, field] of [
      ['SUCCEEDED', 'succeeded_at'],
      ['FAILED', 'failed_at'],
      ['VOIDED', 'voided_at'],
    ] as const) {
      const payment = await recorded();
      const put = (sent: object) => api.put(`/v1/payments/${payment.id}`, sent);
      const first = await put({ payment_status, [field]: PAST });
      expect([first.status, first.body[field]]).toEqual([200, PAST]);
      const later = await put({ [field]: '2026-11-03T01:00:00+01:00' });
      expect([later.status, later.body[field]]).toEqual([200, '2026-11-03T00:00:00.000Z']);
      const { succeeded_at, failed_at, refunded_at, voided_at } = later.body;
      const same = { succeeded_at, failed_at, refunded_at, voided_at };
      expect((await put({ ...same, payment_status })).body).toMatchObject(same);
    }
  });

  test.each`
    status         | field                  | value
    ${'SUCCEEDED'} | ${'failed_at'}         | ${PAST}
    ${'SUCCEEDED'} | ${'voided_at'}         | ${PAST}
    ${'SUCCEEDED'} | ${'refunded_at'}       | ${PAST}
    ${'SUCCEEDED'} | ${'succeeded_at'}      | ${FUTURE}
    ${'SUCCEEDED'} | ${'succeeded_at'}      | ${null}
    ${'PENDING'}   | ${'succeeded_at'}      | ${PAST}
    ${'PENDING'}   | ${'failed_at'}         | ${PAST}
    ${'FAILED'}    | ${'succeeded_at'}      | ${PAST}
    ${'FAILED'}    | ${'failed_at'}         | ${null}
    ${'SUCCEEDED'} | ${'payment_gateway'}   | ${'stripe'}
    ${'PENDING'}   | ${'payment_gateway'}   | ${'stripe'}
    ${'PENDING'}   | ${'payment_method_id'} | ${'pm_1'}
  `(
    '400: $field $value of an OFFLINE payment that is $status (money 8.3.3)',
    async ({ status: payment_status, field, value }) => {
      const { invoice } = await invoiceDue(api, '10');
      const { body: payment } = await payOffline(api, invoice, '10', { process_payment: false });
      const path = `/v1/payments/${payment.id}`;
      if (payment_status !== 'PENDING') await api.put(path, { payment_status });
      const before = await api.get(path);
      const { status, body } = await api.put(path, { [field]: value });
      expect([status, body.details?.[0].path]).toEqual([400, field]);
      expect((await api.get(path)).body).toEqual(before.body);
    },
  );

  test('400: a CREDITS payment keeps its wallet', async () => {
    const { invoice, customer } = await invoiceDue(api, '10');
    const walletOf = async (of: { id: string }) => {
      const sent = { customer_id: of.id, currency: 'usd', wallet_type: 'POST_PAID' };
      const wallet = await api.postOk('/v1/wallets', { ...sent, initial_credits_to_load: '50' });
      return wallet.id;
    };
    const [own, foreign] = [
      await walletOf(customer),
      await walletOf((await invoiceDue(api, '10')).customer),
    ];
    const more = { payment_method_type: 'CREDITS', process_payment: false };
    const { body: payment } = await payOffline(api, invoice, '10', more);
    const path = `/v1/payments/${payment.id}`;
    const { status, body } = await api.put(path, { payment_method_id: foreign });
    expect([status, body.details?.[0].path]).toEqual([400, 'payment_method_id']);
    expect((await api.put(path, { payment_method_id: own })).status).toBe(200);
    expect((await api.post(`${path}/process`)).status).toBe(200);
    const moved = await api.put(path, { succeeded_at: PAST });
    expect([moved.status, moved.body.details?.[0].path]).toEqual([400, 'succeeded_at']);
    expect((await api.get(`/v1/wallets/${own}`)).body.credit_balance).toBe('40');
    expect((await api.get(`/v1/wallets/${foreign}`)).body.credit_balance).toBe('50');
  });

  test('400: the amount', async () => {
    const { invoice } = await invoiceDue(api, '10');
    const { body: payment } = await payOffline(api, invoice, '10', { process_payment: false });
    expect((await api.put(`/v1/payments/${payment.id}`, { amount: '9' })).status).toBe(400);
    const same = await api.put(`/v1/payments/${payment.id}`, { amount: payment.amount + '.00' });
    expect([same.status, same.body.amount]).toEqual([200, payment.amount]);
  });
});

describe('process and delete', () => {
  test('200: a recorded payment is made once', async () => {
    const { invoice, read } = await invoiceDue(api, '60');
    const { body: payment } = await payOffline(api, invoice, '60', { process_payment: false });
    const path = `/v1/payments/${payment.id}/process`;
    const answers = await Promise.all([api.post(path), api.post(path)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await read()).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '60' });
  });

  test('200: a payment that has not settled is deleted: lists omit it, and its id finds it', async () => {
    const { invoice } = await invoiceDue(api, '60');
    const { body: payment } = await payOffline(api, invoice, '60', { process_payment: false });
    expect((await api.delete(`/v1/payments/${payment.id}`)).status).toBe(200);
    const { body: list } = await api.get(`/v1/payments?destination_id=${invoice.id}`);
    expect(list.items).toEqual([]);
    expect((await api.get(`/v1/payments/${payment.id}`)).body.status).toBe('archived');
    const { body: paid } = await payOffline(api, invoice, '60');
    expect((await api.delete(`/v1/payments/${paid.id}`)).status).toBe(400);
  });
});

describe('PUT /invoices/{id}/payment', () => {
  test('reports replace each other; moves outside the table are refused', async () => {
    const { invoice } = await invoiceDue(api, '80');
    const put = async (sent: object) => {
      const { status, body } = await api.put(`/v1/invoices/${invoice.id}/payment`, sent);
      return status === 200
        ? [body.payment_status, body.amount_paid, body.amount_remaining]
        : status;
    };
    expect(await put({ payment_status: 'PENDING', amount: '30' })).toEqual(['PENDING', '30', '50']);
    expect(await put({ payment_status: 'FAILED' })).toEqual(['FAILED', '0', '80']);
    expect(await put({ payment_status: 'PROCESSING' })).toBe(400);
    expect(await put({ payment_status: 'NOPE' })).toBe(400);
    expect(await put({})).toBe(400);
    expect(await put({ payment_status: 'PENDING', amount: '-1' })).toBe(400);
    expect(await put({ payment_status: 'OVERPAID' })).toBe(400);
    expect(await put({ payment_status: 'SUCCEEDED' })).toEqual(['SUCCEEDED', '80', '0']);
    expect(await put({ payment_status: 'SUCCEEDED' })).toEqual(['SUCCEEDED', '80', '0']);
    expect(await put({ payment_status: 'PENDING' })).toBe(400);
    expect(await put({ payment_status: 'OVERPAID', amount: '90' })).toEqual([
      'OVERPAID',
      '90',
      '0',
    ]);
    expect(await put({ payment_status: 'OVERPAID' })).toEqual(['OVERPAID', '90', '0']);
    expect(await put({ payment_status: 'OVERPAID', amount: '80' })).toBe(400);
    const { body: list } = await api.get(`/v1/payments?destination_id=${invoice.id}`);
    expect(list.items).toMatchObject([{ is_manual: true, amount: '90' }]);
  });

  test('the instant of the payment goes with a manual payment that is taken back', async () => {
    const { invoice } = await invoiceDue(api, '80');
    const put = async (body: object) =>
      (await api.put(`/v1/invoices/${invoice.id}/payment`, body)).body.paid_at;
    expect(await put({ payment_status: 'SUCCEEDED' })).toEqual(expect.any(String));
    expect(await put({ payment_status: 'SUCCEEDED', amount: '5' })).toBeNull();
    expect(await put({ payment_status: 'SUCCEEDED', amount: '80' })).toEqual(expect.any(String));
  });

  test('400: once a payment has settled, the status follows from it', async () => {
    const { invoice } = await invoiceDue(api, '80');
    await payOffline(api, invoice, '10');
    const { status } = await api.put(`/v1/invoices/${invoice.id}/payment`, {
      payment_status: 'SUCCEEDED',
    });
    expect(status).toBe(400);
  });
});

describe('POST /invoices/{id}/payment/attempt', () => {
  test('200 without a method to pay with, 400 when paid', async () => {
    const { invoice, read } = await invoiceDue(api, '5');
    const attempt = () => api.post(`/v1/invoices/${invoice.id}/payment/attempt`);
    expect((await attempt()).status).toBe(200);
    expect(await read()).toMatchObject({ payment_status: 'PENDING', amount_paid: '0' });
    await payOffline(api, invoice, '5');
    expect((await attempt()).status).toBe(400);
  });
});

describe('lists', () => {
  test.each(['/v1/payments', '/v1/customers/{customer}/payment-methods'])(
    '%s: 400 for a gateway that there is not, as for every other word (api 4)',
    async (path) => {
      const { invoice } = await invoiceDue(api, '1');
      const at = path.replace('{customer}', invoice.customer_id);
      expect((await api.get(`${at}?payment_gateway=nope`)).status).toBe(400);
      expect((await api.get(`${at}?payment_gateway=stripe`)).status).toBe(200);
    },
  );
});
