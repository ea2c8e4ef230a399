import { createInterface } from 'node:readline';
import { checkoutGates } from '../../api/billing/checkout/checkout-gates.ts';
import { cancelSubscription } from '../../api/billing/subscriptions/changes/cancel-subscription.ts';
import type { BillingDeps } from '../../api/deps.ts';
import { createPeriodInvoice } from '../../api/billing/invoices/create-invoice.ts';
import { computeInvoice, finalizeInvoice } from '../../api/billing/invoices/recompute.ts';
import { voidInvoice } from '../../api/billing/invoices/void-invoice.ts';
import { createSubscription } from '../../api/billing/subscriptions/create-subscription.ts';
import type { UsageReader } from '../../domain/metering/usage.ts';
import { ALL_JOBS, type JobDeps } from '../../jobs/all-jobs.ts';
import { closeBillingPeriods } from '../../jobs/close-billing-periods.ts';
import { collectInvoices } from '../../jobs/collect-invoices.ts';
import { finalizeDraftInvoices } from '../../jobs/finalize-draft-invoices.ts';
import type { Job, JobReport } from '../../jobs/job.ts';
import { onboardCustomers } from '../../jobs/onboard-customers.ts';
import { runJob } from '../../jobs/run-job.ts';
import { syncPlanPrices } from '../../jobs/sync-plan-prices.ts';
import { armFailpoints } from '../../platform/failpoint.ts';
import { doOnce } from '../../platform/http/command-once.ts';
import { createIds } from '../../platform/ids.ts';
import { createLogger } from '../../platform/log.ts';
import { createSecretBox } from '../../platform/secret-box.ts';
import { connectPostgres, type Pool } from '../../postgres/client.ts';

/** What another process is to do: one command or one run of a job, and where it is to be killed. */
export interface ChildTask {
  readonly url: string;
  /** The time of both the process and the database. */
  readonly at: string;
  readonly failpoints: string;
  /** With it the command is done once, as a request with an Idempotency-Key is. */
  readonly key?: string;
  readonly caller: {
    readonly scope: { tenant_id: string; environment_id: string };
    readonly user_id: string;
  };
  readonly action:
    | { readonly name: 'create'; readonly body: object }
    | { readonly name: 'invoice'; readonly body: object }
    | { readonly name: 'compute' | 'finalize' | 'void' | 'cancel'; readonly id: string }
    | {
        readonly name:
          'close-job' | 'finalize-job' | 'sync-job' | 'collect-job' | 'clock-job' | 'onboard-job';
        readonly tick: string;
      };
}

/** Every query has the answer 7: the tests are about how often it is billed, not about the quantity. */
const sevenOfEverything: UsageReader = {
  async read(queries) {
    const row = { group: [], window_start: null, quantity: '7', event_count: 1 };
    return {
      watermarks: {},
      answers: new Map(queries.map(({ key }) => [key, { key, rows: [row] }])),
    };
  },
};

let task: ChildTask;
let pool: Pool | undefined;
let deps: BillingDeps;

/** One task per line of the input; its answer is one line of the output. */
for await (const line of createInterface(process.stdin)) {
  task = JSON.parse(line) as ChildTask;
  armFailpoints(task.failpoints);
  pool ??= connectPostgres({
    url: task.url,
    applicationName: 'billing-child',
    maxConnections: 4,
  });
  deps = depsAt(pool, task.at);
  process.stdout.write(`${JSON.stringify((await answer(pool)) ?? null)}\n`);
}
await pool?.end();

function depsAt(db: Pool, at: string): BillingDeps {
  return {
    pool: db,
    clock: { now: () => Date.parse(at) },
    ids: createIds({ now: () => Date.now() }),
    log: createLogger('silent', 'child'),
    usageReader: sevenOfEverything,
    checkoutGates,
    secretBox: createSecretBox([]),
    forgetApiKey: async () => {},
    settings: {
      grace_seconds: 3600,
      tenant_limits_max: { production: 20, development: 20, max_users: 1000 },
      outbound_allowed_hosts: [],
    },
  } as BillingDeps;
}

async function answer(db: Pool): Promise<unknown> {
  const { action, caller, key } = task;
  if (key === undefined) return await perform(deps);
  const command = { key, fingerprint: JSON.stringify(action), status: 200 };
  const once = await doOnce(db, caller.scope, command, (claim) =>
    perform({ ...deps, claims: [claim] }),
  );
  if (once.state === 'done' || once.state === 'answered') return once.answer.body;
  return once;
}

async function perform(deps: BillingDeps): Promise<unknown> {
  const { action, caller } = task;
  switch (action.name) {
    case 'create':
      return (
        await deps.pool.begin((tx) => createSubscription(tx, deps, caller, action.body as never))
      ).id;
    case 'invoice':
      return (await createPeriodInvoice(deps, caller, action.body as never)).id;
    case 'compute':
      return (await computeInvoice(deps, caller, action.id)).version;
    case 'finalize':
      return (await finalizeInvoice({ ...deps, readLogHeads: async () => ({}) }, caller, action.id))
        .invoice_number;
    case 'void':
      return (await voidInvoice(deps, caller, action.id, {})).invoice_status;
    case 'cancel': {
      const body = { cancellation_type: 'immediate' } as const;
      const cancelled = await cancelSubscription(deps, caller, action.id, body);
      return { effective_date: cancelled.effective_date, processed_at: cancelled.processed_at };
    }
    case 'close-job':
      return await job(closeBillingPeriods, deps, action.tick);
    case 'collect-job':
      return await job(collectInvoices, deps, action.tick);
    case 'onboard-job':
      return await job(onboardCustomers, deps, action.tick);
    case 'sync-job':
      return await job(syncPlanPrices, deps, action.tick);
    case 'clock-job':
      return await job(
        ALL_JOBS.find(({ name }) => name === 'advance-test-clocks')!,
        { ...deps, readLogHeads: async () => ({}), streamWaitMs: 0 } as JobDeps,
        action.tick,
      );
    case 'finalize-job':
      return await job(
        finalizeDraftInvoices,
        { ...deps, readLogHeads: async () => ({}), streamWaitMs: 0 },
        action.tick,
      );
  }
}

/** Waits for the lease of a killed predecessor to run out, as the next tick would. */
async function job<Deps>(work: Job<Deps>, jobDeps: Deps, tick: string): Promise<JobReport | null> {
  const runner = {
    pool: deps.pool,
    log: deps.log,
    holder: `child-${process.pid}`,
    now: async () => task.at,
    leaseSeconds: 1,
  };
  return await runJob(runner, work, jobDeps, tick);
}
