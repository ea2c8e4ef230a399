import assert from 'node:assert/strict';
import { BillingError } from '../errors.ts';
import { decimal, decimalText, roundToStorage, type Decimal } from '../money.ts';
import { moveTransaction } from '../states/wallet-transaction.ts';
import { moveWallet } from '../states/wallet.ts';
import {
  availableAfterOverdraft,
  availableCredits,
  takeInOrder,
  type CreditBlock,
} from './credit-block.ts';
import type { CreditReason, WalletTransaction } from './transaction.ts';
import {
  blockOf,
  creditRow,
  debitRow,
  overdraft,
  withCreditBalance,
  type CreditCommand,
  type Wallet,
  type WalletDecision,
} from './wallet.ts';

/**
 * Rows of a purchase and its bonus, in this order, because the purchase fills an overdraft first
 * (money 2.4.3).
 */
export function requestPurchase(
  wallet: Wallet,
  commands: readonly CreditCommand[],
): WalletTransaction[] {
  moveWallet(wallet.wallet_status, 'credit');
  return commands.map((command) => creditRow(wallet, command));
}

/**
 * Completes the pending rows of a purchase (money 2.11.6): sets balances before and after from the
 * wallet's current balance and makes the credits available. The expiry of a bonus counts from this
 * moment, so the caller sets `expiry_date` on the row first (2.11.10). A completed row is left unchanged.
 * Refuses a failed row and a closed wallet: that money is refunded (2.11.9).
 */
export function completePurchase(
  wallet: Wallet,
  blocks: readonly CreditBlock[],
  pending: readonly WalletTransaction[],
  at: string,
): WalletDecision {
  moveWallet(wallet.wallet_status, 'credit');
  let current = wallet;
  let owed = overdraft(wallet, blocks);
  const rows: WalletTransaction[] = [];
  const opened: CreditBlock[] = [];
  for (const row of pending) {
    assert(row.type === 'credit' && row.wallet_id === wallet.id, 'not a credit of this wallet');
    const transaction_status = moveTransaction(row.transaction_status, 'complete');
    if (row.transaction_status === 'completed') continue;
    const credits = decimal(row.credit_amount);
    const after = decimal(current.credit_balance).plus(credits);
    const available = availableAfterOverdraft(owed, credits);
    const completed: WalletTransaction = {
      ...row,
      transaction_status,
      credit_balance_before: current.credit_balance,
      credit_balance_after: decimalText(after),
      credits_available: decimalText(available),
    };
    rows.push(completed);
    opened.push(blockOf(completed, row.transaction_reason as CreditReason, at));
    owed = owed.minus(credits.minus(available));
    current = withCreditBalance(current, after);
  }
  return { wallet: current, rows, blocks: opened };
}

/** Fails all pending rows together, when their checkout or invoice ends unpaid (money 2.11.8). */
export const failPurchase = (pending: readonly WalletTransaction[]): WalletTransaction[] =>
  pending.map((row) => ({
    ...row,
    transaction_status: moveTransaction(row.transaction_status, 'fail'),
  }));

/**
 * Takes back the remaining credits of a voided invoice, before the money is refunded (money 9.16).
 * `bought` holds the blocks of the purchase and its bonus, with the credits that each added. When some
 * credits are already spent, it refuses with 409 unless the caller forces it.
 */
export function recallPurchase(
  wallet: Wallet,
  bought: readonly { readonly block: CreditBlock; readonly credit_amount: string }[],
  rowId: string,
  force: boolean,
): WalletDecision {
  moveWallet(wallet.wallet_status, 'debit');
  const isSpent = bought.some(
    ({ block, credit_amount }) => !decimal(block.credits_available).eq(decimal(credit_amount)),
  );
  if (isSpent && !force) throw creditsSpent();
  const blocks = bought.map(({ block }) => block);
  const credits = availableCredits(blocks);
  if (credits.isZero()) return { wallet, rows: [], blocks: [] };

  const taken = takeInOrder(blocks, credits);
  const before = decimal(wallet.credit_balance);
  const after = before.minus(credits);
  const row = debitRow(
    wallet,
    { id: rowId, credits, transaction_reason: 'CREDIT_ADJUSTMENT' },
    { before, after },
    taken.breakdown,
  );
  return { wallet: withCreditBalance(wallet, after), rows: [row], blocks: taken.blocks };
}

/**
 * Refuses to void the purchase of a closed wallet unless the end of the wallet took all of its credits: those that were
 * spent before, and those that continue in another wallet, are not given up (money 9.16). `taken` is what the end took
 * of each block.
 */
export function assertGivenUp(
  bought: readonly { readonly id: string; readonly credit_amount: string }[],
  taken: readonly { readonly credit_transaction_id: string; readonly credits: string }[],
): void {
  const isGivenUp = bought.every(({ id, credit_amount }) =>
    taken.some(
      ({ credit_transaction_id, credits }) =>
        credit_transaction_id === id && decimal(credits).eq(decimal(credit_amount)),
    ),
  );
  if (!isGivenUp) throw creditsSpent();
}

/** One step of `bonus_credits_topup_config`; decimals as text. */
export interface BonusSlab {
  readonly threshold: string;
  readonly bonus: { readonly type: 'flat' | 'percentage'; readonly value: string };
}

/**
 * Credits given in addition to purchased ones: an explicit bonus, else the bonus of the highest slab reached,
 * else none (money 2.11.10). A percentage applies to the purchased credits.
 */
export function bonusCredits(
  bought: Decimal,
  slabs: readonly BonusSlab[],
  explicit: Decimal | null = null,
): { readonly credits: Decimal; readonly threshold: string | null } {
  if (explicit !== null) return { credits: explicit, threshold: null };
  const slab = [...slabs]
    .sort((left, right) => decimal(right.threshold).comparedTo(decimal(left.threshold)))
    .find((candidate) => bought.gte(decimal(candidate.threshold)));
  if (slab === undefined) return { credits: decimal('0'), threshold: null };
  const value = decimal(slab.bonus.value);
  return {
    credits: slab.bonus.type === 'flat' ? value : roundToStorage(bought.times(value).div(100)),
    threshold: slab.threshold,
  };
}

function creditsSpent(): BillingError {
  const message = 'Credits of this purchase have been spent.';
  return new BillingError('conflict', 'credits_spent', message, [
    { path: 'wallet_transaction', code: 'credits_spent', message },
  ]);
}
