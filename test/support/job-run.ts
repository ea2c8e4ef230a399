import type { Job, JobReport, JobRun } from '../../jobs/job.ts';
import { runJob } from '../../jobs/run-job.ts';
import type { TestApi } from './api.ts';

/** A run of a job at a time, in real time, for jobs that hold no lease in their transactions. */
export const jobRunAt = (at: string): JobRun => ({
  at,
  test_clock_id: null,
  signal: new AbortController().signal,
  lease: { name: 'test', generation: '0' },
  fail: () => {},
});

let ticks = Date.parse('2000-01-01T00:00:00Z');

/**
 * One run of a job at the time of the test's clock, as one process would. Null if it lost its lease or another
 * process has it.
 */
export async function runAtNow<Deps>(
  api: TestApi,
  job: Job<Deps>,
  deps: Deps,
  stop?: AbortSignal,
): Promise<JobReport | null> {
  const now = async () => new Date(api.clock.now()).toISOString();
  const runner = { pool: api.pool, log: api.deps.log, holder: 'test', now };
  ticks += 60_000;
  return await runJob(runner, job, deps, new Date(ticks).toISOString(), stop);
}
