import { expireCredits } from '../../../jobs/expire-credits.ts';
import { runJob } from '../../../jobs/run-job.ts';
import { createLogger } from '../../../platform/log.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

/** Credits that are bought with an invoice, and credits whose time is over (money 2.7, 2.11). */
let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());

const get = async (path: string) => (await api.get(`/v1${path}`)).body;
const walletOf = async (more: object = {}) =>
  await api.postOk('/v1/wallets', {
    customer_id: (await catalog.customer()).id,
    currency: 'usd',
    ...more,
  });
const buy = ({ id }: { id: string }, credits: string, more: object = {}) =>
  api.postOk(`/v1/wallets/${id}/top-up`, {
    credits_to_add: credits,
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    ...more,
  });
const pay = (invoice_id: string, amount: string) =>
  api.postOk('/v1/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice_id,
    payment_method_type: 'OFFLINE',
    amount,
    currency: 'usd',
    process_payment: true,
    idempotency_key: `${invoice_id} ${amount}`,
  });
const statesOf = async ({ id }: { id: string }) =>
  (await api.postOk('/v1/wallets/transactions/search', { id })).items.map((row: any) => [
    row.transaction_reason,
    row.transaction_status,
    row.credits_available,
  ]);

describe('a purchase with an invoice', () => {
  test('completes at once, with its bonus and a paid invoice, where the tenant wants it (money 2.11.4)', async () => {
    const numbering = {
      ...{ prefix: 'INV', format: 'YYYYMM', start_sequence: 1, suffix_length: 5, timezone: 'UTC' },
    };
    const setting = (is: boolean) =>
      api.put('/v1/settings/invoice_config', {
        value: { ...numbering, auto_complete_purchased_credit_transaction: is },
      });
    expect((await setting(true)).status).toBe(200);
    const wallet = await walletOf();
    const bought = await buy(wallet, '10', { bonus_credits_to_add: '3', idempotency_key: 'auto' });
    expect(bought.wallet_transaction).toMatchObject({
      transaction_status: 'completed',
      credits_available: '10',
      description: 'Purchased credits',
    });
    expect(bought.wallet).toMatchObject({ credit_balance: '13' });
    expect(await get(`/invoices/${bought.invoice_id}`)).toMatchObject({
      invoice_status: 'FINALIZED',
      payment_status: 'SUCCEEDED',
      amount_paid: '10',
      metadata: { auto_completed: 'true' },
    });
    const again = await buy(wallet, '10', { bonus_credits_to_add: '3', idempotency_key: 'auto' });
    expect(again.wallet_transaction.id).toBe(bought.wallet_transaction.id);
    expect((await get(`/wallets/${wallet.id}`)).credit_balance).toBe('13');
    expect((await setting(false)).status).toBe(200);
  });

  test('waits for the whole payment; purchase and bonus then complete together', async () => {
    const wallet = await walletOf({ conversion_rate: '2', topup_conversion_rate: '4' });
    const bought = await buy(wallet, '10', { bonus_credits_to_add: '3', idempotency_key: 'buy' });
    expect(bought.wallet_transaction).toMatchObject({
      transaction_status: 'pending',
      amount: '40',
      credits_available: '0',
    });
    expect(bought.wallet).toMatchObject({ credit_balance: '0' });
    const again = await buy(wallet, '10', { bonus_credits_to_add: '3', idempotency_key: 'buy' });
    expect(again.invoice_id).toBe(bought.invoice_id);
    const invoice = await get(`/invoices/${bought.invoice_id}`);
    expect(invoice).toMatchObject({
      invoice_type: 'ONE_OFF',
      invoice_status: 'FINALIZED',
      payment_status: 'PENDING',
      amount_due: '40',
      due_date: '2026-11-21T12:00:00.000Z',
      metadata: { credits_amount: '10', wallet_id: wallet.id, auto_completed: 'false' },
      line_items: [{ display_name: 'Purchase 10 Credits', amount: '40', quantity: '1' }],
    });
    await pay(bought.invoice_id, '15');
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ credit_balance: '0' });
    await pay(bought.invoice_id, '25');
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({
      credit_balance: '13',
      balance: '26',
    });
    expect(await statesOf(wallet)).toEqual([
      ['PURCHASED_CREDIT_BONUS', 'completed', '3'],
      ['PURCHASED_CREDIT_INVOICED', 'completed', '10'],
    ]);
  });

  test('credits do not pay for credits', async () => {
    const wallet = await walletOf({
      initial_credits_to_load: '50',
      config: { allowed_price_types: ['ALL'] },
    });
    const { invoice_id } = await buy(wallet, '10');
    expect(await get(`/invoices/${invoice_id}`)).toMatchObject({ amount_remaining: '10' });
    const balance = () => get(`/wallets/${wallet.id}/balance/real-time`);
    const unpaid = { real_time_balance: '50', unpaid_invoices_amount: '0' };
    expect(await balance()).toMatchObject(unpaid);
    // The metadata is the client's: replacing it changes nothing about the purchase.
    await api.put(`/v1/invoices/${invoice_id}`, { metadata: { note: 'mine' } });
    expect(await balance()).toMatchObject(unpaid);
  });

  test('metadata that looks like a purchase does not spare an invoice the prepaid credits', async () => {
    const wallet = await walletOf({
      initial_credits_to_load: '50',
      config: { allowed_price_types: ['ALL'] },
    });
    const invoice = await api.postOk('/v1/invoices', {
      customer_id: wallet.customer_id,
      invoice_type: 'ONE_OFF',
      currency: 'usd',
      amount_due: '10',
      total: '10',
      subtotal: '10',
      line_items: [{ display_name: 'Fee', amount: '10', quantity: '1' }],
      metadata: { wallet_transaction_id: 'wtxn_of_nobody' },
    });
    expect(invoice).toMatchObject({ total_prepaid_credits_applied: '10', amount_remaining: '0' });
  });

  test('voiding the unpaid invoice fails the rows; of a paid one the credits are taken back', async () => {
    const wallet = await walletOf();
    const first = await buy(wallet, '10');
    await api.postOk(`/v1/invoices/${first.invoice_id}/void`);
    expect(await statesOf(wallet)).toEqual([['PURCHASED_CREDIT_INVOICED', 'failed', '0']]);
    const second = await buy(wallet, '20');
    await pay(second.invoice_id, '20');
    await api.postOk(`/v1/invoices/${second.invoice_id}/void`);
    const rows = await api.postOk('/v1/wallets/transactions/search', {
      id: wallet.id,
      type: 'debit',
    });
    expect(rows.items).toMatchObject([{ credit_amount: '20' }]);
    // The money is in the wallet once: the credits taken back do not return as prepaid credits of the invoice.
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ credit_balance: '20' });
  });

  test('409: voiding a paid purchase of which credits are spent', async () => {
    const wallet = await walletOf();
    const { invoice_id } = await buy(wallet, '10');
    await pay(invoice_id, '10');
    await api.postOk(`/v1/wallets/${wallet.id}/debit`, {
      credits: '1',
      transaction_reason: 'MANUAL_BALANCE_DEBIT',
      idempotency_key: 'spend',
    });
    expect((await api.post(`/v1/invoices/${invoice_id}/void`)).status).toBe(409);
  });

  test.each`
    how            | body                                            | spent  | status
    ${'terminate'} | ${{}}                                           | ${'0'} | ${200}
    ${'terminate'} | ${{}}                                           | ${'9'} | ${409}
    ${'modify'}    | ${{ modification_type: 'prepaid_to_postpaid' }} | ${'0'} | ${409}
  `(
    '$status: voiding a paid purchase of a closed wallet: $how, $spent credits spent before',
    async ({ how, body, spent, status }) => {
      const wallet = await walletOf();
      const { invoice_id } = await buy(wallet, '10');
      await pay(invoice_id, '10');
      if (spent !== '0')
        await api.postOk(`/v1/wallets/${wallet.id}/debit`, {
          credits: spent,
          transaction_reason: 'MANUAL_BALANCE_DEBIT',
          idempotency_key: `spend of ${wallet.id}`,
        });
      await api.postOk(`/v1/wallets/${wallet.id}/${how}`, body);
      expect((await api.post(`/v1/invoices/${invoice_id}/void`)).status).toBe(status);
    },
  );

  test('terminating the wallet fails the purchase', async () => {
    const wallet = await walletOf();
    await buy(wallet, '10');
    await api.postOk(`/v1/wallets/${wallet.id}/terminate`);
    expect(await statesOf(wallet)).toEqual([['PURCHASED_CREDIT_INVOICED', 'failed', '0']]);
  });

  test('metadata that names a purchase of another invoice completes nothing', async () => {
    const wallet = await walletOf();
    const { wallet_transaction } = await buy(wallet, '1000');
    const cheap = await api.postOk('/v1/invoices', {
      customer_id: wallet.customer_id,
      invoice_type: 'ONE_OFF',
      currency: 'usd',
      amount_due: '1',
      total: '1',
      subtotal: '1',
      line_items: [{ display_name: 'Fee', amount: '1', quantity: '1' }],
      metadata: { wallet_transaction_id: wallet_transaction.id, wallet_id: wallet.id },
    });
    await pay(cheap.id, '1');
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ credit_balance: '0' });
  });

  describe('of a wallet that is closed before the payment (money 2.11.9)', () => {
    beforeAll(async () => {
      await api.postOk('/v1/connections', { name: 'Test', provider_type: 'test' });
    });
    const endings: [string, object][] = [
      ['terminate', {}],
      ['modify', { modification_type: 'prepaid_to_postpaid' }],
    ];
    const payBody = (id: string, more: object) => ({
      destination_type: 'INVOICE',
      destination_id: id,
      amount: '10',
      currency: 'usd',
      idempotency_key: `${id} ${JSON.stringify(more)}`,
      ...more,
    });
    const LINK = { payment_method_type: 'PAYMENT_LINK', payment_gateway: 'test' };

    test.each(endings)(
      '409: %s, while a checkout of the credits is under way',
      async (how, body) => {
        const wallet = await walletOf();
        const checkout = { payment_provider: 'test' };
        const { checkout_session: session } = await buy(wallet, '10', { checkout });
        const refused = await api.post(`/v1/wallets/${wallet.id}/${how}`, body);
        expect(refused).toMatchObject({ status: 409, body: { code: 'checkout_in_progress' } });
        await api.postOk(`/v1/test-gateway/payments/${session.checkout_payment_id}/outcome`, {
          outcome: 'success',
        });
        expect(await get(`/wallets/${wallet.id}`)).toMatchObject({
          wallet_status: 'active',
          credit_balance: '10',
        });
        await api.postOk(`/v1/wallets/${wallet.id}/${how}`, body);
      },
    );

    test.each(endings)('%s: nothing is paid for credits that cannot come', async (how, body) => {
      const wallet = await walletOf();
      const { invoice_id } = await buy(wallet, '10', { bonus_credits_to_add: '1' });
      const recorded = await api.postOk(
        '/v1/payments',
        payBody(invoice_id, { payment_method_type: 'OFFLINE', process_payment: false }),
      );
      await api.postOk(`/v1/wallets/${wallet.id}/${how}`, body);
      const card = { payment_method_type: 'CARD', payment_method_id: 'pm_test_success' };
      const refused = { status: 400, body: { details: [{ path: 'invoice_id' }] } };
      for (const more of [{ payment_method_type: 'OFFLINE' }, LINK, card])
        expect(await api.post('/v1/payments', payBody(invoice_id, more))).toMatchObject(refused);
      expect(await api.post(`/v1/payments/${recorded.id}/process`)).toMatchObject(refused);
      const paid = { payment_status: 'SUCCEEDED' };
      expect(await api.put(`/v1/payments/${recorded.id}`, paid)).toMatchObject(refused);
      expect(await api.put(`/v1/invoices/${invoice_id}/payment`, paid)).toMatchObject(refused);
      expect(await get(`/invoices/${invoice_id}`)).toMatchObject({
        payment_status: 'PENDING',
        amount_paid: '0',
      });
      await api.postOk(`/v1/invoices/${invoice_id}/void`);
    });

    test.each(endings)('%s: money that a gateway has by then goes back', async (how, body) => {
      const wallet = await walletOf();
      const { invoice_id } = await buy(wallet, '10');
      const link = await api.postOk('/v1/payments', payBody(invoice_id, LINK));
      await api.postOk(`/v1/wallets/${wallet.id}/${how}`, body);
      await api.postOk(`/v1/test-gateway/payments/${link.id}/outcome`, { outcome: 'late' });
      const { items } = await api.postOk('/v1/refunds/search', { payment_id: link.id });
      expect(items).toMatchObject([
        { refund_target: 'BACK_TO_SOURCE', refund_status: 'SUCCEEDED', amount: '10', invoice_id },
      ]);
      expect(await get(`/payments/${link.id}`)).toMatchObject({ payment_status: 'REFUNDED' });
      expect(await get(`/invoices/${invoice_id}`)).toMatchObject({
        payment_status: 'REFUNDED',
        refunded_amount: '10',
      });
      const { items: rows } = await api.postOk('/v1/wallets/transactions/search', {
        customer_id: wallet.customer_id,
      });
      expect(rows).toMatchObject([{ transaction_status: 'failed' }]);
    });

    test('closed and paid at the same time: the credits came, or the money did not', async () => {
      for (let round = 0; round < 6; round += 1) {
        const wallet = await walletOf();
        const { invoice_id } = await buy(wallet, '10');
        const [paid, closed] = await Promise.all([
          api.post('/v1/payments', payBody(invoice_id, { payment_method_type: 'OFFLINE' })),
          api.post(`/v1/wallets/${wallet.id}/terminate`),
        ]);
        expect(closed.status).toBe(200);
        expect([201, 400, 409]).toContain(paid.status);
        const states = await statesOf(wallet);
        const { amount_paid } = await get(`/invoices/${invoice_id}`);
        expect([amount_paid, states.at(-1)]).toEqual(
          paid.status === 201
            ? ['10', ['PURCHASED_CREDIT_INVOICED', 'completed', '0']]
            : ['0', ['PURCHASED_CREDIT_INVOICED', 'failed', '0']],
        );
      }
    });
  });

  test('the automatic top-up with an invoice: one at a time, until it is paid', async () => {
    const wallet = await walletOf({
      auto_topup: { enabled: true, threshold: '10', amount: '25', invoicing: true },
      initial_credits_to_load: '12',
    });
    const debit = (key: string) =>
      api.postOk(`/v1/wallets/${wallet.id}/debit`, {
        credits: '2',
        transaction_reason: 'MANUAL_BALANCE_DEBIT',
        idempotency_key: key,
      });
    await debit('auto 1');
    await debit('auto 2');
    const found = await api.postOk('/v1/invoices/search', { customer_id: wallet.customer_id });
    expect(found.items).toMatchObject([
      { billing_reason: 'WALLET_AUTO_TOPUP', total: '25', metadata: { auto_topup: 'true' } },
    ]);
    await pay(found.items[0].id, '25');
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ credit_balance: '33' });
  });

  test('the automatic top-up with an invoice: none while that of a completed purchase is unpaid again', async () => {
    const wallet = await walletOf({
      auto_topup: { enabled: true, threshold: '10', amount: '25', invoicing: true },
      initial_credits_to_load: '11',
    });
    const debit = (key: string, credits: string) =>
      api.postOk(`/v1/wallets/${wallet.id}/debit`, {
        credits,
        transaction_reason: 'MANUAL_BALANCE_DEBIT',
        idempotency_key: key,
      });
    const invoices = async () =>
      (await api.postOk('/v1/invoices/search', { customer_id: wallet.customer_id })).items;
    await debit('unpaid 1', '1');
    const [first] = await invoices();
    const { line_items } = await get(`/invoices/${first.id}`);
    const note = await api.postOk('/v1/creditnotes', {
      invoice_id: first.id,
      reason: 'BILLING_ERROR',
      process_credit_note: true,
      line_items: [{ invoice_line_item_id: line_items[0].id, amount: '10' }],
    });
    await pay(first.id, '15');
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ credit_balance: '35' });
    // The note was a mistake: the rest of the purchase is due again, and its credits stay.
    await api.postOk(`/v1/creditnotes/${note.id}/void`);
    expect(await get(`/invoices/${first.id}`)).toMatchObject({
      payment_status: 'PENDING',
      amount_remaining: '10',
    });
    await debit('unpaid 2', '30');
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ credit_balance: '5' });
    expect(await invoices()).toHaveLength(1);
    await pay(first.id, '10');
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ credit_balance: '5' });
    await debit('unpaid 3', '1');
    expect(await invoices()).toMatchObject([
      { billing_reason: 'WALLET_AUTO_TOPUP', total: '25', amount_remaining: '25' },
      { id: first.id, amount_remaining: '0' },
    ]);
  });
});

