import { freezeWallet } from '../../../api/billing/wallets/freeze-wallet.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

const OFFLINE = { payment_method_type: 'OFFLINE' };
const CARD = {
  payment_method_type: 'CARD',
  payment_method_id: 'pm_test_success',
  payment_gateway: 'test',
};

/** A refund of the price of bought credits takes these credits back (money 9.16). */
describe('a refund of bought credits', () => {
  let api: TestApi;
  let catalog: TestCatalog;
  beforeAll(async () => {
    api = await startTestApi();
    catalog = catalogOf(api);
  });
  afterAll(() => api.close());

  /** A paid purchase of 10 credits at 2.00 for a credit, with 5 more as a bonus. */
  async function bought({ paid = '20', by = OFFLINE }: { paid?: string; by?: object } = {}) {
    const customer = await catalog.customer();
    const wallet = await api.postOk('/v1/wallets', {
      customer_id: customer.id,
      currency: 'usd',
      conversion_rate: '2',
    });
    const path = `/v1/wallets/${wallet.id}`;
    const { invoice_id } = await api.postOk(`${path}/top-up`, {
      credits_to_add: '10',
      bonus_credits_to_add: '5',
      transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    });
    const payment = await api.postOk('/v1/payments', {
      ...{ destination_type: 'INVOICE', destination_id: invoice_id },
      ...{ ...by, amount: paid, currency: 'usd', process_payment: true },
    });
    const debits = async () => {
      const found = await api.postOk('/v1/wallets/transactions/search', {
        id: wallet.id,
        type: 'debit',
        transaction_reason: 'CREDIT_ADJUSTMENT',
      });
      return found.items.map((row: any) => row.credit_amount).toReversed();
    };
    return {
      path,
      wallet,
      invoice_id,
      dispute: async () => {
        const outcome = `/v1/test-gateway/payments/${payment.id}/outcome`;
        await api.postOk(outcome, { outcome: 'dispute' });
        return (await api.get(`/v1/payments/${payment.id}`)).body.payment_status;
      },
      refund: (amount?: string) =>
        api.post('/v1/refunds', {
          payment_id: payment.id,
          ...(amount === undefined ? {} : { amount }),
        }),
      spend: (credits: string) =>
        api.postOk(`${path}/debit`, {
          ...{ credits, transaction_reason: 'MANUAL_BALANCE_DEBIT' },
          idempotency_key: `spend of ${wallet.id}`,
        }),
      balance: async () => (await api.get(path)).body.credit_balance,
      debits,
    };
  }

  test('takes back the same share of the credits and of their bonus; the money is then in the wallet', async () => {
    const { refund, balance, debits } = await bought();
    expect((await refund('4')).status).toBe(201);
    // 15 credits, less 2 and 1, and 4.00 at 2.00 for a credit.
    expect([await debits(), await balance()]).toEqual([['3'], '14']);
    api.clock.advance(1);
    expect((await refund()).status).toBe(201);
    expect([await debits(), await balance()]).toEqual([['3', '12'], '10']);
  });

  test('409 with nothing written if these credits are spent; the price of the rest can be refunded', async () => {
    const { refund, spend, balance, debits } = await bought();
    await spend('9'); // the bought ones first
    const refused = await refund('4.01');
    expect([refused.status, refused.body.code]).toEqual([409, 'credits_spent']);
    expect([await debits(), await balance()]).toEqual([[], '6']);
    expect((await refund('2')).status).toBe(201);
    expect([await debits(), await balance()]).toEqual([['1.5'], '5.5']);
    expect((await refund('2')).status).toBe(409);
  });

  test('two at once take each credit back once', async () => {
    const { refund, debits } = await bought();
    const both = await Promise.all([refund('10'), refund('10')]);
    expect(both.map(({ status }) => status)).toEqual([201, 201]);
    expect(await debits()).toEqual(['7.5', '7.5']);
  });

  test('an overpaid amount bought no credits', async () => {
    const { refund, balance, debits } = await bought({ paid: '26' });
    await refund('6');
    expect([await debits(), await balance()]).toEqual([[], '18']);
    await refund('20');
    expect(await debits()).toEqual(['15']);
  });

  test('a REFUND credit note takes them back too', async () => {
    const { invoice_id, balance, debits, spend } = await bought();
    const { body: invoice } = await api.get(`/v1/invoices/${invoice_id}`);
    const credit = (amount: string) =>
      api.post('/v1/creditnotes', {
        ...{ invoice_id, reason: 'ORDER_CHANGE', process_credit_note: true },
        line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount }],
      });
    expect((await credit('4')).status).toBe(201);
    expect([await debits(), await balance()]).toEqual([['3'], '14']);
    await spend('13.5');
    expect((await credit('16')).status).toBe(409);
  });

  test('voiding the invoice afterwards takes back the rest', async () => {
    const { invoice_id, refund, debits } = await bought();
    await refund('4');
    api.clock.advance(1);
    await api.postOk(`/v1/invoices/${invoice_id}/void`);
    expect(await debits()).toEqual(['3', '12']);
  });

  test('of a closed wallet: what its end took may be refunded, and not what was spent before', async () => {
    const { path, refund, spend } = await bought();
    await spend('9');
    await api.postOk(`${path}/terminate`, {});
    expect((await refund('4')).status).toBe(409);
    expect((await refund('2')).status).toBe(201);
  });

  describe('by a dispute, which cannot be refused', () => {
    beforeAll(async () => {
      await api.postOk('/v1/connections', {
        name: 'Test',
        provider_type: 'test',
        encrypted_secret_data: { webhook_secret: 'whsec_of_the_test_gateway' },
      });
    });

    test('takes back all, once, however often the gateway tells it', async () => {
      const { dispute, balance, debits } = await bought({ by: CARD });
      expect([await dispute(), await dispute()]).toEqual(['REFUNDED', 'REFUNDED']);
      expect([await debits(), await balance()]).toEqual([['15'], '0']);
    });

    test('takes back those that are unspent, and what a refund took before stays taken', async () => {
      const { refund, spend, dispute, balance, debits } = await bought({ by: CARD });
      expect((await refund('4')).status).toBe(201); // 8 and 4 are left, and 2 for the 4.00
      api.clock.advance(1);
      await spend('5');
      const before = await balance();
      expect(await dispute()).toBe('REFUNDED');
      expect([before, await debits(), await balance()]).toEqual(['9', ['3', '7'], '2']);
    });

    test('of a frozen wallet', async () => {
      const { wallet, dispute, debits } = await bought({ by: CARD });
      await freezeWallet(api.deps, wallet.id, 'freeze');
      expect(await dispute()).toBe('REFUNDED');
      expect(await debits()).toEqual(['15']);
    });

    test('of a closed wallet: nothing is left to take', async () => {
      const { path, dispute, debits } = await bought({ by: CARD });
      await api.postOk(`${path}/terminate`, {});
      expect(await dispute()).toBe('REFUNDED');
      expect(await debits()).toEqual([]);
    });
  });
});
