import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WatermarkVector } from '../../domain/metering/position.ts';
import { meterSetAside, type SetAside } from '../../domain/metering/set-aside.ts';
import type { UsageAnswer, UsageQuery, UsageReader } from '../../domain/metering/usage.ts';
import type { ClickHouse } from '../client.ts';
import { ANALYTICS, LOOK_UP, READING, type QueryLimits } from '../query-limits.ts';
import { refusedOrUnavailable, UsageMoved, usageUnavailable } from './usage-errors.ts';
import { planQuery, type CellCache, type PlannedQuery } from '../queries/plan-query.ts';
import { readsUntil } from './reads-until.ts';
import { readTimes, TIMES, type TimesBounds } from './read-times.ts';
import { FewRows } from './few-rows.ts';
import { OpenDays } from './open-days.ts';
import { readUsage } from './read-usage.ts';
import { UsageTally } from './usage-tally.ts';

/** Bounds of a read, taken in one statement before ClickHouse is queried (metering 5, query step 1). */
export interface UsageBounds {
  readonly watermarks: WatermarkVector;
  /** Rows of an ended version at or beyond its vector do not count. */
  readonly liveUntil: ReadonlyMap<string, WatermarkVector>;
  /** Versions that are set aside and no longer counted: their usage below the watermarks is incomplete. */
  readonly setAside: readonly SetAside[];
  /** Vectors of the given seals that were recorded when the watermarks were read. */
  vectorsOf(seals: readonly bigint[]): Promise<ReadonlyMap<bigint, WatermarkVector>>;
}

export interface UsageReaderOptions {
  readonly clickhouse: ClickHouse;
  readBounds(meterVersionIds: readonly string[]): Promise<UsageBounds>;
  /** The dimensions of meter versions, in the order of the stored rows. They never change. */
  readDimensions(
    meterVersionIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Time limit of one statement (default: the limit of its class); a call runs a few of them. */
  readonly timeoutMs?: number;
  /** Limits of queries on all customers. */
  readonly analytics?: QueryLimits;
  /** See `ReadUsageDeps`. */
  readonly fewPairs?: number;
  /** Rows that ClickHouse may read for usage that is read from rows alone; 0: never. Default: see `FewRows`. */
  readonly fewRows?: number;
  /** Limits of queries by time. */
  readonly times?: TimesBounds;
}

const ATTEMPTS = 3;
const FEW_PAIRS = 20;
/** Queries between two pauses for other requests: ten years of days ask 3,653 of each line. */
const QUERIES_OF_TURN = 1_000;
/** Checking buckets of all customers individually blocks the process, so the bytes are limited. */
const WIDE_BYTES_MAX = 10_000_000;

/** Reads usage from buckets that may be used, and from rows otherwise, exactly below one vector. */
export function createUsageReader(options: UsageReaderOptions): UsageReader {
  const dimensionsOf = cachedDimensions(options);
  const guesses = { openDays: new OpenDays(), fewRows: new FewRows(options.fewRows) };
  const read: UsageReader['read'] = async (queries, bound = 'watermark', signal) => {
    const clickhouse =
      signal === undefined ? options.clickhouse : readsUntil(signal, options.clickhouse);
    const versions = [...new Set(queries.map((query) => query.meter_version_id))];
    const dimensions = await dimensionsOf(versions);
    const cache: CellCache = new Map();
    const plans: PlannedQuery[] = [];
    for (const query of queries) {
      plans.push(planQuery(query, dimensions.get(query.meter_version_id) ?? [], cache));
      if (plans.length % QUERIES_OF_TURN === 0) await nextTurn();
    }
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await readOnce({ ...options, clickhouse }, guesses, plans, versions, bound);
      } catch (error) {
        // A day was sealed again between two statements; its new content is equally valid.
        if (error instanceof UsageMoved && attempt < ATTEMPTS) continue;
        throw error instanceof UsageMoved ? usageUnavailable() : error;
      }
    }
  };
  return {
    read: (queries, bound, signal) =>
      read(queries, bound, signal).catch((error: unknown) => {
        throw refusedOrUnavailable(error, queries.some(isWide));
      }),
  };
}

