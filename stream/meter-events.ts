import type { Position } from '../domain/metering/position.ts';
import {
  ERASED_PROPERTIES,
  NO_HASH,
  type MeterUsageRow,
  type RejectedRow,
} from '../clickhouse/rows.ts';
import type { Written } from '../clickhouse/writing/encode-rows.ts';
import { uniqueHash } from '../schemas/events/unique-hash.ts';
import type { ActiveMeter } from './meter-catalog.ts';
import type { Metering } from '../domain/metering/meter-event.ts';
import { rejectedRow } from './rejected-row.ts';

/** The parts of an event that meters need, from the log or, in a backfill, from the raw copies. */
export interface MeteredEvent {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_id: string;
  readonly event_name: string;
  readonly external_customer_id: string;
  readonly timestamp: number;
  readonly source: string;
  /** JSON text of an object. */
  readonly properties: string;
  readonly ingested_at: number;
}

/** Receives the rows of one event: its usage, and the meters that could not get a value from it. */
export interface MeteredRows {
  usage(row: Written<MeterUsageRow>): void;
  rejected(row: Written<RejectedRow>, event: MeteredEvent): void;
  /**
   * The version threw instead of returning a value or a reason: set it aside and process the batch without
   * it.
   */
  failed(meterVersionId: string, error: unknown): void;
}

interface EventPlace {
  readonly partition: number;
  readonly position: Position | string;
}

/** Evaluates each of `meters` on one canonical event and passes the rows to `into` (metering 4 and 6). */
export function meterEvent(
  event: MeteredEvent,
  at: EventPlace,
  meters: readonly ActiveMeter[],
  into: MeteredRows,
): void {
  let properties: Properties | null | undefined;
  for (const { version, evaluate, needsProperties } of meters) {
    if (needsProperties) properties ??= parseProperties(event.properties);
    if (needsProperties && (properties === UNREADABLE || properties === ERASED)) {
      const reason = properties === ERASED ? 'properties_erased' : 'properties_unreadable';
      into.rejected(unmetered(event, at, version.id, reason), event);
      continue;
    }
    let metering: Metering;
    try {
      metering = evaluate({
        event_name: event.event_name,
        properties: properties ?? NO_PROPERTIES,
      });
    } catch (error) {
      into.failed(version.id, error);
      continue;
    }
    if (metering.outcome === 'unmatched') continue;
    if (metering.outcome === 'unmetered') {
      into.rejected(unmetered(event, at, version.id, metering.reason), event);
      continue;
    }
    into.usage({
      tenant_id: event.tenant_id,
      environment_id: event.environment_id,
      external_customer_id: event.external_customer_id,
      meter_version_id: version.id,
      timestamp: event.timestamp,
      partition: at.partition,
      position: at.position,
      value: metering.value,
      unique_hash: metering.unique_value === null ? NO_HASH : uniqueHash(metering.unique_value),
      dimensions: metering.dimensions,
      source: event.source,
    });
  }
}

type Properties = Readonly<Record<string, unknown>>;
const NO_PROPERTIES: Properties = Object.freeze({});
const UNREADABLE: Properties = Object.freeze({});
const ERASED: Properties = Object.freeze({});

function parseProperties(text: string): Properties {
  if (text === '' || text === '{}') return NO_PROPERTIES;
  if (text === ERASED_PROPERTIES) return ERASED;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Properties)
      : UNREADABLE;
  } catch {
    return UNREADABLE;
  }
}

const unmetered = (
  event: MeteredEvent,
  at: EventPlace,
  meter_version_id: string,
  reason: keyof typeof MESSAGES,
) => rejectedRow(event, at, { reason, message: MESSAGES[reason], meter_version_id });

/** Texts for the event debugger. */
const MESSAGES = {
  value_missing: 'The event has no value in the field that the meter reads.',
  value_not_numeric: "The value in the meter's field is not a number.",
  value_out_of_range: 'The value has more than 20 integer or 18 decimal digits.',
  expression_failed: "The meter's expression could not be evaluated for this event.",
  properties_unreadable: 'The properties are not a JSON object.',
  properties_erased:
    'The properties were erased with their customer, so nothing can be read from them.',
} as const;
