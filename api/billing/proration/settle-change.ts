import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import { buildInvoice } from '../../../domain/invoicing/build-invoice.ts';
import { EMPTY_LEDGER } from '../../../domain/invoicing/payment-ledger.ts';
import { Decimal, decimal, decimalText, sum, ZERO } from '../../../domain/money.ts';
import { changeKey } from '../../../domain/pricing/line-change.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import type { Db, Scope, Transaction } from '../../../postgres/client.ts';
import type { LineStep } from '../../../schemas/explanation.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { creditPrepaidWallet } from '../wallets/credit-wallet.ts';
import { hashReference } from '../wallets/references.ts';
import type { TransactionRow } from '../credits/wallet-repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { readBillingSources, type BillingSources } from '../computing/billing-sources.ts';
import { applicationRecords, couponsOf } from '../computing/coupon-applications.ts';
import { invoiceLine, newInvoice } from '../computing/invoice-record.ts';
import type { InvoiceTarget } from '../computing/invoice-target.ts';
import { dueOn, NO_CREDITS, settle } from '../computing/settle.ts';
import { taxesOf, taxRecords } from '../computing/tax-rows.ts';
import { invoiceEvent, issueInvoices } from '../computing/write-invoices.ts';
import {
  insertInvoiceLines,
  insertInvoices,
  replaceInvoiceLines,
  updateInvoices,
} from '../records/invoice-repository.ts';
import {
  insertSubscriptionChange,
  settledRowsOf,
  type ChangeRow,
} from '../records/subscription-change-repository.ts';
import {
  rowsOfChange,
  startOfChange,
  type ChangedRow,
  type ChangeOperation,
} from './change-rows.ts';
import type { OutboxEvent } from '../../../postgres/tables/outbox.ts';

export interface SettledChange {
  readonly operation: ChangeOperation;
  readonly rows: readonly ChangeRow[];
  /** Rows with their lines, as rated, in order. */
  readonly changed: readonly ChangedRow[];
  /** The invoice of the operation; null unless the customer owes money. */
  readonly invoice: { readonly invoice: InvoiceRecord; readonly lines: InvoiceLineRecord[] } | null;
  /** Amount that returns to the customer's prepaid wallet, taxes included; 0 or more. */
  readonly credit: Decimal;
  readonly customer: Customer;
}

/**
 * Settles all rows of an operation together (billing 5.3). A positive net becomes one invoice. A negative
 * net, with the exclusive tax that was charged on it, becomes a wallet credit. Preview and execution both
 * call this function. Writes nothing.
 */
export async function settleChange(
  deps: Pick<BillingDeps, 'ids'>,
  db: Db,
  { scope, user_id }: Caller,
  operation: ChangeOperation,
  at: string,
): Promise<SettledChange> {
  const { subscription } = operation;
  const from = subscription.current_period_start;
  const sources = await readBillingSources(db, scope, [subscription], from);
  const settled = await settledRowsOf(
    db,
    scope,
    subscription.id,
    operation.swaps.flatMap(({ before }) => before?.id ?? []),
    from,
  );
  const rated = rowsOfChange(operation, settled, at);
  const target = targetOfChange(operation);
  const context = { deps, sources, target, at, user_id };
  const separate = built(context, rated);
  const isDiscounted =
    separate.coupon_applications.length > 0 ||
    rated.some(({ billed }) => billed !== null && billed.billed.lt(billed.gross));
  const merged = isDiscounted ? rated : netted(rated);
  const shown = isDiscounted ? separate : built(context, merged);
  const customer = sources.customers.get(payerOf(subscription))!;
  const change = { operation, changed: rated, customer };
  const net = shown.lines.reduce((total, line) => total.plus(netOf(line)), ZERO);
  const charges = built(
    context,
    rated.filter(({ billed }) => billed === null),
  );
  const rows = changeRowsOf(rated, separate.lines, charges);
  if (net.gt(0)) {
    return { ...change, rows, invoice: invoiceOf(context, shown.lines), credit: ZERO };
  }
  return { ...change, rows, invoice: null, credit: creditOf(rated, separate, charges) };
}

interface Context {
  readonly deps: Pick<BillingDeps, 'ids'>;
  readonly sources: BillingSources;
  readonly target: InvoiceTarget;
  readonly at: string;
  readonly user_id: string;
}

function targetOfChange(operation: ChangeOperation): InvoiceTarget {
  const { subscription, proration_behavior } = operation;
  const period = { start: startOfChange(operation), end: subscription.current_period_end };
  return {
    subscription,
    billing_reason: 'SUBSCRIPTION_UPDATE',
    period,
    proration_behavior,
    covers: { closing: null, opening: null },
    invoice: null,
    finalize_after: null,
  };
}

