import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { WEBHOOK_EVENT_TYPES } from '../../schemas/webhooks/event-types.ts';
import { describeInBrowser } from '../support/requires.ts';
import { everyForm, settled } from './inspect.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

/** What developers do on the pages: endpoints, files of events in and out. */
describeInBrowser('pages of developers', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  const open = async (path: string) => {
    const watched = await shown.signedIn();
    const base = watched.page.url().replace(/\/$/, '');
    await watched.page.goto(base + path);
    await settled(watched.page);
    return { ...watched, base };
  };
  const press = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true }).first().press('Enter');

  test('an endpoint is edited, gets selected events only, and is deleted', async () => {
    const { body: made } = await shown.world.api.post('/v1/webhooks/endpoints', {
      url: 'https://example.com/first',
    });
    const { page, problems } = await open(`/webhooks/${made.id}`);
    await press(page, 'Edit');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill('https://example.com/second');
    await dialog.getByLabel('Description').fill('Orders');
    await dialog.getByText('invoice.update.finalized', { exact: true }).click();
    // The filter hides types and leaves what is chosen; the button of a group chooses all of it, or none.
    await dialog.getByLabel('Filter event types').fill('refund.');
    await dialog
      .getByText(`1 of ${WEBHOOK_EVENT_TYPES.length} event types chosen, 3 shown`)
      .waitFor();
    await dialog.getByRole('button', { name: 'Choose all of Refund' }).press('Enter');
    await dialog
      .getByText(`4 of ${WEBHOOK_EVENT_TYPES.length} event types chosen, 3 shown`)
      .waitFor();
    await dialog.getByRole('button', { name: 'Choose none of Refund' }).press('Enter');
    await dialog
      .getByText(`1 of ${WEBHOOK_EVENT_TYPES.length} event types chosen, 3 shown`)
      .waitFor();
    await dialog.getByLabel('Filter event types').fill('');
    await dialog.getByRole('group', { name: 'Credit note' }).waitFor();
    const found = await everyForm(page, 'endpoint-edit');
    await press(page, 'Save endpoint');
    await dialog.waitFor({ state: 'detached' });
    const read = await shown.world.api.get(`/v1/webhooks/endpoints/${made.id}`);
    expect(read.body).toMatchObject({
      url: 'https://example.com/second',
      description: 'Orders',
      event_types: ['invoice.update.finalized'],
    });
    await press(page, 'Delete');
    await press(page, 'Delete endpoint');
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await settled(page);
    expect(await page.getByText('https://example.com/second').count()).toBe(0);
    expect((await shown.world.api.get(`/v1/webhooks/endpoints/${made.id}`)).status).toBe(404);
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });

  test('a super admin makes a key for a service account, which is removed after its key', async () => {
    const { page, problems, base } = await open('/people?tab=service_account');
    const dialog = page.getByRole('dialog');
    await press(page, 'Add service account');
    await dialog.getByLabel('Name').fill('Billing export');
    await dialog.getByRole('button', { name: 'Add service account' }).press('Enter');
    await page.getByRole('button', { name: 'Remove Billing export' }).waitFor();
    // Its roles are fixed at creation.
    expect(await page.getByRole('button', { name: 'Change roles of' }).count()).toBe(0);

    await page.goto(`${base}/api-keys`);
    await press(page, 'Create key');
    await dialog.getByLabel('Name').fill('export');
    await dialog.getByLabel('Owner').selectOption('service_account');
    await dialog.getByLabel('Search service accounts by name').fill('export');
    await dialog.getByRole('button', { name: 'Billing export' }).press('Enter');
    const found = await everyForm(page, 'key-of-service-account');
    await dialog.getByRole('button', { name: 'Create key' }).press('Enter');
    await dialog.getByRole('region', { name: 'Key' }).waitFor();
    await press(page, 'Done');
    await page.getByRole('row', { name: /export.*Billing export/ }).waitFor();

    await press(page, 'Delete key export');
    await dialog.getByRole('button', { name: 'Delete key' }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.goto(`${base}/people?tab=service_account`);
    await press(page, 'Remove Billing export');
    await dialog.getByText('Delete its keys under API keys first').waitFor();
    await dialog.getByRole('button', { name: 'Remove', exact: true }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });

  test('events and usage are exported as files; a file of events is imported', async () => {
    const { page, problems } = await open('/tasks');
    const exported = async (choose: () => Promise<unknown>): Promise<string> => {
      await press(page, 'Export');
      await choose();
      const saved = page.waitForEvent('download');
      await page
        .getByRole('dialog')
        .getByRole('button', { name: 'Export', exact: true })
        .press('Enter');
      const text = readFileSync(await (await saved).path(), 'utf8');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      return text;
    };
    const events = await exported(async () => {});
    expect(events.split('\n')[0]).toMatch(/^event_id,event_name,/);
    // Every accepted copy: `counted` was sent twice.
    expect(events.match(/^counted,/gm)).toHaveLength(2);
    const usage = await exported(async () => {
      await page.getByLabel('Data').selectOption('usage');
      await page.getByLabel('Meter').selectOption(shown.records.get('/meters/$id')!);
    });
    expect(usage).toMatch(/acme.*42/);

    await press(page, 'Import events');
    await page.getByLabel('File of events').setInputFiles({
      name: 'late.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(
        `event_name,external_customer_id,timestamp\ncompletion,acme,${new Date(shown.world.api.clock.now() - 5_000).toISOString()}\n`,
      ),
    });
    const found = await everyForm(page, 'import');
    await page.getByRole('dialog').getByRole('button', { name: 'Import events' }).press('Enter');
    await page.getByRole('cell', { name: 'late.csv', exact: true }).waitFor();
    await press(page, 'Stop late.csv');
    await press(page, 'Resume late.csv');
    await page.getByRole('button', { name: 'Stop late.csv' }).waitFor();
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });

  test('the list of subscriptions has those of every status', async () => {
    const { api } = shown.world;
    const subscription_id = shown.records.get('/subscriptions/$id')!;
    await api.post(`/v1/subscriptions/${subscription_id}/cancel`, {
      cancellation_type: 'immediate',
    });
    const { page, problems } = await open('/subscriptions');
    await page.getByRole('cell', { name: 'Cancelled' }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
