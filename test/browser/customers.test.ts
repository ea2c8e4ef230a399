import { describeInBrowser } from '../support/requires.ts';
import { catalogOf } from '../support/catalog.ts';
import { mouse } from './hands.ts';
import { titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** What a finance person corrects of a customer. */
describeInBrowser('customers', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('an address, an e-mail and the tax treatment are edited; a refusal stands at its field and keeps the rest', async () => {
    const { api } = shown.world;
    const customer = await catalogOf(api).customer({
      external_id: 'typo',
      name: 'Typo Ltd',
      email: 'billing@typo.exmaple',
      address_city: 'Ghent',
      address_country: 'BE',
      metadata: { segment: 'small' },
    });
    const { page, problems } = await shown.signedIn();
    await page.goto(`${page.url().replace(/\/$/, '')}/customers/${customer.id}`);
    await titled(page, 'Typo Ltd');
    await hands.press(page.getByRole('link', { name: 'Edit', exact: true }));
    await titled(page, 'Edit customer');
    expect(await page.getByLabel('City').inputValue()).toBe('Ghent');
    await hands.write(page.getByLabel('E-mail'), 'billing@typo.example');
    await hands.write(page.getByLabel('City'), '');
    await hands.write(page.getByRole('textbox', { name: /^Address( optional)?$/ }), 'Korenmarkt 1');
    await hands.choose(page.getByLabel('Tax'), 'Exempt');
    await hands.write(page.getByLabel('External id'), 'acme');
    await hands.press(page.getByRole('button', { name: 'Save customer' }));
    await page.locator('[name="external_id"][aria-invalid="true"]').waitFor();
    expect(await page.getByLabel('E-mail').inputValue()).toBe('billing@typo.example');
    expect(problems.splice(0).filter((text) => !/409|400/.test(text))).toEqual([]);

    await hands.write(page.getByLabel('External id'), 'typo');
    await hands.press(page.getByRole('button', { name: 'Save customer' }));
    await titled(page, 'Typo Ltd');
    await page.getByText('billing@typo.example').waitFor();
    await page.getByText('Korenmarkt 1, BE').waitFor();
    expect((await api.get(`/v1/customers/${customer.id}`)).body).toMatchObject({
      email: 'billing@typo.example',
      address_line1: 'Korenmarkt 1',
      address_city: '',
      address_country: 'BE',
      tax_treatment: 'exempt',
      external_id: 'typo',
      metadata: { segment: 'small' },
    });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('of a customer on a test clock, the days of the clock are shown: usage, events, payments, portal', async () => {
    const { api } = shown.world;
    const catalog = catalogOf(api);
    const clock = await api.postOk('/v1/test-clocks', { name: 'May', now: '2026-05-20T12:00:00Z' });
    const past = await catalog.customer({
      ...{ external_id: 'past', name: 'Past Inc', test_clock_id: clock.id },
    });
    await api.postOk('/v1/subscriptions', {
      ...{ customer_id: past.id, plan_id: shown.records.get('/plans/$id') },
      ...{ currency: 'usd', start_date: '2026-05-01T00:00:00Z', billing_period: 'MONTHLY' },
    });
    const event = { event_name: 'completion', external_customer_id: 'past', source: 'test' };
    const counted = { timestamp: '2026-05-19T10:00:00Z', properties: { tokens: 5, region: 'eu' } };
    await shown.world.send([{ ...event, event_id: 'in-may', ...counted }]);
    await shown.world.settled();
    const invoice = await api.postOk('/v1/invoices', {
      ...{ customer_id: past.id, invoice_type: 'ONE_OFF', currency: 'usd' },
      line_items: [{ display_name: 'Setup', amount: '10', quantity: '1' }],
    });
    const { page, problems } = await shown.signedIn();
    const home = page.url().replace(/\/$/, '');
    await page.goto(`${home}/customers/${past.id}?tab=usage`);
    await page
      .getByRole('cell', { name: /^5( tokens)?$/ })
      .first()
      .waitFor();
    await page.goto(`${home}/analytics?customer=past`);
    await page.getByText('21 Apr 2026 – 20 May 2026').waitFor();
    await page.getByRole('figure').first().waitFor();
    await page.goto(`${home}/customers/${past.id}?tab=timeline`);
    await page.getByRole('figure', { name: 'Events by day (UTC)' }).waitFor();
    await page.goto(`${home}/invoices/${invoice.id}`);
    await hands.press(page.getByRole('button', { name: 'Record payment' }));
    await page.locator('input[type="date"][value="2026-05-20"]').waitFor();
    const { url } = (await api.get('/v1/customers/portal/past')).body;
    await page.goto(`${shown.url}/portal${new URL(url).hash}`);
    await hands.press(page.getByRole('link', { name: 'Usage' }));
    await page.getByText('14 May 2026 – 20 May 2026').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('an invoice is overdue by the test clock of its customer: in the invoice, in lists, in the portal', async () => {
    const { api } = shown.world;
    const clock = await api.postOk('/v1/test-clocks', { name: 'Jan', now: '2026-01-20T12:00:00Z' });
    const customer = await catalogOf(api).customer({
      ...{ external_id: 'not-late', name: 'Not Late Inc', test_clock_id: clock.id },
    });
    const invoice = await api.postOk('/v1/invoices', {
      ...{ customer_id: customer.id, invoice_type: 'ONE_OFF', currency: 'usd' },
      ...{ invoice_status: 'FINALIZED', due_date: '2026-02-01T00:00:00Z' },
      line_items: [{ display_name: 'Setup', amount: '10', quantity: '1' }],
    });
    const { page, problems } = await shown.signedIn();
    const home = page.url().replace(/\/$/, '');
    const badge = (text: string) => page.getByText(text, { exact: true }).first();
    await page.goto(`${home}/invoices/${invoice.id}`);
    await badge('Due').waitFor();
    await page.goto(`${home}/invoices?customer_id=${customer.id}`);
    await page.getByRole('cell', { name: 'Due', exact: true }).waitFor();
    await page.goto(`${home}/invoices?customer_id=${customer.id}&show=overdue`);
    await page.getByText('No invoice matches').waitFor();
    const { url } = (await api.get('/v1/customers/portal/not-late')).body;
    await page.goto(`${shown.url}/portal${new URL(url).hash}`);
    await hands.press(page.getByRole('link', { name: 'Invoices' }));
    await page.getByRole('cell', { name: 'Due', exact: true }).waitFor();

    await api.postOk(`/v1/test-clocks/${clock.id}/advance`, { to: '2026-02-02T00:00:00Z' });
    await shown.world.job('advance-test-clocks');
    await page.goto(`${home}/invoices?customer_id=${customer.id}&show=overdue`);
    await page.getByRole('cell', { name: 'Overdue', exact: true }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
