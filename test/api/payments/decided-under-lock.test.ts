import { startTestApi, type TestApi } from '../../support/api.ts';
import { invoiceDue, payOffline } from '../../support/payments.ts';
import { inTurns } from '../../support/turns.ts';

/** A command that waits for another one decides by what that one has left (money 2.9.2). */
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => api.close());

type Due = Awaited<ReturnType<typeof invoiceDue>>;

const lockOf = (invoice: { id: string }) => (tx: any) =>
  tx`select from invoices where id = ${invoice.id} for update`;
const open = ({ customer, invoice }: Due) =>
  api.post('/v1/checkout/sessions', {
    customer_external_id: customer.external_id,
    action: 'pay_invoice',
    payment_provider: 'test',
    configuration: { pay_invoice_params: { invoice_id: invoice.id } },
  });
const amountToPay = async (session: { checkout_payment_id: string }) =>
  (await api.get(`/v1/payments/${session.checkout_payment_id}`)).body.amount;

describe('a checkout session of an invoice', () => {
  test('after a payment asks for what that leaves open', async () => {
    const due = await invoiceDue(api, '100');
    const [paid, session] = await inTurns(
      api,
      lockOf(due.invoice),
      () => payOffline(api, due.invoice, '40'),
      () => open(due),
    );
    expect([paid.status, session.status]).toEqual([201, 201]);
    expect(await amountToPay(session.body)).toBe('60');
  });

  test('before a payment asks for all of it, and the payment finds nothing left to pay', async () => {
    const due = await invoiceDue(api, '100');
    const [session, paid] = await inTurns(
      api,
      lockOf(due.invoice),
      () => open(due),
      () => payOffline(api, due.invoice, '40'),
    );
    expect([session.status, paid.status]).toEqual([201, 201]);
    expect(await amountToPay(session.body)).toBe('100');
  });

  test('after the refund of a payment asks for what that opens again', async () => {
    const due = await invoiceDue(api, '100');
    const { body: payment } = await payOffline(api, due.invoice, '40');
    const [refund, session] = await inTurns(
      api,
      lockOf(due.invoice),
      () => api.post('/v1/refunds', { payment_id: payment.id, amount: '10', reason: 'OTHER' }),
      () => open(due),
    );
    expect([refund.status, session.status]).toEqual([201, 201]);
    expect(await amountToPay(session.body)).toBe((await due.read()).amount_remaining);
  });
});

describe('an attempt to collect an invoice from a wallet', () => {
  const walletOf = async ({ customer }: Due) =>
    await api.postOk('/v1/wallets', {
      ...{ customer_id: customer.id, currency: 'usd', wallet_type: 'POST_PAID' },
      initial_credits_to_load: '50',
    });
  const lockWallet = (wallet: { id: string }) => (tx: any) =>
    tx`select from wallets where id = ${wallet.id} for update`;
  let keys = 0;
  const debit = (wallet: { id: string }) =>
    api.post(`/v1/wallets/${wallet.id}/debit`, {
      ...{ credits: '30', transaction_reason: 'MANUAL_BALANCE_DEBIT' },
      idempotency_key: `taken before ${(keys += 1)}`,
    });
  const attempt = ({ invoice }: Due) => api.post(`/v1/invoices/${invoice.id}/payment/attempt`, {});
  const creditsOf = async (wallet: { id: string }) =>
    (await api.get(`/v1/wallets/${wallet.id}`)).body.credit_balance;

  test('after a debit takes what that leaves', async () => {
    const due = await invoiceDue(api, '100');
    const wallet = await walletOf(due);
    const [taken, attempted] = await inTurns(
      api,
      lockWallet(wallet),
      () => debit(wallet),
      () => attempt(due),
    );
    expect([taken.status, attempted.status]).toEqual([200, 200]);
    expect(await due.read()).toMatchObject({ amount_paid: '20', amount_remaining: '80' });
    expect(await creditsOf(wallet)).toBe('0');
  });

  test('before a debit takes all, and the debit is on account', async () => {
    const due = await invoiceDue(api, '100');
    const wallet = await walletOf(due);
    const [attempted, taken] = await inTurns(
      api,
      lockWallet(wallet),
      () => attempt(due),
      () => debit(wallet),
    );
    expect([attempted.status, taken.status]).toEqual([200, 200]);
    expect(await due.read()).toMatchObject({ amount_paid: '50', amount_remaining: '50' });
    expect(await creditsOf(wallet)).toBe('-30');
  });
});
