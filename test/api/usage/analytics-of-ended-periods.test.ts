import { startPipeline, type PipelineWorld } from '../../support/pipeline-world.ts';

const JUNE = { start_date: '2026-06-01T00:00:00Z' };
const RANGE = { start_time: '2026-06-01T00:00:00Z', end_time: '2026-07-01T00:00:00Z' };

/** A period that ends early is rated as its invoice is, by the prorations of what ended it (billing 13, 14.2). */
describe('usage analytics of a period that ends early', () => {
  let world: PipelineWorld;
  let plan: { id: string };
  let target: { id: string };
  let price: { id: string };
  let event_name: string;
  let count = 0;

  beforeAll(async () => {
    world = await startPipeline();
    world.api.clock.set('2026-06-16T00:00:00.000Z');
    plan = await world.catalog.plan();
    target = await world.catalog.plan();
    const meter = await world.catalog.meter();
    event_name = (meter as { id: string; event_name: string }).event_name;
    price = await world.catalog.usage(plan, meter, { amount: '1', ...JUNE });
    await world.catalog.usage(target, meter, { amount: '1', ...JUNE });
  });
  afterAll(() => world.close());

  /** A subscription of June with 80 units and a commitment of 100.00 on its line. */
  const used = async (proration_behavior: string, more: object = {}) => {
    count += 1;
    const external_id = `ended_${count}`;
    const customer = await world.catalog.customer({ external_id });
    const subscription = await world.catalog.subscribe(customer, plan, {
      ...JUNE,
      proration_behavior,
      ...more,
      line_item_commitments: {
        [price.id]: { commitment_amount: '100', overage_factor: '2', enable_true_up: true },
      },
    });
    await world.send([
      {
        event_id: external_id,
        event_name,
        external_customer_id: external_id,
        timestamp: '2026-06-10T10:00:00Z',
        properties: { v: 80 },
      },
    ]);
    await world.settled();
    const cost = async () => {
      const asked = { external_customer_id: external_id, ...RANGE };
      return (await world.api.postOk('/v1/events/analytics', asked)).total_cost;
    };
    const billed = async () => {
      const asked = { subscription_id: subscription.id };
      const { items } = await world.api.postOk('/v1/invoices/search', asked);
      return items.map(({ subtotal }: { subtotal: string }) => subtotal);
    };
    return { id: subscription.id, cost, billed };
  };

  // Half of June serves half of the commitment: 50.00, and 30.00 twice. Without prorations it is whole.
  const CASES = [
    ['none', 'create_prorations', '110'],
    ['create_prorations', 'none', '100'],
  ];

  test.each(CASES)(
    'subscribed with %s, cancelled with %s: %s, as on the invoice',
    async (of, proration_behavior, total) => {
      const { id, cost, billed } = await used(of!);
      await world.api.postOk(`/v1/subscriptions/${id}/cancel`, {
        cancellation_type: 'immediate',
        cancel_immediately_invoice_policy: 'generate_invoice',
        proration_behavior,
      });
      expect(await billed()).toEqual([total]);
      expect(await cost()).toBe(total);
    },
  );

  test.each(CASES)(
    'subscribed with %s, to be cancelled with %s at a date: %s, as on the invoice',
    async (of, proration_behavior, total) => {
      const { id, cost } = await used(of!);
      await world.api.postOk(`/v1/subscriptions/${id}/cancel`, {
        cancellation_type: 'scheduled_date',
        cancel_at: '2026-06-16T00:00:01Z',
        proration_behavior,
      });
      // One second more of June is more than half of the commitment by less than a cent.
      expect(Number(await cost())).toBeCloseTo(Number(total), 2);
    },
  );

  // The end date ends the period anyway, so the ordinary invoice bills it, by the prorations of the subscription.
  test.each([
    ['none', 'create_prorations', '100'],
    ['create_prorations', 'none', '110'],
  ])(
    'subscribed with %s until a date in the period, at whose end it is cancelled with %s: %s',
    async (of, proration_behavior, total) => {
      const { id, cost } = await used(of, { end_date: '2026-06-16T00:00:00.001Z' });
      await world.api.postOk(`/v1/subscriptions/${id}/cancel`, {
        cancellation_type: 'end_of_period',
        proration_behavior,
      });
      expect(Number(await cost())).toBeCloseTo(Number(total), 2);
    },
  );

  test.each(CASES)(
    'subscribed with %s, restarted by a plan change with %s: %s, as on the invoice',
    async (of, proration_behavior, total) => {
      const { id, cost, billed } = await used(of!);
      await world.api.postOk(`/v1/subscriptions/${id}/change/v2/execute`, {
        target_plan_id: target.id,
        proration_behavior,
        billing_period_behaviour: 'anchor_at_effect',
      });
      expect(await billed()).toEqual([total]);
      expect(await cost()).toBe(total);
    },
  );
});
