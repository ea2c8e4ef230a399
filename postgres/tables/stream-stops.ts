import type { LogEpoch } from '../../domain/metering/epochs.ts';
import type { LogFault } from '../../domain/metering/log-identity.ts';
import type { Db } from '../client.ts';
import type { LogPartition } from './stream-progress.ts';

/** A partition that is not read any further until a person has chosen how to go on. */
export interface StreamStop extends LogPartition {
  readonly fault: LogFault;
  /** Its progress: everything below has been processed. */
  readonly next_offset: string;
  readonly stopped_at: string;
}

/** Stops a partition; a stop that stands keeps its reason. */
export async function noteStop(
  db: Db,
  { epoch, partition }: LogPartition,
  fault: LogFault,
): Promise<void> {
  await db`
    insert into stream_stops (epoch, partition, fault, next_offset)
    select ${epoch}, ${partition}, ${fault}, coalesce(max(next_offset), 0)
      from stream_progress where epoch = ${epoch} and partition = ${partition}
    on conflict do nothing`;
}

export function readStops(db: Db): Promise<StreamStop[]> {
  return db<StreamStop[]>`
    select epoch, partition, fault, next_offset, stopped_at from stream_stops
     order by epoch, partition`;
}

/** Lets the stream look at the partition again. Its next assignment checks the log as if nothing had been found. */
export async function endStop(db: Db, { epoch, partition }: LogPartition): Promise<void> {
  await db`delete from stream_stops where epoch = ${epoch} and partition = ${partition}`;
}

/**
 * The epochs with the ends that were noted, null where none was. The log's own word does not count before
 * the stream has compared the partition: it may have lost its tail, and got other records, before it was
 * closed.
 */
export async function withNotedEnds(db: Db, epochs: readonly LogEpoch[]): Promise<LogEpoch[]> {
  const noted = await readEnds(db);
  return epochs.map(({ epoch, partitions, ends }) => ({
    epoch,
    partitions,
    ends: ends?.map((_, partition) => noted.get(`${epoch}/${partition}`) ?? null) ?? null,
  }));
}

/** Notes where a partition of a closed epoch ends; an end that is noted stays. */
export async function noteEnd(
  db: Db,
  { epoch, partition }: LogPartition,
  end: bigint,
): Promise<void> {
  await db`
    insert into stream_epoch_ends (epoch, partition, end_offset)
    values (${epoch}, ${partition}, ${String(end)}::bigint)
    on conflict do nothing`;
}

/** Noted ends of closed epochs by `epoch/partition`. */
export async function readEnds(db: Db): Promise<ReadonlyMap<string, bigint>> {
  const rows = await db<{ epoch: number; partition: number; end_offset: string }[]>`
    select epoch, partition, end_offset from stream_epoch_ends`;
  return new Map(rows.map((row) => [`${row.epoch}/${row.partition}`, BigInt(row.end_offset)]));
}

/** Where the stream stops reading a partition of an epoch, whatever the log holds beyond. */
export async function setEnd(
  db: Db,
  { epoch, partition }: LogPartition,
  end: bigint,
): Promise<void> {
  await db`
    insert into stream_epoch_ends (epoch, partition, end_offset)
    values (${epoch}, ${partition}, ${String(end)}::bigint)
    on conflict (epoch, partition) do update set end_offset = excluded.end_offset`;
}
