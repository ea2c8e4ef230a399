import { GROUPS_MAX, tooManyGroups } from '../../../clickhouse/reading/usage-errors.ts';
import { BillingError } from '../../../domain/errors.ts';
import { aggregate, type MeteredUsage } from '../../../domain/metering/aggregate.ts';
import { compileMeter } from '../../../domain/metering/meter-event.ts';
import { refuseSetAside } from '../../../domain/metering/set-aside.ts';
import type { WatermarkVector } from '../../../domain/metering/position.ts';
import type {
  MeterVersion,
  UsageAnswers,
  UsageQuery,
  UsageRow,
} from '../../../domain/metering/usage.ts';
import { epochMs } from '../../../domain/time/instant.ts';
import type { MeterVersionRecord } from '../../../postgres/tables/meter-versions.ts';
import { readLiveUntil } from '../../../postgres/tables/seals.ts';
import type { UsageDeps } from '../../deps.ts';
import { propertiesOf } from '../events/answers.ts';
import { usageQuestionTooLarge } from './too-large.ts';

/**
 * A usage query for one meter version, which may name any property. The usage of a version that is still
 * being backfilled is incomplete: its queries are answered from the events.
 */
export interface UsageAsk {
  readonly query: UsageQuery;
  readonly version: MeterVersion & Pick<MeterVersionRecord, 'backfill_state' | 'set_aside_reason'>;
}

export const usageStillCounted = (): BillingError =>
  new BillingError(
    'unavailable',
    'usage_unavailable',
    'Usage of this meter is still being counted from earlier events. Repeat the request shortly.',
  );

/** Expressions are evaluated here, event by event: a query with more events is too large. */
const EVENTS_MAX = 200_000;
/** Queries that read events, in one call: they run one after the other. */
const EVENT_QUERIES_MAX = 200;

/**
 * Rows of each query by its key. Usage keeps the properties that prices and meters name; queries about others
 * are answered from the raw events, by the same rules. 400 `too_many_groups` if `group_by` yields more than
 * 10,000 groups. 503 `meter_set_aside` for a version of which nothing is counted.
 */
export async function askUsage(
  deps: UsageDeps,
  asks: readonly UsageAsk[],
): Promise<ReadonlyMap<string, readonly UsageRow[]>> {
  const [first] = asks;
  if (first === undefined) return new Map();
  const { tenant_id } = first.query;
  // Each query takes its own turn: one that held a turn and waited for another could deadlock.
  const inTurn = (queries: readonly UsageQuery[]) =>
    deps.eventReader.inTurn(tenant_id, () => deps.usageReader.read(queries));
  const { answers } = await answersOf(deps, asks, inTurn, refuseManyEventQueries);
  const rows = new Map([...answers].map(([key, answer]) => [key, answer.rows]));
  for (const { query } of asks) refuseTooManyGroups(query.group_by, rows.get(query.key)!);
  return rows;
}

/**
 * The same for balances and previews: nothing waits for a turn of the tenant's dashboards unless events have to be
 * read, and groups are not limited.
 */
export const readShownUsage = (deps: UsageDeps, asks: readonly UsageAsk[]): Promise<UsageAnswers> =>
  answersOf(deps, asks, (queries) => deps.usageReader.read(queries));

async function answersOf(
  deps: UsageDeps,
  asks: readonly UsageAsk[],
  read: (queries: readonly UsageQuery[]) => Promise<UsageAnswers>,
  refuse: (raw: readonly UsageAsk[]) => void = () => {},
): Promise<UsageAnswers> {
  for (const { version } of asks) refuseSetAside(version);
  const raw = asks.filter((ask) => !keepsAll(ask));
  const shown = asks.filter(keepsAll).map(({ query }) => query);
  const wholes = raw.filter(({ version }) => isWhole(version)).map(wholeOf);
  const { watermarks, answers: kept } = await read([...shown, ...wholes]);
  const answers = new Map(shown.map(({ key }) => [key, kept.get(key)!]));
  const isUsed = ({ query, version }: UsageAsk) =>
    !isWhole(version) || kept.get(wholeKey(query))!.rows.some((row) => row.event_count > 0);
  for (const { query } of raw.filter((ask) => !isUsed(ask)))
    answers.set(query.key, aggregate(query, []));
  const used = raw.filter(isUsed);
  refuse(used);
  const ended = await endsOf(deps, used);
  for (const ask of used) {
    const { key } = ask.query;
    const rows = await rowsOfEvents(deps, ask, ended.get(ask.version.id) ?? {});
    answers.set(key, { key, rows });
  }
  return { watermarks, answers };
}

const wholeKey = ({ key }: UsageQuery): string => `whole of ${key}`;

/**
 * The same query without filters and groups by properties that the usage does not keep. If this one has no events, the
 * narrower query has none, so no events are read for it.
 */
