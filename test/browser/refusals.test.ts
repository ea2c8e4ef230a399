import { describeInBrowser } from '../support/requires.ts';
import { catalogOf } from '../support/catalog.ts';
import { mouse } from './hands.ts';
import { titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** What the server would refuse is said on the page, in its words, without a request. */
describeInBrowser('refusals before a request', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('a refund or a credit note above what there is, and what is left never below zero', async () => {
    const { api } = shown.world;
    const customer = await catalogOf(api).customer({ name: 'Payer' });
    const invoice = await api.postOk('/v1/invoices', {
      ...{ customer_id: customer.id, invoice_type: 'ONE_OFF', currency: 'usd' },
      line_items: [{ display_name: 'Set-up', amount: '40', quantity: '1' }],
    });
    await api.postOk('/v1/payments', {
      ...{ destination_type: 'INVOICE', destination_id: invoice.id },
      ...{ payment_method_type: 'OFFLINE', amount: '40', currency: 'usd' },
    });
    const { page, problems } = await shown.signedIn();
    await page.goto(`${page.url().replace(/\/$/, '')}/invoices/${invoice.id}?tab=payments`);
    await hands.press(page.getByRole('button', { name: 'Refund', exact: true }));
    const refund = page.getByRole('dialog', { name: 'Refund a payment' });
    const left = (text: string) =>
      refund.locator(`dt:text-is("Left to refund after it") + dd:has-text("${text}")`);
    await hands.write(refund.getByLabel('Amount in USD'), '15.5');
    await left('$24.50').waitFor();
    for (const amount of ['41', '-5', '0']) {
      await hands.write(refund.getByLabel('Amount in USD'), amount);
      await refund.getByText('must be above 0 and at most $40.00').waitFor();
      await left('–').waitFor();
    }
    await page.keyboard.press('Escape');
    await refund.waitFor({ state: 'detached' });

    await hands.press(page.getByRole('button', { name: 'Credit note', exact: true }));
    const note = page.getByRole('dialog', { name: 'Credit note' });
    await hands.write(note.getByLabel('Set-up'), '40.01');
    await note.getByText('must be above 0 and at most $40.00').waitFor();
    await hands.write(note.getByLabel('Set-up'), '40');
    await note.getByText('must be above 0 and at most $40.00').waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('days of analytics in the wrong order', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    for (const days of ['from=2026-11-20&to=2026-11-10', 'from=2099-01-01']) {
      await page.goto(`${base}/analytics?${days}`);
      await page.getByText('The first day is after the last one').waitFor();
    }
    await page.goto(`${base}/customers/none`);
    await titled(page, 'Customer');
    await page.getByText('Customer none was not found.').waitFor();
    expect(await page.getByRole('link', { name: 'New subscription' }).count()).toBe(0);
    await page.goto(`${base}/late-usage/none`);
    await page.getByText('Invoice none was not found.').waitFor();
    expect(await page.getByText('No late usage').count()).toBe(0);
    expect(problems.filter((text) => !/404/.test(text))).toEqual([]);
    await page.context().close();
  });

  test('a customer is found by the external id too', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    await catalogOf(shown.world.api).customer({ name: 'Hudson Inc', external_id: 'org-77' });
    await page.goto(`${base}/customers?q=org-77`);
    await page.getByRole('link', { name: 'Hudson Inc' }).waitFor();
    await page.goto(`${base}/customers?q=org-78`);
    await page.getByText('No name and no external id contains the text.').waitFor();
    await page.goto(`${base}/subscriptions/new`);
    await hands.write(page.getByLabel('Search customers by name'), 'org-77');
    await hands.press(page.getByRole('button', { name: /Hudson Inc/ }));
    await page.getByRole('button', { name: 'Change customer' }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
