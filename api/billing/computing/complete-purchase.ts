import { completePurchase } from '../../../domain/wallet/purchase.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { bonusExpiry } from '../credits/bonus-expiry.ts';
import { openLedger, writeCompletion } from '../credits/ledger.ts';
import { findPurchaseOfInvoice } from '../credits/wallet-repository.ts';

/**
 * Completes the purchase that an invoice sells, once it is paid: purchase and bonus in the transaction that
 * settles the payment (money 2.11.6). The rows name the invoice, so metadata that anyone may write decides
 * nothing. A second completion does nothing.
 */
export async function completePurchaseOf(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  caller: Caller,
  invoice: Pick<InvoiceRecord, 'id' | 'payment_status'>,
): Promise<void> {
  if (invoice.payment_status !== 'SUCCEEDED' && invoice.payment_status !== 'OVERPAID') return;
  const [first] = await findPurchaseOfInvoice(tx, caller.scope, invoice.id);
  if (first === undefined || first.transaction_status !== 'pending') return;
  const ledger = await openLedger(tx, deps, caller.scope, first.wallet_id);
  const rows = await findPurchaseOfInvoice(tx, caller.scope, invoice.id);
  const pending = rows
    .filter((row) => row.transaction_status === 'pending')
    .map((row) => ({ ...row, expiry_date: bonusExpiry(row, ledger.at) }));
  if (pending.length === 0) return;
  const decision = completePurchase(ledger.wallet, ledger.blocks, pending, ledger.at);
  await writeCompletion(tx, caller, ledger, decision, pending);
}