async function readOnce(
  options: UsageReaderOptions,
  guesses: { readonly openDays: OpenDays; readonly fewRows: FewRows },
  plans: readonly PlannedQuery[],
  versions: readonly string[],
  bound: NonNullable<Parameters<UsageReader['read']>[1]>,
) {
  const bounds = await options.readBounds(versions);
  const at = typeof bound === 'object' ? bound.at : null;
  // Usage below an older vector predates the set-aside and can still be read, for example to repeat an
  // invoice.
  const [setAside] = bounds.setAside;
  if (at === null && setAside !== undefined) throw meterSetAside(setAside);
  const deps = {
    clickhouse: options.clickhouse,
    bounds: {
      watermarks: bound === 'fresh' ? null : (at ?? bounds.watermarks),
      liveUntil: bounds.liveUntil,
    },
    fewPairs: options.fewPairs ?? FEW_PAIRS,
    ...guesses,
    sealed: { vectorsOf: (seals: readonly bigint[]) => bounds.vectorsOf(seals), at },
  };
  const answers = new Map<string, UsageAnswer>();
  const times = options.times ?? TIMES;
  let left = times.max;
  for (const plan of plans.filter(isByTime)) {
    const limits = limitsOf([plan], options);
    const answer = await readTimes({ ...deps, options: { limits } }, plan, times, left);
    left -= answer.rows.length;
    answers.set(answer.key, answer);
  }
  for (const group of groupsOf(plans.filter((plan) => !isByTime(plan)))) {
    const tallies = group.map((plan) => new UsageTally(plan));
    await readUsage({ ...deps, options: { limits: limitsOf(group, options) } }, tallies);
    for (const tally of tallies) {
      answers.set(tally.plan.query.key, await tally.answer());
      if (answers.size % QUERIES_OF_TURN === 0) await nextTurn();
    }
  }
  return { watermarks: at ?? bounds.watermarks, answers };
}

/**
 * Groups queries that one round of statements can answer: same environment, named customers or all customers,
 * and periods or lifetimes, because a round reads from its first day to its last.
 */
function groupsOf(plans: readonly PlannedQuery[]): PlannedQuery[][] {
  const groups = new Map<string, PlannedQuery[]>();
  for (const plan of plans) {
    const { query } = plan;
    const key = JSON.stringify([
      query.tenant_id,
      query.environment_id,
      query.external_customer_ids === null,
      plan.start === 0,
    ]);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [plan]);
    else known.push(plan);
  }
  return [...groups.values()];
}

const isByTime = ({ query }: PlannedQuery): boolean => query.by_time === true;

const isWide = (query: UsageQuery): boolean => query.external_customer_ids === null;

/** Queries on all customers are analytics, however many customers there are; billing has none. */
function limitsOf(group: readonly PlannedQuery[], options: UsageReaderOptions): QueryLimits {
  const analytics = options.analytics ?? ANALYTICS;
  const limits = group.some(({ query }) => isWide(query))
    ? { ...analytics, resultBytes: Math.min(analytics.resultBytes, WIDE_BYTES_MAX) }
    : isFew(group, options.fewPairs ?? FEW_PAIRS)
      ? LOOK_UP
      : READING;
  const { timeoutMs } = options;
  return timeoutMs === undefined ? limits : { ...limits, seconds: Math.ceil(timeoutMs / 1000) };
}

/** Whether a group is about few customers; a customer named by several queries counts several times. */
function isFew(group: readonly PlannedQuery[], few: number): boolean {
  let customers = 0;
  for (const { query } of group) customers += query.external_customer_ids?.length ?? Infinity;
  return customers <= few;
}

function cachedDimensions({ readDimensions }: UsageReaderOptions) {
  const known = new Map<string, readonly string[]>();
  return async (versions: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> => {
    const missing = versions.filter((version) => !known.has(version));
    if (missing.length > 0) {
      for (const [version, dimensions] of await readDimensions(missing)) {
        known.set(version, dimensions);
      }
    }
    return known;
  };
}
