import type { Page } from 'playwright-core';
import { decimal } from '../../domain/money.ts';
import { formatMoney } from '../../web/ui/text.ts';
import { describeInBrowser } from '../support/requires.ts';
import { keyboardOf, mouse, type Hands } from './hands.ts';
import { lateInvoice } from './late-invoice.ts';
import { cell, goTo, titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

/** Figures of Home, and the field of the API behind each. */
const FIGURES = {
  'Invoiced this month': 'invoiced_amount',
  'Collected this month': 'collected_amount',
  Open: 'open_amount',
  Overdue: 'overdue_amount',
} as const;
type Figure = keyof typeof FIGURES;

const WAYS = ['mouse and keyboard', 'keyboard alone'] as const;

/** What a finance person does with an overdue invoice at the end of a month. */
describeInBrowser('the close of a month', (executable) => {
  let shown: BrowserWorld;
  let page: Page;
  let hands: Hands;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test.each(WAYS)(
    'by %s: overdue, why, late usage charged and credited, a credit note, paid; Home agrees with the API at each step',
    async (way) => {
      const { api } = shown.world;
      const name = way === 'keyboard alone' ? 'keys' : 'mouse';
      const due_date = new Date(api.clock.now() + 60_000).toISOString();
      const invoice = await lateInvoice(shown.world, { name, more: 30, isLess: true, due_date });
      api.clock.advance(120_000);
      const watched = await shown.signedIn();
      page = watched.page;
      hands = name === 'keys' ? keyboardOf(page) : mouse;
      const before = await home();

      await openInvoice('Overdue', invoice.invoice_number);
      await hands.press(page.getByRole('link', { name: `Why this amount? ${name} tokens` }));
      const why = page.getByRole('dialog', { name: /^Why this amount/ });
      await why.getByText('$50.00', { exact: true }).first().waitFor();
      await why.getByText('100', { exact: true }).first().waitFor();
      await page.keyboard.press('Escape');
      await why.waitFor({ state: 'detached' });

      await settleLateUsage(invoice.invoice_number, 'Charge $15.00', 'Issue invoice');
      await page.waitForURL((url) => !url.pathname.endsWith(invoice.id) && /\/invoices\/[^/]+$/.test(url.pathname)); // prettier-ignore
      const { body: charged } = await api.get(`/v1/invoices/${page.url().split('/').at(-1)}`);
      expect(charged).toMatchObject({ total: '15', metadata: { late_usage_of: invoice.id } });
      const afterCharge = await home();
      expect(changed(before, afterCharge)).toEqual({ 'Invoiced this month': '15', Open: '15' });

      await openInvoice('Overdue', invoice.invoice_number);
      await settleLateUsage(invoice.invoice_number, 'Credit $10.00', 'Issue credit note');
      await cell(page, 'List of credit notes', '$10.00').waitFor();
      const afterCredit = await home();
      expect(changed(afterCharge, afterCredit)).toEqual({ Open: '-10', Overdue: '-10' });

      await openInvoice('Overdue', invoice.invoice_number);
      await hands.press(page.getByRole('button', { name: 'Credit note', exact: true }));
      const note = page.getByRole('dialog', { name: 'Credit note' });
      await hands.write(note.getByLabel(`${name} tokens`), '8.50');
      await note.getByText('$41.50', { exact: true }).waitFor();
      await hands.press(note.getByRole('button', { name: 'Issue credit note' }));
      await note.waitFor({ state: 'detached' });
      const afterNote = await home();
      expect(changed(afterCredit, afterNote)).toEqual({ Open: '-8.5', Overdue: '-8.5' });

      await openInvoice('Overdue', invoice.invoice_number);
      await recordPayment('$41.50');
      const afterPayment = await home();
      expect(changed(afterNote, afterPayment)).toEqual({
        'Collected this month': '41.5',
        Open: '-41.5',
        Overdue: '-41.5',
      });

      await openInvoice('Open', charged.invoice_number);
      await recordPayment('$15.00');
      const after = await home();
      expect(changed(afterPayment, after)).toEqual({ 'Collected this month': '15', Open: '-15' });
      const late = { invoice_ids: [invoice.id] };
      expect((await api.post('/v1/invoices/late-usage/search', late)).body.items).toEqual([]);
      expect(watched.problems).toEqual([]);
      await page.context().close();
    },
  );

  /** From Home through the list behind a figure to one invoice. */
  async function openInvoice(figure: Figure, number: string): Promise<void> {
    await hands.press(page.getByRole('main').getByRole('link', { name: figure, exact: true }));
    await titled(page, 'Invoices');
    await hands.press(page.getByRole('link', { name: number, exact: true }));
    await titled(page, number);
  }

  async function settleLateUsage(number: string, button: string, issue: string): Promise<void> {
    await hands.press(page.getByRole('main').getByRole('link', { name: 'Late usage' }));
    await titled(page, `Late usage of ${number}`);
    await hands.press(page.getByRole('button', { name: button }));
    const dialog = page.getByRole('dialog', { name: `${issue} for late usage` });
    await hands.press(dialog.getByRole('button', { name: issue }));
    await dialog.waitFor({ state: 'detached' });
  }

  /** The whole open amount, received today. */
  async function recordPayment(open: string): Promise<void> {
    await hands.press(page.getByRole('button', { name: 'Record payment' }));
    const dialog = page.getByRole('dialog', { name: 'Record payment' });
    await dialog.getByText(open, { exact: true }).waitFor();
    await hands.press(dialog.getByRole('button', { name: 'Record payment' }));
    await dialog.waitFor({ state: 'detached' });
  }

  /** The figures of Home in dollars, once they are those of the API. */
  async function home(): Promise<Readonly<Record<Figure, string>>> {
    const { api } = shown.world;
    await goTo(page, 'Home', hands);
    const start_time = `${new Date(api.clock.now()).toISOString().slice(0, 7)}-01T00:00:00.000Z`;
    const { body } = await api.post('/v1/dashboard/summary', { start_time, open_of: 'all' });
    const sums = body.currencies.find(({ currency }: { currency: string }) => currency === 'usd');
    const figures = Object.entries(FIGURES).map(([label, field]) => [label, sums[field]]);
    for (const [label, amount] of figures)
      await page
        .getByRole('main')
        .getByRole('link', { name: label, exact: true })
        .locator('xpath=../..')
        .getByText(formatMoney(amount, 'usd'), { exact: true })
        .waitFor();
    return Object.fromEntries(figures);
  }
});

/** The figures that are not the same, by how much. */
const changed = (
  before: Readonly<Record<Figure, string>>,
  after: Readonly<Record<Figure, string>>,
): Partial<Record<Figure, string>> =>
  Object.fromEntries(
    (Object.keys(FIGURES) as Figure[])
      .map((label) => [label, decimal(after[label]).minus(before[label])] as const)
      .filter(([, difference]) => !difference.isZero())
      .map(([label, difference]) => [label, difference.toFixed()]),
  );
