import type { Position, WatermarkVector } from '../../domain/metering/position.ts';
import type { MeterVersion, UsageAnswer, UsageQuery } from '../../domain/metering/usage.ts';
import type { ClickHouse, ReadOptions } from '../client.ts';
import {
  canonicalCopy,
  countedCopies,
  eventCopies,
  eventVerdicts,
  type EventId,
  type VerdictCells,
} from '../queries/event-copies.ts';
import {
  acceptedCounts,
  meteredCount,
  rejectedCount,
  type EventCountQuestion,
} from '../queries/event-counts.ts';
import {
  countEvents,
  countStoredEvents,
  searchEvents,
  timeOfNth,
  type EventSearch,
} from '../queries/event-search.ts';
import {
  meteredCustomers,
  meteredVersions,
  type MeteredCustomers,
  type MeteredVersions,
} from '../queries/metered.ts';
import {
  countedEvents,
  rawEventRow,
  type CountedEvents,
  type RawEventCells,
} from '../queries/raw-events.ts';
import { meterUsageRow, usageAtEvent, type UsageAtEventCells } from '../queries/usage-of-event.ts';
import {
  aggregateRawEvents,
  type RawUsageAnswer,
  type RawUsageQuestion,
} from './aggregate-raw-events.ts';
import { answerFromEvents } from './answer-from-events.ts';
import type { MeterUsageRow, RawEventRow } from '../rows.ts';
import { ANALYTICS, LOOK_UP, type QueryLimits } from '../query-limits.ts';
import { TenantTurns } from './tenant-turns.ts';
import { readsUntil } from './reads-until.ts';
import { refusedOrUnavailable, refuseManyValues } from './usage-errors.ts';

export type { EventCountQuestion } from '../queries/event-counts.ts';
export type { EventCursor, EventSearch } from '../queries/event-search.ts';

/** Everything known about one event id. */
export interface EventHistory {
  /** Newest first, at most as many as requested. */
  readonly copies: readonly RawEventRow[];
  /** The canonical copy, which may be older than the listed ones. */
  readonly canonical: RawEventRow | null;
  /** Usage of the event by meter version. */
  readonly usage: readonly MeterUsageRow[];
  readonly rejections: readonly EventRejection[];
  /** Voids of the event, oldest first. */
  readonly voids: readonly { readonly partition: number; readonly position: Position }[];
}

export interface EventRejection {
  readonly partition: number;
  readonly position: Position;
  /** Empty if the copy itself was rejected, rather than by one meter version. */
  readonly meter_version_id: string;
  readonly reason: string;
  readonly message: string;
}

export interface EventPage {
  readonly events: readonly RawEventRow[];
  readonly total_count: number;
}

/** Number of events accepted in a range, and their outcomes. */
export interface EventCounts {
  /** All copies. */
  readonly accepted: number;
  /** Copies of an id that was accepted before. */
  readonly duplicates: number;
  /** Counted by at least one meter. */
  readonly metered: number;
  /** Events that some meter applies to and could not count. */
  readonly rejected: number;
  /** By step, ascending, if requested; `slot` in milliseconds. */
  readonly slots: readonly { readonly slot: number; readonly accepted: number }[];
}

/**
 * Raw events for users: the debugger, lists, and aggregates by event name without a meter. Always reads
 * everything stored. A tenant may run two queries at a time, and the third waits; each query has a time limit
 * (10 s). Throws `usage_unavailable` when the store does not answer.
 */
