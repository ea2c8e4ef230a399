import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession, Page } from 'playwright-core';
import { benchRow, type BenchOptions, type BenchRow } from './bench-row.ts';
import { signIn, startBrowser } from './whole/browser.ts';
import { startProduct } from './whole/product.ts';

const EVENTS_PER_SECOND = 1_000;
const PAGES = [
  { title: 'Events', path: '/events' },
  { title: 'Home', path: '' },
];
/** One in each part of the time; the first quarter fills caches and is not compared. */
const SAMPLES = 12;
const MEGABYTE = 1_048_576;
/** A page that kept one number of each event would grow by more. */
const GROWTH_BYTES_MAX = 1.5 * MEGABYTE;

/**
 * How much memory a page gains while it is open and 1,000 events a second arrive: the live tail of events, and
 * home, open at the same time. Compares the heap after forced collections at the end with the heap after the
 * first quarter. `--seconds` is the time, a minute without it. Fails if a page grows.
 */
export async function run({ seconds = '60' }: BenchOptions = {}): Promise<BenchRow[]> {
  const browser = await startBrowser();
  const product = await startProduct();
  try {
    const eventNames = ['bench.count', 'bench.sum', 'bench.max'];
    const [meterId] = await product.createMeters(eventNames);
    const meter = await product.api.get<{ environment_id: string }>(`/meters/${meterId}`);
    const base = `${product.baseUrl}/env/${meter.environment_id}`;
    const context = await browser.newContext();
    await signIn(await context.newPage(), product);
    const load = await product.startLoad({
      eventsPerSecond: EVENTS_PER_SECOND,
      seconds: Number(seconds) + 15,
      eventNames,
    });
    const sending = load.ask('go');
    const opened: { title: string; page: Page }[] = [];
    for (const { title, path } of PAGES) {
      const page = await context.newPage();
      await page.goto(base + path);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      opened.push({ title, page });
    }
    const rows = await Promise.all(
      opened.map(({ title, page }) => growthOf(page, title, Number(seconds))),
    );
    await sending;
    await load.stop();
    return rows;
  } finally {
    await browser.close();
    await product.close();
  }
}

async function growthOf(page: Page, title: string, seconds: number): Promise<BenchRow> {
  const session = await page.context().newCDPSession(page);
  const samples: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    await sleep((seconds * 1_000) / SAMPLES);
    samples.push(await heapOf(session));
  }
  const nodes = await session.send('Memory.getDOMCounters');
  await session.detach();
  const compared = samples.slice(SAMPLES / 4);
  const growth = medianOf(compared.slice(-3)) - medianOf(compared.slice(0, 3));
  const inMegabytes = samples.map((bytes) => (bytes / MEGABYTE).toFixed(1)).join(' ');
  if (growth > GROWTH_BYTES_MAX)
    throw new Error(`${title} grew by ${growth} bytes in ${seconds} s; heap in MB: ${inMegabytes}`);
  return benchRow(
    `${title} left open at ${EVENTS_PER_SECOND} events/s, growth in ${seconds} s`,
    growth / MEGABYTE,
    'MB',
    null,
    `heap after forced collection, MB: ${inMegabytes}; ${nodes.nodes} nodes, ${nodes.jsEventListeners} listeners`,
  );
}

/** Collected twice: what finalizers free is gone after the second time. */
async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}

const medianOf = (values: readonly number[]): number =>
  [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)]!;
