import { answerUsage } from '../../domain/metering/aggregate.ts';
import { decimal, decimalText, sum } from '../../domain/money.ts';
import type { UsageQuery } from '../../domain/metering/usage.ts';
import { WAIT_MS } from '../support/patience.ts';
import { startPipeline, type PipelineWorld } from '../support/pipeline-world.ts';

const START = '2026-03-01T00:00:00.000Z';
const END = '2026-04-01T00:00:00.000Z';
const startMs = Date.parse(START);
const endMs = Date.parse(END);

let world: PipelineWorld;
beforeAll(async () => {
  world = await startPipeline();
});
afterAll(() => world.close());

/** Small, fast and the same everywhere. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const SLAB = {
  billing_model: 'TIERED',
  tier_mode: 'SLAB',
  tiers: [
    { up_to: 100, unit_amount: '1' },
    { up_to: null, unit_amount: '0.5' },
  ],
};

/** One plan with a price over each kind of meter, all on one event name. */
async function sell() {
  const { catalog } = world;
  const plan = await catalog.plan('Everything');
  const event = 'request';
  const meter = (type: string, more: object = {}) =>
    catalog.meter({ type, ...more }, { event_name: event, name: type });
  await catalog.usage(plan, await meter('COUNT'), { display_name: 'requests', amount: '0.01' });
  await catalog.usage(plan, await meter('SUM', { field: 'tokens' }), {
    display_name: 'tokens',
    ...SLAB,
  });
  await catalog.usage(plan, await meter('MAX', { field: 'tokens' }), {
    display_name: 'daily peak',
    amount: '2',
    bucket_size: 'DAY',
  });
  await catalog.usage(plan, await meter('COUNT_UNIQUE', { field: 'user' }), {
    display_name: 'users',
    billing_model: 'PACKAGE',
    amount: '5',
    transform_quantity: { divide_by: 3, round: 'up' },
  });
  await catalog.usage(plan, await meter('LATEST', { field: 'tokens' }), { display_name: 'latest' });
  const byRegion = await meter('SUM', { field: 'tokens' });
  await catalog.usage(plan, byRegion, {
    display_name: 'tokens eu',
    amount: '0.3',
    filter_values: { region: ['eu'] },
  });
  await catalog.usage(plan, byRegion, { display_name: 'tokens elsewhere', amount: '0.1' });
  return { plan, event };
}

function generate(seed: number, count: number, customers: readonly string[], event: string) {
  const random = randomOf(seed);
  const at = () => startMs - 86_400_000 + Math.floor(random() * (endMs - startMs + 2 * 86_400_000));
  return Array.from({ length: count }, (_, n) => ({
    event_name: event,
    event_id: `e-${seed}-${n}`,
    external_customer_id: customers[Math.floor(random() * customers.length)],
    // Some exactly on the edges of the period.
    timestamp: new Date(
      n % 97 === 0 ? [startMs, endMs, startMs - 1, endMs - 1][n % 4]! : at(),
    ).toISOString(),
    properties: {
      tokens: random() < 0.2 ? `${Math.floor(random() * 900)}.25` : Math.floor(random() * 900),
      user: `u-${Math.floor(random() * 40)}`,
      ...(random() < 0.8 ? { region: ['eu', 'us'][Math.floor(random() * 2)] } : {}),
    },
  }));
}

const invoicesOf = async (subscription: { id: string }, status: string) =>
  (
    await world.api.post('/v1/invoices/search', {
      subscription_id: subscription.id,
      billing_reason: 'SUBSCRIPTION_CYCLE',
      invoice_status: [status],
    })
  ).body.items;

/** What the row's questions are worth when the log is recounted by the plainest rules. */
async function recounted(invoice: any, at: 'snapshot' | 'all') {
  const usage = await world.recount();
  const found: Record<string, string> = {};
  for (const line of invoice.line_items) {
    const { body } = await world.api.get(`/v1/invoices/${invoice.id}/lines/${line.id}/explanation`);
    const queries = body.usage_queries as UsageQuery[];
    const below =
      at === 'all'
        ? null
        : Object.fromEntries(
            Object.entries(body.usage_snapshot.watermarks).map(([p, text]) => [
              Number(p),
              BigInt(text as string),
            ]),
          );
    const { answers } = answerUsage(queries, usage, below);
    const rows = queries.flatMap(({ key }) => answers.get(key)!.rows);
    found[line.display_name] = decimalText(sum(rows.map(({ quantity }) => decimal(quantity))));
  }
  return found;
}
const quantities = (invoice: any) =>
  Object.fromEntries(invoice.line_items.map((line: any) => [line.display_name, line.quantity]));

