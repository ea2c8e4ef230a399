import assert from 'node:assert/strict';
import { auditWallets } from '../../api/billing/credits/audit-wallets.ts';
import { debitWallet } from '../../api/billing/wallets/debit-queue.ts';
import { topUpWallet } from '../../api/billing/wallets/top-up.ts';
import { decimal, decimalText, ZERO, type Decimal } from '../../domain/money.ts';
import { availableCredits, type CreditBlock } from '../../domain/wallet/credit-block.ts';
import {
  creditWallet,
  debitWallet as decideDebit,
  withCreditBalance,
  type Wallet,
} from '../../domain/wallet/wallet.ts';
import { TopUpBody } from '../../schemas/wallet-requests.ts';
import type { Random } from '../random.ts';
import { atOnce, CALLER, type LedgerWorld } from './ledger-world.ts';

const DAY_MS = 86_400_000;
const creditsOf = (random: Random): string =>
  decimalText(decimal(String(random.integer(1, 100_000))).div(1_000));

/**
 * Random credits and debits on the pure functions, with priorities and expiries; the time advances with them. After
 * each the balance is that of an account that adds up, and the credits of the blocks less the overdraft; a debit
 * takes what it says from its blocks. Returns the seconds it took.
 */
export function runOnModel(commands: number, random: Random): number {
  const began = performance.now();
  const empty = {
    id: 'wallet_1', wallet_type: 'PRE_PAID', wallet_status: 'active', currency: 'usd',
    conversion_rate: '0.3', topup_conversion_rate: '0.7', credit_balance: '0', balance: '0',
  } as const; // prettier-ignore
  let wallet: Wallet = withCreditBalance(empty, ZERO);
  let blocks = new Map<string, CreditBlock>();
  let account: Decimal = ZERO;
  let overdrawn: Decimal = ZERO;
  for (let index = 0; index < commands; index += 1) {
    const nowMs = 1_700_000_000_000 + index * 60_000;
    const at = new Date(nowMs).toISOString();
    const credits = decimal(creditsOf(random));
    const id = `wtxn_${index}`;
    const isCredit = random.chance(0.4);
    const before = availableCredits([...blocks.values()]);
    const decision = isCredit
      ? creditWallet(wallet, [...blocks.values()], {
          id,
          credits,
          transaction_reason: 'FREE_CREDIT_GRANT',
          priority: random.chance(0.5) ? null : random.integer(0, 3),
          expiry_date: random.chance(0.3)
            ? null
            : new Date(nowMs + random.integer(1, 40) * DAY_MS).toISOString(),
          parent_transaction_id: null,
        }, at) // prettier-ignore
      : decideDebit(wallet, [...blocks.values()], {
          id,
          credits,
          transaction_reason: 'MANUAL_BALANCE_DEBIT',
          arrears_period_end: null,
        }, at); // prettier-ignore
    wallet = decision.wallet;
    for (const block of decision.blocks) blocks.set(block.id, block);
    blocks = new Map([...blocks].filter(([, block]) => block.credits_available !== '0'));
    account = isCredit ? account.plus(credits) : account.minus(credits);
    const left = availableCredits([...blocks.values()]);
    overdrawn = left.minus(account);
    assert(decimal(wallet.credit_balance).eq(account), `balance after ${id}`);
    assert(overdrawn.gte(0), `overdraft after ${id}`);
    if (!isCredit) {
      const parts = decision.rows[0]!.consumption_breakdown;
      const taken = parts.reduce((sum, part) => sum.plus(part.credits), ZERO);
      assert(before.minus(left).eq(taken) && taken.lte(credits), `breakdown of ${id}`);
    }
  }
  return (performance.now() - began) / 1000;
}

/**
 * Random debits and top-ups of the wallets on Postgres, 50 at once, a tenth of them sent again under their key.
 * Afterwards each wallet has the balance of an account that adds up, and the audit finds no fault. Returns the
 * seconds it took.
 */
export async function runOnPostgres(
  world: LedgerWorld,
  commands: number,
  random: Random,
): Promise<number> {
  const wallets = await world.makeWallets('random', 200, '1000');
  const account = new Map(wallets.map((id) => [id, decimal('1000')]));
  const seconds = await atOnce(commands, 50, async (index) => {
    const id = random.pick(wallets);
    const credits = creditsOf(random);
    const isCredit = random.chance(0.3);
    const key = `random ${index}`;
    const sign = isCredit ? 1 : -1;
    account.set(id, account.get(id)!.plus(decimal(credits).times(sign)));
    const send = async (): Promise<unknown> => {
      const deps = world.depsOf(key);
      if (!isCredit) return await debitWallet(deps, CALLER, id, debitBody(credits, key));
      const body = TopUpBody.parse({
        credits_to_add: credits,
        transaction_reason: 'FREE_CREDIT_GRANT',
        idempotency_key: key,
      });
      return await deps.pool.begin((tx) => topUpWallet(tx, deps, CALLER, id, body));
    };
    await send();
    if (random.chance(0.1)) await send();
  });
  const rows = await world.pool<{ id: string; credit_balance: string }[]>`
    select id, credit_balance from wallets where id = any(${wallets})`;
  for (const { id, credit_balance } of rows)
    assert(
      account.get(id)!.eq(credit_balance),
      `${id}: ${credit_balance}, not ${account.get(id)!.toFixed()}`,
    );
  const { checked, faulty } = await auditWallets(world.pool);
  assert(checked >= wallets.length && faulty.length === 0, JSON.stringify(faulty));
  return seconds;
}

export const debitBody = (credits: string, idempotency_key: string) =>
  ({
    credits,
    transaction_reason: 'MANUAL_BALANCE_DEBIT',
    idempotency_key,
    description: null,
    metadata: undefined,
  }) as const;
