import autocannon from 'autocannon';
import { loadavg } from 'node:os';
import { debitAlone } from '../api/billing/wallets/debit-batch.ts';
import { debitWallet } from '../api/billing/wallets/debit-queue.ts';
import { auditWallets } from '../api/billing/credits/audit-wallets.ts';
import { connectPostgres } from '../postgres/client.ts';
import { benchRow, type BenchOptions, type BenchRow } from './bench-row.ts';
import { cpuSecondsOfTree } from './processes.ts';
import { seededRandom } from './random.ts';
import { atOnce, CALLER, startLedgerWorld, type LedgerWorld } from './wallets/ledger-world.ts';
import { debitBody, runOnModel, runOnPostgres } from './wallets/random-commands.ts';
import { startProduct } from './whole/product.ts';

const AT_ONCE = 50;
const DEBITS = 20_000;
const ALONE = 2_000;
const WALLETS = 10_000;
const MODEL_COMMANDS = 1_000_000;
const POSTGRES_COMMANDS = 50_000;
const HTTP_SECONDS = 15;

/**
 * Exact debits per second: of one wallet with 50 callers at once, in this process and over HTTP, and of 10,000
 * wallets; limit = the same debits, each in a transaction of its own. Then random commands on the pure
 * functions and on Postgres, with every invariant checked; any fault fails the bench.
 */
export async function run({ seed = '1' }: BenchOptions): Promise<BenchRow[]> {
  const world = await startLedgerWorld();
  const rows: BenchRow[] = [];
  try {
    rows.push(await oneWallet(world), await manyWallets(world));
    const seconds = await runOnPostgres(world, POSTGRES_COMMANDS, seededRandom(Number(seed)));
    rows.push(
      row('random commands on Postgres', POSTGRES_COMMANDS / seconds, null, `200 wallets, 30% top-ups in transactions of their own, 10% sent twice; balances and ledger audited, seed ${seed}`),
    ); // prettier-ignore
  } finally {
    await world.close();
  }
  return [...rows, await overHttp(), model(Number(seed))];
}

/** A row, also printed at once: the whole run takes minutes. */
function row(name: string, figure: number, limit: number | null, notes: string): BenchRow {
  const load = `load average ${loadavg()[0]!.toFixed(1)}`;
  const made = benchRow(`wallets: ${name}`, figure, '/s', limit, `${notes}; ${load}`);
  process.stderr.write(`${made.name}: ${made.figure}/s (${made.notes})\n`);
  return made;
}

/** Measures `times` debits: per second, and the CPU time of one in this process and in Postgres. */
async function measured(
  times: number,
  concurrency: number,
  debit: (index: number) => Promise<unknown>,
): Promise<{ readonly perSecond: number; readonly cpu: string }> {
  const own = process.cpuUsage();
  const all = cpuSecondsOfTree(process.pid);
  const seconds = await atOnce(times, concurrency, debit);
  const used = process.cpuUsage(own);
  const ownMs = (used.user + used.system) / 1000;
  const otherMs = (cpuSecondsOfTree(process.pid) - all) * 1000 - ownMs;
  const each = (ms: number): string => (ms / times).toFixed(2);
  return {
    perSecond: times / seconds,
    cpu: `CPU ms of each: ${each(ownMs)} here, ${each(otherMs)} in Postgres`,
  };
}

function model(seed: number): BenchRow {
  const seconds = runOnModel(MODEL_COMMANDS, seededRandom(seed));
  return row('random commands on the model', MODEL_COMMANDS / seconds, null, `${MODEL_COMMANDS.toLocaleString('en-US')} commands, balance, overdraft and breakdown checked after each, seed ${seed}`); // prettier-ignore
}

async function oneWallet(world: LedgerWorld): Promise<BenchRow> {
  const [wallet] = await world.makeWallets('one', 1, '1000000');
  const together = (key: string): Promise<unknown> =>
    debitWallet(world.depsOf(key), CALLER, wallet!, debitBody('0.25', key));
  const alone = (key: string): Promise<unknown> => {
    const deps = world.depsOf(key);
    const debit = { caller: CALLER, walletId: wallet!, body: debitBody('0.25', key) };
    return deps.pool.begin((tx) => debitAlone(tx, deps, debit));
  };
  await atOnce(1_000, AT_ONCE, (index) => together(`warm ${index}`));
  await world.collectStatistics();
  const batched = await measured(DEBITS, AT_ONCE, (index) => together(`together ${index}`));
  const single = await measured(ALONE, AT_ONCE, (index) => alone(`alone ${index}`));
  return row('debits of one wallet, 50 at once', batched.perSecond, single.perSecond, `commands in process; ${batched.cpu}; limit = each in a transaction of its own, ${single.cpu}`); // prettier-ignore
}

async function manyWallets(world: LedgerWorld): Promise<BenchRow> {
  const wallets = await world.makeWallets('many', WALLETS, '1000');
  const random = seededRandom(7);
  const debit = (key: string): Promise<unknown> =>
    debitWallet(world.depsOf(key), CALLER, random.pick(wallets), debitBody('0.25', key));
  await atOnce(1_000, 200, (index) => debit(`warm many ${index}`));
  await world.collectStatistics();
  const many = await measured(DEBITS, 200, (index) => debit(`many ${index}`));
  return row('debits of 10,000 wallets, 200 at once', many.perSecond, null, `commands in process, one environment; ${many.cpu}`); // prettier-ignore
}

/** The product as `npm start` runs it. */
async function overHttp(): Promise<BenchRow> {
  const product = await startProduct();
  const pool = connectPostgres({ url: product.ownerUrl, applicationName: 'bench' });
  try {
    const customer = await product.api.post<{ id: string }>('/customers', {
      external_id: 'bench',
      name: 'Bench',
    });
    const { id } = await product.api.post<{ id: string }>('/wallets', {
      customer_id: customer.id,
      currency: 'usd',
      initial_credits_to_load: '1000000',
    });
    const load = (seconds: number, name: string) =>
      autocannon({
        url: `${product.baseUrl}/v1/wallets/${id}/debit`,
        method: 'POST',
        connections: AT_ONCE,
        duration: seconds,
        idReplacement: true,
        headers: { 'x-api-key': product.apiKey!, 'content-type': 'application/json' },
        body: JSON.stringify(debitBody('0.25', `${name} [<id>]`)),
      });
    await load(5, 'warm');
    await pool`analyze`;
    const result = await load(HTTP_SECONDS, 'http');
    const { faulty } = await auditWallets(pool);
    if (faulty.length > 0) throw new Error(JSON.stringify(faulty));
    const done = result['2xx'];
    return row('debits of one wallet over HTTP, 50 at once', done / result.duration, null, `p50 ${result.latency.p50} ms, p99 ${result.latency.p99} ms, ${result.non2xx} refused; load tool in the bench process`); // prettier-ignore
  } finally {
    await pool.end({ timeout: 1 });
    await product.close();
  }
}
