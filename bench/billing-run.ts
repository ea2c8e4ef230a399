import { checkoutGates } from '../api/billing/checkout/checkout-gates.ts';
import type { BillingDeps } from '../api/deps.ts';
import { insertInvoiceLines } from '../api/billing/records/invoice-line-repository.ts';
import { insertInvoices } from '../api/billing/records/invoice-repository.ts';
import { createUsageReader } from '../clickhouse/reading/usage-reader.ts';
import { closeBillingPeriods } from '../jobs/close-billing-periods.ts';
import { acquireJobLease } from '../postgres/tables/job-leases.ts';
import { readDimensions } from '../postgres/tables/meter-versions.ts';
import { readUsageBounds } from '../postgres/tables/seals.ts';
import { createIds } from '../platform/ids.ts';
import { createLogger } from '../platform/log.ts';
import { createSecretBox } from '../platform/secret-box.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../schemas/invoice.ts';
import { benchRow, type BenchOptions, type BenchRow } from './bench-row.ts';
import { makeDueSubscriptions, PERIOD_END, PERIOD_START } from './billing/due-subscriptions.ts';
import { startBenchInstance, type BenchInstance } from './stream/instance.ts';

const SUBSCRIPTIONS = 10_000;
const PAGE = 500;

/**
 * Subscriptions invoiced per second: 10,000 (or `--subscriptions N`) are due at once, each with two usage prices;
 * engines and job run on the same machine. The run is stopped half-way and started again, and started once more at
 * the end: each subscription must have exactly one invoice. Speed and memory are reported for each half, so that a
 * run of many shows whether it is linear.
 */
export async function run(options: BenchOptions = {}): Promise<BenchRow[]> {
  const subscriptions =
    options.subscriptions === undefined ? SUBSCRIPTIONS : Number(options.subscriptions);
  const instance = await startBenchInstance();
  try {
    const deps = billingDeps(instance);
    await makeDueSubscriptions(instance, deps, subscriptions);
    const cpu = process.cpuUsage();
    const before = instance.cpuSeconds();
    const first = await half(instance, () => close(instance, deps, 1, subscriptions / 2));
    const second = await half(instance, () => close(instance, deps, 2));
    const seconds = first.seconds + second.seconds;
    const used = process.cpuUsage(cpu);
    const after = instance.cpuSeconds();
    await close(instance, deps, 3);
    await assertOneInvoiceEach(instance, subscriptions);

    const perSubscription = (cpuSeconds: number) =>
      ((cpuSeconds * 1000) / subscriptions).toFixed(2);
    const limit = await writesPerSecond(instance);
    const notes =
      `${subscriptions.toLocaleString('en-US')} subscriptions with two usage prices, pages of ${PAGE}, stopped half-way and begun again; ` +
      `first half ${speed(first)}, second half ${speed(second)}; ` +
      `limit = the same rows written without reading usage or rating; ` +
      `CPU ms per invoice: job ${perSubscription((used.user + used.system) / 1e6)}, ` +
      `Postgres ${perSubscription(after.postgres - before.postgres)}, ClickHouse ${perSubscription(after.clickhouse - before.clickhouse)}`;
    return [benchRow('billing run', subscriptions / seconds, 'invoices/s', limit, notes)];
  } finally {
    await instance.close();
  }
}

/** What a part of the run took. */
interface Half {
  readonly invoices: number;
  readonly seconds: number;
  /** Largest memory of the process of the job. */
  readonly memory_mb: number;
}

const speed = ({ invoices, seconds, memory_mb }: Half): string =>
  `${(invoices / seconds).toFixed(0)}/s with at most ${memory_mb} MB`;

async function half({ pool }: BenchInstance, work: () => Promise<void>): Promise<Half> {
  const before = await cycles(pool);
  const samples = [process.memoryUsage.rss()];
  const sampling = setInterval(() => samples.push(process.memoryUsage.rss()), 500);
  const began = performance.now();
  try {
    await work();
  } finally {
    clearInterval(sampling);
  }
  const seconds = (performance.now() - began) / 1000;
  return {
    invoices: (await cycles(pool)) - before,
    seconds,
    memory_mb: Math.round(Math.max(...samples) / 1e6),
  };
}

