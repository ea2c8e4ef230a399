import type { ReaderProgress } from '../../domain/metering/epochs.ts';
import type { MeterVersion } from '../../domain/metering/usage.ts';
import type { Db } from '../client.ts';
import type { LogPartition } from './stream-progress.ts';

/**
 * Requests a replay of what the stream passed in the last `hours` before each partition's own last progress.
 * Needed when the machine under the usage store stopped uncleanly: the store does not force every insert to
 * disk (metering 3). How long the machine was off does not count. Call it before the stream and the sealer
 * start. Usage is unavailable until all partitions have been replayed; every bucket is compared with its
 * marks again. Returns how many partitions have something to replay.
 */
export async function requestReplay(db: Db, hours = 24): Promise<number> {
  const requested = await db`
    with reset as (update sealer set listed_since = null),
         -- A backfill may have read raw events that are gone now: it begins again after the replay.
         again as (
           update meter_versions
              set backfill_state = 'waiting', backfill_cursor = null, backfill_total = null,
                  backfill_events = 0, backfill_rejected = 0, backfill_erased = 0, verifications = 0
            where backfill_state in ('replaying', 'sealing', 'verifying'))
    insert into stream_replays as r (epoch, partition, next_offset, until_offset)
    select p.epoch, p.partition, coalesce(passed.next_offset, 0), p.next_offset
      from stream_progress p
      left join lateral (
        select next_offset from stream_progress_history h
         where h.epoch = p.epoch and h.partition = p.partition
           and h.minute <= p.updated_at - make_interval(hours => ${hours})
         order by minute desc limit 1) passed on true
     where p.next_offset > coalesce(passed.next_offset, 0)
    on conflict (epoch, partition) do update
       set next_offset = least(r.next_offset, excluded.next_offset),
           until_offset = greatest(r.until_offset, excluded.until_offset)`;
  return requested.count;
}

/** The stream's progress in every partition and the pending replays, in one statement. */
export async function readReaderProgress(db: Db): Promise<ReaderProgress> {
  const rows = await db<
    { epoch: number; partition: number; next_offset: string; replays: boolean }[]
  >`
    select p.epoch, p.partition, p.next_offset,
           exists (select from stream_replays r
                    where r.epoch = p.epoch and r.partition = p.partition) as replays
      from stream_progress p`;
  const known = new Map(rows.map((row) => [`${row.epoch}/${row.partition}`, row]));
  return {
    passed: (epoch, partition) => BigInt(known.get(`${epoch}/${partition}`)?.next_offset ?? 0),
    replays: (epoch, partition) => known.get(`${epoch}/${partition}`)?.replays ?? false,
  };
}

/** Progress of the replay of a partition, or null if none is due. */
export async function readReplay(
  db: Db,
  { epoch, partition }: LogPartition,
): Promise<{ readonly nextOffset: bigint; readonly untilOffset: bigint } | null> {
  const [row] = await db<{ next_offset: string; until_offset: string }[]>`
    select next_offset, until_offset from stream_replays
     where epoch = ${epoch} and partition = ${partition}`;
  return row === undefined
    ? null
    : { nextOffset: BigInt(row.next_offset), untilOffset: BigInt(row.until_offset) };
}

/** Records that everything below `nextOffset` has been replayed. False if the generation is over. */
export async function moveReplay(
  db: Db,
  { epoch, partition, generation }: LogPartition & { readonly generation: string },
  nextOffset: bigint,
): Promise<boolean> {
  const [row] = await db<{ owned: boolean }[]>`
    with owned as (
      select from stream_progress
       where epoch = ${epoch} and partition = ${partition} and generation = ${generation}::bigint
         for update
    ), moved as (
      update stream_replays set next_offset = ${String(nextOffset)}::bigint
       where exists (select from owned) and epoch = ${epoch} and partition = ${partition}
         and until_offset > ${String(nextOffset)}::bigint
    ), done as (
      delete from stream_replays
       where exists (select from owned) and epoch = ${epoch} and partition = ${partition}
         and until_offset <= ${String(nextOffset)}::bigint
    )
    select exists (select from owned) as owned`;
  return row!.owned;
}

/**
 * Continues the replay of a partition at `to`, without an owner. The caller fences the partition first. The
 * replay ends if nothing of its range is left.
 */
export async function skipReplay(
  db: Db,
  { epoch, partition }: LogPartition,
  to: bigint,
): Promise<void> {
  await db`
    with skipped as (
      update stream_replays set next_offset = greatest(next_offset, ${String(to)}::bigint)
       where epoch = ${epoch} and partition = ${partition} and until_offset > ${String(to)}::bigint)
    delete from stream_replays
     where epoch = ${epoch} and partition = ${partition} and until_offset <= ${String(to)}::bigint`;
}

/**
 * The versions that a replay from `fromOffset` must evaluate: all active ones, and those that ended at or
 * beyond it. Evaluating more versions than at the time is harmless: rows below `live_from` belong to the
 * backfill, rows at or beyond `live_until` do not count.
 */
export function readReplayVersions(
  db: Db,
  { epoch, partition }: LogPartition,
  fromOffset: bigint,
): Promise<MeterVersion[]> {
  return db<MeterVersion[]>`
    select id, meter_id, tenant_id, environment_id, version, spec, dimensions
      from meter_versions v
     where ended_catalog_version is null
        or exists (select from meter_live l
                    where l.meter_version_id = v.id
                      and l.epoch = ${epoch} and l.partition = ${partition}
                      and (l.live_until is null or l.live_until > ${String(fromOffset)}::bigint))
     order by id`;
}

/**
 * Whether a replay is due in any partition: the usage store may lack rows. An internal table of the stream
 * without a tenant.
 */
export async function isUsageUnderRepair(db: Db): Promise<boolean> {
  const [row] = await db<{ due: boolean }[]>`select exists (select from stream_replays) as due`;
  return row!.due;
}
