import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/requires.ts';
import { startStorage, STORAGE_KEYS, type TestStorage } from '../support/s3-server.ts';
import { mouse } from './hands.ts';
import { everyForm, settled } from './inspect.ts';
import { cell, goTo, titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** Exports into a bucket, over a storage that checks every signature. */
describeInBrowser('scheduled exports', (executable) => {
  let shown: BrowserWorld;
  let storage: TestStorage;
  beforeAll(async () => {
    storage = await startStorage();
    shown = await startBrowserWorld(executable);
  });
  afterAll(async () => {
    await shown?.close();
    await storage?.close();
  });

  const runs = async (page: Page, outcome: string): Promise<void> => {
    await shown.world.job('run-scheduled-exports');
    await cell(page, 'Runs, newest first', outcome).waitFor();
  };

  test('the bucket is connected, an export is created, runs, fails with its reason, is edited, turned off and deleted', async () => {
    const { api } = shown.world;
    for (const { id } of (await api.get('/v1/tasks/scheduled')).body.items)
      await api.delete(`/v1/tasks/scheduled/${id}`);
    for (const { id } of (await api.post('/v1/connections/search', {})).body.connections)
      await api.delete(`/v1/connections/${id}`);
    const { page, problems } = await shown.signedIn();
    const dialog = page.getByRole('dialog');
    const press = (name: string) => hands.press(dialog.getByRole('button', { name, exact: true }));

    await goTo(page, 'Imports and exports', hands);
    await page.getByText('No scheduled export yet').waitFor();
    await hands.press(page.getByRole('button', { name: 'New scheduled export' }));
    await dialog.getByText('Connect the bucket first.').waitFor();
    await hands.write(dialog.getByLabel('Name'), 'Archive');
    await hands.write(dialog.getByLabel('Bucket'), 'archive');
    await hands.write(dialog.getByLabel('Region'), 'eu-west-1');
    await hands.write(dialog.getByLabel('Access key id'), STORAGE_KEYS.aws_access_key_id);
    await hands.write(dialog.getByLabel('Secret access key'), STORAGE_KEYS.aws_secret_access_key);
    await press('Connect bucket');

    await hands.choose(dialog.getByLabel('Schedule'), 'Hourly');
    await hands.write(dialog.getByLabel('Folder'), 'events/');
    await hands.write(dialog.getByLabel('Address of the storage'), 'nowhere');
    await dialog.getByText('expected an address that begins with https://').waitFor();
    await hands.write(dialog.getByLabel('Address of the storage'), storage.url);
    await dialog.getByText('The bucket is in the path').click();
    const found = await everyForm(page, 'new-scheduled-export');
    await page.setViewportSize({ width: 1440, height: 900 });
    await press('Create scheduled export');
    await titled(page, 'Export of events');
    const id = page.url().split('/').at(-1)!;
    expect((await api.get(`/v1/tasks/scheduled/${id}`)).body).toMatchObject({
      ...{ entity_type: 'events', interval: 'hourly', enabled: true },
      job_config: { bucket: 'archive', region: 'eu-west-1', key_prefix: 'events/' },
    });

    await page.getByText('No run yet').waitFor();
    await hands.press(page.getByRole('button', { name: 'Run now' }));
    await hands.choose(dialog.getByLabel('Export'), 'Days that I choose');
    await press('Run export');
    await cell(page, 'Runs, newest first', 'Running').waitFor();
    await runs(page, 'Completed');
    expect([...storage.objects.keys()].some((key) => key.includes('events/'))).toBe(true);

    const { connection_id } = (await api.get(`/v1/tasks/scheduled/${id}`)).body;
    await api.put(`/v1/connections/${connection_id}`, {
      encrypted_secret_data: { ...STORAGE_KEYS, aws_access_key_id: 'AKIAOTHER' },
    });
    await hands.press(page.getByRole('button', { name: 'Run now' }));
    await press('Run export');
    await dialog.waitFor({ state: 'detached' });
    await runs(page, 'Failed');
    await page.getByRole('row', { name: /Failed.*403/ }).waitFor();
    found.push(...(await everyForm(page, 'scheduled-export')));
    await page.setViewportSize({ width: 1440, height: 900 });

    const marked = page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current="page"]');
    expect(await marked.allInnerTexts()).toEqual(['Imports and exports']);
    await goTo(page, 'Imports and exports', hands);
    await cell(page, 'List of scheduled exports', 'Hourly').waitFor();
    await cell(page, 'List of scheduled exports', 'Failed').waitFor();
    await hands.press(page.getByRole('link', { name: 'Events', exact: true }).last());
    await titled(page, 'Export of events');

    await hands.press(page.getByRole('button', { name: 'Edit', exact: true }));
    expect(await dialog.getByLabel('Folder').inputValue()).toBe('events/');
    await hands.choose(dialog.getByLabel('Data'), 'Credit top-ups');
    await hands.choose(dialog.getByLabel('Schedule'), 'Daily');
    await hands.write(dialog.getByLabel('Folder'), 'top-ups/');
    await hands.choose(dialog.getByLabel('Encryption'), 'AWS KMS');
    await press('Add metadata column');
    await press('Save scheduled export');
    await dialog.getByText('is required').waitFor();
    await hands.choose(dialog.getByLabel('Metadata of, column 1'), 'Wallet');
    await hands.write(dialog.getByLabel('Key 1'), 'team');
    await hands.write(dialog.getByLabel(/^Column name 1/), 'cost_centre');
    found.push(...(await everyForm(page, 'edit-scheduled-export')));
    await page.setViewportSize({ width: 1440, height: 900 });
    await press('Save scheduled export');
    await titled(page, 'Export of credit top-ups');
    await page.getByText('cost_centre (wallet)').waitFor();
    const changed = page.url().split('/').at(-1)!;
    expect((await api.get(`/v1/tasks/scheduled/${id}`)).body).toMatchObject({
      ...{ status: 'archived', enabled: false },
    });
    expect((await api.get(`/v1/tasks/scheduled/${changed}`)).body).toMatchObject({
      ...{ entity_type: 'credit_topups', interval: 'daily', enabled: true, status: 'published' },
      job_config: {
        ...{ bucket: 'archive', key_prefix: 'top-ups/', encryption: 'aws:kms' },
        ...{ endpoint_url: storage.url, use_path_style: true },
        export_metadata_fields: [
          { entity_type: 'wallet', field_key: 'team', column_name: 'cost_centre' },
        ],
      },
    });

    await hands.press(page.getByRole('button', { name: 'Turn off' }));
    await page.getByRole('button', { name: 'Turn on' }).waitFor();
    expect((await api.get(`/v1/tasks/scheduled/${changed}`)).body.enabled).toBe(false);
    await hands.press(page.getByRole('button', { name: 'Delete', exact: true }));
    await press('Delete scheduled export');
    await titled(page, 'Imports and exports');
    await page.getByText('No scheduled export yet').waitFor();
    await settled(page);
    expect((await api.get(`/v1/tasks/scheduled/${changed}`)).body.status).toBe('archived');
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });

  test('an edit that fails in the middle says what is saved, and is finished by saving again', async () => {
    const { api } = shown.world;
    const bucket = await api.postOk('/v1/connections', {
      ...{ name: 'Second archive', provider_type: 's3' },
      sync_config: { s3: { bucket: 'archive', region: 'eu-west-1' } },
    });
    const before = await api.postOk('/v1/tasks/scheduled', {
      ...{ connection_id: bucket.id, entity_type: 'events', interval: 'daily', job_config: {} },
    });
    const { page } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    await page.goto(`${base}/scheduled-exports/${before.id}`);
    await hands.press(page.getByRole('button', { name: 'Edit', exact: true }));
    const dialog = page.getByRole('dialog');
    await hands.choose(dialog.getByLabel('Schedule'), 'Hourly');
    const save = () =>
      hands.press(dialog.getByRole('button', { name: 'Save scheduled export', exact: true }));
    const exports = async () =>
      (await api.get('/v1/tasks/scheduled')).body.items.map(
        ({ interval, enabled }: { interval: string; enabled: boolean }) => [interval, enabled],
      );
    let refused: string | null = 'DELETE';
    await page.route(/\/v1\/tasks\/scheduled\/[^/]+$/, (route) =>
      route.request().method() === refused
        ? route.fulfill({ status: 503, json: { code: 'unavailable', message: 'Not now.' } })
        : route.continue(),
    );

    await save();
    await dialog.getByText(/^Not now\. The changed export is saved, but it is off, and the present one is not deleted/).waitFor(); // prettier-ignore
    expect((await exports()).sort()).toEqual([['daily', true], ['hourly', false]]); // prettier-ignore
    refused = 'PUT';
    await save();
    await dialog.getByText(/^Not now\. The changed export is saved and takes the place of this one, but it is off\./).waitFor(); // prettier-ignore
    expect(await exports()).toEqual([['hourly', false]]);
    refused = null;
    await save();
    await dialog.waitFor({ state: 'detached' });
    await page.waitForURL((url) => !url.pathname.endsWith(before.id));
    expect(await exports()).toEqual([['hourly', true]]);
    await page.context().close();
  });
});
