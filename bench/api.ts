import { loadavg } from 'node:os';
import { connectPostgres, type Scope } from '../postgres/client.ts';
import { CUSTOMERS, makeCustomers } from './api/customers.ts';
import type { ApiLoad, ApiRun, ApiRunReport } from './api/load-process.ts';
import type { RequestKind } from './api/requests.ts';
import { benchRow, type BenchRow } from './bench-row.ts';
import { startBenchProcess } from './processes.ts';
import { startProduct } from './whole/product.ts';

const PER_SECOND = 500;
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 20);
const WARM_UP_SECONDS = 5;

/** p95 in ms that is to be reached. */
const LIMITS: readonly (readonly [kind: RequestKind, title: string, p95Ms: number])[] = [
  ['get', 'GET a customer by id', 5],
  ['create', 'create a customer', 15],
  ['search', 'search customers', 50],
];

/**
 * The product as `npm start` runs it, with a million customers in one environment, asked 500 times a
 * second whatever the answers take: reads by id, creates, searches. Limit = the p95 to be reached.
 */
export async function run(): Promise<BenchRow[]> {
  const product = await startProduct();
  const pool = connectPostgres({ url: product.postgresUrl, applicationName: 'bench' });
  try {
    const [scope] = await pool<Scope[]>`
      select tenant_id, environment_id from api_keys order by created_at limit 1`;
    await makeCustomers(pool, scope!);
    const load = await startBenchProcess(new URL('./api/load-process.ts', import.meta.url), {
      port: Number(new URL(product.baseUrl).port),
      apiKey: product.apiKey!,
    } satisfies ApiLoad);
    const rows: BenchRow[] = [];
    for (const [kind, title, limit] of LIMITS) {
      const measure = (seconds: number) =>
        load.ask<ApiRunReport>({ kind, perSecond: PER_SECOND, seconds } satisfies ApiRun);
      await measure(WARM_UP_SECONDS);
      rows.push(rowOf(title, kind, await measure(SECONDS), limit));
    }
    await load.stop();
    return rows;
  } finally {
    await pool.end({ timeout: 1 });
    await product.close();
  }
}

function rowOf(title: string, kind: RequestKind, report: ApiRunReport, limit: number): BenchRow {
  const slowest = report.byLabel.slice(0, 3).map(([label, ms]) => `${label} ${ms.toFixed(1)} ms`);
  const notes =
    `p50 ${report.p50Ms.toFixed(1)} ms, p99 ${report.p99Ms.toFixed(1)} ms, ` +
    `${report.answered} answered at ${PER_SECOND}/s open loop, ${report.failed} failed; ` +
    `${CUSTOMERS.toLocaleString('en-US')} customers, load tool beside it, load average ${loadavg()[0]!.toFixed(1)}` +
    (kind === 'search' ? `; slowest p95: ${slowest.join(', ')}` : '');
  return benchRow(`${title}, p95`, report.p95Ms, 'ms', limit, notes);
}
