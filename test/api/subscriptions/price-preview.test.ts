import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';

const day = (text: string) => `2026-${text}T00:00:00.000Z`;

describe('what a new version of a price costs running subscriptions (billing 2.8)', () => {
  let world: BillingWorld;
  beforeAll(async () => {
    world = await startBillingWorld();
  });
  afterAll(() => world.stop());
  beforeEach(() => world.api.clock.set('2026-03-10T00:00:00.000Z'));

  const preview = (price: { id: string }, body: object) =>
    world.api.post(`/v1/prices/${price.id}/preview`, body);

  test('a fixed price: the quantity of each line, by the old and the new amount', async () => {
    const { api, catalog } = world;
    const plan = await catalog.plan();
    const price = await catalog.fixed(plan, '5');
    const subscribe = async (override: object | null) =>
      await catalog.subscribe(await catalog.customer(), plan, {
        ...(override === null
          ? {}
          : { override_line_items: [{ price_id: price.id, ...override }] }),
      });
    await subscribe({ quantity: '10' });
    await subscribe({ quantity: '3' });
    // Own terms do not follow the plan.
    await subscribe({ amount: '4' });
    const cancelled = await subscribe(null);
    await api.post(`/v1/subscriptions/${cancelled.id}/cancel`, { cancellation_type: 'immediate' });

    const { status, body } = await preview(price, { amount: '6.5' });
    expect([status, body]).toEqual([
      200,
      {
        price_id: price.id,
        currency: 'usd',
        billing_period: 'MONTHLY',
        billing_period_count: 1,
        effective_from: '2026-03-10T00:00:00.000Z',
        subscriptions: 2,
        compared: 2,
        not_compared: 0,
        is_complete: true,
        amount_now: '65',
        amount_then: '84.5',
        difference: '19.5',
      },
    ]);
    // Nothing was written: the price is sold as before.
    expect((await api.get(`/v1/prices/${price.id}`)).body).toMatchObject({
      amount: '5',
      end_date: null,
    });

    // Subscriptions that were not synced are compared by the version that they have.
    const { body: second } = await api.put(`/v1/prices/${price.id}`, { amount: '6.5' });
    expect((await preview(second, { amount: '7' })).body).toMatchObject({
      subscriptions: 2,
      amount_now: '65',
      amount_then: '91',
      difference: '26',
    });
  });

  test('a usage price: the quantity of the last final invoice; without one it is not compared', async () => {
    const { api, catalog, usage } = world;
    const plan = await catalog.plan();
    const meter = await catalog.meter();
    const price = await catalog.usage(plan, meter, {
      billing_model: 'TIERED',
      tier_mode: 'SLAB',
      tiers: [
        { up_to: 100, unit_amount: '0.5' },
        { up_to: null, unit_amount: '0.1' },
      ],
    });
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, { start_date: day('03-01') });
    await catalog.subscribe(await catalog.customer(), plan);
    await api.pool`update meter_versions set backfill_state = 'complete'`;
    await usage.use(meter, customer, day('03-05'), '150');
    api.clock.set(day('04-01'));
    const { body: draft } = await api.post('/v1/invoices', {
      invoice_type: 'SUBSCRIPTION',
      customer_id: customer.id,
      subscription_id: subscription.id,
      currency: 'usd',
      period_start: day('03-01'),
      period_end: day('04-01'),
    });
    const tiers = [
      { up_to: 100, unit_amount: '0.4' },
      { up_to: null, unit_amount: '0.1' },
    ];
    expect((await preview(price, { tiers })).body).toMatchObject({ compared: 0, not_compared: 2 });
    await api.post(`/v1/invoices/${draft.id}/finalize`);
    expect((await preview(price, { tiers })).body).toMatchObject({
      subscriptions: 2,
      compared: 1,
      not_compared: 1,
      // 100 at 0.5 and 50 at 0.1; then 100 at 0.4.
      amount_now: '55',
      amount_then: '45',
      difference: '-10',
    });
  });

  test('what the update refuses is refused, a price of an addon too, and no other tenant finds it', async () => {
    const { api, catalog } = world;
    const plan = await catalog.plan();
    const price = await catalog.fixed(plan, '5');
    expect((await preview(price, { amount: '-1' })).status).toBe(400);
    expect((await preview(price, { effective_from: day('04-01') })).status).toBe(400);
    expect((await preview(price, { amount: '6', group_id: 'group_unknown' })).status).toBe(400);
    const { body: addon } = await api.post('/v1/addons', {
      name: 'Support',
      lookup_key: 'support',
    });
    const own = await catalog.fixed(addon, '5', { entity_type: 'ADDON' });
    expect((await preview(own, { amount: '6' })).status).toBe(400);
    const other = await api.newCaller();
    expect((await other.post(`/v1/prices/${price.id}/preview`, { amount: '6' })).status).toBe(404);
  });
});
