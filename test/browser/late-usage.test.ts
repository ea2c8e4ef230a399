import { describeInBrowser } from '../support/requires.ts';
import { formatMoney } from '../../web/ui/text.ts';
import { catalogOf } from '../support/catalog.ts';
import { mouse } from './hands.ts';
import { everyForm, settled } from './inspect.ts';
import { titled } from './steps.ts';
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
    const invoice = await billedInvoice();
    await use('late', '200');
    const search = { invoice_ids: [invoice.id] };
    const { body: report } = await api.post('/v1/invoices/late-usage/search', search);
    const [late] = report.items;
    expect(late.lines).toMatchObject([{ billed_usage: '100', usage_now: '300' }]);
    const owed = formatMoney(late.outstanding_amount, 'usd');

    const { page, problems } = await shown.signedIn();
    await hands.press(page.getByRole('link', { name: 'Late usage of final invoices' }));
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
    await why.getByRole('link', { name: 'late', exact: true }).waitFor();
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

  /** The final invoice of a month in which 100 tokens were counted. */
  async function billedInvoice(): Promise<{
    readonly id: string;
    readonly invoice_number: string;
  }> {
    const { api } = shown.world;
    const catalog = catalogOf(api);
    const customer = await catalog.customer({ external_id: 'late', name: 'Late Ltd' });
    const plan = await catalog.plan('Metered');
    await catalog.usage(plan, { id: shown.records.get('/meters/$id')! }, { amount: '0.5' });
    const { start, end } = month();
    const subscription = await catalog.subscribe(customer, plan, { start_date: start });
    await use('in-time', '100');
    const { body: draft } = await api.post('/v1/invoices', {
      invoice_type: 'SUBSCRIPTION',
      customer_id: customer.id,
      subscription_id: subscription.id,
      currency: 'usd',
      period_start: start,
      period_end: end,
    });
    const answer = await api.post(`/v1/invoices/${draft.id}/finalize`, {});
    expect(answer.status).toBe(200);
    return (await api.get(`/v1/invoices/${draft.id}`)).body;
  }

  async function use(event_id: string, tokens: string): Promise<void> {
    const timestamp = new Date(Date.parse(month().start) + 86_400_000).toISOString();
    const properties = { tokens: Number(tokens), region: 'eu' };
    const event = { event_id, event_name: 'completion', external_customer_id: 'late', timestamp, source: 'test', properties }; // prettier-ignore
    await shown.world.send([event]);
    await shown.world.settled();
  }

  /** The calendar month before the present one. */
  function month(): { readonly start: string; readonly end: string } {
    const end = `${new Date(shown.world.api.clock.now()).toISOString().slice(0, 7)}-01T00:00:00.000Z`;
    const start = `${new Date(Date.parse(end) - 1).toISOString().slice(0, 7)}-01T00:00:00.000Z`;
    return { start, end };
  }
});
