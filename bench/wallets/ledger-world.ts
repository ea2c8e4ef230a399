import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutGates } from '../../api/billing/checkout/checkout-gates.ts';
import type { BillingDeps } from '../../api/deps.ts';
import { createIds } from '../../platform/ids.ts';
import { createLogger } from '../../platform/log.ts';
import { createSecretBox } from '../../platform/secret-box.ts';
import { connectPostgres, type Pool } from '../../postgres/client.ts';
import { startEmbeddedPostgres } from '../../postgres/embedded.ts';
import { migratePostgres } from '../../postgres/migrate.ts';
import { connectAsApi, scopedPool } from '../../postgres/scoped-pool.ts';

export const SCOPE = { tenant_id: 'tenant_bench', environment_id: 'env_bench' };
export const CALLER = { scope: SCOPE, user_id: 'user_bench' };

/** Wallets on a Postgres of its own, and the dependencies of commands on them in this process. */
export interface LedgerWorld {
  readonly pool: Pool;
  /** As for a request: a pool of the API's role in the scope. */
  depsOf(requestId: string): BillingDeps;
  /** Creates that many wallets with one block of so many credits each; returns their ids. */
  makeWallets(name: string, count: number, credits: string): Promise<string[]>;
  /** As autovacuum does while a database is in use: otherwise statements keep the plans of empty tables. */
  collectStatistics(): Promise<void>;
  close(): Promise<void>;
}

export async function startLedgerWorld(): Promise<LedgerWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'meterline-bench-'));
  const postgres = await startEmbeddedPostgres({ directory });
  const pool = connectPostgres({ url: postgres.url, applicationName: 'bench' });
  await migratePostgres(pool);
  const apiPool = (await connectAsApi({ url: postgres.url, applicationName: 'bench' }))!;
  const { tenant_id, environment_id } = SCOPE;
  await pool`insert into tenants (id, name) values (${tenant_id}, 'Bench')`;
  await pool`insert into environments (id, tenant_id, name, type)
             values (${environment_id}, ${tenant_id}, 'Bench', 'production')`;
  const deps = {
    pool,
    clock: { now: () => Date.now() },
    ids: createIds({ now: () => Date.now() }),
    log: createLogger('warn', 'bench'),
    usageReader: { read: () => Promise.reject(new Error('no usage in this bench')) },
    checkoutGates,
    secretBox: createSecretBox([]),
    forgetApiKey: async () => {},
    settings: {
      grace_seconds: 3600,
      tenant_limits_max: { production: 20, development: 20, max_users: 1000 },
      outbound_allowed_hosts: [],
    },
  } as BillingDeps;
  return {
    pool,
    depsOf: (request_id) => ({
      ...deps,
      pool: scopedPool(apiPool, {
        scope: SCOPE,
        actor: { kind: 'user', user_id: CALLER.user_id, request_id, ip: '127.0.0.1' },
      }),
    }),
    async makeWallets(name, count, credits) {
      await pool`
        insert into customers (id, tenant_id, environment_id, external_id, name)
        select 'cust_' || ${name} || n, ${tenant_id}, ${environment_id}, ${name} || n, 'Customer ' || n
          from generate_series(1, ${count}) n`;
      await pool`
        insert into wallets
          (id, tenant_id, environment_id, customer_id, name, currency, wallet_type, wallet_status,
           conversion_rate, topup_conversion_rate, credit_balance, balance, credits_in_blocks,
           allowed_price_types)
        select 'wallet_' || ${name} || n, ${tenant_id}, ${environment_id}, 'cust_' || ${name} || n, 'Bench',
               'usd', 'PRE_PAID', 'active', 1, 1, ${credits}, ${credits}, ${credits}, '{USAGE}'
          from generate_series(1, ${count}) n`;
      await pool`
        insert into wallet_transactions
          (id, tenant_id, environment_id, wallet_id, customer_id, type, transaction_status,
           transaction_reason, credit_amount, amount, currency, credit_balance_before,
           credit_balance_after, credits_available)
        select 'wtxn_' || ${name} || n, ${tenant_id}, ${environment_id}, 'wallet_' || ${name} || n,
               'cust_' || ${name} || n, 'credit', 'completed', 'FREE_CREDIT_GRANT', ${credits}, ${credits},
               'usd', 0, ${credits}, ${credits}
          from generate_series(1, ${count}) n`;
      await pool`analyze`;
      return Array.from({ length: count }, (_, index) => `wallet_${name}${index + 1}`);
    },
    async collectStatistics() {
      await pool`analyze`;
    },
    async close() {
      await apiPool.end({ timeout: 1 });
      await pool.end({ timeout: 1 });
      await postgres.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Runs `work` that many times, so many at once. Returns the seconds it took. */
export async function atOnce(
  times: number,
  concurrency: number,
  work: (index: number) => Promise<unknown>,
): Promise<number> {
  const began = performance.now();
  let next = 0;
  const run = async (): Promise<void> => {
    while (next < times) {
      next += 1;
      await work(next);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, run));
  return (performance.now() - began) / 1000;
}
