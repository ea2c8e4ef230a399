import type { MeteredUsage } from './aggregate.ts';
import { compileMeter } from './meter-event.ts';
import type { Properties } from '../json-scalar.ts';
import type { Position } from './position.ts';
import type { MeterVersion } from './usage.ts';

/** An entry of the event log, as input of the aggregator. */
export interface LoggedEvent {
  /** `void` excludes the event with this id from the count. */
  readonly kind: 'usage' | 'void';
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_id: string;
  readonly event_name: string;
  readonly external_customer_id: string;
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly timestamp: number;
  readonly source: string;
  readonly properties: Properties;
  readonly partition: number;
  readonly position: Position;
}

/**
 * The usage of one meter version in a log, each event once (metering 1, 3). Of all copies of an id, the
 * copy with the smallest position counts, regardless of the contents of the others. A later correction in
 * the log excludes it. The order of entries does not change the rows.
 */
export function canonicalUsage(version: MeterVersion, log: readonly LoggedEvent[]): MeteredUsage[] {
  const meter = compileMeter(version);
  const usage: MeteredUsage[] = [];
  for (const event of canonicalEvents(version, log)) {
    const metering = meter(event);
    if (metering.outcome !== 'metered') continue;
    usage.push({
      tenant_id: event.tenant_id,
      environment_id: event.environment_id,
      meter_version_id: version.id,
      external_customer_id: event.external_customer_id,
      timestamp: event.timestamp,
      partition: event.partition,
      position: event.position,
      value: metering.value,
      unique_value: metering.unique_value,
      dimensions: Object.fromEntries(
        version.dimensions.map((name, index) => [name, metering.dimensions[index]!]),
      ),
      source: event.source,
    });
  }
  return usage;
}

function canonicalEvents(
  scope: { readonly tenant_id: string; readonly environment_id: string },
  log: readonly LoggedEvent[],
): LoggedEvent[] {
  const canonical = new Map<string, LoggedEvent>();
  const voided = new Map<string, Position>();
  for (const entry of log) {
    if (entry.tenant_id !== scope.tenant_id || entry.environment_id !== scope.environment_id) {
      continue;
    }
    const id = entry.event_id;
    if (entry.kind === 'void') {
      const last = voided.get(id);
      if (last === undefined || entry.position > last) voided.set(id, entry.position);
    } else {
      const known = canonical.get(id);
      if (known === undefined || entry.position < known.position) canonical.set(id, entry);
    }
  }
  return [...canonical.values()].filter((event) => {
    const correction = voided.get(event.event_id);
    return correction === undefined || correction < event.position;
  });
}
