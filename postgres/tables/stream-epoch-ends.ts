import type { Db } from '../client.ts';
import type { LogPartition } from './stream-progress.ts';

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

/** Sets where the stream stops reading a partition of an epoch, even if the log has records beyond. */
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
