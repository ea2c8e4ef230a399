import { startPipeline, type PipelineWorld } from '../../support/pipeline-world.ts';

/** A line with more filter keys that begins or ends inside a charge cell of a broader line (billing 2.5). */
describe('a more specific line inside a charge cell', () => {
  let world: PipelineWorld;
  let count = 0;
  beforeAll(async () => {
    world = await startPipeline();
  });
  afterAll(() => world.close());

  const FLAT = { amount: '1' };
  const TIERS = {
    billing_model: 'TIERED',
    tier_mode: 'SLAB',
    tiers: [
      { up_to: 100, unit_amount: '1' },
      { up_to: null, unit_amount: '0.5' },
    ],
  };

  /** March of a customer who used the meter on two days; the line for `eu` runs from the 16th to `until`. */
  const march = async (
    aggregation: object,
    terms: object,
    used: readonly (readonly [day: string, n: number, region: string])[],
    until: string | null = null,
  ) => {
    const { catalog } = world;
    const event_name = `rival${(count += 1)}`;
    const [plan, other] = [await catalog.plan(), await catalog.plan()];
    const meter = await catalog.meter(aggregation, { event_name });
    const start = { start_date: '2026-01-01T00:00:00Z' };
    const broad = await catalog.usage(plan, meter, { ...terms, ...start });
    const special = await catalog.usage(other, meter, {
      amount: '3',
      filter_values: { region: ['eu'] },
      ...start,
    });
    const external_id = `r${count}`;
    const customer = await catalog.customer({ external_id });
    const { body: subscription } = await world.api.post('/v1/subscriptions', {
      customer_id: customer.id, plan_id: plan.id, currency: 'usd', billing_period: 'MONTHLY',
      start_date: '2026-03-01T00:00:00Z', line_items: [{
        price_id: special.id, start_date: '2026-03-16T00:00:00Z', end_date: until,
      }],
    }); // prettier-ignore
    await world.send(
      used.map(([day, n, region]) => ({
        event_id: `rival_${(count += 1)}`,
        event_name,
        external_customer_id: external_id,
        timestamp: `2026-03-${day}T10:00:00Z`,
        properties: { n, region, user: `u${n}` },
      })),
    );
    await world.settled();
    const { status, body } = await world.api.post('/v1/invoices/preview', {
      subscription_id: subscription.id,
      period_start: '2026-03-01T00:00:00Z',
      period_end: '2026-04-01T00:00:00Z',
    });
    expect([status, body.message]).toEqual([200, undefined]);
    const rowsOf = (price: { id: string }) =>
      body.line_items
        .filter((row: any) => row.price_id === price.id)
        .map(({ quantity, amount }: any) => [quantity, amount]);
    return { broad: rowsOf(broad), special: rowsOf(special) };
  };

  test('the greatest value of the rest is billed once', async () => {
    const rows = await march({ type: 'MAX', field: 'n' }, FLAT, [
      ['05', 800, 'us'],
      ['20', 800, 'us'],
    ]);
    expect(rows).toEqual({ broad: [['800', '800']], special: [['0', '0']] });
  });

  test('the tiers of the rest do not start again', async () => {
    const rows = await march({ type: 'SUM', field: 'n' }, TIERS, [
      ['05', 100, 'us'],
      ['20', 100, 'us'],
    ]);
    expect(rows).toEqual({ broad: [['200', '150']], special: [['0', '0']] });
  });

  test('it takes its events from its start to its end only', async () => {
    const used = [
      ['05', 10, 'eu'],
      ['20', 20, 'eu'],
      ['28', 40, 'eu'],
      ['29', 80, 'us'],
    ] as const;
    expect(await march({ type: 'SUM', field: 'n' }, FLAT, used, '2026-03-25T00:00:00Z')).toEqual({
      broad: [['130', '130']],
      special: [['20', '60']],
    });
  });

  test('values are distinct over the whole cell', async () => {
    const used = [
      ['05', 1, 'us'],
      ['06', 2, 'eu'],
      ['20', 1, 'us'],
      ['21', 3, 'eu'],
    ] as const;
    expect(await march({ type: 'COUNT_UNIQUE', field: 'user' }, FLAT, used)).toEqual({
      broad: [['2', '2']],
      special: [['1', '3']],
    });
  });
});
