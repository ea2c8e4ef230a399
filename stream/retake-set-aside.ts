import { appendEvents } from '../platform/event-log/append-events.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import type { SetAside, SetAsideStore } from '../clickhouse/writing/set-aside.ts';
import { decodeEvents, UndecodableRecord, type UsageEvent } from '../schemas/events/usage-event.ts';
import { whyNotStorable } from './decode-batch.ts';

export interface RetakeDeps {
  readonly eventLog: EventLog;
  readonly setAside: SetAsideStore;
  /** Reports what is still unreadable, and why. */
  readonly say: (line: string) => void;
}

/**
 * Appends records and events that were set aside to the log, if this version can read them. They are counted
 * under new positions. They were not indexed before, so an event counts once. If its sender has sent it again
 * in the meantime, this one is an inert copy.
 */
export async function retakeSetAside(deps: RetakeDeps): Promise<{ taken: number; left: number }> {
  const { eventLog, setAside, say } = deps;
  const totals = { taken: 0, left: 0 };
  for await (const page of setAside.pages()) {
    const taken: SetAside[] = [];
    for (const row of page) {
      const events = eventsOf(row);
      if (typeof events === 'string') {
        totals.left++;
        say(`partition ${row.partition} position ${row.position}: ${events}`);
        continue;
      }
      await appendEvents(eventLog, events);
      taken.push(row);
    }
    if (taken.length > 0) await setAside.remove(taken);
    totals.taken += taken.length;
  }
  return totals;
}

/** The events, or the reason why they cannot be ingested. */
function eventsOf({ reason, raw, message }: SetAside): UsageEvent[] | string {
  if (raw === '') return 'its content was erased';
  if (reason === 'undecodable_record') {
    try {
      return decodeEvents(Buffer.from(raw, 'base64'));
    } catch (error) {
      if (error instanceof UndecodableRecord) return error.message;
      throw error;
    }
  }
  const event = JSON.parse(raw) as UsageEvent;
  return whyNotStorable(event) === null ? [event] : message;
}
