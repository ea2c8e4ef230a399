import {
  creditCapacity,
  creditNoteType,
  TAX_LINE,
} from '../../../domain/invoicing/credit-notes.ts';
import { invalidField, invalidOperation } from '../../../domain/errors.ts';
import { roundToCurrency } from '../../../domain/currency.ts';
import {
  rowsToSettle,
  type LateRow,
  type SettledShare,
} from '../../../domain/invoicing/late-usage.ts';
import { refundsInFlight } from '../../../domain/invoicing/refunds.ts';
import { Decimal, decimal, decimalText, sum, ZERO } from '../../../domain/money.ts';
import { netAmount } from '../../../domain/pricing/net-amount.ts';
import { isoTime } from '../../../platform/clock.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SettleLateUsageBody } from '../../../schemas/late-usage.ts';
import { runCommand } from '../../conventions/command.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { createInvoiceOfRows } from '../computing/invoice-of-rows.ts';
import { readStoredWatermarks } from '../computing/stored-watermarks.ts';
import { storedTaxes } from '../computing/tax-rows.ts';
import { createCreditNote } from '../credit-notes/create-credit-note.ts';
import { checkUsage } from '../invoices/check-usage.ts';
import { lockWithConcerned, type LockedInvoice } from '../invoices/lock-invoice.ts';
import { creditNotesOfInvoice, linesOfCreditNotes } from '../records/credit-note-repository.ts';
import { getInvoice } from '../records/invoice-repository.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import {
  countLateUsageSettlements,
  insertLateUsageSettlement,
  lateUsageSettlements,
} from '../records/late-usage-repository.ts';
import { refundsOfInvoice } from '../records/refund-repository.ts';
import { getSubscription } from '../records/subscription-repository.ts';
import { compareLateUsage } from './compare-late-usage.ts';

/** A settlement: its document and what it charged, negative for a credit. */
export interface SettledLateUsage {
  readonly document_id: string;
  readonly amount: string;
}

/**
 * Settles the late usage of a final invoice: with a one-off invoice for the rows that cost more, or with a
 * credit note for the rows that cost less (billing 17.6). Only a person does this. What earlier settlements
 * charged or credited is not settled again. The rows have the taxes of the invoice.
 */
export async function settleLateUsage(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  { as }: Pick<SettleLateUsageBody, 'as'>,
): Promise<SettledLateUsage> {
  return await settledWith(deps, caller, id, as, async (_tx, settled) => settled);
}

/**
 * What `settleLateUsage` would write: the settlement is written, read by `answer` in its transaction, and undone.
 * Its number and ids are not kept, so the document that is issued has others.
 */
export async function previewLateUsage<Answer>(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  { as }: Pick<SettleLateUsageBody, 'as'>,
  answer: (tx: Transaction, settled: SettledLateUsage) => Promise<Answer>,
): Promise<Answer> {
  const undo = new Error('rollback of a preview');
  const read: { answer?: Answer } = {};
  try {
    await settledWith(deps, caller, id, as, async (tx, settled) => {
      read.answer = await answer(tx, settled);
      throw undo;
    });
  } catch (error) {
    if (error !== undo) throw error;
  }
  return read.answer!;
}

