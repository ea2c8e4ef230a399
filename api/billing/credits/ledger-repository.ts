import type { CreditBlock } from '../../../domain/wallet/credit-block.ts';
import type { WalletRow } from './wallet-repository.ts';
import type { TransactionRow } from './wallet-transaction-repository.ts';
import type { Caller } from '../../conventions/record.ts';
import { inScope, type Scope, type Transaction } from '../../../postgres/client.ts';

/** A block that a decision changed, and the author of the last change. */
export interface ChangedBlock extends CreditBlock {
  readonly updated_by: string;
}

/** Writes balances, state and author of wallets that a command changed, in one statement. */
export async function writeBalances(
  tx: Transaction,
  caller: Caller,
  wallets: readonly WalletRow[],
): Promise<void> {
  if (wallets.length === 0) return;
  const column = (name: keyof WalletRow): string[] => wallets.map((row) => row[name] as string);
  await tx`
    update wallets w
       set wallet_status = v.wallet_status, credit_balance = v.credit_balance, balance = v.balance,
           credits_in_blocks = v.credits_in_blocks, overdraft = v.overdraft,
           updated_at = v.updated_at, updated_by = v.updated_by
      from unnest(${column('id')}::text[], ${column('wallet_status')}::text[],
                  ${column('credit_balance')}::numeric[], ${column('balance')}::numeric[],
                  ${column('credits_in_blocks')}::numeric[], ${column('overdraft')}::numeric[],
                  ${column('updated_at')}::timestamptz[], ${column('updated_by')}::text[])
        as v (id, wallet_status, credit_balance, balance, credits_in_blocks, overdraft, updated_at,
              updated_by)
     where ${inScope(tx, caller.scope, 'w')} and w.id = v.id`;
}

/** Writes what is left of the blocks, in one statement. `at` is ISO 8601. */
export async function writeBlocks(
  tx: Transaction,
  scope: Scope,
  blocks: readonly ChangedBlock[],
  at: string,
): Promise<void> {
  if (blocks.length === 0) return;
  await tx`
    update wallet_transactions t
       set credits_available = b.credits_available, updated_at = ${at}, updated_by = b.updated_by
      from unnest(${blocks.map(({ id }) => id)}::text[],
                  ${blocks.map(({ credits_available: left }) => left)}::numeric[],
                  ${blocks.map(({ updated_by }) => updated_by)}::text[]) as b (id, credits_available, updated_by)
     where ${inScope(tx, scope, 't')} and t.id = b.id`;
}

/** Writes the status, the balances and the credits of completed rows, in one statement. `at` is ISO 8601. */
export async function completeRows(
  tx: Transaction,
  { scope, user_id }: Caller,
  rows: readonly TransactionRow[],
  at: string,
): Promise<void> {
  const column = (name: keyof TransactionRow) => rows.map((row) => row[name] as string);
  await tx`
    update wallet_transactions t
       set transaction_status = v.status, credit_balance_before = v.before,
           credit_balance_after = v.after, credits_available = v.available, expiry_date = v.expiry_date,
           updated_at = ${at}, updated_by = ${user_id}
      from unnest(${column('id')}::text[], ${column('transaction_status')}::text[],
                  ${column('credit_balance_before')}::numeric[],
                  ${column('credit_balance_after')}::numeric[], ${column('credits_available')}::numeric[],
                  ${column('expiry_date')}::timestamptz[]) as v (id, status, before, after, available, expiry_date)
     where ${inScope(tx, scope, 't')} and t.id = v.id`;
}

/** Writes the status of failed rows, at least one, and adds the reason to their metadata. `at` is ISO 8601. */
export async function failRows(
  tx: Transaction,
  { scope, user_id }: Caller,
  rows: readonly TransactionRow[],
  reason: string,
  at: string,
): Promise<void> {
  await tx`
    update wallet_transactions
       set transaction_status = ${rows[0]!.transaction_status}, updated_at = ${at}, updated_by = ${user_id},
           metadata = metadata || ${tx.json({ failure_reason: reason })}
     where ${inScope(tx, scope)} and id = any(${rows.map(({ id }) => id)})`;
}
