import type { JobLease } from '../postgres/tables/job-leases.ts';

/**
 * Scheduled work. A run is safe to repeat and to interrupt at any point: it works in pages, each page or
 * record has its own transaction, and completed work is no longer due.
 */
export interface Job<Deps> {
  readonly name: string;
  /** Five cron fields, UTC; a sixth field in front means seconds. */
  readonly cron: string;
  /** Returns what it did, for the log. */
  run(deps: Deps, run: JobRun): Promise<JobReport>;
}

export type JobReport = Readonly<Record<string, number>>;

export interface JobRun {
  /** Every transaction that writes must hold it (`holdJobLease`). */
  readonly lease: JobLease;
  /** Aborted when the process drains or the lease is lost: stop before the next page. */
  readonly signal: AbortSignal;
  /** Time of the run on the database's clock, ISO 8601 UTC; work is due relative to it. */
  readonly at: string;
}
