import type { Db } from '../client.ts';

/** Hours that a record stays in the log after the stream has passed it (metering 3). */
const RETENTION_HOURS = 24;
const HISTORY_HOURS = 48;

export interface LogRetention {
  readonly partition: number;
  /** Records below it may be deleted. */
  readonly offset: bigint;
}

/**
 * Per partition of the epoch, the stream's position 24 hours before the last activity of that partition.
 * After an unclean stop of the machine later records are replayed from the log, so they must still exist,
 * however long the machine was off. Records that a pending replay has not read yet are kept at any age. A
 * partition without history keeps everything.
 */
export async function readLogRetention(db: Db, epoch: number): Promise<LogRetention[]> {
  const rows = await db<{ partition: number; keep_from: string }[]>`
    select p.partition, least(passed."offset", r.next_offset) as keep_from
      from stream_progress p
      left join stream_replays r on r.epoch = p.epoch and r.partition = p.partition
      cross join lateral (${lastSignOfLife(db)}) last
      cross join lateral (
        select case when p.updated_at <= last.known_at - ${HOURS(db)} then p.next_offset
                    else (select max(next_offset) from stream_progress_history h
                           where h.epoch = p.epoch and h.partition = p.partition
                             and h.minute <= last.known_at - ${HOURS(db)}) end as "offset") passed
     where p.epoch = ${epoch} and passed."offset" is not null
     order by p.partition`;
  return rows.map((row) => ({ partition: row.partition, offset: BigInt(row.keep_from) }));
}

/** Deletes stored progress that no longer bounds anything: the newest entry before the bound stays. */
export async function forgetOldProgress(db: Db): Promise<void> {
  await db`
    delete from stream_progress_history h
     using stream_progress p
     cross join lateral (${lastSignOfLife(db)}) last
     where p.epoch = h.epoch and p.partition = h.partition
       and h.minute < last.known_at - make_interval(hours => ${HISTORY_HOURS})
       and exists (select from stream_progress_history later
                    where later.epoch = h.epoch and later.partition = h.partition
                      and later.minute > h.minute
                      and later.minute <= last.known_at - ${HOURS(db)})`;
}

const HOURS = (db: Db) => db`make_interval(hours => ${RETENTION_HOURS})`;

/**
 * When partition `p` was last known to be at its position: its progress, or an entry of an idle partition.
 */
const lastSignOfLife = (db: Db) => db`
  select greatest(p.updated_at, max(note.minute)) as known_at
    from stream_progress_history note
   where note.epoch = p.epoch and note.partition = p.partition`;
