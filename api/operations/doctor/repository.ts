import { inScope, type Db, type Scope } from '../../../postgres/client.ts';

export interface Progress {
  readonly epoch: number;
  readonly partition: number;
  readonly next_offset: string;
}

export function readProgress(db: Db): Promise<Progress[]> {
  return db<Progress[]>`select epoch, partition, next_offset from stream_progress`;
}

export interface IncompleteMeters {
  readonly waiting: number;
  readonly mismatched: number;
  readonly set_aside: number;
}

/** Meter versions that do not count, or do not count yet, of one environment or of all (null). */
export async function readIncompleteMeters(db: Db, scope: Scope | null): Promise<IncompleteMeters> {
  const own = scope === null ? db`true` : inScope(db, scope);
  const [row] = await db<IncompleteMeters[]>`
    select count(*) filter (where backfill_state not in ('mismatched', 'set_aside'))::int as waiting,
           count(*) filter (where backfill_state = 'mismatched')::int as mismatched,
           count(*) filter (where backfill_state = 'set_aside')::int as set_aside
      from meter_versions v
     where backfill_state <> 'complete' and ${own}
       -- One that is set aside has ended; it counts until the meter has a next version.
       and (ended_catalog_version is null
            or backfill_state = 'set_aside'
               and not exists (select from meter_versions n
                                where n.meter_id = v.meter_id and n.version > v.version))`;
  return row!;
}

export interface ConnectionFacts {
  readonly used: number;
  readonly allowed: number;
}

export async function readConnections(db: Db): Promise<ConnectionFacts> {
  const [row] = await db<ConnectionFacts[]>`
    select (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
           current_setting('max_connections')::int as allowed`;
  return row!;
}

/**
 * Age of the oldest stored progress, up to which records may be deleted from the log, in seconds; null if
 * there is none yet.
 */
export async function readOldestProgress(db: Db): Promise<number | null> {
  const [row] = await db<{ seconds: number | null }[]>`
    select extract(epoch from now() - min(minute))::int as seconds from stream_progress_history`;
  return row!.seconds;
}
