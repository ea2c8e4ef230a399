import { holdJobLease, acquireJobLease, JobLeaseLost } from '../../postgres/tables/job-leases.ts';
import { createLogger } from '../../platform/log.ts';
import type { Job } from '../../jobs/job.ts';
import { runJob, type JobRunner } from '../../jobs/run-job.ts';
import { startScheduler } from '../../jobs/scheduler.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(20);
});
afterAll(() => database.drop());
beforeEach(() => database.pool`truncate job_leases`);

const runner = (holder: string): JobRunner => ({
  pool: database.pool,
  log: createLogger('silent', 'test'),
  holder,
  now: async () => '2026-03-01T00:00:00.000Z',
});
const tick = (minute: number) => `2001-03-01T00:${String(minute).padStart(2, '0')}:00.000Z`;

/** A job that ends when told to, and counts its runs. */
function heldJob() {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  let runs = 0;
  const job: Job<null> = {
    name: 'held',
    cron: '* * * * *',
    async run() {
      runs += 1;
      await held;
      return { runs };
    },
  };
  return { job, release, runs: () => runs };
}

describe('a job runs in one process at a time', () => {
  test('20 processes hear the same tick, one runs', async () => {
    const { job, release, runs } = heldJob();
    const all = Array.from({ length: 20 }, (_, index) =>
      runJob(runner(`p${index}`), job, null, tick(0)),
    );
    const losers = await Promise.race([
      Promise.all(all),
      new Promise((resolve) => {
        const poll = () => (runs() === 1 ? resolve('one runs') : setImmediate(poll));
        poll();
      }),
    ]);
    expect(losers).toBe('one runs');
    release();
    const reports = await Promise.all(all);
    expect(reports.filter((report) => report !== null)).toEqual([{ runs: 1 }]);
  });

  test('a tick that was served is not served again; the next one is', async () => {
    const { job, release, runs } = heldJob();
    release();
    expect(await runJob(runner('a'), job, null, tick(1))).toEqual({ runs: 1 });
    expect(await runJob(runner('b'), job, null, tick(1))).toBeNull();
    expect(await runJob(runner('b'), job, null, tick(2))).toEqual({ runs: 2 });
    expect(runs()).toBe(2);
  });

  test('a lease that ran out is taken over, and the paused holder can commit nothing any more', async () => {
    const lease = (await acquireJobLease(database.pool, {
      name: 'held', holder: 'paused', scheduled_at: tick(0), seconds: 60,
    }))!; // prettier-ignore
    await database.pool`update job_leases set leased_until = now() - interval '1 second'`;
    await database.pool.begin((tx) => holdJobLease(tx, lease)); // late, but nobody else has it

    const { job, release } = heldJob();
    release();
    expect(await runJob(runner('next'), job, null, tick(1))).toEqual({ runs: 1 });
    await expect(
      database.pool.begin(async (tx) => {
        await tx`create table written_by_the_paused_holder ()`;
        await holdJobLease(tx, lease);
      }),
    ).rejects.toThrow(JobLeaseLost);
    const [table] = await database.pool`select to_regclass('written_by_the_paused_holder') as name`;
    expect(table!['name']).toBeNull();
  });

  test('no process takes the job over while a transaction has locked its lease', async () => {
    const lease = (await acquireJobLease(database.pool, {
      name: 'held', holder: 'a', scheduled_at: tick(0), seconds: 0,
    }))!; // prettier-ignore
    const order: string[] = [];
    const { job, release } = heldJob();
    release();
    let next: Promise<unknown> = Promise.resolve();
    await database.pool.begin(async (tx) => {
      await holdJobLease(tx, lease);
      next = runJob(runner('b'), job, null, tick(1)).then(() => order.push('taken over'));
      await tx`select pg_sleep(0.1)`;
      order.push('written');
    });
    await next;
    expect(order).toEqual(['written', 'taken over']);
  });

  test('a failed run is noted, frees the lease, and the next tick tries again', async () => {
    const job: Job<null> = {
      name: 'failing',
      cron: '* * * * *',
      run: () => Promise.reject(new Error('store is away')),
    };
    expect(await runJob(runner('a'), job, null, tick(0))).toBeNull();
    const [row] = await database.pool`select * from job_leases where name = 'failing'`;
    expect(row).toMatchObject({ last_error: 'store is away', leased_until: null, generation: '1' });
    await runJob(runner('b'), job, null, tick(1));
    const [again] = await database.pool`select generation from job_leases where name = 'failing'`;
    expect(again!['generation']).toBe('2');
  });
});

describe('scheduler', () => {
  test('runs every job at the start; stop signals the running one and waits for it', async () => {
    let stopped = false;
    let started = () => {};
    const begun = new Promise<void>((resolve) => (started = resolve));
    const job: Job<null> = {
      name: 'long',
      cron: '0 0 1 1 *',
      async run(_, { signal }) {
        started();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        stopped = true;
        return {};
      },
    };
    const scheduler = startScheduler(runner('a'), [job], null);
    await begun;
    await scheduler.stop();
    expect(stopped).toBe(true);
  });
});
