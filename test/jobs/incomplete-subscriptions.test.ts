import { billingWorldFrom } from '../support/billing-world.ts';
import { day } from '../support/day.ts';
import { eventsOf, invoiceDue, payOffline } from '../support/payments.ts';

const world = billingWorldFrom('2026-11-01T00:00:00.000Z');
beforeEach(async () => {
  await world.api.pool`delete from settings where key = 'subscription_config'`;
});

const read = async ({ id }: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${id}`)).body;
async function invoicesOf({ id }: { id: string }) {
  const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id });
  return body.items
    .sort((left: any, right: any) => left.billing_sequence - right.billing_sequence)
    .map((invoice: any) => [
      invoice.billing_reason,
      invoice.invoice_status,
      invoice.period_start.slice(0, 10),
      invoice.total,
    ]);
}
const configure = (value: object) => world.api.put('/v1/settings/subscription_config', { value });

describe('an incomplete subscription (billing 10.3)', () => {
  test('is not billed on; once its first invoice is paid, the passed periods are caught up', async () => {
    const { subscription, invoice } = await invoiceDue(world.api, '100', {
      payment_behavior: 'default_incomplete',
    });
    world.api.clock.set(day('2027-01-10'));
    await world.close();
    expect(await invoicesOf(subscription)).toHaveLength(1);

    await payOffline(world.api, invoice, '100');
    expect(await read(subscription)).toMatchObject({ subscription_status: 'active' });
    await world.close();
    expect(await invoicesOf(subscription)).toEqual([
      ['SUBSCRIPTION_CREATE', 'FINALIZED', '2026-11-01', '100'],
      ['SUBSCRIPTION_CYCLE', 'DRAFT', '2026-11-01', '100'],
      ['SUBSCRIPTION_CYCLE', 'DRAFT', '2026-12-01', '100'],
    ]);
    expect(await read(subscription)).toMatchObject({ current_period_start: day('2027-01-01') });
  });

  test('a trial that ends unpaid waits as well, and continues when it is paid', async () => {
    const { subscription } = await invoiceDue(world.api, '100', {
      payment_behavior: 'default_incomplete',
      trial_period_days: 5,
    });
    world.api.clock.set(day('2026-11-06'));
    await world.close();
    const waiting = await read(subscription);
    expect(waiting).toMatchObject({ subscription_status: 'incomplete' });
    await payOffline(world.api, waiting.latest_invoice, '100');
    world.api.clock.set(day('2026-12-06'));
    await world.close();
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'active',
      current_period_start: day('2026-12-06'),
    });
  });

  test('a payment in progress waits for its outcome and holds up no other subscription', async () => {
    await configure({ grace_period_days: 2, auto_cancellation_enabled: true });
    const terms = { payment_behavior: 'default_incomplete' };
    const both = [
      await invoiceDue(world.api, '100', terms),
      await invoiceDue(world.api, '100', terms),
    ];
    const [first, second] = both.sort((left, right) =>
      left.subscription.id < right.subscription.id ? -1 : 1,
    );
    const { body: payment } = await payOffline(world.api, first!.invoice, '100', {
      process_payment: false,
    });
    const become = (payment_status: string) =>
      world.api.put(`/v1/payments/${payment.id}`, { payment_status });
    expect((await become('PROCESSING')).status).toBe(200);
    world.api.clock.set(day('2026-11-10'));
    expect(await world.cancelUnpaid()).toEqual({ cancelled: 1, failed: 0 });
    expect(await read(second!.subscription)).toMatchObject({ subscription_status: 'cancelled' });
    expect(await read(first!.subscription)).toMatchObject({ subscription_status: 'incomplete' });
    expect((await become('FAILED')).status).toBe(200);
    expect(await world.cancelUnpaid()).toEqual({ cancelled: 1, failed: 0 });
    expect(await read(first!.subscription)).toMatchObject({ subscription_status: 'cancelled' });
  });

  test('stays by default; with the setting it is cancelled after the grace, and its invoice void', async () => {
    const { subscription, invoice } = await invoiceDue(world.api, '100', {
      payment_behavior: 'default_incomplete',
    });
    const paid = await invoiceDue(world.api, '100', { payment_behavior: 'default_incomplete' });
    await payOffline(world.api, paid.invoice, '1');
    // Due a day after the issue, and two days of grace.
    world.api.clock.set(day('2026-11-04'));
    expect(await world.cancelUnpaid()).toEqual({ cancelled: 0, failed: 0 });
    await configure({ grace_period_days: 2, auto_cancellation_enabled: true });
    world.api.clock.set('2026-11-03T23:59:59.999Z');
    expect(await world.cancelUnpaid()).toEqual({ cancelled: 0, failed: 0 });
    world.api.clock.set(day('2026-11-04'));
    expect(await world.cancelUnpaid()).toEqual({ cancelled: 1, failed: 0 });
    expect(await world.cancelUnpaid()).toEqual({ cancelled: 0, failed: 0 });

    expect(await read(subscription)).toMatchObject({
      subscription_status: 'cancelled',
      cancelled_at: day('2026-11-04'),
      end_date: day('2026-11-04'),
      metadata: { cancellation_reason: 'The first invoice was not paid in time.' },
    });
    expect((await world.api.get(`/v1/invoices/${invoice.id}`)).body.invoice_status).toBe('VOIDED');
    expect(await eventsOf(world.api, subscription.id)).toContain('subscription.cancelled');
    expect(await read(paid.subscription)).toMatchObject({ subscription_status: 'incomplete' });
  });
});