export interface EventReader {
  history(id: EventId, copies: number): Promise<EventHistory>;
  search(search: EventSearch): Promise<EventPage>;
  /** The same rows without their count, for callers that read all of them. */
  list(search: EventSearch): Promise<readonly RawEventRow[]>;
  aggregate(question: RawUsageQuestion): Promise<RawUsageAnswer>;
  /** The canonical copies, for queries on properties that no meter keeps. */
  counted(query: CountedEvents): Promise<readonly RawEventRow[]>;
  /** The canonical copies of the given ids. */
  countedCopies(query: {
    readonly tenant_id: string;
    readonly environment_id: string;
    readonly event_ids: readonly string[];
  }): Promise<readonly RawEventRow[]>;
  counts(question: EventCountQuestion): Promise<EventCounts>;
  /** Meter versions with usage of the customers. */
  meteredVersions(question: MeteredVersions): Promise<readonly string[]>;
  /** Customers with usage of a meter version, in the byte order of their ids. */
  meteredCustomers(question: MeteredCustomers): Promise<readonly string[]>;
  /**
   * A usage query on any properties, by the rules of a meter version without an expression. Events at or
   * beyond `liveUntil` do not count.
   */
  answer(
    query: UsageQuery,
    version: MeterVersion,
    liveUntil?: WatermarkVector,
  ): Promise<UsageAnswer>;
  /** Runs another dashboard query in one of the tenant's turns. */
  inTurn<T>(tenantId: string, work: () => Promise<T>): Promise<T>;
  /**
   * The same reader, sharing its turns, for a caller that may go away: once `signal` is aborted, its statements and its
   * waiting queries reject.
   */
  until(signal: AbortSignal): EventReader;
}

export interface EventReaderOptions {
  readonly analytics?: QueryLimits;
  /** Concurrent queries of one tenant. */
  readonly turnsPerTenant?: number;
}

export function createEventReader(
  clickhouse: ClickHouse,
  { analytics = ANALYTICS, turnsPerTenant }: EventReaderOptions = {},
): EventReader {
  return readerOf(clickhouse, analytics, new TenantTurns(turnsPerTenant));
}

function readerOf(
  clickhouse: ClickHouse,
  analytics: QueryLimits,
  turns: TenantTurns,
  signal?: AbortSignal,
): EventReader {
  const options: ReadOptions = { limits: analytics };
  const guarded = <T>(tenantId: string, work: () => Promise<T>): Promise<T> =>
    turns.run(tenantId, work, signal).catch((error: unknown) => {
      throw refusedOrUnavailable(error);
    });
  return {
    history: (id, copies) => guarded(id.tenant_id, () => readHistory(clickhouse, id, copies)),
    search: (search) =>
      guarded(search.tenant_id, async () => {
        refuseManyValues(search.property_filters);
        const [events, total_count] = await Promise.all([
          readPage(clickhouse, search, options),
          readCount(clickhouse, search, options),
        ]);
        return { events, total_count };
      }),
    list: (search) => guarded(search.tenant_id, () => readPage(clickhouse, search, options)),
    counted: (query) =>
      guarded(query.tenant_id, async () =>
        (await clickhouse.rows<RawEventCells>(countedEvents(query), options)).map(rawEventRow),
      ),
    countedCopies: (query) =>
      guarded(query.tenant_id, async () =>
        (await clickhouse.rows<RawEventCells>(countedCopies(query), options)).map(rawEventRow),
      ),
    counts: (question) =>
      guarded(question.tenant_id, () => readCounts(clickhouse, question, options)),
    meteredVersions: (question) =>
      guarded(question.tenant_id, async () =>
        (await clickhouse.rows<[string]>(meteredVersions(question), options)).map(([id]) => id),
      ),
    meteredCustomers: (question) =>
      guarded(question.tenant_id, async () =>
        (await clickhouse.rows<[string]>(meteredCustomers(question), options)).map(([id]) => id),
      ),
    answer: (query, version, live_until = {}) =>
      guarded(query.tenant_id, () =>
        answerFromEvents(clickhouse, query, { ...version.spec, live_until }, analytics),
      ),
    inTurn: guarded,
    until: (gone) => readerOf(readsUntil(gone, clickhouse), analytics, turns, gone),
    aggregate: (question) =>
      guarded(question.tenant_id, () => aggregateRawEvents(clickhouse, question, analytics)),
  };
}

