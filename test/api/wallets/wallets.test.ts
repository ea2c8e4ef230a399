import { creditPrepaidWallet } from '../../../api/billing/wallets/credit-wallet.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());

const ok = async (path: string, body: object = {}) => {
  const answer = await api.post(`/v1${path}`, body);
  if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const walletOf = async (more: object = {}) =>
  await ok('/wallets', { customer_id: (await catalog.customer()).id, currency: 'usd', ...more });
const topUp = ({ id }: { id: string }, credits: string, more: object = {}) =>
  ok(`/wallets/${id}/top-up`, {
    credits_to_add: credits,
    transaction_reason: 'FREE_CREDIT_GRANT',
    ...more,
  });
let keys = 0;
const debit = ({ id }: { id: string }, credits: string, key = `debit ${(keys += 1)}`) =>
  ok(`/wallets/${id}/debit`, {
    credits,
    transaction_reason: 'MANUAL_BALANCE_DEBIT',
    idempotency_key: key,
  });
const rowsOf = async ({ id }: { id: string }, more: object = {}) =>
  (await ok('/wallets/transactions/search', { id, ...more })).items;
const read = async ({ id }: { id: string }) => (await api.get(`/v1/wallets/${id}`)).body;

describe('a wallet', () => {
  test('200: its defaults, and its first credits', async () => {
    const wallet = await walletOf({ initial_credits_to_load: '25', description: 'Main' });
    expect(wallet).toMatchObject({
      name: 'Prepaid Wallet - USD',
      description: 'Main',
      wallet_type: 'PRE_PAID',
      wallet_status: 'active',
      currency: 'usd',
      balance: '25',
      credit_balance: '25',
      conversion_rate: '1',
      topup_conversion_rate: '1',
      alert_state: 'ok',
      config: { allowed_price_types: ['USAGE'] },
    });
    expect(await read(wallet)).toEqual(wallet);
    expect(await rowsOf(wallet)).toMatchObject([
      {
        type: 'credit',
        transaction_status: 'completed',
        transaction_reason: 'FREE_CREDIT_GRANT',
        credit_balance_before: '0',
        credit_balance_after: '25',
        credits_available: '25',
        reference_type: 'EXTERNAL',
        idempotency_key: '',
      },
    ]);
  });

  /** The wallets of the notifications about them, each with the type of its notification, in order. */
  const announced = async ({ customer_id }: { customer_id: string }) =>
    await api.pool<{ event_type: string; wallet: Record<string, unknown> }[]>`
      select event_type, payload -> 'wallet' as wallet from outbox
       where event_type in ('wallet.created', 'wallet.transaction.created')
         and coalesce(payload -> 'wallet', payload -> 'transaction') ->> 'customer_id' = ${customer_id}
       order by sequence`;

  test('its creation announces it as it is read after the command, with its first credits', async () => {
    const wallet = await walletOf({ initial_credits_to_load: '25', conversion_rate: '0.5' });
    const [created, credited, ...others] = await announced(wallet);
    expect([created!.event_type, credited!.event_type, others]).toEqual([
      'wallet.created',
      'wallet.transaction.created',
      [],
    ]);
    expect(created!.wallet).toMatchObject({ balance: '12.5', credit_balance: '25' });
    expect(await read(wallet)).toMatchObject(created!.wallet);
  });

  test('a conversion announces the new wallet with the credits it took over', async () => {
    const wallet = await walletOf({ initial_credits_to_load: '25' });
    const { new_wallet: opened } = await ok(`/wallets/${wallet.id}/modify`, {
      modification_type: 'prepaid_to_postpaid',
    });
    const created = (await announced(wallet)).filter(
      ({ event_type }) => event_type === 'wallet.created',
    );
    expect(created.at(-1)!.wallet).toMatchObject({ id: opened.id, credit_balance: '25' });
  });

  test('200: a price unit sets currency and rates', async () => {
    await api.post('/v1/prices/units', {
      name: 'Tokens',
      code: 'tok',
      symbol: 't',
      base_currency: 'eur',
      conversion_rate: '0.01',
    });
    const wallet = await walletOf({ currency: undefined, price_unit: 'tok', conversion_rate: '9' });
    expect(wallet).toMatchObject({ currency: 'eur', conversion_rate: '0.01' });
  });

  test('409: one active wallet for each customer, currency and type', async () => {
    const { customer_id, id } = await walletOf();
    const again = { customer_id, currency: 'USD' };
    expect((await api.post('/v1/wallets', again)).status).toBe(409);
    await ok('/wallets', { ...again, wallet_type: 'POST_PAID' });
    await ok('/wallets', { ...again, currency: 'eur' });
    await ok(`/wallets/${id}/terminate`);
    await ok('/wallets', again);
  });

  test.each([
    [{ customer_id: undefined }, 400],
    [{ customer_id: 'cust_unknown' }, 404],
    [{ customer_id: undefined, external_customer_id: 'nobody' }, 404],
    [{ currency: undefined }, 400],
    [{ currency: 'dollars' }, 400],
    [{ wallet_type: 'MAGIC' }, 400],
    [{ conversion_rate: '-1' }, 400],
    [{ price_unit: 'none' }, 400],
    [{ initial_credits_to_load: '-1' }, 400],
    [{ initial_credits_to_load: '1', initial_credits_to_load_expiry_date: 20250101 }, 400],
    [{ initial_credits_to_load: '1', initial_credits_to_load_expiry_date: 20251399 }, 400],
  ])('refused: %j', async (more, status) => {
    const customer = await catalog.customer();
    const body = { customer_id: customer.id, currency: 'usd', ...more };
    expect((await api.post('/v1/wallets', body)).status).toBe(status);
  });

  test('PUT changes what is not money', async () => {
    const wallet = await walletOf({ metadata: { a: 'b' } });
    const path = `/v1/wallets/${wallet.id}`;
    const { status, body } = await api.put(path, {
      name: 'Renamed',
      metadata: { c: 'd' },
      config: { allowed_price_types: ['USAGE', 'FIXED'] },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'Renamed',
      metadata: { c: 'd' },
      config: { allowed_price_types: ['ALL'] },
    });
    for (const bad of [
      { config: { allowed_price_types: ['SOME'] } },
      { currency: 'eur' },
      { conversion_rate: '2' },
      { topup_conversion_rate: '2' },
      { wallet_type: 'POST_PAID' },
    ])
      expect((await api.put(path, bad)).status).toBe(400);
    // A client may send a whole wallet back.
    const { body: whole } = await api.get(path);
    const again = await api.put(path, whole);
    expect([again.status, { ...again.body, updated_at: whole.updated_at }]).toEqual([200, whole]);
  });

  test('search: by id, status and customer, in pages', async () => {
    const wallet = await walletOf();
    const { items } = await ok('/wallets/search', { wallet_ids: [wallet.id], status: 'active' });
    expect(items).toEqual([wallet]);
    expect(
      (await ok('/wallets/search', { wallet_ids: [wallet.id], status: 'closed' })).items,
    ).toEqual([]);
    const listed = await api.get(`/v1/wallets?customer_id=${wallet.customer_id}&limit=1`);
    expect(listed.body.pagination).toEqual({ total: 1, limit: 1, offset: 1 });
    expect((await api.get('/v1/wallets?status=published')).status).toBe(400);
    const own = await api.get(`/v1/customers/${wallet.customer_id}/wallets`);
    expect(own.body).toEqual([wallet]);
  });
});

describe('top-ups', () => {
  test('200: credits at the top-up rate, an amount instead, a bonus', async () => {
    const wallet = await walletOf({ conversion_rate: '2', topup_conversion_rate: '4' });
    const first = await topUp(wallet, '10', { transaction_reason: 'PURCHASED_CREDIT_DIRECT' });
    expect(first.wallet_transaction).toMatchObject({ amount: '40', credit_amount: '10' });
    expect(first.wallet).toMatchObject({ balance: '20', credit_balance: '10' });
    const second = await ok(`/wallets/${wallet.id}/top-up`, {
      amount: '8',
      transaction_reason: 'FREE_CREDIT_GRANT',
    });
    expect(second.wallet_transaction).toMatchObject({ amount: '8', credit_amount: '2' });
    const third = await topUp(wallet, '100', {
      transaction_reason: 'PURCHASED_CREDIT_DIRECT',
      bonus_credits_to_add: '5',
    });
    expect(third.wallet).toMatchObject({ credit_balance: '117', balance: '234' });
    const [bonus, purchase] = await rowsOf(wallet, { limit: 2 });
    expect(bonus).toMatchObject({
      transaction_reason: 'PURCHASED_CREDIT_BONUS',
      parent_transaction_id: purchase.id,
      amount: '20',
      credit_balance_before: '112',
      reference_type: '',
    });
  });

  test('200: bonus by the slabs of the tenant, with an expiry', async () => {
    const beside = await api.newCaller({ inTenantOf: api });
    const bonus = (value: string) => ({ type: 'percentage', value });
    await beside.put('/v1/settings/bonus_credits_topup_config', {
      value: {
        enabled: true,
        slabs: [
          { threshold: '10000', operator: 'gte', bonus: bonus('20') },
          { threshold: '5000', operator: 'gte', bonus: { type: 'flat', value: '750' }, expiration_duration: 1, expiration_duration_unit: 'MONTH' },
        ],
      },
    }); // prettier-ignore
    const customer = await catalogOf(beside).customer();
    const made = await beside.post('/v1/wallets', { customer_id: customer.id, currency: 'usd' });
    const buy = async (credits: string) =>
      (
        await beside.post(`/v1/wallets/${made.body.id}/top-up`, {
          credits_to_add: credits,
          transaction_reason: 'PURCHASED_CREDIT_DIRECT',
        })
      ).body.wallet.credit_balance;
    expect(await buy('4999')).toBe('4999');
    expect(await buy('5000')).toBe('10749');
    expect(await buy('10000')).toBe('22749');
    const { body } = await beside.get(`/v1/wallets/${made.body.id}/transactions?transaction_reason=PURCHASED_CREDIT_BONUS`);
    expect(body.items.map((row: any) => row.expiry_date)).toEqual([null, '2026-12-21T12:00:00.000Z']);
  }); // prettier-ignore

  test('the field id of a search is a transaction, or a wallet with all of its rows', async () => {
    const wallet = await walletOf();
    for (const credits of ['10', '20']) await topUp(wallet, credits);
    const all = await rowsOf(wallet);
    expect(all.map((row: any) => row.credit_amount)).toEqual(['20', '10']);
    expect(await rowsOf(all[1])).toEqual([all[1]]);
    expect(await rowsOf(all[1], { wallet_id: wallet.id })).toEqual([all[1]]);
    expect(await rowsOf({ id: 'wtxn_unknown' })).toEqual([]);
  });

  test.each([
    ['in the past', 'FREE_CREDIT_GRANT', 'expiry_date_utc', '2020'],
    ['of a bonus in the past', 'PURCHASED_CREDIT_DIRECT', 'bonus_credits_expiry_date_utc', '2020'],
    ['of a bonus of free credits', 'FREE_CREDIT_GRANT', 'bonus_credits_expiry_date_utc', '2099'],
  ])('400 for an expiry %s', async (_, transaction_reason, field, year) => {
    const { id } = await walletOf();
    const { status, body } = await api.post(`/v1/wallets/${id}/top-up`, {
      ...{ credits_to_add: '1', transaction_reason },
      ...(transaction_reason === 'PURCHASED_CREDIT_DIRECT' ? { bonus_credits_to_add: '1' } : {}),
      [field]: `${year}-01-01T00:00:00Z`,
    });
    expect([status, body.details?.[0].path]).toEqual([400, field]);
  });

  test('400 for an expiry of bonus credits that the purchase does not give; a bonus of the slabs takes it', async () => {
    const beside = await api.newCaller({ inTenantOf: api });
    const customer = await catalogOf(beside).customer();
    const made = await beside.post('/v1/wallets', { customer_id: customer.id, currency: 'usd' });
    const wallet = made.body;
    const slab = { threshold: '50', operator: 'gte', bonus: { type: 'flat', value: '5' } };
    const saved = await beside.put('/v1/settings/bonus_credits_topup_config', {
      value: { enabled: true, slabs: [slab] },
    });
    expect(saved.status).toBe(200);
    const expiry = { bonus_credits_expiry_date_utc: '2099-01-01T00:00:00Z' };
    for (const transaction_reason of ['PURCHASED_CREDIT_DIRECT', 'PURCHASED_CREDIT_INVOICED']) {
      const buy = (credits_to_add: string, more: object) =>
        beside.post(`/v1/wallets/${wallet.id}/top-up`, {
          ...{ credits_to_add, transaction_reason },
          ...more,
        });
      const { status, body } = await buy('49', expiry);
      expect([status, body.details?.[0].path]).toEqual([400, 'bonus_credits_expiry_date_utc']);
      expect((await buy('49', {})).status).toBe(200);
      expect((await buy('50', expiry)).status).toBe(200);
      expect((await buy('49', { ...expiry, bonus_credits_to_add: '1' })).status).toBe(200);
    }
    const { body } = await beside.get(
      `/v1/wallets/${wallet.id}/transactions?transaction_reason=PURCHASED_CREDIT_BONUS`,
    );
    expect(body.items.map((row: any) => [row.credit_amount, row.expiry_date])).toEqual(
      ['1', '5', '1', '5'].map((credits) => [credits, '2099-01-01T00:00:00.000Z']),
    );
  });

  test.each([
    ['initial_credits_expiry_date_utc', '2099-01-01T00:00:00Z'],
    ['initial_credits_to_load_expiry_date', 20990101],
  ])('400 for %s of a wallet without first credits', async (field, value) => {
    const customer = await catalog.customer();
    for (const more of [{}, { initial_credits_to_load: '0' }]) {
      const { status, body } = await api.post('/v1/wallets', {
        ...{ customer_id: customer.id, currency: 'usd', [field]: value },
        ...more,
      });
      expect([status, body.details?.[0].path]).toEqual([400, field]);
    }
  });

  test('a search by the cause names its type and its id (money 2.12.5)', async () => {
    const wallet = await walletOf();
    await topUp(wallet, '10', { idempotency_key: 'cause' });
    const cause = { reference_type: 'EXTERNAL', reference_id: 'cause' };
    expect(await rowsOf(wallet, cause)).toHaveLength(1);
    for (const [sent, missing] of [
      ['reference_type', 'reference_id'],
      ['reference_id', 'reference_type'],
    ] as const) {
      const half = { [sent]: cause[sent] };
      const { status, body } = await api.post('/v1/wallets/transactions/search', half);
      expect([status, body.details[0].path]).toEqual([400, missing]);
      const page = `/v1/wallets/${wallet.id}/transactions?${sent}=${cause[sent]}`;
      expect((await api.get(page)).status).toBe(400);
    }
  });

  test('a key answers once with its row; with other content it is 409', async () => {
    const wallet = await walletOf();
    const first = await topUp(wallet, '10', { idempotency_key: 'once' });
    const again = await topUp(wallet, '10.00', { idempotency_key: 'once' });
    expect(again).toEqual(first);
    for (const more of [
      { credits_to_add: '11' },
      { transaction_reason: 'PURCHASED_CREDIT_DIRECT' },
    ])
      expect(
        await api.post(`/v1/wallets/${wallet.id}/top-up`, {
          credits_to_add: '10',
          transaction_reason: 'FREE_CREDIT_GRANT',
          idempotency_key: 'once',
          ...more,
        }),
      ).toMatchObject({ status: 409 });
    expect(await read(wallet)).toMatchObject({ credit_balance: '10' });
  });

  test.each([
    [{ credits_to_add: '0' }],
    [{ credits_to_add: undefined }],
    [{ transaction_reason: 'NOPE' }],
    [{ transaction_reason: undefined }],
    [{ transaction_reason: 'CREDIT_NOTE' }],
    [{ expiry_date_utc: '2020-01-01T00:00:00Z' }],
    [{ priority: -1 }],
    [{ bonus_credits_to_add: '0' }],
    [{ bonus_credits_to_add: '5' }],
    [{ credits_to_add: '0.5', transaction_reason: 'PURCHASED_CREDIT_DIRECT' }],
    [{ idempotency_key: 'system:x' }],
    [{ checkout: { payment_provider: 'stripe' } }],
  ])('400: %j', async (more) => {
    const wallet = await walletOf();
    const body = { credits_to_add: '10', transaction_reason: 'FREE_CREDIT_GRANT', ...more };
    expect((await api.post(`/v1/wallets/${wallet.id}/top-up`, body)).status).toBe(400);
    expect((await read(wallet)).credit_balance).toBe('0');
  });
});

describe('debits', () => {
  test('200: priority, then the sooner expiry, then the older block', async () => {
    const wallet = await walletOf();
    const blocks: Record<string, string> = {};
    for (const [name, credits, more] of [
      ['none', '10', {}],
      ['late', '20', { priority: 2, expiry_date_utc: '2099-06-01T00:00:00Z' }],
      ['first', '30', { priority: 1 }],
    ] as const) {
      blocks[name] = (await topUp(wallet, credits, more)).wallet_transaction.id;
      api.clock.advance(1);
    }
    expect(await debit(wallet, '35')).toMatchObject({ credit_balance: '25' });
    const [row] = await rowsOf(wallet, { type: 'debit' });
    expect(row).toMatchObject({
      credit_balance_before: '60',
      credit_balance_after: '25',
      credits_available: '0',
      reference_type: 'REQUEST',
      consumption_breakdown: [
        { credit_transaction_id: blocks['first'], credits: '30' },
        { credit_transaction_id: blocks['late'], credits: '5' },
      ],
      metadata: { consumed_credit_tx_ids: `${blocks['first']},${blocks['late']}` },
    });
    const expanded = await api.get(`/v1/wallets/${wallet.id}?expand=credits_available_breakdown`);
    expect(expanded.body.credits_available_breakdown).toEqual({ free: '25', purchased: '0' });
  });

  test('200: below zero, and the next credits fill the hole first', async () => {
    const wallet = await walletOf({ initial_credits_to_load: '10' });
    expect(await debit(wallet, '41.75')).toMatchObject({ balance: '-31.75' });
    const { wallet_transaction } = await topUp(wallet, '40');
    expect(wallet_transaction).toMatchObject({
      credit_balance_after: '8.25',
      credits_available: '8.25',
    });
  });

  test('400: no key, another reason, nothing; 404: an unknown wallet', async () => {
    const wallet = await walletOf();
    const body = { credits: '1', transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: 'k' };
    for (const bad of [
      { idempotency_key: undefined },
      { transaction_reason: 'INVOICE_PAYMENT' },
      { credits: '0' },
    ])
      expect((await api.post(`/v1/wallets/${wallet.id}/debit`, { ...body, ...bad })).status).toBe(
        400,
      );
    expect((await api.post('/v1/wallets/wallet_unknown/debit', body)).status).toBe(404);
  });

  test('50 at once are exact, and a key that is sent 50 times is one debit', async () => {
    const wallet = await walletOf({ initial_credits_to_load: '100' });
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => debit(wallet, '1.5', `many ${index}`)),
    );
    await Promise.all(Array.from({ length: 50 }, () => debit(wallet, '5', 'the same')));
    expect(await read(wallet)).toMatchObject({ credit_balance: '20' });
    const rows = await rowsOf(wallet, { type: 'debit', limit: 100 });
    expect(rows).toHaveLength(51);
    const before = rows.map((row: any) => Number(row.credit_balance_before));
    expect(new Set(before).size).toBe(51);
  });
});

