import { loadavg } from 'node:os';
import { join } from 'node:path';
import { askUsage } from '../api/usage/quantities/ask-usage.ts';
import type { ApiDeps } from '../api/deps.ts';
import { createEventReader } from '../clickhouse/reading/event-reader.ts';
import { ANALYTICS } from '../clickhouse/query-limits.ts';
import { createUsageReader } from '../clickhouse/reading/usage-reader.ts';
import type { UsageQuery } from '../domain/metering/usage.ts';
import { benchRow, type BenchOptions, type BenchRow } from './bench-row.ts';
import { readUsageBounds } from '../postgres/tables/seals.ts';
import { CUSTOMERS, eventIdOf, REGIONS } from './scale/generate.ts';
import { probedDuring, timed, timeOf } from './scale/measure.ts';
import { bytesPerEvent, mergeAll } from './scale/disk.ts';
import { loadScaleWorld, type ScaleWorld } from './scale/world.ts';
import { scaleTable, type ScaleMeasure } from './scale/table.ts';
import { BENCH_SCOPE } from './stream/instance.ts';

const TEN_MILLION = 10_000_000;
const measure = (
  name: string,
  unit: string,
  limit: number | null = null,
  limitUpTo = Infinity,
): ScaleMeasure => ({ name, unit, limit, limitUpTo });

const MEASURES: readonly ScaleMeasure[] = [
  measure('events written', 'thousand/s'),
  measure('all buckets sealed', 's'),
  measure('customer-meter month p95', 'ms', 20, TEN_MILLION),
  measure('10,000 line items, one call p95', 'ms', 1_000),
  measure('90 days by sealed dimension, everybody p95', 'ms', 300, TEN_MILLION),
  measure('90 days by sealed dimension, days p95', 'ms', 300, TEN_MILLION),
  measure('90 days by sealed dimension, days of another zone p95', 'ms'),
  measure('90 days of one customer of 1,000 p95', 'ms', 300, TEN_MILLION),
  measure('90 days by any other property, everybody p95', 'ms', 2_500, TEN_MILLION),
  measure('… another tenant: select 1 p99 meanwhile', 'ms', 50),
  measure('90 days by any other property, one customer p95', 'ms', 300, TEN_MILLION),
  measure('event look-up by id p95', 'ms', 50),
  measure('monitoring of 90 days p95', 'ms'),
  measure('event list, newest page of everything p95', 'ms'),
  measure('event list, page of one customer p95', 'ms'),
  measure('a late day resealed after', 's'),
  measure('disk: raw and usage rows', 'bytes/event', 60),
  measure('disk: event index', 'bytes/event', 25),
  measure('disk: buckets and marks', 'bytes/event'),
  measure('time of the whole run', 's'),
];

/**
 * Usage reads at several sizes: the same 90 days of 1,000 customers with increasing numbers of events,
 * read through the product's readers, on engines as the product starts them.
 */
export async function run(options: BenchOptions): Promise<BenchRow[]> {
  const sizes = (options.sizes ?? '1M').split(',').map((name) => ({ name, events: sizeOf(name) }));
  const columns = [];
  for (const { name, events } of sizes) {
    const root = options.from ?? options.keep;
    const figures = await measureSize(events, {
      kept: root === undefined ? null : join(root, name),
      note: (text) => process.stderr.write(`scale ${name}: ${text}\n`),
    });
    columns.push({ name, events, figures });
    process.stdout.write(`${scaleTable(MEASURES, columns)}\n\n`);
  }
  return columns.flatMap(({ name, figures }) =>
    MEASURES.flatMap(({ name: of, unit, limit }) =>
      figures.has(of) ? [benchRow(`${name}: ${of}`, figures.get(of)!, unit, limit, '')] : [],
    ),
  );
}

interface SizeOptions {
  readonly kept: string | null;
  readonly note: (text: string) => void;
}

