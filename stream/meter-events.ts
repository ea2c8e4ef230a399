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

/** What the meters need of an event, whether it comes from the log or, in a backfill, from the raw copies. */
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

/** Takes the rows of one event: what counted, and by which meter no value could be had from it. */
export interface MeteredRows {
  usage(row: Written<MeterUsageRow>): void;
  rejected(row: Written<RejectedRow>): void;
  /** The version threw instead of giving a value or a reason: it is to be set aside, and the batch done without it. */
  failed(meterVersionId: string, error: unknown): void;
}

interface EventPlace {
  readonly partition: number;
  readonly position: Position | string;
}

/** Lets each of `meters` look at one canonical event and hands the rows to `into` (metering 4 and 6). */
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
      into.rejected(unmetered(event, at, version.id, reason));
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
      into.rejected(unmetered(event, at, version.id, metering.reason));
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

function unmetered(
  event: MeteredEvent,
  at: EventPlace,
  meterVersionId: string,
  reason: keyof typeof MESSAGES,
): Written<RejectedRow> {
  return {
    tenant_id: event.tenant_id,
    environment_id: event.environment_id,
    event_id: event.event_id,
    event_name: event.event_name,
    external_customer_id: event.external_customer_id,
    meter_version_id: meterVersionId,
    partition: at.partition,
    position: at.position,
    ingested_at: event.ingested_at,
    reason,
    message: MESSAGES[reason],
    raw: '',
  };
}

/** What the event debugger shows. */
const MESSAGES = {
  value_missing: 'The event has no value in the field that the meter reads.',
  value_not_numeric: "The value in the meter's field is not a number.",
  value_out_of_range: 'The value has more than 20 integer or 18 decimal digits.',
  expression_failed: "The meter's expression could not be evaluated for this event.",
  properties_unreadable: 'The properties are not a JSON object.',
  properties_erased:
    'The properties were erased with their customer, so nothing can be read from them.',
} as const;
