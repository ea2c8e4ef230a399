import { loadavg } from 'node:os';
import { connectPostgres, type Scope } from '../postgres/client.ts';
import { CUSTOMERS, makeCustomers } from './api/customers.ts';
import type { ApiLoad, ApiRun, ApiRunReport } from './api/load-process.ts';
import type { RequestKind } from './api/requests.ts';
import { benchRow, type BenchRow } from './bench-row.ts';
import { startBenchProcess } from './processes.ts';
import { startProduct } from './whole/product.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 20);
const WARM_UP_SECONDS = 5;

interface Measure {
  readonly kind: RequestKind;
  readonly title: string;
  readonly perSecond: number;
  /** Target p95. */
  readonly limitMs: number;
}
const MEASURES: readonly Measure[] = [
  { kind: 'get', title: 'GET a customer by id', perSecond: 500, limitMs: 5 },
  { kind: 'create', title: 'create a customer', perSecond: 500, limitMs: 15 },
  { kind: 'search', title: 'search customers', perSecond: 100, limitMs: 50 },
];

/**
 * The product as `npm start` runs it, with a million customers in one environment. Requests come at a
 * steady rate, however slow the answers: reads by id, creates, searches. Limit = the target p95.
 */
export async function run(): Promise<BenchRow[]> {
  const product = await startProduct();
  const pool = connectPostgres({ url: product.ownerUrl, applicationName: 'bench' });
  try {
    const [scope] = await pool<Scope[]>`
      select tenant_id, environment_id from api_keys order by created_at limit 1`;
    await makeCustomers(pool, scope!);
    const load = await startBenchProcess(new URL('./api/load-process.ts', import.meta.url), {
      port: Number(new URL(product.baseUrl).port),
      apiKey: product.apiKey!,
    } satisfies ApiLoad);
    const rows: BenchRow[] = [];
    for (const measure of MEASURES) {
      const { kind, perSecond } = measure;
      const ask = (seconds: number) =>
        load.ask<ApiRunReport>({ kind, perSecond, seconds } satisfies ApiRun);
      await ask(WARM_UP_SECONDS);
      rows.push(rowOf(measure, await ask(SECONDS)));
    }
    await load.stop();
    return rows;
  } finally {
    await pool.end({ timeout: 1 });
    await product.close();
  }
}

function rowOf({ kind, title, perSecond, limitMs }: Measure, report: ApiRunReport): BenchRow {
  const slowest = report.byLabel.slice(0, 3).map(([label, ms]) => `${label} ${ms.toFixed(1)} ms`);
  const seconds = report.p95MsBySecond.map((ms) => ms.toFixed(0)).join(' ');
  const notes =
    `p50 ${report.p50Ms.toFixed(1)} ms, p99 ${report.p99Ms.toFixed(1)} ms, ` +
    `${report.answered} answered at ${perSecond}/s open loop, ${report.failed} failed; ` +
    `${CUSTOMERS.toLocaleString('en-US')} customers, load tool beside it, load average ${loadavg()[0]!.toFixed(1)}` +
    `; p95 second by second: ${seconds}` +
    (kind === 'search' ? `; slowest p95: ${slowest.join(', ')}` : '');
  return benchRow(`${title}, p95`, report.p95Ms, 'ms', limitMs, notes);
}
