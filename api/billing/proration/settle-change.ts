import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import { buildInvoice } from '../../../domain/invoicing/build-invoice.ts';
import { EMPTY_LEDGER } from '../../../domain/invoicing/payment-ledger.ts';
import { roundToCurrency } from '../../../domain/currency.ts';
import { Decimal, decimal, decimalText, sum, ZERO } from '../../../domain/money.ts';
import { netAmount } from '../../../domain/pricing/net-amount.ts';
import { settleRows } from '../../../domain/pricing/line-change.ts';
import type { Db } from '../../../postgres/client.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import {
  readBillingSources,
  type BilledLine,
  type BillingSources,
} from '../computing/billing-sources.ts';
import {
  applicationRecords,
  attachedCoupons,
  couponsOf,
} from '../computing/coupon-applications.ts';
import { invoiceLine, newInvoice } from '../computing/invoice-record.ts';
import type { InvoiceTarget } from '../computing/invoice-target.ts';
import { dueOn, NO_CREDITS, settle } from '../computing/settle.ts';
import {
  couponsIn,
  invoiceCustomCurrency,
  settlementOf,
  type Settlement,
} from '../computing/settlement-currency.ts';
import { taxesOf, taxRecords } from '../computing/tax-rows.ts';
import type { ChangeRow } from '../../../domain/pricing/edited-charges.ts';
import { settledRowsOf } from '../records/subscription-change-repository.ts';
import {
  rowsOfChange,
  startOfChange,
  type ChangedRow,
  type ChangeOperation,
} from './change-rows.ts';
import { creditedCustomer } from './credited-customer.ts';
import { netted } from './net-change.ts';

export interface SettledChange {
  readonly operation: ChangeOperation;
  readonly rows: readonly ChangeRow[];
  /** Rows with their lines, as rated, in order. */
  readonly changed: readonly ChangedRow[];
  /** The invoice of the operation; null unless the customer owes money. */
  readonly invoice: { readonly invoice: InvoiceRecord; readonly lines: InvoiceLineRecord[] } | null;
  /** Amount that returns to the customer's prepaid wallet, taxes included; 0 or more. */
  readonly credit: Decimal;
  /**
   * The customer whose wallet gets the credit: the one who was billed most of what is credited. Rows of a grouped
   * subscription were billed to the customer of its parent (billing 16).
   */
  readonly credited_to: string;
  /** The currency of the invoice or of the credit: that of the subscription, or what its custom currency settles in. */
  readonly currency: string;
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
  const settlement = await settlementOf(db, scope, subscription.currency);
  const terms = {
    pauses: sources.pauses.get(subscription.id) ?? [],
    taxCurrencyOf: (line: BilledLine) => ({
      currency: settlement?.currency ?? line.currency,
      factor: factorOf(settlement, line),
    }),
  };
  const rated = rowsOfChange(operation, settled, terms, at);
  const target = targetOfChange(operation);
  const context = { deps, sources, target, settlement, at, user_id };
  const withAllCoupons = settledRows(operation, rated, { ...context, recurringOnly: false });
  const coupons = attachedCoupons(sources, subscription.id);
  return withAllCoupons.invoice !== null || !coupons.some(({ cadence }) => cadence === 'once')
    ? withAllCoupons
    : settledRows(operation, rated, { ...context, recurringOnly: true });
}

/** The rows on one invoice, or as one credit. */
function settledRows(
  operation: ChangeOperation,
  rated: readonly ChangedRow[],
  context: Context,
): SettledChange {
  const { subscription } = operation;
  const { sources, settlement } = context;
  const charged = rated.filter(({ billed }) => billed === null);
  const charges = built(context, charged);
  const nets = netsOf(context, rated, charges);
  const isDiscounted =
    charges.coupon_applications.length > 0 ||
    rated.some(({ billed }) => billed !== null && billed.billed.lt(billed.gross));
  const shown = built(context, isDiscounted ? rated : netted(rated));
  const customer = sources.customers.get(payerOf(subscription))!;
  const currency = settlement?.currency ?? subscription.currency;
  const credited_to = creditedCustomer(rated) ?? payerOf(subscription);
  const change = { operation, changed: rated, customer, credited_to, currency };
  const settledNets = isDiscounted ? nets : shown.lines.map(netAmount);
  const { action } = settleRows(settledNets.map((amount) => ({ amount })));
  const rows = rowsOfLines(context, rated, charged, { nets, charges });
  if (action === 'invoice') {
    return { ...change, rows, invoice: invoiceOf(context, shown.lines), credit: ZERO };
  }
  const credit = action === 'none' ? ZERO : creditOf(context, rated, nets, charges);
  return { ...change, rows, invoice: null, credit };
}

interface Context {
  readonly deps: Pick<BillingDeps, 'ids'>;
  readonly sources: BillingSources;
  readonly target: InvoiceTarget;
  /** Null: rows are in the currency of the subscription. */
  readonly settlement: Settlement | null;
  /** The currency whose taxes apply; absent: that of the rows. */
  readonly tax_currency?: string;
  /** Coupons that count once do not apply: only an invoice uses them up (billing 7.2). */
  readonly recurringOnly: boolean;
  readonly at: string;
  readonly user_id: string;
}

