import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

/** Prices in a pricing unit: converted at creation, shown in the unit on every row (billing 2.6). */
describe('pricing units on subscriptions and invoices', () => {
  let world: BillingWorld;
  beforeAll(async () => {
    world = await startBillingWorld();
    world.api.clock.set('2026-01-01T00:00:00.000Z');
  });
  afterAll(() => world.stop());

  const day = (text: string) => `${text}T00:00:00.000Z`;
  const unitPrice = (plan: { id: string }, config: object, more: object) =>
    world.api.post('/v1/prices', {
      entity_type: 'PLAN', entity_id: plan.id, billing_period: 'MONTHLY', billing_period_count: 1,
      currency: 'usd', price_unit_type: 'CUSTOM', billing_model: 'FLAT_FEE', invoice_cadence: 'ADVANCE',
      type: 'FIXED', price_unit_config: { price_unit: 'crd', ...config }, ...more,
    }); // prettier-ignore

  test('rows show the amount in the unit; an override has terms in the unit', async () => {
    const { catalog, usage } = world;
    const unit = await world.api.post('/v1/prices/units', {
      name: 'Credits', code: 'crd', symbol: 'cr', base_currency: 'usd', conversion_rate: '0.03',
    }); // prettier-ignore
    expect(unit.status).toBe(201);
    const plan = await catalog.plan();
    const meter = await catalog.meter();
    const base = await unitPrice(plan, { amount: '100' }, { display_name: 'Base' });
    expect([base.status, base.body.amount]).toEqual([201, '3']);
    const calls = await unitPrice(
      plan,
      { amount: '2' },
      { type: 'USAGE', invoice_cadence: 'ARREAR', meter_id: meter.id, display_name: 'Calls' },
    );
    expect(calls.status).toBe(201);
    const fiat = await catalog.fixed(plan, '5', { display_name: 'Fiat' });
    await completeBackfills(world.api.pool);
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, {
      start_date: day('2026-01-01'),
      override_line_items: [{ price_id: base.body.id, price_unit_amount: '200' }],
    });
    const own = subscription.line_items.find((line: any) => line.display_name === 'Base');
    const { body: price } = await world.api.get(`/v1/prices/${own.price_id}`);
    expect(price).toMatchObject({
      entity_type: 'SUBSCRIPTION', parent_price_id: base.body.id, amount: '6', price_unit: 'crd',
      price_unit_amount: '200', conversion_rate: '0.03',
    }); // prettier-ignore
    const units = (invoice: any) =>
      Object.fromEntries(
        invoice.line_items.map((line: any) => [
          line.display_name,
          [line.amount, line.price_unit, line.price_unit_amount],
        ]),
      );
    expect(units(subscription.latest_invoice)).toEqual({
      Base: ['6', 'crd', '200'],
      Fiat: ['5', null, '0'],
    });
    await usage.use(meter, customer, day('2026-01-10'), '7');
    const { body: preview } = await world.api.post('/v1/invoices/preview', {
      subscription_id: subscription.id,
    });
    expect(units(preview)).toMatchObject({ Calls: ['0.42', 'crd', '14'] });

    // Fiat terms do not fit a price in a unit, nor the other way round.
    for (const override of [
      { price_id: base.body.id, amount: '1' },
      { price_id: fiat.id, price_unit_amount: '1' },
    ]) {
      const { status } = await world.api.post('/v1/subscriptions', {
        customer_id: customer.id, plan_id: plan.id, currency: 'usd', billing_period: 'MONTHLY',
        override_line_items: [override],
      }); // prettier-ignore
      expect([override, status]).toEqual([override, 400]);
    }
  });
});
