import assert from 'node:assert/strict';
import { BillingError } from '../../../domain/errors.ts';
import { decimal, decimalText } from '../../../domain/money.ts';
import { availableCredits, type CreditBlock } from '../../../domain/wallet/credit-block.ts';
import { failPurchase } from '../../../domain/wallet/purchase.ts';
import type { WalletTransaction as DecidedRow } from '../../../domain/wallet/transaction.ts';
import type { WalletDecision } from '../../../domain/wallet/wallet.ts';
import { isoTime } from '../../../platform/clock.ts';
import { violatedConstraint, type Scope, type Transaction } from '../../../postgres/client.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { writeOutboxEvents, type OutboxEvent } from '../../../postgres/tables/outbox.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { lockWallet, type WalletRow } from './wallet-repository.ts';
import { findBlocks, type TransactionRow } from './wallet-transaction-repository.ts';
import { transactionSnapshot } from './wallet-notification.ts';
import {
  completeRows,
  failRows,
  writeBalances,
  writeBlocks,
  type ChangedBlock,
} from './ledger-repository.ts';

/** A locked wallet with its blocks. `at` is read under the lock, so rows are in the order of their times. */
export interface Ledger {
  readonly wallet: WalletRow;
  /** Blocks with credits left. Empty for `ledgerOfCredits`, which reads none. */
  readonly blocks: readonly CreditBlock[];
  readonly at: string;
}

/** Locks the wallet until the transaction ends and reads its blocks. 404 if it is unknown. */
export async function openLedger(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  scope: Scope,
  walletId: string,
): Promise<Ledger> {
  return await ledgerOf(tx, deps, await lockWallet(tx, scope, walletId));
}

/** The ledger of a wallet whose row the transaction has locked or inserted. */
export async function ledgerOf(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  wallet: WalletRow,
): Promise<Ledger> {
  const blocks = await findBlocks(tx, wallet, [wallet.id]);
  return { wallet, blocks, at: isoTime(deps.clock.now()) };
}

/**
 * The ledger of a locked wallet to which credits are only added. Its blocks are not read: the row of the wallet holds
 * their sum and the overdraft, so each of many credits takes the same time.
 */
export const ledgerOfCredits = (deps: Pick<BillingDeps, 'clock'>, wallet: WalletRow): Ledger => ({
  wallet,
  blocks: [],
  at: isoTime(deps.clock.now()),
});

