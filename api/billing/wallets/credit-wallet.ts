import { decimal } from '../../../domain/money.ts';
import type { CreditBlock } from '../../../domain/wallet/credit-block.ts';
import type { CreditReason } from '../../../domain/wallet/transaction.ts';
import { creditsWorth, creditWallet } from '../../../domain/wallet/wallet.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { announceWallet, openWallet } from './create-wallet.ts';
import { ledgerAfter, ledgerOf, writeDecision, type RowCause } from '../credits/ledger.ts';
import {
  lockCreditableWallet,
  lockWalletCreation,
  type WalletRow,
} from '../credits/wallet-repository.ts';
import {
  findTransactionByKey,
  type TransactionRow,
} from '../credits/wallet-transaction-repository.ts';

/** Money that a command adds to a customer's wallet as credits. */
export interface PrepaidCredit extends RowCause {
  readonly customer_id: string;
  readonly currency: string;
  /** Money, decimal text; greater than 0. Converted at the conversion rate, so the value is kept. */
  readonly amount: string;
  readonly reason: CreditReason;
  /** Of the block; by default it is spent last and does not expire. */
  readonly block?: Pick<CreditBlock, 'priority' | 'expiry_date'>;
  /** Name of the wallet if the customer has none yet; by default the name of every new wallet. */
  readonly wallet_name: string | null;
  /** What a new wallet may pay, and its metadata; by default those of every new wallet. */
  readonly allowed_price_types?: WalletRow['allowed_price_types'] | null;
  readonly wallet_metadata?: WalletRow['metadata'];
}

/**
 * Credits the customer's active PRE_PAID wallet of the currency, and creates one if there is none. A
 * repeated `idempotency_key` changes nothing and returns the first row. Lock invoices and subscriptions
 * before calling it (money 2.9.2).
 */
export async function creditPrepaidWallet(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  credit: PrepaidCredit,
): Promise<{ wallet: WalletRow; transaction: TransactionRow }> {
  const { scope } = caller;
  const { wallet, isNew } = await prepaidWallet(tx, deps, caller, credit);
  const stored = credit.idempotency_key
    ? await findTransactionByKey(tx, scope, credit.idempotency_key)
    : null;
  if (stored !== null) {
    if (isNew) await announceWallet(tx, caller, wallet);
    return { wallet, transaction: stored };
  }
  const ledger = await ledgerOf(tx, deps, wallet);
  const amount = decimal(credit.amount);
  const decision = creditWallet(
    wallet,
    ledger.blocks,
    {
      id: deps.ids.next('wtxn'),
      credits: creditsWorth(wallet, amount),
      amount,
      transaction_reason: credit.reason,
      ...(credit.block ?? { priority: null, expiry_date: null }),
      parent_transaction_id: null,
    },
    ledger.at,
  );
  if (isNew) await announceWallet(tx, caller, ledgerAfter(ledger, decision, caller.user_id).wallet);
  const written = await writeDecision(tx, caller, ledger, decision, () => credit);
  return { wallet: written.ledger.wallet, transaction: written.rows[0]! };
}

/**
 * Locks the customer's PRE_PAID wallet of the currency, and creates one if none is active or frozen. The caller
 * announces a new one. If two commands create it concurrently, the second waits for the first and uses its wallet.
 */
export async function prepaidWallet(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  of: {
    readonly customer_id: string;
    readonly currency: string;
    readonly wallet_name: string | null;
    readonly conversion_rate?: string;
    readonly topup_conversion_rate?: string;
    readonly allowed_price_types?: WalletRow['allowed_price_types'] | null;
    readonly wallet_metadata?: WalletRow['metadata'];
  },
): Promise<{ readonly wallet: WalletRow; readonly isNew: boolean }> {
  const { customer_id } = of;
  const kind = {
    customer_id,
    currency: of.currency.toLowerCase(),
    wallet_type: 'PRE_PAID',
  } as const;
  const found = await lockCreditableWallet(tx, caller.scope, kind);
  if (found !== null) return { wallet: found, isNew: false };
  await lockWalletCreation(tx, caller.scope, kind);
  const rate = of.conversion_rate ?? '1';
  const created = await lockCreditableWallet(tx, caller.scope, kind);
  if (created !== null) return { wallet: created, isNew: false };
  const wallet = await openWallet(tx, deps, caller, {
    ...kind,
    conversion_rate: rate,
    topup_conversion_rate: of.topup_conversion_rate ?? rate,
    name: of.wallet_name,
    description: null,
    allowed_price_types: of.allowed_price_types ?? null,
    metadata: of.wallet_metadata ?? {},
  });
  return { wallet, isNew: true };
}
