import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import type { NotifiedInvoiceEvent } from '../../../schemas/invoice-requests.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import { invoiceEvent } from '../computing/write-invoices.ts';
import { lockWithConcerned } from './lock-invoice.ts';

/** Sends a notification of the invoice in its current state once more. The invoice does not change. */
export async function triggerNotification(
  { pool }: Pick<BillingDeps, 'pool'>,
  { scope }: Caller,
  id: string,
  event: NotifiedInvoiceEvent,
): Promise<void> {
  await pool.begin(async (tx) => {
    const locked = await lockWithConcerned(tx, scope, id);
    await writeOutboxEvents(tx, [invoiceEvent(event, scope, locked)]);
  });
}
