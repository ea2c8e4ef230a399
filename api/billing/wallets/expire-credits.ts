import { expireBlock, isDueToExpire } from '../../../domain/wallet/end-of-credits.ts';
import { transactionKey } from '../../../domain/wallet/transaction-key.ts';
import { type Transaction } from '../../../postgres/client.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { ledgerAfter, openLedger, writeDecisions, type Decided } from '../credits/ledger.ts';
import { openPeriods } from './expiry-repository.ts';

/**
 * Writes off the remaining credits of each expired block of the wallet, except blocks held for a late invoice
 * (money 2.7). A block expires at most once: its id is the key of the row. Returns the number of blocks.
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
  const decided: Decided[] = [];
  let ledger = { ...opened, at };
  for (const block of opened.blocks.filter((each) => isDueToExpire(each, periods, at))) {
    const key = transactionKey.expiry(block.id);
    const decision = expireBlock(ledger.wallet, block, deps.ids.next('wtxn'));
    const causeOf = () => ({
      reference_type: 'REQUEST' as const,
      reference_id: block.id,
      source_type: 'WALLET_TRANSACTION' as const,
      source_id: block.id,
      idempotency_key: key,
      description: 'Credits expired',
    });
    decided.push({ ledger, decision, causeOf });
    ledger = ledgerAfter(ledger, decision, caller.user_id);
  }
  await writeDecisions(tx, caller, decided);
  return decided.length;
}
