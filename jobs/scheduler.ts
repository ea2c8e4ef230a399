import cron from 'node-cron';
import type { Job } from './job.ts';
import { runJob, type JobRunner } from './run-job.ts';

export interface Scheduler {
  /** Stops ticking; resolves when running jobs have completed their page. */
  stop(): Promise<void>;
}

/**
 * Only ticks: the lease in Postgres decides whether this process does the work. Every job also runs once at
 * the start, so that overdue work does not wait for another interval.
 */
export function startScheduler<Deps>(
  runner: JobRunner,
  jobs: readonly Job<Deps>[],
  deps: Deps,
): Scheduler {
  const draining = new AbortController();
  const running = new Map<string, Promise<unknown>>();

  const tick = (job: Job<Deps>, at: Date): void => {
    if (draining.signal.aborted || running.has(job.name)) return;
    const run = runJob(runner, job, deps, at.toISOString(), draining.signal)
      // Only the lease table can fail here: the database is unavailable, and the next tick retries.
      .catch((error: unknown) => runner.log.warn({ err: error, job: job.name }, 'job not started'))
      .finally(() => running.delete(job.name));
    running.set(job.name, run);
  };

  const tasks = jobs.map((job) =>
    cron.schedule(job.cron, (context) => tick(job, context.date), {
      timezone: 'UTC',
      suppressMissedWarning: true,
    }),
  );
  for (const job of jobs) tick(job, new Date());

  return {
    async stop() {
      draining.abort();
      for (const task of tasks) await task.destroy();
      await Promise.all(running.values());
    },
  };
}
