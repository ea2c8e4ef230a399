import { isoTime, type Clock } from '../../../platform/clock.ts';
import { appendEvents } from '../../../platform/event-log/append-events.ts';
import type { EventLog } from '../../../platform/event-log/event-log.ts';
import type { Pool } from '../../../postgres/client.ts';
import type { Correction } from '../../../schemas/correction.ts';
import type { UsageEvent } from '../../../schemas/events/usage-event.ts';
import { lockUnlogged, noteLogged } from './repository.ts';

export interface LogCorrectionsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly openEventLog: () => Promise<EventLog>;
}

const PER_TURN = 500;

/**
 * Appends stored corrections to the event log and returns their number. Called after each correction's
 * commit, and by a job for corrections whose process died in between. A crash between the append and the
 * update of the row appends a void twice, which voids once.
 */
export async function logCorrections(
  { pool, clock, openEventLog }: LogCorrectionsDeps,
  signal?: AbortSignal,
): Promise<number> {
  let logged = 0;
  while (signal?.aborted !== true) {
    const count = await pool.begin(async (tx) => {
      const corrections = await lockUnlogged(tx, PER_TURN);
      if (corrections.length === 0) return 0;
      await appendEvents(await openEventLog(), corrections.map(voidOf));
      await noteLogged(tx, corrections, isoTime(clock.now()));
      return corrections.length;
    });
    logged += count;
    if (count < PER_TURN) break;
  }
  return logged;
}

const voidOf = (correction: Correction): UsageEvent => ({
  kind: 'void',
  tenant_id: correction.tenant_id,
  environment_id: correction.environment_id,
  event_id: correction.event_id,
  event_name: '',
  external_customer_id: '',
  customer_id: '',
  timestamp: 0,
  source: '',
  properties: '{}',
  ingested_at: Date.parse(correction.created_at),
});
