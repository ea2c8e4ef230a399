import { assertCollectable } from '../../../domain/invoicing/pay-from-wallets.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { lockInvoiceToPay } from '../computing/revise-invoice-payment.ts';

/**
 * Tries to collect the open amount of an invoice (money 8.1, billing 17.5). Without a usable method nothing
 * happens. A skipped invoice has nothing to pay.
 */
export async function attemptPayment(
  tx: Transaction,
  _deps: BillingDeps,
  caller: Caller,
  invoiceId: string,
): Promise<void> {
  const { invoice } = await lockInvoiceToPay(tx, caller, invoiceId);
  if (invoice.invoice_status === 'SKIPPED') return;
  assertCollectable(invoice);
}
