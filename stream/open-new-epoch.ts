import { packPosition, unpackPosition } from '../domain/metering/position.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import type { Pool } from '../postgres/client.ts';
import { fencePartition, readProgress } from '../postgres/tables/stream-progress.ts';
import { noteForwarded, setEnd } from '../postgres/tables/stream-epoch-ends.ts';
import { readReplay, skipReplay } from '../postgres/tables/stream-replays.ts';
import { endStop, readStops, type StreamStop } from '../postgres/tables/stream-stops.ts';
import type { UsageStore } from '../clickhouse/writing/usage-store.ts';
import type { RawEventRow } from '../clickhouse/rows.ts';
import type { UsageEvent } from '../schemas/events/usage-event.ts';
import { STREAM_GROUP } from './consumer.ts';
import { forwardEvents, forwardRecords } from './forward-records.ts';

export interface NewEpochDeps {
  readonly pool: Pool;
  readonly eventLog: EventLog & { resize(partitions: number, atLeast?: number): Promise<number> };
  readonly store: UsageStore;
  readonly say: (line: string) => void;
}

/**
 * Continues after the log of some partitions was lost or restored to an earlier state. The epoch is closed,
 * so that none of its positions is used again. A stopped partition ends at its progress. Every event of it
 * that the log still holds, or that an unfinished batch has left in the usage store, is appended to the new
 * epoch. Events that were counted before are copies there and count once. May be run again after a failure at
 * any point: the stop is removed last.
 * A replay that has come to missing records skips them.
 */
export async function openNewEpoch(deps: NewEpochDeps): Promise<{ epoch: number; events: number }> {
  const { pool, eventLog, say } = deps;
  const stops = await readStops(pool);
  await closeStoppedEpochs(deps, stops);
  const epochs = await eventLog.epochs();
  let events = 0;
  for (const stop of stops) {
    const partitions = epochs.find(({ epoch }) => epoch === stop.epoch)?.partitions;
    // From now on, an owner that still works on it cannot move the progress.
    await fencePartition(pool, stop);
    const next = await nextOffset(eventLog, stop);
    const found = await forwardRecords(eventLog, { ...stop, from: 0n, to: next });
    say(
      `partition ${stop.partition} of epoch ${stop.epoch}: ${found} events of the log are appended again`,
    );
    events += found;
    if (partitions !== undefined) events += await forwardStored(deps, stop, partitions);
    await skipMissing(deps, stop, next);
    await setEnd(pool, stop, BigInt(stop.next_offset));
    await noteForwarded(pool, stop, next);
    await endStop(pool, stop);
  }
  return { epoch: epochs.at(-1)!.epoch, events };
}

/**
 * A pending replay that has reached missing records continues with the first record after them. Those records
 * were counted before; if the usage store lost them too, they are lost.
 */
async function skipMissing(
  { pool, eventLog, say }: NewEpochDeps,
  stop: StreamStop,
  next: bigint,
): Promise<void> {
  const replay = await readReplay(pool, stop);
  if (replay === null) return;
  const { nextOffset: from } = replay;
  const to = (await firstRecord(eventLog, stop, from)) ?? next;
  if (to === from) return;
  await skipReplay(pool, stop, to);
  const { epoch, partition } = stop;
  say(`partition ${partition} of epoch ${epoch}: records ${from} to ${to - 1n} cannot be replayed`);
}

/** Offset of the first record at or after `from`; null if there is none. */
async function firstRecord(
  log: EventLog,
  { epoch, partition }: StreamStop,
  from: bigint,
): Promise<bigint | null> {
  for await (const records of log.read(epoch, partition)) {
    const first = records.find(({ offset }) => offset >= from);
    if (first !== undefined) return first.offset;
  }
  return null;
}

async function nextOffset(log: EventLog, { epoch, partition }: StreamStop): Promise<bigint> {
  const positions = await log.positions(STREAM_GROUP);
  return positions.find((at) => at.epoch === epoch && at.partition === partition)?.next ?? 0n;
}

/** Closes the open epoch if it contains a stop, or if a later epoch was already read or stored. */
async function closeStoppedEpochs(
  { pool, eventLog, store, say }: NewEpochDeps,
  stops: readonly StreamStop[],
): Promise<void> {
  const open = (await eventLog.epochs()).at(-1)!;
  const read = (await readProgress(pool)).map(({ epoch }) => epoch);
  const stored = await Promise.all(
    stops.map(async ({ epoch, partition, next_offset }) => {
      const from = packPosition(epoch, BigInt(next_offset), 0);
      const [newest] = await store.newestCopies(partition, from, 1);
      return newest === undefined ? 0 : unpackPosition(newest.position).epoch;
    }),
  );
  const known = Math.max(0, ...read, ...stored);
  if (open.epoch >= known && !stops.some(({ epoch }) => epoch === open.epoch)) return;
  const epoch = await eventLog.resize(open.partitions, known + 1);
  say(`epoch ${open.epoch} is closed, epoch ${epoch} is open`);
}

/** Copies in the usage store beyond the progress: appended again, then deleted. */
async function forwardStored(
  { eventLog, store, say }: NewEpochDeps,
  { epoch, partition, next_offset }: StreamStop,
  partitions: number,
): Promise<number> {
  const from = packPosition(epoch, BigInt(next_offset), 0);
  let count = 0;
  for await (const rows of store.copiesFrom(partition, from))
    count += await forwardEvents(eventLog, rows.map(eventOf));
  await store.removeFrom({ partition, partitions, from });
  say(`partition ${partition} of epoch ${epoch}: ${count} stored events are appended again`);
  return count;
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
