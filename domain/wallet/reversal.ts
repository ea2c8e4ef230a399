import assert from 'node:assert/strict';
import { epochMs, isoText } from '../time/instant.ts';
import { decimal, decimalText, roundToStorage, type Decimal } from '../money.ts';
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

/** Credits that come back after their block has expired live this much longer (money 9.11). */
export const RETURNED_CREDITS_DAYS = 30;

/**
 * Undoes a debit: exactly its credits go back to exactly the blocks they came from, as one
 * INVOICE_VOID_REFUND row for each block, with the block as parent (money 2.6.6, 9.11). No
 * rate is involved. A block that has expired by `at` stays dead; what it gave becomes a block of its
 * own with the same priority that expires 30 days later.
 *
 * `open` are the blocks that have credits left, `consumed` those that the debit's breakdown names (a
 * spent one has none left). An overdraft is filled first, as by every credit.
 */
export function reverseDebit(
  wallet: Wallet,
  blocks: { readonly open: readonly CreditBlock[]; readonly consumed: readonly CreditBlock[] },
  debit: Pick<WalletTransaction, 'id' | 'wallet_id' | 'type' | 'consumption_breakdown'>,
  nextRow: () => string,
  at: string,
): WalletDecision {
  assert(debit.type === 'debit' && debit.wallet_id === wallet.id, 'not a debit of this wallet');
  moveWallet(wallet.wallet_status, 'credit');
  let current = wallet;
  let owed = overdraft(wallet, blocks.open);
  const rows: WalletTransaction[] = [];
  const restored = new Map<string, CreditBlock>();

  for (const { credit_transaction_id: blockId, credits } of debit.consumption_breakdown) {
    const block = restored.get(blockId) ?? blocks.consumed.find(({ id }) => id === blockId);
    assert(block, `the breakdown of ${debit.id} names ${blockId}, which was not read`);
    const amount = decimal(credits);
    const isDead = block.expiry_date !== null && epochMs(block.expiry_date) <= epochMs(at);
    const row = returnedRow(current, owed, block, amount, {
      id: nextRow(),
      expiry_date: isDead ? daysLater(at, RETURNED_CREDITS_DAYS) : block.expiry_date,
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
    // The credits of a living block are counted there and not in the row a second time.
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
  credits: Decimal,
  row: { readonly id: string; readonly expiry_date: string | null },
): WalletTransaction =>
  completedCredit(wallet, owed, {
    id: row.id,
    credits,
    amount: roundToStorage(credits.times(decimal(wallet.conversion_rate))),
    transaction_reason: 'INVOICE_VOID_REFUND',
    priority: block.priority,
    expiry_date: row.expiry_date,
    parent_transaction_id: block.id,
  });

/** Days of 24 hours: the credits are the company's gift, no date of a calendar. */
const daysLater = (at: string, days: number): string =>
  isoText(epochMs(at) + days * 24 * 60 * 60 * 1000);
