import { moveInvoice } from '../../../domain/states/invoice.ts';
import type { InvoiceCoupon } from '../../../domain/invoicing/coupons.ts';
import type { ResolvedTaxes } from '../../../domain/invoicing/tax-resolution.ts';
import type { InvoiceType } from '../../../domain/invoicing/zero-invoice.ts';
import { EMPTY_LEDGER } from '../../../domain/invoicing/payment-ledger.ts';
import type { LineKind } from '../../../domain/pricing/rated-line.ts';
import type { Period } from '../../../domain/time/instant.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { Coupon } from '../../../schemas/coupon.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { Explanation } from '../../../schemas/explanation.ts';
import type { BillingReason } from '../../../schemas/invoice-requests.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { insertInvoiceLines } from '../records/invoice-line-repository.ts';
import { insertInvoices } from '../records/invoice-repository.ts';
import { nextRevision } from '../records/subscription-invoice-repository.ts';
import { applicationRecords } from './coupon-applications.ts';
import { INVOICE_CONFIG_DEFAULT } from '../../../schemas/settings/invoicing.ts';
import { readInvoiceConfig } from './invoice-config.ts';
import { NEW_DRAFT } from './invoice-record.ts';
import { dueOn, NO_CREDITS, settle, type Settled } from './settle.ts';
import { taxRecords } from './tax-rows.ts';
import { invoiceEvent, issueNewInvoice, type IssueTerms } from './write-invoices.ts';

/** A row that is given, not rated. */
export interface GivenRow {
  readonly display_name: string | null;
  /** The amount of the row, in whole minor units. It is not multiplied by the quantity. */
  readonly amount: string;
  readonly quantity: string;
  /** Default: `base`. No discount applies to a `credit` row. */
  readonly kind?: LineKind;
  readonly price_type?: 'USAGE' | 'FIXED' | null;
  readonly entity_type?: string | null;
  readonly entity_id?: string | null;
  readonly price_id?: string | null;
  readonly price_unit?: string | null;
  readonly price_unit_amount?: string | null;
  readonly meter_id?: string | null;
  readonly meter_display_name?: string | null;
  readonly plan_display_name?: string | null;
  readonly subscription_line_item_id?: string | null;
  readonly period_start?: string | null;
  readonly period_end?: string | null;
  readonly metadata?: Record<string, string>;
  readonly explanation?: Explanation | null;
}

/** A coupon that the invoice names. The caller has redeemed it under its lock. */
export interface GivenCoupon {
  readonly coupon: Coupon;
  /** Indexes of the rows that it discounts; null means the whole invoice. */
  readonly rows: readonly number[] | null;
}

/** An invoice with given rows. */
export interface InvoiceOfRows {
  readonly invoice_type: InvoiceType;
  readonly billing_reason: BillingReason | null;
  /** The customer who pays. */
  readonly customer: Customer;
  /** Locked by the caller. Null for an invoice without a subscription. */
  readonly subscription: SubscriptionRow | null;
  readonly currency: string;
  /** In display order. They must not sum below zero: the caller pays such a rest into a wallet. */
  readonly rows: readonly GivenRow[];
  readonly period?: Period | null;
  readonly coupons?: readonly GivenCoupon[];
  readonly taxes: ResolvedTaxes;
  /** False leaves a draft without a number. */
  readonly isIssued: boolean;
  readonly description?: string | null;
  /** Null: by the payment terms, from the issue on. */
  readonly due_date?: string | null;
  /** Null: the time of the issue. */
  readonly issue_date?: string | null;
  readonly invoice_pdf_url?: string | null;
  readonly source_type?: string | null;
  /** The pending credit that the invoice sells. */
  readonly purchased_transaction_id?: string | null;
  readonly metadata?: Record<string, string>;
  readonly idempotency_key?: string | null;
}

/** An invoice as written, with its customer. */
export interface WrittenInvoice extends Settled {
  readonly customer: Customer;
  readonly subscription: SubscriptionRow | null;
}

/**
 * Creates an invoice with given rows in the caller's transaction: one-off, credit, change or top-up. Coupons
 * discount it, taxes are added, and it is issued with the next number or left as a draft; its notification is
 * written (billing 17.1). The amounts come from the same pipeline as those of every other invoice.
 */
export async function createInvoiceOfRows(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  given: InvoiceOfRows,
): Promise<WrittenInvoice> {
  const { customer, subscription } = given;
  const computed = computeInvoiceOfRows(
    deps,
    caller,
    given,
    await revisionOf(tx, caller, given),
    (await readInvoiceConfig(tx, caller.scope)).due_date_days,
  );
  const by = { at: isoTime(deps.clock.now()), user_id: caller.user_id };
  const terms = dueTermsOf(customer, subscription);
  const written = given.isIssued
    ? await issueNewInvoice(tx, deps, caller.scope, { ...computed, terms }, by)
    : computed;
  const { invoice, lines } = written;
  await insertInvoices(tx, [invoice]);
  await insertInvoiceLines(tx, lines);
  const result = { invoice, lines, customer, subscription };
  const event = given.isIssued ? 'invoice.update.finalized' : 'invoice.update';
  await writeOutboxEvents(tx, [invoiceEvent(event, caller.scope, result)]);
  return result;
}

/** The terms of a subscription; without one, the tenant's default in the customer's time zone, and no charge. */
export const dueTermsOf = (
  customer: Pick<Customer, 'timezone'>,
  subscription: SubscriptionRow | null,
): IssueTerms =>
  subscription ?? {
    payment_terms: null,
    customer_timezone: customer.timezone,
    collection_method: null,
    payment_behavior: 'default_active',
    gateway_payment_method_id: null,
  };