function billingDeps({ pool, clickhouse }: BenchInstance): BillingDeps {
  const clock = { now: () => Date.parse(PERIOD_START) };
  return {
    pool,
    clock,
    ids: createIds({ now: () => Date.now() }),
    log: createLogger('warn', 'bench'),
    usageReader: createUsageReader({
      clickhouse,
      readBounds: (versions) => readUsageBounds(pool, versions),
      readDimensions: (versions) => readDimensions(pool, versions),
    }),
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

/** One run of the job; it is stopped when `stopAfter` invoices exist. */
async function close(
  { pool }: BenchInstance,
  deps: BillingDeps,
  minute: number,
  stopAfter = Infinity,
): Promise<void> {
  const scheduled_at = `2000-01-01T00:0${minute}:00.000Z`;
  const lease = await acquireJobLease(pool, {
    name: closeBillingPeriods.name, holder: 'bench', scheduled_at, seconds: 3600,
  }); // prettier-ignore
  const stop = new AbortController();
  const running = closeBillingPeriods.run(deps, {
    lease: lease!,
    signal: stop.signal,
    at: PERIOD_END,
    test_clock_id: null,
    fail: () => {},
  });
  if (stopAfter !== Infinity)
    for (let ended = false; !ended && !stop.signal.aborted;) {
      ended = await Promise.race([running.then(() => true), pause(100).then(() => false)]);
      if ((await cycles(pool)) >= stopAfter) stop.abort();
    }
  await running;
  await pool`update job_leases set leased_until = null`;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function cycles(pool: BenchInstance['pool']): Promise<number> {
  const [row] = await pool<{ count: string }[]>`
    select count(*) from invoices where billing_reason = 'SUBSCRIPTION_CYCLE'`;
  return Number(row!.count);
}

async function assertOneInvoiceEach({ pool }: BenchInstance, subscriptions: number): Promise<void> {
  const [row] = await pool<
    { invoices: string; subscriptions: string; lines: string; used: string }[]
  >`
    select count(*) as invoices, count(distinct i.subscription_id) as subscriptions,
           sum((select count(*) from invoice_line_items l where l.invoice_id = i.id)) as lines,
           sum((select count(*) from invoice_line_items l where l.invoice_id = i.id and l.quantity > 0)) as used
      from invoices i where billing_reason = 'SUBSCRIPTION_CYCLE'`;
  const found = [row!.invoices, row!.subscriptions, row!.lines, row!.used].map(Number);
  const expected = [1, 1, 3, 3].map((factor) => factor * subscriptions);
  if (JSON.stringify(found) !== JSON.stringify(expected))
    throw new Error(`invoices, subscriptions, rows, rows with usage: ${found}, not ${expected}`);
}

/** Only reads the same invoices and rows and writes them again, page by page. */
async function writesPerSecond({ pool }: BenchInstance): Promise<number> {
  const invoices = await pool<InvoiceRecord[]>`
    select * from invoices where billing_reason = 'SUBSCRIPTION_CYCLE' order by id limit 5000`;
  const ids = invoices.map(({ id }) => id);
  const lines = await pool<InvoiceLineRecord[]>`
    select * from invoice_line_items where invoice_id = any(${ids})`;
  await pool`delete from invoice_line_items where invoice_id = any(${ids})`;
  await pool`delete from invoices where id = any(${ids})`;
  const linesOf = new Map<string, InvoiceLineRecord[]>(ids.map((id) => [id, []]));
  for (const line of lines) linesOf.get(line.invoice_id)!.push(line);
  const began = performance.now();
  for (let from = 0; from < invoices.length; from += PAGE) {
    const page = invoices.slice(from, from + PAGE);
    await pool.begin(async (tx) => {
      await insertInvoices(tx, page);
      await insertInvoiceLines(
        tx,
        page.flatMap(({ id }) => linesOf.get(id)!),
      );
    });
  }
  return invoices.length / ((performance.now() - began) / 1000);
}
