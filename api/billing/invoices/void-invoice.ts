import { decimal } from '../../../domain/money.ts';
import { invalidOperation } from '../../../domain/errors.ts';
import { deriveInvoicePayment } from '../../../domain/invoicing/payment-ledger.ts';
import { voidInvoice as decideVoid } from '../../../domain/invoicing/void-invoice.ts';
import { isoTime } from '../../../platform/clock.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { getSubscription, lockSubscription } from '../records/subscription-repository.ts';
import {
  getInvoice,
  linesOfInvoices,
  lockInvoice,
  releaseLines,
  updateInvoices,
} from '../records/invoice-repository.ts';
import { ledgerOf } from '../records/ledger-repository.ts';
import { voidPaymentsInFlight } from '../payments/void-payments.ts';
import { invoiceEvent } from '../computing/write-invoices.ts';

/**
 * Voids an invoice: what its rows billed may be billed again, and its number stays used (billing
 * 17.6). Payments in flight are voided first.
 */
export async function voidInvoice(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  metadata: Record<string, string>,
): Promise<InvoiceRecord> {
  const { subscription_id } = await getInvoice(deps.pool, caller.scope, id);
  return await deps.pool.begin(async (tx) => {
    // Locks the subscription first, as everywhere: computations of its invoices wait here.
    if (subscription_id !== null) await lockSubscription(tx, caller.scope, subscription_id);
    const voided = await voidLocked(
      tx,
      deps,
      caller,
      await lockInvoice(tx, caller.scope, id),
      metadata,
    );
    failpoint('api.void_invoice.before_commit');
    return voided;
  });
}

/** The same inside a transaction that holds the invoice's lock. */
export async function voidLocked(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  { scope, user_id }: Caller,
  invoice: InvoiceRecord,
  metadata: Record<string, string> = {},
): Promise<InvoiceRecord> {
  const decision = decideVoid({ ...invoice, refunds_in_flight: '0' });
  if (decision.refund.gt(0))
    throw invalidOperation(
      'The invoice has payments; an invoice with payments cannot be voided in this version.',
      'amount_paid',
    );
  const at = isoTime(deps.clock.now());
  await voidPaymentsInFlight(tx, deps, { scope, user_id }, invoice.id);
  const ledger = await ledgerOf(tx, scope, invoice.id);
  const voided: InvoiceRecord = {
    ...invoice,
    ...deriveInvoicePayment(decision.invoice_status, decimal(invoice.total), ledger),
    invoice_status: decision.invoice_status,
    voided_at: at,
    finalize_after: null,
    metadata: { ...invoice.metadata, ...metadata },
    updated_at: at,
    updated_by: user_id,
  };
  await updateInvoices(tx, [voided]);
  await releaseLines(tx, scope, [invoice.id]);
  const lines = await linesOfInvoices(tx, scope, [invoice.id]);
  const customer = await getCustomer(tx, scope, invoice.customer_id);
  const subscription =
    invoice.subscription_id === null
      ? null
      : await getSubscription(tx, scope, invoice.subscription_id);
  const concerned = { invoice: voided, lines, customer, subscription };
  await writeOutboxEvents(tx, [invoiceEvent('invoice.update.voided', scope, concerned)]);
  return voided;
}
