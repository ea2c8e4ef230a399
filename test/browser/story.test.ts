import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { formatDecimal, formatMoney } from '../../web/ui/text.ts';
import { readPdf } from '../support/read-pdf.ts';
import { startReceiver, type Received, type TestReceiver } from '../support/receiver.ts';
import { describeInBrowser } from '../support/requires.ts';
import { PERSON, startBrowserWorld, type BrowserWorld } from './world.ts';

const FOUNDER = {
  company: 'Story Inc',
  email: 'founder@example.test',
  password: 'a long enough password',
};

describeInBrowser('the console', (executable) => {
  let shown: BrowserWorld;
  let receiver: TestReceiver;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await receiver?.close();
    await shown?.close();
  });

  test('from sign-up to a paid, refunded and credited invoice: the screens show the figures of the API', async () => {
    const { page, problems } = await shown.fresh();
    await signUp(page);
    const key = await createKey(page);
    const api = apiOf(key);
    await connectTestGateway(page);
    await addEndpoint(page);
    await createClock(page);

    await createMeter(page);
    const meter = (await api('POST', '/meters/search', {})).items[0];
    expect(meter).toMatchObject({
      event_name: 'completion',
      aggregation: { type: 'SUM', field: 'tokens' },
      filters: [{ key: 'region', values: ['eu', 'us'] }],
    });

    await createPlan(page);
    const price = (await api('POST', '/prices/search', {})).items[0];
    const calculated = await api('POST', '/prices/calculate', {
      price_id: price.id,
      quantities: ['150'],
    });
    expect(calculated.items[0].total).toBe('12.5');

    await createCustomer(page);
    await subscribe(page);
    const subscription = (await api('POST', '/subscriptions/search', {})).items[0];

    await send(key, [
      ['first', { tokens: 42, region: 'eu' }],
      ['second', { tokens: 100, region: 'us' }],
      ['elsewhere', { tokens: 7, region: 'asia' }],
    ]);
    await goTo(page, 'Events');
    await page.getByLabel('From').fill('2026-10-01');
    for (const id of ['first', 'second', 'elsewhere'])
      await page.getByRole('link', { name: id, exact: true }).waitFor();
    await shown.world.settled();

    const usage = await api('POST', '/events/analytics', {
      external_customer_id: 'acme',
      start_time: '2026-10-01T00:00:00Z',
      end_time: '2026-11-01T00:00:00Z',
    });
    expect(usage.items[0].total_usage).toBe('142');
    await goTo(page, 'Customers');
    await follow(page, 'Acme Inc', 'Acme Inc');
    await page.getByRole('tab', { name: 'Usage' }).click();
    await page.getByLabel('Days').selectOption('90');
    await cell(page, 'Usage and cost', formatDecimal(usage.items[0].total_usage)).waitFor();

    await advanceClock(page);
    const [draft] = (await api('POST', '/invoices/search', { subscription_id: subscription.id }))
      .items;
    const total = formatMoney(draft.total, draft.currency);
    expect([draft.invoice_status, total]).toEqual(['DRAFT', '$12.10']);
    await goTo(page, 'Invoices');
    await page.getByRole('link', { name: 'Draft', exact: true }).click();
    const document = page.getByRole('article', { name: 'Invoice document' });
    await document.getByText(total, { exact: true }).first().waitFor();

    await document.getByRole('link', { name: /^Why this amount/ }).click();
    const why = page.getByRole('dialog', { name: /^Why this amount/ });
    const { explanation } = await api(
      'GET',
      `/invoices/${draft.id}/lines/${draft.line_items[0].id}/explanation`,
    );
    await why.getByText(formatMoney(explanation.amount, draft.currency)).first().waitFor();
    await why.getByText(formatDecimal(explanation.quantity), { exact: true }).first().waitFor();
    await cell(why, 'Events', 'second').waitFor();
    await page.keyboard.press('Escape');
    await why.waitFor({ state: 'detached' });

    // The page of an event leads to its price and to the row that bills it.
    await page.goto(`${page.url().replace(/\/invoices\/.*$/, '')}/events/second`);
    const lines = page.getByRole('region', { name: 'Lines that bill the event' });
    const priceLink = await lines.locator(`a[href*="${price.id}"]`).getAttribute('href');
    expect(priceLink).toContain(`/plans/${subscription.plan_id}?price=${price.id}`);
    await lines.getByRole('link', { name: 'Draft' }).click();
    await why.waitFor();
    await page.keyboard.press('Escape');
    await why.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Finalize' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Finalize invoice' }).click();
    await page.getByText('Finalized', { exact: true }).waitFor();
    const invoice = await api('GET', `/invoices/${draft.id}`);
    await page.getByRole('heading', { level: 1, name: invoice.invoice_number }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'PDF' }).click(),
    ]);
    const { text } = await readPdf(await readFile(await file.path()));
    for (const part of [invoice.invoice_number, '12.10', 'Acme Inc']) expect(text).toContain(part);

    await goTo(page, 'Home');
    const { currencies } = await api('POST', '/dashboard/summary', {});
    const open = formatMoney(currencies[0].open_amount, currencies[0].currency);
    expect(open).toBe('$12.10');
    for (const label of ['Invoiced this month', 'Open'])
      await figure(page, label).getByText(open, { exact: true }).waitFor();
    await follow(page, 'Open', 'Invoices');
    await follow(page, invoice.invoice_number, invoice.invoice_number);

    await payOnTheHostedPage(page);
    await page.reload();
    await page.getByText('Succeeded', { exact: true }).first().waitFor();
    expect(await api('GET', `/invoices/${invoice.id}`)).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '12.1',
      amount_remaining: '0',
    });

    await page.getByRole('tab', { name: 'Payments and credits' }).click();
    await page.getByRole('button', { name: 'Refund', exact: true }).click();
    const refund = page.getByRole('dialog', { name: 'Refund a payment' });
    await refund.getByLabel(/^Amount/).fill('2.10');
    await refund.getByLabel('Refund to').selectOption('BACK_TO_SOURCE');
    await refund.getByText('$10.00', { exact: true }).waitFor();
    await refund.getByRole('button', { name: 'Refund payment' }).click();
    await cell(page, 'List of refunds', '$2.10').waitFor();
    await page.getByText('Partially refunded', { exact: true }).first().waitFor();

    await page.getByRole('button', { name: 'Credit note', exact: true }).click();
    const note = page.getByRole('dialog', { name: 'Credit note' });
    await note.getByLabel('Tokens').fill('1.25');
    await note.getByText('Paid back', { exact: true }).waitFor();
    await note.getByRole('button', { name: 'Issue credit note' }).click();
    await cell(page, 'List of credit notes', '$1.25').waitFor();
    const after = await api('GET', `/invoices/${invoice.id}`);
    expect(after.refunded_amount).toBe('3.35');
    await page.getByRole('tab', { name: 'Document' }).click();
    await document.getByText(formatMoney(after.refunded_amount, after.currency)).waitFor();

    await replayNotifications(page);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a meter by keyboard alone, and its edit with the effect before it is saved', async () => {
    const { page, problems } = await shown.signedIn();
    await page.keyboard.press('g');
    await page.keyboard.press('m');
    await titled(page, 'Meters');
    await page.getByRole('link', { name: 'New meter' }).focus();
    await page.keyboard.press('Enter');
    await titled(page, 'New meter');
    await page.getByLabel('Name', { exact: true }).focus();
    for (const text of ['Output', 'completion']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.type('Sum');
    await page.keyboard.press('Tab');
    await page.keyboard.type('tokens');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.type('region = eu, us');
    await page.getByText('Counted', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create meter' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Output' }).waitFor();
    await page.getByText('is eu or us').waitFor();

    await follow(page, 'Edit meter', 'Edit meter');
    await page.getByLabel(/^Also count events where/).fill('region = asia');
    await page.getByRole('button', { name: 'Preview change' }).click();
    const effect = page.getByRole('dialog', { name: 'Save this change?' });
    await effect.getByText('eu or us → eu or us or asia').waitFor();
    await effect.getByText('No price uses this meter.').waitFor();
    await effect.getByRole('button', { name: 'Save meter' }).click();
    await page.getByText('is eu or us or asia').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a key needs the password again some time after the login; the request is then repeated', async () => {
    const { page, problems } = await shown.signedIn();
    await goTo(page, 'API keys');
    shown.world.api.clock.advance(16 * 60_000);
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Create key' });
    await dialog.getByLabel('Name').fill('later');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const confirm = page.getByRole('dialog', { name: 'Confirm your identity' });
    await confirm.getByLabel('Your password').fill('a wrong one');
    await page.keyboard.press('Enter');
    await confirm.getByText('is not the password of this account').waitFor();
    await confirm.getByLabel('Your password').fill(PERSON.password);
    await page.keyboard.press('Enter');
    await dialog.getByRole('region', { name: 'Key' }).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await cell(page, 'Keys', 'later').waitFor();
    // The token had ended, the login was old, and one password was wrong.
    const refused = problems.filter((problem) => !problem.startsWith('console:'));
    expect(
      refused.map((problem) => problem.slice(0, 3)).filter((status) => status > '403'),
    ).toEqual([]);
    await page.context().close();
  });

  test('the chain of the audit log is verified; a wallet says when it is empty', async () => {
    const { page, problems } = await shown.signedIn();
    await shown.world.job('chain-audit-log');
    await goTo(page, 'Audit log');
    await page.getByRole('button', { name: 'Verify the chain' }).click();
    const chain = page.getByRole('dialog', { name: 'Chain of the audit log' });
    await chain.getByText('The chain holds').waitFor();
    const { body } = await shown.world.api.get('/v1/audit-logs/chain');
    expect(body).toMatchObject({ verified_to: body.length, broken: null });
    await chain.getByText(body.head, { exact: true }).waitFor();
    await chain.getByText(formatDecimal(String(body.length)), { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await chain.waitFor({ state: 'detached' });

    // 10,000 tokens are included; 500 more cost 10.
    const { clock } = shown.world.api;
    clock.advance(120_000);
    await shown.world.send([
      {
        event_id: 'forecast',
        event_name: 'completion',
        external_customer_id: 'acme',
        timestamp: new Date(clock.now() - 60_000).toISOString(),
        properties: { tokens: 10_500, region: 'eu' },
      },
    ]);
    await shown.world.settled();
    const wallet = shown.records.get('/wallets/$id')!;
    const { body: forecast } = await shown.world.api.get(`/v1/wallets/${wallet}/forecast`);
    expect(forecast.daily_usage).toBe('10');
    await goTo(page, 'Wallets');
    await follow(page, 'Prepaid', 'Prepaid');
    await page.getByRole('link', { name: 'Runs out', exact: true }).click();
    await page.getByText(/costs \$10\.00 a day/).waitFor();
    for (const part of ['Forecast of the balance by day', 'Priced usage by day'])
      await page.getByRole('figure', { name: part }).getByText('Show as a table').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  async function signUp(page: Page): Promise<void> {
    await page.goto(`${shown.url}/sign-up`);
    await page.getByLabel('Company').fill(FOUNDER.company);
    await page.getByLabel('E-mail').fill(FOUNDER.email);
    await page.getByLabel('Password').fill(FOUNDER.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  }

  async function createKey(page: Page): Promise<string> {
    await goTo(page, 'API keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Create key' });
    await dialog.getByLabel('Name').fill('backend');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const key = await dialog.getByRole('region', { name: 'Key' }).innerText();
    // The form with the button that was pressed is gone; the focus stays in the dialog.
    await page.locator('[role="dialog"]:focus-within').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    return key;
  }

  async function connectTestGateway(page: Page): Promise<void> {
    await goTo(page, 'Connections');
    await page.getByRole('button', { name: 'Connect a gateway' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Connect a gateway' });
    await dialog.getByLabel('Name').fill('For trying');
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await cell(page, 'List of connections', 'Test gateway').waitFor();
  }

  async function addEndpoint(page: Page): Promise<void> {
    await goTo(page, 'Webhooks');
    await page.getByRole('button', { name: 'Add endpoint' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Add endpoint' });
    await dialog.getByLabel('URL').fill(`${receiver.url}/hook`);
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    await dialog.getByRole('region', { name: 'Secret' }).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
  }

  async function createClock(page: Page): Promise<void> {
    await goTo(page, 'Test clocks');
    await page.getByRole('button', { name: 'New test clock' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New test clock' });
    await dialog.getByLabel('Name').fill('October');
    await dialog.getByLabel('Start date').fill('2026-10-01');
    await dialog.getByRole('button', { name: 'Create test clock' }).click();
    await page.getByRole('heading', { level: 1, name: 'October' }).waitFor();
  }

  /** To the end of the month, watching it go: the page shows its progress until the clock has arrived. */
  async function advanceClock(page: Page): Promise<void> {
    await goTo(page, 'Test clocks');
    await follow(page, 'October', 'October');
    await cell(page, 'Customers of the clock', 'Acme Inc').waitFor();
    await page.getByText('1 Nov 2026, 00:00 UTC').waitFor();
    await page.getByRole('button', { name: 'Advance the clock' }).click();
    await page.getByRole('progressbar', { name: /^Days on the way/ }).waitFor();
    await shown.world.job('advance-test-clocks');
    await page.getByText('Ready', { exact: true }).waitFor();
    await page.getByText('1 Nov 2026, 00:00 UTC').first().waitFor();
  }

  /** Opens the payment link that the console makes, is declined, tries again and pays. */
  async function payOnTheHostedPage(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Payment link' }).click();
    const dialog = page.getByRole('dialog', { name: 'Payment link' });
    await dialog.getByRole('button', { name: 'Create payment link' }).click();
    const link = dialog.getByRole('link', { name: 'Open the payment page' });
    const address = (await link.getAttribute('href'))!;
    const payer = await shown.fresh();
    await payer.page.goto(address.replace(/^https?:\/\/[^/]+/, shown.url));
    await payer.page.getByRole('button', { name: 'Decline the card' }).click();
    await payer.page.getByRole('alert').filter({ hasText: 'declined' }).waitFor();
    await payer.page.getByRole('button', { name: 'Pay $12.10' }).click();
    await payer.page.getByRole('heading', { name: 'Paid' }).waitFor();
    expect(payer.problems).toEqual([]);
    await payer.page.context().close();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }

  /** What the receiver was sent comes again, with the ids that it had, when the console asks for it. */
  async function replayNotifications(page: Page): Promise<void> {
    await deliverAll();
    const delivered = receiver.received.map(idOf);
    expect(delivered.length).toBeGreaterThan(0);
    await goTo(page, 'Webhooks');
    await follow(page, `${receiver.url}/hook`, 'Webhook endpoint');
    await page.getByRole('button', { name: 'Resend' }).click();
    const dialog = page.getByRole('dialog', { name: 'Resend' });
    // Notifications have the time of the database; the clock of the page is the API's.
    await dialog.getByLabel('First day').fill(dayFromNow(-1));
    await dialog.getByLabel('Last day').fill(dayFromNow(1));
    await dialog.getByRole('button', { name: 'Resend' }).click();
    const said = await page.getByText(/^\d+ notifications are sent again$/).innerText();
    await deliverAll();
    const again = receiver.received.slice(delivered.length).map(idOf);
    expect(again.length).toBeGreaterThan(0);
    expect(said).toBe(`${again.length} notifications are sent again`);
    expect(delivered.filter((id) => !again.includes(id))).toEqual([]);
    await page.reload();
    await cell(page, 'Attempts, newest first', '204').waitFor();
  }

  const idOf = ({ headers }: Received): string => String(headers['webhook-id']);

  /** One run delivers all that wait, one after the other for one record. */
  async function deliverAll(): Promise<void> {
    // The endpoint of the other tenant has a name that does not exist here: its notifications would be tried again
    // for days.
    const other = shown.records.get('/webhooks/$id')!;
    const { status } = await shown.world.api.put(`/v1/webhooks/endpoints/${other}`, {
      enabled: false,
    });
    expect(status).toBe(200);
    await shown.world.job('deliver-webhooks');
    const waiting = await shown.world.api.pool`
      select d.event_type, d.attempts, d.due_at from webhook_deliveries d
        join webhook_endpoints e on e.id = d.endpoint_id
       where e.url = ${`${receiver.url}/hook`} and d.delivery_status = 'pending'`;
    expect([...waiting]).toEqual([]);
  }

  async function createMeter(page: Page): Promise<void> {
    await goTo(page, 'Meters');
    await follow(page, 'New meter', 'New meter');
    await page.getByLabel('Name', { exact: true }).fill('Tokens');
    await page.getByLabel('Event name').fill('completion');
    await page.getByLabel('Aggregation', { exact: true }).selectOption('SUM');
    await page.getByLabel(/^Property/).fill('tokens');
    await page.getByLabel(/^Only events where/).fill('region = eu, us');
    await page.getByText('Counted', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create meter' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor();
  }

  async function createPlan(page: Page): Promise<void> {
    await goTo(page, 'Plans');
    await page.getByRole('button', { name: 'New plan' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New plan' });
    await dialog.getByLabel('Name').fill('Growth');
    await dialog.getByRole('button', { name: 'Create plan' }).click();
    await follow(page, 'Add price', 'New price');
    await page.getByLabel('Name', { exact: true }).fill('Tokens');
    await page.getByLabel('Meter', { exact: true }).selectOption({ label: 'Tokens' });
    await page.getByLabel('Tier 1 up to').fill('100');
    await page.getByLabel('Unit price').nth(0).fill('0.10');
    await page.getByLabel('Unit price').nth(1).fill('0.05');
    await page.getByLabel('Quantity', { exact: true }).fill('150');
    await page.getByText('$12.50', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Create price' }).click();
    await page.getByRole('heading', { level: 1, name: 'Growth' }).waitFor();
    await cell(page, 'List of prices', '2 tiers').waitFor();
  }

  async function createCustomer(page: Page): Promise<void> {
    await goTo(page, 'Customers');
    await follow(page, 'New customer', 'New customer');
    await page.getByLabel('Name', { exact: true }).fill('Acme Inc');
    await page.getByLabel('External id', { exact: true }).fill('acme');
    await page.getByLabel('Time zone').fill('UTC');
    await page.getByLabel('Test clock').selectOption({ index: 1 });
    await page.getByRole('button', { name: 'Create customer' }).click();
    await page.getByRole('heading', { level: 1, name: 'Acme Inc' }).waitFor();
  }

  async function subscribe(page: Page): Promise<void> {
    await follow(page, 'New subscription', 'New subscription');
    await page.getByLabel('Plan', { exact: true }).selectOption({ label: 'Growth' });
    await page.getByLabel('Start date').fill('2026-10-01');
    await page.getByRole('button', { name: 'Preview the invoice' }).click();
    await page.getByRole('article', { name: 'Invoice document' }).waitFor();
    await page.getByRole('button', { name: 'Start subscription' }).click();
    await page.getByRole('heading', { level: 1, name: 'Growth' }).waitFor();
    await page.getByText('Active', { exact: true }).waitFor();
  }

  /** Calls the API as a program with the key of the story does. */
  const apiOf = (key: string) => async (method: string, path: string, body?: object) => {
    const answer = await shown.world.api.app.inject({
      method: method as 'GET',
      url: `/v1${path}`,
      headers: { 'x-api-key': key },
      ...(body === undefined ? {} : { payload: body }),
    });
    expect([path, answer.statusCode]).toEqual([path, 200]);
    return answer.json();
  };

  async function send(key: string, events: readonly (readonly [string, object])[]): Promise<void> {
    const answer = await shown.world.edge.inject({
      method: 'POST',
      url: '/v1/events/bulk',
      headers: { 'x-api-key': key },
      payload: {
        events: events.map(([event_id, properties]) => ({
          event_id,
          event_name: 'completion',
          external_customer_id: 'acme',
          timestamp: '2026-10-01T10:00:00Z',
          properties,
        })),
      },
    });
    expect(answer.statusCode).toBe(202);
  }
});

/** Opens a page of the menu and waits for it: until it is loaded, the page before it is still shown. */
async function goTo(page: Page, label: string): Promise<void> {
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: label, exact: true })
    .click();
  await titled(page, label);
}

/** Follows a link within the page to a page with this title. */
async function follow(page: Page, link: string, title: string): Promise<void> {
  await page.getByRole('link', { name: link, exact: true }).first().click();
  await titled(page, title);
}

const DAY_MS = 86_400_000;
const dayFromNow = (days: number): string =>
  new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

const titled = (page: Page, title: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();

const cell = (within: Page | Locator, table: string, text: string): Locator =>
  within
    .getByRole('region', { name: table, exact: true })
    .getByRole('cell', { name: text })
    .first();

/** The number above which the label stands. */
const figure = (page: Page, label: string): Locator =>
  page.getByRole('link', { name: label, exact: true }).locator('xpath=../..');
