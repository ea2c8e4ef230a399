import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCustomer } from '../api/customers/customers/repository.ts';
import { insertInvoiceLines } from '../api/billing/records/invoice-line-repository.ts';
import { insertInvoices } from '../api/billing/records/invoice-repository.ts';
import { replaceSubscriptions } from '../api/billing/records/subscription-repository.ts';
import { connectPostgres, type Pool } from '../postgres/client.ts';
import { startEmbeddedPostgres } from '../postgres/embedded.ts';
import { migratePostgres } from '../postgres/migrate.ts';
import { connectAsApi, scopedPool } from '../postgres/scoped-pool.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../schemas/invoice.ts';
import type { SubscriptionRow } from '../schemas/subscription.ts';
import { benchRow, type BenchRow } from './bench-row.ts';

const SCOPE = { tenant_id: 'tenant_bench', environment_id: 'env_bench' };
const CUSTOMERS = 20_000;
const READS = 4_000;
const READS_PER_SECOND = 500;
const PAGE = 500;
const ROUNDS = 8;

/**
 * Cost of row-level security for a read by id (plain pool against a request's pool, alternating), and
 * cost of the audit log for the writes of a billing run (with triggers against without).
 */
export async function run(): Promise<BenchRow[]> {
  const directory = mkdtempSync(join(tmpdir(), 'meterline-bench-'));
  const postgres = await startEmbeddedPostgres({ directory });
  const pool = connectPostgres({ url: postgres.url, applicationName: 'bench' });
  try {
    await migratePostgres(pool);
    await makeRecords(pool);
    return [...(await reads(postgres.url)), await billingWrites(pool)];
  } finally {
    await pool.end({ timeout: 1 });
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function makeRecords(pool: Pool): Promise<void> {
  const { tenant_id, environment_id } = SCOPE;
  await pool`insert into tenants (id, name) values (${tenant_id}, 'Bench')`;
  await pool`insert into environments (id, tenant_id, name, type)
             values (${environment_id}, ${tenant_id}, 'Bench', 'production')`;
  await pool`
    insert into customers (id, tenant_id, environment_id, external_id, name)
    select 'cust_' || n, ${tenant_id}, ${environment_id}, 'e' || n, 'Customer ' || n
      from generate_series(1, ${CUSTOMERS}) n`;
  await pool`
    insert into subscriptions
      (id, tenant_id, environment_id, customer_id, plan_id, currency, subscription_status, billing_anchor,
       billing_cycle, billing_period, billing_period_count, customer_timezone, start_date,
       current_period_start, current_period_end, collection_method, payment_behavior,
       proration_behavior, line_item_grouping)
    select 'subs_' || n, ${tenant_id}, ${environment_id}, 'cust_' || n, 'plan_1', 'usd', 'active',
           '2026-01-01', 'anniversary', 'MONTHLY', 1, 'UTC', '2026-01-01', '2026-10-01', '2026-11-01',
           'charge_automatically', 'default_active', 'none', 'none'
      from generate_series(1, ${PAGE}) n`;
  await pool`analyze`;
}

type Find = (index: number) => Promise<unknown>;

async function reads(url: string): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const connections of [1, 10]) {
    const pool = connectPostgres({ url, applicationName: 'bench', maxConnections: connections });
    const apiPool = (await connectAsApi({
      url,
      applicationName: 'bench',
      maxConnections: connections,
    }))!;
    const scoped = scopedPool(apiPool, {
      scope: SCOPE,
      actor: { kind: 'user', user_id: 'user_bench' },
    });
    const plainly: Find = (index) => getCustomer(pool, SCOPE, `cust_${1 + (index % CUSTOMERS)}`);
    const walled: Find = (index) => getCustomer(scoped, SCOPE, `cust_${1 + (index % CUSTOMERS)}`);
    const measure = connections === 1 ? oneByOne : atRate;
    await measure(plainly, 200);
    await measure(walled, 200);
    const before: number[] = [];
    const after: number[] = [];
    for (let part = 0; part < 4; part += 1) {
      before.push(...(await measure(plainly, READS / 4)));
      after.push(...(await measure(walled, READS / 4)));
    }
    await pool.end({ timeout: 1 });
    await apiPool.end({ timeout: 1 });
    const how = connections === 1 ? 'one after the other' : `${READS_PER_SECOND} a second`;
    rows.push(
      benchRow(
        `read by id behind row security, ${how}`,
        quantile(after, 0.95),
        'ms p95',
        quantile(before, 0.95),
        `p50 ${quantile(after, 0.5).toFixed(2)} ms; limit = the same on the plain pool, p50 ${quantile(before, 0.5).toFixed(2)} ms; ${CUSTOMERS.toLocaleString('en-US')} customers, load in the same process`,
      ),
    );
  }
  return rows;
}

