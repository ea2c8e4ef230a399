import { createUsageStore } from '../clickhouse/writing/create-usage-store.ts';
import type { TouchedBucket } from '../clickhouse/rows.ts';
import { createUsageReader } from '../clickhouse/reading/usage-reader.ts';
import { packPosition } from '../domain/metering/position.ts';
import type { UsageQuery, UsageReader } from '../domain/metering/usage.ts';
import { packSeal, readUsageBounds, recordSeal, takeSealer } from '../postgres/tables/seals.ts';
import { benchRow, type BenchRow } from './bench-row.ts';
import { BENCH_SCOPE, startBenchInstance, type BenchInstance } from './stream/instance.ts';

/** Milliseconds; medians of many runs. */
export interface UsageQueryBench {
  readonly events: number;
  /** One customer and meter, one month, from sealed days: through the reader, watermarks included. */
  readonly one_month: number;
  /** The same sum as one bare statement on the same buckets, through the same HTTP client. */
  readonly one_month_limit: number;
  /** The same month before any bucket is sealed, read from single rows. */
  readonly one_month_unsealed: number;
  readonly line_items: number;
  /** One month of 10,000 pairs of customer and meter, in one call. */
  readonly grouped: number;
  /** One bare grouped sum over the same buckets. */
  readonly grouped_limit: number;
}

const CUSTOMERS = 1_000;
const METERS = 10;
const START = Date.parse('2026-10-01T00:00:00.000Z');
const END = Date.parse('2026-11-01T00:00:00.000Z');

/**
 * Usage reads over 10M events of one meter, 1,000 customers, one month; and over 10 more meters with
 * 600 events per customer; their 10,000 pairs are read in one call. Engines as the product starts them;
 * the engine generates the data; everything is removed at the end (about 2 GB during the run).
 */
export async function benchUsageQuery(events = 10_000_000): Promise<UsageQueryBench> {
  const instance = await startBenchInstance();
  try {
    await writeUsage(instance, 'meterv_big', events);
    for (let meter = 0; meter < METERS; meter += 1) {
      await writeUsage(instance, `meterv_${meter}`, CUSTOMERS * 60);
    }
    await instance.pool`
      insert into stream_progress (epoch, partition, generation, next_offset, catalog_version)
      select 0, p, 1, 1000000, 0 from generate_series(0, 3) p`;
    const reader = createUsageReader({
      clickhouse: instance.clickhouse,
      readBounds: (versions) => readUsageBounds(instance.pool, versions),
      readDimensions: async (versions) => new Map(versions.map((version) => [version, []])),
      timeoutMs: 60_000,
    });
    const oneMonth = (n: number) => [query('meterv_big', (n * 37) % CUSTOMERS)];
    const lineItems = Array.from({ length: CUSTOMERS * METERS }, (_, n) =>
      query(`meterv_${n % METERS}`, Math.floor(n / METERS)),
    );
    const unsealed = await median(5, (n) => read(reader, oneMonth(n)));
    await sealDays(instance);
    return {
      events,
      one_month: await median(200, (n) => read(reader, oneMonth(n))),
      one_month_limit: await median(200, (n) => bareMonth(instance, (n * 37) % CUSTOMERS)),
      one_month_unsealed: unsealed,
      line_items: lineItems.length,
      grouped: await median(5, () => read(reader, lineItems)),
      grouped_limit: await median(5, () => bareGrouped(instance)),
    };
  } finally {
    await instance.close();
  }
}

function query(version: string, customer: number): UsageQuery {
  return {
    ...BENCH_SCOPE,
    key: `${version} ${customer}`,
    meter_version_id: version,
    aggregation: 'SUM',
    multiplier: null,
    reset_usage: 'BILLING_PERIOD',
    external_customer_ids: [`customer-${customer}`],
    start: new Date(START).toISOString(),
    end: new Date(END).toISOString(),
    filter_values: {},
    group_by: [],
    window: null,
  };
}

async function read(reader: UsageReader, queries: readonly UsageQuery[]): Promise<void> {
  const { answers } = await reader.read(queries);
  for (const { key } of queries) {
    if (answers.get(key)!.rows[0]!.event_count === 0) throw new Error(`no usage for ${key}`);
  }
}

