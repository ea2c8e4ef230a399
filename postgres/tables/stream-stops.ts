import type { LogFault } from '../../domain/metering/log-identity.ts';
import type { Db } from '../client.ts';
import type { LogPartition } from './stream-progress.ts';

/** A partition that is not read any further until a person decides how to continue. */
export interface StreamStop extends LogPartition {
  readonly fault: LogFault;
  /** Its progress: everything below has been processed. */
  readonly next_offset: string;
  readonly stopped_at: string;
}

/** Stops a partition; an existing stop keeps its reason. */
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

/** Ends a stop. The stream's next assignment of the partition checks the log again from scratch. */
export async function endStop(db: Db, { epoch, partition }: LogPartition): Promise<void> {
  await db`delete from stream_stops where epoch = ${epoch} and partition = ${partition}`;
}

/** The end of a partition of a closed epoch, and the offset up to which records beyond it were forwarded. */
export interface NotedEnd {
  readonly end: bigint;
  readonly forwarded: bigint;
}

/** Recorded ends of closed epochs by `epoch/partition`. */
export async function readEnds(db: Db): Promise<ReadonlyMap<string, NotedEnd>> {
  const rows = await db<
    { epoch: number; partition: number; end_offset: string; forwarded_offset: string }[]
  >`
    select epoch, partition, end_offset, forwarded_offset from stream_epoch_ends`;
  return new Map(
    rows.map((row) => [
      `${row.epoch}/${row.partition}`,
      { end: BigInt(row.end_offset), forwarded: BigInt(row.forwarded_offset) },
    ]),
  );
}

/** Records the end of a partition of a closed epoch; an existing end stays. */
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

/** Sets where the stream stops reading a partition of an epoch, whatever the log contains beyond. */
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

/** Records of the closed partition below `offset` were appended again to a later epoch. */
export async function noteForwarded(
  db: Db,
  { epoch, partition }: LogPartition,
  offset: bigint,
): Promise<void> {
  await db`
    update stream_epoch_ends
       set forwarded_offset = greatest(forwarded_offset, ${String(offset)}::bigint)
     where epoch = ${epoch} and partition = ${partition}`;
}
