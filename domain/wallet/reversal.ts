import assert from 'node:assert/strict';
import { epochMs, isoText } from '../time/instant.ts';
import { Decimal, decimal, decimalText, roundToStorage } from '../money.ts';
import { moveTransaction } from '../states/wallet-transaction.ts';
import { moveWallet } from '../states/wallet.ts';
import { availableAfterOverdraft, type CreditBlock } from './credit-block.ts';
import type { WalletTransaction } from './transaction.ts';
import {
  completedCredit,
  overdraft,
  withCreditBalance,
  type Wallet,
  type WalletDecision,
} from './wallet.ts';

/** Lifetime of credits that are returned after their block has expired (money 9.11). */
export const RETURNED_CREDITS_DAYS = 30;

/**
 * Undoes a debit that its blocks covered: returns exactly its credits to exactly the blocks they came from. Writes one
 * INVOICE_VOID_REFUND row per block, with the block as parent (money 2.6.6, 9.11). The amounts of the rows add up to
 * that of the debit, which credits times the rate may miss by a rounding (2.2.6). A block that has expired by `at`
 * stays expired; its credits become a new block with the same priority that expires 30 days later.
 *
 * `open` holds the blocks with credits left. `consumed` holds the blocks that the debit's breakdown names
 * (a spent block has no credits left). The credits fill an overdraft first, as every credit does.
 */
export function reverseDebit(
  wallet: Wallet,
  blocks: { readonly open: readonly CreditBlock[]; readonly consumed: readonly CreditBlock[] },
  debit: Pick<
    WalletTransaction,
    'id' | 'wallet_id' | 'type' | 'transaction_status' | 'amount' | 'consumption_breakdown'
  >,
  nextRow: () => string,
  at: string,
): WalletDecision {
  assert(debit.type === 'debit' && debit.wallet_id === wallet.id, 'not a debit of this wallet');
  moveWallet(wallet.wallet_status, 'credit');
  moveTransaction(debit.transaction_status, 'reverse');
  let current = wallet;
  let owed = overdraft(wallet, blocks.open);
  const rows: WalletTransaction[] = [];
  const restored = new Map<string, CreditBlock>();
  let left = decimal(debit.amount);

  for (const [index, taken] of debit.consumption_breakdown.entries()) {
    const { credit_transaction_id: blockId, credits } = taken;
    const block = restored.get(blockId) ?? blocks.consumed.find(({ id }) => id === blockId);
    assert(block, `the breakdown of ${debit.id} names ${blockId}, which was not read`);
    const amount = decimal(credits);
    const isLast = index === debit.consumption_breakdown.length - 1;
    const atRate = roundToStorage(amount.times(decimal(wallet.conversion_rate)));
    const money = isLast ? left : Decimal.min(atRate, left);
    left = left.minus(money);
    const isDead = hasExpired(block, at);
    const expiry_date = expiryOfReturned(block, at);
    const row = returnedRow(current, owed, block, {
      ...{ id: nextRow(), expiry_date },
      ...{ credits: amount, amount: money },
    });
    const returned = availableAfterOverdraft(owed, amount);
    const target: CreditBlock = isDead
      ? {
          ...block,
          id: row.id,
          expiry_date: row.expiry_date,
          created_at: at,
          credits_available: '0',
        }
      : block;
    restored.set(target.id, {
      ...target,
      transaction_reason: isDead ? 'INVOICE_VOID_REFUND' : block.transaction_reason,
      credits_available: decimalText(decimal(target.credits_available).plus(returned)),
    });
    // When the block has not expired, the block counts these credits; the row must not count them again.
    rows.push(isDead ? row : { ...row, credits_available: '0' });
    owed = owed.minus(amount.minus(returned));
    current = withCreditBalance(current, decimal(row.credit_balance_after));
  }
  return { wallet: current, rows, blocks: [...restored.values()] };
}

const returnedRow = (
  wallet: Wallet,
  owed: Decimal,
  block: CreditBlock,
  row: {
    readonly id: string;
    readonly credits: Decimal;
    readonly amount: Decimal;
    readonly expiry_date: string | null;
  },
): WalletTransaction =>
  completedCredit(wallet, owed, {
    ...row,
    transaction_reason: 'INVOICE_VOID_REFUND',
    priority: block.priority,
    parent_transaction_id: block.id,
  });

const hasExpired = ({ expiry_date }: Pick<CreditBlock, 'expiry_date'>, at: string): boolean =>
  expiry_date !== null && epochMs(expiry_date) <= epochMs(at);

/** When credits of the block expire that are returned at `at`: with the block, or 30 days later if it has expired. */
export const expiryOfReturned = (
  block: Pick<CreditBlock, 'expiry_date'>,
  at: string,
): string | null =>
  hasExpired(block, at) ? daysLater(at, RETURNED_CREDITS_DAYS) : block.expiry_date;

/** Days of 24 hours: the credits are goodwill, not tied to a calendar date. */
const daysLater = (at: string, days: number): string =>
  isoText(epochMs(at) + days * 24 * 60 * 60 * 1000);
