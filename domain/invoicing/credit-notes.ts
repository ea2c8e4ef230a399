import { withArticle } from '../article.ts';
import type { CREDIT_NOTE_REASONS, REFUND_TARGETS } from '../../schemas/words.ts';
import { BillingError, invalidField, invalidOperation } from '../errors.ts';
import { isRounded, roundToCurrency, type Currency } from '../currency.ts';
import { Decimal, decimal, decimalText, sum, ZERO } from '../money.ts';
import { netAmount, type DiscountedAmount } from '../pricing/net-amount.ts';
import type { CreditNoteStatus, CreditNoteType } from '../states/credit-note.ts';
import type { InvoiceStatus } from '../states/invoice.ts';
import { byText } from '../text-order.ts';
import type { PaymentStatus } from '../states/payment-status.ts';

export type CreditNoteReason = (typeof CREDIT_NOTE_REASONS)[number];

export type RefundTarget = (typeof REFUND_TARGETS)[number];

/** Replaces a row id in a line that credits the exclusive tax of the credited rows (money 10.6). */
export const TAX_LINE = 'tax';

/**
 * The fields of an invoice that limit its credit notes. Amounts as decimal text, read under the invoice lock.
 */
export interface CreditableInvoice {
  readonly id: string;
  readonly currency: Currency;
  readonly invoice_status: InvoiceStatus;
  readonly payment_status: PaymentStatus;
  readonly total: string;
  readonly adjustment_amount: string;
  readonly amount_paid: string;
  readonly refunded_amount: string;
  /** Sum of the refunds in flight. */
  readonly refunds_in_flight: string;
  readonly exclusive_tax: string;
  /** The exclusive tax that changes have not returned; absent: all of it. */
  readonly tax_left?: string;
  readonly lines: readonly CreditableRow[];
}

/** A row of the invoice. */
export interface CreditableRow extends DiscountedAmount {
  readonly id: string;
  /** What changes have left of its service, before this note; absent or null: they have credited nothing of it. */
  readonly service?: { readonly key: string; readonly left: string } | null;
}

/** One credited row, or `TAX_LINE`. */
export interface CreditNoteLine {
  readonly invoice_line_item_id: string;
  readonly amount: string;
}

export interface StoredCreditNote {
  readonly credit_note_status: CreditNoteStatus;
  readonly line_items: readonly CreditNoteLine[];
}

/**
 * REFUND returns paid money, ADJUSTMENT lowers the amount due. The payment status decides which
 * (money 10.2).
 */
export function creditNoteType(
  status: PaymentStatus,
  requested: CreditNoteType | null = null,
): CreditNoteType {
  const type = TYPE_BY_STATUS[status];
  if (type === null) {
    throw invalidOperation(`${withArticle(status)} invoice cannot be credited.`, 'payment_status');
  }
  if (requested !== null && requested !== type) {
    throw invalidField('credit_note_type', `must be ${type} on a ${status} invoice`);
  }
  return type;
}

const TYPE_BY_STATUS: Readonly<Record<PaymentStatus, CreditNoteType | null>> = {
  SUCCEEDED: 'REFUND',
  OVERPAID: 'REFUND',
  PARTIALLY_REFUNDED: 'REFUND',
  PENDING: 'ADJUSTMENT',
  INITIATED: 'ADJUSTMENT',
  PROCESSING: 'ADJUSTMENT',
  FAILED: 'ADJUSTMENT',
  REFUNDED: null,
  VOIDED: null,
};

/** Target of a refund; default is the prepaid wallet. An adjustment has no target (money 10.8). */
export function refundTarget(
  type: CreditNoteType,
  requested: RefundTarget | null,
): RefundTarget | null {
  if (type === 'REFUND') return requested ?? 'PREPAID_WALLET';
  if (requested !== null) throw invalidField('refund_target', 'is for refund credit notes');
  return null;
}

/** Total amount that can still be credited (billing 18, money 10.5). */
export function creditCapacity(
  invoice: Pick<
    CreditableInvoice,
    'total' | 'adjustment_amount' | 'amount_paid' | 'refunded_amount' | 'refunds_in_flight'
  >,
  type: CreditNoteType,
): Decimal {
  const left =
    type === 'REFUND'
      ? decimal(invoice.amount_paid)
          .minus(decimal(invoice.refunded_amount))
          .minus(decimal(invoice.refunds_in_flight))
      : decimal(invoice.total)
          .minus(decimal(invoice.adjustment_amount))
          .minus(decimal(invoice.amount_paid));
  return Decimal.max(left, ZERO);
}

/**
 * Checks a credit note and returns its total (money 10.5). The check runs at creation and, with the
 * note's own type, again at finalization, because a draft reserves nothing. Limits count finalized notes only
 * (money 8.4.4): each row up to its net and up to what changes have left of its service, all rows together up to
 * `creditCapacity`.
 */
