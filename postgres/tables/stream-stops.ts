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

/** Notes where closed epochs end, unless it is noted already, and answers the epochs with the noted ends. */
export async function withNotedEnds(db: Db, epochs: readonly LogEpoch[]): Promise<LogEpoch[]> {
  const found = epochs.flatMap(({ epoch, ends }) =>
    (ends ?? []).map((end, partition) => ({ epoch, partition, end: String(end) })),
  );
  const rows = await db<{ epoch: number; partition: number; end_offset: string }[]>`
    with noted as (
      insert into stream_epoch_ends (epoch, partition, end_offset)
      select * from unnest(
        ${found.map(({ epoch }) => epoch)}::int[], ${found.map(({ partition }) => partition)}::int[],
        ${found.map(({ end }) => end)}::bigint[])
      on conflict do nothing
      returning epoch, partition, end_offset)
    select * from noted union select epoch, partition, end_offset from stream_epoch_ends`;
  const noted = new Map(
    rows.map((row) => [`${row.epoch}/${row.partition}`, BigInt(row.end_offset)]),
  );
  return epochs.map((epoch) => ({
    ...epoch,
    ends:
      epoch.ends?.map((end, partition) => noted.get(`${epoch.epoch}/${partition}`) ?? end) ?? null,
  }));
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
