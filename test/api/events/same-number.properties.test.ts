import { roundToCurrency } from '../../../domain/currency.ts';
import { aggregate, type MeteredUsage } from '../../../domain/metering/aggregate.ts';
import type { AggregationType, UsageQuery } from '../../../domain/metering/usage.ts';
import type { BucketSize } from '../../../domain/time/usage-windows.ts';
import { Decimal, ZERO } from '../../../domain/money.ts';
import { startPipeline, type PipelineWorld } from '../../support/pipeline-world.ts';
import { createRandom, type Random } from '../../support/random.ts';

const CATALOGS = process.env['DEEP'] === '1' ? 60 : 3;
const EVENTS = 260;
/** What each allowance grants. */
const FREE_UNITS = 5;
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);

const PERIOD = { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' };
const RANGE = { start_time: PERIOD.start, end_time: PERIOD.end };
const ZONES = ['UTC', 'Asia/Kolkata', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'];
const TYPES: readonly AggregationType[] = [
  'COUNT', 'SUM', 'AVG', 'MAX', 'MIN', 'LATEST', 'COUNT_UNIQUE', 'SUM_WITH_MULTIPLIER', 'WEIGHTED_SUM',
]; // prettier-ignore
const BUCKETS: readonly BucketSize[] = ['HOUR', '6HOUR', 'DAY', 'WEEK', 'MONTH'];

/** One meter with its price, as the test itself understands them. */
interface Sold {
  readonly meter_id: string;
  readonly feature_id: string;
  readonly type: AggregationType;
  readonly multiplier: string | null;
  readonly bucket: BucketSize | null;
  readonly meterBucket: BucketSize | null;
  readonly group_by: string | null;
  readonly filter_values: Readonly<Record<string, readonly string[]>>;
  readonly allowed: 'MONTHLY' | 'DAILY' | null;
}

/** Usage, analytics, summaries and invoices over random catalogs, against the pure aggregator. */
describe('the same number everywhere', () => {
  const random = createRandom(SEED);
  let world: PipelineWorld;
  beforeAll(async () => {
    world = await startPipeline();
  });
  afterAll(() => world.close());

  test(`${CATALOGS} catalogs of ${EVENTS} events, a tenth sent twice, some late, all shuffled`, async () => {
    process.stdout.write(`same number: ${CATALOGS} catalogs, SEED=${SEED}\n`);
    for (let number = 0; number < CATALOGS; number += 1) await checkCatalog(`e${number}`);
  }, 900_000);

  const make = async (path: string, body: object) => {
    const answer = await world.api.post(`/v1${path}`, body);
    if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const ask = async (path: string, body: object) => {
    const answer = await world.api.post(`/v1${path}`, body);
    if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

  async function sellMeter(plan: { id: string }, event_name: string): Promise<Sold> {
    const type = random.pick(TYPES);
    const canBucket = type === 'MAX' || type === 'SUM';
    const bucket = canBucket && random.chance(0.6) ? random.pick(BUCKETS) : null;
    const onMeter = bucket !== null && random.chance(0.5);
    const group_by = type === 'MAX' && onMeter && random.chance(0.5) ? 'region' : null;
    const multiplier = type === 'SUM_WITH_MULTIPLIER' ? '2.5' : null;
    const valued =
      type === 'COUNT'
        ? {}
        : type === 'COUNT_UNIQUE'
          ? { field: 'user' }
          : random.chance(0.7)
            ? { field: 'v' }
            : { expression: 'double(properties.v) * 2.0' };
    const filters = random.chance(0.4) ? [{ key: 'tier', values: ['pro', 'team'] }] : [];
    const filter_values: Sold['filter_values'] = random.chance(0.4) ? { region: ['eu'] } : {};
    const feature = await make('/features', {
      name: `${type} ${random.next()}`, type: 'metered',
      meter: {
        name: type, event_name, filters, reset_usage: 'BILLING_PERIOD',
        aggregation: {
          type, ...valued, ...(multiplier ? { multiplier } : {}),
          ...(onMeter ? { bucket_size: bucket } : {}), ...(group_by ? { group_by } : {}),
        },
      },
    }); // prettier-ignore
    await make('/prices', {
      entity_type: 'PLAN', entity_id: plan.id, type: 'USAGE', meter_id: feature.meter_id, currency: 'usd',
      billing_period: 'MONTHLY', billing_period_count: 1, invoice_cadence: 'ARREAR',
      price_unit_type: 'FIAT', start_date: '2026-01-01T00:00:00Z', filter_values,
      ...(bucket !== null && !onMeter ? { bucket_size: bucket } : {}),
      ...random.pick([
        { billing_model: 'FLAT_FEE', amount: '0.37' },
        { billing_model: 'PACKAGE', amount: '1.5', transform_quantity: { divide_by: 7, round: 'up' } },
        { billing_model: 'TIERED', tier_mode: 'SLAB', tiers: [{ up_to: 20, unit_amount: '1' }, { up_to: null, unit_amount: '0.5' }] },
        { billing_model: 'TIERED', tier_mode: 'VOLUME', tiers: [{ up_to: 20, unit_amount: '1' }, { up_to: null, unit_amount: '0.5' }] },
      ]),
    }); // prettier-ignore
    const allowed =
      bucket === null && random.chance(0.5) ? random.pick(['MONTHLY', 'DAILY'] as const) : null;
    if (allowed !== null)
      await make('/entitlements', {
        plan_id: plan.id, feature_id: feature.id, feature_type: 'metered', usage_limit: FREE_UNITS,
        usage_reset_period: allowed,
      }); // prettier-ignore
    return {
      meter_id: feature.meter_id,
      feature_id: feature.id,
      type,
      multiplier,
      bucket,
      meterBucket: onMeter ? bucket : null,
      group_by,
      filter_values,
      allowed,
    };
  }

  async function checkCatalog(name: string): Promise<void> {
    const timezone = random.pick(ZONES);
    const plan = await make('/plans', { name });
    const sold: Sold[] = [];
    for (let count = 0; count < 4; count += 1) sold.push(await sellMeter(plan, name));
    const customer = await make('/customers', { external_id: name, name, timezone });
    const subscription = await make('/subscriptions', {
      customer_id: customer.id, plan_id: plan.id, currency: 'usd', billing_period: 'MONTHLY',
      billing_period_count: 1, billing_cycle: 'anniversary', start_date: PERIOD.start, timezone,
    }); // prettier-ignore
    await sendShuffled(name);
    await world.settled();

    const versions = await world.api.pool<Version[]>`
      select id, meter_id, tenant_id, environment_id from meter_versions order by version`;
    const counted = { usage: await world.recount(), versions };
    const own = { external_customer_id: name, ...RANGE };
    const window_size = random.pick(BUCKETS);
    const analytics = await ask('/events/analytics', { ...own, window_size });
    const preview = await ask('/invoices/preview', {
      subscription_id: subscription.id, period_start: PERIOD.start, period_end: PERIOD.end,
    }); // prettier-ignore
    const ofSubscription = await ask('/subscriptions/usage', {
      subscription_id: subscription.id, ...RANGE,
    }); // prettier-ignore
    const summary = await world.api.get(`/v1/customers/usage?customer_id=${customer.id}`);

    for (const one of sold) {
      const about = `${name} ${JSON.stringify({ ...one, timezone })} SEED=${SEED}`;
      const windowed = { timezone, billing_anchor: PERIOD.start };
      const oracle = (filters: Sold['filter_values'], bucket: BucketSize | null) =>
        oracleRows(counted, one, name, filters, bucket, windowed);
      const rowsOfPrice = oracle(one.filter_values, one.bucket);
      const billed = total(rowsOfPrice);
      const events = oracle(one.filter_values, one.bucket).reduce(
        (sum, r) => sum + r.event_count,
        0,
      );

      const byMeter = await ask('/events/usage/meter', {
        ...own, meter_id: one.meter_id, timezone,
        ...(one.meterBucket === 'MONTH' ? { billing_anchor: PERIOD.start } : {}),
      }); // prettier-ignore
      expect([about, byMeter.value]).toEqual([
        about,
        exact(oracle({}, one.meterBucket)).toNumber(),
      ]);

      const item = analytics.items.find((entry: any) => entry.meter_id === one.meter_id);
      expect([about, item?.total_usage ?? '0']).toEqual([about, billed.toFixed()]);
      const line = preview.line_items.find((entry: any) => entry.meter_id === one.meter_id);
      // An allowance that resets every day is taken off each day's usage (billing 4, window
      // shorter). Days of a maximum or of uniques add up to more than the period's usage, so that what
      // was free cannot be told from the two: the billed units are compared there, else both together.
      const isDaily =
        one.allowed === 'DAILY' && (one.type === 'MAX' || one.type === 'COUNT_UNIQUE');
      const invoiced = isDaily
        ? new Decimal(line.quantity)
        : new Decimal(line.quantity).plus(line.adjusted_entitlement_quantity ?? 0);
      const free = isDaily ? FREE_UNITS : 0;
      const units = isDaily
        ? oracle(one.filter_values, 'DAY')
        : one.bucket === null
          ? [{ quantity: billed.toFixed() }]
          : rowsOfPrice;
      // A unit below zero is not charged for, and takes nothing off another one.
      const charged = total(
        units.map(({ quantity }) => ({
          quantity: Decimal.max(new Decimal(quantity).minus(free), 0).toFixed(),
        })),
      );
      expect([about, invoiced.toFixed()]).toEqual([about, charged.toFixed()]);
      const cost = roundToCurrency(new Decimal(item?.total_cost ?? 0), 'usd');
      expect([about, cost.toFixed()]).toEqual([about, new Decimal(line.amount).toFixed()]);
      const charge = ofSubscription.charges.find((entry: any) => entry.meter_id === one.meter_id);
      const used = exact(oracle(one.filter_values, one.bucket)).toNumber();
      expect([about, charge.quantity]).toEqual([about, used]);

      if (one.allowed === 'MONTHLY') {
        const { current_usage } = summary.body.features.find(
          (entry: any) => entry.feature.id === one.feature_id,
        );
        // The subscription's own month, in its zone: it may end an hour after that of UTC.
        const own = oracleRows(counted, one, name, {}, null, windowed, {
          start: subscription.current_period_start,
          end: subscription.current_period_end,
        });
        expect([about, current_usage]).toEqual([about, total(own).toFixed()]);
      }
      if (item === undefined) continue;
      expect([about, item.event_count]).toEqual([about, events]);
      const costs = item.points.reduce((sum: Decimal, p: any) => sum.plus(p.cost), ZERO);
      expect([about, costs.toFixed()]).toEqual([about, new Decimal(item.total_cost).toFixed()]);
      if (one.bucket === null) {
        const windows = oracle(one.filter_values, window_size);
        const points = item.points.map((p: any) => [p.timestamp, p.usage, p.event_count]);
        expect([about, points]).toEqual([
          about,
          windows.map((row) => [row.window_start, shown(row.quantity), row.event_count]),
        ]);
      }
    }
  }

  async function sendShuffled(name: string): Promise<void> {
    const events: object[] = [];
    for (let id = 0; id < EVENTS; id += 1) {
      events.push(event(random, name, id));
      if (random.chance(0.1)) events.push(event(random, name, id));
    }
    for (let place = events.length - 1; place > 0; place -= 1) {
      const other = random.below(place + 1);
      [events[place], events[other]] = [events[other]!, events[place]!];
    }
    for (let from = 0; from < events.length; from += 90)
      await world.send(events.slice(from, from + 90));
  }
});

interface Version {
  readonly id: string;
  readonly meter_id: string;
  readonly tenant_id: string;
  readonly environment_id: string;
}
interface Counted {
  readonly usage: readonly MeteredUsage[];
  readonly versions: readonly Version[];
}

/** Mostly within the period; some in the month before, some at its very ends; some values are none. */
function event(random: Random, name: string, id: number): object {
  const start = Date.parse(PERIOD.start);
  const at = random.chance(0.05)
    ? start + random.pick([0, -1, 1])
    : random.chance(0.05)
      ? start - random.below(5 * 86_400_000)
      : start + random.below(20 * 86_400_000);
  const value = random.pick([
    random.below(1000) / 100, String(random.below(500) / 10), -random.below(5), 0, 'none', null, '7',
  ]); // prettier-ignore
  return {
    event_id: `${name}-${id}`,
    event_name: name,
    external_customer_id: random.chance(0.95) ? name : `${name}-other`,
    timestamp: new Date(at).toISOString(),
    source: random.pick(['web', 'api', '']),
    properties: {
      v: value,
      tier: random.pick(['pro', 'team', 'free']),
      ...(random.chance(0.8) ? { region: random.pick(['eu', 'us']) } : {}),
      user: random.pick(['a', 'b', 'c', 5]),
    },
  };
}

function oracleRows(
  { usage, versions }: Counted,
  one: Sold,
  customer: string,
  filter_values: Sold['filter_values'],
  bucket_size: BucketSize | null,
  window: { readonly timezone: string; readonly billing_anchor: string },
  period: { readonly start: string; readonly end: string } = PERIOD,
) {
  // Versions of one meter count the same; the newest keeps what its prices filter by.
  const version = versions.findLast(({ meter_id }) => meter_id === one.meter_id)!;
  const isGrouped = bucket_size !== null && one.type === 'MAX' && one.group_by !== null;
  const query: UsageQuery = {
    key: 'oracle',
    tenant_id: version.tenant_id,
    environment_id: version.environment_id,
    meter_version_id: version.id,
    aggregation: one.type,
    multiplier: one.multiplier,
    reset_usage: 'BILLING_PERIOD',
    external_customer_ids: [customer],
    start: period.start,
    end: period.end,
    filter_values,
    group_by: isGrouped ? [one.group_by!] : [],
    window:
      bucket_size === null
        ? null
        : {
            ...window,
            bucket_size,
            billing_anchor: bucket_size === 'MONTH' ? window.billing_anchor : null,
          },
  };
  return aggregate(query, usage).rows;
}

/** Usage is printed with 15 decimals. */
const shown = (quantity: string): string => new Decimal(quantity).toDecimalPlaces(15).toFixed();
const total = (rows: readonly { readonly quantity: string }[]): Decimal =>
  exact(rows).toDecimalPlaces(15);
/** Where usage is a JSON number it is the one nearest to all of it. */
const exact = (rows: readonly { readonly quantity: string }[]): Decimal =>
  rows.reduce((sum, { quantity }) => sum.plus(quantity), ZERO);