/** Writes a settlement; `end` is the last step of its transaction. */
async function settledWith(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  as: SettleLateUsageBody['as'],
  end: (tx: Transaction, settled: SettledLateUsage) => Promise<SettledLateUsage>,
): Promise<SettledLateUsage> {
  const { pool } = deps;
  const { scope } = caller;
  return await runCommand<SettledLateUsage>(deps, 'invoice', async () => {
    const invoice = await getInvoice(pool, scope, id);
    assertSettleable(invoice);
    const subscription = await getSubscription(pool, scope, invoice.subscription_id!);
    const lines = await linesOfInvoices(pool, scope, [id]);
    const earlier = await lateUsageSettlements(pool, scope, [id]);
    const { now } = await checkUsage(deps, scope, id);
    if (now === null) throw noUsage();
    const shares = earlier.flatMap((settlement) => settlement.shares);
    const final = { invoice, subscription, lines };
    const rows = await compareLateUsage(deps, caller, final, readStoredWatermarks(now), shares);
    return async (tx) => {
      const locked = await lockWithConcerned(tx, scope, id);
      if (locked.invoice.version !== invoice.version) return null;
      if (locked.subscription?.version !== subscription.version) return null;
      const current = await lateUsageSettlements(tx, scope, [id]);
      if (documentsOf(current) !== documentsOf(earlier)) return null;
      const settled = await settle(tx, deps, caller, locked, as, rowsToSettle(rows, as));
      await insertLateUsageSettlement(tx, {
        document_id: settled.document_id,
        tenant_id: scope.tenant_id,
        environment_id: scope.environment_id,
        invoice_id: id,
        settled_as: as,
        shares: settled.shares,
        usage_watermarks: now,
        created_at: isoTime(deps.clock.now()),
        created_by: caller.user_id,
      });
      failpoint('api.settle_late_usage.before_commit');
      return await end(tx, { document_id: settled.document_id, amount: settled.amount });
    };
  });
}

const documentsOf = (settlements: readonly { readonly document_id: string }[]): string =>
  settlements.map(({ document_id }) => document_id).join();

function assertSettleable(invoice: InvoiceRecord): void {
  const { invoice_status, invoice_type, usage_watermarks, subscription_id, revision } = invoice;
  if (invoice_status === 'SKIPPED')
    throw invalidOperation(
      'The invoice is SKIPPED: compute it again instead of settling its late usage.',
      'invoice_status',
    );
  if (invoice_status !== 'FINALIZED')
    throw invalidOperation(
      `Late usage of a FINALIZED invoice is settled; the invoice is ${invoice_status}.`,
      'invoice_status',
    );
  const isOfSubscription = invoice_type === 'SUBSCRIPTION' && subscription_id !== null;
  if (!isOfSubscription || usage_watermarks === null || revision > 0) throw noUsage();
}

const noUsage = () => invalidOperation('No usage was billed with the invoice.', 'invoice_type');

interface Written extends SettledLateUsage {
  readonly shares: readonly SettledShare[];
}

async function settle(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  locked: LockedInvoice,
  as: SettleLateUsageBody['as'],
  rows: readonly LateRow[],
): Promise<Written> {
  if (rows.length === 0)
    throw invalidField(
      'as',
      as === 'invoice'
        ? 'no row of the invoice costs more today'
        : 'no row of the invoice costs less today',
    );
  const document_id =
    as === 'invoice'
      ? await charged(tx, deps, caller, locked, rows)
      : await credited(tx, deps, caller, locked, rows);
  return {
    document_id,
    amount: decimalText(sum(rows.map(({ outstanding }) => outstanding))),
    shares: rows.map(({ difference, settled, outstanding, line_item_id, ...row }) => ({
      ...row,
      amount: decimalText(outstanding),
    })),
  };
}

/** A one-off invoice of the same customer, currency, period and taxes. */
async function charged(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { invoice, lines, customer, subscription }: LockedInvoice,
  rows: readonly LateRow[],
): Promise<string> {
  const written = await createInvoiceOfRows(tx, deps, caller, {
    invoice_type: 'ONE_OFF',
    billing_reason: 'MANUAL',
    customer,
    subscription,
    currency: invoice.currency,
    rows: rows.map((row) => {
      const line = lines.find(({ id }) => id === row.line_item_id);
      return {
        display_name: nameOf(row),
        amount: decimalText(row.outstanding),
        quantity: '1',
        price_type: 'USAGE' as const,
        entity_type: line?.entity_type ?? null,
        entity_id: line?.entity_id ?? null,
        price_id: line?.price_id ?? null,
        meter_id: line?.meter_id ?? null,
        meter_display_name: line?.meter_display_name ?? null,
        plan_display_name: line?.plan_display_name ?? null,
        period_start: row.period_start,
        period_end: row.period_end,
        metadata: { late_usage_of: line?.id ?? invoice.id },
      };
    }),
    period: { start: invoice.period_start!, end: invoice.period_end! },
    taxes: storedTaxes(invoice),
    isIssued: true,
    description: `Late usage of invoice ${invoice.invoice_number ?? invoice.id}`,
    metadata: { late_usage_of: invoice.id },
  });
  return written.invoice.id;
}