async function measureSize(events: number, { kept, note }: SizeOptions) {
  const figures = new Map<string, number>();
  const began = performance.now();
  const set = (name: string, figure: number, detail = '') => {
    if (!MEASURES.some((known) => known.name === name)) throw new Error(`no measure ${name}`);
    figures.set(name, figure);
    note(`${name}: ${figure.toPrecision(3)} ${detail} (load ${loadavg()[0]!.toFixed(1)})`);
  };
  const world = await loadScaleWorld(events, kept, note);
  try {
    const { generatedMs, sealedMs } = world;
    if (generatedMs !== null) set('events written', events / generatedMs);
    if (sealedMs !== null) set('all buckets sealed', sealedMs / 1000);
    await mergeAll(world.instance.clickhouse, note);
    await measureReads(world, set);
    const disk = await bytesPerEvent(world.instance.clickhouse, world.made.events);
    set('disk: raw and usage rows', disk.rows);
    set('disk: event index', disk.index);
    set('disk: buckets and marks', disk.buckets);
    note(disk.detail);
    set('a late day resealed after', (await timeOf(() => world.sealLateDay())) / 1000);
    set('time of the whole run', (performance.now() - began) / 1000);
    return figures;
  } finally {
    await world.close();
  }
}

type Set = (name: string, figure: number, detail?: string) => void;

async function measureReads(world: ScaleWorld, set: Set): Promise<void> {
  const { clickhouse, pool } = world.instance;
  // Sizes above the product's query limits are measured too.
  const analytics = { ...ANALYTICS, seconds: 120, memoryBytes: 10_000_000_000 };
  const eventReader = createEventReader(clickhouse, { analytics });
  const usageReader = createUsageReader({
    clickhouse,
    readBounds: (versions) => readUsageBounds(pool, versions),
    readDimensions: async (versions) =>
      new Map(versions.map((version) => [version, world.version.dimensions])),
    analytics,
    timeoutMs: 120_000,
  });
  const deps: Pick<ApiDeps, 'eventReader' | 'usageReader' | 'pool'> = {
    eventReader,
    usageReader,
    pool,
  };
  const ask = (queries: readonly UsageQuery[]) =>
    askUsage(
      deps as ApiDeps,
      queries.map((query) => ({
        query,
        version: { ...world.version, backfill_state: 'complete', set_aside_reason: null },
      })),
    );
  const questions = questionsOf(world);
  const p95 = async (
    name: string,
    runs: number,
    seconds: number,
    run: (n: number) => Promise<unknown>,
  ) => {
    const { p50, p95: figure, runs: made } = await timed(runs, seconds, run);
    set(name, figure, `p50 ${p50.toFixed(1)}, ${made} runs`);
  };

  await p95('customer-meter month p95', 200, 10, (n) => ask([questions.month(n)]));
  const lineItems = questions.lineItems();
  await p95('10,000 line items, one call p95', 10, 20, async () => {
    // Billing reads below the watermarks and takes no turn.
    await usageReader.read(lineItems);
  });
  await p95('90 days by sealed dimension, everybody p95', 20, 20, () =>
    ask([questions.everybody(['region'])]),
  );
  await p95('90 days by sealed dimension, days p95', 20, 20, () =>
    ask([questions.everybody(['region'], 'DAY')]),
  );
  await p95('90 days by sealed dimension, days of another zone p95', 5, 30, () =>
    ask([questions.everybody(['region'], 'DAY', 'Asia/Kathmandu')]),
  );
  await p95('90 days of one customer of 1,000 p95', 100, 10, (n) =>
    ask([questions.customer(n, ['region'], 'DAY')]),
  );
  const other = p95('90 days by any other property, everybody p95', 10, 60, () =>
    ask([questions.everybody(['tokens'])]),
  );
  const selectOne = () => clickhouse.rows({ sql: 'select 1', params: {} });
  const probe = await probedDuring(other, selectOne);
  set(
    '… another tenant: select 1 p99 meanwhile',
    probe.p99,
    `p50 ${probe.p50.toFixed(1)}, ${probe.runs} probes`,
  );
  await p95('90 days by any other property, one customer p95', 50, 20, (n) =>
    ask([questions.customer(n, ['tokens'])]),
  );

  const ids: string[] = [];
  for (let n = 0; n < 100; n += 1)
    ids.push(await eventIdOf(clickhouse, Math.floor((n * world.made.events) / 101 / 100) * 100));
  await p95('event look-up by id p95', 100, 20, async (n) => {
    const { canonical } = await eventReader.history(
      { ...BENCH_SCOPE, event_id: ids[n % ids.length]! },
      50,
    );
    if (canonical === null) throw new Error('an event was not found');
  });
  await p95('monitoring of 90 days p95', 5, 30, () =>
    eventReader.counts({
      ...BENCH_SCOPE,
      start: world.made.start,
      end: world.made.start + world.made.span,
      step: 0,
    }),
  );
  const page = (external_customer_id: string | null) =>
    eventReader.search({
      ...BENCH_SCOPE,
      external_customer_id,
      event_name: null,
      event_id: null,
      source: null,
      outcome: null,
      start: world.made.start,
      end: world.made.start + world.made.span,
      property_filters: {},
      sort: 'timestamp',
      order: 'desc',
      cursor: null,
      limit: 51,
      offset: 0,
    });
  await p95('event list, newest page of everything p95', 20, 20, () => page(null));
  await p95('event list, page of one customer p95', 50, 20, (n) =>
    page(`customer-${n % CUSTOMERS}`),
  );
}

