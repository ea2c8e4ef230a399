import type { Page } from 'playwright-core';
import { formatDecimal } from '../../web/ui/text.ts';
import { describeInBrowser } from '../support/requires.ts';
import { cell, follow, goTo, titled } from './steps.ts';
import { PERSON, startBrowserWorld, type BrowserWorld } from './world.ts';

describeInBrowser('the console', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

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

  test('the menu shows the entry of the page in a low window, and a check of the doctor leads to what it counts', async () => {
    const { page, problems } = await shown.signedIn();
    await page.setViewportSize({ width: 1440, height: 600 });
    const home = page.url().replace(/\/$/, '');
    for (const label of ['Doctor', 'Home']) {
      await page.goto(`${home}/${label === 'Home' ? '' : label.toLowerCase()}`);
      await titled(page, label);
      const menu = page.getByRole('navigation', { name: 'Pages' });
      const entry = await menu.getByRole('link', { name: label, exact: true }).boundingBox();
      const frame = await menu.boundingBox();
      expect(entry!.y).toBeGreaterThanOrEqual(frame!.y);
      expect(entry!.y + entry!.height).toBeLessThanOrEqual(frame!.y + frame!.height + 1);
    }
    // A page without an entry of its own marks the one that it belongs to.
    await page.goto(`${home}/late-usage`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const marked = page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current="page"]');
    expect(await marked.allInnerTexts()).toEqual(['Invoices']);
    // On a screen of a notebook no entry is out of sight.
    await page.setViewportSize({ width: 1440, height: 900 });
    const list = page.getByRole('navigation', { name: 'Pages' });
    expect(await list.evaluate((menu) => menu.scrollHeight - menu.clientHeight)).toBe(0);
    await goTo(page, 'Doctor');
    await page
      .getByRole('row', { name: /^Meters/ })
      .getByRole('link')
      .click();
    await titled(page, 'Meters');
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

  test('a payment is recorded on the day on which it was received, not on a day to come', async () => {
    const { page, problems } = await shown.signedIn();
    const { api } = shown.world;
    const { body: due } = await api.post('/v1/invoices', {
      customer_id: shown.records.get('/customers/$id')!,
      invoice_type: 'ONE_OFF',
      currency: 'usd',
      line_items: [{ display_name: 'Work', amount: '50', quantity: '1' }],
    });
    await page.goto(`${new URL(page.url()).origin}/invoices/${due.id}`);
    await page.getByRole('button', { name: 'Record payment' }).click();
    const dialog = page.getByRole('dialog', { name: 'Record payment' });
    await dialog.getByLabel(/^Amount in USD/).fill('20');
    await dialog.getByLabel(/^Day received/).fill('2099-01-01');
    await dialog.getByRole('button', { name: 'Record payment' }).click();
    await dialog.getByText('must not be in the future').waitFor();
    await dialog.getByLabel(/^Day received/).fill('2025-10-30');
    await dialog.getByRole('button', { name: 'Record payment' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { body: found } = await api.post('/v1/payments/search', { destination_id: due.id });
    expect(found.items).toMatchObject([
      { amount: '20', succeeded_at: '2025-10-30T00:00:00.000Z', payment_status: 'SUCCEEDED' },
    ]);
    expect(problems).toEqual([]);
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

  test('prices are brought to the subscriptions of a plan, with progress and a stop', async () => {
    const { page, problems } = await shown.signedIn();
    const { api, catalog } = shown.world;
    const plan = await catalog.plan('Grown');
    await catalog.fixed(plan, '10');
    const customer = await catalog.customer({ name: 'Kept Inc' });
    await catalog.subscribe(customer, plan);
    await catalog.fixed(plan, '5');

    await goTo(page, 'Plans');
    await follow(page, 'Grown', 'Grown');
    await page.getByText('1 subscription has older prices').waitFor();
    await page.getByRole('button', { name: 'Update prices' }).click();
    const asked = page.getByRole('dialog', { name: 'Update the prices of these subscriptions?' });
    await asked.getByRole('button', { name: 'Update prices' }).click();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('Stopped by request.').waitFor();
    const { body } = await api.post('/v1/tasks/search', {});
    expect(body.items[0]).toMatchObject({ task_status: 'FAILED', processed_records: 0 });

    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('button', { name: 'Update prices' }).click();
    await asked.getByRole('button', { name: 'Update prices' }).click();
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    await shown.world.job('sync-plan-prices');
    await page.getByText('The subscriptions have the current prices').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('before a paid invoice is replaced, the dialog says what becomes of the payment', async () => {
    const { page, problems } = await shown.signedIn();
    const { api, catalog } = shown.world;
    const base = page.url().replace(/\/$/, '');
    const customer = await catalog.customer({ name: 'Paid Inc' });
    const { body: invoice } = await api.post('/v1/invoices', {
      customer_id: customer.id,
      invoice_type: 'ONE_OFF',
      currency: 'usd',
      line_items: [{ display_name: 'Set-up', amount: '40', quantity: '1' }],
    });
    const payment = await api.post('/v1/payments', {
      destination_type: 'INVOICE',
      destination_id: invoice.id,
      payment_method_type: 'OFFLINE',
      amount: '40',
      currency: 'usd',
    });
    expect(payment.status).toBe(201);
    await page.goto(`${base}/invoices/${invoice.id}`);
    await page.getByRole('button', { name: 'More actions' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Edit line items' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Edit line items' });
    await dialog.getByText('What was paid counts for the draft.').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a rounded figure of an explanation shows the exact one to a mouse, to the keyboard and to a finger', async () => {
    const { page, problems } = await shown.signedIn();
    const { api, catalog } = shown.world;
    const plan = await catalog.plan('Part of a month');
    await catalog.fixed(plan, '49');
    const customer = await catalog.customer({ name: 'Rounded Inc' });
    const { latest_invoice } = await catalog.subscribe(customer, plan, {
      start_date: '2026-11-19T12:00:00.000Z',
      billing_cycle: 'calendar',
      proration_behavior: 'create_prorations',
    });
    const [line] = latest_invoice.line_items;
    const { body } = await api.get(
      `/v1/invoices/${latest_invoice.id}/lines/${line.id}/explanation`,
    );
    const exact = body.explanation.steps.find(({ step }: any) => step === 'proration').amount;
    expect(exact).toMatch(/\.\d{7,}$/);

    await goTo(page, 'Invoices');
    await page.goto(
      page.url().replace(/\/invoices.*/, `/invoices/${latest_invoice.id}?line=${line.id}`),
    );
    const figure = page.getByRole('button', { name: `exactly ${exact}` }).first();
    const shownExact = page.getByText(`exactly ${exact}`, { exact: true });
    expect(await figure.innerText()).toMatch(/^≈\d+\.\d{6}$/);
    expect(await shownExact.count()).toBe(0);

    // A mouse is moved on its way to the figure.
    await page.mouse.move(1, 1);
    await figure.hover();
    await shownExact.waitFor();
    await page.mouse.move(0, 0);
    await shownExact.waitFor({ state: 'detached' });

    await figure.press('Enter');
    await shownExact.waitFor();
    // Escape hides the figure, and leaves the dialog open.
    await page.keyboard.press('Escape');
    await shownExact.waitFor({ state: 'detached' });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Shift+Tab');
    await shownExact.waitFor();
    await page.keyboard.press('Tab');
    await figure.and(page.locator(':not([aria-describedby])')).waitFor();
    // The next step begins with the same figure, which has the focus now. Escape hides its exact value.
    await shownExact.waitFor();
    await page.keyboard.press('Escape');
    await shownExact.waitFor({ state: 'detached' });

    // A finger comes after the keyboard, to the same page.
    await figure.scrollIntoViewIfNeeded();
    const box = (await figure.boundingBox())!;
    const tap = await tapper(page);
    await tap(box.x + box.width / 2, box.y + box.height / 2);
    await shownExact.waitFor();
    const title = page.getByRole('dialog').getByRole('heading', { name: /^Why this amount/ });
    const beside = (await title.boundingBox())!;
    await tap(beside.x + 2, beside.y + beside.height / 2);
    await shownExact.waitFor({ state: 'detached' });
    await page.getByRole('dialog', { name: /^Why this amount/ }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('of a long table behind a chart the rows in sight are in the page, and none before it is opened', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    await page.goto(`${base}/analytics?window=15MIN&from=2026-11-01&to=2026-11-21`);
    const rows = page.getByRole('figure').first().locator('tbody tr');
    const opener = page.getByText('Show as a table').first();
    await opener.waitFor();
    expect(await rows.count()).toBe(0);
    await opener.press('Enter');
    const table = page
      .getByRole('figure')
      .first()
      .getByRole('region', { name: /, table$/ });
    const quarters = Number(await table.getByRole('table').getAttribute('aria-rowcount')) - 1;
    expect(quarters).toBeGreaterThan(1_900);
    await table.getByText('1 Nov 2026, 00:00 UTC', { exact: true }).waitFor();
    expect(await rows.count()).toBeLessThan(150);
    await table.press('End');
    await table.locator(`tr[aria-rowindex="${quarters + 1}"]`).waitFor();
    expect(await rows.count()).toBeLessThan(150);
    expect(await table.getByText('1 Nov 2026, 00:00 UTC', { exact: true }).count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('on a phone a link to a tab brings it into the row of tabs', async () => {
    const { page, problems } = await shown.signedIn();
    const customer = await shown.world.catalog.customer({ name: 'Narrow Inc' });
    const address = `${page.url().replace(/\/$/, '')}/customers/${customer.id}?tab=timeline`;
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(address);
    const tab = page.getByRole('tab', { name: 'Timeline', selected: true });
    await tab.waitFor();
    const frame = page.locator('div', { has: page.getByRole('tablist') }).last();
    const first = page.getByRole('tab', { name: 'Overview' });
    const [outer, inner, moved] = [
      (await frame.boundingBox())!,
      (await tab.boundingBox())!,
      (await first.boundingBox())!,
    ];
    expect(moved.x).toBeLessThan(outer.x);
    expect(inner.x).toBeGreaterThanOrEqual(outer.x - 1);
    expect(inner.x + inner.width).toBeLessThanOrEqual(outer.x + outer.width + 1);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the address says whether events are followed', async () => {
    const { page, problems } = await shown.signedIn();
    await goTo(page, 'Events');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.waitForURL(/\?live=off$/);
    await page.reload();
    await page.getByRole('button', { name: 'Follow' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByText('New ones appear as they arrive').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

/** Taps with a finger at a place of the page. */
async function tapper(page: Page): Promise<(x: number, y: number) => Promise<void>> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true });
  return async (x, y) => {
    await devtools.send('Input.dispatchTouchEvent', {
      type: 'touchStart',
      touchPoints: [{ x, y }],
    });
    await devtools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  };
}
