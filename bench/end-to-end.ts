import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { benchRow, type BenchRow } from './bench-row.ts';
import { cpuSecondsOfTree } from './processes.ts';
import type { LoadReport } from './whole/load-process.ts';
import { startProduct, type Product } from './whole/product.ts';

const EVENTS_PER_SECOND = Number(process.env['BENCH_EVENTS_PER_SECOND'] ?? 45_000);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
const LAYOUTS: Readonly<Record<string, readonly string[]>> = {
  'three names': ['bench.count', 'bench.sum', 'bench.max'],
  'one name': ['bench.all'],
};

/**
 * Everything on this machine: load tool, edge, log, stream, engines. Bulk calls send events at a steady
 * rate. The figure: events visible in usage within the minute, compared with events accepted.
 */
export async function run(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const [layout, eventNames] of Object.entries(LAYOUTS)) {
    const product = await startProduct();
    try {
      rows.push(await measure(product, layout, eventNames));
    } finally {
      await product.close();
    }
  }
  return rows;
}

async function measure(
  product: Product,
  layout: string,
  eventNames: readonly string[],
): Promise<BenchRow> {
  await product.createMeters(eventNames);
  const load = await product.startLoad({
    eventsPerSecond: EVENTS_PER_SECOND,
    seconds: SECONDS,
    eventNames,
  });
  const cpuBefore = cpu(product);
  const began = performance.now();
  const sending = load.ask<LoadReport>('go');
  const rss: number[] = [];
  const sampling = setInterval(() => rss.push(rssMb(product.pids()['stream']!)), 1_000);
  const report = await sending;
  const visible = await product.visibleEvents();
  const seconds = (performance.now() - began) / 1000;
  clearInterval(sampling);
  const cpuAfter = cpu(product);
  const drained = await untilDrained(product, report.accepted);
  await load.stop();
  const perMillion = Object.keys(cpuBefore)
    .map((name) => `${name} ${(((cpuAfter[name]! - cpuBefore[name]!) / visible) * 1e6).toFixed(1)}`)
    .join(', ');
  const [early = 0, late = 0] = [rss[Math.floor(rss.length / 3)], rss.at(-1)];
  return benchRow(
    `end to end, three meters on ${layout}`,
    visible / seconds,
    'events/s',
    report.accepted / report.seconds,
    `${SECONDS} s at ${EVENTS_PER_SECOND}/s offered, refused ${report.refused}; the rest visible ${drained.toFixed(1)} s later; ` +
      `stream memory ${early} → ${late} MB; CPU s/M: ${perMillion}; limit: accepted`,
  );
}

/** Seconds until the stream has processed all accepted events. */
async function untilDrained(product: Product, accepted: number): Promise<number> {
  const began = performance.now();
  while ((await product.visibleEvents()) < accepted) {
    if (performance.now() - began > 300_000) throw new Error('the stream does not catch up');
    await sleep(100);
  }
  return (performance.now() - began) / 1000;
}

const cpu = (product: Product): Record<string, number> =>
  Object.fromEntries(
    Object.entries(product.pids()).map(([name, pid]) => [name, cpuSecondsOfTree(pid)]),
  );

function rssMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
}
