import { packPosition } from '../../domain/metering/position.ts';
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

/** The naive answer: of each id the first copy in the log, given to the meter one by one. */
export function recount(log: readonly LoggedEvent[], version: MeterVersion): Counted[] {
  const first = new Map<string, LoggedEvent>();
  for (const logged of log) {
    if (logged.event.kind === 'void') continue;
    const key = JSON.stringify([
      logged.event.tenant_id,
      logged.event.environment_id,
      logged.event.event_id,
    ]);
    const known = first.get(key);
    if (known === undefined || logged.position < known.position) first.set(key, logged);
  }
  const meter = compileMeter(version);
  const counted: Counted[] = [];
  for (const { event, partition, position } of first.values()) {
    if (event.tenant_id !== version.tenant_id || event.environment_id !== version.environment_id)
      continue;
    const metering = meter({
      event_name: event.event_name,
      properties: JSON.parse(event.properties) as Record<string, unknown>,
    });
    if (metering.outcome !== 'metered') continue;
    const { value, dimensions } = metering;
    counted.push(
      `${event.external_customer_id} ${event.timestamp} ${value} ${dimensions.join('|')} @${partition}:${position}`,
    );
  }
  return counted.sort();
}

/** What the usage table holds for a version, every row once. */
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
