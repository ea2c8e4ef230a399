import { setTimeout as sleep } from 'node:timers/promises';
import { Decimal } from '../domain/money.ts';
import { benchRow, type BenchOptions, type BenchRow } from './bench-row.ts';
import { DiffEvents, expectedUsage, type ExpectedUsage } from './usage-diff/events.ts';
import { startProduct, type Product } from './whole/product.ts';

const EVENTS = 1_000_000;
const CUSTOMERS = 10;
const CALL_EVENTS = 1_000;
const SEED = 20_261_121;

/** Every meter of the comparison, and the figure it must return. */
const METERS = {
  count: { aggregation: { type: 'COUNT' } },
  sum: { aggregation: { type: 'SUM', field: 'v' } },
  pro: {
    aggregation: { type: 'SUM', field: 'v' },
    filters: [{ key: 'tier', values: ['pro'] }],
  },
  daily: { aggregation: { type: 'MAX', field: 'v', bucket_size: 'DAY' } },
  users: { aggregation: { type: 'COUNT_UNIQUE', field: 'user' } },
  latest: { aggregation: { type: 'LATEST', field: 'v' } },
  average: { aggregation: { type: 'AVG', field: 'v' } },
} as const;
type Name = keyof typeof METERS;
const NAMES = Object.keys(METERS) as Name[];

/**
 * Compares usage, analytics, customer usage, subscription usage and the invoice with a recount of the
 * sent events: each id once, a tenth of them again with another payload and time, a twentieth late, all
 * shuffled. `--events` sets the number. Prints one line; any difference fails the run.
 */
export async function run({ events: asked }: BenchOptions = {}): Promise<BenchRow[]> {
  const events = new DiffEvents(Number(asked ?? EVENTS), CUSTOMERS, SEED);
  const product = await startProduct();
  try {
    const catalog = await createCatalog(product, events);
    await waitForBackfills(product, catalog);
    const began = performance.now();
    await send(product, events);
    await waitForStream(product, events);
    const seconds = (performance.now() - began) / 1000;
    const expected = expectedUsage(events);
    const { usage, invoice } = await compare(product, catalog, events, expected);
    process.stdout.write(
      `events=${events.count} duplicates=${events.duplicates} late=${events.late} ` +
        `usage_diff=${usage.toFixed()} invoice_diff=${invoice.toFixed()}\n`,
    );
    if (!usage.isZero() || !invoice.isZero()) throw new Error('the figures are not the same');
    return [
      benchRow(
        'usage-diff',
        usage.plus(invoice).toNumber(),
        'units',
        null,
        `${CUSTOMERS} customers, ${NAMES.length} meters, 5 readings of each; ` +
          `${events.sent} copies sent one call after the other and counted in ${seconds.toFixed(0)} s, seed ${SEED}`,
      ),
    ];
  } finally {
    await product.close();
  }
}

interface Catalog {
  readonly meterIds: Readonly<Record<Name, string>>;
  readonly customerIds: readonly string[];
  readonly subscriptionIds: readonly string[];
  readonly featureId: string;
}

const range = (events: DiffEvents) => ({ start_time: events.start, end_time: events.end });

async function createCatalog({ api }: Product, events: DiffEvents): Promise<Catalog> {
  const make = async (path: string, body: object) =>
    (await api.post<{ id: string }>(path, body)).id;
  const meterIds = {} as Record<Name, string>;
  const plan = await make('/plans', { name: 'Diff' });
  for (const name of NAMES) {
    meterIds[name] = await make('/meters', {
      name,
      event_name: 'diff',
      filters: [],
      reset_usage: 'BILLING_PERIOD',
      ...METERS[name],
    });
    await make('/prices', {
      entity_type: 'PLAN', entity_id: plan, type: 'USAGE', meter_id: meterIds[name], currency: 'usd',
      billing_period: 'MONTHLY', billing_period_count: 1, invoice_cadence: 'ARREAR',
      price_unit_type: 'FIAT', start_date: '2026-01-01T00:00:00Z',
      ...(name === 'sum'
        ? { billing_model: 'TIERED', tier_mode: 'SLAB', tiers: [{ up_to: 1000, unit_amount: '0.01' }, { up_to: null, unit_amount: '0.001' }] }
        : { billing_model: 'FLAT_FEE', amount: '0.01' }),
    }); // prettier-ignore
  }
  const featureId = await make('/features', {
    name: 'Sum',
    type: 'metered',
    meter_id: meterIds.sum,
  });
  await make('/entitlements', {
    plan_id: plan,
    feature_id: featureId,
    feature_type: 'metered',
    usage_limit: 500,
    usage_reset_period: 'MONTHLY',
  });
  const customerIds: string[] = [];
  const subscriptionIds: string[] = [];
  for (let customer = 0; customer < CUSTOMERS; customer += 1) {
    customerIds.push(
      await make('/customers', { external_id: events.customerOf(customer), name: 'Diff' }),
    );
    subscriptionIds.push(
      await make('/subscriptions', {
        customer_id: customerIds.at(-1), plan_id: plan, currency: 'usd', billing_period: 'MONTHLY',
        billing_period_count: 1, billing_cycle: 'anniversary', start_date: events.start,
      }), // prettier-ignore
    );
  }
  return { meterIds, customerIds, subscriptionIds, featureId };
}

