import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { table, type BenchOptions, type BenchRow } from './bench-row.ts';

interface Bench {
  run(options: BenchOptions): Promise<BenchRow[]>;
}

/** All benches by name. Each is imported only when it runs, and runs alone. */
const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  log: () => import('./log.ts'),
  'edge-bulk': () => import('./edge-bulk.ts'),
  'edge-single': () => import('./edge-single.ts'),
  stream: () => import('./stream.ts'),
  'end-to-end': () => import('./end-to-end.ts'),
  freshness: () => import('./freshness.ts'),
  'usage-query': () => import('./usage-query.ts'),
  'billing-run': () => import('./billing-run.ts'),
  'billing-kills': () => import('./billing-kills.ts'),
  rating: () => import('./rating.ts'),
  pdf: () => import('./pdf.ts'),
  'second-wall': () => import('./second-wall.ts'),
  wallets: () => import('./wallets.ts'),
  webhooks: () => import('./webhooks.ts'),
  balance: () => import('./balance.ts'),
  api: () => import('./api.ts'),
  'usage-diff': () => import('./usage-diff.ts'),
  'hostile-queries': () => import('./hostile-queries.ts'),
  blocking: () => import('./blocking.ts'),
  'hostile-memory': () => import('./hostile-memory.ts'),
  'open-page': () => import('./open-page.ts'),
  pages: () => import('./pages.ts'),
  scale: () => import('./scale.ts'),
  'two-years': () => import('./two-years.ts'),
  'business-year': () => import('./business-year.ts'),
};
/** They take long, and `scale` tens of gigabytes: they run only when named. */
const ONLY_BY_NAME = new Set(['scale', 'billing-kills', 'two-years', 'business-year']);

/**
 * `npm run bench -- [names] [--json FILE]`: runs all benches or the named ones; prints one table at the end.
 * `scale --sizes 1M,10M,100M [--keep DIR | --from DIR]` prints a separate table, one column per size.
 * `usage-diff --events 100000` sends that many events, and `balance` has them stored; default: one million.
 * `billing-run --subscriptions 100000` bills that many; default: 10,000.
 * `billing-kills --kills 300 --seconds 240` kills billing processes that often, or until the time is over.
 * `open-page --seconds 3600` leaves each page open for an hour; default: one minute. It needs Chromium.
 * `pages --customers 100000 --events 10000000` opens pages with that many records; default: 100,000 and a million. It
 * needs Chromium.
 * `two-years [--subscriptions 1000] [--months 24] [--seed 1]` compares the bills of that many lives with a naive
 * account.
 * `business-year --customers 100 --months 12 [--seed 1]` compares the accounts of a company with a naive ledger.
 * `freshness --backfill` measures during the backfill of a new meter version.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    sizes: { type: 'string' },
    keep: { type: 'string' },
    from: { type: 'string' },
    backfill: { type: 'boolean' },
    events: { type: 'string' },
    kills: { type: 'string' },
    seconds: { type: 'string' },
    subscriptions: { type: 'string' },
    seed: { type: 'string' },
    customers: { type: 'string' },
    months: { type: 'string' },
  },
});
const unknown = positionals.filter((name) => BENCHES[name] === undefined);
if (unknown.length > 0) {
  process.stderr.write(
    `No bench ${unknown.join(', ')}. There are: ${Object.keys(BENCHES).join(', ')}\n`,
  );
  process.exit(2);
}

const rows: BenchRow[] = [];
const failed: string[] = [];
for (const name of positionals.length > 0
  ? positionals
  : Object.keys(BENCHES).filter((bench) => !ONLY_BY_NAME.has(bench))) {
  process.stderr.write(`${name} …\n`);
  try {
    const bench = await BENCHES[name]!();
    rows.push(...(await bench.run(values)));
  } catch (error) {
    failed.push(name);
    process.stderr.write(`${name} failed: ${error instanceof Error ? error.stack : error}\n`);
  }
}
process.stdout.write(`${table(rows)}\n`);
if (values.json !== undefined)
  writeFileSync(values.json, JSON.stringify({ rows, failed }, null, 2));
process.exitCode = failed.length > 0 ? 1 : 0;
