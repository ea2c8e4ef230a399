import { ALL_JOBS, type JobDeps } from '../../jobs/all-jobs.ts';
import { cancelUnpaidSubscriptions } from '../../jobs/cancel-unpaid-subscriptions.ts';
import { closeBillingPeriods } from '../../jobs/close-billing-periods.ts';
import { collectInvoices } from '../../jobs/collect-invoices.ts';
import { recomputeDraftInvoices } from '../../jobs/recompute-draft-invoices.ts';
import { reconcilePayments } from '../../jobs/reconcile-payments.ts';
import { finalizeDraftInvoices } from '../../jobs/finalize-draft-invoices.ts';
import { notifyOverdueInvoices } from '../../jobs/notify-overdue-invoices.ts';
import type { Job, JobReport } from '../../jobs/job.ts';
import { runJob } from '../../jobs/run-job.ts';
import type { WatermarkVector } from '../../domain/metering/position.ts';
import { createLogger } from '../../platform/log.ts';
import { startTestApi, type TestApi } from './api.ts';
import { catalogOf, type TestCatalog } from './catalog.ts';
import { completeBackfills, createUsageOracle, type UsageOracle } from './usage-oracle.ts';

/** The API with its jobs, over usage that the pure aggregator answers. */
export interface BillingWorld {
  readonly api: TestApi;
  readonly catalog: TestCatalog;
  readonly usage: UsageOracle;
  /** The heads that the finalizing job notes; empty: an empty log. */
  heads: WatermarkVector;
  /** Runs a job at the world's time, as one process would. */
  close(): Promise<JobReport | null>;
  finalize(): Promise<JobReport | null>;
  notifyOverdue(): Promise<JobReport | null>;
  recomputeDrafts(): Promise<JobReport | null>;
  cancelUnpaid(): Promise<JobReport | null>;
  collect(): Promise<JobReport | null>;
  reconcile(): Promise<JobReport | null>;
  /** Any job, by its name. */
  run(name: string): Promise<JobReport | null>;
  /** Advances a test clock to a time, and runs the job until that has ended. Answers the clock. */
  advance(clock: { readonly id: string }, to: string): Promise<any>;
  /** Runs the job that moves test clocks. */
  advanceClocks(): Promise<JobReport | null>;
  stop(): Promise<void>;
}

let tick = Date.parse('2000-01-01T00:00:00Z');

/**
 * One world for the tests of a file, there from the first test on. Each test begins at `start`. What earlier tests left
 * is never due again, so jobs find the subscriptions and drafts of the test only.
 */
export function billingWorldFrom(start: string): BillingWorld {
  const world = { heads: {} } as BillingWorld;
  beforeAll(() => startBillingWorld(world));
  afterAll(() => world.stop());
  beforeEach(async () => {
    world.api.clock.set(start);
    await world.api.pool`update subscriptions set due_at = null`;
    await world.api.pool`update invoices set finalize_after = null`;
  });
  return world;
}

/** Starts a world. `world` becomes it: an object that tests hold already. */
export async function startBillingWorld(
  world: Pick<BillingWorld, 'heads'> = { heads: {} },
): Promise<BillingWorld> {
  const oracle = createUsageOracle();
  const readLogHeads = async () => world.heads;
  const api = await startTestApi({ usageReader: oracle.reader, readLogHeads });
  oracle.attach(api.pool);
  const now = async () => new Date(api.clock.now()).toISOString();
  const runner = {
    pool: api.pool,
    log: createLogger(process.env['TEST_LOG'] ?? 'silent', 'test'),
    holder: 'test',
    now,
  };
  const run = async <Deps>(job: Job<Deps>, deps: Deps) => {
    await completeBackfills(api.pool);
    tick += 60_000;
    return await runJob(runner, job, deps, new Date(tick).toISOString());
  };
  const runNamed = (job: string) =>
    run(
      ALL_JOBS.find(({ name }) => name === job)!,
      {
        ...api.deps,
        readLogHeads,
        streamWaitMs: 300,
      } as JobDeps,
    );
  const advanceClocks = () => runNamed('advance-test-clocks');
  return Object.assign(world, {
    api,
    catalog: catalogOf(api),
    usage: oracle,
    close: () => run(closeBillingPeriods, api.deps),
    cancelUnpaid: () => run(cancelUnpaidSubscriptions, api.deps),
    finalize: () =>
      run(finalizeDraftInvoices, {
        ...api.deps,
        readLogHeads,
        streamWaitMs: 300,
      }),
    collect: () => run(collectInvoices, api.deps),
    reconcile: () => run(reconcilePayments, api.deps),
    notifyOverdue: () => run(notifyOverdueInvoices, api.deps),
    recomputeDrafts: () => run(recomputeDraftInvoices, api.deps),
    advanceClocks,
    run: runNamed,
    async advance(clock: { readonly id: string }, to: string) {
      const asked = await api.post(`/v1/test-clocks/${clock.id}/advance`, { to });
      if (asked.status !== 202) throw new Error(JSON.stringify(asked.body));
      await advanceClocks();
      return (await api.get(`/v1/test-clocks/${clock.id}`)).body;
    },
    stop: () => api.close(),
  });
}
