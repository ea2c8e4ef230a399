import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.api.clock.set('2026-04-11T00:00:00.000Z'));

let counter = 0;

/** From 50.00 to 100.00 a month, from 1 April: 30 days. */
async function subscribed(more: object = {}) {
  const { catalog } = world;
  const key = `earlier${(counter += 1)}-${Date.now()}`;
  const [from, to] = [await catalog.plan('Small'), await catalog.plan('Large')];
  await catalog.fixed(from, '50', { display_name: 'Base', lookup_key: `${key}a` });
  await catalog.fixed(to, '100', { display_name: 'Base', lookup_key: `${key}b` });
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, from, {
    start_date: day('2026-04-01'),
    ...more,
  });
  return { from, to, customer, subscription };
}
const body = (to: { id: string }, more: object = {}) => ({
  target_plan_id: to.id,
  proration_behavior: 'create_prorations',
  billing_cadence: 'RECURRING',
  billing_period: 'MONTHLY',
  billing_cycle: 'anniversary',
  ...more,
});
const change = (
  subscription: { id: string },
  kind: 'preview' | 'execute',
  asked: object,
  headers: object = {},
) => world.api.post(`/v1/subscriptions/${subscription.id}/change/${kind}`, asked, headers);
const read = async (subscription: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${subscription.id}`)).body;
const invoicesOf = async (subscription: { id: string }) =>
  (await world.api.post('/v1/invoices/search', { subscription_id: subscription.id })).body
    .items as any[];
const walletsOf = async (customer: { id: string }) =>
  (await world.api.get(`/v1/customers/${customer.id}/wallets`)).body as any[];

describe('200', () => {
  test('an upgrade is billed as previewed: credit and charge on one invoice (billing 5.4)', async () => {
    const { subscription, from, to } = await subscribed();
    const { body: shown } = await change(subscription, 'preview', body(to));
    const proration = {
      charge_amount: '66.67',
      credit_amount: '33.33',
      net_amount: '33.34',
      currency: 'usd',
      proration_date: day('2026-04-11'),
      current_period_start: day('2026-04-01'),
      current_period_end: day('2026-05-01'),
      days_used: 10,
      days_remaining: 20,
    };
    expect(shown).toMatchObject({
      subscription_id: subscription.id,
      change_type: 'upgrade',
      current_plan: { id: from.id, name: 'Small' },
      target_plan: { id: to.id, name: 'Large' },
      proration_details: proration,
      next_invoice_preview: {
        subtotal: '33.34',
        tax_amount: '0',
        total: '33.34',
        line_items: [
          { description: 'Base', unit_price: '50', amount: '-33.33', is_proration: true },
          { description: 'Base', unit_price: '100', amount: '66.67', is_proration: true },
        ],
      },
      new_billing_cycle: { period_start: day('2026-04-01'), period_end: day('2026-05-01') },
    });
    expect((await read(subscription)).plan_id).toBe(from.id);
    expect(await invoicesOf(subscription)).toHaveLength(1);

    const { status, body: done } = await change(subscription, 'execute', body(to));
    expect(status).toBe(200);
    expect(done).toMatchObject({
      change_type: 'upgrade',
      is_scheduled: false,
      old_subscription: { id: subscription.id, plan_id: from.id },
      new_subscription: { id: subscription.id, plan_id: to.id, status: 'active' },
      proration_applied: proration,
      invoice: { total: '33.34', billing_reason: 'SUBSCRIPTION_UPDATE' },
    });
    expect((await invoicesOf(subscription))[0]).toMatchObject({ id: done.invoice.id });
    expect((await read(subscription)).plan_id).toBe(to.id);
  });

  test('a downgrade returns the difference to the wallet and makes no invoice', async () => {
    const { subscription, from, to, customer } = await subscribed();
    await change(subscription, 'execute', body(to, { proration_behavior: 'none' }));
    const proration = { charge_amount: '33.33', credit_amount: '0', net_amount: '33.33' };
    const { body: shown } = await change(subscription, 'preview', body(from));
    // The change to the larger plan was free: nothing was billed for it that could return.
    expect(shown).toMatchObject({ change_type: 'downgrade', proration_details: proration });

    const other = await subscribed();
    await change(other.subscription, 'execute', body(other.to));
    const { body: done } = await change(other.subscription, 'execute', body(other.from));
    expect(done).toMatchObject({
      invoice: null,
      proration_applied: { charge_amount: '33.33', credit_amount: '66.67', net_amount: '-33.34' },
    });
    expect(await walletsOf(other.customer)).toMatchObject([{ balance: '33.34' }]);
    expect(await walletsOf(customer)).toEqual([]);
  });

  test('at the end of the period: a schedule, the plan stays until then', async () => {
    const { subscription, from, to } = await subscribed();
    const later = body(to, { proration_behavior: 'none', change_at: 'end_of_period' });
    const { body: done } = await change(subscription, 'execute', later);
    expect(done).toMatchObject({
      is_scheduled: true,
      scheduled_at: day('2026-05-01'),
      new_subscription: { plan_id: from.id },
      proration_applied: null,
      invoice: null,
    });
    const { body: row } = await world.api.get(`/v1/subscriptions/schedules/${done.schedule_id}`);
    expect(row).toMatchObject({ status: 'pending', schedule_type: 'plan_change' });
    expect((await change(subscription, 'execute', later)).status).toBe(409);
  });

  test('a second click with the same key gets the first answer, and is billed once', async () => {
    const { subscription, to } = await subscribed();
    const keyed = { 'idempotency-key': `click-${subscription.id}` };
    const clicks = await Promise.all(
      [1, 2].map(() => change(subscription, 'execute', body(to), keyed)),
    );
    const again = await change(subscription, 'execute', body(to), keyed);
    expect(again.status).toBe(200);
    for (const { status, body: answer } of clicks)
      if (status === 200) expect(answer.invoice.id).toBe(again.body.invoice.id);
      else expect(status).toBe(409);
    expect(await invoicesOf(subscription)).toHaveLength(2);
  });

  test('without a key the second click is refused: the plan is already the requested one', async () => {
    const { subscription, to } = await subscribed();
    expect((await change(subscription, 'execute', body(to))).status).toBe(200);
    expect((await change(subscription, 'execute', body(to))).status).toBe(400);
    expect(await invoicesOf(subscription)).toHaveLength(2);
  });

  test('the key in the body of change/v2 does the same', async () => {
    const { subscription, to } = await subscribed();
    const asked = {
      target_plan_id: to.id,
      proration_behavior: 'create_prorations',
      idempotency_key: `v2-${subscription.id}`,
    };
    const path = `/v1/subscriptions/${subscription.id}/change/v2/execute`;
    const first = await world.api.post(path, asked);
    const second = await world.api.post(path, asked);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body.changed_resources).toEqual(first.body.changed_resources);
    expect((await world.api.post(path, { ...asked, metadata: { a: 'b' } })).status).toBe(409);
  });
});

describe('refused', () => {
  test('400 names the field; 404 for what does not exist', async () => {
    const { subscription, from, to } = await subscribed();
    const { billing_cycle: _, ...incomplete } = body(to);
    for (const [asked, status, path] of [
      [body(from), 400, 'target_plan_id'],
      [body({ id: 'plan_00000000000000000000000000' }), 404, null],
      [body(to, { billing_period: 'ANNUAL' }), 400, 'billing_period'],
      [body(to, { billing_period_count: 2 }), 400, 'billing_period_count'],
      [body(to, { billing_cycle: 'calendar' }), 400, 'billing_cycle'],
      [body(to, { billing_cadence: 'ONETIME' }), 400, 'billing_cadence'],
      [incomplete, 400, 'billing_cycle'],
      [body(to, { change_at: 'end_of_period' }), 400, 'proration_behavior'],
    ] as const)
      for (const kind of ['preview', 'execute'] as const) {
        const answer = await change(subscription, kind, asked);
        expect([asked, answer.status]).toEqual([asked, status]);
        if (path !== null) expect(answer.body.details[0].path).toBe(path);
      }
    const unknown = { id: 'subs_00000000000000000000000000' };
    expect((await change(unknown, 'execute', body(to))).status).toBe(404);
    expect(await invoicesOf(subscription)).toHaveLength(1);
  });

  test('a cancelled, a paused and a draft subscription keep their plan', async () => {
    const cancelled = await subscribed();
    await world.api.post(`/v1/subscriptions/${cancelled.subscription.id}/cancel`, {
      cancellation_type: 'immediate',
    });
    const paused = await subscribed();
    await world.api.post(`/v1/subscriptions/${paused.subscription.id}/pause`, {
      pause_mode: 'immediate',
    });
    const draft = await subscribed({ subscription_status: 'draft' });
    for (const { subscription, from, to } of [cancelled, paused, draft]) {
      for (const kind of ['preview', 'execute'] as const)
        expect((await change(subscription, kind, body(to))).status).toBe(400);
      expect((await read(subscription)).plan_id).toBe(from.id);
    }
  });

  test('another tenant sees 404', async () => {
    const { subscription, to } = await subscribed();
    const stranger = await world.api.newCaller();
    for (const kind of ['preview', 'execute'] as const) {
      const path = `/v1/subscriptions/${subscription.id}/change/${kind}`;
      expect((await stranger.post(path, body(to))).status).toBe(404);
    }
    expect(await invoicesOf(subscription)).toHaveLength(1);
  });
});
