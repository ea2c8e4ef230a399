import type { Db, Scope } from '../../../../postgres/client.ts';
import { decimalText } from '../../../../domain/money.ts';
import type {
  ChangedInvoice,
  ChangedLineItem,
  ChangedResources,
} from '../../../../schemas/subscription-modify.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../../schemas/invoice.ts';
import type { LineItemRow } from '../../../../schemas/subscription.ts';
import { withProjectedCredits } from '../../computing/projected-credits.ts';
import { settledAnswers } from '../../invoices/answers.ts';
import { transactionAnswer } from '../../credits/wallet-answers.ts';
import type { LineSwap } from '../../proration/change-rows.ts';
import type { SettledChange } from '../../proration/settle-change.ts';
import type { WrittenChange } from '../../proration/write-change.ts';
import type { How } from './change-gate.ts';

export const NOTHING_CHANGED: ChangedResources = {
  line_items: [],
  invoices: [],
  subscriptions: [],
};

/** Ids in the answer of a preview; no record has them. */
const PREVIEW = {
  invoice: '(preview-invoice)',
  line: '(preview-line)',
  created: '(preview-created)',
  ended: '(preview-ended)',
} as const;

/** The lines that a change begins and ends. `openEnd` is the end of lines without one. */
export function changedLines(
  swaps: readonly LineSwap[],
  options: { readonly isPreview: boolean; readonly openEnd: string | null },
): ChangedLineItem[] {
  const shown = (
    line: LineItemRow,
    change_action: 'created' | 'ended',
    end_date: string | null,
  ): ChangedLineItem => ({
    id: options.isPreview ? PREVIEW[change_action] : line.id,
    price_id: line.price_id,
    quantity: line.quantity,
    start_date: line.start_date,
    end_date,
    change_action,
  });
  const created = swaps.flatMap(({ after }) =>
    after === null ? [] : shown(after, 'created', after.end_date ?? options.openEnd),
  );
  const ended = swaps.flatMap(({ before, effective_at }) =>
    before === null ? [] : shown(before, 'ended', effective_at),
  );
  return [...created, ...ended];
}

/** A subscription that a change would create has no id yet. */
export const previewedSubscription = (
  changed: ChangedResources['subscriptions'][number],
): ChangedResources['subscriptions'][number] =>
  changed.action === 'created' ? { ...changed, id: PREVIEW.created } : changed;

/** The settlement of a previewed change, with the prepaid credits that would pay its invoice. */
export async function previewedInvoices(
  db: Db,
  scope: Scope,
  change: SettledChange,
  { at, isByCheckout = false }: Pick<How, 'at' | 'isByCheckout'>,
): Promise<ChangedInvoice[]> {
  if (change.invoice !== null) {
    const issued = isByCheckout
      ? change.invoice
      : await withProjectedCredits(db, scope, change.invoice, at);
    return await previewedCreations(db, scope, [issued]);
  }
  if (change.credit.isZero()) return [];
  return [
    {
      id: '(preview-credit)',
      action: 'wallet_credit',
      status: 'preview',
      amount: decimalText(change.credit),
      invoice: null,
      wallet_transaction: null,
    },
  ];
}

/** The settlement of an executed change. */
export async function writtenInvoices(
  db: Db,
  scope: Scope,
  { invoice, credited }: Pick<WrittenChange, 'invoice' | 'credited'>,
): Promise<ChangedInvoice[]> {
  if (invoice !== null) return await writtenCreations(db, scope, [invoice]);
  if (credited === null) return [];
  const wallet_transaction = transactionAnswer(credited);
  return [
    {
      id: credited.id,
      action: 'wallet_credit',
      status: 'issued',
      amount: credited.amount,
      invoice: null,
      wallet_transaction,
    },
  ];
}

interface WithRows {
  readonly invoice: InvoiceRecord;
  readonly lines: readonly InvoiceLineRecord[];
}

/** Invoices that a change would create. */
export async function previewedCreations(
  db: Db,
  scope: Scope,
  invoices: readonly WithRows[],
): Promise<ChangedInvoice[]> {
  const shown = invoices.map(({ invoice, lines }) => ({
    invoice: { ...invoice, id: PREVIEW.invoice },
    lines: lines.map((line) => ({ ...line, id: PREVIEW.line, invoice_id: PREVIEW.invoice })),
  }));
  const answers = await settledAnswers(db, scope, shown, {});
  return shown.map(({ invoice }, index) => created(invoice, 'preview', answers[index]!));
}

/** Invoices that a change has created. */
export async function writtenCreations(
  db: Db,
  scope: Scope,
  invoices: readonly WithRows[],
): Promise<ChangedInvoice[]> {
  const answers = await settledAnswers(db, scope, invoices, { customer: true });
  return invoices.map(({ invoice }, index) =>
    created(invoice, invoice.payment_status, answers[index]!),
  );
}

const created = (
  { id, amount_due: amount }: InvoiceRecord,
  status: string,
  invoice: NonNullable<ChangedInvoice['invoice']>,
): ChangedInvoice => ({ id, action: 'created', status, amount, invoice, wallet_transaction: null });