describe('the end of a wallet', () => {
  test('200: the rest is debited, and nothing more is possible', async () => {
    const wallet = await walletOf({ initial_credits_to_load: '25' });
    const done = await ok(`/wallets/${wallet.id}/terminate`);
    expect(done).toMatchObject({
      wallet_status: 'closed',
      balance: '0',
      message: 'wallet terminated successfully',
    });
    const [row] = await rowsOf(wallet);
    expect(row).toMatchObject({ transaction_reason: 'WALLET_TERMINATION', credit_amount: '25' });
    expect((await api.post(`/v1/wallets/${wallet.id}/terminate`)).status).toBe(400);
    const body = { credits_to_add: '5', transaction_reason: 'FREE_CREDIT_GRANT' };
    expect((await api.post(`/v1/wallets/${wallet.id}/top-up`, body)).status).toBe(400);
    const own = await api.get(`/v1/customers/${wallet.customer_id}/wallets`);
    expect(own.body).toEqual([]);
  });

  test.each([
    ['termination', 'terminate', {}],
    ['conversion', 'modify', { modification_type: 'prepaid_to_postpaid' }],
  ])('%s switches the automatic top-up off (money 2.12)', async (_, end, body) => {
    const auto_topup = { enabled: true, threshold: 5, amount: 20, invoicing: false };
    const wallet = await walletOf({ auto_topup });
    await api.postOk(`/v1/wallets/${wallet.id}/${end}`, body);
    const { body: ended } = await api.get(`/v1/wallets/${wallet.id}`);
    expect([ended.wallet_status, ended.auto_topup]).toEqual([
      'closed',
      { ...auto_topup, enabled: false, cooldown: null },
    ]);
  });

  test('a closed wallet is described anew; what it may pay does not change (money 2.12)', async () => {
    const wallet = await walletOf({ initial_credits_to_load: '25' });
    const before = await ok(`/wallets/${wallet.id}/terminate`);
    const text = { name: 'Old', description: 'Closed in May', metadata: { why: 'moved' } };
    const same = { config: { allowed_price_types: before.config.allowed_price_types } };
    const put = (body: object) => api.put(`/v1/wallets/${wallet.id}`, body);
    const described = await put({ ...text, ...same });
    expect(described.status).toBe(200);
    const { message: _, updated_at: __, ...rest } = before;
    expect(described.body).toMatchObject({ ...rest, ...text });
    const refused = await put({ name: 'New', config: { allowed_price_types: ['FIXED'] } });
    expect([refused.status, refused.body.details[0].path]).toEqual([
      400,
      'config.allowed_price_types',
    ]);
    const { body: read } = await api.get(`/v1/wallets/${wallet.id}`);
    expect(read).toMatchObject({ ...text, config: before.config, credit_balance: '0' });
  });

  test('200: a prepaid wallet becomes postpaid; its blocks keep reason, priority and expiry', async () => {
    const wallet = await walletOf({ conversion_rate: '2' });
    await topUp(wallet, '10', { priority: 3, expiry_date_utc: '2099-01-01T00:00:00Z' });
    await topUp(wallet, '5', { transaction_reason: 'PURCHASED_CREDIT_DIRECT' });
    const done = await ok(`/wallets/${wallet.id}/modify`, {
      modification_type: 'prepaid_to_postpaid',
    });
    expect(done.original_wallet).toMatchObject({ wallet_status: 'closed', balance: '0' });
    expect(done.new_wallet).toMatchObject({
      wallet_type: 'POST_PAID',
      credit_balance: '15',
      balance: '30',
    });
    const rows = await rowsOf(done.new_wallet, {
      sort: [{ field: 'credit_amount', direction: 'desc' }],
    });
    expect(rows).toMatchObject([
      {
        transaction_reason: 'FREE_CREDIT_GRANT',
        priority: 3,
        expiry_date: '2099-01-01T00:00:00.000Z',
      },
      { transaction_reason: 'PURCHASED_CREDIT_DIRECT', priority: null, expiry_date: null },
    ]);
    const again = await api.post(`/v1/wallets/${done.new_wallet.id}/modify`, {
      modification_type: 'prepaid_to_postpaid',
    });
    expect(again.status).toBe(400);
  });
});