export function checkCreditNote(
  invoice: CreditableInvoice,
  type: CreditNoteType,
  lines: readonly CreditNoteLine[],
  earlierNotes: readonly StoredCreditNote[],
): Decimal {
  if (invoice.invoice_status !== 'FINALIZED') {
    throw invalidOperation(
      `${withArticle(invoice.invoice_status)} invoice cannot be credited.`,
      'invoice_status',
    );
  }
  if (lines.length === 0) throw invalidField('line_items', 'must name at least one line');
  const earlier = earlierNotes
    .filter((note) => note.credit_note_status === 'FINALIZED')
    .flatMap((note) => note.line_items);

  lines.forEach((line, index) => {
    const path = `line_items[${index}].amount`;
    const amount = decimal(line.amount);
    if (amount.lte(0)) throw invalidField(path, 'must be above 0');
    if (!isRounded(amount, invoice.currency)) {
      throw invalidField(path, 'has more decimals than the currency');
    }
    // A row that occurs twice in one note counts twice.
    const before = [...earlier, ...lines.slice(0, index)];
    const cap =
      line.invoice_line_item_id === TAX_LINE
        ? taxCap(invoice, [...earlier, ...lines])
        : netOf(invoice, line.invoice_line_item_id, `line_items[${index}].invoice_line_item_id`);
    const ofRow = cap.minus(creditedOn(before, line.invoice_line_item_id));
    const ofService = serviceLeft(invoice, line.invoice_line_item_id, lines.slice(0, index));
    const left = Decimal.max(ofService === null ? ofRow : Decimal.min(ofRow, ofService), ZERO);
    if (amount.gt(left)) throw tooMuch(path, amount, left);
  });

  const total = sum(lines.map((line) => decimal(line.amount)));
  const capacity = creditCapacity(invoice, type);
  if (total.gt(capacity)) throw tooMuch('line_items', total, capacity);
  return total;
}

/**
 * Content of the request, to detect a repeated creation (money 10.12): canonical JSON with
 * canonical amounts and sorted lines. The caller hashes it. The number of the note is not part of it.
 */
export function creditNoteContent(request: {
  readonly invoice_id: string;
  readonly reason: CreditNoteReason;
  readonly credit_note_type: CreditNoteType;
  readonly refund_target: RefundTarget | null;
  readonly process_credit_note: boolean;
  readonly memo: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly line_items: readonly CreditNoteLine[];
}): string {
  const lines = request.line_items
    .map((line) => [line.invoice_line_item_id, decimalText(decimal(line.amount))])
    .sort(compareJson);
  return JSON.stringify([
    request.invoice_id,
    request.reason,
    request.credit_note_type,
    request.refund_target,
    request.process_credit_note,
    request.memo,
    request.metadata === null ? null : Object.entries(request.metadata).sort(compareJson),
    lines,
  ]);
}

const compareJson = (left: readonly string[], right: readonly string[]): number =>
  byText(JSON.stringify(left), JSON.stringify(right));

const creditedOn = (lines: readonly CreditNoteLine[], id: string): Decimal =>
  sum(lines.filter((line) => line.invoice_line_item_id === id).map((line) => decimal(line.amount)));

/** What is left of the service of a row, after earlier lines of this note; null if no change has credited a part. */
function serviceLeft(
  invoice: CreditableInvoice,
  id: string,
  lines: readonly CreditNoteLine[],
): Decimal | null {
  const service = invoice.lines.find((row) => row.id === id)?.service ?? null;
  if (service === null) return null;
  const rows = invoice.lines.filter((row) => row.service?.key === service.key);
  return decimal(service.left).minus(sum(rows.map((row) => creditedOn(lines, row.id))));
}

function netOf(invoice: CreditableInvoice, id: string, path: string): Decimal {
  const line = invoice.lines.find((candidate) => candidate.id === id);
  if (line === undefined) throw invalidField(path, 'must be a row of the invoice');
  return netAmount(line);
}

/** Exclusive tax of the credited amounts of the rows, including this note (money 10.6). */
function taxCap(invoice: CreditableInvoice, credited: readonly CreditNoteLine[]): Decimal {
  const taxable = sum(invoice.lines.map((line) => netOf(invoice, line.id, 'line_items')));
  if (taxable.lte(0)) return ZERO;
  const rows = sum(
    credited
      .filter((line) => line.invoice_line_item_id !== TAX_LINE)
      .map((line) => decimal(line.amount)),
  );
  const tax = decimal(invoice.exclusive_tax).times(rows).div(taxable);
  const left = decimal(invoice.tax_left ?? invoice.exclusive_tax);
  return Decimal.min(roundToCurrency(tax, invoice.currency), left);
}

function tooMuch(path: string, amount: Decimal, left: Decimal): BillingError {
  const message = `${decimalText(amount)} exceeds the ${decimalText(left)} that can be credited.`;
  return new BillingError('invalid', 'validation_error', message, [
    { path, code: 'exceeds_creditable_amount', message },
  ]);
}
