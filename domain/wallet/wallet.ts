import type { WALLET_TYPES } from '../../schemas/words.ts';
import assert from 'node:assert/strict';
import { BillingError } from '../errors.ts';
import { decimal, decimalText, roundToStorage, type Decimal } from '../money.ts';
import { moveTransaction } from '../states/wallet-transaction.ts';
import { moveWallet, type WalletStatus } from '../states/wallet.ts';
import {
  availableAfterOverdraft,
  availableCredits,
  takeCredits,
  type CreditBlock,
} from './credit-block.ts';
import type { CreditReason, DebitReason, WalletTransaction } from './transaction.ts';

export type WalletType = (typeof WALLET_TYPES)[number];

/**
 * A wallet, read under its lock; decimals as text. `balance` is always credits × conversion rate
 * (money 2.2.4).
 */
export interface Wallet {
  readonly id: string;
  readonly wallet_type: WalletType;
  readonly wallet_status: WalletStatus;
  readonly currency: string;
  /** Price of one credit when it is spent; also the rate of every balance. */
  readonly conversion_rate: string;
  /** Price of one credit when it is bought. */
  readonly topup_conversion_rate: string;
  readonly credit_balance: string;
  readonly balance: string;
}

/** Credits to add. */
export interface CreditCommand {
  /** Id of the new row. */
  readonly id: string;
  readonly credits: Decimal;
  /**
   * Money value of the credits, when it is known more exactly than credits × rate (money 2.2.6).
   */
  readonly amount?: Decimal;
  readonly transaction_reason: CreditReason;
  readonly priority: number | null;
  readonly expiry_date: string | null;
  readonly parent_transaction_id: string | null;
}

/** Credits to take. */
export interface DebitCommand {
  readonly id: string;
  readonly credits: Decimal;
  readonly amount?: Decimal;
  readonly transaction_reason: Exclude<DebitReason, 'CREDIT_EXPIRED' | 'WALLET_TERMINATION'>;
  /** End of the period whose usage the debit settles; null for every other purpose (money 2.7.4). */
  readonly arrears_period_end: string | null;
}

/** The result of a command: write the wallet, insert the rows, update the listed blocks. */
export interface WalletDecision {
  readonly wallet: Wallet;
  readonly rows: readonly WalletTransaction[];
  readonly blocks: readonly CreditBlock[];
}

/** The wallet with a new credit balance and its money value. */
export function withCreditBalance(wallet: Wallet, credits: Decimal): Wallet {
  return {
    ...wallet,
    credit_balance: decimalText(credits),
    balance: decimalText(roundToStorage(credits.times(decimal(wallet.conversion_rate)))),
  };
}

/**
 * Credits equal in value to an amount of money in this wallet. Payments with credits, refunds and negative
 * invoices all use the conversion rate, so the value is preserved (money 10.9, 9.13). The
 * quotient keeps 18 decimals.
 */
export const creditsWorth = (wallet: Pick<Wallet, 'conversion_rate'>, amount: Decimal): Decimal =>
  roundToStorage(amount.div(decimal(wallet.conversion_rate)));

/**
 * A completed credit and its block. `blocks` holds all blocks with credits left, as for every command.
 * Refuses a closed wallet (money 2.1.2).
 */
export function creditWallet(
  wallet: Wallet,
  blocks: readonly CreditBlock[],
  command: CreditCommand,
  at: string,
): WalletDecision {
  return creditOverdrawn(wallet, overdraft(wallet, blocks), command, at);
}

/** As `creditWallet`, for a wallet whose overdraft is known. */
export function creditOverdrawn(
  wallet: Wallet,
  overdrawn: Decimal,
  command: CreditCommand,
  at: string,
): WalletDecision {
  moveWallet(wallet.wallet_status, 'credit');
  const row = completedCredit(wallet, overdrawn, command);
  return {
    wallet: withCreditBalance(wallet, decimal(row.credit_balance_after)),
    rows: [row],
    blocks: [blockOf(row, command.transaction_reason, at)],
  };
}

/**
 * A completed debit, taken from the blocks in order of use (money 2.5). Only a manual balance
 * debit may take more than is available; the wallet then goes below zero (2.4.1). Every other debit is
 * all or nothing: it refuses with `insufficient balance` and changes nothing.
 */
export function debitWallet(
  wallet: Wallet,
  blocks: readonly CreditBlock[],
  command: DebitCommand,
  at: string,
): WalletDecision {
  moveWallet(wallet.wallet_status, 'debit');
  assertPositive(command.credits);
  const taken = takeCredits(blocks, command.credits, at, command.arrears_period_end);
  if (taken.uncovered.gt(0) && !mayOverdraw(command.transaction_reason)) {
    throw insufficientBalance(command.credits, command.credits.minus(taken.uncovered));
  }
  const before = decimal(wallet.credit_balance);
  const after = before.minus(command.credits);
  const row = debitRow(wallet, command, { before, after }, taken.breakdown);
  return { wallet: withCreditBalance(wallet, after), rows: [row], blocks: taken.blocks };
}

