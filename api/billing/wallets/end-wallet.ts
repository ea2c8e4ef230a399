import { convertToPostpaid, terminateWallet } from '../../../domain/wallet/end-of-credits.ts';
import { transactionKey } from '../../../domain/wallet/transaction-key.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { announceWallet, openWallet } from './create-wallet.ts';
import {
  ledgerAfter,
  openLedger,
  writeDecision,
  writeFailed,
  type Ledger,
  type RowCause,
} from '../credits/ledger.ts';
import { lockWallet, updateWalletRow, type WalletRow } from '../credits/wallet-repository.ts';
import {
  findPendingOfWallet,
  type TransactionRow,
} from '../credits/wallet-transaction-repository.ts';
import { hasActiveCheckout } from '../records/checkout-repository.ts';
import { walletSnapshot } from '../credits/wallet-notification.ts';

/**
 * Closes a wallet: the rest of its credits is debited and purchases that wait for a payment fail
 * (money 2.12.1). 400 if it is closed, 409 while a checkout of its credits is under way (2.12.2).
 */
export async function closeWallet(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  walletId: string,
): Promise<WalletRow> {
  const ledger = await openEnding(tx, deps, caller, walletId);
  const rowId = deps.ids.next('wtxn');
  const hasCheckout = await hasActiveCheckout(tx, caller.scope, walletId);
  const decision = terminateWallet(ledger.wallet, ledger.blocks, rowId, hasCheckout);
  await failPending(tx, caller, ledger, 'The wallet was terminated.');
  const written = await writeDecision(tx, caller, ledger, decision, (row) => terminationCause(row));
  const { wallet } = written.ledger;
  await writeOutbox(tx, caller.scope, 'wallet.terminated', { wallet: walletSnapshot(wallet) });
  return wallet;
}

const terminationCause = (row: { readonly id: string; readonly wallet_id: string }): RowCause => ({
  reference_type: 'REQUEST',
  reference_id: row.id,
  idempotency_key: transactionKey.termination(row.wallet_id),
  description: 'Wallet termination - remaining balance debit',
});

/**
 * Turns a PRE_PAID wallet into a POST_PAID one: the old wallet is closed and its blocks continue in a new
 * one with their reason, priority and expiry (money 2.12.3).
 */
export async function convertWallet(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  walletId: string,
): Promise<{ original: WalletRow; opened: WalletRow }> {
  const ledger = await openEnding(tx, deps, caller, walletId);
  const { wallet: old, blocks } = ledger;
  const hasCheckout = await hasActiveCheckout(tx, caller.scope, walletId);
  // Checked before the new wallet is inserted; the ids of the copies are of no use otherwise.
  const conversion = (id: string) => {
    const ids = { wallet: id, nextRow: () => deps.ids.next('wtxn') };
    return convertToPostpaid(old, blocks, ids, hasCheckout);
  };
  conversion('unused');
  await failPending(tx, caller, ledger, 'The wallet was converted.');
  const empty = await openWallet(tx, deps, caller, {
    customer_id: old.customer_id,
    currency: old.currency,
    wallet_type: 'POST_PAID',
    conversion_rate: old.conversion_rate,
    topup_conversion_rate: old.topup_conversion_rate,
    description: old.description,
    name: null,
    allowed_price_types: null,
    metadata: old.metadata,
  });
  const { closed, opened } = conversion(empty.id);
  // The new wallet is made after the ledger of the old one was read: its rows are not older than it is.
  const start = { wallet: empty, blocks: [], at: empty.created_at };
  const filled = ledgerAfter(start, opened, caller.user_id).wallet;
  await announceWallet(tx, caller, filled);
  const original = await writeDecision(tx, caller, ledger, closed, terminationCause);
  await writeDecision(tx, caller, start, opened, (row) => ({
    reference_type: 'REQUEST',
    reference_id: row.parent_transaction_id,
    source_type: 'WALLET_TRANSACTION',
    source_id: row.parent_transaction_id,
    description: `Credits of the wallet ${old.id}`,
  }));
  const wallet = original.ledger.wallet;
  await writeOutbox(tx, caller.scope, 'wallet.terminated', { wallet: walletSnapshot(wallet) });
  return { original: wallet, opened: filled };
}

/** The ledger of a wallet that ends, with its automatic top-up switched off (money 2.12). */
async function openEnding(
  tx: Transaction,
  deps: BillingDeps,
  { scope }: Caller,
  walletId: string,
): Promise<Ledger> {
  const { auto_topup } = await lockWallet(tx, scope, walletId);
  if (auto_topup?.enabled === true)
    await updateWalletRow(tx, scope, walletId, { auto_topup: { ...auto_topup, enabled: false } });
  return await openLedger(tx, deps, scope, walletId);
}

/** Fails the purchases of the wallet that wait for a payment (money 2.11.8). */
async function failPending(
  tx: Transaction,
  caller: Caller,
  ledger: Ledger,
  reason: string,
): Promise<void> {
  const pending = await findPendingOfWallet(tx, caller.scope, ledger.wallet.id);
  await writeFailed(tx, caller, pending, reason, ledger.at);
}
