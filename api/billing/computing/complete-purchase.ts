import { BillingError, invalidOperation } from '../../../domain/errors.ts';
import { completePurchase } from '../../../domain/wallet/purchase.ts';
import type { Db, Scope, Transaction } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { bonusExpiry } from '../credits/bonus-expiry.ts';
import { openLedger, writeCompletion } from '../credits/ledger.ts';
import { lockWallet } from '../credits/wallet-repository.ts';
import { findPurchaseOfInvoice } from '../credits/wallet-transaction-repository.ts';

/**
 * Completes the purchase that an invoice sells, once it is paid: purchase and bonus in the transaction that
 * settles the payment (money 2.11.6). The rows name the invoice, so metadata that anyone may write decides
 * nothing. A second completion does nothing. 409 if the wallet is closed at this moment: what pays is repeated, and
 * finds that the purchase has failed.
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
  if (rows.some((row) => row.transaction_status === 'failed')) throw closedMeanwhile();
  if (pending.length === 0) return;
  const decision = completePurchase(ledger.wallet, ledger.blocks, pending, ledger.at);
  await writeCompletion(tx, caller, ledger, decision, pending);
}

const closedMeanwhile = (): BillingError =>
  new BillingError(
    'conflict',
    'conflict',
    'The wallet of this purchase is being closed. Repeat the request.',
  );

/**
 * Whether the invoice sells credits that its payment can no longer add, because their wallet was closed or
 * converted before (money 2.11.9).
 */
export async function hasFailedPurchase(
  db: Db,
  scope: Scope,
  { id, purchased_transaction_id }: Pick<InvoiceRecord, 'id' | 'purchased_transaction_id'>,
): Promise<boolean> {
  if (purchased_transaction_id === null) return false;
  const [purchase] = await findPurchaseOfInvoice(db, scope, id);
  return purchase?.transaction_status === 'failed';
}

/**
 * 400: nothing is paid for credits that cannot be added. A gateway's late money is refunded instead. Locks the wallet
 * of a purchase, so that it is not closed before the payment is stored. The caller holds the lock of the invoice.
 */
export async function assertPurchaseOpen(
  tx: Transaction,
  scope: Scope,
  invoice: Pick<InvoiceRecord, 'id' | 'purchased_transaction_id'>,
): Promise<void> {
  if (invoice.purchased_transaction_id === null) return;
  const [purchase] = await findPurchaseOfInvoice(tx, scope, invoice.id);
  if (purchase !== undefined) await lockWallet(tx, scope, purchase.wallet_id);
  if (await hasFailedPurchase(tx, scope, invoice))
    throw invalidOperation(
      'The wallet of this purchase is closed, so the credits cannot be added: void the invoice.',
      'invoice_id',
    );
}
