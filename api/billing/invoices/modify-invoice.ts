import { invalidField } from '../../../domain/errors.ts';
import { assertRowsEditable, type LineEdit } from '../../../domain/invoicing/draft-edits.ts';
import { assertWrittenRow } from '../../../domain/invoicing/given-rows.ts';
import { decimal, decimalText, roundToStorage } from '../../../domain/money.ts';
import { moveInvoice } from '../../../domain/states/invoice.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { ModifyInvoiceBody, RowEditBody } from '../../../schemas/invoice-requests.ts';
import type { InvoiceLineRecord } from '../../../schemas/invoice.ts';
import { changed, sent, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { givenLine } from '../computing/invoice-of-rows.ts';
import type { Settled } from '../computing/settle.ts';
import { invoiceEvent } from '../computing/write-invoices.ts';
import { replaceInvoiceLines } from '../records/invoice-line-repository.ts';
import { updateInvoices } from '../records/invoice-repository.ts';
import { adjustChange } from './adjust-change.ts';
import { givenRow } from './create-one-off.ts';
import { assertReferences } from './row-references.ts';
import { lockWithConcerned, type LockedInvoice } from './lock-invoice.ts';
import { replaceInvoice } from './replace-invoice.ts';
import { editedDraft, writtenReplacement, type RowChange } from './written-replacement.ts';

/**
 * Adds, updates and removes rows in the order of the request, then computes discounts, taxes and totals again
 * (billing 17.6). A draft is edited in place; a finalized invoice is voided, and a linked draft carries the
 * edited rows. Later computations keep the rows. Returns the id of the invoice with the edited rows.
 */
export async function modifyInvoice(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: ModifyInvoiceBody,
): Promise<string> {
  const edits = body.line_items ?? [];
  const isDerived = body.apply_discount === true;
  if (edits.length === 0 && !isDerived)
    throw invalidField('line_items', 'must name at least one change');
  return await deps.pool.begin(async (tx) => {
    const locked = await lockWithConcerned(tx, caller.scope, id);
    const to = moveInvoice(locked.invoice.invoice_status, 'edit');
    assertRowsEditable(locked.invoice);
    const added = edits.flatMap((edit, index) =>
      edit.action === 'add' ? { row: edit, path: `line_items[${index}]` } : [],
    );
    await assertReferences(tx, caller.scope, locked.invoice.customer_id, added);
    const change: RowChange = {
      edits: edits.map((edit, index) =>
        lineEdit(deps, caller, locked, edit, `line_items[${index}]`),
      ),
      discounts: isDerived ? 'derived' : 'kept',
    };
    const edited =
      to === 'DRAFT'
        ? await editInPlace(tx, deps, caller, locked, change)
        : await editReplacement(tx, deps, caller, locked, change);
    await adjustChange(tx, deps, caller, locked, edited);
    failpoint('api.modify_invoice.before_commit');
    return edited.invoice.id;
  });
}

async function editInPlace(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  locked: LockedInvoice,
  change: RowChange,
): Promise<Settled> {
  const { invoice, lines } = await editedDraft(tx, deps, caller, locked, change);
  await replaceInvoiceLines(tx, caller.scope, [invoice.id], lines);
  await updateInvoices(tx, [invoice]);
  await writeOutboxEvents(tx, [
    invoiceEvent('invoice.update', caller.scope, { ...locked, invoice, lines }),
  ]);
  return { invoice, lines };
}

async function editReplacement(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  locked: LockedInvoice,
  change: RowChange,
): Promise<Settled> {
  const { invoice, lines } = await writtenReplacement(tx, deps, caller, locked, change);
  return { invoice: await replaceInvoice(tx, deps, caller, locked, { invoice, lines }), lines };
}

function lineEdit(
  deps: BillingDeps,
  caller: Caller,
  { invoice, lines }: LockedInvoice,
  edit: RowEditBody,
  path: string,
): LineEdit<InvoiceLineRecord> {
  if (edit.action === 'remove') return { action: 'remove', id: edit.id };
  if (edit.action === 'add') {
    const row = givenRow(edit);
    assertWrittenRow(row, invoice.currency, path);
    const by = { ...invoice, ...changed(deps, caller) };
    return { action: 'add', line: givenLine(deps, by, row, lines.length) };
  }
  const { action: _, id, ...fields } = edit;
  const before = lines.find((line) => line.id === id);
  const changes = sent({
    ...fields,
    amount: fields.amount ?? undefined,
    quantity: fields.quantity ?? undefined,
    metadata: fields.metadata ?? undefined,
  }) as Partial<Pick<InvoiceLineRecord, 'amount' | 'quantity'>>;
  if (before !== undefined) assertWrittenRow({ ...before, ...changes }, invoice.currency, path);
  const isRepriced = changes.amount !== undefined || changes.quantity !== undefined;
  return {
    action: 'update',
    id,
    new_id: deps.ids.next('inv_line'),
    changes: {
      ...changes,
      ...(isRepriced ? WRITTEN : {}),
      ...(before && changes.amount !== undefined ? customAmount(before, changes.amount) : {}),
      ...changed(deps, caller),
    },
  };
}

/** The amount in the custom currency follows the written amount: later credits are in that currency (billing 2.6). */
const customAmount = (
  { custom_currency }: InvoiceLineRecord,
  amount: string,
): Partial<Pick<InvoiceLineRecord, 'custom_currency'>> => {
  if (custom_currency === null) return {};
  const custom = roundToStorage(decimal(amount).div(custom_currency.conversion_factor));
  return { custom_currency: { ...custom_currency, amount: decimalText(custom) } };
};

/** A row whose amount or quantity a person wrote has no rating. */
const WRITTEN = {
  explanation: null,
  commitment_info: null,
  adjusted_entitlement_quantity: null,
  usage_queries: [],
  allowance_queries: [],
};
