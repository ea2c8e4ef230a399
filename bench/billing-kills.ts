import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { checkoutGates } from '../api/billing/checkout/checkout-gates.ts';
import type { BillingDeps } from '../api/deps.ts';
import { createIds } from '../platform/ids.ts';
import { createLogger } from '../platform/log.ts';
import { benchRow, type BenchOptions, type BenchRow } from './bench-row.ts';
import { makeDueSubscriptions, PERIOD_START } from './billing/due-subscriptions.ts';
import type { KillTask } from './billing/kill-child.ts';
import { seededRandom, type Random } from './random.ts';
import { startBenchInstance, type BenchInstance } from './stream/instance.ts';

const KILLS = 300;
const SUBSCRIPTIONS = 60;
/** A kill falls within this time after both processes have begun; a month of all subscriptions takes longer. */
const KILL_WITHIN_MS = 400;

/**
 * Kills the process of the jobs and a process of API commands 300 times while they bill the same periods, each time at
 * a random instant. At the end each subscription has one invoice for each month, and the numbers have no gap
 * and no repetition. `--kills N` asks for another number; `--seconds N` ends earlier.
 */
export async function run(options: BenchOptions = {}): Promise<BenchRow[]> {
  const wanted = options.kills === undefined ? KILLS : Number(options.kills);
  const until =
    options.seconds === undefined ? Infinity : Date.now() + Number(options.seconds) * 1000;
  const seed = Date.now() % 1_000_000;
  const random = seededRandom(seed);
  const instance = await startBenchInstance();
  try {
    await makeDueSubscriptions(instance, setupDeps(instance), SUBSCRIPTIONS);
    let kills = 0;
    let months = 1;
    const began = performance.now();
    while (kills < wanted && Date.now() < until) {
      if (await killedWhileBilling(instance, months, random)) kills += 1;
      else months += 1;
    }
    await finished(instance, months);
    const seconds = (performance.now() - began) / 1000;
    const invoices = await assertBilledOnce(instance, months);
    const notes = `${months} months of ${SUBSCRIPTIONS} subscriptions: ${invoices} invoices, each once, numbers without a gap; ${seconds.toFixed(0)} s; seed ${seed}`;
    return [benchRow('kills while billing', kills, 'kills', null, notes)];
  } finally {
    await instance.close();
  }
}

function setupDeps({ pool }: BenchInstance): BillingDeps {
  return {
    pool,
    clock: { now: () => Date.parse(PERIOD_START) },
    ids: createIds({ now: () => Date.now() }),
    log: createLogger('warn', 'bench'),
    checkoutGates,
    settings: {
      grace_seconds: 3600,
      tenant_limits_max: { production: 20, development: 20, max_users: 1000 },
      outbound_allowed_hosts: [],
    },
  } as Partial<BillingDeps> as BillingDeps;
}

/** Two hours after the end of the month: the periods are due, and so are their drafts. */
function timeOf(months: number): string {
  const at = new Date(PERIOD_START);
  at.setUTCMonth(at.getUTCMonth() + months);
  return new Date(at.getTime() + 2 * 60 * 60 * 1000).toISOString();
}

/** Starts both processes and kills them at a random instant. False if the jobs had ended before. */
async function killedWhileBilling(
  instance: BenchInstance,
  months: number,
  random: Random,
): Promise<boolean> {
  // A dead process holds its lease for a minute; the bench does not wait for that.
  await instance.pool`update job_leases set leased_until = null`;
  const jobs = start(instance, months, 'jobs');
  const api = start(instance, months, 'api');
  await Promise.all([jobs.ready, api.ready]);
  await new Promise((resolve) => setTimeout(resolve, random.next() * KILL_WITHIN_MS));
  const isRunning = jobs.child.exitCode === null;
  jobs.child.kill('SIGKILL');
  api.child.kill('SIGKILL');
  await Promise.all([jobs.ended, api.ended]);
  return isRunning;
}

/** Bills what is left. */
async function finished(instance: BenchInstance, months: number): Promise<void> {
  await instance.pool`update job_leases set leased_until = null`;
  const jobs = start(instance, months, 'jobs');
  await jobs.ended;
  if (jobs.child.exitCode !== 0) throw new Error(`the jobs ended with ${jobs.child.exitCode}`);
}

interface Started {
  readonly child: ChildProcess;
  /** Connected, about to work; or ended. */
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
}

function start({ postgresUrl }: BenchInstance, months: number, role: KillTask['role']): Started {
  const task: KillTask = { url: postgresUrl, at: timeOf(months), role };
  const program = fileURLToPath(new URL('./billing/kill-child.js', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const told = new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
  return { child, ended, ready: Promise.race([told, ended]) };
}

async function assertBilledOnce({ pool }: BenchInstance, months: number): Promise<number> {
  const wrong = await pool`
    select s.id, count(i.id)::int as invoices, count(distinct i.period_start)::int as periods,
           count(i.invoice_number)::int as numbers
      from subscriptions s
      left join invoices i on i.subscription_id = s.id and i.billing_reason = 'SUBSCRIPTION_CYCLE'
     group by s.id
    having count(i.id) <> ${months} or count(distinct i.period_start) <> ${months}
        or count(i.invoice_number) <> ${months}`;
  if (wrong.length > 0)
    throw new Error(`not ${months} invoices each: ${JSON.stringify(wrong.slice(0, 5))}`);
  const [totals] = await pool<{ totals: string; invoices: string }[]>`
    select count(distinct total) as totals, count(*) as invoices
      from invoices where billing_reason = 'SUBSCRIPTION_CYCLE'`;
  if (totals!.totals !== '1')
    throw new Error(`${totals!.totals} different totals of equal periods`);
  const gaps = await pool`
    select month, count(*)::int as numbers, count(distinct n)::int as distinct_numbers, max(n) as last
      from (select split_part(invoice_number, '-', 2) as month,
                   split_part(invoice_number, '-', 3)::int as n
              from invoices where invoice_number is not null) numbered
     group by month having count(*) <> max(n) or count(distinct n) <> count(*)`;
  if (gaps.length > 0) throw new Error(`numbers with a gap: ${JSON.stringify(gaps)}`);
  return Number(totals!.invoices);
}