function questionsOf({ version, made }: ScaleWorld) {
  const iso = (ms: number) => new Date(ms).toISOString();
  const base = {
    ...BENCH_SCOPE,
    meter_version_id: version.id,
    aggregation: 'SUM',
    multiplier: null,
    reset_usage: 'BILLING_PERIOD',
    start: iso(made.start),
    end: iso(made.start + made.span),
    filter_values: {},
    window: null,
  } as const satisfies Partial<UsageQuery>;
  const windowed = (size: 'DAY' | undefined, timezone = 'UTC') =>
    size === undefined ? null : { bucket_size: size, timezone, billing_anchor: null };
  const customerOf = (n: number) => [`customer-${(n * 37) % CUSTOMERS}`];
  return {
    everybody: (group_by: readonly string[], size?: 'DAY', timezone?: string): UsageQuery => ({
      ...base,
      key: 'everybody',
      external_customer_ids: null,
      group_by,
      window: windowed(size, timezone),
    }),
    customer: (n: number, group_by: readonly string[], size?: 'DAY'): UsageQuery => ({
      ...base,
      key: 'customer',
      external_customer_ids: customerOf(n),
      group_by,
      window: windowed(size),
    }),
    month: (n: number): UsageQuery => ({
      ...base,
      key: 'month',
      external_customer_ids: customerOf(n),
      start: iso(made.start + 30 * DAY_MS),
      end: iso(made.start + 60 * DAY_MS),
      group_by: [],
    }),
    /** Each customer has ten lines, one per region. */
    lineItems: (): UsageQuery[] =>
      Array.from({ length: CUSTOMERS * REGIONS }, (_, n) => ({
        ...base,
        key: `line ${n}`,
        external_customer_ids: [`customer-${n % CUSTOMERS}`],
        start: iso(made.start + 30 * DAY_MS),
        end: iso(made.start + 60 * DAY_MS),
        filter_values: { region: [`region-${Math.floor(n / CUSTOMERS)}`] },
        group_by: [],
      })),
  };
}

const DAY_MS = 86_400_000;

function sizeOf(name: string): number {
  const [, number, unit] = /^(\d+)([kM]?)$/.exec(name) ?? [];
  if (number === undefined)
    throw new Error(`--sizes: ${name} is not a size; write for example 1M,10M,100M`);
  return Number(number) * (unit === 'M' ? 1_000_000 : unit === 'k' ? 1_000 : 1);
}
