import { assertNotAdjusted } from '../../../domain/invoicing/draft-edits.ts';
import { CHECKOUT_SOURCE } from '../../../domain/invoicing/gated-invoice.ts';
import { decimal } from '../../../domain/money.ts';
import { deriveInvoicePayment } from '../../../domain/invoicing/payment-ledger.ts';
import { moveInvoice } from '../../../domain/states/invoice.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { NO_AMOUNTS } from '../computing/invoice-record.ts';
import { invoiceEvent } from '../computing/write-invoices.ts';
import { insertInvoiceLines } from '../records/invoice-line-repository.ts';
import { insertInvoices } from '../records/invoice-repository.ts';
import { moveSubscriptionChanges } from '../records/subscription-change-repository.ts';
import { movePayments } from '../records/payment-repository.ts';
import { ledgerOf } from '../records/ledger-repository.ts';
import type { LockedInvoice } from './lock-invoice.ts';
import { voidLocked } from './void-invoice.ts';

/**
 * The draft that replaces an invoice, not computed yet: the same period, reason and sequence, without number
 * and amounts (billing 17.6). Only a person finalizes it.
 */
export function replacementOf(
  deps: Pick<BillingDeps, 'ids' | 'clock'>,
  { user_id }: Caller,
  invoice: InvoiceRecord,
): InvoiceRecord {
  const at = isoTime(deps.clock.now());
  return {
    ...invoice,
    ...NO_AMOUNTS,
    id: deps.ids.next('inv'),
    invoice_number: null,
    invoice_status: moveInvoice(null, 'create'),
    payment_status: 'PENDING',
    // A session that sold the original is over: nothing waits for it.
    source_type: invoice.source_type === CHECKOUT_SOURCE ? null : invoice.source_type,
    issue_date: invoice.issue_date_given ? invoice.issue_date : at,
    finalized_at: null,
    paid_at: null,
    voided_at: null,
    idempotency_key: null,
    invoice_pdf_url: null,
    recalculated_invoice_id: null,
    finalize_after: null,
    stream_heads: null,
    finalize_refusal: null,
    version: 1,
    created_at: at,
    updated_at: at,
    created_by: user_id,
    updated_by: user_id,
  };
}

/**
 * Voids the locked invoice and writes its replacement, linked by `recalculated_invoice_id`, in one
 * transaction. Payments move to the replacement instead of being refunded (money 9.15). 400 if credit notes adjust
 * an invoice that is not void yet.
 */
export async function replaceInvoice(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { invoice, customer, subscription }: LockedInvoice,
  replacement: {
    readonly invoice: InvoiceRecord;
    readonly lines: readonly InvoiceLineRecord[];
  },
): Promise<InvoiceRecord> {
  const { scope } = caller;
  if (invoice.invoice_status !== 'VOIDED') assertNotAdjusted(invoice);
  const linked = { ...invoice, recalculated_invoice_id: replacement.invoice.id };
  await movePayments(tx, scope, invoice.id, replacement.invoice.id);
  await voidLocked(tx, deps, caller, linked);
  const { invoice_status, total } = replacement.invoice;
  const ledger = await ledgerOf(tx, scope, replacement.invoice.id);
  const draft = {
    ...replacement.invoice,
    ...deriveInvoicePayment(invoice_status, decimal(total), ledger),
  };
  await insertInvoices(tx, [draft]);
  await insertInvoiceLines(tx, replacement.lines);
  await moveSubscriptionChanges(tx, scope, invoice.id, draft.id);
  const concerned = { invoice: draft, lines: replacement.lines, customer, subscription };
  await writeOutboxEvents(tx, [invoiceEvent('invoice.update', scope, concerned)]);
  return draft;
}
