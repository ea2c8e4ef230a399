import { recallPurchase } from '../../../domain/wallet/purchase.ts';
import { derivedId } from '../../../platform/ids.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { openLedger, writeDecision, writeFailed } from '../credits/ledger.ts';
import { findBlocksById, findPurchaseOfInvoice } from '../credits/wallet-transaction-repository.ts';

/**
 * Reverses the purchase of a voided invoice: pending rows fail (money 2.11.8) and added credits are removed.
 * 409 if some of them are already spent (9.16). The caller holds the lock of the invoice and refunds the
 * money afterwards.
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
  if (bought.length === 0 || ledger.wallet.wallet_status === 'closed') return;
  const blocks = await findBlocksById(
    tx,
    caller.scope,
    bought.map(({ id }) => id),
  );
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
