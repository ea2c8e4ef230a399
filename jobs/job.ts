import type { Db, Fragment } from '../postgres/client.ts';
import type { JobLease } from '../postgres/tables/job-leases.ts';
import type { ClockRef, Timeline } from '../postgres/tables/test-clocks.ts';

/**
 * Scheduled work. A run is safe to repeat and to interrupt at any point: it works in pages, each page or
 * record has its own transaction, and completed work is no longer due.
 */
export interface Job<Deps> {
  readonly name: string;
  /** Five cron fields, UTC; a sixth field in front means seconds. */
  readonly cron: string;
  /**
   * For jobs whose work belongs to customers. A run then processes the customers of its timeline only: those in
   * real time, or those of one test clock (billing 22.2). An advance of a test clock runs these jobs at each due
   * instant.
   */
  readonly ofCustomers?: OfCustomers;
  /** Returns what it did, for the log. */
  run(deps: Deps, run: JobRun): Promise<JobReport>;
}

export type JobReport = Readonly<Record<string, number>>;

export type OfCustomers =
  | {
      /**
       * The instants at which work of the clock's customers is due, past and future, as a select with the one column
       * `at`.
       */
      readonly dueTimes: (db: Db, clock: ClockRef) => Fragment;
    }
  | {
      /**
       * For a job without instants of its own, which runs after the others at each of theirs: a select that has rows
       * if the job has something to look at in the time of the clock (`at`).
       */
      readonly workAt: (db: Db, clock: ClockRef, at: string) => Fragment;
    };

/** `at` is the time of the run on the database's clock, or on the test clock of its customers. */
export interface JobRun extends Timeline {
  /** Every transaction that writes must hold it (`holdJobLease`). */
  readonly lease: JobLease;
  /** Aborted when the process drains or the lease is lost: stop before the next page. */
  readonly signal: AbortSignal;
  /** Notes a record that could not be processed; the others continue. */
  readonly fail?: (of: Readonly<Record<string, string>>, error: unknown, message: string) => void;
}
