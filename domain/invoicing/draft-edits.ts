import { withArticle } from '../article.ts';
import { invalidField, invalidOperation, notFound } from '../errors.ts';
import { decimal, ZERO } from '../money.ts';
import type { CouponApplication, InvoiceCoupon } from './coupons.ts';
import type { InvoiceRow } from './invoice-row.ts';
import type { InvoiceType } from './zero-invoice.ts';

/**
 * One edit of a draft's rows, in the order of the request. `update` gives the row a new id and keeps the
 * fields that `changes` does not name. The amount is the amount of the row; it is not multiplied by the
 * quantity (billing 17.6, interface note 8).
 */
export type LineEdit<Line extends InvoiceRow> =
  | { readonly action: 'add'; readonly line: Line }
  | {
      readonly action: 'update';
      readonly id: string;
      readonly new_id: string;
      readonly changes: Partial<Omit<Line, 'id'>>;
    }
  | { readonly action: 'remove'; readonly id: string };

export interface EditedLines<Line extends InvoiceRow> {
  readonly lines: readonly Line[];
  /** Removed and replaced rows, to be archived. */
  readonly archived_ids: readonly string[];
  /** Old id → new id of the updated rows, to update references to them. */
  readonly renamed: ReadonlyMap<string, string>;
}

/**
 * The rows of a draft after the edits. Refuses an empty list of edits and a row that is not, or no longer, in
 * the draft. The state table decides whether the invoice can be edited.
 */
export function editLines<Line extends InvoiceRow>(
  lines: readonly Line[],
  edits: readonly LineEdit<Line>[],
): EditedLines<Line> {
  if (edits.length === 0) throw invalidField('line_items', 'must name at least one change');
  let edited = [...lines];
  const archived: string[] = [];
  const renamed = new Map<string, string>();

  for (const edit of edits) {
    if (edit.action === 'add') {
      edited.push(edit.line);
      continue;
    }
    const row = edited.findIndex((line) => line.id === edit.id);
    if (row < 0) throw notFound('Invoice line item', edit.id);
    archived.push(edit.id);
    if (edit.action === 'remove') {
      edited = edited.filter((line) => line.id !== edit.id);
      continue;
    }
    edited[row] = { ...edited[row]!, ...edit.changes, id: edit.new_id };
    renamed.set(edit.id, edit.new_id);
  }
  return { lines: edited, archived_ids: archived, renamed };
}

/**
 * The discounts of a draft, kept for the same draft with edited rows (billing 17.6). Each discount
 * keeps its amount and its rows, as far as these rows allow. It follows its rows to their new ids and ends
 * with the last of them. It never moves to another row, so an unedited draft keeps every share.
 */
export function keptDiscounts(
  applications: readonly CouponApplication[],
  renamed: ReadonlyMap<string, string>,
): InvoiceCoupon[] {
  return applications.map((application) => {
    const rows = application.shares.map((share) => latestId(share.invoice_line_item_id, renamed));
    return {
      coupon_id: application.coupon_id,
      coupon_association_id: application.coupon_association_id,
      type: application.discount_type,
      percentage_off: application.discount_percentage,
      amount_off: application.discount_type === 'fixed' ? application.discounted_amount : null,
      subscription_id: application.subscription_id,
      subscription_line_item_id: null,
      start_date: null,
      end_date: null,
      kept: {
        amount: application.discounted_amount,
        level: application.invoice_line_item_id === null ? 'invoice' : 'line_item',
        invoice_line_item_ids: new Set(rows),
      },
    };
  });
}

/** A row can be updated several times in one request. */
function latestId(id: string, renamed: ReadonlyMap<string, string>): string {
  const next = renamed.get(id);
  return next === undefined ? id : latestId(next, renamed);
}

/**
 * Whether computations keep the rows of the invoice, because a person or another command wrote them. A revision
 * above 0 is an invoice that an operation made of its own rows.
 */
export const hasKeptRows = (invoice: {
  readonly invoice_type: InvoiceType;
  readonly is_manually_edited: boolean;
  readonly revision: number;
}): boolean =>
  invoice.invoice_type !== 'SUBSCRIPTION' || invoice.is_manually_edited || invoice.revision > 0;

/**
 * Refuses an invoice that sells credits: its row is the purchase, and its replacement could not sell it again (money
 * 2.11.5, 9.16).
 */
export function assertRowsEditable(invoice: {
  readonly purchased_transaction_id: string | null;
}): void {
  if (invoice.purchased_transaction_id !== null) {
    throw invalidOperation(
      'The invoice sells credits: void it, and sell other credits with a new top-up.',
      'id',
    );
  }
}

/**
 * Refuses to replace an invoice that credit notes adjust: they name its rows and stay with it, so the replacement would
 * ask for the credited amount again (money 9.15).
 */
export function assertNotAdjusted(invoice: { readonly adjustment_amount: string }): void {
  if (decimal(invoice.adjustment_amount).gt(ZERO)) {
    throw invalidOperation(
      `Credit notes adjust the invoice by ${invoice.adjustment_amount}: void them, change the invoice, and credit its replacement.`,
      'adjustment_amount',
    );
  }
}

/**
 * A finalized invoice, or a voided one without a replacement, can be recalculated: it is voided and a linked
 * draft replaces it (billing 17.6). Refuses drafts, skipped invoices, one-off invoices, and
 * invoices that already have a replacement.
 */
export function assertRecalculable(invoice: {
  readonly invoice_type: string;
  readonly invoice_status: string;
  readonly recalculated_invoice_id: string | null;
}): void {
  if (invoice.invoice_type !== 'SUBSCRIPTION') {
    throw invalidOperation('Only subscription invoices can be recalculated.', 'invoice_type');
  }
  if (invoice.recalculated_invoice_id !== null) {
    throw invalidOperation(
      'The invoice was recalculated before and has a replacement.',
      'recalculated_invoice_id',
    );
  }
  if (invoice.invoice_status !== 'FINALIZED' && invoice.invoice_status !== 'VOIDED') {
    throw invalidOperation(
      `${withArticle(invoice.invoice_status)} invoice cannot be recalculated; finalize it first.`,
      'invoice_status',
    );
  }
}
