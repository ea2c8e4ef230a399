import cron from 'node-cron';
import type { Job } from './job.ts';
import { runJob, type JobRunner } from './run-job.ts';

export interface Scheduler {
  /** No further ticks; resolves when running jobs have ended their page. */
  stop(): Promise<void>;
}

/**
 * Ticks and nothing else: whether this process does the work is decided by the lease in Postgres.
 * Every job also runs once at the start, so that what became due while nothing ran is not late by
 * another interval.
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
      // Only the lease table itself can fail here: the database is away, and the next tick asks again.
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
