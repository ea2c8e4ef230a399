import { decimal } from '../../../domain/money.ts';
import { assertClientKey, isReplay } from '../../../domain/wallet/transaction-key.ts';
import { debitWallet } from '../../../domain/wallet/wallet.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { DebitWalletBody } from '../../../schemas/wallet-requests.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { openLedger, writeDecision } from '../credits/ledger.ts';
import { findTransactionByKey, type WalletRow } from '../credits/wallet-repository.ts';

/**
 * A manual debit, which may take the wallet below zero. A repeated key changes nothing (money 2.4.1,
 * 2.10.2).
 */
export async function debitManually(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  walletId: string,
  body: DebitWalletBody,
): Promise<WalletRow> {
  assertClientKey(body.idempotency_key);
  const { transaction_reason, idempotency_key } = body;
  const ledger = await openLedger(tx, deps, caller.scope, walletId);
  const credits = decimal(body.credits);
  const stored = await findTransactionByKey(tx, caller.scope, idempotency_key);
  const asked = { wallet_id: walletId, type: 'debit', transaction_reason, credits } as const;
  if (isReplay(stored, asked)) return ledger.wallet;

  const id = deps.ids.next('wtxn');
  const { wallet, blocks, at } = ledger;
  const command = { id, credits, transaction_reason, arrears_period_end: null };
  const decision = debitWallet(wallet, blocks, command, at);
  const written = await writeDecision(tx, caller, ledger, decision, () => ({
    reference_type: 'REQUEST',
    reference_id: id,
    idempotency_key,
    description: body.description ?? null,
    metadata: body.metadata ?? {},
  }));
  return written.ledger.wallet;
}
