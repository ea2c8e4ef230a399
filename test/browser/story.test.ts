import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { formatDecimal, formatMoney } from '../../web/ui/text.ts';
import { readPdf } from '../support/read-pdf.ts';
import { startReceiver, type Received, type TestReceiver } from '../support/receiver.ts';
import { describeInBrowser } from '../support/requires.ts';
import { keyboardOf, mouse, type Hands } from './hands.ts';
import { cell, follow, goTo } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const FOUNDER = {
  company: 'Story Inc',
  email: 'founder@example.test',
  password: 'a long enough password',
};
const runInShell = promisify(execFile);
const WAYS = ['mouse and keyboard', 'keyboard alone'] as const;

describeInBrowser('the console', (executable) => {
  let shown: BrowserWorld;
  let receiver: TestReceiver;
  /** The page on which the story runs, and its input: mouse or keyboard. */
  let page: Page;
  let handsOn: (page: Page) => Hands;
  let hands: Hands;
  /** Where programs send events. */
  let edgeUrl: string;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
    edgeUrl = await shown.world.edge.listen({ port: 0, host: '127.0.0.1' });
  });
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver?.close());
  afterAll(() => shown?.close());

  test.each(WAYS)(
    'by %s from sign-up to a paid, refunded and credited invoice: the screens show the figures of the API',
    async (way) => {
      const { page: own, problems } = await shown.fresh();
      page = own;
      handsOn = way === 'keyboard alone' ? keyboardOf : () => mouse;
      hands = handsOn(page);
      await signUp(`${way.slice(0, 5)}.${FOUNDER.email}`);
      const key = await createKey();
      const api = apiOf(key);
      await connectTestGateway();
      await addEndpoint();
      await createClock();

      await createMeter();
      const meter = (await api('POST', '/meters/search', {})).items[0];
      expect(meter).toMatchObject({
        event_name: 'completion',
        aggregation: { type: 'SUM', field: 'tokens' },
        filters: [{ key: 'region', values: ['eu', 'us'] }],
      });

      await createPlan();
      const price = (await api('POST', '/prices/search', {})).items[0];
      const calculated = await api('POST', '/prices/calculate', {
        price_id: price.id,
        quantities: ['150'],
      });
      expect(calculated.items[0].total).toBe('12.5');

      await createCustomer();
      await subscribe();
      const subscription = (await api('POST', '/subscriptions/search', {})).items[0];

      await pasteTheCommand();
      await send(key, [
        ['second', { tokens: 100, region: 'us' }],
        ['elsewhere', { tokens: 7, region: 'asia' }],
      ]);
      for (const id of ['second', 'elsewhere'])
        await page.getByRole('link', { name: id, exact: true }).waitFor();
      await shown.world.settled();

      const usage = await api('POST', '/events/analytics', {
        external_customer_id: 'acme',
        start_time: '2026-10-01T00:00:00Z',
        end_time: '2026-11-01T00:00:00Z',
      });
      expect(usage.items[0].total_usage).toBe('142');
      await goTo(page, 'Customers', hands);
      await follow(page, 'Acme Inc', 'Acme Inc', hands);
      await hands.press(page.getByRole('tab', { name: 'Usage' }));
      await hands.choose(page.getByLabel('Days'), '90');
      await cell(page, 'Usage and charge', formatDecimal(usage.items[0].total_usage)).waitFor();

      await advanceClock();
      const [draft] = (await api('POST', '/invoices/search', { subscription_id: subscription.id }))
        .items;
      const total = formatMoney(draft.total, draft.currency);
      expect([draft.invoice_status, total]).toEqual(['DRAFT', '$12.10']);
      await goTo(page, 'Invoices', hands);
      await hands.press(page.getByRole('link', { name: 'Draft', exact: true }));
      const document = page.getByRole('article', { name: 'Invoice document' });
      await document.getByText(total, { exact: true }).first().waitFor();

      await hands.press(document.getByRole('link', { name: /^Why this amount/ }));
      const why = page.getByRole('dialog', { name: /^Why this amount/ });
      const { explanation } = await api(
        'GET',
        `/invoices/${draft.id}/lines/${draft.line_items[0].id}/explanation`,
      );
      await why.getByText(formatMoney(explanation.amount, draft.currency)).first().waitFor();
      await why.getByText(formatDecimal(explanation.quantity), { exact: true }).first().waitFor();
      // The explanation leads to its events, and the page of an event to its price and to the row that bills it.
      await hands.press(cell(why, 'Events', 'second').getByRole('link'));
      await page.getByRole('heading', { level: 1, name: 'second' }).waitFor();
      const lines = page.getByRole('region', { name: 'Lines that bill the event' });
      const priceLink = await lines.locator(`a[href*="${price.id}"]`).getAttribute('href');
      expect(priceLink).toContain(`/plans/${subscription.plan_id}?price=${price.id}`);
      await hands.press(lines.getByRole('link', { name: 'Draft' }));
      await why.waitFor();
      await page.keyboard.press('Escape');
      await why.waitFor({ state: 'detached' });

      await hands.press(page.getByRole('button', { name: 'Finalize' }));
      await hands.press(page.getByRole('dialog').getByRole('button', { name: 'Finalize invoice' }));
      await page.getByText('Finalized', { exact: true }).waitFor();
      const invoice = await api('GET', `/invoices/${draft.id}`);
      await page.getByRole('heading', { level: 1, name: invoice.invoice_number }).waitFor();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        hands.press(page.getByRole('button', { name: 'PDF' })),
      ]);
      const { text } = await readPdf(await readFile(await file.path()));
      for (const part of [invoice.invoice_number, '12.10', 'Acme Inc'])
        expect(text).toContain(part);

      await goTo(page, 'Home', hands);
      const { currencies } = await api('POST', '/dashboard/summary', {});
      const open = formatMoney(currencies[0].open_amount, currencies[0].currency);
      expect(open).toBe('$12.10');
      for (const label of ['Invoiced this month', 'Open'])
        await figure(page, label).getByText(open, { exact: true }).waitFor();
      await follow(page, 'Open', 'Invoices', hands);
      await follow(page, invoice.invoice_number, invoice.invoice_number, hands);

      await payOnTheHostedPage();
      await page.reload();
      await page.getByText('Paid', { exact: true }).first().waitFor();
      expect(await api('GET', `/invoices/${invoice.id}`)).toMatchObject({
        payment_status: 'SUCCEEDED',
        amount_paid: '12.1',
        amount_remaining: '0',
      });

      await hands.press(page.getByRole('tab', { name: 'Payments and credits' }));
      await hands.press(page.getByRole('button', { name: 'Refund', exact: true }));
      const refund = page.getByRole('dialog', { name: 'Refund a payment' });
      await hands.write(refund.getByLabel(/^Amount/), '2.10');
      await hands.choose(refund.getByLabel('Refund to'), 'Original payment method');
      await refund.getByText('$10.00', { exact: true }).waitFor();
      await hands.press(refund.getByRole('button', { name: 'Refund payment' }));
      await cell(page, 'List of refunds', '$2.10').waitFor();
      await page.getByText('Partially refunded', { exact: true }).first().waitFor();

      await hands.press(page.getByRole('button', { name: 'Credit note', exact: true }));
      const note = page.getByRole('dialog', { name: 'Credit note' });
      await hands.press(note.getByRole('button', { name: 'Issue credit note' }));
      await note.getByText('Enter an amount for at least one line item.').waitFor();
      await hands.write(note.getByLabel('Tokens'), '1.25');
      await note.getByText('Paid back', { exact: true }).waitFor();
      await hands.press(note.getByRole('button', { name: 'Issue credit note' }));
      await cell(page, 'List of credit notes', '$1.25').waitFor();
      const after = await api('GET', `/invoices/${invoice.id}`);
      expect(after.refunded_amount).toBe('3.35');
      await hands.press(page.getByRole('tab', { name: 'Document' }));
      await document.getByText(formatMoney(after.refunded_amount, after.currency)).waitFor();

      await readInThePortal(after);
      await replayNotifications();
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );

  async function signUp(email: string): Promise<void> {
    await page.goto(shown.url);
    await hands.press(page.getByRole('button', { name: 'Create a company' }));
    await hands.write(page.getByLabel('Company'), FOUNDER.company);
    await hands.write(page.getByLabel('E-mail'), email);
    await hands.write(page.getByLabel('Password'), FOUNDER.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  }

  async function createKey(): Promise<string> {
    await goTo(page, 'API keys', hands);
    await hands.press(page.getByRole('button', { name: 'Create key' }).first());
    const dialog = page.getByRole('dialog', { name: 'Create key' });
    await hands.write(dialog.getByLabel('Name'), 'backend');
    await hands.press(dialog.getByRole('button', { name: 'Create key' }));
    const key = await dialog.getByRole('region', { name: 'Key' }).innerText();
    // The form with the button that was pressed is gone; the focus stays in the dialog.
    await page.locator('[role="dialog"]:focus-within').waitFor();
    await hands.press(dialog.getByRole('button', { name: 'Done' }));
    return key;
  }

  async function connectTestGateway(): Promise<void> {
    await goTo(page, 'Connections', hands);
    await hands.press(page.getByRole('button', { name: 'Connect a gateway' }).first());
    const dialog = page.getByRole('dialog', { name: 'Connect a gateway' });
    await hands.write(dialog.getByLabel('Name'), 'For trying');
    await hands.press(dialog.getByRole('button', { name: 'Connect', exact: true }));
    await cell(page, 'List of connections', 'Test gateway').waitFor();
  }

  async function addEndpoint(): Promise<void> {
    await goTo(page, 'Webhooks', hands);
    await hands.press(page.getByRole('button', { name: 'Add endpoint' }).first());
    const dialog = page.getByRole('dialog', { name: 'Add endpoint' });
    await hands.write(dialog.getByLabel('URL'), `${receiver.url}/hook`);
    await hands.press(dialog.getByRole('button', { name: 'Add endpoint' }));
    await dialog.getByRole('region', { name: 'Secret' }).waitFor();
    await hands.press(dialog.getByRole('button', { name: 'Done' }));
  }

  async function createClock(): Promise<void> {
    await goTo(page, 'Test clocks', hands);
    await hands.press(page.getByRole('button', { name: 'New test clock' }).first());
    const dialog = page.getByRole('dialog', { name: 'New test clock' });
    await hands.write(dialog.getByLabel('Name'), 'October');
    await hands.write(dialog.getByLabel('Start date'), '2026-10-01');
    await hands.press(dialog.getByRole('button', { name: 'Create test clock' }));
    await page.getByRole('heading', { level: 1, name: 'October' }).waitFor();
  }

  /** To the end of the month, watching it go: the page shows its progress until the clock has arrived. */
  async function advanceClock(): Promise<void> {
    await goTo(page, 'Test clocks', hands);
    await follow(page, 'October', 'October', hands);
    await cell(page, 'Customers of the clock', 'Acme Inc').waitFor();
    await page.getByText('1 Nov 2026, 00:00 UTC').waitFor();
    await hands.press(page.getByRole('button', { name: 'Advance the clock' }));
    await page.getByRole('progressbar', { name: /^Days on the way/ }).waitFor();
    await shown.world.job('advance-test-clocks');
    await page.getByText('Ready', { exact: true }).waitFor();
    await page.getByText('1 Nov 2026, 00:00 UTC').first().waitFor();
  }

  /** Opens the payment link that the console makes, is declined, tries again and pays. */
  async function payOnTheHostedPage(): Promise<void> {
    await hands.press(page.getByRole('button', { name: 'Payment link' }));
    const dialog = page.getByRole('dialog', { name: 'Payment link' });
    await hands.press(dialog.getByRole('button', { name: 'Create payment link' }));
    const link = dialog.getByRole('link', { name: 'Open the payment page' });
    const address = (await link.getAttribute('href'))!;
    // As long as it can be paid, the link is found again.
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await hands.press(page.getByRole('button', { name: 'Payment link' }));
    expect(await link.getAttribute('href')).toBe(address);
    const payer = await shown.fresh();
    await payer.page.goto(address.replace(/^https?:\/\/[^/]+/, shown.url));
    const { press } = handsOn(payer.page);
    await press(payer.page.getByRole('button', { name: 'Decline the card' }));
    await payer.page.getByRole('alert').filter({ hasText: 'declined' }).waitFor();
    await press(payer.page.getByRole('button', { name: 'Pay $12.10' }));
    await payer.page.getByRole('heading', { name: 'Paid' }).waitFor();
    expect(payer.problems).toEqual([]);
    await payer.page.context().close();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }

  /** The customer opens the link that the console makes, and reads what was paid and paid back. */
  async function readInThePortal(invoice: any): Promise<void> {
    await goTo(page, 'Customers', hands);
    await follow(page, 'Acme Inc', 'Acme Inc', hands);
    await hands.press(page.getByRole('button', { name: 'Open portal' }));
    const dialog = page.getByRole('dialog', { name: 'Customer portal' });
    const link = dialog.getByRole('link', { name: 'Open the portal in a new tab' });
    const address = (await link.getAttribute('href'))!;
    const customer = await shown.fresh();
    await customer.page.goto(address.replace(/^https?:\/\/[^/]+/, shown.url));
    await goTo(customer.page, 'Invoices', handsOn(customer.page));
    const number = invoice.invoice_number;
    await follow(customer.page, number, number, handsOn(customer.page));
    const document = customer.page.getByRole('article', { name: 'Invoice document' });
    for (const amount of [invoice.amount_paid, invoice.refunded_amount])
      await document.getByText(formatMoney(amount, invoice.currency)).first().waitFor();
    expect(customer.problems).toEqual([]);
    await customer.page.context().close();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }

  /**
   * The command of the page, pasted into a shell with the key that is made for it: the page shows the event by
   * itself. The event is of the meter and the customer of the story, so it is billed.
   */
  async function pasteTheCommand(): Promise<void> {
    await goTo(page, 'Events', hands);
    await hands.press(page.getByRole('button', { name: 'Create a key for it' }));
    await page.getByText('The command contains the new API key').waitFor();
    const command = await page.getByRole('region', { name: 'Command' }).innerText();
    // The customer follows a clock: its events have the time of that.
    await hands.press(page.getByRole('link', { name: 'October (1 Oct 2026)' }));
    await runInShell('sh', [
      '-c',
      command.replace(shown.url, edgeUrl).replace('curl', 'curl -sSf'),
    ]);
    await page.getByRole('link', { name: 'first-event', exact: true }).waitFor();
  }

  /** What the receiver was sent comes again, with the ids that it had, when the console asks for it. */
  async function replayNotifications(): Promise<void> {
    await deliverAll();
    const delivered = receiver.received.map(idOf);
    expect(delivered.length).toBeGreaterThan(0);
    await goTo(page, 'Webhooks', hands);
    await follow(page, `${receiver.url}/hook`, 'Webhook endpoint', hands);
    await hands.press(page.getByRole('button', { name: 'Resend' }));
    const dialog = page.getByRole('dialog', { name: 'Resend' });
    // Notifications have the time of the database; the clock of the page is the API's.
    await hands.write(dialog.getByLabel('First day'), dayFromNow(-1));
    await hands.write(dialog.getByLabel('Last day'), dayFromNow(1));
    await hands.press(dialog.getByRole('button', { name: 'Resend' }));
    const said = await page.getByText(/^\d+ notifications are sent again$/).innerText();
    await deliverAll();
    const again = receiver.received.slice(delivered.length).map(idOf);
    expect(again.length).toBeGreaterThan(0);
    expect(said).toBe(`${again.length} notifications are sent again`);
    expect(delivered.filter((id) => !again.includes(id))).toEqual([]);
    await page.reload();
    await cell(page, 'Attempts, newest first', '204').waitFor();

    const before = receiver.received.length;
    await hands.press(page.getByRole('button', { name: /^Details of attempt / }).first());
    await hands.press(page.getByRole('dialog').getByRole('button', { name: 'Send again' }));
    await page.getByText('The notification is sent again').waitFor();
    await deliverAll();
    const once = receiver.received.slice(before).map(idOf);
    expect(once).toHaveLength(1);
    expect(delivered).toContain(once[0]);
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

  async function createMeter(): Promise<void> {
    await goTo(page, 'Meters', hands);
    await follow(page, 'New meter', 'New meter', hands);
    await hands.write(page.getByLabel('Name', { exact: true }), 'Tokens');
    await hands.write(page.getByLabel('Event name'), 'completion');
    await hands.choose(page.getByLabel('Aggregation', { exact: true }), 'Sum');
    await hands.write(page.getByLabel(/^Property/), 'tokens');
    await hands.write(page.getByLabel(/^Only events where/), 'region = eu, us');
    await page.getByText('Counted', { exact: true }).waitFor();
    await hands.press(page.getByRole('button', { name: 'Create meter' }));
    await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor();
  }

  async function createPlan(): Promise<void> {
    await goTo(page, 'Plans', hands);
    await hands.press(page.getByRole('button', { name: 'New plan' }).first());
    const dialog = page.getByRole('dialog', { name: 'New plan' });
    await hands.write(dialog.getByLabel('Name'), 'Growth');
    await hands.press(dialog.getByRole('button', { name: 'Create plan' }));
    await follow(page, 'Add price', 'New price', hands);
    await hands.write(page.getByLabel('Name', { exact: true }), 'Tokens');
    await hands.press(page.getByRole('button', { name: 'Create price' }));
    await page.getByText('choose a meter', { exact: true }).waitFor();
    expect(await page.getByText('enter a number, for example 0.05').count()).toBe(2);
    await hands.choose(page.getByLabel('Meter', { exact: true }), 'Tokens');
    await hands.write(page.getByLabel('Tier 1 up to'), '100');
    await hands.write(page.getByLabel('Unit price').nth(0), '0.10');
    await hands.write(page.getByLabel('Unit price').nth(1), '0.05');
    await hands.write(page.getByLabel('Quantity', { exact: true }), '150');
    await page.getByText('$12.50', { exact: true }).first().waitFor();
    await hands.press(page.getByRole('button', { name: 'Create price' }));
    await page.getByRole('heading', { level: 1, name: 'Growth' }).waitFor();
    await cell(page, 'List of prices', '2 tiers').waitFor();
  }

  async function createCustomer(): Promise<void> {
    await goTo(page, 'Customers', hands);
    await follow(page, 'New customer', 'New customer', hands);
    await hands.write(page.getByLabel('Name', { exact: true }), 'Acme Inc');
    await hands.write(page.getByLabel('External id', { exact: true }), 'acme');
    await hands.write(page.getByLabel('Time zone'), 'UTC');
    await hands.choose(page.getByRole('combobox', { name: 'Test clock' }), 'October, now');
    await hands.press(page.getByRole('button', { name: 'Create customer' }));
    await page.getByRole('heading', { level: 1, name: 'Acme Inc' }).waitFor();
  }

  async function subscribe(): Promise<void> {
    await follow(page, 'New subscription', 'New subscription', hands);
    await hands.choose(page.getByLabel('Plan', { exact: true }), 'Growth');
    await hands.write(page.getByLabel('Start date'), '2026-10-01');
    await hands.press(page.getByRole('button', { name: 'Preview the invoice' }));
    await page.getByRole('article', { name: 'Invoice document' }).waitFor();
    await hands.press(page.getByRole('button', { name: 'Start subscription' }));
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

const DAY_MS = 86_400_000;
const dayFromNow = (days: number): string =>
  new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

/** The number below the label. */
const figure = (page: Page, label: string): Locator =>
  page.getByRole('link', { name: label, exact: true }).locator('xpath=../..');
