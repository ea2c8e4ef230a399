import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import type { Page } from 'playwright-core';
import { eventually } from '../support/metering-world.ts';
import { describeInBrowser } from '../support/requires.ts';
import { settled } from './inspect.ts';
import { pathsOf } from './paths.ts';
import { goTo } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

/** Every page without a record in its path that saves what its table shows. */
const LISTS = [
  '/addons', '/analytics', '/api-keys', '/audit-log', '/connections', '/cost-sheets', '/coupons', '/customers', '/environments', '/events', '/features', '/invoices',
  '/late-usage', '/meters', '/payments', '/people', '/plans', '/price-groups', '/request-log', '/subscriptions', '/tasks', '/tax-rates',
  '/test-clocks', '/wallets', '/webhooks',
]; // prettier-ignore

/** What a finance person meets on a phone and at a desk. */
describeInBrowser('lists and names', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  const PHONE = { width: 360, height: 740 };

  test('on a phone filters are folded behind the first one, and money is in sight', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    await page.setViewportSize(PHONE);
    await page.goto(`${base}/invoices`);
    await page.getByText('$1,234,567.89').first().waitFor();
    await settled(page);
    expect(await page.getByLabel('Status').isVisible()).toBe(false);
    const total = (await page.getByText('$1,234,567.89').first().boundingBox())!;
    expect(total.x + total.width).toBeLessThanOrEqual(PHONE.width);
    await page.getByRole('button', { name: 'More filters' }).press('Enter');
    await page.getByLabel('Status').selectOption('FINALIZED');
    await page.waitForURL(/invoice_status=FINALIZED/);

    // A link with a filter shows it.
    await page.goto(`${base}/invoices?invoice_status=VOIDED`);
    await page.getByText('No invoice matches').waitFor();
    expect(await page.getByLabel('Status').isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Fewer filters' }).press('Enter');
    expect(await page.getByLabel('Status').isVisible()).toBe(false);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a day is typed into a filter key by key', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    await page.goto(`${base}/events`);
    await page.getByLabel('From').focus();
    await page.keyboard.type('10012026', { delay: 50 });
    await page.waitForURL(/[?&]from=2026-10-01/);
    expect(await page.getByLabel('From').inputValue()).toBe('2026-10-01');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a cancellation at the end of the period is undone in the menu of the subscription', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    await page.goto(`${base}/subscriptions/${shown.records.get('/subscriptions/$id')!}`);
    const choose = async (action: string): Promise<void> => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: action }).click();
      await page.getByRole('dialog').getByRole('button', { name: action }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await choose('Cancel subscription');
    const ends = page.getByText(/^Ends on /);
    await ends.waitFor();
    await choose('Undo the cancellation');
    await ends.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('on a phone a time takes two lines, and a row of the audit log is in sight', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    await page.setViewportSize(PHONE);
    await page.goto(`${base}/audit-log`);
    await page.getByRole('region', { name: 'Changes' }).waitFor();
    await settled(page);
    const time = page.getByRole('cell').locator('time').first();
    const lines = await time.evaluate(linesOf);
    expect(lines).toBe(2);
    const show = (await page
      .getByRole('button', { name: /^Show / })
      .first()
      .boundingBox())!;
    expect(show.x + show.width).toBeLessThanOrEqual(PHONE.width);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the audit log is filtered by a type of record that exists', async () => {
    const { page, problems } = await shown.signedIn();
    await goTo(page, 'Audit log');
    const types = page.getByLabel('Record type');
    expect(await types.locator('option').allTextContents()).toEqual(
      expect.arrayContaining(['Cost sheet', 'Invoice', 'Price group', 'Subscription line item']),
    );
    await types.selectOption({ label: 'Price group' });
    await page.waitForURL(/entity_type=group/);
    const found = await shown.world.api.get('/v1/audit-logs?entity_type=group&limit=1');
    const { total } = found.body.pagination;
    expect(total).toBeGreaterThan(0);
    const changes = page.getByRole('region', { name: 'Changes' });
    const groups = changes.getByRole('cell', { name: 'Price group' });
    const rows = changes.locator('tbody tr');
    // The rows of all types are shown until the filtered ones are there.
    await eventually(async () => {
      expect([await groups.count(), await rows.count()]).toEqual([total, total]);
    });
    // The actions are all that the log knows.
    const actions = page.getByLabel(/^Action/);
    await actions.locator('option', { hasText: 'Password reset requested' }).waitFor({ state: 'attached' }); // prettier-ignore
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('on a phone the balance after a transaction of a wallet is in sight', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    await page.setViewportSize(PHONE);
    await page.goto(`${base}/wallets/${shown.records.get('/wallets/$id')}?tab=transactions`);
    const table = page.getByRole('region', { name: 'Transactions' });
    await table.getByText(/^balance/).first().waitFor(); // prettier-ignore
    await settled(page);
    const hidden = await table.evaluate(
      ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
    );
    expect(hidden).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a single day is not a range, and a list says which days it has', async () => {
    const { page } = await shown.signedIn();
    const { api } = shown.world;
    await goTo(page, 'Events');
    await page.getByText('Accepted events of the last seven days, newest first.').waitFor();
    const base = page.url().replace(/\/events.*/, '');
    await page.goto(`${base}/events?to=2026-01-31`);
    await page.getByText('Accepted events of the seven days until then, newest first.').waitFor();
    const { id } = await api.postOk('/v1/invoices', {
      ...{ customer_id: shown.records.get('/customers/$id'), invoice_type: 'ONE_OFF' },
      ...{ currency: 'usd', line_items: [{ display_name: 'A day', amount: '1', quantity: '1' }] },
      ...{ period_start: '2026-01-30T00:00:00Z', period_end: '2026-01-31T00:00:00Z' },
    });
    await page.goto(`${base}/invoices/${id}`);
    const paper = page.getByRole('article', { name: 'Invoice document' });
    await paper.getByText('30 Jan 2026', { exact: true }).waitFor();
    expect(await paper.innerText()).not.toContain('30 Jan 2026 –');
    await page.context().close();
  });

  test('credits are aligned by the point', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const wallet = shown.records.get('/wallets/$id')!;
    const { status } = await shown.world.api.post(`/v1/wallets/${wallet}/top-up`, {
      credits_to_add: '0.125',
      transaction_reason: 'FREE_CREDIT_GRANT',
      idempotency_key: 'a-part',
    });
    expect(status).toBeLessThan(300);
    await page.goto(`${base}/wallets/${wallet}?tab=transactions`);
    const cells = page.locator('td:nth-last-child(2) > span');
    await cells.nth(1).waitFor();
    const rooms = await cells.evaluateAll((all) =>
      all.map(({ textContent, dataset }) => `${textContent}|${dataset['room'] ?? ''}`),
    );
    expect(rooms.sort()).toEqual(['0.125|', '100|.000']);
    const [short, long] = await Promise.all(['100', '0.125'].map(lefts));
    expect(short).toBe(long);
    expect(problems).toEqual([]);
    await page.context().close();

    /** Where the cell of the number ends: with room behind the shorter one both end at the same place. */
    async function lefts(text: string): Promise<number> {
      const box = await cells.filter({ hasText: new RegExp(`^${text}$`) }).boundingBox();
      return Math.round(box!.x + box!.width);
    }
  });

  test('a list is saved whole and with its filters, every amount with all of its digits', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const { api } = shown.world;
    const { body: found } = await api.post('/v1/invoices/search', { limit: 100 });
    await page.goto(`${base}/invoices`);
    expect(await savedRows()).toEqual(
      found.items.map((invoice: { id: string; total: string; invoice_number: string | null }) => [
        invoice.invoice_number ?? '',
        invoice.total,
        invoice.id,
      ]),
    );
    await page.goto(`${base}/invoices?invoice_status=VOIDED`);
    await page.getByText('No invoice matches').waitFor();
    expect(await savedRows()).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();

    async function savedRows(): Promise<(string | undefined)[][]> {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'CSV' }).press('Enter'),
      ]);
      expect(file.suggestedFilename()).toBe('invoices.csv');
      const rows = parse(await readFile(await file.path(), 'utf8'), { columns: true });
      return (rows as Record<string, string>[]).map((row) => [
        row['number'],
        row['total'],
        row['id'],
      ]);
    }
  });

  test('every list of the console is saved as it is shown', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const saved: string[] = [];
    for (const path of pathsOf('console').filter((one) => !one.slice(1).includes('/'))) {
      await page.goto(base + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settled(page);
      const save = page.getByRole('button', { name: 'CSV', exact: true });
      if ((await save.count()) === 0) continue;
      // A page may have other tables beside the list that it saves.
      const main = page.getByRole('main');
      const own = main.locator('section').filter({ has: save });
      const table = ((await own.count()) === 0 ? main : own).getByRole('table').first();
      const rows = await table.locator('tbody tr').count();
      const csv = parse(await fileOf(page, 'CSV'), { columns: true }) as object[];
      // These lists have the requests of this test as well.
      const hasThose = path === '/request-log' || path === '/audit-log';
      expect({ path, rows: hasThose ? rows : csv.length }).toEqual({ path, rows });
      saved.push(path);
    }
    expect(saved.sort()).toEqual(LISTS);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a list is saved as records: each as the API answers it', async () => {
    const { page, problems } = await shown.signedIn();
    const { body: found } = await shown.world.api.post('/v1/plans/search', {});
    await goTo(page, 'Plans');
    await page.getByRole('region', { name: 'Plans' }).waitFor();
    await fileOf(page, 'CSV');
    const lines = (await fileOf(page, 'JSONL')).split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line))).toEqual(found.items);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('people, plans and clocks are named', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const { api } = shown.world;
    const { body: people } = await api.post('/v1/users/search', { user_ids: [api.user_id] });
    const [person] = people.items;
    await page.goto(`${base}/audit-log?entity_type=invoice`);
    const author = page.getByRole('cell', { name: person.name || person.email, exact: true });
    await author.first().waitFor();
    expect(await page.getByText(api.user_id).count()).toBe(0);

    const clocked = await api.post('/v1/customers', {
      external_id: 'clocked',
      name: 'Clocked',
      test_clock_id: shown.records.get('/test-clocks/$id'),
    });
    await page.goto(`${base}/customers/${clocked.body.id}`);
    await page.getByRole('link', { name: 'One year' }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a plan gets an entitlement: a text, or an included quantity; the plan, the feature and a customer say the same', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const { api } = shown.world;
    const made = await api.post('/v1/features', { name: 'Support', type: 'static' });
    await page.goto(`${base}/plans/${shown.records.get('/plans/$id')}`);
    await page.getByRole('button', { name: 'Add entitlement' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('searchbox', { name: 'Search features by name' }).fill('uppo');
    await dialog.getByRole('button', { name: 'Support' }).press('Enter');
    await dialog.getByRole('button', { name: 'Add entitlement' }).press('Enter');
    await dialog.getByText('is required').waitFor();
    await dialog.getByLabel('Value').fill('E-mail, within a day');
    await dialog.getByRole('button', { name: 'Add entitlement' }).press('Enter');
    const granted = page.getByRole('region', { name: 'List of entitlements' });
    await granted.getByText('E-mail, within a day').waitFor();
    await granted.getByText('10,000 monthly').waitFor();
    await page.goto(`${base}/features/${made.body.id}`);
    await page.getByText('E-mail, within a day').waitFor();
    await page.goto(`${base}/customers/${shown.records.get('/customers/$id')}`);
    await page.getByText('E-mail, within a day').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the terms of a new subscription are kept when they are changed after the preview', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const [customer, plan] = ['/customers/$id', '/plans/$id'].map((path) =>
      shown.records.get(path),
    );
    await page.goto(`${base}/subscriptions/new?customer_id=${customer}&plan_id=${plan}`);
    await page.getByLabel('Start date').fill('2026-10-01');
    await page.getByRole('button', { name: 'Preview the invoice' }).click();
    await page.getByRole('button', { name: 'Change the terms' }).click();
    expect(await page.getByLabel('Start date').inputValue()).toBe('2026-10-01');
    expect(await page.getByLabel('Plan', { exact: true }).inputValue()).toBe(plan);

    // A preview leaves no draft; the one that is saved is discarded by hand.
    await page.getByRole('button', { name: 'Preview the invoice' }).click();
    await page.getByRole('button', { name: 'Save as a draft' }).click();
    await page.getByText('Draft saved').waitFor();
    const drafts = async () => {
      const asked = { customer_id: customer, plan_id: plan, subscription_status: ['draft'] };
      const { body } = await shown.world.api.post('/v1/subscriptions/search', asked);
      return body.items.length;
    };
    expect(await drafts()).toBe(1);
    await page.getByRole('button', { name: 'Discard draft' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard draft' }).click();
    await page.getByText('Draft discarded').waitFor();
    await page.waitForURL(/\/subscriptions$/);
    expect(await drafts()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

/** The file that the button saves; without a file, what the page says about it. */
async function fileOf(page: Page, kind: 'CSV' | 'JSONL'): Promise<string> {
  const file = page.waitForEvent('download');
  const refused = page
    .getByText('The file was not saved')
    .innerText()
    .then((text) => Promise.reject(new Error(text)));
  refused.catch(() => undefined);
  await page.getByRole('button', { name: kind, exact: true }).first().press('Enter');
  return await readFile(await (await Promise.race([file, refused])).path(), 'utf8');
}

/** Runs in the page: how many lines the text of an element takes. */
function linesOf(element: unknown): number {
  const { getClientRects } = element as {
    getClientRects: () => Iterable<{ readonly top: number }>;
  };
  const tops = [...getClientRects.call(element)].map(({ top }) => Math.round(top));
  return new Set(tops).size;
}
