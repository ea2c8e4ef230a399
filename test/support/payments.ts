import type { TestApi, TestCaller } from './api.ts';
import { catalogOf } from './catalog.ts';

let counter = 0;

/** A customer with one issued invoice of a subscription. */
export async function invoiceDue(api: TestCaller, amount: string, more: object = {}) {
  const catalog = catalogOf(api);
  const plan = await catalog.plan();
  await catalog.fixed(plan, amount, { display_name: 'Base' });
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: '2026-11-01T00:00:00.000Z',
    ...more,
  });
  const invoice = subscription.latest_invoice as { id: string; line_items: { id: string }[] };
  const read = async () => (await api.get(`/v1/invoices/${invoice.id}`)).body;
  return { customer, subscription, invoice: await read(), read };
}

/** Offline money for an invoice, with a key of its own unless one is given. */
export const payOffline = (
  api: TestApi,
  invoice: { id: string },
  amount: string,
  more: object = {},
) =>
  api.post('/v1/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    payment_method_type: 'OFFLINE',
    amount,
    currency: 'usd',
    idempotency_key: `offline-${(counter += 1)}`,
    ...more,
  });

/** Events of an entity, oldest first. */
export async function eventsOf(api: TestApi, entityId: string): Promise<string[]> {
  const rows = await api.pool<{ event_type: string }[]>`
    select event_type from outbox where entity_id = ${entityId} order by sequence`;
  return rows.map(({ event_type }) => event_type);
}