/** The only place that decides which debits may go below zero (money 2.4.1). */
const mayOverdraw = (reason: DebitReason): boolean => reason === 'MANUAL_BALANCE_DEBIT';

/** A completed credit row on the wallet's current balance. */
export function completedCredit(
  wallet: Wallet,
  overdrawn: Decimal,
  command: CreditCommand,
): WalletTransaction {
  assertPositive(command.credits);
  const before = decimal(wallet.credit_balance);
  return {
    ...creditRow(wallet, command),
    transaction_status: moveTransaction(null, 'record'),
    credit_balance_before: decimalText(before),
    credit_balance_after: decimalText(before.plus(command.credits)),
    credits_available: decimalText(availableAfterOverdraft(overdrawn, command.credits)),
  };
}

/** A pending credit row: balances are a snapshot, no credits are available (money 2.3.3, 2.3.4). */
export function creditRow(wallet: Wallet, command: CreditCommand): WalletTransaction {
  const rate = decimal(wallet.topup_conversion_rate);
  return {
    id: command.id,
    wallet_id: wallet.id,
    type: 'credit',
    transaction_status: moveTransaction(null, 'request'),
    transaction_reason: command.transaction_reason,
    credit_amount: decimalText(command.credits),
    amount: decimalText(command.amount ?? roundToStorage(command.credits.times(rate))),
    currency: wallet.currency,
    credit_balance_before: wallet.credit_balance,
    credit_balance_after: wallet.credit_balance,
    credits_available: '0',
    conversion_rate: null,
    topup_conversion_rate: wallet.topup_conversion_rate,
    priority: command.priority,
    expiry_date: command.expiry_date,
    parent_transaction_id: command.parent_transaction_id,
    consumption_breakdown: [],
  };
}

/** The block of a completed credit row. */
export const blockOf = (
  row: WalletTransaction,
  reason: CreditReason,
  createdAt: string,
): CreditBlock => ({
  id: row.id,
  transaction_reason: reason,
  credits_available: row.credits_available,
  priority: row.priority,
  expiry_date: row.expiry_date,
  created_at: createdAt,
});

/** A completed debit row. */
export function debitRow(
  wallet: Wallet,
  command: {
    readonly id: string;
    readonly credits: Decimal;
    readonly amount?: Decimal;
    readonly transaction_reason: DebitReason;
    readonly parent_transaction_id?: string;
  },
  balance: { readonly before: Decimal; readonly after: Decimal },
  breakdown: WalletTransaction['consumption_breakdown'],
): WalletTransaction {
  const rate = decimal(wallet.conversion_rate);
  return {
    id: command.id,
    wallet_id: wallet.id,
    type: 'debit',
    transaction_status: moveTransaction(null, 'record'),
    transaction_reason: command.transaction_reason,
    credit_amount: decimalText(command.credits),
    amount: decimalText(command.amount ?? roundToStorage(command.credits.times(rate))),
    currency: wallet.currency,
    credit_balance_before: decimalText(balance.before),
    credit_balance_after: decimalText(balance.after),
    credits_available: '0',
    conversion_rate: wallet.conversion_rate,
    topup_conversion_rate: null,
    priority: null,
    expiry_date: null,
    parent_transaction_id: command.parent_transaction_id ?? null,
    consumption_breakdown: breakdown,
  };
}

/**
 * What the wallet owes: credit_balance = Σ credits_available − overdraft, always (money
 * 2.4.4). Only blocks that a manual debit may not use, for example held blocks, can exist next to an
 * overdraft. The next credit fills the overdraft first.
 */
export function overdraft(
  wallet: Pick<Wallet, 'credit_balance'>,
  blocks: readonly CreditBlock[],
): Decimal {
  const owed = availableCredits(blocks).minus(decimal(wallet.credit_balance));
  assert(owed.gte(0), `the blocks hold ${owed.neg().toFixed()} less than the balance`);
  return owed;
}

export function assertPositive(credits: Decimal): void {
  if (credits.gt(0)) return;
  const message = 'must be above 0';
  throw new BillingError('invalid', 'validation_error', `credits: ${message}`, [
    { path: 'credits', code: 'invalid_value', message },
  ]);
}

function insufficientBalance(asked: Decimal, available: Decimal): BillingError {
  const message = `insufficient balance: ${decimalText(available)} of ${decimalText(asked)} credits are available`;
  return new BillingError('invalid', 'invalid_operation', message, [
    { path: 'credits', code: 'insufficient_balance', message },
  ]);
}

/** The name of a wallet whose request has no name. */
export const defaultName = ({ wallet_type, currency }: Pick<Wallet, 'wallet_type' | 'currency'>) =>
  `${wallet_type === 'PRE_PAID' ? 'Prepaid' : 'Postpaid'} Wallet - ${currency.toUpperCase()}`;
