import type { Db } from '../client.ts';
import type { PartitionLag } from './stream-lag.ts';
import { readStops } from './stream-stops.ts';

/** Facts about the whole service. They name no tenant. */
export interface ServiceFacts {
  /** Null: the log cannot be reached. */
  readonly lag: readonly PartitionLag[] | null;
  readonly stopped_partitions: number;
  readonly repairs: RepairFacts;
  readonly jobs: readonly JobFacts[];
  readonly connections: ConnectionFacts;
}

export interface RepairFacts {
  /** Partitions whose last day is being replayed. */
  readonly replays: number;
  /** Seconds since the sealer's lease expired; null while a sealer works. */
  readonly sealer_away_seconds: number | null;
  readonly rebuild_requested: boolean;
}

export async function readRepairs(db: Db): Promise<RepairFacts> {
  const [row] = await db<RepairFacts[]>`
    select (select count(*)::int from stream_replays) as replays,
           case when leased_until < now() - interval '1 second'
                then case when leased_until = '-infinity' then 0
                          else extract(epoch from now() - leased_until)::int end end
             as sealer_away_seconds,
           rebuild_requested_at is not null as rebuild_requested
      from sealer`;
  return row!;
}

export interface JobFacts {
  readonly name: string;
  readonly last_error: string | null;
  readonly seconds_since_start: number | null;
}

export function readJobs(db: Db): Promise<JobFacts[]> {
  return db<JobFacts[]>`
    select name, last_error, extract(epoch from now() - last_started_at)::int as seconds_since_start
      from job_leases
     order by name`;
}

export interface ConnectionFacts {
  readonly used: number;
  readonly allowed: number;
}

/** Connections of all processes to Postgres, and how many it accepts. */
export async function readConnections(db: Db): Promise<ConnectionFacts> {
  const [row] = await db<ConnectionFacts[]>`
    select (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
           current_setting('max_connections')::int as allowed`;
  return row!;
}

/** Internal tables without a tenant: `db` is the service's and not a request's. */
export async function readServiceFacts(
  db: Db,
  streamLag: () => Promise<readonly PartitionLag[]>,
): Promise<ServiceFacts> {
  const [lag, stops, repairs, jobs, connections] = await Promise.all([
    // A log that cannot be reached is a finding, not a failure.
    streamLag().catch(() => null),
    readStops(db),
    readRepairs(db),
    readJobs(db),
    readConnections(db),
  ]);
  return { lag, stopped_partitions: stops.length, repairs, jobs, connections };
}
