import { invalidField, invalidOperation } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { UpdateInvoiceBody } from '../../../schemas/invoice-requests.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import { changed, sent, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { readInvoiceConfig } from '../computing/invoice-config.ts';
import { dueTermsOf } from '../computing/invoice-of-rows.ts';
import { resettleDraft } from '../computing/resettle-draft.ts';
import { dueOn } from '../computing/settle.ts';
import { invoiceEvent } from '../computing/write-invoices.ts';
import { replaceInvoiceLines } from '../records/invoice-line-repository.ts';
import { updateInvoices } from '../records/invoice-repository.ts';
import { adjustChange } from './adjust-change.ts';
import { lockWithConcerned, type LockedInvoice } from './lock-invoice.ts';

/**
 * Changes fields that do not affect amounts: metadata, due date, address of the PDF. `apply_discount` applies
 * the coupons of a draft again (specification, rule 7). 400 for a voided invoice.
 */
export async function updateInvoice(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: UpdateInvoiceBody,
): Promise<void> {
  await deps.pool.begin(async (tx) => {
    const locked = await lockWithConcerned(tx, caller.scope, id);
    const { invoice } = locked;
    if (invoice.invoice_status === 'VOIDED')
      throw invalidOperation('A VOIDED invoice cannot be changed.', 'invoice_status');
    if (body.apply_discount === true && invoice.invoice_status !== 'DRAFT')
      throw invalidOperation(
        `Coupons are applied again to a DRAFT only; the invoice is ${invoice.invoice_status}.`,
        'apply_discount',
      );
    const next: InvoiceRecord = {
      ...invoice,
      ...sent({
        metadata: body.metadata === null ? {} : body.metadata,
        invoice_pdf_url: body.invoice_pdf_url === '' ? null : body.invoice_pdf_url,
      }),
      ...(await dueDateOf(tx, deps, caller, locked, body)),
      ...changed(deps, caller),
    };
    await write(tx, deps, caller, { ...locked, invoice: next }, body.apply_discount === true);
    failpoint('api.update_invoice.before_commit');
  });
}

async function dueDateOf(
  tx: Transaction,
  deps: BillingDeps,
  { scope }: Caller,
  { invoice, customer, subscription }: LockedInvoice,
  { due_date }: UpdateInvoiceBody,
): Promise<Partial<InvoiceRecord>> {
  if (due_date === undefined) return {};
  const at = isoTime(deps.clock.now());
  if (due_date === null) {
    const issued = invoice.finalized_at ?? invoice.issue_date ?? at;
    const terms = dueTermsOf(customer, subscription);
    const { due_date_days } = await readInvoiceConfig(tx, scope);
    return { due_date: dueOn(issued, terms, due_date_days), due_date_given: false };
  }
  if (due_date < at) throw invalidField('due_date', 'must not be in the past');
  return { due_date, due_date_given: true };
}

async function write(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  locked: LockedInvoice,
  isDerived: boolean,
): Promise<void> {
  const { scope } = caller;
  const { invoice, lines } = isDerived
    ? await resettleDraft(deps, tx, scope, { ...locked, renamed: new Map(), discounts: 'derived' })
    : locked;
  if (isDerived) {
    await replaceInvoiceLines(tx, scope, [invoice.id], lines);
    await adjustChange(tx, deps, caller, locked, { invoice, lines });
  }
  await updateInvoices(tx, [invoice]);
  await writeOutboxEvents(tx, [
    invoiceEvent('invoice.update', scope, { ...locked, invoice, lines }),
  ]);
}
