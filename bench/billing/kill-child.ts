import { checkoutGates } from '../../api/billing/checkout/checkout-gates.ts';
import type { BillingDeps } from '../../api/deps.ts';
import { computeInvoice, finalizeInvoice } from '../../api/billing/invoices/recompute.ts';
import { BillingError } from '../../domain/errors.ts';
import type { UsageReader } from '../../domain/metering/usage.ts';
import { closeBillingPeriods } from '../../jobs/close-billing-periods.ts';
import { finalizeDraftInvoices } from '../../jobs/finalize-draft-invoices.ts';
import { runJob } from '../../jobs/run-job.ts';
import { createIds } from '../../platform/ids.ts';
import { createLogger } from '../../platform/log.ts';
import { createSecretBox } from '../../platform/secret-box.ts';
import { connectPostgres } from '../../postgres/client.ts';
import { BENCH_SCOPE } from '../stream/instance.ts';

/** A process that bills until nothing is left, unless it is killed: the jobs, or the commands of the API. */
export interface KillTask {
  readonly url: string;
  readonly at: string;
  readonly role: 'jobs' | 'api';
}

/** Every question has the answer 7: the bench counts how often it is billed. */
const sevenOfEverything: UsageReader = {
  async read(queries) {
    const row = { group: [], window_start: null, quantity: '7', event_count: 1 };
    return {
      watermarks: {},
      answers: new Map(queries.map(({ key }) => [key, { key, rows: [row] }])),
    };
  },
};

const task = JSON.parse(process.argv[2]!) as KillTask;
const pool = connectPostgres({ url: task.url, applicationName: `kill-${task.role}` });
const deps = {
  pool,
  clock: { now: () => Date.parse(task.at) },
  ids: createIds({ now: () => Date.now() }),
  log: createLogger('error', 'bench'),
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
const readLogHeads = async () => ({});
const caller = { scope: BENCH_SCOPE, user_id: 'user_bench' };

await pool`select 1`;
process.stdout.write('ready\n');
await (task.role === 'jobs' ? runJobs() : runCommands());
await pool.end();

async function runJobs(): Promise<void> {
  const runner = {
    pool,
    log: deps.log,
    holder: `child-${process.pid}`,
    now: async () => task.at,
  };
  const tick = () => new Date(Date.UTC(2000, 0, 1) + Date.now() / 1000).toISOString();
  await runJob(runner, closeBillingPeriods, deps, tick());
  await runJob(runner, finalizeDraftInvoices, { ...deps, readLogHeads, streamWaitMs: 0 }, tick());
}

/** Computes and finalizes drafts by hand, in the way of the jobs. */
async function runCommands(): Promise<void> {
  for (;;) {
    const drafts = await pool<{ id: string }[]>`
      select id from invoices where invoice_status = 'DRAFT' order by md5(id) limit 20`;
    if (drafts.length === 0) return;
    await Promise.all(drafts.map(({ id }) => handled(id)));
  }
}

async function handled(id: string): Promise<void> {
  try {
    await computeInvoice(deps, caller, id);
    await finalizeInvoice({ ...deps, readLogHeads }, caller, id);
  } catch (error) {
    // A job was first.
    if (!(error instanceof BillingError)) throw error;
  }
}
