import { assertGivenUp, recallPurchase } from '../../../domain/wallet/purchase.ts';
import { transactionKey } from '../../../domain/wallet/transaction-key.ts';
import { derivedId } from '../../../platform/ids.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { openLedger, writeDecision, writeFailed } from '../credits/ledger.ts';
import {
  continueElsewhere,
  findBlocksById,
  findPurchaseOfInvoice,
  findTransactionByKey,
} from '../credits/wallet-transaction-repository.ts';

/**
 * Reverses the purchase of a voided invoice: pending rows fail (money 2.11.8) and added credits are removed. 409 if
 * some of them are already spent, or continue in a wallet that this one was converted to (9.16). The caller holds the
 * lock of the invoice and refunds the money afterwards.
 */
export async function undoPurchase(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  invoice: InvoiceRecord,
  reason = 'The invoice was voided.',
): Promise<void> {
  const [first] = await findPurchaseOfInvoice(tx, caller.scope, invoice.id);
  if (first === undefined) return;
  const ledger = await openLedger(tx, deps, caller.scope, first.wallet_id);
  const rows = await findPurchaseOfInvoice(tx, caller.scope, invoice.id);
  const pending = rows.filter((row) => row.transaction_status === 'pending');
  await writeFailed(tx, caller, pending, reason, ledger.at);
  const bought = rows.filter((row) => row.transaction_status === 'completed');
  if (bought.length === 0) return;
  const ids = bought.map(({ id }) => id);
  if (ledger.wallet.wallet_status === 'closed') {
    const key = transactionKey.termination(ledger.wallet.id);
    const end = await findTransactionByKey(tx, caller.scope, key);
    const continues = await continueElsewhere(tx, caller.scope, ids);
    assertGivenUp(bought, continues ? [] : (end?.consumption_breakdown ?? []));
    return;
  }
  const blocks = await findBlocksById(tx, caller.scope, ids);
  const decision = recallPurchase(
    ledger.wallet,
    blocks.map((block) => ({
      block,
      credit_amount: bought.find(({ id }) => id === block.id)!.credit_amount,
    })),
    derivedId('wtxn', 'recalled', invoice.id),
    false,
  );
  await writeDecision(tx, caller, ledger, decision, () => ({
    reference_type: 'INVOICE',
    reference_id: invoice.id,
    description: `Credits of the voided invoice ${invoice.invoice_number ?? invoice.id}`,
    metadata: { invoice_id: invoice.id },
  }));
}
