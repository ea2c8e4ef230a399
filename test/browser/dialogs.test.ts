import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describeInBrowser } from '../support/requires.ts';
import { DIALOGS, nameOf, openDialog, prepareDialogs } from './dialogs.ts';
import { settled, twoForms } from './inspect.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

/** The paths of the route table. Its file cannot be imported here: it names components. */
const table = readFileSync(new URL('../../web/console/routes.ts', import.meta.url), 'utf8');
const paths = [...table.matchAll(/\{ path: '([^']+)'/g)].map((match) => match[1]!);

/** Every part is looked at in light and dark, each at one width that the seed chooses; `SEED=n` repeats a run. */
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));

/** What a page of the console shows only when it is asked for. */
describeInBrowser('parts of pages', (executable) => {
  let shown: BrowserWorld;
  let turn = SEED;
  beforeAll(async () => {
    process.stdout.write(`parts of pages: SEED=${SEED}\n`);
    shown = await startBrowserWorld(executable);
    await prepareDialogs(shown.world);
  });
  afterAll(() => shown?.close());

  const addressOf = (base: string, path: string): string =>
    base + path.replace(/\$\w+/, encodeURIComponent(shown.records.get(path) ?? ''));

  test('each tab of each page has an address; axe finds nothing on it and nothing overflows', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const found: string[] = [];
    const seen: string[] = [];
    for (const path of paths) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(addressOf(base, path));
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settled(page);
      const tabs = await page.getByRole('main').getByRole('tab').allInnerTexts();
      for (const name of tabs.slice(1)) {
        await page.setViewportSize({ width: 1440, height: 900 });
        await page.getByRole('tab', { name, exact: true }).click();
        await page.reload();
        await page.getByRole('tab', { name, exact: true, selected: true }).waitFor();
        await settled(page);
        found.push(...(await twoForms(page, `${path}, ${name}`, turn++)));
        seen.push(`${path}, ${name}`);
      }
    }
    expect([...found, ...problems]).toEqual([]);
    expect(seen.length).toBeGreaterThanOrEqual(TABS_MIN);
    await page.context().close();
  });

  test('axe finds nothing on any dialog, and nothing overflows', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const found: string[] = [];
    for (const dialog of DIALOGS) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(addressOf(base, dialog.path));
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settled(page);
      await openDialog(page, dialog);
      await settled(page);
      found.push(...(await twoForms(page, nameOf(dialog), turn++)));
    }
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });
});

/** As many tabs as pages had behind their first one when this was written. */
const TABS_MIN = 15;