/** The rows as rows of an invoice, with the discounts and taxes that apply to them. */
function built(context: Context, rated: readonly ChangedRow[]) {
  const { sources, target } = context;
  const invoice_id = context.deps.ids.next('inv');
  const lines = rated.map(({ line, rated: row }, position) =>
    invoiceLine(context.deps, {
      target,
      invoice_id,
      charge: { line, rated: row, questions: [] },
      position,
      rows: [],
      computing: context,
      plan_name: null,
      payer_id: payerOf(target.subscription),
      grouped_customer: null,
    }),
  );
  return buildInvoice({
    currency: target.subscription.currency,
    invoice_status: 'DRAFT',
    lines,
    coupons: couponsOf(target, sources),
    taxes: taxesOf(target, sources),
    wallets: [],
    ledger: EMPTY_LEDGER,
  });
}

/** The credit and the charge of one swap as one row: its quantity and amount are the differences. */
function netted(rated: readonly ChangedRow[]): ChangedRow[] {
  const rows: ChangedRow[] = [];
  for (const row of rated) {
    const index = rows.findIndex((other) => isOther(other, row));
    if (index < 0) rows.push(row);
    else rows[index] = { ...row, billed: null, rated: mergedRow(rows[index]!.rated, row.rated) };
  }
  return rows;
}

const isOther = (credit: ChangedRow, charge: ChangedRow): boolean =>
  credit.swap === charge.swap &&
  credit.rated.kind === 'credit' &&
  charge.rated.kind === 'base' &&
  credit.line.price_id === charge.line.price_id &&
  credit.rated.period.start === charge.rated.period.start &&
  credit.rated.period.end === charge.rated.period.end;

function mergedRow(credit: RatedLine, charge: RatedLine): RatedLine {
  const quantity = charge.quantity.minus(credit.quantity);
  const amount = charge.amount.plus(credit.amount);
  return {
    ...charge,
    quantity,
    amount,
    unrounded: charge.unrounded.plus(credit.unrounded),
    explanation: {
      ...charge.explanation,
      quantity: decimalText(quantity),
      amount: decimalText(amount),
      steps: [
        {
          step: 'sum',
          rule: 'billing 5.3',
          parts: [partOf(credit, credit.quantity.neg()), partOf(charge, charge.quantity)],
          quantity: decimalText(quantity),
          amount: decimalText(amount),
        },
      ],
    },
  };
}

const partOf = ({ period, amount, explanation }: RatedLine, quantity: Decimal) => ({
  period,
  quantity: decimalText(quantity),
  amount: decimalText(amount),
  steps: explanation.steps.filter((step): step is LineStep => step.step !== 'sum'),
});

const netOf = (line: InvoiceLineRecord): Decimal =>
  decimal(line.amount)
    .minus(decimal(line.line_item_discount))
    .minus(decimal(line.invoice_level_discount));

function changeRowsOf(
  rated: readonly ChangedRow[],
  lines: readonly InvoiceLineRecord[],
  charges: ReturnType<typeof built>,
): ChangeRow[] {
  const taxed = sum(charges.lines.map(netOf));
  const exclusive = decimal(charges.tax_summary.exclusive_tax);
  return rated.map(({ line, rated: row, billed, returnedTax }, index) => {
    const net = netOf(lines[index]!);
    const isTaxed = billed === null && taxed.gt(0);
    const tax = isTaxed ? exclusive.times(net).div(taxed) : returnedTax.neg();
    return {
      line_item_id: line.id,
      kind: row.kind === 'credit' ? 'credit' : 'base',
      period_start: row.period.start,
      period_end: row.period.end,
      gross: decimalText(row.amount),
      net: decimalText(net),
      tax: decimalText(tax),
    };
  });
}

function invoiceOf(context: Context, lines: readonly InvoiceLineRecord[]) {
  const { deps, sources, target, at } = context;
  const { subscription } = target;
  const invoice_id = lines[0]!.invoice_id;
  const settled = settle(
    {
      ...newInvoice(target, invoice_id, context),
      invoice_type: 'ONE_OFF',
      description: `Invoice for changes of subscription ${subscription.id}`,
      due_date: dueOn(at, subscription),
      last_computed_at: at,
    },
    lines,
    {
      coupons: couponsOf(target, sources),
      taxes: taxesOf(target, sources),
      ...NO_CREDITS,
      ledger: EMPTY_LEDGER,
    },
  );
  const coupon_applications = applicationRecords(deps, settled.invoice, settled.applications, {
    coupons: sources.coupons.get(subscription.id) ?? [],
    lines: settled.lines,
    standing: [],
  });
  const taxes = taxRecords(deps, settled.invoice, settled.taxes);
  return {
    invoice: { ...settled.invoice, coupon_applications, taxes },
    lines: [...settled.lines],
  };
}

