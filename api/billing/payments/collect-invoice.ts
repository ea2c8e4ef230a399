import { isCollectable } from '../../../domain/invoicing/pay-from-wallets.ts';
import { Decimal, decimal, decimalText, sum, ZERO } from '../../../domain/money.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { hasFailedPurchase } from '../computing/complete-purchase.ts';
import { lockInvoiceToPay } from '../computing/revise-invoice-payment.ts';
import {
  dueCollectionsOf,
  lockCollection,
  updateCollection,
} from '../records/collection-repository.ts';
import { ownRun, type BillingRun } from '../billing-run.ts';
import { findChargeableMethod } from '../payment-methods/chargeable-method.ts';
import { paymentsOfInvoice } from '../records/payment-repository.ts';
import { isoTime } from '../../../platform/clock.ts';
import { createPayment } from './create-payment.ts';
import { syncPayment } from './dispatch-payment.ts';

/**
 * How long a charge waits while another payment of the invoice is in flight: as long as that payment has been, within
 * these limits. So a payment that is never answered makes a few instants of a test clock, not 96 a day.
 */
const WAIT_MS_MIN = 15 * 60 * 1000;
const WAIT_MS_MAX = 24 * 60 * 60 * 1000;

/**
 * Makes the charge of an invoice that is due (money 8.6). The payment, its token for the gateway and the count of
 * charges are one transaction; the gateway is asked after it. A process that is killed in between leaves a stored
 * payment, which the reconciling job brings to the gateway with the same token. Null if nothing is due.
 */
export async function collectInvoice(
  deps: BillingDeps,
  run: BillingRun,
  invoiceId: string,
): Promise<PaymentRecord | null> {
  const payment = await deps.pool.begin(async (tx) => {
    await run.hold(tx);
    const reserved = await reserveCharge(tx, deps, run, invoiceId);
    failpoint('jobs.collect_invoices.before_commit');
    return reserved;
  });
  failpoint('jobs.collect_invoices.after_commit');
  return payment === null ? null : await syncPayment(deps, run, payment.id);
}

async function reserveCharge(
  tx: Transaction,
  deps: BillingDeps,
  run: BillingRun,
  invoiceId: string,
): Promise<PaymentRecord | null> {
  const { scope, at } = run;
  const { invoice, subscription } = await lockInvoiceToPay(tx, run, invoiceId);
  const row = await lockCollection(tx, scope, invoiceId);
  if (row === null || row.collection_status !== 'scheduled' || row.next_attempt_at! > at)
    return null;
  const set = (changes: Parameters<typeof updateCollection>[3]) =>
    updateCollection(tx, scope, invoiceId, { updated_at: at, ...changes });
  const stopped = { collection_status: 'stopped', next_attempt_at: null } as const;
  const isOpen =
    isCollectable(invoice) &&
    decimal(invoice.amount_remaining).gt(ZERO) &&
    !(await hasFailedPurchase(tx, scope, invoice));
  const amount = await openAmount(tx, scope, invoice);
  const named = subscription?.gateway_payment_method_id ?? null;
  const method = isOpen ? await findChargeableMethod(tx, scope, invoice, named, amount) : null;
  if (method === null) {
    await set(stopped);
    return null;
  }
  if (amount.lte(ZERO)) {
    const waitMs = await waitBehindPayments(tx, scope, invoiceId, Date.parse(at));
    await set({ next_attempt_at: isoTime(Date.parse(at) + waitMs) });
    return null;
  }
  const attempt_count = row.attempt_count + 1;
  const { payment } = await createPayment(tx, deps, run, {
    destination_type: 'INVOICE',
    destination_id: invoiceId,
    payment_method_type: 'CARD',
    payment_method_id: method.id,
    amount: decimalText(amount),
    currency: invoice.currency,
    idempotency_key: `collect-${invoiceId}-${attempt_count}`,
    metadata: {},
  });
  await set({
    collection_status: 'attempting',
    next_attempt_at: null,
    attempt_count,
    last_payment_id: payment.id,
  });
  return payment;
}

async function waitBehindPayments(
  tx: Transaction,
  scope: Scope,
  invoiceId: string,
  atMs: number,
): Promise<number> {
  const payments = await paymentsOfInvoice(tx, scope, invoiceId);
  const newest = payments.findLast(isInFlight);
  const ageMs = newest === undefined ? 0 : atMs - Date.parse(newest.created_at);
  return Math.min(Math.max(ageMs, WAIT_MS_MIN), WAIT_MS_MAX);
}

/** What is open and not under way. */
export async function openAmount(
  tx: Transaction,
  scope: Scope,
  invoice: InvoiceRecord,
): Promise<Decimal> {
  const payments = await paymentsOfInvoice(tx, scope, invoice.id);
  return decimal(invoice.amount_remaining).minus(
    sum(payments.filter(isInFlight).map(({ amount }) => decimal(amount))),
  );
}

const isInFlight = ({ payment_status: status }: PaymentRecord): boolean =>
  status === 'INITIATED' || status === 'PENDING' || status === 'PROCESSING';

/** Makes the charges of a subscription that are due, after the request that issued its invoice. */
export async function collectNow(
  deps: BillingDeps,
  caller: Caller,
  subscriptionId: string,
): Promise<void> {
  const at = isoTime(deps.clock.now());
  const run = ownRun(caller, at);
  const due = await dueCollectionsOf(deps.pool, caller.scope, subscriptionId, at);
  for (const { invoice_id } of due) await collectInvoice(deps, run, invoice_id);
}
