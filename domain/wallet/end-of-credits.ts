import { BillingError } from '../errors.ts';
import { epochMs } from '../time/instant.ts';
import { decimal } from '../money.ts';
import { moveWallet } from '../states/wallet.ts';
import { availableCredits, HOLD_LIMIT_MS, takeInOrder, type CreditBlock } from './credit-block.ts';
import {
  completedCredit,
  debitRow,
  overdraft,
  withCreditBalance,
  type Wallet,
  type WalletDecision,
} from './wallet.ts';

/** A subscription period with usage that may still need credits. */
export interface OpenPeriod {
  readonly period_end: string;
  /** The period is rolled and its invoice is no longer a draft. */
  readonly is_invoiced: boolean;
}

/**
 * Whether an expired block is held for the invoice of a period that ended before the block expired, at most
 * 72 hours (money 2.7.4).
 */
export function isHeld(block: CreditBlock, periods: readonly OpenPeriod[], at: string): boolean {
  if (block.expiry_date === null) return false;
  const expiry = epochMs(block.expiry_date);
  const now = epochMs(at);
  if (now < expiry || now >= expiry + HOLD_LIMIT_MS) return false;
  return periods.some((period) => !period.is_invoiced && epochMs(period.period_end) <= expiry);
}

/** Whether the sweep writes the block off: expired, credits left, and not held (money 2.7). */
export const isDueToExpire = (
  block: CreditBlock,
  periods: readonly OpenPeriod[],
  at: string,
): boolean =>
  block.expiry_date !== null &&
  epochMs(block.expiry_date) <= epochMs(at) &&
  decimal(block.credits_available).gt(0) &&
  !isHeld(block, periods, at);

/**
 * Writes off the remaining credits of blocks with credits left, one row for each in the given order, for a wallet of
 * any status (money 2.7.2, 2.5 step 8).
 */
export function expireBlocks(
  wallet: Wallet,
  blocks: readonly CreditBlock[],
  nextRow: () => string,
): WalletDecision {
  let before = decimal(wallet.credit_balance);
  const rows = blocks.map((block) => {
    const credits = decimal(block.credits_available);
    const after = before.minus(credits);
    const row = debitRow(
      wallet,
      {
        id: nextRow(),
        credits,
        transaction_reason: 'CREDIT_EXPIRED',
        parent_transaction_id: block.id,
      },
      { before, after },
      takeInOrder([block], credits).breakdown,
    );
    before = after;
    return row;
  });
  const empty = blocks.map((block) => ({ ...block, credits_available: '0' }));
  return { wallet: withCreditBalance(wallet, before), rows, blocks: empty };
}

/**
 * Closes the wallet and writes off the credits of its blocks, including expired ones (money 2.12.1). An
 * overdraft stays on record as a negative balance. The caller fails pending purchases and switches auto
 * top-up off. Refuses a closed wallet, and a wallet with an open checkout (2.12.2).
 */
export function terminateWallet(
  wallet: Wallet,
  blocks: readonly CreditBlock[],
  rowId: string,
  hasOpenCheckout: boolean,
): WalletDecision {
  const wallet_status = moveWallet(wallet.wallet_status, 'terminate');
  if (hasOpenCheckout) throw checkoutUnderWay();
  const credits = availableCredits(blocks);
  if (credits.isZero()) return { wallet: { ...wallet, wallet_status }, rows: [], blocks: [] };

  const taken = takeInOrder(blocks, credits);
  const before = decimal(wallet.credit_balance);
  const after = before.minus(credits);
  const row = debitRow(
    wallet,
    { id: rowId, credits, transaction_reason: 'WALLET_TERMINATION' },
    { before, after },
    taken.breakdown,
  );
  return {
    wallet: { ...withCreditBalance(wallet, after), wallet_status },
    rows: [row],
    blocks: taken.blocks,
  };
}

export interface Conversion {
  readonly closed: WalletDecision;
  readonly opened: WalletDecision;
}

/**
 * Turns a PRE_PAID wallet into a POST_PAID wallet. The old wallet is closed. The new one has the same rates
 * and the same blocks: each keeps its reason, priority and expiry, and its old row becomes its parent
 * (money 2.12.3). Refuses a wallet of another type, one that is not active, one with an open checkout (2.12.2), and an
 * overdrawn one: a debt cannot be carried over as credit.
 */
export function convertToPostpaid(
  wallet: Wallet,
  blocks: readonly CreditBlock[],
  ids: { readonly wallet: string; readonly nextRow: () => string },
  hasOpenCheckout: boolean,
): Conversion {
  const wallet_status = moveWallet(wallet.wallet_status, 'convert');
  if (wallet.wallet_type !== 'PRE_PAID') {
    throw refusal('wallet_not_prepaid', 'Only a PRE_PAID wallet can be converted.');
  }
  if (overdraft(wallet, blocks).gt(0)) {
    throw refusal('wallet_overdrawn', 'The wallet is overdrawn; settle it before converting it.');
  }
  const terminated = terminateWallet(wallet, blocks, ids.nextRow(), hasOpenCheckout);
  let opened: Wallet = withCreditBalance(
    { ...wallet, id: ids.wallet, wallet_type: 'POST_PAID' },
    decimal('0'),
  );
  const rows = [];
  const copies: CreditBlock[] = [];
  for (const block of blocks) {
    if (decimal(block.credits_available).isZero()) continue;
    const row = completedCredit(opened, decimal('0'), {
      id: ids.nextRow(),
      credits: decimal(block.credits_available),
      transaction_reason: block.transaction_reason,
      priority: block.priority,
      expiry_date: block.expiry_date,
      parent_transaction_id: block.id,
    });
    rows.push(row);
    copies.push({ ...block, id: row.id });
    opened = withCreditBalance(opened, decimal(row.credit_balance_after));
  }
  return {
    closed: { ...terminated, wallet: { ...terminated.wallet, wallet_status } },
    opened: { wallet: opened, rows, blocks: copies },
  };
}

function checkoutUnderWay(): BillingError {
  const message = 'A checkout of the wallet is under way; cancel it or wait for it.';
  return new BillingError('conflict', 'checkout_in_progress', message, [
    { path: 'wallet_status', code: 'checkout_in_progress', message },
  ]);
}

const refusal = (code: string, message: string): BillingError =>
  new BillingError('invalid', 'invalid_operation', message, [
    { path: 'wallet_type', code, message },
  ]);