describe('expired credits', () => {
  let tick = Date.parse('2000-01-01T00:00:00Z');
  const runAt = async (at: string) => {
    api.clock.set(at);
    tick += 60_000;
    const now = async () => new Date(api.clock.now()).toISOString();
    const runner = { pool: api.pool, log: createLogger('silent', 'test'), holder: 'test', now };
    return await runJob(runner, expireCredits, api.deps, new Date(tick).toISOString());
  };
  const topUp = ({ id }: { id: string }, credits: string, expiry_date_utc: string) =>
    api.postOk(`/v1/wallets/${id}/top-up`, {
      credits_to_add: credits,
      transaction_reason: 'FREE_CREDIT_GRANT',
      expiry_date_utc,
    });
  afterEach(() => api.clock.set('2026-11-21T12:00:00.000Z'));

  describe('a debit at the instant at which a block expires, before its rest is written off (money 2.7)', () => {
    const EXPIRY = '2026-11-22T00:00:00.000Z';
    const BEFORE = '2026-11-21T23:59:59.999Z';
    /** 10 credits that expire, then 5 that do not; the first are used first. */
    const walletWith = async (more: object = {}) => {
      const wallet = await walletOf(more);
      const block = await topUp(wallet, '10', EXPIRY);
      const rest = await topUp(wallet, '5', '2099-01-01T00:00:00.000Z');
      return { ...wallet, expiring: block.wallet_transaction.id, rest: rest.wallet_transaction.id };
    };
    type Expiring = Awaited<ReturnType<typeof walletWith>>;
    const debit = async (wallet: Expiring, credits: string) => {
      await api.postOk(`/v1/wallets/${wallet.id}/debit`, {
        ...{ credits, transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: wallet.id },
      });
      const { items } = await api.postOk('/v1/wallets/transactions/search', {
        id: wallet.id,
        type: 'debit',
      });
      return items[0].consumption_breakdown.map(({ credit_transaction_id, credits }: any) => [
        credit_transaction_id === wallet.expiring ? 'expiring' : 'rest',
        credits,
      ]);
    };

    test.each`
      at        | credits | taken                                  | left
      ${BEFORE} | ${'7'}  | ${[['expiring', '7']]}                 | ${'5'}
      ${BEFORE} | ${'12'} | ${[['expiring', '10'], ['rest', '2']]} | ${'3'}
      ${EXPIRY} | ${'4'}  | ${[['rest', '4']]}                     | ${'1'}
      ${EXPIRY} | ${'7'}  | ${[['rest', '5']]}                     | ${'-2'}
    `('by hand, of $credits, at $at', async ({ at, credits, taken, left }) => {
      const wallet = await walletWith();
      api.clock.set(at);
      expect(await debit(wallet, credits)).toEqual(taken);
      await runAt(EXPIRY);
      expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ credit_balance: left });
    });

    const invoiceOf = async ({ customer_id }: { customer_id: string }) =>
      await api.postOk('/v1/invoices', {
        ...{ customer_id, invoice_type: 'ONE_OFF', currency: 'usd', billing_reason: 'MANUAL' },
        ...{ amount_due: '12', total: '12', subtotal: '12' },
        line_items: [{ display_name: 'Work', quantity: '1', amount: '12' }],
      });
    const POST_PAID = { wallet_type: 'POST_PAID', config: { allowed_price_types: ['ALL'] } };

    test.each`
      at        | paid    | left
      ${BEFORE} | ${'12'} | ${'3'}
      ${EXPIRY} | ${'5'}  | ${'0'}
    `('to pay an invoice, at $at: $paid', async ({ at, paid, left }) => {
      const wallet = await walletWith(POST_PAID);
      const invoice = await invoiceOf(wallet);
      api.clock.set(at);
      await api.postOk(`/v1/invoices/${invoice.id}/payment/attempt`);
      expect(await get(`/invoices/${invoice.id}`)).toMatchObject({ amount_paid: paid });
      await runAt(EXPIRY);
      expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ credit_balance: left });
    });

    test('a payment with credits names what cannot be paid', async () => {
      const wallet = await walletWith(POST_PAID);
      const invoice = await invoiceOf(wallet);
      api.clock.set(EXPIRY);
      const payment = (amount: string) =>
        api.post('/v1/payments', {
          ...{ destination_type: 'INVOICE', destination_id: invoice.id, currency: 'usd', amount },
          ...{ payment_method_type: 'CREDITS', idempotency_key: `${invoice.id} ${amount}` },
        });
      const refused = await payment('6');
      expect([refused.status, refused.body.details[0]]).toMatchObject([
        400,
        { path: 'amount', code: 'insufficient_balance' },
      ]);
      expect(await payment('5')).toMatchObject({
        status: 201,
        body: { payment_status: 'SUCCEEDED' },
      });
    });
  });

  test('each block is written off once, at its expiry', async () => {
    const wallet = await walletOf();
    await topUp(wallet, '10', '2026-11-22T00:00:00.000Z');
    await topUp(wallet, '5', '2026-11-23T00:00:00.000Z');
    await runAt('2026-11-21T23:59:59.999Z');
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ balance: '15' });
    await runAt('2026-11-22T00:00:00.000Z');
    await runAt('2026-11-22T00:15:00.000Z');
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ balance: '5' });
    const rows = await api.postOk('/v1/wallets/transactions/search', {
      id: wallet.id,
      type: 'debit',
    });
    expect(rows.items).toMatchObject([
      { transaction_reason: 'CREDIT_EXPIRED', credit_amount: '10' },
    ]);
    expect(rows.items[0].parent_transaction_id).toBe(rows.items[0].reference_id);
  });

  test('a block is held while a period that ended before it is not invoiced, at most 72 hours', async () => {
    const plan = await catalog.plan();
    await catalog.fixed(plan, '1');
    const customer = await catalog.customer();
    await catalog.subscribe(customer, plan, { start_date: '2026-11-01T00:00:00.000Z' });
    const wallet = await api.postOk('/v1/wallets', { customer_id: customer.id, currency: 'usd' });
    await topUp(wallet, '10', '2026-12-01T06:00:00.000Z');
    await runAt('2026-12-02T00:00:00.000Z');
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ balance: '10' });
    await runAt('2026-12-04T06:00:00.000Z');
    expect(await get(`/wallets/${wallet.id}`)).toMatchObject({ balance: '0' });
  });
});
