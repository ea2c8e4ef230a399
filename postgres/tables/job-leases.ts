import type { Pool, Transaction } from '../client.ts';

/** The right to run one job until it is released, lost or expired. `generation` is the fence. */
export interface JobLease {
  readonly name: string;
  readonly generation: string;
}

export interface LeaseRequest {
  readonly name: string;
  /** The process, for people who look at the table. */
  readonly holder: string;
  /** The instant the job was scheduled for, ISO 8601 UTC. A completed tick is not run again. */
  readonly scheduled_at: string;
  /** How long others wait for a holder that does not renew the lease. */
  readonly seconds: number;
}

/** Null if another process holds the job, or has completed this tick. Times are the server's. */
export async function acquireJobLease(db: Pool, request: LeaseRequest): Promise<JobLease | null> {
  await db`insert into job_leases (name) values (${request.name}) on conflict do nothing`;
  const [row] = await db<{ generation: string }[]>`
    update job_leases
       set generation = generation + 1,
           holder = ${request.holder},
           leased_until = now() + make_interval(secs => ${request.seconds}),
           last_scheduled_at = ${request.scheduled_at},
           last_started_at = now()
     where name = ${request.name}
       and (leased_until is null or leased_until <= now())
       and (last_scheduled_at is null
            or last_scheduled_at < ${request.scheduled_at}
            -- Left by a machine whose clock was ahead: it must not hold the others back.
            or last_scheduled_at > now() + interval '1 minute')
    returning generation`;
  return row === undefined ? null : { name: request.name, generation: row.generation };
}

/** False if another process took the lease. */
export async function extendJobLease(db: Pool, lease: JobLease, seconds: number): Promise<boolean> {
  const rows = await db`
    update job_leases
       set leased_until = now() + make_interval(secs => ${seconds})
     where name = ${lease.name} and generation = ${lease.generation}
    returning 1`;
  return rows.length === 1;
}

/** Releases the lease; does nothing if another process holds it by now. */
export async function releaseJobLease(
  db: Pool,
  lease: JobLease,
  error: string | null,
): Promise<void> {
  await db`
    update job_leases
       set holder = null, leased_until = null, last_finished_at = now(), last_error = ${error}
     where name = ${lease.name} and generation = ${lease.generation}`;
}

/**
 * The fence: a transaction that calls this commits only while this process still holds the lease, however
 * long the process was paused before. No process can take over the job until the transaction has ended.
 */
export async function holdJobLease(tx: Transaction, lease: JobLease): Promise<void> {
  const rows = await tx`
    select 1 from job_leases
     where name = ${lease.name} and generation = ${lease.generation}
       for share`;
  if (rows.length === 0) throw new JobLeaseLost(lease.name);
}

/** Another process runs the job now. Not a failure of the work: that process does it. */
export class JobLeaseLost extends Error {
  constructor(name: string) {
    super(`The lease of job ${name} went to another process.`);
    this.name = 'JobLeaseLost';
  }
}