/** The command that writes a row, and its purpose. */
export interface RowCause {
  readonly reference_type: TransactionRow['reference_type'];
  readonly reference_id: string | null;
  readonly source_type?: TransactionRow['source_type'];
  readonly source_id?: string | null;
  readonly idempotency_key?: string | null;
  readonly description?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface Written {
  readonly ledger: Ledger;
  readonly rows: readonly TransactionRow[];
}

/** A decision about a locked wallet, with the cause of each row. */
export interface Decided {
  readonly ledger: Ledger;
  readonly decision: WalletDecision;
  readonly causeOf: (row: DecidedRow) => RowCause;
  /** The author of the rows; absent: the caller who writes them. */
  readonly userId?: string;
}

/**
 * Writes a decision about the locked wallet: its new rows, the blocks that changed and the balance, with one
 * notification for each row. 409 if a row's key is taken.
 */
export async function writeDecision(
  tx: Transaction,
  caller: Caller,
  ledger: Ledger,
  decision: WalletDecision,
  causeOf: Decided['causeOf'],
): Promise<Written> {
  const [written] = await writeDecisions(tx, caller, [{ ledger, decision, causeOf }]);
  return written!;
}

/**
 * Writes decisions about any number of wallets, in order, in a fixed number of statements. A later decision
 * about the same wallet starts from the `ledgerAfter` of the earlier one.
 */
export async function writeDecisions(
  tx: Transaction,
  caller: Caller,
  decided: readonly Decided[],
): Promise<Written[]> {
  const written = decided.map(({ ledger, decision, causeOf, userId = caller.user_id }) => ({
    ledger: ledgerAfter(ledger, decision, userId),
    rows: decision.rows.map((row) =>
      transactionRow(row, causeOf(row), ledger.wallet, userId, ledger.at),
    ),
  }));
  const rows = written.flatMap((one) => one.rows);
  const touched = new Map<string, ChangedBlock>();
  for (const { decision, userId = caller.user_id } of decided) {
    const isNew = new Set(decision.rows.map(({ id }) => id));
    for (const block of decision.blocks)
      if (!isNew.has(block.id)) touched.set(block.id, { ...block, updated_by: userId });
  }
  const wallets = new Map(written.map(({ ledger }) => [ledger.wallet.id, ledger.wallet]));
  // Sent together; the connection keeps their order.
  await Promise.all([
    insertTransactionRows(tx, rows),
    writeBlocks(tx, caller.scope, [...touched.values()], decided[0]?.ledger.at ?? ''),
    writeBalances(tx, caller, [...wallets.values()]),
    writeOutboxEvents(tx, rows.map(createdEvent)),
  ]);
  return written;
}

/** The ledger after the decision. */
export function ledgerAfter(
  { wallet, blocks: before, at }: Ledger,
  decision: WalletDecision,
  userId: string,
): Ledger {
  const isNew = new Set(decision.rows.map(({ id }) => id));
  const onlyAdds = decision.blocks.every(({ id }) => isNew.has(id));
  const blocks = onlyAdds ? [...before, ...decision.blocks] : blocksAfter(before, decision.blocks);
  const credits = onlyAdds
    ? decimal(wallet.credits_in_blocks).plus(availableCredits(decision.blocks))
    : availableCredits(blocks);
  const { wallet_status, credit_balance, balance } = decision.wallet;
  return {
    wallet: {
      ...wallet,
      wallet_status,
      credit_balance,
      balance,
      credits_in_blocks: decimalText(credits),
      overdraft: decimalText(credits.minus(decimal(credit_balance))),
      updated_at: at,
      updated_by: userId,
    },
    at,
    blocks: blocks.filter(({ credits_available: left }) => left !== '0'),
  };
}

/**
 * Writes the completion of pending rows of the locked wallet: their balances, their credits and the wallet's
 * balance.
 */
export async function writeCompletion(
  tx: Transaction,
  caller: Caller,
  ledger: Ledger,
  decision: WalletDecision,
  pending: readonly TransactionRow[],
): Promise<Written> {
  const after = ledgerAfter(ledger, decision, caller.user_id);
  const rows = decision.rows.map((row) => ({
    ...pending.find(({ id }) => id === row.id)!,
    transaction_status: row.transaction_status,
    credit_balance_before: row.credit_balance_before,
    credit_balance_after: row.credit_balance_after,
    credits_available: row.credits_available,
    expiry_date: row.expiry_date,
    updated_at: ledger.at,
    updated_by: caller.user_id,
  }));
  await completeRows(tx, caller, rows, ledger.at);
  await writeBalances(tx, caller, [after.wallet]);
  await writeOutboxEvents(tx, rows.map(updatedEvent));
  return { ledger: after, rows };
}

/** Writes pending rows as failed, with the reason. */
export async function writeFailed(
  tx: Transaction,
  caller: Caller,
  pending: readonly TransactionRow[],
  reason: string,
  at: string,
): Promise<void> {
  if (pending.length === 0) return;
  const failed = failPurchase(pending).map((row, index) => ({
    ...pending[index]!,
    transaction_status: row.transaction_status,
    metadata: { ...pending[index]!.metadata, failure_reason: reason },
    updated_at: at,
    updated_by: caller.user_id,
  }));
  await failRows(tx, caller, failed, reason, at);
  await writeOutboxEvents(tx, failed.map(updatedEvent));
}

const updatedEvent = (row: TransactionRow): OutboxEvent & { readonly scope: Scope } => ({
  scope: { tenant_id: row.tenant_id, environment_id: row.environment_id },
  event_type: 'wallet.transaction.updated',
  payload: { transaction: transactionSnapshot(row), updated_transaction: transactionSnapshot(row) },
});

/** Pending rows of a purchase: they move no balance. */
export async function writePending(
  tx: Transaction,
  caller: Caller,
  ledger: Ledger,
  decided: readonly DecidedRow[],
  causeOf: (row: DecidedRow) => RowCause,
): Promise<TransactionRow[]> {
  const { wallet, at } = ledger;
  const rows = decided.map((row) => transactionRow(row, causeOf(row), wallet, caller.user_id, at));
  await insertTransactionRows(tx, rows);
  await writeOutboxEvents(tx, rows.map(createdEvent));
  return rows;
}

const createdEvent = (row: TransactionRow): OutboxEvent & { readonly scope: Scope } => ({
  scope: { tenant_id: row.tenant_id, environment_id: row.environment_id },
  event_type: 'wallet.transaction.created',
  payload: { transaction: transactionSnapshot(row) },
});

async function insertTransactionRows(
  tx: Transaction,
  rows: readonly TransactionRow[],
): Promise<void> {
  try {
    await insertRows(tx, 'wallet_transactions', rows);
  } catch (error) {
    if (violatedConstraint(error) !== 'wallet_transactions_idempotency_key_key') throw error;
    throw keyReused();
  }
}

const keyReused = (): BillingError => {
  const message = 'The idempotency key was used for another wallet transaction.';
  return new BillingError('conflict', 'idempotency_key_reused', message, [
    { path: 'idempotency_key', code: 'idempotency_key_reused', message },
  ]);
};

/** The blocks with the changed and the new ones in place of their earlier state. */
function blocksAfter(
  before: readonly CreditBlock[],
  changed: readonly CreditBlock[],
): CreditBlock[] {
  const after = new Map(before.map((block) => [block.id, block]));
  for (const block of changed) after.set(block.id, block);
  return [...after.values()];
}

function transactionRow(
  row: DecidedRow,
  cause: RowCause,
  wallet: WalletRow,
  userId: string,
  at: string,
): TransactionRow {
  assert(row.wallet_id === wallet.id, 'a row of another wallet');
  const consumed = row.consumption_breakdown.map((part) => part.credit_transaction_id);
  return {
    ...row,
    consumption_breakdown: [...row.consumption_breakdown],
    tenant_id: wallet.tenant_id,
    environment_id: wallet.environment_id,
    customer_id: wallet.customer_id,
    reference_type: cause.reference_type,
    reference_id: cause.reference_id,
    source_type: cause.source_type ?? null,
    source_id: cause.source_id ?? null,
    idempotency_key: cause.idempotency_key ?? null,
    description: cause.description ?? null,
    metadata: {
      ...cause.metadata,
      // Older clients read the blocks of a debit here (as the reference answers).
      ...(consumed.length === 0 ? {} : { consumed_credit_tx_ids: consumed.join(',') }),
    },
    status: 'published',
    created_at: at,
    updated_at: at,
    created_by: userId,
    updated_by: userId,
  };
}
