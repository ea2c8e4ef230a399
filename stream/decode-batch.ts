import { packPosition, positionTexts, type Position } from '../domain/metering/position.ts';
import type { RejectedRow } from '../clickhouse/rows.ts';
import type { LogBatch, LogRecord } from '../platform/event-log/event-log.ts';
import { slotOf, slotScope, type Slot } from '../schemas/events/slot.ts';
import { decodeEvents, UndecodableRecord, type UsageEvent } from '../schemas/events/usage-event.ts';
import { rejectedRow } from './rejected-row.ts';

/** One copy of an event, or one void, with its position in the log. */
export class Copy {
  readonly event: UsageEvent;
  readonly slot: Slot;
  readonly #record: RecordPlace;
  readonly #index: number;

  constructor(event: UsageEvent, slot: Slot, record: RecordPlace, index: number) {
    this.event = event;
    this.slot = slot;
    this.#record = record;
    this.#index = index;
  }

  get position(): Position {
    return this.#record.first + BigInt(this.#index);
  }

  /** The position as decimal text, which is cheaper. */
  get positionText(): string {
    return this.#record.textAt(this.#index);
  }
}

/** The place of a record: the position of its first event, and the position texts of all its events. */
interface RecordPlace {
  readonly first: Position;
  readonly textAt: (index: number) => string;
}

export interface DecodedBatch {
  readonly partition: number;
  /** Copies of events in ascending position; voids are separate because they are not copies. */
  readonly copies: readonly Copy[];
  readonly voids: readonly Copy[];
  /**
   * Input that cannot be read or stored, with its position and reason (metering 4). The events around it
   * count.
   */
  readonly rejected: readonly RejectedRow[];
}

/**
 * Reads the records of a batch. No content of a record makes it throw. Bytes that are not a record, and
 * events that the store cannot hold, are set aside, the same ones at every replay.
 */
export function decodeBatch(batch: LogBatch): DecodedBatch {
  const copies: Copy[] = [];
  const voids: Copy[] = [];
  const rejected: RejectedRow[] = [];
  const scopes = new ScopeCache();
  for (const record of batch.records) {
    const first = packPosition(batch.epoch, record.offset, 0);
    const place: RecordPlace = { first, textAt: positionTexts(first) };
    const events = eventsOf(record, (reason) =>
      rejected.push(rejectedRecord(batch.partition, first, record, reason)),
    );
    for (let index = 0; index < events.length; index++) {
      const event = events[index]!;
      const reason = whyNotStorable(event);
      if (reason !== null) {
        const position = first + BigInt(index);
        rejected.push(rejectedEvent(batch.partition, position, event, reason));
        continue;
      }
      const slot = slotOf(scopes.of(event), event.event_id);
      (event.kind === 'void' ? voids : copies).push(new Copy(event, slot, place, index));
    }
  }
  return { partition: batch.partition, copies, voids, rejected };
}

function eventsOf(record: LogRecord, refuse: (reason: string) => void): readonly UsageEvent[] {
  try {
    return decodeEvents(record.value);
  } catch (error) {
    if (!(error instanceof UndecodableRecord)) throw error;
    refuse(error.message);
    return [];
  }
}

/** End of the store's time range, exclusive: 2299-01-01T00:00:00Z. */
const TIMES_END = 10_382_256_000_000;
const isStorableTime = (ms: number): boolean => Number.isInteger(ms) && ms >= 0 && ms < TIMES_END;

/** The edge refuses all of these; another producer, or a bug of the edge, might send them. */
export function whyNotStorable(event: UsageEvent): string | null {
  if (event.tenant_id === '' || event.environment_id === '') return 'without tenant or environment';
  if (event.event_id === '') return 'without event_id';
  if (!isStorableTime(event.ingested_at)) return `ingested_at ${event.ingested_at} is out of range`;
  if (event.kind === 'usage' && !isStorableTime(event.timestamp))
    return `timestamp ${event.timestamp} is out of range`;
  return null;
}

function rejectedRecord(
  partition: number,
  position: Position,
  record: LogRecord,
  message: string,
): RejectedRow {
  return {
    ...NOTHING_KNOWN,
    partition,
    position,
    reason: 'undecodable_record',
    message,
    raw: record.value.toString('base64'),
  };
}

const rejectedEvent = (
  partition: number,
  position: Position,
  event: UsageEvent,
  message: string,
): RejectedRow =>
  rejectedRow(
    event,
    { partition, position },
    {
      reason: 'malformed_event',
      message,
      raw: JSON.stringify(event),
      ingested_at: isStorableTime(event.ingested_at) ? event.ingested_at : 0,
    },
  );

const NOTHING_KNOWN = {
  tenant_id: '',
  environment_id: '',
  event_id: '',
  event_name: '',
  external_customer_id: '',
  meter_version_id: '',
  ingested_at: 0,
} as const;

/** Neighbouring events mostly share their scope; the hashed prefix of each scope is computed once. */
class ScopeCache {
  readonly #scopes = new Map<string, Map<string, string>>();
  #tenantId: string | undefined;
  #environmentId: string | undefined;
  #last = '';

  of(event: UsageEvent): string {
    if (event.tenant_id === this.#tenantId && event.environment_id === this.#environmentId)
      return this.#last;
    this.#tenantId = event.tenant_id;
    this.#environmentId = event.environment_id;
    let environments = this.#scopes.get(event.tenant_id);
    if (environments === undefined) this.#scopes.set(event.tenant_id, (environments = new Map()));
    let scope = environments.get(event.environment_id);
    if (scope === undefined) {
      scope = slotScope(event.tenant_id, event.environment_id);
      environments.set(event.environment_id, scope);
    }
    return (this.#last = scope);
  }
}
