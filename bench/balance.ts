import { loadavg } from 'node:os';
import { balanceAnswers } from '../api/billing/balances/real-time-balance.ts';
import { checkoutGates } from '../api/billing/checkout/checkout-gates.ts';
import { createWallet } from '../api/billing/wallets/create-wallet.ts';
import type { ApiDeps } from '../api/deps.ts';
import { createEventReader } from '../clickhouse/reading/event-reader.ts';
import { createUsageReader } from '../clickhouse/reading/usage-reader.ts';
import { InProcessCache } from '../platform/cache/in-process.ts';
import { createIds } from '../platform/ids.ts';
import { createLogger } from '../platform/log.ts';
import { createSecretBox } from '../platform/secret-box.ts';
import { connectAsApi, scopedPool } from '../postgres/scoped-pool.ts';
import { readDimensions } from '../postgres/tables/meter-versions.ts';
import { readUsageBounds } from '../postgres/tables/seals.ts';
import { CreateWalletBody } from '../schemas/wallet-requests.ts';
import { benchRow, type BenchOptions, type BenchRow } from './bench-row.ts';
import { makeDueSubscriptions, PERIOD_END } from './billing/due-subscriptions.ts';
import { BENCH_SCOPE, startBenchInstance, type BenchInstance } from './stream/instance.ts';

const CUSTOMERS = 1_000;
const METERS = 2;
const READS = 200;
const WALLETS = 20;
const TARGET_MS = 20;
const LAST_DAY = '2026-10-31T00:00:00.000Z';

/**
 * The real-time balance of a wallet, computed anew at each read: a million events of one environment (`--events`),
 * 1,000 customers with a subscription and two usage prices, at the end of the period; the last day is not sealed, so
 * its usage is read from single rows. Limit = the target.
 */
export async function run({ events = '1000000' }: BenchOptions): Promise<BenchRow[]> {
  const instance = await startBenchInstance();
  const apiPool = (await connectAsApi({ url: instance.postgresUrl, applicationName: 'bench' }))!;
  try {
    const deps = depsOf(instance);
    const eventsPerMeter = Math.ceil(Number(events) / CUSTOMERS / METERS);
    await makeDueSubscriptions(instance, deps, CUSTOMERS, {
      eventsPerMeter,
      sealedUntil: LAST_DAY,
    });
    const wallets = await makeWallets(instance, deps);
    await instance.pool`analyze`;
    const actor = { kind: 'user', user_id: 'user_bench', request_id: 'bench', ip: '' } as const;
    const asCaller = { ...deps, pool: scopedPool(apiPool, { scope: BENCH_SCOPE, actor }) };
    const read = async (n: number): Promise<void> => {
      const wallet = wallets[n % wallets.length]!;
      const [answer] = await balanceAnswers(asCaller, BENCH_SCOPE, [wallet], new Set());
      if (Number(answer!.current_period_usage) <= 0) throw new Error('the balance has no usage');
    };
    for (let n = 0; n < WALLETS; n += 1) await read(n);
    const own = process.cpuUsage();
    const engines = instance.cpuSeconds();
    const times: number[] = [];
    for (let n = 0; n < READS; n += 1) {
      const began = performance.now();
      await read(n);
      times.push(performance.now() - began);
    }
    const used = process.cpuUsage(own);
    const after = instance.cpuSeconds();
    times.sort((a, b) => a - b);
    const each = (seconds: number): string => ((seconds * 1000) / READS).toFixed(1);
    const notes =
      `${Number(events).toLocaleString('en-US')} events, ${CUSTOMERS.toLocaleString('en-US')} customers; p95 ${times[Math.floor(READS * 0.95)]!.toFixed(1)} ms; CPU ms of each: ` +
      `${each((used.user + used.system) / 1e6)} here, ${each(after.postgres - engines.postgres)} in Postgres, ${each(after.clickhouse - engines.clickhouse)} in ClickHouse, its background work included; ` +
      `limit = the target; load average ${loadavg()[0]!.toFixed(1)}`;
    return [benchRow('balance: real-time, not cached', times[READS / 2]!, 'ms median', TARGET_MS, notes)]; // prettier-ignore
  } finally {
    await apiPool.end({ timeout: 1 });
    await instance.close();
  }
}

async function makeWallets({ pool }: BenchInstance, deps: ApiDeps) {
  const caller = { scope: BENCH_SCOPE, user_id: 'user_bench' };
  const customers = await pool<{ id: string }[]>`
    select id from customers order by id limit ${WALLETS}`;
  return await pool.begin(async (tx) => {
    const wallets = [];
    for (const { id } of customers)
      wallets.push(
        await createWallet(
          tx,
          deps,
          caller,
          CreateWalletBody.parse({
            customer_id: id,
            currency: 'usd',
            initial_credits_to_load: '1000',
          }),
        ),
      );
    return wallets;
  });
}

function depsOf({ pool, clickhouse }: BenchInstance): ApiDeps {
  return {
    pool,
    clock: { now: () => Date.parse(PERIOD_END) - 1 },
    ids: createIds({ now: () => Date.now() }),
    log: createLogger('warn', 'bench'),
    usageReader: createUsageReader({
      clickhouse,
      readBounds: (versions) => readUsageBounds(pool, versions),
      readDimensions: (versions) => readDimensions(pool, versions),
    }),
    eventReader: createEventReader(clickhouse),
    cache: new InProcessCache({ now: () => Date.now() }),
    checkoutGates,
    secretBox: createSecretBox([]),
    forgetApiKey: async () => {},
    settings: {
      grace_seconds: 3600,
      tenant_limits_max: { production: 20, development: 20, max_users: 1000 },
      outbound_allowed_hosts: [],
    },
  } as Partial<ApiDeps> as ApiDeps;
}
