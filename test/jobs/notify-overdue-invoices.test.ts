import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.api.clock.set('2026-03-10T00:00:00.000Z'));

async function invoiced(more: object = {}) {
  const customer = await world.catalog.customer();
  const { body } = await world.api.post('/v1/invoices', {
    customer_id: customer.id,
    invoice_type: 'ONE_OFF',
    currency: 'usd',
    line_items: [{ display_name: 'A', amount: '10', quantity: '1' }],
    due_date: '2026-03-20T00:00:00Z',
    ...more,
  });
  return body;
}
const noticesOf = async ({ id }: { id: string }) =>
  await world.api.pool<{ payload: any }[]>`
    select payload from outbox
     where entity_id = ${id} and event_type = 'invoice.payment.overdue' order by sequence`;

test('an open invoice is reported once after its due date, and again when the date was moved', async () => {
  const invoice = await invoiced();
  world.api.clock.set('2026-03-20T00:00:00.000Z');
  expect(await world.notifyOverdue()).toMatchObject({ notified: 0 });
  world.api.clock.set('2026-03-20T00:00:00.001Z');
  expect(await world.notifyOverdue()).toMatchObject({ notified: 1 });
  expect(await world.notifyOverdue()).toMatchObject({ notified: 0 });
  const [notice] = await noticesOf(invoice);
  expect(notice!.payload.invoice).toMatchObject({
    id: invoice.id,
    amount_remaining: '10',
    customer: { id: invoice.customer_id },
    line_items: [{ display_name: 'A' }],
  });

  await world.api.put(`/v1/invoices/${invoice.id}`, { due_date: '2026-03-25T00:00:00Z' });
  expect(await world.notifyOverdue()).toMatchObject({ notified: 0 });
  world.api.clock.set('2026-03-26T00:00:00.000Z');
  expect(await world.notifyOverdue()).toMatchObject({ notified: 1 });
  expect(await noticesOf(invoice)).toHaveLength(2);
  expect((await world.api.get(`/v1/invoices/${invoice.id}`)).body).toMatchObject({
    payment_status: 'PENDING',
    due_date: '2026-03-25T00:00:00.000Z',
  });
});

test('what is paid, void or a draft is not overdue', async () => {
  const free = await invoiced({ line_items: [{ amount: '0', quantity: '1' }] });
  const voided = await invoiced();
  await world.api.post(`/v1/invoices/${voided.id}/void`);
  world.api.clock.set('2026-04-20T00:00:00.000Z');
  await world.notifyOverdue();
  for (const invoice of [free, voided]) expect(await noticesOf(invoice)).toEqual([]);
});
