import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { table, type BenchRow } from './bench-row.ts';

/** Every bench by name. Each is imported only when it runs, and runs alone. */
const BENCHES: Readonly<Record<string, () => Promise<{ run(): Promise<BenchRow[]> }>>> = {
  log: () => import('./log.ts'),
  'edge-bulk': () => import('./edge-bulk.ts'),
  'edge-single': () => import('./edge-single.ts'),
  stream: () => import('./stream.ts'),
  'end-to-end': () => import('./end-to-end.ts'),
  freshness: () => import('./freshness.ts'),
  'usage-query': () => import('./usage-query.ts'),
  'billing-run': () => import('./billing-run.ts'),
  rating: () => import('./rating.ts'),
};

/** `npm run bench -- [names] [--json FILE]`: all of them, or those that are named; one table at the end. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' } },
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
for (const name of positionals.length > 0 ? positionals : Object.keys(BENCHES)) {
  process.stderr.write(`${name} …\n`);
  try {
    const bench = await BENCHES[name]!();
    rows.push(...(await bench.run()));
  } catch (error) {
    failed.push(name);
    process.stderr.write(`${name} failed: ${error instanceof Error ? error.stack : error}\n`);
  }
}
process.stdout.write(`${table(rows)}\n`);
if (values.json !== undefined)
  writeFileSync(values.json, JSON.stringify({ rows, failed }, null, 2));
process.exitCode = failed.length > 0 ? 1 : 0;