test('events with duplicates and late ones become lines that equal a recount of the log', async () => {
  world.api.clock.set('2026-03-05T00:00:00.000Z');
  const { plan, event } = await sell();
  const customers = await Promise.all(Array.from({ length: 3 }, () => world.catalog.customer()));
  const subscriptions = await Promise.all(
    customers.map((customer) => world.catalog.subscribe(customer, plan, { start_date: START })),
  );
  const names = customers.map(({ external_id }) => external_id);

  // Before the end of the period: events out of order, a tenth of them twice, some with another body.
  world.api.clock.set('2026-04-01T00:10:00.000Z');
  const events = generate(11, 1_500, names, event);
  const copies = events
    .filter((_, n) => n % 10 === 0)
    .map((original, n) => (n % 2 === 0 ? original : { ...original, properties: { tokens: 1e6 } }));
  await world.send(events.slice(0, 900));
  await world.send([...copies.slice(0, 80), ...events.slice(900)]);
  await world.send(copies.slice(80));
  await world.settled();
  expect(await world.job('close-billing-periods')).toMatchObject({ advanced: 3, failed: 0 });
  for (const subscription of subscriptions) {
    const [draft] = await invoicesOf(subscription, 'DRAFT');
    expect(quantities(draft)).toEqual(await recounted(draft, 'all'));
    expect(decimal(draft.total).gt(0)).toBe(true);
  }

  // Late, within the grace: the job may finalize only when the stream has passed them.
  const late = generate(23, 300, names, event);
  await world.send(late);
  world.api.clock.set('2026-04-01T01:00:00.000Z');
  expect(await world.job('finalize-draft-invoices')).toMatchObject({
    finalized: 3,
    waiting: 0,
    failed: 0,
  });
  const finals = [];
  for (const subscription of subscriptions) {
    const [final] = await invoicesOf(subscription, 'FINALIZED');
    expect(quantities(final)).toEqual(await recounted(final, 'all'));
    finals.push(final);
  }

  // After finalization: the invoice stays unchanged, its usage reads the same again, and late usage is shown.
  await world.send(generate(37, 400, names, event));
  await world.settled();
  await untilSealed();
  await showShares(finals[0]);
  for (const final of finals) {
    const { body: again } = await world.api.get(`/v1/invoices/${final.id}`);
    expect(again).toEqual({ ...final, subscription: again.subscription });
    expect(quantities(final)).toEqual(await recounted(final, 'snapshot'));
    const { body: check } = await world.api.get(`/v1/invoices/${final.id}/usage-check`);
    const now = await recounted(final, 'all');
    for (const line of check.lines) {
      expect(line.billed_usage).toBe(quantities(final)[line.display_name]);
      expect(line.usage_now).toBe(now[line.display_name]);
    }
    const requests = check.lines.find(({ display_name }: any) => display_name === 'requests');
    expect(decimal(requests.difference).gt(0)).toBe(true);
  }
});

/** By source and by region: the parts of a row are its quantity and its amount (billing 17.9). */
async function showShares(final: any): Promise<void> {
  const read = async (query: string) => await world.api.get(`/v1/invoices/${final.id}?${query}`);
  const { body } = await read('expand_by_source=true&group_by=properties.region,source');
  const row = (name: string) => body.line_items.find((line: any) => line.display_name === name);
  const total = (shares: any[], field: string) =>
    decimalText(sum(shares.map((share) => decimal(share[field]))));
  for (const name of ['requests', 'tokens', 'tokens eu', 'tokens elsewhere']) {
    const { amount, quantity, usage_analytics } = row(name);
    expect(usage_analytics.map(({ source, percentage }: any) => [source, percentage])).toEqual([
      ['', '100'],
    ]);
    expect([total(usage_analytics, 'cost'), total(usage_analytics, 'usage')]).toEqual([
      amount,
      quantity,
    ]);
  }
  expect(row('requests').usage_breakdown).toBeNull();
  const { usage_breakdown: eu } = row('tokens eu');
  expect(eu.map(({ grouped_by }: any) => grouped_by)).toEqual([
    { 'properties.region': 'eu', source: '' },
  ]);
  const { usage_breakdown: others, amount, quantity } = row('tokens elsewhere');
  expect(others.map(({ grouped_by }: any) => grouped_by['properties.region']).toSorted()).toEqual([
    '',
    'us',
  ]);
  expect([total(others, 'cost'), total(others, 'usage')]).toEqual([amount, quantity]);
  expect(Math.round(Number(total(others, 'percentage')))).toBe(100);
  for (const group_by of ['properties.colour', 'region', 'feature_id'])
    expect((await read(`group_by=${group_by}`)).body.details[0].path).toBe('group_by');
}

/** The sealer has sealed at least twice since: reads below an older vector go around newer seals. */
async function untilSealed() {
  const seals = async () =>
    Number((await world.api.pool`select coalesce(max(number), 0) as n from seals`)[0]!['n']);
  const before = await seals();
  const until = Date.now() + WAIT_MS;
  while ((await seals()) < before + 2 && Date.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 100));
}

test('events of a customer with a test clock live by it; what was sent before an advance is billed by it', async () => {
  const { api, catalog } = world;
  const { plan, event } = await sell();
  const made = await api.post('/v1/test-clocks', { now: '2031-01-01T00:00:00.000Z' });
  const clocked = await catalog.customer({ test_clock_id: made.body.id });
  const real = await catalog.customer();
  const subscription = await catalog.subscribe(clocked, plan);
  await world.settled();
  const sent = (customer: { external_id: string }, timestamp?: string) => ({
    event_name: event,
    external_customer_id: customer.external_id,
    ...(timestamp === undefined ? {} : { timestamp }),
  });
  const refused = (of: object) =>
    expect(world.send([of])).rejects.toThrow('24 hours in the future');
  await refused(sent(real, '2031-01-01T00:00:00Z'));
  await refused(sent(clocked, '2031-01-02T00:00:00.001Z'));
  await world.send([sent(clocked, '2031-01-02T00:00:00Z'), sent(clocked), sent(real)]);
  const to = '2031-02-10T00:00:00.000Z';
  expect((await api.post(`/v1/test-clocks/${made.body.id}/advance`, { to })).status).toBe(202);
  await world.job('advance-test-clocks');
  expect((await api.get(`/v1/test-clocks/${made.body.id}`)).body).toMatchObject({
    status: 'ready',
    now: to,
  });
  const { body } = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
  const [bill] = body.items;
  const requests = bill.line_items.find(
    (line: { display_name: string }) => line.display_name === 'requests',
  );
  expect([bill.invoice_status, requests.quantity, requests.amount]).toEqual([
    'FINALIZED',
    '2',
    '0.02',
  ]);
});