/** Rows spread evenly over customers, time and four log partitions; a tenth at a time to bound memory. */
async function writeUsage({ clickhouse }: BenchInstance, version: string, rows: number) {
  const chunk = Math.ceil(rows / 10);
  for (let from = 0; from < rows; from += chunk) {
    await clickhouse.command(
      {
        sql: `
          insert into meter_usage_v1 (tenant_id, environment_id, external_customer_id, meter_version_id,
                 timestamp, partition, position, value, unique_hash, dimensions, source)
          select {tenant_id:String}, {environment_id:String}, concat('customer-', toString(number % ${CUSTOMERS})),
                 {version:String},
                 fromUnixTimestamp64Milli(toInt64(${START} + toUInt64(number * (${END - START} / ${rows}))), 'UTC'),
                 sipHash64(number) % 4, bitShiftLeft(toUInt64(intDiv(number, 1000)), 16) + number % 1000,
                 toDecimal128(number % 1000, 18) / 8, toUUID('00000000-0000-0000-0000-000000000000'), [], ''
            from numbers({from:UInt64}, {count:UInt64})`,
        params: { ...BENCH_SCOPE, version, from, count: Math.min(chunk, rows - from) },
      },
      { timeoutMs: 600_000 },
    );
  }
}

async function sealDays({ clickhouse, pool }: BenchInstance): Promise<void> {
  const store = createUsageStore(clickhouse);
  const days: TouchedBucket[] = [];
  for await (const chunk of store.touchedBuckets({ since: null })) {
    days.push(...chunk.filter((bucket) => bucket.bucket_size === 'DAY'));
  }
  const turn = await takeSealer(pool, 3600);
  const watermarks = Object.fromEntries(
    [0, 1, 2, 3].map((partition) => [partition, packPosition(0, 1_000_000n, 0)]),
  );
  const seal = packSeal(turn!.generation, turn!.lastNumber + 1n);
  await store.recomputeBuckets(days, { watermarks, liveUntil: new Map() }, seal);
  const recorded = await recordSeal(pool, {
    seal,
    watermarks,
    listedSince: null,
    completedVersions: [],
  });
  if (!recorded) throw new Error('the seal was not recorded');
}

const MONTH = `tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
  and bucket_start >= '2026-10-01' and bucket_start < '2026-11-01'`;

async function bareMonth({ clickhouse }: BenchInstance, customer: number): Promise<void> {
  await clickhouse.rows({
    sql: `select toString(sum(sum)), sum(event_count) from usage_per_day_v1
           where ${MONTH} and external_customer_id = {customer:String} and meter_version_id = 'meterv_big'`,
    params: { ...BENCH_SCOPE, customer: `customer-${customer}` },
  });
}

async function bareGrouped({ clickhouse }: BenchInstance): Promise<void> {
  await clickhouse.rows({
    sql: `select external_customer_id, meter_version_id, toString(sum(sum)), sum(event_count) from usage_per_day_v1
           where ${MONTH} and meter_version_id != 'meterv_big' group by external_customer_id, meter_version_id`,
    params: BENCH_SCOPE,
  });
}

async function median(runs: number, run: (n: number) => Promise<void>): Promise<number> {
  const times: number[] = [];
  await run(0); // one-time loading is not measured
  for (let n = 0; n < runs; n += 1) {
    const began = performance.now();
    await run(n);
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[Math.floor(runs / 2)]!;
}

export async function run(): Promise<BenchRow[]> {
  const result = await benchUsageQuery();
  return [
    benchRow(
      'usage of one customer-meter month',
      result.one_month,
      'ms median',
      result.one_month_limit,
      `${result.events} events, ${CUSTOMERS} customers, sealed, through the HTTP client; ` +
        `unsealed ${result.one_month_unsealed.toFixed(1)} ms; limit: a bare sum over the same buckets`,
    ),
    benchRow(
      `usage of ${result.line_items} line items in one call`,
      result.grouped,
      'ms median',
      result.grouped_limit,
      'limit: a bare grouped sum over the same buckets',
    ),
  ];
}