async function revisionOf(
  tx: Transaction,
  { scope }: Caller,
  { subscription, period, billing_reason }: InvoiceOfRows,
): Promise<number> {
  if (subscription === null) return 0;
  return await nextRevision(tx, scope, {
    subscription_id: subscription.id,
    period_start: period?.start ?? null,
    period_end: period?.end ?? null,
    billing_reason,
  });
}

/** The draft, not stored. For previews too. */
export function computeInvoiceOfRows(
  deps: Pick<BillingDeps, 'ids' | 'clock'>,
  caller: Caller,
  given: InvoiceOfRows,
  revision = 0,
  dueDays = INVOICE_CONFIG_DEFAULT.due_date_days as number,
): Settled {
  const draft = newDraft(deps, caller, given, revision, dueDays);
  const rows = given.rows.map((row, position) => givenLine(deps, draft, row, position));
  const coupons = given.coupons ?? [];
  const settled = settle(draft, rows, {
    coupons: coupons.map((coupon) => invoiceCoupon(coupon, rows)),
    taxes: given.taxes,
    ...NO_CREDITS,
    ledger: EMPTY_LEDGER,
  });
  const { invoice, lines } = settled;
  const known = coupons.map(({ coupon }) => ({ id: null, coupon_id: coupon.id, coupon }));
  const coupon_applications = applicationRecords(deps, invoice, settled.applications, {
    coupons: known,
    lines,
    stored: [],
  });
  const taxes = taxRecords(deps, invoice, settled.taxes);
  return { invoice: { ...invoice, coupon_applications, taxes }, lines };
}

function newDraft(
  deps: Pick<BillingDeps, 'ids' | 'clock'>,
  caller: Caller,
  given: InvoiceOfRows,
  revision: number,
  dueDays: number,
): InvoiceRecord {
  const { customer, subscription } = given;
  const record = newRecord(deps, caller, 'inv');
  const at = record.created_at;
  const issue_date = given.issue_date ?? at;
  return {
    ...record,
    ...NEW_DRAFT,
    customer_id: customer.id,
    subscription_id: subscription?.id ?? null,
    subscription_customer_id: subscription?.customer_id ?? null,
    invoice_type: given.invoice_type,
    invoice_status: moveInvoice(null, 'create'),
    currency: given.currency,
    description: given.description ?? null,
    billing_period: subscription?.billing_period ?? null,
    billing_reason: given.billing_reason,
    period_start: given.period?.start ?? null,
    period_end: given.period?.end ?? null,
    due_date: given.due_date ?? dueOn(issue_date, dueTermsOf(customer, subscription), dueDays),
    due_date_given: given.due_date != null,
    issue_date,
    issue_date_given: given.issue_date != null,
    last_computed_at: at,
    idempotency_key: given.idempotency_key ?? null,
    invoice_pdf_url: given.invoice_pdf_url ?? null,
    source_type: given.source_type ?? null,
    purchased_transaction_id: given.purchased_transaction_id ?? null,
    metadata: given.metadata ?? {},
    revision,
    proration_behavior: 'none',
  };
}

/** The row of an invoice as stored. */
export function givenLine(
  deps: Pick<BillingDeps, 'ids'>,
  invoice: InvoiceRecord,
  row: GivenRow,
  position: number,
): InvoiceLineRecord {
  return {
    id: deps.ids.next('inv_line'),
    tenant_id: invoice.tenant_id,
    environment_id: invoice.environment_id,
    invoice_id: invoice.id,
    customer_id: invoice.customer_id,
    subscription_id: invoice.subscription_id,
    subscription_line_item_id: row.subscription_line_item_id ?? null,
    kind: row.kind ?? 'base',
    position,
    entity_type: row.entity_type ?? null,
    entity_id: row.entity_id ?? null,
    price_id: row.price_id ?? null,
    price_type: row.price_type ?? null,
    price_unit: row.price_unit ?? null,
    price_unit_id: null,
    price_unit_amount: row.price_unit_amount ?? null,
    meter_id: row.meter_id ?? null,
    meter_display_name: row.meter_display_name ?? null,
    plan_display_name: row.plan_display_name ?? null,
    display_name: row.display_name,
    currency: invoice.currency,
    quantity: row.quantity,
    amount: row.amount,
    line_item_discount: '0',
    invoice_level_discount: '0',
    prepaid_credits_applied: '0',
    adjusted_entitlement_quantity: null,
    commitment_info: null,
    parent_line_item_id: null,
    period_start: row.period_start ?? null,
    period_end: row.period_end ?? null,
    metadata: row.metadata ?? {},
    explanation: row.explanation ?? null,
    usage_queries: [],
    allowance_queries: [],
    holds_slot: false,
    custom_currency: null,
    status: 'published',
    created_at: invoice.updated_at,
    updated_at: invoice.updated_at,
    created_by: invoice.updated_by,
    updated_by: invoice.updated_by,
  };
}

const invoiceCoupon = (
  { coupon, rows }: GivenCoupon,
  lines: readonly InvoiceLineRecord[],
): InvoiceCoupon => ({
  coupon_id: coupon.id,
  coupon_association_id: null,
  type: coupon.type,
  percentage_off: coupon.type === 'percentage' ? coupon.percentage_off : null,
  amount_off: coupon.type === 'fixed' ? coupon.amount_off : null,
  subscription_id: null,
  subscription_line_item_id: null,
  start_date: null,
  end_date: null,
  ...(rows === null ? {} : { invoice_line_item_ids: new Set(rows.map((row) => lines[row]!.id)) }),
});
