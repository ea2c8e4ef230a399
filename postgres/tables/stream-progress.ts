import type { LogFault } from '../../domain/metering/log-identity.ts';
import type { Db } from '../client.ts';

/** One partition of one epoch of the event log. */
export interface LogPartition {
  readonly epoch: number;
  readonly partition: number;
}

export interface Assignment extends LogPartition {
  /** Fences every earlier owner: progress with a smaller generation is refused. */
  readonly generation: string;
  readonly nextOffset: bigint;
  /** CRC-32 of the record before `nextOffset`; null means unknown. */
  readonly lastCrc: number | null;
  /** Recorded end of a closed epoch for this partition; null if not recorded. */
  readonly end: bigint | null;
  /** Why the partition is stopped; null if it is not. */
  readonly stop: LogFault | null;
  /** Whether records of a later epoch have been processed. */
  readonly laterEpochRead: boolean;
  /** The newest catalog with which the partition was evaluated. */
  readonly catalogVersion: number;
  /**
   * The newest catalog with which any partition of any epoch was evaluated: an older one must not be used. A
   * backfill begins when every partition of the open epoch has seen its version, so the partitions of the
   * next epoch must see it from their first record on.
   */
  readonly catalogFloor: number;
}

/** Takes over a partition: the next generation, and its current progress. */
export async function takePartition(
  db: Db,
  { epoch, partition }: LogPartition,
): Promise<Assignment> {
  const [row] = await db<AssignmentRow[]>`
    insert into stream_progress as p (epoch, partition, generation, next_offset, catalog_version)
    values (${epoch}, ${partition}, 1, 0, 0)
    on conflict (epoch, partition) do update set generation = p.generation + 1
    returning generation, next_offset, catalog_version, last_crc,
              (select end_offset from stream_epoch_ends e
                where e.epoch = p.epoch and e.partition = p.partition) as end_offset,
              (select fault from stream_stops s
                where s.epoch = p.epoch and s.partition = p.partition) as stop,
              exists (select from stream_progress later
                       where later.epoch > p.epoch and later.next_offset > 0) as later_epoch_read,
              (select coalesce(max(catalog_version), 0) from stream_progress) as catalog_floor`;
  return {
    epoch,
    partition,
    generation: row!.generation,
    nextOffset: BigInt(row!.next_offset),
    lastCrc: row!.last_crc === null ? null : Number(row!.last_crc),
    end: row!.end_offset === null ? null : BigInt(row!.end_offset),
    stop: row!.stop,
    laterEpochRead: row!.later_epoch_read,
    catalogVersion: Number(row!.catalog_version),
    catalogFloor: Number(row!.catalog_floor),
  };
}

interface AssignmentRow {
  readonly generation: string;
  readonly next_offset: string;
  readonly last_crc: string | null;
  readonly end_offset: string | null;
  readonly stop: LogFault | null;
  readonly later_epoch_read: boolean;
  readonly catalog_version: string;
  readonly catalog_floor: string;
}

export interface ProgressMove extends LogPartition {
  readonly generation: string;
  /** Start of the batch; equals `to` when an idle partition only records a new catalog. */
  readonly from: bigint;
  readonly to: bigint;
  /** CRC-32 of the record before `to`; omitted if nothing was read. */
  readonly lastCrc?: number;
  /** The catalog with which the batch was evaluated. */
  readonly catalogVersion: number;
}

/**
 * Moves the watermarks of several partitions. For each that saw a newer catalog it sets `live_from` of the
 * versions used for the first time and `live_until` of those that ended, to the batch's start (metering 4,
 * step 5). One statement: all changes of a partition are applied, or none. Returns the partitions that moved.
 * Those that another owner has taken over are refused and left out.
 */
export async function moveProgress(db: Db, moves: readonly ProgressMove[]): Promise<number[]> {
  const rows = await db<{ partition: number }[]>`
    with moves as (
      select * from unnest(
        ${moves.map((move) => move.epoch)}::int[], ${moves.map((move) => move.partition)}::int[],
        ${moves.map((move) => move.generation)}::bigint[],
        ${moves.map((move) => String(move.from))}::bigint[],
        ${moves.map((move) => String(move.to))}::bigint[],
        ${moves.map((move) => move.catalogVersion)}::bigint[],
        ${moves.map((move) => move.lastCrc ?? null)}::bigint[]
      ) as m (epoch, partition, generation, from_offset, to_offset, catalog_version, last_crc)
    ), owned as (
      select m.*, p.catalog_version as evaluated_with, p.updated_at as moved_at
        from stream_progress p
        join moves m on m.epoch = p.epoch and m.partition = p.partition
                    and m.generation = p.generation and m.from_offset = p.next_offset
         for update of p
    ), moved as (
      update stream_progress p
         set next_offset = o.to_offset,
             catalog_version = greatest(p.catalog_version, o.catalog_version),
             last_crc = coalesce(o.last_crc, p.last_crc),
             updated_at = now()
        from owned o
       where p.epoch = o.epoch and p.partition = o.partition
      returning o.*
    ), started as (
      -- A version that began and ended between two looks at the catalog still gets its bounds.
      insert into meter_live (meter_version_id, epoch, partition, live_from, live_until)
      select v.id, m.epoch, m.partition, m.from_offset,
             case when v.ended_catalog_version <= m.catalog_version then m.from_offset end
        from moved m
        join meter_versions v
          on v.created_catalog_version > m.evaluated_with
         and v.created_catalog_version <= m.catalog_version
      on conflict do nothing
    ), ended as (
      update meter_live l
         set live_until = m.from_offset
        from moved m
        join meter_versions v
          on v.ended_catalog_version > m.evaluated_with
         and v.ended_catalog_version <= m.catalog_version
       where l.meter_version_id = v.id and l.epoch = m.epoch and l.partition = m.partition
         and l.live_until is null
    ), noted as (
      insert into stream_progress_history (epoch, partition, minute, next_offset)
      select epoch, partition, date_trunc('minute', now()), from_offset
        from moved
       where moved_at < date_trunc('minute', now())
      on conflict do nothing
    )
    select partition from moved order by partition`;
  return rows.map((row) => row.partition);
}

/** Position of every partition of every epoch. */
export async function readProgress(
  db: Db,
): Promise<(LogPartition & { readonly nextOffset: bigint })[]> {
  const rows = await db<{ epoch: number; partition: number; next_offset: string }[]>`
    select epoch, partition, next_offset from stream_progress order by epoch, partition`;
  return rows.map(({ epoch, partition, next_offset }) => ({
    epoch,
    partition,
    nextOffset: BigInt(next_offset),
  }));
}

/**
 * Records the position of partitions that have not moved for a while, so that the retention day of their
 * records passes too. Call it while the stream and the usage store work: time in which one of them was off
 * does not count. Stops a day after the partition's last progress.
 */
export async function noteIdleProgress(db: Db): Promise<void> {
  await db`
    insert into stream_progress_history (epoch, partition, minute, next_offset)
    select p.epoch, p.partition, date_trunc('minute', now()), p.next_offset
      from stream_progress p
     where p.updated_at < date_trunc('minute', now())
       and not exists (select from stream_progress_history h
                        where h.epoch = p.epoch and h.partition = p.partition
                          and h.minute >= p.updated_at + interval '25 hours')
    on conflict do nothing`;
}

/** The partition's current owner can no longer move its progress. */
export async function fencePartition(db: Db, { epoch, partition }: LogPartition): Promise<void> {
  await db`
    update stream_progress set generation = generation + 1
     where epoch = ${epoch} and partition = ${partition}`;
}
