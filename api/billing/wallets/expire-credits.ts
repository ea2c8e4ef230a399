import { expireBlocks, isDueToExpire } from '../../../domain/wallet/end-of-credits.ts';
import { transactionKey } from '../../../domain/wallet/transaction-key.ts';
import { type Transaction } from '../../../postgres/client.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { openLedger, writeDecision } from '../credits/ledger.ts';
import { openPeriods } from './expiry-repository.ts';

/**
 * Writes off the remaining credits of each expired block of the wallet, except blocks held for a late invoice
 * (money 2.7). A block expires at most once: its id is the key of the row. Returns the number of blocks. All of them
 * are one decision: with one for each, 8,000 blocks took 45 s.
 */
export async function expireCredits(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock' | 'ids'>,
  caller: Caller,
  walletId: string,
  at: string,
): Promise<number> {
  const opened = await openLedger(tx, deps, caller.scope, walletId);
  const periods = await openPeriods(tx, caller.scope, opened.wallet.customer_id, at);
  const due = opened.blocks.filter((block) => isDueToExpire(block, periods, at));
  if (due.length === 0) return 0;
  const decision = expireBlocks(opened.wallet, due, () => deps.ids.next('wtxn'));
  await writeDecision(tx, caller, { ...opened, at }, decision, ({ parent_transaction_id }) => ({
    reference_type: 'REQUEST',
    reference_id: parent_transaction_id,
    source_type: 'WALLET_TRANSACTION',
    source_id: parent_transaction_id,
    idempotency_key: transactionKey.expiry(parent_transaction_id!),
    description: 'Credits expired',
  }));
  return due.length;
}
