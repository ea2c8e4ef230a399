import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { customerId } from './api/customers.ts';
import { benchRow, type BenchOptions, type BenchRow } from './bench-row.ts';
import { fillEnvironment } from './pages/fill.ts';
import { signIn, startBrowser } from './whole/browser.ts';
import { startProduct, type Product } from './whole/product.ts';

/** Targets: first content of a page, and from a key or a click to the next picture. */
const CONTENT_MS_MAX = 1_000;
const INTERACTION_MS_MAX = 100;
/** Load average of the last minute below which the machine is quiet, and how long the bench waits for it. */
const QUIET_LOAD = 0.5;
const QUIET_WAIT_MS = 600_000;
/** Each page is opened this often; the median counts. */
const TIMES = 5;

interface Shown {
  readonly title: string;
  readonly path: string;
  /** The content of the page: it is shown when this text, or a row of this table, is shown. */
  readonly content: (page: Page) => Promise<void>;
}

const rowOf = (table: string) => (page: Page) =>
  page.getByRole('region', { name: table, exact: true }).getByRole('cell').first().waitFor();

const PAGES: readonly Shown[] = [
  {
    title: 'Home',
    path: '',
    content: (page) => page.getByText('MRR', { exact: true }).first().waitFor(),
  },
  { title: 'Events', path: '/events', content: rowOf('Events') },
  { title: 'Customers', path: '/customers', content: rowOf('Customers') },
  {
    title: 'Customers, found by a part of a name',
    path: '/customers?q=globex',
    content: rowOf('Customers'),
  },
  {
    title: 'One customer',
    path: `/customers/${customerId(77)}`,
    content: (page) => page.getByRole('tab').first().waitFor(),
  },
  { title: 'Subscriptions', path: '/subscriptions', content: rowOf('Subscriptions') },
  { title: 'Invoices', path: '/invoices', content: rowOf('Invoices') },
  { title: 'Wallets', path: '/wallets', content: rowOf('Wallets') },
  { title: 'Analytics', path: '/analytics', content: rowOf('Totals by usage') },
];

/**
 * The console with a hundred thousand customers, each with a subscription, an invoice and a wallet, and a million
 * events: how long after its address is opened a page shows its content, and how long the page takes from a key or a
 * click to the next picture. `--customers` and `--events` are the numbers of records.
 */
export async function run({ customers = '100000', events = '1000000' }: BenchOptions = {}): Promise<
  BenchRow[]
> {
  const browser = await startBrowser();
  const product = await startProduct();
  try {
    const { base, accepted } = await fillEnvironment(
      product,
      Number(customers),
      Number(events),
      note,
    );
    await untilQuiet();
    const page = await signedIn(browser, product);
    const notes = `${customers} customers, ${accepted} events; median of ${TIMES}`;
    const rows: BenchRow[] = [];
    for (const shown of PAGES) {
      const times: number[] = [];
      for (let time = 0; time < TIMES; time += 1) times.push(await contentAfter(page, base, shown));
      const inMs = times.map((ms) => ms.toFixed(0)).join(' ');
      note(`${shown.title}: ${inMs} ms, load ${loadavg()[0]!.toFixed(1)}`);
      rows.push(
        benchRow(
          `${shown.title}, first content`,
          medianOf(times),
          'ms',
          CONTENT_MS_MAX,
          `${notes}, load ${loadavg()[0]!.toFixed(1)}; ${inMs}`,
        ),
      );
    }
    rows.push(await interactions(page, base, notes));
    return rows;
  } finally {
    await browser.close();
    await product.close();
  }
}

/** Waits for the merges that follow the events: the targets are those of quiet cores. The notes have the load. */
async function untilQuiet(): Promise<void> {
  const end = performance.now() + QUIET_WAIT_MS;
  while (loadavg()[0]! > QUIET_LOAD && performance.now() < end) {
    note(`load ${loadavg()[0]!.toFixed(1)}, until ${QUIET_LOAD}`);
    await sleep(10_000);
  }
}

async function signedIn(browser: Browser, product: Product): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await signIn(page, product);
  return page;
}

/** Milliseconds from the navigation to the content. The page before it has all of its data: its queries are done. */
async function contentAfter(page: Page, base: string, { path, content }: Shown): Promise<number> {
  await page.waitForLoadState('networkidle');
  await page.goto('about:blank');
  const began = performance.now();
  await page.goto(base + path, { waitUntil: 'commit' });
  await content(page);
  return performance.now() - began;
}

/** The slowest of: keys of a search, an order, the next page, a tab, an entry of the menu. */
async function interactions(page: Page, base: string, notes: string): Promise<BenchRow> {
  await page.goto(`${base}/customers`);
  await rowOf('Customers')(page);
  await page.evaluate(watchInteractions);
  const seen: [string, number][] = [];
  const timed = async (name: string, act: () => Promise<unknown>): Promise<void> => {
    await act();
    await page.waitForLoadState('networkidle');
    seen.push([name, await page.evaluate(slowestInteraction)]);
  };
  await timed('a key of the search', () => page.getByRole('searchbox').first().press('a'));
  await timed('clear', () => page.getByRole('searchbox').first().press('Backspace'));
  await timed('next page', () => page.getByRole('button', { name: 'Next' }).click());
  await timed('a row', () =>
    page.getByRole('region', { name: 'Customers' }).getByRole('link').first().click(),
  );
  await timed('a tab', () => page.getByRole('tab').nth(1).click());
  for (const name of ['Invoices', 'Subscriptions', 'Events', 'Customers'])
    await timed(`menu: ${name}`, () =>
      page
        .getByRole('navigation', { name: 'Pages' })
        .getByRole('link', { name, exact: true })
        .click(),
    );
  const slowest = Math.max(...seen.map(([, ms]) => ms));
  return benchRow(
    'from a key or click to the next picture, slowest',
    slowest,
    'ms',
    INTERACTION_MS_MAX,
    `${notes}; ${seen.map(([name, ms]) => `${name} ${ms.toFixed(0)} ms`).join(', ')}`,
  );
}

interface Watching {
  slowestMs: number;
}

/** Runs in the page. The browser reports the time of an interaction in steps of 8 ms, and none below 16 ms. */
function watchInteractions(): void {
  const browser = globalThis as unknown as Watching & {
    PerformanceObserver: new (
      seen: (list: { getEntries(): { duration: number; interactionId: number }[] }) => void,
    ) => { observe(options: object): void };
  };
  browser.slowestMs = 0;
  new browser.PerformanceObserver((list) => {
    for (const { duration, interactionId } of list.getEntries())
      if (interactionId > 0) browser.slowestMs = Math.max(browser.slowestMs, duration);
  }).observe({ type: 'event', durationThreshold: 16 });
}

/** Runs in the page: milliseconds of the slowest interaction since the last call. */
function slowestInteraction(): number {
  const browser = globalThis as unknown as Watching;
  const { slowestMs } = browser;
  browser.slowestMs = 0;
  return slowestMs;
}

/** A line of progress, with the seconds since the start of the process. */
function note(text: string): void {
  process.stderr.write(`pages ${(performance.now() / 1_000).toFixed(0)} s: ${text}\n`);
}

const medianOf = (values: readonly number[]): number =>
  [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)]!;
