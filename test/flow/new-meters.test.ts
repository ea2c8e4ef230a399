import { hasPassed, headsVector } from '../../domain/metering/log-heads.ts';
import { readWatermarks } from '../../postgres/tables/watermarks.ts';
import { eventually } from '../support/metering-world.ts';
import { startPipeline, type PipelineWorld } from '../support/pipeline-world.ts';

const START = '2026-06-01T00:00:00.000Z';
const END = '2026-07-01T00:00:00.000Z';

/** What is asked about a meter right after it was created, before its backfill is verified (metering 6). */
describe('usage of a new meter', () => {
  let world: PipelineWorld;
  let asked: Awaited<ReturnType<typeof sell>>;
  beforeAll(async () => {
    world = await startPipeline();
    world.api.clock.set('2026-06-20T00:00:00.000Z');
    // Events that no meter has counted when they came: only the backfill can.
    await world.send([
      event(1, 'acme', { v: 10, user: 'a', region: 'eu' }),
      event(2, 'acme', { v: '2.5', user: 'b', region: 'us' }, '2026-06-16T10:00:00.000Z'),
      event(3, 'other', { v: 100, user: 'c', region: 'eu' }),
      event(4, 'acme', { v: 1_000, user: 'z', region: 'eu' }, '2026-05-31T23:59:59.999Z'),
    ]);
    await world.settled();
    // Nobody seals, and nobody backfills, until the test says so.
    await world.api.pool`
      update sealer set generation = generation + 1, leased_until = 'infinity'`;
    asked = await sell();
    await world.send([
      event(5, 'acme', { v: 4, user: 'a', region: 'eu' }, '2026-06-18T10:00:00.000Z'),
      event(1, 'acme', { v: 7, user: 'copy', region: 'eu' }),
      event(6, 'bare', { v: 3, user: 'd', region: 'us' }),
    ]);
    await eventually(async () => {
      const heads = headsVector(await world.eventLog.positions('stream'));
      expect(hasPassed(await readWatermarks(world.api.pool), heads)).toBe(true);
    });
  });
  afterAll(() => world.close());

  const event = (n: number, external_customer_id: string, properties: object, at?: string) => ({
    event_id: `new-${n}`,
    event_name: 'new',
    external_customer_id,
    timestamp: at ?? '2026-06-15T10:00:00.000Z',
    properties,
  });

  async function sell() {
    const { catalog, api } = world;
    const plan = await catalog.plan('New');
    const meter = (type: string, more: object = {}) =>
      catalog.meter({ type, ...more }, { event_name: 'new', name: type });
    const price = { start_date: START };
    const count = await meter('COUNT');
    await catalog.usage(plan, count, { ...price, display_name: 'requests', amount: '2' });
    await catalog.usage(plan, await meter('SUM', { field: 'v' }), {
      ...price,
      display_name: 'sum',
      billing_model: 'TIERED',
      tier_mode: 'SLAB',
      tiers: [
        { up_to: 10, unit_amount: '1' },
        { up_to: null, unit_amount: '0.5' },
      ],
    });
    await catalog.usage(plan, await meter('SUM', { expression: 'v * 2' }), {
      ...price,
      display_name: 'expression',
      amount: '1',
    });
    await catalog.usage(plan, await meter('MAX', { field: 'v' }), {
      ...price,
      display_name: 'daily peak',
      amount: '1',
      bucket_size: 'DAY',
    });
    await catalog.usage(plan, await meter('COUNT_UNIQUE', { field: 'user' }), {
      ...price,
      display_name: 'users',
      amount: '5',
    });
    const byRegion = await meter('SUM', { field: 'v' });
    await catalog.usage(plan, byRegion, {
      ...price,
      display_name: 'eu',
      amount: '3',
      filter_values: { region: ['eu'] },
    });
    await catalog.usage(plan, byRegion, { ...price, display_name: 'elsewhere', amount: '1' });
    const feature = await created('/features', { name: 'Requests', type: 'metered', meter_id: count.id }); // prettier-ignore
    await created('/entitlements', {
      entity_type: 'PLAN',
      entity_id: plan.id,
      feature_id: feature.id,
      feature_type: 'metered',
      usage_limit: 10,
      usage_reset_period: 'MONTHLY',
    });
    const customer = await catalog.customer({ external_id: 'acme' });
    const subscription = await catalog.subscribe(customer, plan, { start_date: START });
    const wallet = await api.post('/v1/wallets', { customer_id: customer.id, currency: 'usd', wallet_type: 'PRE_PAID', initial_credits_to_load: '100' }); // prettier-ignore
    return { count, customer, subscription, wallet: wallet.body };
  }
  const created = async (path: string, body: object) => {
    const answer = await world.api.post(`/v1${path}`, body);
    expect([path, answer.status]).toEqual([path, 201]);
    return answer.body;
  };

  /** Everything that shows usage, as a client asks it. */
  async function shown() {
    const { api } = world;
    const { count, customer, subscription, wallet } = asked;
    const range = { start_time: START, end_time: END };
    const answers = {
      analytics: await api.post('/v1/events/analytics', { external_customer_id: 'acme', ...range }),
      days: await api.post('/v1/events/analytics', { external_customer_id: 'acme', window_size: 'DAY', ...range }), // prettier-ignore
      groups: await api.post('/v1/events/analytics', { external_customer_id: 'acme', group_by: ['properties.region'], ...range }), // prettier-ignore
      bare: await api.post('/v1/events/analytics', { external_customer_id: 'bare', ...range }),
      usage: await api.post('/v1/subscriptions/usage', { subscription_id: subscription.id }),
      preview: await api.post('/v1/invoices/preview', { subscription_id: subscription.id }),
      customer: await api.get(`/v1/customers/${customer.id}/usage`),
      lookup: await api.get('/v1/customers/usage?customer_lookup_key=acme'),
      balance: await api.get(`/v1/wallets/${wallet.id}/balance/real-time`),
      meter: await api.post('/v1/events/usage/meter', { meter_id: count.id, external_customer_id: 'acme', ...range }), // prettier-ignore
    };
    return Object.fromEntries(
      Object.entries(answers).map(([name, { status, body }]) => [name, { status, body }]),
    );
  }
  const sorted = (items: any[], key: (item: any) => string) =>
    items.map((item) => [key(item), item]).sort(([left], [right]) => (left < right ? -1 : 1));
  /** Without the fields that differ in each computation. */
  const comparable = (answers: Awaited<ReturnType<typeof shown>>) =>
    JSON.parse(JSON.stringify(answers), (key, value) =>
      /(^|_)(id|at|event_count)$/.test(key) || key === 'meter_versions' || key === 'watermarks'
        ? null
        : key === 'items' && Array.isArray(value)
          ? sorted(
              value,
              (item) => `${item.name} ${item.total_cost} ${JSON.stringify(item.properties)}`,
            )
          : value,
    );
  const state = async () =>
    (await world.api.pool`select distinct backfill_state from meter_versions`).map(
      ({ backfill_state }) => backfill_state,
    );

  test('is shown at once, exactly, and the same when its backfill is verified; nothing is billed before', async () => {
    const { api } = world;
    expect(await state()).toEqual(['waiting']);
    const before = await shown();
    expect(await state()).toEqual(['waiting']);
    for (const answer of Object.values(before)) expect(answer.status).toBe(200);
    const { subscription, customer, wallet } = asked;

    // 3 events: 10, 2.5 and 4. The requests are included: 0 + (10 + 3.25) + 33 + 16.5 + 10 + (42 + 2.5).
    const rows = before['preview']!.body.line_items.map((line: any) => [
      line.display_name,
      line.quantity,
      line.amount,
    ]);
    expect(new Map(rows.map(([name, ...row]: string[]) => [name, row]))).toEqual(
      new Map([
        ['requests', ['0', '0']],
        ['sum', ['16.5', '13.25']],
        ['expression', ['33', '33']],
        ['daily peak', ['16.5', '16.5']],
        ['users', ['2', '10']],
        ['eu', ['14', '42']],
        ['elsewhere', ['2.5', '2.5']],
      ]),
    );
    expect(before['analytics']!.body).toMatchObject({ total_cost: '117.25', currency: 'usd' });
    expect(before['analytics']!.body.items).toHaveLength(7);
    expect(before['usage']!.body).toMatchObject({ amount: 123.25 });
    expect(before['customer']!.body.features).toMatchObject([{ current_usage: '3' }]);
    expect(before['meter']!.body.value).toBe(3);
    expect(before['bare']!.body.items.map(({ total_usage }: any) => total_usage).sort()).toEqual(
      ['1', '1', '3', '3', '3', '6'].sort(),
    );
    expect(before['balance']!.body).toMatchObject({ real_time_balance: '-17.25' });

    // What is kept waits.
    const draft = {
      customer_id: customer.id,
      subscription_id: subscription.id,
      invoice_type: 'SUBSCRIPTION',
      currency: 'usd',
      period_start: START,
      period_end: END,
    };
    expect(await api.post('/v1/invoices', draft)).toMatchObject({
      status: 503,
      body: { code: 'usage_unavailable' },
    });
    const { body: found } = await api.post('/v1/invoices/search', { subscription_id: subscription.id }); // prettier-ignore
    expect(found.items).toEqual([]);

    await api.pool`update sealer set leased_until = '-infinity'`;
    await world.settled();
    expect(await state()).toEqual(['complete']);
    const after = await shown();
    expect(comparable(after)).toEqual(comparable(before));
    expect(after['balance']!.body.real_time_balance).toBe('-17.25');
    expect((await api.get(`/v1/wallets/${wallet.id}/balance/real-time`)).status).toBe(200);
    const { status, body } = await api.post('/v1/invoices', draft);
    expect([status, body.amount_due]).toEqual([201, '117.25']);
  });
});
