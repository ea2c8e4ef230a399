import { describeInBrowser } from '../support/requires.ts';
import { catalogOf } from '../support/catalog.ts';
import { mouse } from './hands.ts';
import { everyForm, settled } from './inspect.ts';
import { cell, goTo, titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** Records that are replaced, changed and deleted: keys, customers, entitlements. */
describeInBrowser('corrections', (executable) => {
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
    return watched;
  };

  test('a key is rotated: the new one is shown once, the old one works for the chosen time', async () => {
    const { api } = shown.world;
    const { page, problems } = await open('/api-keys');
    const dialog = page.getByRole('dialog');
    await hands.press(page.getByRole('button', { name: 'Create key' }).first());
    await hands.write(dialog.getByLabel('Name'), 'backend');
    await hands.press(dialog.getByRole('button', { name: 'Create key' }));
    const first = await dialog.getByRole('region', { name: 'Key' }).innerText();
    await hands.press(dialog.getByRole('button', { name: 'Done' }));

    const statusOf = async (key: string): Promise<number> =>
      (await api.get('/v1/plans', { 'x-api-key': key.trim() })).status;
    const rotate = async (overlap: string): Promise<string> => {
      await hands.press(page.getByRole('button', { name: 'Rotate key backend' }).first());
      await hands.choose(dialog.getByLabel('Old key'), overlap);
      await hands.press(dialog.getByRole('button', { name: 'Rotate key' }));
      const made = await dialog.getByRole('region', { name: 'Key' }).innerText();
      await hands.press(dialog.getByRole('button', { name: 'Done' }));
      await dialog.waitFor({ state: 'detached' });
      return made;
    };
    const second = await rotate('It works for one more hour');
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
    await settled(page);
    const third = await rotate('It ends at once');
    expect([await statusOf(second), await statusOf(third)]).toEqual([401, 200]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a customer is deleted: wallets are named before, the refusal stays in the dialog', async () => {
    const { api } = shown.world;
    const busy = shown.records.get('/customers/$id')!;
    const { page, problems } = await open(`/customers/${busy}`);
    const dialog = page.getByRole('dialog', { name: 'Delete this customer?' });
    await hands.press(page.getByRole('button', { name: 'Delete', exact: true }));
    await dialog.getByText('Prepaid').waitFor();
    await hands.press(dialog.getByRole('button', { name: 'Delete customer' }));
    await dialog
      .getByText(
        `Cancel the subscriptions that have not ended: ${shown.records.get('/subscriptions/$id')}`,
      )
      .first()
      .waitFor();
    const found = await everyForm(page, 'customer-deletion');
    await page.setViewportSize({ width: 1440, height: 900 });
    expect((await api.get(`/v1/customers/${busy}`)).body.status).toBe('published');

    const free = await catalogOf(api).customer({ name: 'Left' });
    await page.goto(page.url().replace(busy, free.id));
    await titled(page, 'Left');
    await hands.press(page.getByRole('button', { name: 'Delete', exact: true }));
    await dialog.getByText('The customer has no wallet.').waitFor();
    await hands.press(dialog.getByRole('button', { name: 'Delete customer' }));
    await titled(page, 'Customers');
    expect((await api.get(`/v1/customers/${free.id}`)).body.status).toBe('archived');
    expect([...found, ...problems.filter((text) => !text.includes('400'))]).toEqual([]);
    await page.context().close();
  });

  test('an entitlement is changed for a plan, and then for one subscription alone', async () => {
    const { api } = shown.world;
    const plan = shown.records.get('/plans/$id')!;
    const { page, problems } = await open(`/plans/${plan}`);
    const dialog = page.getByRole('dialog');
    await hands.press(page.getByRole('button', { name: 'Edit Completions' }));
    await hands.write(dialog.getByLabel('Included quantity'), 'many');
    await dialog.getByText('must be a whole number, or empty for no limit').waitFor();
    await hands.write(dialog.getByLabel('Included quantity'), '12000');
    await hands.press(dialog.getByRole('button', { name: 'Save entitlement' }));
    await dialog.waitFor({ state: 'detached' });
    await cell(page, 'List of entitlements', '12,000 monthly').waitFor();

    const subscription = shown.records.get('/subscriptions/$id')!;
    await page.goto(page.url().replace(`/plans/${plan}`, `/subscriptions/${subscription}`));
    await cell(page, 'List of entitlements', 'Growth').waitFor();
    await hands.press(page.getByRole('button', { name: 'Change Completions' }));
    await hands.write(dialog.getByLabel('Included quantity'), '20000');
    await hands.press(dialog.getByRole('button', { name: 'Save entitlement' }));
    await cell(page, 'List of entitlements', 'This subscription').waitFor();
    await cell(page, 'List of entitlements', '20,000 monthly').waitFor();
    const limitOf = async (path: string): Promise<unknown> =>
      (await api.get(path)).body.features[0]?.entitlement.usage_limit;
    expect(await limitOf(`/v1/subscriptions/${subscription}/entitlements`)).toBe(20_000);
    expect((await api.get(`/v1/plans/${plan}/entitlements`)).body.items[0].usage_limit).toBe(
      12_000,
    );

    // Turned off, it stays in the list and can be turned on again.
    for (const [click, text] of [
      ['Off', 'Off'],
      ['On', '20,000 monthly'],
    ] as const) {
      await hands.press(page.getByRole('button', { name: 'Change Completions' }));
      await dialog.getByText('On', { exact: true }).click();
      if (click === 'Off') {
        expect(await everyForm(page, 'entitlement-of-subscription')).toEqual([]);
        await page.setViewportSize({ width: 1440, height: 900 });
      }
      await hands.press(dialog.getByRole('button', { name: 'Save entitlement' }));
      await dialog.waitFor({ state: 'detached' });
      await cell(page, 'List of entitlements', text).waitFor();
    }
    await goTo(page, 'Plans', hands);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
