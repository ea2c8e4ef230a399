import { decimal } from '../../../domain/money.ts';
import type { CreditBlock } from '../../../domain/wallet/credit-block.ts';
import type { WalletTransaction } from '../../../domain/wallet/transaction.ts';
import {
  withCreditBalance,
  type Wallet,
  type WalletDecision,
} from '../../../domain/wallet/wallet.ts';

/** The stored rows of one wallet. */
export interface WalletLedger {
  readonly wallet: Wallet;
  readonly blocks: readonly CreditBlock[];
  readonly rows: readonly WalletTransaction[];
}

/** A wallet with its balance in one block. */
export function emptyLedger(given: Partial<Wallet>): WalletLedger {
  const wallet: Wallet = {
    id: 'wallet',
    wallet_type: 'PRE_PAID',
    wallet_status: 'active',
    currency: 'usd',
    conversion_rate: '1',
    topup_conversion_rate: '1',
    credit_balance: '0',
    balance: '0',
    ...given,
  };
  const block: CreditBlock = {
    id: 'opening',
    transaction_reason: 'FREE_CREDIT_GRANT',
    credits_available: wallet.credit_balance,
    priority: null,
    expiry_date: null,
    created_at: '2025-01-01T00:00:00.000Z',
  };
  return {
    wallet: withCreditBalance(wallet, decimal(wallet.credit_balance)),
    blocks: decimal(block.credits_available).isZero() ? [] : [block],
    rows: [],
  };
}

/** Writes what a command decided: the wallet, its new rows, and the blocks it touched. */
export function keep(ledger: WalletLedger, decision: WalletDecision): WalletLedger {
  const touched = new Map(decision.blocks.map((block) => [block.id, block]));
  const known = new Set(ledger.blocks.map((block) => block.id));
  return {
    wallet: decision.wallet,
    rows: [...ledger.rows, ...decision.rows],
    blocks: [
      ...ledger.blocks.map((block) => touched.get(block.id) ?? block),
      ...decision.blocks.filter((block) => !known.has(block.id)),
    ],
  };
}
