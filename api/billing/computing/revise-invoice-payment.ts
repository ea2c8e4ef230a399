import { decimal } from '../../../domain/money.ts';
import { deriveInvoicePayment, paidAt } from '../../../domain/invoicing/payment-ledger.ts';
import { statusAfterSettlement } from '../../../domain/subscription/activation.ts';
import { dueAt } from '../../../domain/subscription/due.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import { lockStoredInvoice, updateInvoices } from '../records/invoice-repository.ts';
import { ledgerOf } from '../records/ledger-repository.ts';
import { lockLivingInvoices } from '../records/subscription-invoice-repository.ts';
import {
  changeSubscription,
  lockSubscriptionOfInvoice,
} from '../records/subscription-repository.ts';
import { subscriptionSnapshot } from '../records/subscription-notification.ts';
import { completePurchaseOf } from './complete-purchase.ts';
import { invoiceEvent } from './write-invoices.ts';

/** An invoice with its subscription, both locked. */
export interface LockedInvoice {
  readonly invoice: InvoiceRecord;
  readonly subscription: SubscriptionRow | null;
}

/**
 * Locks the subscription first and then the invoice, in the order of all billing commands: payments, voids
 * and computations of one invoice take turns. An invoice that a checkout session has archived takes no
 * subscription with it. 404 if not found.
 */
export async function lockInvoiceToPay(
  tx: Transaction,
  { scope }: Pick<Caller, 'scope'>,
  invoiceId: string,
): Promise<LockedInvoice> {
  const owner = await lockSubscriptionOfInvoice(tx, scope, invoiceId);
  const invoice = await lockStoredInvoice(tx, scope, invoiceId);
  return { invoice, subscription: invoice.status === 'published' ? owner : null };
}

/**
 * Derives the payment fields of the locked invoice again from its payments, refunds and credit notes, and
 * writes them (money 8.4). Every command that changes such a row calls this in the same transaction. An
 * invoice with nothing left to pay activates the incomplete subscription that waits for it (money
 * 8.4.6, billing 10.3). Returns the invoice; `invoice.update.payment` is sent if a field has changed.
 */
export async function reviseInvoicePayment(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  caller: Caller,
  { invoice, subscription }: LockedInvoice,
): Promise<InvoiceRecord> {
  const { scope } = caller;
  const ledger = await ledgerOf(tx, scope, invoice.id);
  const derived = deriveInvoicePayment(invoice.invoice_status, decimal(invoice.total), ledger);
  const isSame = Object.entries(derived).every(
    ([field, value]) => invoice[field as keyof typeof derived] === value,
  );
  if (isSame) return invoice;
  const { updated_at, updated_by } = changed(deps, caller);
  const revised: InvoiceRecord = {
    ...invoice,
    ...derived,
    paid_at: paidAt(invoice, derived, updated_at),
    updated_at,
    updated_by,
  };
  await updateInvoices(tx, [revised]);
  const written = { ...revised, version: invoice.version + 1 };
  await completePurchaseOf(tx, deps, caller, written);
  const customer = await getCustomer(tx, scope, invoice.customer_id);
  const settled =
    subscription === null
      ? null
      : await settleSubscription(tx, deps, caller, written, subscription);
  const lines = await linesOfInvoices(tx, scope, [invoice.id]);
  const concerned = { invoice: written, lines, customer, subscription: settled };
  await writeOutboxEvents(tx, [
    invoiceEvent('invoice.update.payment', scope, concerned),
    ...(settled === null || settled === subscription
      ? []
      : [
          {
            scope,
            event_type: 'subscription.activated' as const,
            payload: { subscription: subscriptionSnapshot(settled, customer) },
          },
        ]),
  ]);
  return written;
}

/** The subscription after its invoice was settled: an incomplete one whose first invoice is paid is active. */
async function settleSubscription(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  caller: Caller,
  invoice: InvoiceRecord,
  subscription: SubscriptionRow,
): Promise<SubscriptionRow> {
  if (invoice.invoice_status !== 'FINALIZED') return subscription;
  if (subscription.subscription_status !== 'incomplete') return subscription;
  const others = await lockLivingInvoices(tx, caller.scope, subscription.id);
  const status = statusAfterSettlement('incomplete', leftToPay(invoice), others.map(leftToPay));
  if (status === subscription.subscription_status) return subscription;
  return await changeSubscription(tx, caller.scope, subscription.id, {
    subscription_status: status,
    // The periods that have passed meanwhile are caught up, one after the other.
    due_at: dueAt({ ...subscription, subscription_status: status }),
    ...changed(deps, caller),
  });
}

const leftToPay = ({ billing_reason, amount_remaining }: InvoiceRecord) => ({
  billing_reason,
  amount_remaining: decimal(amount_remaining),
});
