import assert from 'node:assert/strict';
import { BillingError } from '../errors.ts';
import { Decimal, decimal, decimalText, roundToStorage, sum, ZERO } from '../money.ts';
import { moveTransaction } from '../states/wallet-transaction.ts';
import { moveWallet } from '../states/wallet.ts';
import { availableAfterOverdraft, takeInOrder, type CreditBlock } from './credit-block.ts';
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

/** A block of a purchase or of its bonus. */
export interface BoughtBlock {
  readonly block: CreditBlock;
  /** Credits that the purchase added. */
  readonly credit_amount: string;
  /** Credits that refunds have taken back. */
  readonly recalled: Decimal;
}

/**
 * Takes back the remaining credits of a voided invoice, before the money is refunded (money 9.16). 409 if some of
 * them are spent.
 */
export function recallPurchase(
  wallet: Wallet,
  bought: readonly BoughtBlock[],
  rowId: string,
): WalletDecision {
  moveWallet(wallet.wallet_status, 'debit');
  const isSpent = bought.some(
    ({ block, credit_amount, recalled }) =>
      !decimal(block.credits_available).plus(recalled).eq(decimal(credit_amount)),
  );
  if (isSpent) throw creditsSpent();
  return recall(
    wallet,
    bought.map(({ block }) => ({ block, credits: decimal(block.credits_available) })),
    rowId,
  );
}

/** How much of the price of a purchase its refunds have returned, with the current one; amounts in one currency. */
export interface RefundedPrice {
  readonly refunded: Decimal;
  /** What was paid for the credits, above 0. */
  readonly price: Decimal;
}

/**
 * Credits of a block that a refund takes back: the refunded share of those that were bought, less those that earlier
 * refunds took back (money 9.16).
 */
export function creditsOfRefund(
  { credit_amount, recalled }: Pick<BoughtBlock, 'credit_amount' | 'recalled'>,
  { refunded, price }: RefundedPrice,
): Decimal {
  assert(price.gt(0), 'credits without a price');
  const bought = decimal(credit_amount);
  const share = refunded.gte(price) ? bought : roundToStorage(bought.times(refunded).div(price));
  return Decimal.max(share.minus(recalled), ZERO);
}

/**
 * Takes back the credits of a refund, of the purchase and of its bonus alike, before the money is returned (money
 * 9.16). 409 if fewer of them are unspent.
 */
export function recallRefunded(
  wallet: Wallet,
  bought: readonly BoughtBlock[],
  rowId: string,
  returned: RefundedPrice,
): WalletDecision {
  moveWallet(wallet.wallet_status, 'debit');
  const parts = bought.map((of) => ({ block: of.block, credits: creditsOfRefund(of, returned) }));
  if (parts.some(({ block, credits }) => credits.gt(decimal(block.credits_available))))
    throw creditsSpent();
  return recall(wallet, parts, rowId);
}

/**
 * Takes back the credits of a refund that was made at the gateway or of a dispute: as many as are unspent, because
 * that money is gone and nothing can be refused (money 9.16). The wallet may be frozen, but not closed.
 */
export function recallUnspent(
  wallet: Wallet,
  bought: readonly BoughtBlock[],
  rowId: string,
  returned: RefundedPrice,
): WalletDecision {
  assert(wallet.wallet_status !== 'closed', 'credits of a closed wallet');
  const parts = bought.map((of) => ({
    block: of.block,
    credits: Decimal.min(creditsOfRefund(of, returned), decimal(of.block.credits_available)),
  }));
  return recall(wallet, parts, rowId);
}

function recall(
  wallet: Wallet,
  parts: readonly { readonly block: CreditBlock; readonly credits: Decimal }[],
  rowId: string,
): WalletDecision {
  const credits = sum(parts.map((part) => part.credits));
  if (credits.isZero()) return { wallet, rows: [], blocks: [] };
  const taken = parts.map((part) => takeInOrder([part.block], part.credits));
  const before = decimal(wallet.credit_balance);
  const after = before.minus(credits);
  const row = debitRow(
    wallet,
    { id: rowId, credits, transaction_reason: 'CREDIT_ADJUSTMENT' },
    { before, after },
    taken.flatMap(({ breakdown }) => breakdown),
  );
  const blocks = taken.flatMap((of) => of.blocks);
  return { wallet: withCreditBalance(wallet, after), rows: [row], blocks };
}

/**
 * Refuses to take back credits of a closed wallet unless the end of the wallet took them: those that were spent
 * before, and those that continue in another wallet, are not given up (money 9.16). `taken` is what the end took of
 * each block.
 */
export function assertGivenUp(
  wanted: readonly { readonly id: string; readonly credits: Decimal }[],
  taken: readonly { readonly credit_transaction_id: string; readonly credits: string }[],
): void {
  const creditsOf = new Map(
    taken.map(({ credit_transaction_id, credits }) => [credit_transaction_id, decimal(credits)]),
  );
  if (!wanted.every(({ id, credits }) => credits.lte(creditsOf.get(id) ?? ZERO)))
    throw creditsSpent();
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
  const message =
    'Credits of this purchase have been spent. Refund at most the price of those that are left.';
  return new BillingError('conflict', 'credits_spent', message, [
    { path: 'wallet_transaction', code: 'credits_spent', message },
  ]);
}
