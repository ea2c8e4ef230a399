import type { JobLease } from '../postgres/tables/job-leases.ts';

/**
 * Work that the clock starts. A run is safe to repeat and to interrupt anywhere: it works in pages,
 * each page or record is a transaction of its own, and what is done is no longer due.
 */
export interface Job<Deps> {
  readonly name: string;
  /** Five cron fields, UTC; six begin with the second. */
  readonly cron: string;
  /** Answers what it did, for the log. */
  run(deps: Deps, run: JobRun): Promise<JobReport>;
}

export type JobReport = Readonly<Record<string, number>>;

export interface JobRun {
  /** To be held by every transaction that writes (`holdJobLease`). */
  readonly lease: JobLease;
  /** Aborted when the process drains or the lease is lost: stop before the next page. */
  readonly signal: AbortSignal;
  /** The instant of the run on the database's clock, ISO 8601 UTC: what is due is due at it. */
  readonly at: string;
}
