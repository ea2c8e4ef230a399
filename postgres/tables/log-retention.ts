import type { Db } from '../client.ts';

/** Hours that a record stays in the log after the stream has passed it (metering 3). */
const RETENTION_HOURS = 24;
const HISTORY_HOURS = 48;

export interface LogRetention {
  readonly partition: number;
  /** Records below may go. */
  readonly offset: bigint;
}

/**
 * Per partition of the epoch, how far the stream had come 24 hours ago: after an unclean stop of the
 * machine what came later is replayed from the log, so it must still be there. What a pending replay
 * has yet to read is kept however old it is. A partition without history keeps everything.
 */
export async function readLogRetention(db: Db, epoch: number): Promise<LogRetention[]> {
  const rows = await db<{ partition: number; keep_from: string }[]>`
    select h.partition, least(max(h.next_offset), min(r.next_offset)) as keep_from
      from stream_progress_history h
      left join stream_replays r on r.epoch = h.epoch and r.partition = h.partition
     where h.epoch = ${epoch}
       and h.minute <= now() - make_interval(hours => ${RETENTION_HOURS})
     group by h.partition
     order by h.partition`;
  return rows.map((row) => ({ partition: row.partition, offset: BigInt(row.keep_from) }));
}

/** Forgets notes of progress that no longer bound anything: the newest one before the bound stays. */
export async function forgetOldProgress(db: Db): Promise<void> {
  await db`
    delete from stream_progress_history h
     where h.minute < now() - make_interval(hours => ${HISTORY_HOURS})
       and exists (select from stream_progress_history later
                    where later.epoch = h.epoch and later.partition = h.partition
                      and later.minute > h.minute
                      and later.minute <= now() - make_interval(hours => ${RETENTION_HOURS}))`;
}
