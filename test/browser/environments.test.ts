import { describeInBrowser } from '../support/requires.ts';
import { hostileText } from './hostile-records.ts';
import { everyForm, settled } from './inspect.ts';
import { mouse } from './hands.ts';
import { goTo } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** Environments: each says whether it is live; the switch and the list show the same. */
describeInBrowser('environments', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('created, renamed, filled with a copy of the catalog, and opened', async () => {
    const { api } = shown.world;
    const { page, problems } = await shown.signedIn();
    const dialog = (name: string) => page.getByRole('dialog', { name });
    const row = (name: string) =>
      page
        .getByRole('region', { name: 'List of environments' })
        .getByRole('row')
        .filter({
          has: page.getByRole('link', { name, exact: true }),
        });
    const environments = async (): Promise<{ id: string; name: string; type: string }[]> =>
      (await api.get('/v1/environments?limit=100')).body.environments;

    await goTo(page, 'Environments', hands);
    await page.getByText('Current', { exact: true }).waitFor();
    await hands.press(page.getByRole('button', { name: 'New environment' }));
    await hands.press(
      dialog('New environment').getByRole('button', { name: 'Create environment' }),
    );
    await dialog('New environment')
      .getByText(/required/)
      .waitFor();
    await hands.write(dialog('New environment').getByLabel('Name'), 'Staging');
    await hands.press(
      dialog('New environment').getByRole('button', { name: 'Create environment' }),
    );
    await row('Staging').getByText('Test', { exact: true }).waitFor();
    const staging = (await environments()).find(({ name }) => name === 'Staging')!;
    expect(staging.type).toBe('development');

    const name = hostileText(200);
    await hands.press(page.getByRole('button', { name: 'Rename Staging' }));
    await hands.write(dialog('Rename environment').getByLabel('Name'), name);
    await hands.press(
      dialog('Rename environment').getByRole('button', { name: 'Rename environment' }),
    );
    await page.getByRole('link', { name }).waitFor();
    expect((await environments()).find(({ id }) => id === staging.id)!.name).toBe(name);
    const found = await everyForm(page, 'environments');
    await page.setViewportSize({ width: 1440, height: 900 });

    const here = page.url().split('/')[4];
    const own = (await environments()).find(({ id }) => id === here)!;
    const copy = page.getByRole('button', { name: `Copy catalog of ${own.name}`, exact: true });
    await hands.press(copy);
    await dialog('Copy catalog').getByLabel('Copy into').selectOption(staging.id);
    await hands.press(dialog('Copy catalog').getByRole('button', { name: 'Copy catalog' }));
    await dialog('Copy catalog').waitFor({ state: 'detached' });

    // The refusal of a second copy is said in the dialog.
    await hands.press(copy);
    await dialog('Copy catalog').getByLabel('Copy into').selectOption(staging.id);
    await hands.press(dialog('Copy catalog').getByRole('button', { name: 'Copy catalog' }));
    await dialog('Copy catalog').getByText('The target environment has meters already.').waitFor();
    await page.keyboard.press('Escape');

    await hands.press(page.getByRole('link', { name }));
    await page.waitForURL(`**/env/${staging.id}`);
    await settled(page);
    await page.goto(`${page.url()}/plans`);
    await page.getByRole('link', { name: 'Growth' }).waitFor();
    await page.getByRole('button', { name: /Change environment/ }).waitFor();
    expect(await page.evaluate("'__ran' in globalThis")).toBe(false);
    expect([...found, ...problems.filter((text) => !text.includes('400'))]).toEqual([]);
    await page.context().close();
  });

  test('a live environment is marked in the list and in the switch; a limit is said at the field', async () => {
    const { api } = shown.world;
    const { page, problems } = await shown.signedIn();
    await goTo(page, 'Environments', hands);
    await hands.press(page.getByRole('button', { name: 'New environment' }));
    const dialog = page.getByRole('dialog', { name: 'New environment' });
    await hands.write(dialog.getByLabel('Name'), 'Shop');
    await hands.choose(dialog.getByLabel('Mode'), 'Live');
    await hands.press(dialog.getByRole('button', { name: 'Create environment' }));
    await dialog.getByText('the tenant may have 0 production environments').waitFor();
    const value = { production: 1, development: 5 };
    expect((await api.put('/v1/settings/tenant_config', { value })).status).toBe(200);
    await hands.write(dialog.getByLabel('Name'), 'Shop of live customers');
    await hands.press(dialog.getByRole('button', { name: 'Create environment' }));
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('row').filter({ hasText: 'Shop of live customers' });
    await row.getByText('Live', { exact: true }).waitFor();
    await hands.press(page.getByRole('button', { name: /Change environment/ }));
    await page.getByRole('menuitem', { name: /Live\s*Shop/ }).waitFor();
    await page.keyboard.press('Escape');

    await hands.press(page.getByRole('button', { name: 'Copy catalog of Shop of live customers' }));
    const found = await everyForm(page, 'copy-catalog');
    expect([...found, ...problems.filter((text) => !text.includes('400'))]).toEqual([]);
    await page.context().close();
  });
});
