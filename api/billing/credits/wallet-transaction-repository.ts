import { notFound } from '../../../domain/errors.ts';
import type { CreditBlock } from '../../../domain/wallet/credit-block.ts';
import { transactionKey } from '../../../domain/wallet/transaction-key.ts';
import { inScope, oneOf, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { WalletTransaction } from '../../../schemas/wallet.ts';

/** A wallet transaction as stored: `source_type` is the cause of any type. */
export type TransactionRow = Omit<
  WalletTransaction,
  'source_type' | 'cause_type' | 'wallet' | 'customer' | 'created_by_user'
> & { readonly source_type: WalletTransaction['cause_type'] };

const transactionColumns = (db: Db): Fragment => db`
  id, tenant_id, environment_id, wallet_id, customer_id, type, transaction_status, transaction_reason,
  amount, credit_amount, credit_balance_before, credit_balance_after, credits_available, currency,
  conversion_rate, topup_conversion_rate, priority, expiry_date, parent_transaction_id,
  consumption_breakdown, reference_type, reference_id, source_type, source_id, idempotency_key,
  description, metadata, status, created_at, updated_at, created_by, updated_by`;

export interface TransactionFilter {
  readonly id?: string | null;
  readonly wallet_id?: string | null;
  readonly wallet_ids?: string[] | null;
  readonly customer_id?: string | null;
  readonly type?: string | null;
  readonly transaction_status?: string | null;
  readonly transaction_reason?: string | null;
  readonly priority?: number | null;
  readonly reference_type?: string | null;
  readonly reference_id?: string | null;
  readonly created_by?: string | null;
  readonly credits_available_gt?: string | null;
  readonly expiry_date_after?: string | null;
  readonly expiry_date_before?: string | null;
  readonly search: Search;
}

/** A page of transactions, newest first. An `id` also finds those of the wallet with that id. */
export function searchTransactions(
  db: Db,
  scope: Scope,
  filter: TransactionFilter,
): Promise<Page<TransactionRow>> {
  const { search, wallet_ids } = filter;
  const equal = (column: string, value: string | number | null | undefined): Fragment =>
    value == null || value === '' ? db`` : db`and ${db(column)} = ${value}`;
  const { customer_id } = filter;
  // By the wallets of the customer: an index by customer would slow down every debit.
  const ofCustomer =
    customer_id == null || customer_id === ''
      ? db``
      : db`and wallet_id in (
             select id from wallets where ${inScope(db, scope)} and customer_id = ${customer_id})`;
  return findPage<TransactionRow>(db, {
    columns: transactionColumns(db),
    from: db`wallet_transactions`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filter.id == null || filter.id === '' ? db`` : db`and ${filter.id} in (id, wallet_id)`}
      ${equal('wallet_id', filter.wallet_id)}
      ${wallet_ids?.length ? db`and wallet_id = any(${wallet_ids})` : db``}
      ${ofCustomer}
      ${equal('type', filter.type)}
      ${equal('transaction_status', filter.transaction_status)}
      ${equal('transaction_reason', filter.transaction_reason)}
      ${equal('priority', filter.priority)}
      ${equal('reference_type', filter.reference_type)}
      ${equal('reference_id', filter.reference_id)}
      ${equal('created_by', filter.created_by)}
      ${filter.credits_available_gt == null ? db`` : db`and credits_available > ${filter.credits_available_gt}`}
      ${filter.expiry_date_after == null ? db`` : db`and expiry_date > ${filter.expiry_date_after}`}
      ${filter.expiry_date_before == null ? db`` : db`and expiry_date < ${filter.expiry_date_before}`}`,
    search,
  });
}

/** 404 if the transaction is unknown or belongs to another scope. */
export async function getTransaction(db: Db, scope: Scope, id: string): Promise<TransactionRow> {
  const [row] = await db<TransactionRow[]>`
    select ${transactionColumns(db)} from wallet_transactions
     where ${inScope(db, scope)} and id = ${id}`;
  if (row === undefined) throw notFound('Wallet transaction', id);
  return row;
}

/** The transaction with that key; null if the key is new. */
export async function findTransactionByKey(
  db: Db,
  scope: Scope,
  key: string,
): Promise<TransactionRow | null> {
  const [row] = await findTransactionsByKey(db, scope, [key]);
  return row ?? null;
}

/** The transactions with these keys, unordered. Leaves out keys that are new. */
export async function findTransactionsByKey(
  db: Db,
  scope: Scope,
  keys: readonly string[],
): Promise<TransactionRow[]> {
  return await db<TransactionRow[]>`
    select ${transactionColumns(db)} from wallet_transactions
     where ${inScope(db, scope)} and idempotency_key ${oneOf(db, keys)}`;
}

/** Credits that were added to a wallet: their sum, and when the first of them were. */
export interface CompletedCredit {
  readonly type: 'credit';
  readonly transaction_status: 'completed';
  readonly credit_amount: string;
  readonly created_at: string;
}

/**
 * The sum of the credits that were added to the wallet at or after `since` (null: ever). One row, or none without
 * credits. Pending and failed additions do not count.
 */
export async function completedCredits(
  db: Db,
  scope: Scope,
  walletId: string,
  since: string | null,
): Promise<CompletedCredit[]> {
  return await db<CompletedCredit[]>`
    select type, transaction_status, sum(credit_amount) as credit_amount, min(created_at) as created_at
      from wallet_transactions
     where ${inScope(db, scope)} and wallet_id = ${walletId}
       and type = 'credit' and transaction_status = 'completed'
       ${since === null ? db`` : db`and created_at >= ${since}`}
     group by type, transaction_status`;
}

/** Rows of a purchase that wait for its payment: the purchase first, then its bonus. */
export async function findPendingOfWallet(
  db: Db,
  scope: Scope,
  walletId: string,
): Promise<TransactionRow[]> {
  return await db<TransactionRow[]>`
    select ${transactionColumns(db)} from wallet_transactions
     where ${inScope(db, scope)} and wallet_id = ${walletId} and transaction_status = 'pending'
     order by created_at, id`;
}

/** A block with the wallet that it belongs to. */
export type WalletBlock = CreditBlock & { readonly wallet_id: string };

/** Blocks of these wallets with credits left, including expired blocks. */
export async function findBlocks(
  db: Db,
  scope: Scope,
  walletIds: readonly string[],
): Promise<WalletBlock[]> {
  if (walletIds.length === 0) return [];
  return await db<WalletBlock[]>`
    select id, wallet_id, transaction_reason, credits_available, priority, expiry_date, created_at
      from wallet_transactions
     where ${inScope(db, scope)} and wallet_id ${oneOf(db, walletIds)} and holds_credits`;
}

/**
 * Debits of prepaid credits for an invoice that are not returned yet, in the order of their wallets. The key
 * tells them from the debit that takes back the credits that the invoice sold (money 9.16).
 */
export async function findDebitsOfInvoice(
  db: Db,
  scope: Scope,
  invoiceId: string,
): Promise<TransactionRow[]> {
  return await db<TransactionRow[]>`
    select ${transactionColumns(db)} from wallet_transactions t
     where ${inScope(db, scope)} and reference_id = ${invoiceId} and reference_type = 'INVOICE'
       and type = 'debit' and transaction_reason = 'CREDIT_ADJUSTMENT'
       and starts_with(idempotency_key, ${`system:prepaid:${invoiceId}:`})
       and not exists (
         select from wallet_transactions r
          where r.tenant_id = t.tenant_id and r.environment_id = t.environment_id
            and r.reference_id = ${invoiceId} and r.source_id = t.id)
     order by wallet_id, created_at, id`;
}

/** Debits that took back credits of the invoice's purchase because their price was refunded (money 9.16). */
export async function findRecallsOfInvoice(
  db: Db,
  scope: Scope,
  invoiceId: string,
): Promise<TransactionRow[]> {
  return await db<TransactionRow[]>`
    select ${transactionColumns(db)} from wallet_transactions
     where ${inScope(db, scope)} and reference_id = ${invoiceId} and reference_type = 'INVOICE'
       and type = 'debit' and starts_with(idempotency_key, ${transactionKey.recall('')})
     order by created_at, id`;
}

/** The debit of a wallet that this record caused; null if there is none. */
export async function findDebitOf(
  db: Db,
  scope: Scope,
  reference: { readonly type: TransactionRow['reference_type']; readonly id: string },
): Promise<TransactionRow | null> {
  const [row] = await db<TransactionRow[]>`
    select ${transactionColumns(db)} from wallet_transactions
     where ${inScope(db, scope)} and reference_type = ${reference.type}
       and reference_id = ${reference.id} and type = 'debit' and transaction_status = 'completed'`;
  return row ?? null;
}

/** Blocks by id, including blocks without credits left. */
export async function findBlocksById(
  db: Db,
  scope: Scope,
  ids: readonly string[],
): Promise<WalletBlock[]> {
  if (ids.length === 0) return [];
  return await db<WalletBlock[]>`
    select id, wallet_id, transaction_reason, credits_available, priority, expiry_date, created_at
      from wallet_transactions
     where ${inScope(db, scope)} and id ${oneOf(db, ids)}`;
}

/** Whether a conversion copied one of these blocks to another wallet (money 2.12.3). */
export async function continueElsewhere(
  db: Db,
  scope: Scope,
  ids: readonly string[],
): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (
      select from wallet_transactions
       where ${inScope(db, scope)} and source_type = 'WALLET_TRANSACTION' and source_id ${oneOf(db, ids)}
         and parent_transaction_id = source_id and type = 'credit') as found`;
  return row!.found;
}

/** Rows of the purchase that an invoice sells: the purchase first, then its bonus. */
export async function findPurchaseOfInvoice(
  db: Db,
  scope: Scope,
  invoiceId: string,
): Promise<TransactionRow[]> {
  return await db<TransactionRow[]>`
    select ${transactionColumns(db)} from wallet_transactions
     where ${inScope(db, scope)} and source_id = ${invoiceId} and source_type = 'INVOICE'
       and type = 'credit'
     order by parent_transaction_id nulls first, id`;
}
