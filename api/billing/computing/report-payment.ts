import { assertNotGated } from '../../../domain/invoicing/gated-invoice.ts';
import { reportPayment, type KnownPayment } from '../../../domain/invoicing/manual-payment.ts';
import { decimal } from '../../../domain/money.ts';
import type { PaymentStatus } from '../../../domain/states/payment-status.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import { assertPurchaseOpen } from './complete-purchase.ts';
import { lockInvoiceToPay, reviseInvoicePayment } from './revise-invoice-payment.ts';
import {
  archiveManualPayments,
  insertPayment,
  paymentsOfInvoice,
} from '../records/payment-repository.ts';

/**
 * Sets the payment status of an invoice manually. The status becomes one OFFLINE payment that replaces
 * earlier manual ones, and the amounts of the invoice are derived again (money 8.4.4).
 */
export async function reportInvoicePayment(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  invoiceId: string,
  report: { readonly payment_status: PaymentStatus; readonly amount?: string | null },
): Promise<InvoiceRecord> {
  const locked = await lockInvoiceToPay(tx, caller, invoiceId);
  const { invoice } = locked;
  assertNotGated(invoice);
  if (report.payment_status !== 'FAILED') await assertPurchaseOpen(tx, caller.scope, invoice);
  const payments = await paymentsOfInvoice(tx, caller.scope, invoiceId);
  const amount = report.amount == null ? null : decimal(report.amount);
  const after = reportPayment({ ...invoice, payments }, report.payment_status, amount);
  await archiveManualPayments(tx, caller.scope, invoiceId, changed(deps, caller));
  for (const row of after.filter((payment) => payment.is_manual))
    await insertPayment(tx, manualPayment(deps, caller, invoice, row));
  return await reviseInvoicePayment(tx, deps, caller, locked);
}

function manualPayment(
  deps: BillingDeps,
  caller: Caller,
  invoice: InvoiceRecord,
  row: KnownPayment,
) {
  const record = newRecord(deps, caller, 'pay');
  const isSettled = row.payment_status === 'SUCCEEDED';
  return {
    ...record,
    destination_type: 'INVOICE' as const,
    destination_id: invoice.id,
    customer_id: invoice.customer_id,
    payment_method_type: 'OFFLINE' as const,
    payment_method_id: null,
    payment_gateway: null,
    connection_id: null,
    gateway_payment_id: null,
    gateway_tracking_id: null,
    gateway_metadata: {},
    amount: row.amount,
    currency: invoice.currency,
    payment_status: row.payment_status,
    is_manual: true,
    track_attempts: false,
    payment_url: null,
    success_url: null,
    cancel_url: null,
    save_card_and_make_default: false,
    idempotency_key: `manual-${record.id}`,
    request_fingerprint: '',
    implicit_key: null,
    error_message: null,
    succeeded_at: isSettled ? record.created_at : null,
    failed_at: isSettled ? null : record.created_at,
    refunded_at: null,
    voided_at: null,
    last_synced_at: null,
    last_answered_at: null,
    archived_at: null,
    metadata: {},
  };
}
