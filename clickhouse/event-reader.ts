import type { Position } from '../domain/metering/position.ts';
import type { ClickHouse } from './client.ts';
import {
  canonicalCopy,
  eventCopies,
  eventRejections,
  eventVoids,
  type EventId,
} from './queries/event-copies.ts';
import { countEvents, searchEvents, type EventSearch } from './queries/event-search.ts';
import {
  countedEvents,
  rawEventRow,
  type CountedEvents,
  type RawEventCells,
} from './queries/raw-events.ts';
import { meterUsageRow, usageOfEvent, type MeterUsageCells } from './queries/usage-of-event.ts';
import { aggregateRawEvents, type RawUsageAnswer, type RawUsageQuestion } from './raw-usage.ts';
import type { MeterUsageRow, RawEventRow } from './rows.ts';
import { TenantTurns } from './tenant-turns.ts';
import { refusedOrUnavailable } from './usage-errors.ts';

export type { EventSearch } from './queries/event-search.ts';

/** Everything known about one event id. */
export interface EventHistory {
  /** Newest first, at most as many as asked for. */
  readonly copies: readonly RawEventRow[];
  /** The copy that counts, which may be older than those listed. */
  readonly canonical: RawEventRow | null;
  /** What meter versions counted of it. */
  readonly usage: readonly MeterUsageRow[];
  readonly rejections: readonly EventRejection[];
  /** Corrections that took it back, first one first. */
  readonly voids: readonly { readonly partition: number; readonly position: Position }[];
}

export interface EventRejection {
  readonly partition: number;
  readonly position: Position;
  /** Empty: the copy itself was rejected, not one meter's reading of it. */
  readonly meter_version_id: string;
  readonly reason: string;
  readonly message: string;
}

export interface EventPage {
  readonly events: readonly RawEventRow[];
  readonly total_count: number;
}

/**
 * Raw events for people: the debugger, lists, and aggregates by event name without a meter. Always what
 * has been stored so far. A tenant has two turns at a time and waits for the third; each question has
 * an end (10 s). Throws `usage_unavailable` when the store does not answer.
 */
export interface EventReader {
  history(id: EventId, copies: number): Promise<EventHistory>;
  search(search: EventSearch): Promise<EventPage>;
  aggregate(question: RawUsageQuestion): Promise<RawUsageAnswer>;
  /** The copies that count, for questions about properties that no meter keeps. */
  counted(query: CountedEvents): Promise<readonly RawEventRow[]>;
  /** Lets other questions of dashboards take one of the tenant's turns. */
  inTurn<T>(tenantId: string, work: () => Promise<T>): Promise<T>;
}

const TIMEOUT_MS = 10_000;
const OPTIONS = {
  timeoutMs: TIMEOUT_MS + 1_000,
  settings: {
    max_execution_time: TIMEOUT_MS / 1_000,
    timeout_overflow_mode: 'throw',
    max_memory_usage: 2_000_000_000,
    max_result_bytes: 100_000_000,
    result_overflow_mode: 'throw',
  },
};

export function createEventReader(clickhouse: ClickHouse): EventReader {
  const turns = new TenantTurns();
  const guarded = <T>(tenantId: string, work: () => Promise<T>): Promise<T> =>
    turns.run(tenantId, work).catch((error: unknown) => {
      throw refusedOrUnavailable(error);
    });
  return {
    history: (id, copies) => guarded(id.tenant_id, () => readHistory(clickhouse, id, copies)),
    search: (search) =>
      guarded(search.tenant_id, async () => {
        const [rows, [count]] = await Promise.all([
          clickhouse.rows<RawEventCells>(searchEvents(search), OPTIONS),
          clickhouse.rows<[string]>(countEvents(search), OPTIONS),
        ]);
        return { events: rows.map(rawEventRow), total_count: Number(count![0]) };
      }),
    counted: (query) =>
      guarded(query.tenant_id, async () =>
        (await clickhouse.rows<RawEventCells>(countedEvents(query), OPTIONS)).map(rawEventRow),
      ),
    inTurn: (tenantId, work) => turns.run(tenantId, work),
    aggregate: (question) =>
      guarded(question.tenant_id, () => aggregateRawEvents(clickhouse, question, OPTIONS)),
  };
}

async function readHistory(
  clickhouse: ClickHouse,
  id: EventId,
  limit: number,
): Promise<EventHistory> {
  const [copies, [first], rejections, voids] = await Promise.all([
    clickhouse.rows<RawEventCells>(eventCopies(id, limit), OPTIONS),
    clickhouse.rows<RawEventCells>(canonicalCopy(id), OPTIONS),
    clickhouse.rows<[number, string, string, string, string]>(eventRejections(id), OPTIONS),
    clickhouse.rows<[number, string, number, string]>(eventVoids(id), OPTIONS),
  ]);
  const canonical = first === undefined ? null : rawEventRow(first);
  const counted =
    canonical === null
      ? []
      : await clickhouse.rows<MeterUsageCells>(usageOfEvent(canonical), OPTIONS);
  return {
    copies: copies.map(rawEventRow),
    canonical,
    usage: counted.map((cells) => meterUsageRow(canonical!, cells)),
    rejections: rejections.map(([partition, position, meter_version_id, reason, message]) => ({
      partition,
      position: BigInt(position),
      meter_version_id,
      reason,
      message,
    })),
    voids: voids
      .filter(
        ([, , target, position]) =>
          canonical !== null &&
          target === canonical.partition &&
          BigInt(position) === canonical.position,
      )
      .map(([partition, position]) => ({ partition, position: BigInt(position) })),
  };
}
