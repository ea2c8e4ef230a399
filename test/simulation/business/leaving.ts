import { cents } from './cents.ts';
import type { Desk } from './desk.ts';

/** Deletes the customer. It is refused while a subscription runs or an invoice is open (billing 13.1). */
export async function leave(desk: Desk): Promise<void> {
  const { customer, ledger, random } = desk;
  const running = customer.subscriptions.some(({ end }) => end === null || end > desk.now);
  // Most who still have a subscription stay.
  if (running && random.chance(0.8)) return;
  if (!running) await payAll(desk);
  const body = await desk.command('delete customer', `/customers/${customer.id}`, {}, 'delete');
  if (body === null) return;
  const owed = (await desk.issued()).filter(({ amount_remaining }) => amount_remaining !== '0');
  if (running || owed.length > 0)
    throw new Error(`${customer.id} was deleted with ${owed.length} open invoices`);
  customer.isGone = true;
  ledger.expire(customer, desk.now);
}

/** Pays what is open by bank transfer. */
async function payAll(desk: Desk): Promise<void> {
  const { ledger } = desk;
  for (const row of await desk.issued()) {
    const invoice = ledger.invoices.get(row.id);
    if (invoice === undefined || row.amount_remaining === '0') continue;
    const body = await desk.command('pay before leaving', '/payments', {
      destination_type: 'INVOICE', destination_id: row.id, currency: row.currency,
      payment_method_type: 'OFFLINE', amount: row.amount_remaining,
    }); // prettier-ignore
    if (body?.payment_status === 'SUCCEEDED')
      ledger.pay(invoice, body.id, cents(row.amount_remaining), 'offline', desk.now);
  }
  for (const { id, invoice } of desk.sessions.splice(0)) {
    const body = await desk.command('cancel session', `/checkout/sessions/${id}/cancel`, {});
    if (body !== null) ledger.endGate(invoice);
  }
}
