import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/requires.ts';
import { everyForm, settled, shifts } from './inspect.ts';
import { startBrowserWorld, type BrowserWorld, type Watched } from './world.ts';

/** The paths of the portal's route table. Its file cannot be imported here: it names components. */
const table = readFileSync(new URL('../../web/portal/routes.ts', import.meta.url), 'utf8');
const PATHS = [...table.matchAll(/\{ path: '([^']+)'/g)].map((match) => match[1]!);
const HOSTILE = `<script>alert(1)</script> ${'شركة '.repeat(10)}${'x'.repeat(150)}`;

/** What a customer sees behind a link of the company that bills them. */
describeInBrowser('portal', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
    await shown.world.api.postOk('/v1/connections', { name: 'Test', provider_type: 'test' });
  });
  afterAll(() => shown?.close());

  const answered = ({ status, body }: { status: number; body: any }): any => {
    if (status >= 300) throw new Error(JSON.stringify(body));
    return body;
  };
  const read = async (path: string): Promise<any> => answered(await shown.world.api.get(path));
  /** The address of a link on the port of this test. */
  const here = (link: string): string => link.replace(/^https?:\/\/[^/]+/, shown.url);
  /** The portal of a customer, at one of its pages. */
  const portalOf = async (externalId: string, path = ''): Promise<Watched> => {
    const { url } = await read(`/v1/customers/portal/${externalId}`);
    const watched = await shown.fresh();
    await watched.page.goto(here(url));
    await watched.page.getByRole('navigation', { name: 'Pages' }).waitFor();
    if (path !== '') await watched.page.goto(`${shown.url}/portal${path}`);
    await settled(watched.page);
    return watched;
  };
  const invoiceFor = (customer_id: string, line: object = {}) =>
    shown.world.api.postOk('/v1/invoices', {
      customer_id,
      invoice_type: 'ONE_OFF',
      currency: 'usd',
      line_items: [{ display_name: 'Set-up', amount: '40', quantity: '1', ...line }],
    });
  /** Usage of the customer with the contract, counted. */
  async function useTokens(event_id: string, tokens: number): Promise<void> {
    const { world } = shown;
    world.api.clock.advance(60_000);
    await world.send([
      {
        event_id,
        event_name: 'completion',
        external_customer_id: 'acme',
        timestamp: new Date(world.api.clock.now() - 1_000).toISOString(),
        source: 'test',
        properties: { tokens, region: 'eu' },
      },
    ]);
    await world.settled();
  }
  const newCustomer = async (external_id: string, name = external_id) =>
    await shown.world.api.postOk('/v1/customers', { external_id, name });

  test('every page in light and dark at three widths: axe finds nothing, nothing overflows, nothing fails; the token leaves the address', async () => {
    await shown.world.api.postOk(
      `/v1/customers/${shown.records.get('/customers/$id')}/payment-methods`,
      {
        gateway_method_id: 'pm_test_success',
        payment_gateway: 'test',
      },
    );
    await useTokens('portal-usage', 2_500);
    const { page, problems } = await portalOf('acme');
    expect(page.url()).toBe(`${shown.url}/portal`);
    expect(await page.evaluate(kept)).toEqual([]);
    const found: string[] = [];
    for (const path of PATHS) {
      const id = shown.records.get(path) ?? '';
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(`${shown.url}/portal${path.replace(/\$\w+/, id)}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settled(page);
      found.push(...(await shifts(page, `portal${path}`)));
      found.push(...(await everyForm(page, `portal${path}`)));
    }
    // The figures on the pages are those of the API.
    await page.goto(`${shown.url}/portal/usage`);
    await page.getByText('2,500 tokens of 10,000 (25%)').waitFor();
    const { amount_due } = await shown.world.api.postOk('/v1/invoices/preview', {
      subscription_id: shown.records.get('/subscriptions/$id'),
    });
    const owed = await read(
      `/v1/customers/${shown.records.get('/customers/$id')}/invoices/summary`,
    );
    await goTo(page, 'Overview');
    await page.getByText(dollars(amount_due)).waitFor();
    await page.getByText(dollars(owed.summaries[0].total_unpaid_amount)).waitFor();
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });

  test('by keyboard: an invoice is paid on the payment page after a decline, the next with a saved method; credits are bought', async () => {
    const customer = await newCustomer('payer');
    const [first, second] = [await invoiceFor(customer.id), await invoiceFor(customer.id)];
    const wallet = await shown.world.api.postOk('/v1/wallets', {
      customer_id: customer.id,
      currency: 'usd',
    });
    const { page, problems } = await portalOf('payer');
    const found: string[] = [];
    const press = (name: string | RegExp) => page.getByRole('button', { name }).press('Enter');
    const payPage = async (choices: readonly string[]): Promise<void> => {
      const link = page.getByRole('link', { name: 'Open the payment page' });
      const paying = await page.context().newPage();
      await paying.goto(here((await link.getAttribute('href'))!));
      for (const choice of choices) {
        await paying.getByRole('button', { name: choice }).press('Enter');
        if (choice.startsWith('Decline')) await paying.getByRole('alert').waitFor();
      }
      await paying.getByRole('heading', { name: 'Paid' }).waitFor();
      await paying.close();
    };

    await page.getByText('$80.00').waitFor();
    await goTo(page, 'Invoices');
    await page.getByRole('link', { name: first.invoice_number }).press('Enter');
    await press('Pay now');
    found.push(...(await everyForm(page, 'portal-pay')));
    await press('Pay $40.00');
    await page.getByText('Waiting for the payment').waitFor();
    found.push(...(await everyForm(page, 'portal-waiting')));
    await payPage(['Decline the card', 'Pay $40.00']);
    await page.getByText('$40.00 paid').waitFor();
    await page.getByText('Paid', { exact: true }).first().waitFor();
    expect(await read(`/v1/invoices/${first.id}`)).toMatchObject({ amount_paid: '40' });

    await goTo(page, 'Payment methods');
    await page.getByText('No payment method is saved').waitFor();
    await press('Add a test method');
    found.push(...(await everyForm(page, 'portal-add-method')));
    await press('Save method');
    await page.getByText('Test ending in').waitFor();

    // The overview has only the invoice that is still open.
    await goTo(page, 'Overview');
    await page.getByRole('heading', { name: 'Open invoices' }).waitFor();
    expect(await page.getByRole('link', { name: first.invoice_number }).count()).toBe(0);
    await press(`Pay invoice ${second.invoice_number}`);
    await page.getByLabel('Pay with').waitFor();
    found.push(...(await everyForm(page, 'portal-overview-pay')));
    await press('Pay $40.00');
    await page.getByText('$40.00 paid').waitFor();
    await page.getByRole('heading', { name: 'Open invoices' }).waitFor({ state: 'detached' });
    await page.goto(`${shown.url}/portal/invoices/${second.id}`);
    expect(await read(`/v1/invoices/${second.id}`)).toMatchObject({ amount_paid: '40' });

    await page.goto(`${shown.url}/portal/wallets/${wallet.id}`);
    await press('Top up');
    await page.getByLabel('Credits', { exact: true }).fill('25');
    found.push(...(await everyForm(page, 'portal-top-up')));
    await press('Continue to payment');
    await page.getByText('Waiting for the payment').waitFor();
    await payPage(['Pay $25.00']);
    await page.getByText('Credits bought').waitFor();
    expect(await read(`/v1/wallets/${wallet.id}`)).toMatchObject({ credit_balance: '25' });

    await press('Change automatic top-up');
    await page.getByRole('checkbox').press('Space');
    await page.getByLabel('When this many credits').fill('5');
    await page.getByLabel('Credits to buy each time').fill('50');
    // What each purchase costs is shown before it is switched on.
    await page.getByText('Price each time, before tax').waitFor();
    await page.getByRole('dialog').getByText('$50.00').waitFor();
    found.push(...(await everyForm(page, 'portal-automatic')));
    await press('Save');
    await page.getByText('50 credits when 5 or fewer are left').waitFor();

    await goTo(page, 'Payment methods');
    await press(/^Remove/);
    found.push(...(await everyForm(page, 'portal-remove')));
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).press('Enter');
    await page.getByText('No payment method is saved').waitFor();

    // Leaving ends the session in this browser.
    await press('Sign out');
    await page.getByRole('heading', { name: 'You have left the portal' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Open the link that you were sent' }).waitFor();
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });

  test('the page of usage shows what the setting says: ranges, days, features, figures, and which parts', async () => {
    const { api } = shown.world;
    await useTokens('portal-usage-page', 100);
    const stored = await read('/v1/settings/customer_portal_config');
    const saved = async (usage_graph: object, metric_cards: object, parts: object[] = []) => {
      const tab = (id: string, type: string, order: number, rest: object = {}) => ({
        ...{ id, type, order, enabled: true },
        ...rest,
      });
      const tabs = [
        tab('1', 'metric_cards', 1, { metric_cards }),
        tab('2', 'usage_graph', 2, { usage_graph }),
        tab('3', 'current_usage', 4),
        tab('4', 'usage_breakdown', 3),
        ...parts,
      ];
      const sections = [{ id: 'usage', enabled: true, tabs }];
      answered(await api.put('/v1/settings/customer_portal_config', { value: { sections } }));
    };
    const open = async () => {
      const { page } = await portalOf('acme', '/usage');
      const ranges = await page.getByLabel('Days').locator('option').allTextContents();
      const first = await page.getByLabel('Days').locator('option:checked').textContent();
      return { page, ranges, first };
    };

    await saved(
      {
        date_presets: ['current_month', 'last_90_days'],
        default_preset: 'last_90_days',
        allow_custom_date_range: false,
        feature_filter_mode: 'inc',
      },
      { show_revenue_metric: true, show_custom_metrics: true },
    );
    const open1 = await open();
    expect([open1.ranges, open1.first]).toEqual([['This month', 'Last 90 days'], 'Last 90 days']);
    await open1.page.getByText('Charge', { exact: true }).first().waitFor();
    await open1.page.getByRole('columnheader', { name: 'Charge' }).waitFor();
    // Days of the address count only if the company offers them.
    await open1.page.goto(`${shown.url}/portal/usage?days=own&from=2026-01-01&to=2026-01-02`);
    await open1.page.getByText('Charge', { exact: true }).first().waitFor();
    expect(await open1.page.getByRole('textbox', { name: 'From' }).count()).toBe(0);
    await open1.page.context().close();

    await saved(
      {
        date_presets: ['last_7_days'],
        allow_custom_date_range: true,
        feature_filter_mode: 'all',
      },
      { show_revenue_metric: false, show_custom_metrics: false },
    );
    const open2 = await open();
    expect([open2.ranges, open2.first]).toEqual([['Last 7 days', 'From … to'], 'Last 7 days']);
    await open2.page.getByRole('columnheader', { name: 'Usage' }).waitFor();
    expect(await open2.page.getByText('Charge', { exact: true }).first().count()).toBe(0);
    expect(await open2.page.getByRole('columnheader', { name: 'Charge' }).count()).toBe(0);
    await open2.page.getByLabel('Days').selectOption({ label: 'From … to' });
    await open2.page.getByRole('textbox', { name: 'From' }).waitFor();
    await open2.page.context().close();

    // Put back for the other tests.
    answered(await api.put('/v1/settings/customer_portal_config', { value: stored.value }));
  });

  test('the menu has the names and the order of the setting; a page that it hides is not reachable', async () => {
    const { api } = shown.world;
    const customer = await newCustomer('menu');
    const invoice = await invoiceFor(customer.id);
    const save = (sections: object[]) =>
      api.put('/v1/settings/customer_portal_config', { value: { sections } }).then(answered);
    const menuOf = (page: Page) =>
      page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents();
    await save([
      { id: 'invoices', label: 'Bills', enabled: true, order: 1 },
      { id: 'overview', label: 'Summary', enabled: true, order: 2 },
      { id: 'usage', label: 'Usage', enabled: false, order: 3 },
      { id: 'credits', label: 'Prepaid', enabled: true, order: 4 },
    ]);
    const { page, problems } = await portalOf('menu');
    expect(await menuOf(page)).toEqual([
      ...['Bills', 'Summary', 'Prepaid', 'Payment methods', 'Subscriptions'],
    ]);
    await page.getByRole('heading', { level: 1, name: 'Summary', exact: true }).waitFor();
    await page.getByText('Test environment').waitFor();
    await goTo(page, 'Prepaid');
    await goTo(page, 'Bills');
    await page.getByRole('link', { name: invoice.invoice_number }).press('Enter');
    await page
      .getByRole('navigation', { name: 'Breadcrumb' })
      .getByRole('link', { name: 'Bills' })
      .waitFor();
    await page.goto(`${shown.url}/portal/usage`);
    await page.getByRole('heading', { name: 'No such page' }).waitFor();
    await page.getByRole('link', { name: 'Bills', exact: true }).first().waitFor();

    await save([
      { id: 'overview', label: 'Overview', enabled: false, order: 1 },
      { id: 'invoices', label: 'Invoices', enabled: false, order: 2 },
    ]);
    await page.goto(`${shown.url}/portal/invoices/${invoice.id}`);
    await page.getByRole('heading', { name: 'No such page' }).waitFor();
    await page.goto(`${shown.url}/portal`);
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    expect(page.url()).toBe(`${shown.url}/portal/usage`);
    expect(await menuOf(page)).toEqual(['Usage', 'Credits', 'Payment methods', 'Subscriptions']);
    expect(problems).toEqual([]);
    await page.context().close();
    answered(await api.delete('/v1/settings/customer_portal_config'));
  });

  test('hostile names run nothing and overflow nothing; brand, hidden sections, strangers’ records and ended links', async () => {
    const { api } = shown.world;
    const setting = (key: string, value: object) =>
      api.put(`/v1/settings/${key}`, { value }).then(answered);
    await setting('customer_portal_config', {
      theme: { primary_color: '#ffdd00' },
      sections: [{ id: 'credits', enabled: false }],
    });
    await setting('invoice_pdf_config', { template_name: 'invoice.typ', logo: LOGO });
    const hostile = await newCustomer('hostile', HOSTILE);
    const invoice = await invoiceFor(hostile.id, { display_name: HOSTILE });
    const { page, problems } = await portalOf('hostile');
    const found: string[] = await everyForm(page, 'portal-hostile');
    expect(await page.getByRole('img', { name: 'Test' }).getAttribute('src')).toBe(LOGO);
    expect(await page.getByRole('link', { name: 'Credits' }).count()).toBe(0);
    await page.goto(`${shown.url}/portal/invoices/${invoice.id}`);
    await page.getByRole('button', { name: 'Pay now' }).waitFor();
    await settled(page);
    found.push(...(await everyForm(page, 'portal-hostile-invoice')));
    const file = await page.getByRole('link', { name: 'Open as PDF' }).getAttribute('href');
    const pdf = await fetch(shown.url + file);
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect([...found, ...problems]).toEqual([]);

    // A record of another tenant is not found.
    await page.goto(`${shown.url}/portal/invoices/${shown.records.get('/invoices/$id')}`);
    await page.getByRole('alert').waitFor();
    found.push(...(await everyForm(page, 'portal-stranger')));

    api.clock.advance(3_600_000);
    await page.goto(`${shown.url}/portal/invoices`);
    await page.getByRole('heading', { name: 'Open the link that you were sent' }).waitFor();
    const ended = await shown.fresh();
    const { url } = await read('/v1/customers/portal/hostile');
    api.clock.advance(3_600_000);
    await ended.page.goto(here(url));
    await ended.page.getByRole('heading', { name: 'This link has expired' }).waitFor();
    found.push(...(await everyForm(ended.page, 'portal-ended')));
    expect(found).toEqual([]);
    await ended.page.context().close();
    await page.context().close();
  });

  test('a site that the tenant lists shows the portal in a frame, which continues after a reload; another site shows nothing', async () => {
    const { api } = shown.world;
    const customer = await newCustomer('framed');
    await invoiceFor(customer.id);
    let address = '';
    const site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<h1>A site</h1><iframe title="Portal" src="${address}" width="900" height="900"></iframe>`); // prettier-ignore
    });
    await new Promise<void>((listening) => site.listen(0, listening));
    const origin = `http://localhost:${(site.address() as AddressInfo).port}`;
    const frameOf = (page: Page) => page.frameLocator('iframe');
    try {
      const list = (embed_origins: string[]) =>
        api.put('/v1/settings/customer_portal_config', { value: { embed_origins } }).then(answered);
      await list([origin]);
      address = here((await read('/v1/customers/portal/framed')).url);
      const { page, problems } = await shown.fresh();
      await page.goto(origin);
      await frameOf(page).getByText('$40.00').first().waitFor();
      expect(problems).toEqual([]);
      // Without the token: only the cookie of the frame gives access.
      address = address.replace(/#.*$/, '/invoices');
      await page.goto(`${origin}/again`);
      await frameOf(page).getByRole('heading', { name: 'Invoices' }).waitFor();
      await frameOf(page).getByRole('link', { name: /^INV-/ }).waitFor();
      expect(problems).toEqual([]);

      await list(['https://another.example']);
      await page.goto(`${origin}/later`);
      await page.getByRole('heading', { name: 'A site' }).waitFor();
      await page.waitForLoadState('networkidle');
      expect(await frameOf(page).getByRole('navigation').count()).toBe(0);
      expect(problems.join()).toMatch(/frame-ancestors|ERR_BLOCKED_BY_RESPONSE/);
      await page.context().close();
    } finally {
      site.close();
    }
  });
});

/** Opens a page of the portal and waits for it: until it is loaded, the page before it is still shown. */
async function goTo(page: Page, label: string): Promise<void> {
  await page.getByRole('link', { name: label, exact: true }).press('Enter');
  await page.getByRole('heading', { level: 1, name: label, exact: true }).waitFor();
}

const dollars = (amount: string): string =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(
    amount as `${number}`,
  );

/** A red pixel. */
const LOGO =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

/** Runs in the page: the content of the browser's storage. */
function kept(): string[] {
  const { localStorage, sessionStorage, document } = globalThis as unknown as {
    localStorage: object;
    sessionStorage: object;
    document: { cookie: string };
  };
  return [...Object.keys(localStorage), ...Object.keys(sessionStorage), document.cookie].filter(
    (text) => text !== '',
  );
}
