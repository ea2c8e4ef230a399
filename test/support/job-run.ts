import type { JobRun } from '../../jobs/job.ts';

/** A run of a job at a time, in real time and without a lease, for jobs that hold none. */
export const jobRunAt = (at: string): JobRun => ({
  at,
  test_clock_id: null,
  signal: new AbortController().signal,
  lease: null as never,
  fail: () => {},
});
