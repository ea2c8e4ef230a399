import { randomInt } from 'node:crypto';
import { auditWallets } from '../../../api/billing/credits/audit-wallets.ts';
import { decimal, decimalText } from '../../../domain/money.ts';
import type { CreditBlock } from '../../../domain/wallet/credit-block.ts';
import { creditWallet, debitWallet, type Wallet } from '../../../domain/wallet/wallet.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';

/**
 * Random commands over Postgres against the pure model, which keeps its own wallet: balance, blocks and every
 * breakdown agree after each command, a repeated key changes nothing, and the audit finds no fault.
 */
const COMMANDS = Number(
  process.env['WALLET_COMMANDS'] ?? (process.env['DEEP'] === '1' ? 5_000 : 120),
);
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test(`${COMMANDS} random commands, SEED=${SEED}`, async () => {
  const random = randomOf(SEED);
  const upTo = (max: number) => Math.floor(random() * max) + 1;
  const customer = await catalogOf(api).customer();
  const made = await api.post('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    conversion_rate: '0.3',
    topup_conversion_rate: '0.7',
  });
  const { id } = made.body;
  let model: Wallet = made.body;
  let blocks: CreditBlock[] = [];
  const keep = (decision: { wallet: Wallet; blocks: readonly CreditBlock[] }) => {
    model = decision.wallet;
    const after = new Map(blocks.map((block) => [block.id, block]));
    for (const block of decision.blocks) after.set(block.id, block);
    blocks = [...after.values()].filter(({ credits_available: left }) => left !== '0');
  };
  let last: { path: string; body: object } | null = null;
  for (let index = 0; index < COMMANDS; index += 1) {
    api.clock.advance(3_600_000);
    const at = new Date(api.clock.now()).toISOString();
    const credits = decimalText(decimal(String(upTo(3_000))).div(100));
    if (random() < 0.1 && last !== null) {
      expect((await api.post(last.path, last.body)).status).toBe(200);
    } else if (random() < 0.5) {
      const lives = random() < 0.5 ? null : new Date(api.clock.now() + upTo(96) * 3_600_000);
      const body = {
        credits_to_add: credits,
        transaction_reason: 'FREE_CREDIT_GRANT',
        idempotency_key: `random ${index}`,
        ...(random() < 0.5 ? {} : { priority: upTo(3) }),
        ...(lives === null ? {} : { expiry_date_utc: lives.toISOString() }),
      };
      last = { path: `/v1/wallets/${id}/top-up`, body };
      const { body: answer } = await api.post(last.path, body);
      const row = answer.wallet_transaction;
      const command = {
        id: row.id,
        credits: decimal(credits),
        transaction_reason: 'FREE_CREDIT_GRANT',
        priority: row.priority,
        expiry_date: row.expiry_date,
        parent_transaction_id: null,
      } as const;
      const decision = creditWallet(model, blocks, command, at);
      expect(row.credits_available).toBe(decision.rows[0]!.credits_available);
      keep(decision);
    } else {
      const body = {
        credits,
        transaction_reason: 'MANUAL_BALANCE_DEBIT',
        idempotency_key: `random ${index}`,
      } as const;
      last = { path: `/v1/wallets/${id}/debit`, body };
      await api.post(last.path, body);
      const { body: page } = await api.get(`/v1/wallets/${id}/transactions?type=debit&limit=1`);
      const row = page.items[0];
      const command = { id: row.id, credits: decimal(credits), arrears_period_end: null } as const;
      const { transaction_reason } = body;
      const decision = debitWallet(model, blocks, { ...command, transaction_reason }, at);
      expect(row.consumption_breakdown).toEqual(decision.rows[0]!.consumption_breakdown);
      keep(decision);
    }
    const { body: stored } = await api.get(`/v1/wallets/${id}`);
    expect([stored.credit_balance, stored.balance]).toEqual([model.credit_balance, model.balance]);
  }
  expect(await auditWallets(api.pool)).toEqual({ checked: 1, faulty: [] });
}, 600_000);

test('the audit finds a wallet whose blocks do not add up', async () => {
  const customer = await catalogOf(api).customer();
  const made = await api.post('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    initial_credits_to_load: '10',
  });
  await api.pool`
    update wallet_transactions set credits_available = 9 where wallet_id = ${made.body.id}`;
  const { faulty } = await auditWallets(api.pool);
  expect(faulty).toMatchObject([{ wallet_id: made.body.id }]);
  expect(faulty[0]!.faults).toHaveLength(2);
  await api.pool`
    update wallet_transactions set credits_available = 10 where wallet_id = ${made.body.id}`;
});