describe('credits of other commands', () => {
  test('one wallet is made however many commands credit at once, and a key credits once', async () => {
    const customer = await catalog.customer();
    const give = (key: string | null) =>
      api.pool.begin((tx) =>
        creditPrepaidWallet(tx, api.deps, api, {
          customer_id: customer.id,
          currency: 'USD',
          amount: '2.5',
          reason: 'CREDIT_NOTE',
          wallet_name: 'Credits',
          reference_type: 'EXTERNAL',
          reference_id: 'cn_1',
          idempotency_key: key,
        }),
      );
    await Promise.all(Array.from({ length: 8 }, () => give(null)));
    await give('cn');
    await give('cn');
    const { body } = await api.get(`/v1/customers/${customer.id}/wallets`);
    expect(body).toMatchObject([{ name: 'Credits', balance: '22.5' }]);
  });

  test('the ledger is appended to: the database refuses to change or delete a row', async () => {
    const wallet = await walletOf({ initial_credits_to_load: '5' });
    const [row] = await rowsOf(wallet);
    await expect(api.pool`update wallet_transactions set amount = 9 where id = ${row.id}`).rejects.toThrow('appended to');
    await expect(api.pool`delete from wallet_transactions where id = ${row.id}`).rejects.toThrow('appended to');
    await expect(api.pool`update wallets set credit_balance = 9 where id = ${wallet.id}`).rejects.toThrow('wallets_credit_balance_check');
  }); // prettier-ignore

  test('every column of the ledger is kept, except the credits that are left', async () => {
    const columns = await api.pool<{ name: string }[]>`
      select attname as name from pg_attribute
       where attrelid = 'wallet_transactions'::regclass and attnum > 0 and not attisdropped`;
    const [trigger] = await api.pool<{ text: string }[]>`
      select pg_get_triggerdef(oid) as text from pg_trigger
       where tgrelid = 'wallet_transactions'::regclass and tgname = 'keep_changed_wallet_transaction'`;
    const free = columns.map(({ name }) => name).filter((name) => !new RegExp(`\\bold\\.${name}\\b`).test(trigger!.text)); // prettier-ignore
    expect(free).toEqual(['credits_available', 'updated_at', 'updated_by', 'holds_credits']);
  });

  test('a block that is used up holds no credits until it gets some back; its changes are not audited', async () => {
    const wallet = await walletOf({ initial_credits_to_load: '5' });
    const [row] = await rowsOf(wallet);
    const states: boolean[] = [];
    for (const credits of [5, 1, 0, 0, 5]) {
      await api.pool`update wallet_transactions set credits_available = ${credits} where id = ${row.id}`;
      const [block] = await api.pool<{ holds_credits: boolean }[]>`
        select holds_credits from wallet_transactions where id = ${row.id}`;
      states.push(block!.holds_credits);
    }
    expect(states).toEqual([true, true, false, false, true]);
    const changes =
      await api.pool`select from audit_log where entity_id = ${row.id} and action = 'updated'`;
    expect(changes.count).toBe(0);
  });
});
