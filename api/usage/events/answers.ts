import type { RawEventRow } from '../../../clickhouse/rows.ts';
import { scalarText } from '../../../domain/json-scalar.ts';
import { isoText } from '../../../domain/time/instant.ts';
import type { Event } from '../../../schemas/event.ts';

/** An accepted copy as answered. Empty properties are answered as null. */
export function eventAnswer(row: RawEventRow): Event {
  return {
    id: row.event_id,
    external_customer_id: row.external_customer_id,
    customer_id: row.customer_id,
    event_name: row.event_name,
    timestamp: isoText(row.timestamp),
    properties: propertiesOf(row),
    source: row.source,
    environment_id: row.environment_id,
    ingested_at: isoText(row.ingested_at),
  };
}

/** The event's properties as values; null if it has none, or they cannot be parsed. */
export function propertiesOf(row: RawEventRow): Record<string, unknown> | null {
  if (row.properties === '' || row.properties === '{}') return null;
  try {
    return JSON.parse(row.properties) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** The texts that price filters compare: scalars only. */
export function textsOf(properties: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([key, value]) => {
      const text = scalarText(value);
      return text === null ? [] : [[key, text]];
    }),
  );
}