async function readCounts(
  clickhouse: ClickHouse,
  question: EventCountQuestion,
  options: ReadOptions,
): Promise<EventCounts> {
  const [slots, [metered], [rejected]] = await Promise.all([
    clickhouse.rows<[number, string, string]>(acceptedCounts(question), options),
    clickhouse.rows<[string]>(meteredCount(question), options),
    clickhouse.rows<[string]>(rejectedCount(question), options),
  ]);
  return {
    accepted: slots.reduce((sum, [, copies]) => sum + Number(copies), 0),
    duplicates: slots.reduce((sum, [, , behind]) => sum + Number(behind), 0),
    metered: Number(metered![0]),
    rejected: Number(rejected![0]),
    slots: slots.map(([slot, copies]) => ({ slot: slot * 1000, accepted: Number(copies) })),
  };
}

/**
 * Extra copies read beyond the page, because a replay may have written its rows twice: as many as the page ends at, up
 * to this number. Each copy costs the columns of a granule of its customer: of 10M events, a page of 50 takes 170 ms
 * with 1,000 spare copies and 110 ms with 51 of them.
 */
const SPARE_COPIES_MAX = 1_000;

async function readPage(
  clickhouse: ClickHouse,
  search: EventSearch,
  options: ReadOptions,
): Promise<RawEventRow[]> {
  const read = async (asked: EventSearch) =>
    (await clickhouse.rows<RawEventCells>(searchEvents(asked), options)).map(rawEventRow);
  if (search.sort !== 'timestamp') return await read(search);
  const end = search.offset + search.limit;
  const nth = end + Math.min(end, SPARE_COPIES_MAX);
  const [last] = await clickhouse.rows<[string]>(timeOfNth(search, nth), options);
  if (last === undefined) return await read(search);
  const time = Number(last[0]);
  const events = await read({ ...search, [search.order === 'desc' ? 'start' : 'end']: time });
  return events.length === search.limit ? events : await read(search);
}

/** Counts up to this number are exact; beyond it, the few rows that a replay wrote twice count twice. */
const EXACT_COUNT_MAX = 200_000;

async function readCount(
  clickhouse: ClickHouse,
  search: EventSearch,
  options: ReadOptions,
): Promise<number> {
  const [stored] = await clickhouse.rows<[string]>(countStoredEvents(search), options);
  if (Number(stored![0]) > EXACT_COUNT_MAX) return Number(stored![0]);
  const [exact] = await clickhouse.rows<[string]>(countEvents(search), options);
  return Number(exact![0]);
}

async function readHistory(
  clickhouse: ClickHouse,
  id: EventId,
  limit: number,
): Promise<EventHistory> {
  const options: ReadOptions = { limits: LOOK_UP };
  const [copies, counted, verdicts] = await Promise.all([
    clickhouse.rows<RawEventCells>(eventCopies(id, limit), options),
    clickhouse.rows<UsageAtEventCells>(usageAtEvent(id), options),
    clickhouse.rows<VerdictCells>(eventVerdicts(id), options),
  ]);
  const shown = copies.map(rawEventRow);
  let canonical = shown.find((copy) => copy.is_canonical) ?? null;
  if (canonical === null && shown.length === limit) {
    const [first] = await clickhouse.rows<RawEventCells>(canonicalCopy(id), options);
    canonical = first === undefined ? null : rawEventRow(first);
  }
  return {
    copies: shown,
    canonical,
    usage: counted.flatMap(([partition, position, ...cells]) =>
      partition === canonical?.partition && BigInt(position) === canonical.position
        ? [meterUsageRow(canonical, cells)]
        : [],
    ),
    rejections: verdicts
      .filter(([kind]) => kind === 'rejected')
      .map(([, partition, position, , , meter_version_id, reason, message]) => ({
        partition,
        position: BigInt(position),
        meter_version_id,
        reason,
        message,
      })),
    voids: verdicts
      .filter(
        ([kind, , , target, position]) =>
          kind === 'voided' &&
          target === canonical?.partition &&
          BigInt(position) === canonical.position,
      )
      .map(([, partition, position]) => ({ partition, position: BigInt(position) })),
  };
}
