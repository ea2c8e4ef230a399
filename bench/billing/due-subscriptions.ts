import { createPrices } from '../../api/catalog/prices/create-prices.ts';
import { createSubscription } from '../../api/billing/subscriptions/create-subscription.ts';
import type { BillingDeps } from '../../api/deps.ts';
import { createCustomer } from '../../api/customers/customers/create-customer.ts';
import { createMeter } from '../../api/catalog/meters/create-meter.ts';
import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import { packPosition } from '../../domain/metering/position.ts';
import { poolWithin } from '../../postgres/tables/idempotency.ts';
import { packSeal, recordSeal, takeSealer } from '../../postgres/tables/seals.ts';
import { CreatePriceBody } from '../../schemas/price.ts';
import { BENCH_SCOPE, type BenchInstance } from '../stream/instance.ts';

export const PERIOD_START = '2026-10-01T00:00:00.000Z';
export const PERIOD_END = '2026-11-01T00:00:00.000Z';
const EVENTS_PER_METER = 60;
const DAY_MS = 86_400_000;
const CUSTOMERS_PER_SEAL = 80;

/**
 * Subscriptions that are all due at the end of October. Each has its own customer, a fee in advance, a
 * tiered price and a flat price over two meters, and that many events on each meter. The product's commands
 * create the first; the others are copies of its rows. Days that begin later than `sealedUntil` are not sealed.
 */
export async function makeDueSubscriptions(
  instance: BenchInstance,
  deps: BillingDeps,
  count: number,
  { eventsPerMeter = EVENTS_PER_METER, sealedUntil = PERIOD_END } = {},
): Promise<void> {
  const { pool } = instance;
  const caller = { scope: BENCH_SCOPE, user_id: 'user_bench' };
  const versions = await pool.begin(async (tx) => {
    const at = PERIOD_START;
    await tx`
      insert into plans (id, tenant_id, environment_id, name, created_at, updated_at)
      values ('plan_bench', ${BENCH_SCOPE.tenant_id}, ${BENCH_SCOPE.environment_id}, 'Bench', ${at}, ${at})`;
    const meters = [];
    for (const name of ['tokens', 'calls'])
      meters.push(
        await createMeter(tx, deps, caller, {
          name,
          event_name: name,
          aggregation: { type: 'SUM', field: 'v' },
          reset_usage: 'BILLING_PERIOD',
        } as never),
      );
    const price = (fields: object) =>
      CreatePriceBody.parse({
        entity_type: 'PLAN', entity_id: 'plan_bench', billing_period: 'MONTHLY', currency: 'usd', ...fields,
      }); // prettier-ignore
    const usage = { type: 'USAGE', invoice_cadence: 'ARREAR' };
    const slab = {
      billing_model: 'TIERED',
      tier_mode: 'SLAB',
      tiers: [
        { up_to: 1000, unit_amount: '0.10' },
        { up_to: 5000, unit_amount: '0.08', flat_amount: '5' },
        { up_to: null, unit_amount: '0.05', flat_amount: '20' },
      ],
    };
    const prices = [
      price({ type: 'FIXED', invoice_cadence: 'ADVANCE', billing_model: 'FLAT_FEE', amount: '49' }),
      price({ ...usage, ...slab, meter_id: meters[0]!.id }),
      price({ ...usage, billing_model: 'FLAT_FEE', amount: '0.002', meter_id: meters[1]!.id }),
    ];
    await createPrices(tx, deps, caller, prices, { bulk: true });
    const customer = await createCustomer(poolWithin(tx), deps, caller, {
      external_id: 'customer-0',
      name: 'Customer',
    } as never);
    await createSubscription(tx, deps, caller, {
      customer_id: customer.id,
      plan_id: 'plan_bench',
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: PERIOD_START,
    } as never);
    return await tx<{ id: string }[]>`select id from meter_versions order by id`;
  });
  await copyRows(instance, count);
  await writeUsage(
    instance,
    versions.map(({ id }) => id),
    { customers: count, eventsPerMeter, sealedUntil },
  );
}