/** The net of the rows below zero, with the exclusive tax of the credits less that of the charges. */
function creditOf(
  rated: readonly ChangedRow[],
  separate: ReturnType<typeof built>,
  charges: ReturnType<typeof built>,
): Decimal {
  const net = sum(separate.lines.map(netOf));
  const returned = sum(rated.map(({ returnedTax }) => returnedTax));
  const tax = returned.minus(decimal(charges.tax_summary.exclusive_tax));
  return Decimal.max(net.neg().plus(Decimal.max(tax, ZERO)), ZERO);
}

/** The written result of an operation. */
export interface WrittenChange {
  readonly invoice: {
    readonly invoice: InvoiceRecord;
    readonly lines: readonly InvoiceLineRecord[];
  } | null;
  /** The wallet's credit; null without one. */
  readonly credited: TransactionRow | null;
  readonly events: readonly (OutboxEvent & { readonly scope: Scope })[];
}

/**
 * Writes the settlement in the transaction of the change: issues the invoice, or credits the wallet, and
 * stores the rows. Without rows it writes nothing.
 */
export async function writeChange(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  change: SettledChange,
  of: {
    readonly kind: string;
    readonly subscription: SubscriptionRow;
    readonly at: string;
    /** The draft that a checkout session has paid: the invoice of the change is issued as this one. */
    readonly paid?: InvoiceRecord | null;
  },
): Promise<WrittenChange> {
  const { operation, rows, customer } = change;
  if (rows.length === 0) return { invoice: null, credited: null, events: [] };
  const { scope, user_id } = caller;
  const paid = of.paid ?? null;
  const computed =
    change.invoice && (paid === null ? change.invoice : asPaid(change.invoice, paid));
  const issued =
    computed === null
      ? null
      : (
          await issueInvoices(tx, scope, [{ ...computed, terms: of.subscription }], {
            at: of.at,
            user_id,
          })
        )[0]!;
  if (issued !== null && paid !== null) {
    await updateInvoices(tx, [issued.invoice]);
    await replaceInvoiceLines(tx, scope, [issued.invoice.id], issued.lines);
  } else if (issued !== null) {
    await insertInvoices(tx, [issued.invoice]);
    await insertInvoiceLines(tx, issued.lines);
  }
  const operation_key = changeKey(
    of.subscription.id,
    rows.map(({ line_item_id, kind, period_start }) => ({
      line_item_id,
      action: `${of.kind}/${kind}`,
      effective_at: period_start,
    })),
  );
  const credited = change.credit.gt(0)
    ? await creditProration(tx, deps, caller, of.subscription, change.credit, operation_key)
    : null;
  await insertSubscriptionChange(tx, {
    ...newRecord(deps, caller, 'subs_change'),
    subscription_id: of.subscription.id,
    kind: of.kind,
    operation_key,
    effective_at: startOfChange(operation),
    rows,
    net: decimalText(sum(rows.map(({ net }) => decimal(net)))),
    invoice_id: issued?.invoice.id ?? null,
    wallet_transaction_id: credited?.id ?? null,
  });
  const events =
    issued === null
      ? []
      : [
          invoiceEvent('invoice.update.finalized', scope, {
            ...issued,
            customer,
            subscription: of.subscription,
          }),
        ];
  return { invoice: issued, credited, events };
}

/** The computed invoice under the id of the draft that was paid for it. */
const asPaid = (
  { invoice, lines }: NonNullable<SettledChange['invoice']>,
  paid: InvoiceRecord,
): NonNullable<SettledChange['invoice']> => ({
  invoice: {
    ...invoice,
    id: paid.id,
    source_type: paid.source_type,
    revision: paid.revision,
    version: paid.version,
    created_at: paid.created_at,
    created_by: paid.created_by,
  },
  lines: lines.map((line) => ({ ...line, invoice_id: paid.id })),
});

/** Credits the net of an operation to the prepaid wallet as granted credits without expiry (billing 5.3). */
async function creditProration(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  credit: Decimal,
  operationKey: string,
): Promise<TransactionRow> {
  const customer_id = payerOf(subscription);
  const reference_id = hashReference('proration_credit', operationKey);
  const { transaction } = await creditPrepaidWallet(tx, deps, caller, {
    customer_id,
    currency: subscription.currency,
    amount: decimalText(credit),
    reason: 'SUBSCRIPTION_CREDIT_GRANT',
    wallet_name: 'Proration Credit Wallet',
    allowed_price_types: ['USAGE'],
    wallet_metadata: { created_for: 'proration_credit', source: 'subscription_change' },
    reference_type: 'EXTERNAL',
    reference_id,
    idempotency_key: reference_id,
    description: 'Proration credit from subscription change',
    metadata: { customer_id, source: 'subscription_change_proration' },
  });
  return transaction;
}