function targetOfChange(operation: ChangeOperation): InvoiceTarget {
  const { subscription, proration_behavior } = operation;
  const { current_period_end: end } = operation.restarted ?? subscription;
  const period = { start: startOfChange(operation), end };
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

const couponsOfChange = ({ settlement, target, sources, recurringOnly }: Context) =>
  couponsIn(settlement, couponsOf(target, sources, recurringOnly));

/** The rows with the discounts and taxes that apply to them, in the currency of the invoice. */
function built(context: Context, rated: readonly ChangedRow[]) {
  const { sources, target, settlement } = context;
  const currency = settlement?.currency ?? target.subscription.currency;
  return buildInvoice({
    currency,
    invoice_status: 'DRAFT',
    lines: rowsIn(context, rated),
    coupons: couponsOfChange(context),
    taxes: taxesOf(target, sources, context.tax_currency ?? currency),
    wallets: [],
    ledger: EMPTY_LEDGER,
  });
}

/** The rows as rows of an invoice. */
function rowsIn(context: Context, rated: readonly ChangedRow[]): InvoiceLineRecord[] {
  const { target, settlement } = context;
  const invoice_id = context.deps.ids.next('inv');
  return rated.map(({ line, rated: row }, position) =>
    invoiceLine(context.deps, {
      target,
      invoice_id,
      charge: { line, rated: row, questions: [] },
      position,
      rows: [],
      computing: context,
      plan_name: null,
      settlement,
      payer_id: payerOf(target.subscription),
      grouped_customer: null,
    }),
  );
}

/** The rows of the change as they are stored: each in the currency of its line, in which it may return later. */
function rowsOfLines(
  context: Context,
  rated: readonly ChangedRow[],
  charged: readonly ChangedRow[],
  money: { readonly nets: readonly Decimal[]; readonly charges: Built },
): ChangeRow[] {
  const { settlement } = context;
  if (settlement === null) return changeRowsOf(rated, money.nets, money.charges);
  const own = { ...context, settlement: null, tax_currency: settlement.currency };
  const charges = built(own, charged);
  return changeRowsOf(rated, netsOf(own, rated, charges), charges);
}

type Built = ReturnType<typeof built>;

/**
 * The net of each row. Charges are built without the credits: on one invoice, credits larger than the charges would cap
 * the discounts of the charges (billing 5.3, 7.3).
 */
function netsOf(context: Context, rated: readonly ChangedRow[], charges: Built): Decimal[] {
  const credits = built(
    context,
    rated.filter(({ billed }) => billed !== null),
  );
  const [charged, credited] = [[...charges.lines], [...credits.lines]];
  return rated.map(({ billed }) => netAmount((billed === null ? charged : credited).shift()!));
}

function changeRowsOf(
  rated: readonly ChangedRow[],
  nets: readonly Decimal[],
  charges: Built,
): ChangeRow[] {
  const taxed = sum(charges.lines.map(netAmount));
  const exclusive = decimal(charges.tax_summary.exclusive_tax);
  return rated.map(({ line, rated: row, billed, returnedTax }, index) => {
    const net = nets[index]!;
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
  const { deps, sources, target, settlement, at } = context;
  const { subscription } = target;
  const currency = settlement?.currency ?? subscription.currency;
  const invoice_id = lines[0]!.invoice_id;
  const settled = settle(
    {
      ...newInvoice(target, invoice_id, context),
      invoice_type: 'ONE_OFF',
      currency,
      custom_currency: invoiceCustomCurrency(settlement, lines),
      description: `Invoice for changes of subscription ${subscription.id}`,
      due_date: dueOn(at, subscription),
      last_computed_at: at,
    },
    lines,
    {
      coupons: couponsOfChange(context),
      taxes: taxesOf(target, sources, currency),
      ...NO_CREDITS,
      ledger: EMPTY_LEDGER,
    },
  );
  const coupon_applications = applicationRecords(deps, settled.invoice, settled.applications, {
    coupons: sources.coupons.get(subscription.id) ?? [],
    lines: settled.lines,
    stored: [],
  });
  const taxes = taxRecords(deps, settled.invoice, settled.taxes);
  return {
    invoice: { ...settled.invoice, coupon_applications, taxes },
    lines: [...settled.lines],
  };
}

/** Units of the invoice's currency for one unit of the line's. */
const factorOf = (settlement: Settlement | null, line: BilledLine): Decimal =>
  decimal(line.currency === settlement?.custom.code ? settlement.factor : '1');

/**
 * The net of the rows below zero, with the exclusive tax of the credits less that of the charges. The shares of the tax
 * are rounded together, as their tax was.
 */
function creditOf(
  { settlement, target }: Context,
  rated: readonly ChangedRow[],
  nets: readonly Decimal[],
  charges: Built,
): Decimal {
  const net = sum(nets);
  const returned = sum(
    rated.map(({ line, returnedTax }) => returnedTax.times(factorOf(settlement, line))),
  );
  const tax = returned.minus(decimal(charges.tax_summary.exclusive_tax));
  const currency = settlement?.currency ?? target.subscription.currency;
  const credit = net.neg().plus(Decimal.max(tax, ZERO));
  return roundToCurrency(Decimal.max(credit, ZERO), currency);
}
