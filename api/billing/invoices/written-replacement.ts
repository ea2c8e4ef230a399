import { editLines, type LineEdit } from '../../../domain/invoicing/draft-edits.ts';
import { assertNotBelowZero } from '../../../domain/invoicing/given-rows.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { InvoiceLineRecord } from '../../../schemas/invoice.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { resettleDraft } from '../computing/resettle-draft.ts';
import type { Settled } from '../computing/settle.ts';
import type { LockedInvoice } from './lock-invoice.ts';
import { replacementOf } from './replace-invoice.ts';

export interface RowChange {
  readonly edits: readonly LineEdit<InvoiceLineRecord>[];
  readonly discounts: 'kept' | 'derived';
}

/** The rows of a locked draft after the edits, with discounts, taxes and totals computed again. */
export async function editedDraft(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  locked: LockedInvoice,
  { edits, discounts }: RowChange,
  replaces?: string,
): Promise<Settled> {
  const { lines, renamed } =
    edits.length === 0
      ? { lines: locked.lines, renamed: new Map<string, string>() }
      : editLines(locked.lines, edits);
  assertNotBelowZero(lines);
  const invoice = {
    ...locked.invoice,
    is_manually_edited: locked.invoice.is_manually_edited || edits.length > 0,
    ...changed(deps, caller),
  };
  const positioned = lines.map((line, position) => ({ ...line, position }));
  const draft = { ...locked, invoice, lines: positioned, renamed, discounts };
  const replaced = replaces === undefined ? {} : { replaces };
  return await resettleDraft(deps, tx, caller.scope, { ...draft, ...replaced });
}

/**
 * The draft that replaces a finalized invoice and carries its rows, edited: every row has a new id, because
 * the voided invoice keeps its own.
 */
export async function writtenReplacement(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  locked: LockedInvoice,
  change: RowChange,
): Promise<Settled> {
  const draft = replacementOf(deps, caller, locked.invoice);
  const drafted = { ...locked, invoice: draft };
  const edited = await editedDraft(tx, deps, caller, drafted, change, locked.invoice.id);
  const ids = new Map(edited.lines.map(({ id }) => [id, deps.ids.next('inv_line')]));
  const newId = (id: string) => ids.get(id) ?? id;
  return {
    lines: edited.lines.map((line) => ({
      ...line,
      id: newId(line.id),
      invoice_id: draft.id,
      created_at: draft.created_at,
      updated_at: draft.updated_at,
    })),
    invoice: {
      ...edited.invoice,
      taxes: edited.invoice.taxes.map((tax) => ({
        ...tax,
        id: deps.ids.next('taxapp'),
        entity_id: draft.id,
      })),
      coupon_applications: edited.invoice.coupon_applications.map((application) => ({
        ...application,
        id: deps.ids.next('coupon_app'),
        invoice_id: draft.id,
        invoice_line_item_id:
          application.invoice_line_item_id === null
            ? null
            : newId(application.invoice_line_item_id),
        shares: application.shares.map((share) => ({
          ...share,
          invoice_line_item_id: newId(share.invoice_line_item_id),
        })),
      })),
    },
  };
}
