import {
  acquireJobLease,
  extendJobLease,
  JobLeaseLost,
  releaseJobLease,
  type JobLease,
} from '../postgres/tables/job-leases.ts';
import type { Pool } from '../postgres/client.ts';
import { scopedPool } from '../postgres/scoped-pool.ts';
import type { Logger } from '../platform/log.ts';
import type { Job, JobReport } from './job.ts';

export interface JobRunner {
  readonly pool: Pool;
  readonly log: Logger;
  /** Unique id of this process in the table of leases. */
  readonly holder: string;
  /** The database's clock, or a test's. */
  readonly now: () => Promise<string>;
  /** Called with the report of each run; null means it failed. */
  readonly onReport?: (job: string, report: JobReport | null) => void;
  /** Another process may take over the job after this many seconds without an extension. */
  readonly leaseSeconds?: number;
}

const LEASE_SECONDS = 60;

/**
 * Runs one job once if this process gets the lease for that tick; returns null otherwise. The lease is
 * extended while the job works. If the lease is lost, the job is aborted, and the fence refuses its
 * transactions. A failure is logged here, once, and the next tick retries.
 */
export async function runJob<Deps>(
  runner: JobRunner,
  job: Job<Deps>,
  deps: Deps,
  scheduled_at: string,
  stop?: AbortSignal,
): Promise<JobReport | null> {
  const seconds = runner.leaseSeconds ?? LEASE_SECONDS;
  const { name } = job;
  const request = { name, holder: runner.holder, scheduled_at, seconds };
  const lease = await acquireJobLease(runner.pool, request);
  if (lease === null) return null;

  const lost = new AbortController();
  const heartbeat = keepAlive(runner, lease, seconds, lost);
  const signal = stop === undefined ? lost.signal : AbortSignal.any([stop, lost.signal]);
  const log = runner.log.child({ job: name, generation: lease.generation });
  const begun = performance.now();
  let failure: string | null = null;
  try {
    const report = await job.run(named(deps, name), {
      lease,
      signal,
      at: await runner.now(),
      test_clock_id: null,
      fail: (of, error, message) => log.error({ err: error, ...of }, message),
    });
    const milliseconds = Math.round(performance.now() - begun);
    if (Object.values(report).some((count) => count > 0))
      log.info({ ...report, milliseconds }, 'job done');
    runner.onReport?.(name, report);
    return report;
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
    if (error instanceof JobLeaseLost) log.warn('job lease lost');
    else {
      log.error({ err: error }, 'job failed');
      runner.onReport?.(name, null);
    }
    return null;
  } finally {
    clearInterval(heartbeat);
    await releaseJobLease(runner.pool, lease, failure).catch((error: unknown) =>
      log.warn({ err: error }, 'job lease not released; it expires automatically'),
    );
  }
}

/** The same dependencies with a pool that writes the job's name to the audit log. */
function named<Deps>(deps: Deps, job: string): Deps {
  const pool = (deps as { readonly pool?: Pool } | null)?.pool;
  if (pool === undefined) return deps;
  return { ...deps, pool: scopedPool(pool, { scope: null, actor: { kind: 'system', job } }) };
}

function keepAlive(
  runner: JobRunner,
  lease: JobLease,
  seconds: number,
  lost: AbortController,
): NodeJS.Timeout {
  const timer = setInterval(
    () => {
      extendJobLease(runner.pool, lease, seconds).then(
        (held) => {
          if (!held) lost.abort();
        },
        // The database is unavailable: the job's own statements fail, and the fence decides.
        () => {},
      );
    },
    (seconds * 1000) / 3,
  );
  timer.unref();
  return timer;
}
