import type { ClickHouse } from '../../clickhouse/client.ts';
import { packPosition, type WatermarkVector } from '../../domain/metering/position.ts';
import { slotScope } from '../../schemas/events/slot.ts';
import type { Scope } from '../../postgres/client.ts';

/** The events to generate. Event number `n` is the same in every run. */
export interface Generated {
  readonly scope: Scope;
  readonly meterVersionId: string;
  readonly partitions: number;
  /** Milliseconds: time of the first event, and the length of the time span of all events. */
  readonly start: number;
  readonly span: number;
  /** Number of events in the whole span. */
  readonly events: number;
  /** Number of the event at the start. Default: 0. */
  readonly idsFrom?: number;
}

export const CUSTOMERS = 1_000;
export const EVENT_NAME = 'llm.request';
export const REGIONS = 10;
/** Distinct values of the property that no meter stores. */
export const TOKENS = 1_000;

const ROWS_PER_INSERT = 500_000;
/** A customer sends several events at a time, like bulk calls. */
const BURST = 20;

/**
 * Events `from` to `to` as rows of the three tables that the stream writes. The engine generates the
 * rows, its views write the marks. Every hundredth event is a second copy of an earlier one; one burst
 * in twenty arrives up to two days late.
 */
export async function generateEvents(
  clickhouse: ClickHouse,
  made: Generated,
  from: number,
  to: number,
  onChunk: (done: number) => void = () => {},
): Promise<void> {
  for (let at = from; at < to; at += ROWS_PER_INSERT) {
    const params = {
      ...made.scope,
      version: made.meterVersionId,
      slot_scope: slotScope(made.scope.tenant_id, made.scope.environment_id),
      partitions: made.partitions,
      start: made.start,
      span: made.span,
      events: made.events,
      ids_from: made.idsFrom ?? 0,
      from: at,
      count: Math.min(ROWS_PER_INSERT, to - at),
    };
    for (const sql of [RAW, INDEX, USAGE])
      await clickhouse.command({ sql, params }, { timeoutMs: 600_000 });
    onChunk(Math.min(to, at + ROWS_PER_INSERT));
  }
}

/** Watermarks above all positions of events below `to`. */
export function watermarksBeyond(partitions: number, to: number): WatermarkVector {
  const offset = BigInt(Math.ceil(to / EVENTS_PER_RECORD));
  return Object.fromEntries(
    Array.from({ length: partitions }, (_, partition) => [partition, packPosition(0, offset, 0)]),
  );
}

export const nextOffsetBeyond = (to: number): number => Math.ceil(to / EVENTS_PER_RECORD);

/** The id of event number `n`, computed by the engine. */
export async function eventIdOf(clickhouse: ClickHouse, n: number): Promise<string> {
  const [row] = await clickhouse.rows<[string]>({
    sql: `select ${ID} from (select {n:UInt64} as id_number)`,
    params: { n },
  });
  return row![0];
}

const EVENTS_PER_RECORD = 1_000;
const DAY_MS = 86_400_000;
const ID = 'toString(reinterpretAsUUID(sipHash128(id_number)))';

/** One row per copy. Values derived from `id_number` are equal for all copies of an id. */
const EVENTS = `
  select number,
         toUInt64(if(number % 100 = 99, number - 50, number)) as id_number,
         ${ID} as event_id,
         SHA256(concat({slot_scope:String}, toString(length(event_id)), ':', event_id)) as digest,
         reinterpretAsUInt32(reverse(substring(digest, 1, 4))) % {partitions:UInt16} as partition,
         bitShiftLeft(toUInt64(intDiv(number, ${EVENTS_PER_RECORD})), 16) + number % ${EVENTS_PER_RECORD} as position,
         intDiv(id_number, ${BURST}) as burst,
         concat('customer-', toString(sipHash64(burst) % ${CUSTOMERS})) as external_customer_id,
         if(sipHash64(burst, 'late') % 20 = 0, sipHash64(burst, 'by') % ${2 * DAY_MS}, 0) as late_ms,
         toInt64({start:Int64} + intDiv(toUInt64(id_number - {ids_from:UInt64}) * {span:UInt64}, {events:UInt64})) as sent_ms,
         fromUnixTimestamp64Milli(greatest(toInt64({start:Int64}), sent_ms - toInt64(late_ms)), 'UTC') as timestamp,
         fromUnixTimestamp64Milli(toInt64({start:Int64} + intDiv(toUInt64(intDiv(number, 100) * 100 - {ids_from:UInt64}) * {span:UInt64}, {events:UInt64})) + 250, 'UTC') as ingested_at,
         sipHash64(id_number, 'tokens') % ${TOKENS} as tokens,
         concat('region-', toString(sipHash64(id_number, 'region') % ${REGIONS})) as region,
         number = id_number as is_canonical
    from numbers({from:UInt64}, {count:UInt64})`;

const RAW = `
  insert into events_raw_v1 (tenant_id, environment_id, event_name, external_customer_id, customer_id,
         timestamp, event_id, source, properties, ingested_at, partition, position, is_canonical)
  select {tenant_id:String}, {environment_id:String}, '${EVENT_NAME}', external_customer_id, '',
         timestamp, event_id, 'sdk',
         concat('{"tokens":', toString(tokens), ',"region":"', region, '"}'),
         ingested_at, partition, position, is_canonical
    from (${EVENTS})`;

const INDEX = `
  insert into event_index_v1 (slot, position)
  select toUUID(substring(lower(hex(digest)), 1, 32)), position from (${EVENTS}) where is_canonical`;

const USAGE = `
  insert into meter_usage_v1 (tenant_id, environment_id, external_customer_id, meter_version_id,
         timestamp, partition, position, value, unique_hash, dimensions, source)
  select {tenant_id:String}, {environment_id:String}, external_customer_id, {version:String},
         timestamp, partition, position, toDecimal128(tokens, 18),
         toUUID('00000000-0000-0000-0000-000000000000'), [region], 'sdk'
    from (${EVENTS}) where is_canonical`;
