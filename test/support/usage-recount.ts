import { packPosition } from '../../domain/metering/position.ts';
import type { MeteredUsage } from '../../domain/metering/aggregate.ts';
import { compileMeter } from '../../domain/metering/meter-event.ts';
import type { MeterVersion } from '../../domain/metering/usage.ts';
import type { Pool } from '../../postgres/client.ts';
import {
  decodeEvents,
  UndecodableRecord,
  type UsageEvent,
} from '../../schemas/events/usage-event.ts';
import type { ClickHouse } from '../../clickhouse/client.ts';

/** One counted event, as text that compares well: `customer time value dimensions unique @partition:position`. */
export type Counted = string;

interface LoggedEvent {
  readonly event: UsageEvent;
  readonly partition: number;
  readonly position: bigint;
}

/** Everything in the log, in the order of positions, read without the stream's help. */
export async function readLog(pool: Pool): Promise<LoggedEvent[]> {
  const rows = await pool<{ epoch: number; partition: number; offset: string; value: Buffer }[]>`
    select epoch, partition, "offset", value from log_records order by epoch, partition, "offset"`;
  return rows.flatMap(({ epoch, partition, offset, value }) =>
    readable(value).map((event, index) => ({
      event,
      partition,
      position: packPosition(epoch, BigInt(offset), index),
    })),
  );
}

function readable(value: Buffer): UsageEvent[] {
  try {
    return decodeEvents(value);
  } catch (error) {
    if (error instanceof UndecodableRecord) return [];
    throw error;
  }
}

/** The naive answer: of each id the first copy in the log, given to the meter one by one. Voids aside. */
export function meteredUsage(log: readonly LoggedEvent[], version: MeterVersion): MeteredUsage[] {
  const first = new Map<string, LoggedEvent>();
  for (const logged of log) {
    const { kind, tenant_id, environment_id, event_id } = logged.event;
    if (kind === 'void') continue;
    const key = JSON.stringify([tenant_id, environment_id, event_id]);
    const known = first.get(key);
    if (known === undefined || logged.position < known.position) first.set(key, logged);
  }
  const meter = compileMeter(version);
  return [...first.values()].flatMap(({ event, partition, position }) => {
    const { tenant_id, environment_id, external_customer_id, timestamp, source } = event;
    if (tenant_id !== version.tenant_id || environment_id !== version.environment_id) return [];
    const metering = meter({
      event_name: event.event_name,
      properties: JSON.parse(event.properties) as Record<string, unknown>,
    });
    if (metering.outcome !== 'metered') return [];
    const { value, unique_value } = metering;
    const dimensions = Object.fromEntries(
      version.dimensions.map((name, place) => [name, metering.dimensions[place]!]),
    );
    const key = { tenant_id, environment_id, external_customer_id, meter_version_id: version.id };
    return [{ ...key, timestamp, partition, position, value, unique_value, dimensions, source }];
  });
}

/** The same as text, to be compared with `storedUsage`. */
export function recount(log: readonly LoggedEvent[], version: MeterVersion): Counted[] {
  return meteredUsage(log, version)
    .map((row) => {
      const dimensions = version.dimensions.map((name) => row.dimensions[name]).join('|');
      return `${row.external_customer_id} ${row.timestamp} ${row.value} ${dimensions} @${row.partition}:${row.position}`;
    })
    .sort();
}

/** The rows of the usage table for a version, each once. */
export async function storedUsage(clickhouse: ClickHouse, versionId: string): Promise<Counted[]> {
  const rows = await clickhouse.rows<[string, string, string, string[], number, string]>({
    sql: `
      select external_customer_id, toUnixTimestamp64Milli(timestamp), toString(value), dimensions, partition, position
        from meter_usage_v1 final
       where meter_version_id = {version_id:String}`,
    params: { version_id: versionId },
  });
  return rows
    .map(
      ([customer, time, value, dimensions, partition, position]) =>
        `${customer} ${time} ${value} ${dimensions.join('|')} @${partition}:${position}`,
    )
    .sort();
}
