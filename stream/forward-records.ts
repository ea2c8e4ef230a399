import type { LogEpoch } from '../domain/metering/epochs.ts';
import { appendEvents } from '../platform/event-log/append-events.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import type { LogPartition } from '../postgres/tables/stream-progress.ts';
import type { NotedEnd } from '../postgres/tables/stream-epoch-ends.ts';
import { decodeEvents, UndecodableRecord, type UsageEvent } from '../schemas/events/usage-event.ts';

const EVENTS_AT_ONCE = 1_000;

/** Records of a closed partition beyond its recorded end that are not forwarded yet. */
export interface LateRecords extends LogPartition {
  readonly from: bigint;
  readonly to: bigint;
}

/**
 * A broker may accept records for a moment after their epoch was closed. They were acknowledged, and the next
 * epoch may already have been read, so they must not count under their old positions (metering 3).
 */
export function lateRecords(
  epochs: readonly LogEpoch[],
  noted: ReadonlyMap<string, NotedEnd>,
): LateRecords[] {
  return epochs.flatMap(({ epoch, ends }) =>
    (ends ?? []).flatMap((to, partition) => {
      const known = noted.get(`${epoch}/${partition}`);
      if (known === undefined || to === null) return [];
      const from = known.end > known.forwarded ? known.end : known.forwarded;
      return to > from ? [{ epoch, partition, from, to }] : [];
    }),
  );
}

/** Appends the events of kept records to the open epoch, where they get new positions. Returns how many. */
export async function forwardRecords(
  log: EventLog,
  { epoch, partition, from, to }: LateRecords,
): Promise<number> {
  let count = 0;
  for await (const records of log.read(epoch, partition))
    for (const { offset, value } of records) {
      if (offset < from || offset >= to) continue;
      count += await forwardEvents(log, eventsOf(value));
    }
  return count;
}

export async function forwardEvents(log: EventLog, events: readonly UsageEvent[]): Promise<number> {
  for (let at = 0; at < events.length; at += EVENTS_AT_ONCE)
    await appendEvents(log, events.slice(at, at + EVENTS_AT_ONCE));
  return events.length;
}

/** A damaged record contains no readable event. */
function eventsOf(record: Buffer): UsageEvent[] {
  try {
    return decodeEvents(record);
  } catch (error) {
    if (error instanceof UndecodableRecord) return [];
    throw error;
  }
}
