import { BillingError } from '../errors.ts';
import type { InvoiceStatus } from '../states/invoice.ts';

interface Gateable {
  readonly invoice_status: InvoiceStatus;
  readonly source_type: string | null;
}

/** The source type of invoices that a checkout session pays before they are issued. */
export const CHECKOUT_SOURCE = 'checkout';

/** Whether the invoice is a draft that waits for the payment of a checkout session (money 11.6). */
export const isGated = (invoice: Gateable): boolean =>
  invoice.invoice_status === 'DRAFT' && invoice.source_type === CHECKOUT_SOURCE;

/** 409 while the invoice waits for a checkout session: only the session may change, issue, pay or void it. */
export function assertNotGated(invoice: Gateable): void {
  if (!isGated(invoice)) return;
  const message = 'A checkout session is active for this invoice; cancel the session first.';
  throw new BillingError('conflict', 'checkout_active', message, [
    { path: 'checkout_session', code: 'checkout_active', message },
  ]);
}
