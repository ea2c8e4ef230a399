import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/requires.ts';
import { mouse } from './hands.ts';
import { settled } from './inspect.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

/** Figures of the home page, and the place of the number of records behind each; null: it has no such number. */
const FIGURES: Readonly<Record<string, 'value' | 'note' | null>> = {
  MRR: null,
  'Invoiced this month': 'note',
  'Collected this month': 'note',
  Open: 'note',
  Overdue: 'note',
  'Events today': 'value',
  'Events per second': null,
  'Metered events': 'value',
  'Rejected events': 'value',
  'Duplicate events': 'value',
  'Balance at risk, CHF': 'note',
  'Balance at risk, GBP': 'note',
  'Alert raised': 'value',
  Empty: 'value',
};

interface Shown {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly address: string;
}

const hands = mouse;

describeInBrowser('home', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
    await bill(shown);
  });
  afterAll(() => shown?.close());

  test('each number leads to a list of as many records', async () => {
    const { page, problems } = await shown.signedIn();
    // Sign-in does not load a new document, so the browser does not report when the requests of this page have ended.
    for (const name of Object.keys(FIGURES))
      await page.locator('main [data-figure] a').getByText(name, { exact: true }).first().waitFor();
    const figures = (await page.evaluate(figuresOf)).filter(
      ({ address }) => !address.endsWith('/doctor'),
    );
    expect(figures.map(({ label }) => label)).toEqual(Object.keys(FIGURES));
    const counted: [string, number][] = [];
    const listed: [string, number][] = [];
    for (const { label, address, ...texts } of figures) {
      const place = FIGURES[label];
      await page.goto(address);
      await settled(page);
      const total = await totalOf(page);
      if (place == null) expect([label, total > 0]).toEqual([label, true]);
      else {
        counted.push([label, Number(/^[\d,]+/.exec(texts[place])?.[0].replaceAll(',', ''))]);
        listed.push([label, total]);
      }
    }
    const atRisk = figures.filter(({ label }) => label.startsWith('Balance at risk'));
    expect(atRisk.map(({ value }) => value)).toEqual(['CHF\u00a02.00', '£1.00']);
    expect(listed).toEqual(counted);
    // Every list has something to be compared by.
    expect(counted.filter(([, count]) => count === 0)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the line of today ends with the last whole hour', async () => {
    const { page, problems } = await shown.signedIn();
    const chart = page.getByRole('figure', { name: 'Events by hour, today and yesterday' });
    await chart.getByText('Today until 12:00').first().waitFor();
    await hands.press(chart.getByText('Show as a table'));
    // The clock of the page is at 12 o'clock: of that hour nothing is known yet.
    const row = (time: string) => chart.getByRole('row').filter({ hasText: time });
    await row('11:00').getByRole('cell', { name: '4', exact: true }).waitFor();
    await row('12:00').getByRole('cell', { name: '–', exact: true }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

/** Invoices that are open, overdue and paid in part, a payment, an empty wallet, and two wallets with an alert. */
async function bill({ world: { api }, records }: BrowserWorld): Promise<void> {
  const customer_id = records.get('/customers/$id');
  const day = (days: number): string => new Date(api.clock.now() + days * 86_400_000).toISOString();
  for (const [amount, due_date] of [
    ['10', day(5)],
    ['20', day(5)],
    ['30', new Date(api.clock.now() + 60_000).toISOString()],
  ] as const) {
    const { id } = await api.postOk('/v1/invoices', {
      customer_id,
      invoice_type: 'ONE_OFF',
      currency: 'usd',
      due_date,
      line_items: [{ display_name: 'Set-up', amount, quantity: '1' }],
    });
    if (amount === '20')
      await api.postOk('/v1/payments', {
        destination_type: 'INVOICE',
        destination_id: id,
        payment_method_type: 'OFFLINE',
        amount: '5',
        currency: 'usd',
      });
  }
  await api.postOk('/v1/wallets', { customer_id, currency: 'eur', name: 'Nothing in it' });
  for (const [currency, credits_to_add] of [
    ['chf', '2'],
    ['gbp', '1'],
  ]) {
    const low = await api.postOk('/v1/wallets', {
      customer_id,
      currency,
      name: 'Low',
      alert_settings: {
        alert_enabled: true,
        critical: { condition: 'below', threshold: '50' },
      },
    });
    await api.postOk(`/v1/wallets/${low.id}/top-up`, {
      credits_to_add,
      transaction_reason: 'FREE_CREDIT_GRANT',
      idempotency_key: `low ${currency}`,
    });
  }
  // The third invoice is overdue.
  api.clock.advance(120_000);
}

/** The number of records that a list shows; 0 for an empty one. */
async function totalOf(page: Page): Promise<number> {
  const pager = page.getByText(/^[\d,]+–[\d,]+ of [\d,]+$/);
  if ((await pager.count()) === 0) return 0;
  return Number((await pager.first().innerText()).split(' of ')[1]!.replaceAll(',', ''));
}

/** Runs in the page. */
function figuresOf(): Shown[] {
  interface Box {
    readonly textContent: string | null;
    readonly href: string;
    readonly parentElement: { readonly parentElement: { readonly children: Iterable<Box> } };
  }
  const { document } = globalThis as unknown as {
    document: { querySelectorAll(selector: string): Iterable<Box> };
  };
  return [...document.querySelectorAll('main [data-figure] a')].map((link) => {
    const [, value, note] = [...link.parentElement.parentElement.children];
    return {
      label: link.textContent ?? '',
      value: value?.textContent ?? '',
      note: note?.textContent ?? '',
      address: link.href,
    };
  });
}