/** The other customers and subscriptions: copies of the first one's rows with other ids. */
async function copyRows({ pool }: BenchInstance, count: number): Promise<void> {
  const copies = (id: string) => pool`${id}::text || '_' || lpad(n::text, 8, '0')`;
  await pool`
    insert into customers
    select (jsonb_populate_record(c, jsonb_build_object(
             'id', ${copies('cust')}, 'external_id', 'customer-' || n))).*
      from customers c, generate_series(1, ${count - 1}::int) n`;
  await pool`
    insert into subscriptions
    select (jsonb_populate_record(s, jsonb_build_object(
             'id', ${copies('subs')}, 'customer_id', ${copies('cust')}))).*
      from subscriptions s, generate_series(1, ${count - 1}::int) n`;
  await pool`
    insert into subscription_line_items
    select (jsonb_populate_record(l, jsonb_build_object(
             'id', ${copies('subs_line')} || right(l.id, 4), 'subscription_id', ${copies('subs')},
             'customer_id', ${copies('cust')}))).*
      from subscription_line_items l, generate_series(1, ${count - 1}::int) n`;
  await pool`analyze`;
}

async function writeUsage(
  { clickhouse, pool }: BenchInstance,
  versions: readonly string[],
  {
    customers,
    eventsPerMeter,
    sealedUntil,
  }: {
    readonly customers: number;
    readonly eventsPerMeter: number;
    readonly sealedUntil: string;
  },
): Promise<void> {
  const rows = customers * eventsPerMeter;
  const from = Date.parse(PERIOD_START);
  const span = Date.parse(PERIOD_END) - from;
  for (const version of versions)
    await clickhouse.command(
      {
        sql: `
          insert into meter_usage_v1 (tenant_id, environment_id, external_customer_id, meter_version_id,
                 timestamp, partition, position, value, unique_hash, dimensions, source)
          select {tenant_id:String}, {environment_id:String}, concat('customer-', toString(number % ${customers})),
                 {version:String},
                 fromUnixTimestamp64Milli(toInt64(${from} + toUInt64(number * (${span} / ${rows}))), 'UTC'),
                 sipHash64(number) % 4, bitShiftLeft(toUInt64(intDiv(number, 1000)), 16) + number % 1000,
                 toDecimal128(number % 997 + 1, 18) / 8, toUUID('00000000-0000-0000-0000-000000000000'), [], ''
            from numbers(${rows})`,
        params: { ...BENCH_SCOPE, version },
      },
      { timeoutMs: 600_000 },
    );
  await pool`
    insert into stream_progress (epoch, partition, generation, next_offset, catalog_version)
    select 0, p, 1, 1000000, 0 from generate_series(0, 3) p`;
  await pool`update meter_versions set backfill_state = 'complete'`;
  await sealDays({ clickhouse, pool }, versions, { customers, sealedUntil });
}

/**
 * Seals the days of all customers. The days are listed here and not read from the marks of touched buckets:
 * with 100,000 customers there are twelve million marks of quarter hours, which are not sealed.
 */
async function sealDays(
  { clickhouse, pool }: Pick<BenchInstance, 'clickhouse' | 'pool'>,
  versions: readonly string[],
  { customers, sealedUntil }: { readonly customers: number; readonly sealedUntil: string },
): Promise<void> {
  const store = createUsageStore(clickhouse);
  const turn = await takeSealer(pool, 3600);
  const watermarks = Object.fromEntries(
    [0, 1, 2, 3].map((partition) => [partition, packPosition(0, 1_000_000n, 0)]),
  );
  const seal = packSeal(turn!.generation, turn!.lastNumber + 1n);
  const days: number[] = [];
  for (let day = Date.parse(PERIOD_START); day < Date.parse(sealedUntil); day += DAY_MS)
    days.push(day);
  // In the order of the table, so that each statement reads one range of it.
  const names = Array.from({ length: customers }, (_, n) => `customer-${n}`).sort();
  for (let from = 0; from < names.length; from += CUSTOMERS_PER_SEAL) {
    const some = names.slice(from, from + CUSTOMERS_PER_SEAL);
    const buckets = some.flatMap((external_customer_id) =>
      versions.flatMap((meter_version_id) =>
        days.map((bucket_start) => {
          const bucket_size = 'DAY' as const;
          return {
            ...BENCH_SCOPE,
            external_customer_id,
            meter_version_id,
            bucket_size,
            bucket_start,
          };
        }),
      ),
    );
    await store.recomputeBuckets(buckets, { watermarks, liveUntil: new Map() }, seal);
    if ((from / CUSTOMERS_PER_SEAL) % 100 === 0 && customers > 10_000)
      process.stderr.write(`days of ${from} of ${customers} customers are sealed\n`);
  }
  await recordSeal(pool, { seal, watermarks, listedSince: null, completedVersions: [] });
}