const nameOf = ({ display_name }: LateRow): string =>
  display_name === null ? 'Late usage' : `Late usage: ${display_name}`;

/** A final credit note of the rows, with their share of the exclusive tax. */
async function credited(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { invoice, lines }: LockedInvoice,
  rows: readonly LateRow[],
): Promise<string> {
  const { scope } = caller;
  const earlier = await creditNotesOfInvoice(tx, scope, invoice.id);
  const final = earlier.filter(({ credit_note_status }) => credit_note_status === 'FINALIZED');
  const noteLines = await linesOfCreditNotes(
    tx,
    scope,
    final.map(({ id }) => id),
  );
  const credits = rows.map((row) => ({
    invoice_line_item_id: creditedLine(row),
    amount: decimalText(row.outstanding.neg()),
    display_name: nameOf(row),
    metadata: {},
  }));
  const tax = taxOf(invoice, lines, [...noteLines, ...credits]);
  const total = sum(credits.map(({ amount }) => decimal(amount))).plus(tax);
  await assertMoneyLeft(tx, scope, invoice, total);
  const count = await countLateUsageSettlements(tx, scope, invoice.id);
  const { note } = await createCreditNote(tx, deps, caller, {
    invoice_id: invoice.id,
    reason: 'BILLING_ERROR',
    credit_note_number: null,
    line_items: tax.gt(0) ? [...credits, { ...TAX, amount: decimalText(tax) }] : credits,
    process_credit_note: true,
    memo: `Late usage of invoice ${invoice.invoice_number ?? invoice.id}`,
    metadata: { late_usage_of: invoice.id },
    idempotency_key: `late_usage-${invoice.id}-${count + 1}`,
  });
  return note.id;
}

/**
 * A credit note credits money only; what was paid in credits returns as the same credits, when the invoice is billed
 * again (money 9.13, 10.5).
 */
async function assertMoneyLeft(
  tx: Transaction,
  scope: Scope,
  invoice: InvoiceRecord,
  total: Decimal,
): Promise<void> {
  if (decimal(invoice.total_prepaid_credits_applied).isZero()) return;
  const refunds = await refundsOfInvoice(tx, scope, invoice.id);
  const refunds_in_flight = decimalText(refundsInFlight(refunds));
  const type = creditNoteType(invoice.payment_status);
  const left = creditCapacity({ ...invoice, refunds_in_flight }, type);
  if (total.lte(left)) return;
  throw invalidField(
    'as',
    `a credit note of ${decimalText(total)} exceeds the ${decimalText(left)} of money that can be credited: prepaid credits have paid the rest. Recalculate the invoice; its credits return, and it is billed again`,
  );
}

const TAX = { invoice_line_item_id: TAX_LINE, display_name: 'Tax', metadata: {} };

/** A credit note credits rows of the invoice. A row that only a settlement charged is not among them. */
function creditedLine({ line_item_id, display_name }: LateRow): string {
  if (line_item_id !== null) return line_item_id;
  throw invalidOperation(
    `Row ${display_name ?? ''} is not on the invoice: void the invoice that charged it.`,
    'as',
  );
}

/** The exclusive tax of everything credited so far, without the tax that is credited already (money 10.6). */
function taxOf(
  { tax_summary, currency }: InvoiceRecord,
  lines: LockedInvoice['lines'],
  credited: readonly { readonly invoice_line_item_id: string; readonly amount: string }[],
): Decimal {
  const taxable = sum(lines.map(netAmount));
  if (tax_summary === null || taxable.lte(0)) return ZERO;
  const amountOf = (isTax: boolean) =>
    sum(
      credited
        .filter(({ invoice_line_item_id: id }) => (id === TAX_LINE) === isTax)
        .map(({ amount }) => decimal(amount)),
    );
  const due = decimal(tax_summary.exclusive_tax).times(amountOf(false)).div(taxable);
  return Decimal.max(roundToCurrency(due, currency).minus(amountOf(true)), ZERO);
}
