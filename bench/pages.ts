import type { Browser, Page } from 'playwright-core';
import { connectPostgres, type Pool, type Scope } from '../postgres/client.ts';
import { customerId, makeCustomers } from './api/customers.ts';
import { benchRow, type BenchOptions, type BenchRow } from './bench-row.ts';
import { signIn, startBrowser } from './whole/browser.ts';
import { startProduct, type Product } from './whole/product.ts';

/** Targets: first content of a page, and from a key or a click to the next picture. */
const CONTENT_MS_MAX = 1_000;
const INTERACTION_MS_MAX = 100;
const EVENTS_PER_SECOND = 20_000;
/** Each page is opened this often; the median counts. */
const TIMES = 5;
const EVENT_NAMES = ['bench.count', 'bench.sum', 'bench.max'];

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
];

/**
 * The console with a hundred thousand customers, each with a subscription and an invoice, and a million events:
 * how long after its address is opened a page shows its content, and how long the page takes from a key or a
 * click to the next picture. `--customers` and `--events` are the numbers of records.
 */
export async function run({ customers = '100000', events = '1000000' }: BenchOptions = {}): Promise<
  BenchRow[]
> {
  const browser = await startBrowser();
  const product = await startProduct();
  try {
    const base = await fill(product, Number(customers), Number(events));
    const page = await signedIn(browser, product);
    const notes = `${customers} customers, ${events} events; median of ${TIMES}`;
    const rows: BenchRow[] = [];
    for (const shown of PAGES) {
      const times: number[] = [];
      for (let time = 0; time < TIMES; time += 1) times.push(await contentAfter(page, base, shown));
      rows.push(
        benchRow(
          `${shown.title}, first content`,
          medianOf(times),
          'ms',
          CONTENT_MS_MAX,
          `${notes}; ${times.map((ms) => ms.toFixed(0)).join(' ')}`,
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

/** Fills the environment. Returns the address of its console. */
async function fill(product: Product, customers: number, events: number): Promise<string> {
  const pool = connectPostgres({ url: product.ownerUrl, applicationName: 'bench' });
  try {
    const [scope] = await pool<Scope[]>`
      select tenant_id, environment_id from api_keys order by created_at limit 1`;
    await makeCustomers(pool, scope!, customers);
    await product.createMeters(EVENT_NAMES);
    await contractsOf(product, pool);
    if (events > 0) await sendEvents(product, events);
    return `${product.baseUrl}/env/${scope!.environment_id}`;
  } finally {
    await pool.end({ timeout: 1 });
  }
}

/** One subscription and one invoice through the API; every other customer gets copies of their rows. */
async function contractsOf({ api }: Product, pool: Pool): Promise<void> {
  const first = customerId(1);
  const plan = await api.post<{ id: string }>('/plans', { name: 'Growth' });
  await api.post('/prices', {
    entity_type: 'PLAN',
    entity_id: plan.id,
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    amount: '49',
    currency: 'usd',
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    price_unit_type: 'FIAT',
    invoice_cadence: 'ADVANCE',
  });
  await api.post('/subscriptions', {
    customer_id: first,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    billing_cycle: 'anniversary',
  });
  await api.post('/invoices', {
    customer_id: first,
    invoice_type: 'ONE_OFF',
    currency: 'usd',
    line_items: [{ display_name: 'Set-up', amount: '49', quantity: '1' }],
  });
  await pool.begin(async (tx) => {
    for (const table of COPIED) {
      await tx`alter table ${tx(table)} disable trigger user`;
      await tx`
        insert into ${tx(table)}
        select (jsonb_populate_record(made, ids.of_copy || jsonb_build_object(
                 'customer_id', c.id, 'idempotency_key', null,
                 'invoice_number', (to_jsonb(made) ->> 'invoice_number') || '-' || c.external_id))).*
          from ${tx(table)} made, customers c,
               lateral (select jsonb_object_agg(key, left(value, -12) || right(c.id, 12)) as of_copy
                          from jsonb_each_text(to_jsonb(made))
                         where key = any(${OWN_IDS}) and value is not null) ids
         where made.customer_id = ${first} and c.id <> ${first}
           and c.tenant_id = made.tenant_id and c.environment_id = made.environment_id`;
      await tx`alter table ${tx(table)} enable trigger user`;
    }
  });
  for (const table of COPIED) await pool.unsafe(`vacuum analyze ${table}`);
}

/** Columns with ids of copied rows. */
const OWN_IDS = ['id', 'subscription_id', 'subscription_line_item_id', 'invoice_id'];
const COPIED = [
  'subscriptions',
  'subscription_line_items',
  'invoices',
  'invoice_line_items',
] as const;

async function sendEvents(product: Product, events: number): Promise<void> {
  const load = await product.startLoad({
    eventsPerSecond: EVENTS_PER_SECOND,
    seconds: Math.ceil(events / EVENTS_PER_SECOND),
    eventNames: EVENT_NAMES,
  });
  const { accepted } = await load.ask<{ accepted: number }>('go');
  await load.stop();
  while ((await product.visibleEvents()) < accepted)
    await new Promise((resolve) => setTimeout(resolve, 1_000));
}

async function signedIn(browser: Browser, product: Product): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await signIn(page, product);
  return page;
}

/** Milliseconds from the navigation to the content. */
async function contentAfter(page: Page, base: string, { path, content }: Shown): Promise<number> {
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

const medianOf = (values: readonly number[]): number =>
  [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)]!;