/** Lines can be read after the backfill of the meters, which finds no events. */
async function waitForBackfills({ api }: Product, { subscriptionIds }: Catalog): Promise<void> {
  for (;;) {
    const { charges } = await api.post<{ charges: unknown[] }>('/subscriptions/usage', {
      subscription_id: subscriptionIds[0],
    });
    if (charges.length === NAMES.length) return;
    await sleep(200);
  }
}

/** Sequential calls, so that the first accepted copy is the first one sent. */
async function send({ api }: Product, events: DiffEvents): Promise<void> {
  for (let from = 0; from < events.sent; from += CALL_EVENTS) {
    const until = Math.min(from + CALL_EVENTS, events.sent);
    const call = [];
    for (let place = from; place < until; place += 1) call.push(events.body(place));
    await api.post('/events/bulk', { events: call });
    if (from % 100_000 === 0) process.stderr.write(`sent ${until} of ${events.sent}\n`);
  }
}

interface Monitored {
  readonly accepted_count: number;
  readonly consumption_lag: number;
}

async function waitForStream({ api }: Product, events: DiffEvents): Promise<void> {
  const deadline = performance.now() + 20 * 60_000;
  for (;;) {
    const query = `start_time=${events.start}&end_time=${events.end}`;
    // Counting all events loads the engine: poll rarely, and retry when it is too busy.
    const seen = await api.get<Monitored>(`/events/monitoring?${query}`).catch((error: unknown) => {
      process.stderr.write(`monitoring: ${String(error).slice(0, 200)}\n`);
      return null;
    });
    if (seen?.accepted_count === events.sent && seen.consumption_lag === 0) return;
    if (seen !== null) process.stderr.write(`visible ${seen.accepted_count} of ${events.sent}\n`);
    if (performance.now() > deadline)
      throw new Error('the stream did not pass the events in 20 minutes');
    await sleep(3_000);
  }
}

interface AnalyticsAnswer {
  readonly items: readonly { readonly meter_id: string; readonly total_usage: string }[];
}
interface InvoiceAnswer {
  readonly line_items: readonly {
    readonly meter_id: string | null;
    readonly quantity: string;
    readonly adjusted_entitlement_quantity: string | null;
  }[];
}

/** Sums of all differences: of the readings and of the invoices. */
async function compare(
  { api }: Product,
  { meterIds, customerIds, subscriptionIds, featureId }: Catalog,
  events: DiffEvents,
  expected: readonly ExpectedUsage[],
): Promise<{ usage: Decimal; invoice: Decimal }> {
  let usage = new Decimal(0);
  let invoice = new Decimal(0);
  for (let customer = 0; customer < CUSTOMERS; customer += 1) {
    process.stderr.write(`comparing customer ${customer + 1} of ${CUSTOMERS}\n`);
    const external_customer_id = events.customerOf(customer);
    const period = { period_start: events.start, period_end: events.end };
    const subscription_id = subscriptionIds[customer];
    const analytics = await api.post<AnalyticsAnswer>('/events/analytics', {
      external_customer_id,
      ...range(events),
    });
    const ofSubscription = await api.post<{ charges: { meter_id: string; quantity: number }[] }>(
      '/subscriptions/usage',
      { subscription_id, ...range(events) },
    );
    const preview = await api.post<InvoiceAnswer>('/invoices/preview', {
      subscription_id,
      ...period,
    });
    const summary = await api.get<{ features: { current_usage: string }[] }>(
      `/customers/usage?customer_id=${customerIds[customer]}&feature_ids=${featureId}`,
    );
    for (const name of NAMES) {
      const meter_id = meterIds[name];
      const exact = new Decimal(expected[customer]![name]);
      // In the format of usage answers.
      const right = exact.toDecimalPlaces(15);
      const byMeter = await api.post<{ value: number }>('/events/usage/meter', {
        meter_id,
        external_customer_id,
        ...range(events),
      });
      const item = analytics.items.find((one) => one.meter_id === meter_id);
      const charge = ofSubscription.charges.find((one) => one.meter_id === meter_id);
      const line = preview.line_items.find((one) => one.meter_id === meter_id);
      const billed = new Decimal(line?.quantity ?? 0).plus(
        line?.adjusted_entitlement_quantity ?? 0,
      );
      usage = usage
        .plus(off(right, item?.total_usage ?? '0'))
        // These two are JSON numbers.
        .plus(off(new Decimal(exact.toNumber()), byMeter.value))
        .plus(off(new Decimal(exact.toNumber()), charge?.quantity ?? 0));
      if (name === 'sum') usage = usage.plus(off(right, summary.features[0]?.current_usage ?? '0'));
      invoice = invoice.plus(off(right, billed));
    }
  }
  return { usage, invoice };
}

const off = (right: Decimal, answered: string | number | Decimal): Decimal =>
  new Decimal(answered).minus(right).abs();