async function oneByOne(find: Find, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) times.push(await timed(find, index));
  return times;
}

/** Starts calls at a fixed rate, however long earlier calls take. */
async function atRate(find: Find, count: number): Promise<number[]> {
  const running: Promise<number>[] = [];
  const began = performance.now();
  while (running.length < count) {
    const due = Math.floor(((performance.now() - began) / 1000) * READS_PER_SECOND) + 1;
    while (running.length < Math.min(due, count)) running.push(timed(find, running.length));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return await Promise.all(running);
}

async function timed(find: Find, index: number): Promise<number> {
  const began = performance.now();
  await find(index * 7919);
  return performance.now() - began;
}

const quantile = (times: number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)]!;

/** The writes of one billing-run page, without reading and rating: invoices, their rows, subscriptions. */
async function billingWrites(pool: Pool): Promise<BenchRow> {
  const subscriptions = await pool<SubscriptionRow[]>`select * from subscriptions order by id`;
  const seconds = { with: 0, without: 0 };
  for (let round = 0; round < ROUNDS * 2; round += 1) {
    const isAudited = round % 2 === 0;
    await setAudited(pool, isAudited);
    const invoices = await makeInvoices(pool, round);
    const began = performance.now();
    await pool.begin(async (tx) => {
      await insertInvoices(tx, invoices.records);
      await insertInvoiceLines(tx, invoices.lines);
      const moved = subscriptions.map((row) => ({ ...row, last_billing_sequence: round + 1 }));
      await replaceSubscriptions(tx, SCOPE, moved);
    });
    if (round > 1) seconds[isAudited ? 'with' : 'without'] += (performance.now() - began) / 1000;
  }
  const written = (ROUNDS - 1) * PAGE;
  return benchRow(
    'invoices written, audited',
    written / seconds.with,
    'invoices/s',
    written / seconds.without,
    `pages of ${PAGE} with three rows each and their subscriptions; limit = without the audit log's triggers`,
  );
}

async function setAudited(pool: Pool, isAudited: boolean): Promise<void> {
  for (const table of ['invoices', 'subscriptions'])
    for (const trigger of ['audit_created', 'audit_updated'])
      await (isAudited
        ? pool`alter table ${pool(table)} enable trigger ${pool(trigger)}`
        : pool`alter table ${pool(table)} disable trigger ${pool(trigger)}`);
}

/** Records with every column, as the billing run writes them; filled from the table's defaults. */
async function makeInvoices(
  pool: Pool,
  round: number,
): Promise<{ records: InvoiceRecord[]; lines: InvoiceLineRecord[] }> {
  const explanation = { rule: 'flat', inputs: Array.from({ length: 12 }, (_, n) => ({ n, value: '1.000000000000000001' })) }; // prettier-ignore
  const undone = new Error('undone');
  let made: { records: InvoiceRecord[]; lines: InvoiceLineRecord[] } | undefined;
  await pool
    .begin(async (tx) => {
      const records = await tx<InvoiceRecord[]>`
        insert into invoices (id, tenant_id, environment_id, customer_id, subscription_id, invoice_type,
                              invoice_status, payment_status, currency, period_start, period_end,
                              billing_reason, total, subtotal, revision)
        select 'inv_' || ${round}::text || '_' || n, ${SCOPE.tenant_id}, ${SCOPE.environment_id}, 'cust_' || n,
               'subs_' || n, 'SUBSCRIPTION', 'DRAFT', 'PENDING', 'usd', '2026-10-01', '2026-11-01',
               'SUBSCRIPTION_CYCLE', 12.5, 12.5, ${round}
          from generate_series(1, ${PAGE}) n
        returning *`;
      const lines = await tx<InvoiceLineRecord[]>`
        insert into invoice_line_items (id, tenant_id, environment_id, invoice_id, customer_id, position,
                                        currency, quantity, amount, explanation, display_name)
        select i.id || '_' || l, i.tenant_id, i.environment_id, i.id, i.customer_id, l, 'usd', 5, 4.1,
               ${tx.json(explanation)}, 'Calls'
          from invoices i, generate_series(0, 2) l where i.revision = ${round}
        returning *`;
      made = { records: [...records], lines: [...lines] };
      throw undone;
    })
    .catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  return made!;
}