function wholeOf({ query, version }: UsageAsk): UsageQuery {
  const filters = Object.entries(query.filter_values);
  return {
    ...query,
    key: wholeKey(query),
    aggregation: 'COUNT',
    multiplier: null,
    filter_values: Object.fromEntries(filters.filter(([name]) => keeps(version, name))),
    excluded_filter_values: [],
    excluded_during: [],
    group_by: [],
    window: null,
    by_time: false,
  };
}

/** 400 if one call would read the events of too many queries (tenancy S13). */
function refuseManyEventQueries(raw: readonly UsageAsk[]): void {
  if (raw.filter(({ version }) => isWhole(version)).length > EVENT_QUERIES_MAX)
    throw usageQuestionTooLarge(
      `A query by a property that no price or meter names may read the events of at most ${EVENT_QUERIES_MAX} lines. Query one customer.`,
    );
}

/** 400 if a query has more than 10,000 groups (tenancy S13). */
export function refuseTooManyGroups(
  group_by: readonly string[],
  rows: readonly { readonly group: readonly string[] }[],
): void {
  if (group_by.length === 0 || rows.length <= GROUPS_MAX) return;
  if (new Set(rows.map(({ group }) => JSON.stringify(group))).size > GROUPS_MAX)
    throw tooManyGroups();
}

function namesOf({
  filter_values,
  excluded_filter_values,
  excluded_during,
  group_by,
}: UsageQuery): string[] {
  const timed = (excluded_during ?? []).map((excluded) => excluded.filter_values);
  const filters = [filter_values, ...(excluded_filter_values ?? []), ...timed];
  return [...filters.flatMap((filter) => Object.keys(filter)), ...group_by];
}

const isWhole = ({ backfill_state }: UsageAsk['version']): boolean => backfill_state === 'complete';

const keeps = ({ dimensions }: MeterVersion, name: string): boolean =>
  name === 'source' || dimensions.includes(name);

const keepsAll = ({ query, version }: UsageAsk): boolean =>
  isWhole(version) && namesOf(query).every((name) => keeps(version, name));

/** 503 if the events exceed the limits of one query while the version's usage is not complete yet. */
async function rowsOfEvents(
  deps: UsageDeps,
  ask: UsageAsk,
  liveUntil: WatermarkVector,
): Promise<readonly UsageRow[]> {
  const { query, version } = ask;
  try {
    return version.spec.aggregation.expression !== null || query.by_time === true
      ? await askRawEvents(deps, ask, liveUntil)
      : (await deps.eventReader.answer(query, version, liveUntil)).rows;
  } catch (error) {
    const isTooLarge = error instanceof BillingError && error.code === 'usage_query_too_large';
    throw isTooLarge && !isWhole(version) ? usageStillCounted() : error;
  }
}

/** Ends of the queried versions: their usage rows do not count beyond it either. */
async function endsOf(
  deps: UsageDeps,
  asks: readonly UsageAsk[],
): Promise<ReadonlyMap<string, WatermarkVector>> {
  if (asks.length === 0) return new Map();
  return await readLiveUntil(deps.pool, [...new Set(asks.map(({ version }) => version.id))]);
}

async function askRawEvents(
  deps: UsageDeps,
  { query, version }: UsageAsk,
  liveUntil: WatermarkVector,
): Promise<readonly UsageRow[]> {
  const isLifetime = query.reset_usage === 'NEVER' && query.window === null;
  const events = await deps.eventReader.counted({
    tenant_id: query.tenant_id,
    environment_id: query.environment_id,
    event_name: version.spec.event_name,
    external_customer_ids: query.external_customer_ids,
    start: isLifetime ? 0 : epochMs(query.start),
    end: epochMs(query.end),
    limit: EVENTS_MAX + 1,
  });
  if (events.length > EVENTS_MAX)
    throw usageQuestionTooLarge(
      `A query by a property that no price or meter names may read at most ${EVENTS_MAX} events of a meter with an expression. Query a shorter time range.`,
    );
  const names = [...new Set(namesOf(query))].filter((name) => name !== 'source');
  const meter = compileMeter({ ...version, dimensions: names });
  const usage = events.flatMap((event): MeteredUsage[] => {
    const end = liveUntil[event.partition];
    if (end !== undefined && event.position >= end) return [];
    const metering = meter({ event_name: event.event_name, properties: propertiesOf(event) ?? {} });
    if (metering.outcome !== 'metered') return [];
    const dimensions = Object.fromEntries(
      names.map((name, index) => [name, metering.dimensions[index]!]),
    );
    const { value, unique_value } = metering;
    return [{ ...event, meter_version_id: version.id, value, unique_value, dimensions }];
  });
  return aggregate(query, usage).rows;
}
