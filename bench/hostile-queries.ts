import { setImmediate as breathe } from 'node:timers/promises';
import { askUsage } from '../api/usage/quantities/ask-usage.ts';
import type { ApiDeps } from '../api/deps.ts';
import { createEventReader, type EventSearch } from '../clickhouse/reading/event-reader.ts';
import { createUsageReader } from '../clickhouse/reading/usage-reader.ts';
import type { UsageQuery } from '../domain/metering/usage.ts';
import { readUsageBounds } from '../postgres/tables/seals.ts';
import { benchRow, type BenchOptions, type BenchRow } from './bench-row.ts';
import { CUSTOMERS, EVENT_NAME } from './scale/generate.ts';
import { probedDuring, timed, type Timings } from './scale/measure.ts';
import { loadScaleWorld, type ScaleWorld } from './scale/world.ts';
import { BENCH_SCOPE } from './stream/instance.ts';

const EVENTS = 1_000_000;
const SECONDS_EACH = 6;
/** More than a tenant's concurrent turns: the rest waits. */
const AT_ONCE = 4;

type Hostile = readonly [name: string, ask: () => Promise<unknown>];

/**
 * One tenant repeats the most expensive queries it can. Measures another tenant's month of usage under
 * this load and without it. The limit of a row is the p99 without load: the ratio must stay below 2.
 */
export async function run(options: BenchOptions = {}): Promise<BenchRow[]> {
  const world = await loadScaleWorld(EVENTS, options.from ?? options.keep ?? null, () => {});
  try {
    const { ask, hostile } = questionsOf(world);
    const probe = (n: number) => ask([month(world, n)]);
    const alone = await timed(300, 15, probe);
    const rows = [row('alone', alone, null, '')];
    for (const [name, attack] of hostile) {
      const outcomes = new Map<string, number>();
      let n = 0;
      let unanswered = 0;
      const meanwhile = await probedDuring(attackFor(attack, outcomes), () =>
        probe((n += 1)).catch(() => (unanswered += 1)),
      );
      outcomes.set('of the other tenant unanswered', unanswered);
      const answers = [...outcomes].map(([outcome, count]) => `${count} x ${outcome}`).join(', ');
      rows.push(row(name, meanwhile, alone, answers));
      process.stderr.write(`${name}: p99 ${meanwhile.p99.toFixed(0)} ms; ${answers}\n`);
    }
    return rows;
  } finally {
    await world.close();
  }
}

function row(name: string, at: Timings, alone: Timings | null, answers: string): BenchRow {
  return benchRow(
    `another tenant's month p99, ${name}`,
    at.p99,
    'ms',
    alone?.p99 ?? null,
    `p50 ${at.p50.toFixed(1)} ms${alone === null ? '' : ` (alone ${alone.p50.toFixed(1)} ms)`}, ${at.runs} questions; ${answers}`,
  );
}

async function attackFor(attack: Hostile[1], outcomes: Map<string, number>): Promise<void> {
  const until = performance.now() + SECONDS_EACH * 1000;
  const again = async (): Promise<void> => {
    while (performance.now() < until) {
      const outcome = await attack().then(
        () => 'answered',
        (error: { code?: string; message?: string }) => error.code || error.message || 'failed',
      );
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      await breathe(); // a refusal takes no time, and the probe runs in this process
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, again));
}

function month({ version, made }: ScaleWorld, n: number): UsageQuery {
  return {
    ...BENCH_SCOPE,
    // Turns are per tenant; both tenants may read the same data.
    key: 'month',
    meter_version_id: version.id,
    aggregation: 'SUM',
    multiplier: null,
    reset_usage: 'BILLING_PERIOD',
    external_customer_ids: [`customer-${(n * 37) % CUSTOMERS}`],
    start: new Date(made.start + 30 * 86_400_000).toISOString(),
    end: new Date(made.start + 60 * 86_400_000).toISOString(),
    filter_values: {},
    group_by: [],
    window: null,
  };
}

function questionsOf(world: ScaleWorld) {
  const { clickhouse, pool } = world.instance;
  const { version, made } = world;
  const usageReader = createUsageReader({
    clickhouse,
    readBounds: (versions) => readUsageBounds(pool, versions),
    readDimensions: async (versions) =>
      new Map(versions.map((id) => [id, version.dimensions] as const)),
  });
  // Two readers, so that the two tenants do not share turns.
  const depsOf = () =>
    ({
      eventReader: createEventReader(clickhouse),
      usageReader,
      pool,
    }) as Partial<ApiDeps> as ApiDeps;
  const other = depsOf();
  const own = depsOf();
  const asked = (deps: ApiDeps, queries: readonly UsageQuery[]) =>
    askUsage(
      deps,
      queries.map((query) => ({
        query,
        version: { ...version, backfill_state: 'complete', set_aside_reason: null },
      })),
    );
  const wide: UsageQuery = {
    ...month(world, 0),
    external_customer_ids: null,
    start: new Date(made.start).toISOString(),
    end: new Date(made.start + made.span).toISOString(),
  };
  const search = (given: Partial<EventSearch>) => () =>
    own.eventReader.search({
      ...BENCH_SCOPE,
      external_customer_id: null,
      event_name: null,
      event_id: null,
      source: null,
      outcome: null,
      start: made.start,
      end: made.start + made.span,
      property_filters: {},
      sort: 'timestamp',
      order: 'desc',
      cursor: null,
      limit: 51,
      offset: 0,
      ...given,
    });
  const many = Array.from({ length: 100_000 }, (_, n) => `value-${n}`);
  const ask = (query: Partial<UsageQuery>) => () => asked(own, [{ ...wide, ...query }]);
  const aggregate = (given: object) => () =>
    own.eventReader.aggregate({
      ...BENCH_SCOPE,
      event_name: EVENT_NAME,
      external_customer_id: null,
      aggregation: 'COUNT_UNIQUE',
      multiplier: null,
      property_name: 'tokens',
      start: wide.start,
      end: wide.end,
      filters: {},
      window: null,
      ...given,
    });
  const hostile: readonly Hostile[] = [
    ['90 days by a property of a thousand values', ask({ group_by: ['tokens'] })],
    [
      '90 days by two properties in hours',
      ask({
        group_by: ['tokens', 'region'],
        window: { bucket_size: 'HOUR', timezone: 'Asia/Kathmandu', billing_anchor: null },
      }),
    ],
    [
      '90 days by every sealed dimension in days of another zone',
      ask({
        group_by: ['region', 'source'],
        window: { bucket_size: 'DAY', timezone: 'Asia/Kathmandu', billing_anchor: null },
      }),
    ],
    ['a filter with 100,000 values', ask({ filter_values: { tokens: many } })],
    [
      'twenty filters',
      ask({
        filter_values: Object.fromEntries(
          Array.from({ length: 20 }, (_, n) => [`property-${n}`, ['.*', '%', '(a+)+$']]),
        ),
      }),
    ],
    [
      'distinct values of everything in minutes',
      aggregate({
        start: new Date(made.start + made.span - 30 * 86_400_000).toISOString(),
        window: { bucket_size: 'MINUTE', timezone: 'UTC', billing_anchor: null },
      }),
    ],
    ['a list at offset 100,000', search({ offset: 100_000 })],
    ['a list by name', search({ sort: 'event_name' })],
    [
      'a list with a filter that nothing passes',
      search({ property_filters: { tokens: many.slice(0, 900) } }),
    ],
  ];
  return { hostile, ask: (queries: readonly UsageQuery[]) => asked(other, queries) };
}
