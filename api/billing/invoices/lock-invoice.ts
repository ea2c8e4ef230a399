import { assertNotGated } from '../../../domain/invoicing/gated-invoice.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import { getInvoice, lockInvoice } from '../records/invoice-repository.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import { lockSubscription } from '../records/subscription-repository.ts';

/** A locked invoice with its rows, its customer and its subscription. */
export interface LockedInvoice {
  readonly invoice: InvoiceRecord;
  readonly lines: readonly InvoiceLineRecord[];
  readonly customer: Customer;
  readonly subscription: SubscriptionRow | null;
}

/** Locks the subscription first, as everywhere: computations of its invoices wait here. 404 if unknown. */
export async function lockWithConcerned(
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<LockedInvoice> {
  const { subscription_id } = await getInvoice(tx, scope, id);
  const subscription =
    subscription_id === null ? null : await lockSubscription(tx, scope, subscription_id);
  const invoice = await lockInvoice(tx, scope, id);
  assertNotGated(invoice);
  return {
    invoice,
    subscription,
    lines: await linesOfInvoices(tx, scope, [id]),
    customer: await getCustomer(tx, scope, invoice.customer_id),
  };
}
