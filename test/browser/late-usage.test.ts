import { describeInBrowser } from '../support/requires.ts';
import { formatMoney } from '../../web/ui/text.ts';
import { mouse } from './hands.ts';
import { everyForm, settled } from './inspect.ts';
import { lateInvoice } from './late-invoice.ts';
import { cell, titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

/** Usage that arrives after its invoice is final, settled by a person. */
describeInBrowser('late usage', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  const hands = mouse;

  test('from Home to the reason, the events, the preview and the invoice that charges it', async () => {
    const { api } = shown.world;
    const invoice = await lateInvoice(shown.world, { name: 'late', more: 200 });
    const search = { invoice_ids: [invoice.id] };
    const { body: report } = await api.post('/v1/invoices/late-usage/search', search);
    const [late] = report.items;
    expect(late.lines).toMatchObject([{ billed_usage: '100', usage_now: '300' }]);
    const owed = formatMoney(late.outstanding_amount, 'usd');

    const { page, problems } = await shown.signedIn();
    await hands.press(page.getByRole('link', { name: 'Late usage of finalized invoices' }));
    await titled(page, 'Late usage');
    const rows = page.getByRole('region', { name: 'Invoices with late usage' });
    await rows.getByText(owed).first().waitFor();
    await settled(page);
    expect(await everyForm(page, 'late-usage, differences')).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await hands.press(rows.getByRole('link', { name: invoice.invoice_number }));
    await titled(page, `Late usage of ${invoice.invoice_number}`);
    await page.getByText('200 arrived later').waitFor();
    await settled(page);
    expect(await everyForm(page, 'late-usage, invoice')).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });

    await hands.press(page.getByRole('link', { name: /^Events behind / }));
    const why = page.getByRole('dialog', { name: /^Why this amount/ });
    await why.getByRole('link', { name: 'late-late', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await why.waitFor({ state: 'detached' });
    await hands.press(page.getByRole('main').getByRole('link', { name: 'Late usage' }));
    await titled(page, `Late usage of ${invoice.invoice_number}`);

    await hands.press(page.getByRole('button', { name: /^Charge / }));
    const dialog = page.getByRole('dialog', { name: 'Issue invoice for late usage' });
    await dialog.getByText(owed, { exact: true }).first().waitFor();
    await settled(page);
    expect(await everyForm(page, 'late-usage, preview')).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await hands.press(dialog.getByRole('button', { name: 'Issue invoice' }));
    await page.waitForURL(/\/invoices\/[^/]+$/);
    const charged = await api.get(`/v1/invoices/${page.url().split('/').at(-1)}`);
    expect(charged.body).toMatchObject({
      invoice_type: 'ONE_OFF',
      invoice_status: 'FINALIZED',
      metadata: { late_usage_of: invoice.id },
      subtotal: late.outstanding_amount,
    });
    await titled(page, charged.body.invoice_number);
    expect((await api.post('/v1/invoices/late-usage/search', search)).body.items).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('usage that was withdrawn: the preview of the credit note, the note, and nothing outstanding after it', async () => {
    const { api } = shown.world;
    const invoice = await lateInvoice(shown.world, { name: 'less', isLess: true });
    const path = `/v1/invoices/${invoice.id}/late-usage`;
    const preview = await api.post(`${path}/preview`, { as: 'credit_note' });
    expect(preview.body).toMatchObject({ amount: '-10', invoice: null });
    const credited = formatMoney(preview.body.credit_note.total_amount, 'usd');

    const { page, problems } = await shown.signedIn();
    await page.goto(`${page.url().replace(/\/$/, '')}/invoices/${invoice.id}`);
    await titled(page, invoice.invoice_number);
    await hands.press(page.getByRole('main').getByRole('link', { name: 'Late usage' }));
    await titled(page, `Late usage of ${invoice.invoice_number}`);
    await page.getByText('40 withdrawn later').waitFor();
    expect(await page.getByRole('button', { name: /^Charge / }).count()).toBe(0);
    await hands.press(page.getByRole('button', { name: `Credit ${credited}` }));
    const dialog = page.getByRole('dialog', { name: 'Issue credit note for late usage' });
    await cell(dialog, 'Rows of the credit note', 'less images').waitFor();
    await dialog.getByText(credited, { exact: true }).last().waitFor();
    await settled(page);
    expect(await everyForm(page, 'late-usage, credit note')).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await hands.press(dialog.getByRole('button', { name: 'Issue credit note' }));
    await page.getByRole('tab', { name: 'Payments and credits', selected: true }).waitFor();
    await cell(page, 'List of credit notes', credited).waitFor();
    const notes = await api.post('/v1/creditnotes/search', { invoice_id: invoice.id });
    expect(notes.body.items).toMatchObject([{ total_amount: '10', credit_note_status: 'FINALIZED' }]); // prettier-ignore
    const left = await api.get(`/v1/invoices/${invoice.id}`);
    expect(left.body.amount_remaining).toBe('50');
    await hands.press(page.getByRole('main').getByRole('link', { name: 'Late usage' }));
    await page.getByText(/^Nothing is outstanding/).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
