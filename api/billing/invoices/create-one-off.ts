import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import { isIsoCurrency } from '../../../domain/currency.ts';
import { invalidField } from '../../../domain/errors.ts';
import {
  assertNotBelowZero,
  assertSubtotal,
  assertTotal,
  assertWrittenRow,
} from '../../../domain/invoicing/given-rows.ts';
import { CHECKOUT_SOURCE } from '../../../domain/invoicing/gated-invoice.ts';
import { decimal } from '../../../domain/money.ts';
import { isoTime } from '../../../platform/clock.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import { violatedConstraint, type Transaction } from '../../../postgres/client.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { CreateInvoiceBody, InvoiceRowBody } from '../../../schemas/invoice-requests.ts';
import type { Invoice, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { Caller } from '../../conventions/record.ts';
import { rolledBack } from '../../conventions/rolled-back.ts';
import { getCustomer, lockCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { createInvoiceOfRows, type GivenRow } from '../computing/invoice-of-rows.ts';
import { runGatedCommand, withCheckout } from '../records/gated-command.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import { getSubscription, lockSubscription } from '../records/subscription-repository.ts';
import { previewAnswer } from './answers.ts';
import { keyReused } from './key-reused.ts';
import { redeemedCoupons } from './one-off-coupons.ts';
import { namedTaxes } from './one-off-taxes.ts';
import { assertReferences } from './row-references.ts';

/**
 * Creates an invoice with the rows of the request and issues it at once, or with a checkout once its session is
 * paid (billing 17.1, money 11). Amounts in the request must agree with the rows. The customer's tax associations
 * do not apply; the request names the taxes.
 */
export async function createOneOffInvoice(
  deps: BillingDeps,
  caller: Caller,
  body: CreateInvoiceBody,
): Promise<InvoiceRecord> {
  const request = withCheckout('/invoices', body);
  const sessionOf = (created: Created) => created.checkout_session_id;
  const command = runGatedCommand(deps, caller, 'invoice', request, sessionOf, () =>
    prepare(deps, caller, body),
  );
  return (await command).invoice;
}

/** The invoice that `POST /invoices` issues for the request: the request is executed and rolled back (billing 17.1). */
export async function previewOneOffInvoice(
  deps: BillingDeps,
  caller: Caller,
  body: CreateInvoiceBody,
): Promise<Invoice> {
  if (body.invoice_type === 'SUBSCRIPTION')
    throw invalidField(
      'invoice_type',
      'must be ONE_OFF or CREDIT; POST /invoices/preview previews the invoice of a subscription',
    );
  if (body.checkout != null)
    throw invalidField('checkout', 'does not apply to a preview; leave it out');
  const write = await prepare(deps, caller, body);
  return await rolledBack(deps, async (tx) => {
    const { invoice } = await write(tx);
    const lines = await linesOfInvoices(tx, caller.scope, [invoice.id]);
    return await previewAnswer(tx, caller.scope, { invoice, lines });
  });
}

/** Checks the request. Returns the function that writes the invoice. */
async function prepare(
  deps: BillingDeps,
  caller: Caller,
  body: CreateInvoiceBody,
): Promise<(tx: Transaction) => Promise<Created>> {
  const customer = await getCustomer(deps.pool, caller.scope, body.customer_id);
  const subscription = await subscriptionOf(deps, caller, body, customer);
  assertOneOff(body, isoTime(deps.clock.now()));
  const rows = await rowsOf(deps, caller, body);
  return (tx) => write(tx, deps, caller, body, { customer, subscription, rows });
}

/** A stored invoice, and the session that it waits for. */
interface Created {
  readonly invoice: InvoiceRecord;
  readonly checkout_session_id: string | null;
}

function assertOneOff(body: CreateInvoiceBody, at: string): void {
  if (!isIsoCurrency(body.currency))
    throw invalidField('currency', 'must be a currency of ISO 4217; an invoice is in fiat money');
  if (body.billing_reason && body.billing_reason !== 'MANUAL')
    throw invalidField('billing_reason', `must be MANUAL on a ${body.invoice_type} invoice`);
  if (body.billing_period)
    throw invalidField('billing_period', `does not apply to a ${body.invoice_type} invoice`);
  if (Boolean(body.period_start) !== Boolean(body.period_end))
    throw invalidField('period_end', 'must be sent together with period_start');
  if (body.period_start && body.period_start > body.period_end!)
    throw invalidField('period_end', 'must not be before period_start');
  if (body.due_date && body.due_date < (body.issue_date ?? at))
    throw invalidField('due_date', 'must not be before the issue of the invoice');
}

async function subscriptionOf(
  { pool }: BillingDeps,
  { scope }: Caller,
  body: CreateInvoiceBody,
  customer: Customer,
): Promise<SubscriptionRow | null> {
  if (!body.subscription_id) return null;
  const subscription = await getSubscription(pool, scope, body.subscription_id);
  const payer = payerOf(subscription);
  if (payer !== customer.id)
    throw invalidField('customer_id', 'is not the customer of the subscription');
  return subscription;
}

/** The rows of the request. Without rows, an amount alone is one row. */
async function rowsOf(
  { pool }: BillingDeps,
  { scope }: Caller,
  body: CreateInvoiceBody,
): Promise<GivenRow[]> {
  const { currency, subtotal } = body;
  const given = body.line_items ?? [];
  if (given.length === 0) {
    const amount = subtotal ?? body.total ?? body.amount_due ?? '0';
    if (decimal(amount).lte(0)) throw invalidField('line_items', 'needs at least one row');
    const row = { display_name: body.description || 'Invoice', amount, quantity: '1' };
    assertWrittenRow(row, currency, 'line_items[0]');
    return [row];
  }
  const named = given.map((row, index) => ({ row, path: `line_items[${index}]` }));
  await assertReferences(pool, scope, body.customer_id, named);
  const rows = given.map(givenRow);
  rows.forEach((row, index) => assertWrittenRow(row, currency, `line_items[${index}]`));
  assertNotBelowZero(rows);
  if (subtotal != null) assertSubtotal(rows, subtotal);
  return rows;
}

export const givenRow = (row: InvoiceRowBody): GivenRow => ({
  ...row,
  display_name: row.display_name ?? null,
  price_type: row.price_type ?? null,
  entity_type: row.entity_type ?? null,
  entity_id: row.entity_id ?? null,
  price_id: row.price_id ?? null,
  price_unit: row.price_unit ?? null,
  price_unit_amount: row.price_unit_amount ?? null,
  meter_id: row.meter_id ?? null,
  meter_display_name: row.meter_display_name ?? null,
  plan_display_name: row.plan_display_name ?? null,
  period_start: row.period_start ?? null,
  period_end: row.period_end ?? null,
  quantity: row.quantity ?? '1',
  metadata: row.metadata ?? {},
});

interface Parts {
  readonly customer: Customer;
  readonly subscription: SubscriptionRow | null;
  readonly rows: readonly GivenRow[];
}

async function write(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateInvoiceBody,
  { customer, subscription, rows }: Parts,
): Promise<Created> {
  // The deletion of the customer waits for this invoice.
  const { status } = await lockCustomer(tx, caller.scope, customer);
  if (status !== 'published')
    throw invalidField('customer_id', `customer ${customer.id} is ${status}`);
  if (subscription !== null) await lockSubscription(tx, caller.scope, subscription.id);
  const coupons = await redeemedCoupons(tx, deps, caller, body, rows);
  const taxes = await namedTaxes(tx, caller.scope, body, customer);
  const { invoice } = await createInvoiceOfRows(tx, deps, caller, {
    invoice_type: body.invoice_type,
    billing_reason: body.billing_reason || null,
    customer,
    subscription,
    currency: body.currency,
    rows,
    period: body.period_start ? { start: body.period_start, end: body.period_end! } : null,
    coupons,
    taxes,
    isIssued: body.checkout == null,
    source_type: body.checkout == null ? null : CHECKOUT_SOURCE,
    description: body.description || null,
    due_date: body.due_date ?? null,
    issue_date: body.issue_date ?? null,
    invoice_pdf_url: body.invoice_pdf_url || null,
    metadata: body.metadata ?? {},
    idempotency_key: body.idempotency_key || null,
  }).catch((error: unknown) => {
    throw violatedConstraint(error) === 'invoices_idempotency_key_key' ? keyReused() : error;
  });
  if (body.total != null) assertTotal('total', body.total, invoice);
  if (body.amount_due != null) assertTotal('amount_due', body.amount_due, invoice);
  const checkout =
    body.checkout == null
      ? null
      : await deps.checkoutGates.open(tx, deps, caller, body.checkout, {
          action: 'pay_invoice',
          invoice,
          target_key: invoice.id,
          configuration: { pay_invoice_params: { invoice_id: invoice.id } },
        });
  failpoint('api.create_invoice.before_commit');
  return { invoice, checkout_session_id: checkout?.id ?? null };
}
