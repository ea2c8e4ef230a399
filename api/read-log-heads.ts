import { BillingError } from '../domain/errors.ts';
import { headsVector } from '../domain/metering/log-heads.ts';
import type { WatermarkVector } from '../domain/metering/position.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import type { Pool } from '../postgres/client.ts';
import { readStops } from '../postgres/tables/stream-stops.ts';

/**
 * Current heads of the event log: every accepted event lies below them. Refused while a partition is stopped.
 * Its log may have assigned offsets a second time, so its end does not show what is left to count, and no
 * invoice may be finalized on it.
 */
export async function readLogHeads(
  pool: Pool,
  eventLog: Pick<EventLog, 'positions'>,
  group: string,
): Promise<WatermarkVector> {
  const stops = await readStops(pool);
  if (stops.length > 0)
    throw new BillingError(
      'unavailable',
      'event_log_stopped',
      `${stops.length} partitions of the event log are stopped: \`npm run maintain -- log\` lists the ways to continue.`,
    );
  return headsVector(await eventLog.positions(group));
}
