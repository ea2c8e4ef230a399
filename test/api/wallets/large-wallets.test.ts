import { evaluateWallet } from '../../../api/billing/balances/evaluate-wallet.ts';
import { realTimeBalances } from '../../../api/billing/balances/real-time-balance.ts';
import { getWallet } from '../../../api/billing/credits/wallet-repository.ts';
import { applyCreditGrants } from '../../../jobs/apply-credit-grants.ts';
import { expireCredits } from '../../../jobs/expire-credits.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';
import { runAtNow } from '../../support/job-run.ts';
import { countingPool } from '../../support/counting-pool.ts';
import { countSteps } from '../../support/steps.ts';

/** Copies of a block are made below the API because thousands of top-ups take minutes. */
const BLOCKS = 1_600;
/**
 * From 90 to 320 are counted, because what else the process does meanwhile counts too. A job that looks at each block
 * for each of them takes more than 3,200.
 */
const STEPS_OF_BLOCK = 1_000;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/** A wallet of blocks of one credit each, which expire in a day. */
async function walletOfMany(): Promise<{ id: string }> {
  const customer = await catalogOf(api).customer();
  const wallet = await api.postOk('/v1/wallets', { customer_id: customer.id, currency: 'usd' });
  const { wallet_transaction: first } = await api.postOk(`/v1/wallets/${wallet.id}/top-up`, {
    credits_to_add: '1',
    transaction_reason: 'FREE_CREDIT_GRANT',
    expiry_date_utc: new Date(api.clock.now() + 86_400_000).toISOString(),
  });
  await api.pool`
    insert into wallet_transactions overriding user value
    select (jsonb_populate_record(t, jsonb_build_object(
             'id', t.id || lpad(n::text, 6, '0'), 'created_at', t.created_at + n * interval '1 microsecond',
             'credit_balance_before', n - 1, 'credit_balance_after', n))).*
      from wallet_transactions t, generate_series(2, ${BLOCKS}::integer) n
     where t.id = ${first.id}`;
  await api.pool`
    update wallets set credit_balance = ${BLOCKS}, balance = ${BLOCKS}, credits_in_blocks = ${BLOCKS}
     where id = ${wallet.id}`;
  return wallet;
}

describe('a wallet of many blocks', () => {
  test('shows all of them', async () => {
    const { id } = await walletOfMany();
    expect((await api.get(`/v1/wallets/${id}/balance/real-time`)).body).toMatchObject({
      ...{ id, name: 'Prepaid Wallet - USD', currency: 'usd' },
      ...{ balance: `${BLOCKS}`, real_time_balance: `${BLOCKS}` },
    });
  });

  test('its real-time balance and its alerts read none of the blocks that have not expired', async () => {
    const { id } = await walletOfMany();
    const level = { threshold: `${BLOCKS}`, condition: 'below' };
    const alert_settings = { alert_enabled: true, critical: level };
    const auto_topup = { enabled: true, threshold: '1', amount: '5', invoicing: false };
    await api.pool`
      update wallets set alert_settings = ${api.pool.json(alert_settings)},
                         auto_topup = ${api.pool.json(auto_topup)}
       where id = ${id}`;
    const { pool, rows } = countingPool(api.pool);
    const deps = { ...api.deps, pool };
    await evaluateWallet(deps, { scope: api.scope, user_id: '' }, id);
    const { items } = await api.postOk('/v1/alerts/search', { entity_id: id });
    expect(items).toMatchObject([{ alert_status: 'in_alarm' }, { alert_status: 'in_alarm' }]);
    expect(rows()).toBeLessThan(100);
    const wallet = await getWallet(pool, api.scope, id);
    const balance = (await realTimeBalances(deps, api.scope, [wallet], null)).get(id)!;
    expect(balance).toMatchObject({ real_time_credit_balance: `${BLOCKS}` });
    expect(rows()).toBeLessThan(100);
  });

  test('the credits of a grant are added without its blocks', async () => {
    const { id } = await walletOfMany();
    const catalog = catalogOf(api);
    const { customer_id } = (await api.get(`/v1/wallets/${id}`)).body;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '1');
    const grant = {
      ...{ name: 'Daily', scope: 'SUBSCRIPTION', credits: '2', expiration_type: 'NEVER' },
      ...{ cadence: 'RECURRING', period: 'DAILY', period_count: 1 },
    };
    await catalog.subscribe({ id: customer_id }, plan, { credit_grants: [grant] });
    api.clock.advance(86_400_000);
    const { pool, rows } = countingPool(api.pool);
    await runAtNow(api, applyCreditGrants, { ...api.deps, pool });
    expect((await api.get(`/v1/wallets/${id}`)).body.credit_balance).toBe(`${BLOCKS + 4}`);
    expect(rows()).toBeLessThan(100);
  });

  test('its expired blocks are not in the real-time balance', async () => {
    const { id } = await walletOfMany();
    api.clock.advance(86_400_000);
    expect((await api.get(`/v1/wallets/${id}/balance/real-time`)).body).toMatchObject({
      ...{ credit_balance: `${BLOCKS}`, real_time_credit_balance: '0' },
    });
  });

  test('expires in steps that grow as the blocks do', async () => {
    const { id } = await walletOfMany();
    api.clock.advance(86_400_000);
    const steps = await countSteps(() => runAtNow(api, expireCredits, api.deps));
    expect((await api.get(`/v1/wallets/${id}`)).body).toMatchObject({ credit_balance: '0' });
    const { items, pagination } = await api.postOk('/v1/wallets/transactions/search', {
      id,
      transaction_reason: 'CREDIT_EXPIRED',
      limit: 1_000,
    });
    expect(pagination.total).toBe(BLOCKS);
    expect(items[0]).toMatchObject({ credit_balance_before: '1', credit_balance_after: '0' });
    expect(new Set(items.map((row: any) => row.source_id)).size).toBe(items.length);
    expect(steps).toBeLessThan(STEPS_OF_BLOCK * BLOCKS);
  });
});
