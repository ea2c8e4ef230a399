import { packPosition } from '../domain/metering/position.ts';
import { appendEvents } from '../platform/event-log/append-events.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import type { Pool } from '../postgres/client.ts';
import { fencePartition, readProgress } from '../postgres/tables/stream-progress.ts';
import { endStop, readStops, setEnd, type StreamStop } from '../postgres/tables/stream-stops.ts';
import type { UsageStore } from '../clickhouse/writing/usage-store.ts';
import type { RawEventRow } from '../clickhouse/rows.ts';
import { decodeEvents, UndecodableRecord, type UsageEvent } from '../schemas/events/usage-event.ts';

export interface NewEpochDeps {
  readonly pool: Pool;
  readonly eventLog: EventLog & { resize(partitions: number, atLeast?: number): Promise<number> };
  readonly store: UsageStore;
  readonly say: (line: string) => void;
}

const EVENTS_AT_ONCE = 1_000;

/**
 * Goes on after the log of some partitions was lost or put back to an earlier state. The epoch is closed, so
 * that none of its positions is given out again; a stopped partition ends where its progress stands; and
 * every event that the log still holds of it, or that a batch without an end has left in the usage
 * store, is appended to the new epoch. Those that were counted before are copies there and count once.
 * May be run again after a failure anywhere: the stop goes last.
 */
export async function openNewEpoch(deps: NewEpochDeps): Promise<{ epoch: number; events: number }> {
  const { pool, eventLog } = deps;
  const stops = await readStops(pool);
  await closeStoppedEpochs(deps, stops);
  const epochs = await eventLog.epochs();
  let events = 0;
  for (const stop of stops) {
    const partitions = epochs.find(({ epoch }) => epoch === stop.epoch)?.partitions;
    // From here on an owner that still works on it moves nothing.
    await fencePartition(pool, stop);
    events += await forwardRecords(deps, stop);
    if (partitions !== undefined) events += await forwardStored(deps, stop, partitions);
    await setEnd(pool, stop, BigInt(stop.next_offset));
    await endStop(pool, stop);
  }
  return { epoch: epochs.at(-1)!.epoch, events };
}

/** The open epoch is closed when a stop is in it, or when a later one was read already. */
async function closeStoppedEpochs(
  { pool, eventLog, say }: NewEpochDeps,
  stops: readonly StreamStop[],
): Promise<void> {
  const open = (await eventLog.epochs()).at(-1)!;
  const known = Math.max(...(await readProgress(pool)).map(({ epoch }) => epoch));
  if (open.epoch >= known && !stops.some(({ epoch }) => epoch === open.epoch)) return;
  const epoch = await eventLog.resize(open.partitions, known + 1);
  say(`epoch ${open.epoch} is closed, epoch ${epoch} is open`);
}

async function forwardRecords(
  { eventLog, say }: NewEpochDeps,
  { epoch, partition }: StreamStop,
): Promise<number> {
  let count = 0;
  for await (const records of eventLog.read(epoch, partition)) {
    const events = records.flatMap(({ value }) => eventsOf(value));
    count += await appendAll(eventLog, events);
  }
  say(`partition ${partition} of epoch ${epoch}: ${count} events of the log are appended again`);
  return count;
}

/** What stands in the usage store beyond the progress: appended again, then taken out. */
async function forwardStored(
  { eventLog, store, say }: NewEpochDeps,
  { epoch, partition, next_offset }: StreamStop,
  partitions: number,
): Promise<number> {
  const from = packPosition(epoch, BigInt(next_offset), 0);
  let count = 0;
  for await (const rows of store.copiesFrom(partition, from))
    count += await appendAll(eventLog, rows.map(eventOf));
  await store.removeFrom({ partition, partitions, from });
  say(`partition ${partition} of epoch ${epoch}: ${count} stored events are appended again`);
  return count;
}

async function appendAll(log: EventLog, events: readonly UsageEvent[]): Promise<number> {
  for (let at = 0; at < events.length; at += EVENTS_AT_ONCE)
    await appendEvents(log, events.slice(at, at + EVENTS_AT_ONCE));
  return events.length;
}

/** Damaged records were set aside under their old positions already, or will never be. */
function eventsOf(record: Buffer): UsageEvent[] {
  try {
    return decodeEvents(record);
  } catch (error) {
    if (error instanceof UndecodableRecord) return [];
    throw error;
  }
}

const eventOf = (row: RawEventRow): UsageEvent => ({
  kind: 'usage',
  tenant_id: row.tenant_id,
  environment_id: row.environment_id,
  event_id: row.event_id,
  event_name: row.event_name,
  external_customer_id: row.external_customer_id,
  customer_id: row.customer_id,
  timestamp: row.timestamp,
  source: row.source,
  properties: row.properties,
  ingested_at: row.ingested_at,
});
