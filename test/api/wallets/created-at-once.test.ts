import { createWallet } from '../../../api/billing/wallets/create-wallet.ts';
import { CreateWalletBody } from '../../../schemas/wallet-requests.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';
import { payOffline } from '../../support/payments.ts';
import { inTurns } from '../../support/turns.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/** A customer who has paid 100 and has no wallet, and a refund of 40 that needs one. */
async function refundable() {
  const customer = await catalogOf(api).customer();
  const invoice = await api.postOk('/v1/invoices', {
    ...{ customer_id: customer.id, invoice_type: 'ONE_OFF', currency: 'usd' },
    line_items: [{ display_name: 'Work', amount: '100', quantity: '1' }],
  });
  const { body: payment } = await payOffline(api, invoice, '100');
  const body = { payment_id: payment.id, amount: '40', target: 'PREPAID_WALLET' };
  return { customer, refund: () => api.post('/v1/refunds', body) };
}
const walletsOf = async ({ id }: { id: string }) =>
  (await api.get(`/v1/customers/${id}/wallets`)).body;

/** A customer has one active wallet of a currency and type (money 2.1); a refund never fails because of it. */
describe('a refund while a request makes the first wallet of the customer', () => {
  test('waits for the request and credits its wallet', async () => {
    const { customer, refund } = await refundable();
    const asked = CreateWalletBody.parse({
      ...{ customer_id: customer.id, currency: 'usd', initial_credits_to_load: '5' },
    });
    const caller = { scope: api.scope, user_id: '' };
    const [refunded] = await inTurns<[{ status: number }]>(
      api,
      (tx) => createWallet(tx, api.deps, caller, asked),
      refund,
    );
    expect(refunded.status).toBe(201);
    expect(await walletsOf(customer)).toMatchObject([{ balance: '45' }]);
  });

  test('makes the wallet, and the request is refused', async () => {
    const { customer, refund } = await refundable();
    const [made, refunded] = await inTurns<[{ status: number }, { status: number }]>(
      api,
      (tx) => tx`select from customers where id = ${customer.id} for update`,
      () => api.post('/v1/wallets', { customer_id: customer.id, currency: 'usd' }),
      refund,
    );
    expect([made.status, refunded.status]).toEqual([409, 201]);
    expect(await walletsOf(customer)).toMatchObject([{ balance: '40' }]);
  });
});
