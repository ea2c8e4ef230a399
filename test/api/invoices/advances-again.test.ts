import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

const world = billingWorldFrom(day('2026-04-01'));

const TRIAL = { trial_period_days: 30 };

/** A fee of 31.00 whose advance for May is on an invoice with the reason. */
async function paidMay(reason: string) {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '31', { display_name: 'Base' });
  const customer = await catalog.customer();
  if (reason === 'SUBSCRIPTION_CREATE') api.clock.set(day('2026-05-01'));
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: reason === 'SUBSCRIPTION_CREATE' ? day('2026-05-01') : day('2026-04-01'),
    proration_behavior: 'create_prorations',
    ...(reason === 'SUBSCRIPTION_TRIAL_END' ? TRIAL : {}),
  });
  api.clock.set('2026-05-01T00:00:00.001Z');
  while ((await world.close())?.['advanced'] !== 0);
  const { body } = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
  const invoice = body.items.find(({ billing_reason }: any) => billing_reason === reason);
  if (invoice.invoice_status === 'DRAFT')
    await world.api.postOk(`/v1/invoices/${invoice.id}/finalize`, {});
  const [line] = subscription.line_items;
  const path = `/subscriptions/${subscription.id}`;
  const changes = {
    quantity: () =>
      world.api.postOk(`/v1${path}/modify/execute`, {
        type: 'quantity_change',
        quantity_change_params: { line_items: [{ id: line.id, quantity: '2' }] },
      }),
    cancellation: () => world.api.postOk(`/v1${path}/cancel`, { cancellation_type: 'immediate' }),
  };
  const billAgain = () =>
    world.api.postOk('/v1/invoices', {
      customer_id: customer.id, subscription_id: subscription.id, currency: 'usd',
      invoice_type: 'SUBSCRIPTION', billing_reason: reason,
      period_start: invoice.period_start, period_end: invoice.period_end,
    }); // prettier-ignore
  return { invoice, changes, billAgain, line };
}
const rows = (invoice: any) =>
  invoice.line_items.map(
    (row: any) => `${row.amount} ${row.period_start.slice(5, 10)}..${row.period_end.slice(5, 10)}`,
  );
const WHOLE = ['31 05-01..06-01'];
const REASONS = ['SUBSCRIPTION_CREATE', 'SUBSCRIPTION_TRIAL_END', 'SUBSCRIPTION_CYCLE'];

describe.each(REASONS)('the advance on an invoice with the reason %s (billing 14.1)', (reason) => {
  test.each(['quantity', 'cancellation'] as const)(
    'a %s change has credited its rest: a recalculation bills it whole',
    async (change) => {
      const { invoice, changes } = await paidMay(reason);
      world.api.clock.set(day('2026-05-11'));
      await changes[change]();
      const again = await world.api.postOk(`/v1/invoices/${invoice.id}/recalculate`, {});
      expect(rows(again)).toEqual(WHOLE);
      await world.api.postOk(`/v1/invoices/${again.id}/finalize`, {});
      const { body } = await world.api.get(`/v1/invoices/${again.id}`);
      expect([body.invoice_status, body.total]).toEqual(['FINALIZED', '31']);
    },
  );

  test('credited, then voided: it is billed again whole', async () => {
    const { invoice, changes, billAgain } = await paidMay(reason);
    world.api.clock.set(day('2026-05-11'));
    await changes.quantity();
    await world.api.postOk(`/v1/invoices/${invoice.id}/void`, {});
    expect(rows(await billAgain())).toEqual(WHOLE);
  });

  test('credited, then voided; metadata that change later change nothing: it is billed again whole', async () => {
    const { invoice, changes, billAgain, line } = await paidMay(reason);
    world.api.clock.set(day('2026-05-11'));
    await changes.quantity();
    await world.api.postOk(`/v1/invoices/${invoice.id}/void`, {});
    world.api.clock.set(day('2026-05-12'));
    const metadata = { note: 'read' };
    const answer = await world.api.put(`/v1/subscriptions/lineitems/${line.id}`, { metadata });
    expect(answer).toMatchObject({ status: 200, body: { metadata } });
    expect(rows(await billAgain())).toEqual(WHOLE);
  });

  test('voided before a change, which credits nothing: its slice is billed', async () => {
    const { invoice, changes, billAgain } = await paidMay(reason);
    world.api.clock.set(day('2026-05-10'));
    await world.api.postOk(`/v1/invoices/${invoice.id}/void`, {});
    world.api.clock.set(day('2026-05-11'));
    await changes.quantity();
    expect(rows(await billAgain())).toEqual(['10 05-01..05-11']);
  });
});
