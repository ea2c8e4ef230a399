import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/requires.ts';
import { DIALOGS, nameOf, openDialog, prepareDialogs } from './dialogs.ts';
import { settled } from './inspect.ts';
import { walkByTab } from './keyboard.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

/** The paths of the route table. Its file cannot be imported here: it names components. */
const table = readFileSync(new URL('../../web/console/routes.ts', import.meta.url), 'utf8');
const paths = [...table.matchAll(/\{ path: '([^']+)'/g)].map((match) => match[1]!);

describeInBrowser('keyboard', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
    await prepareDialogs(shown.world);
  });
  afterAll(() => shown?.close());

  const addressOf = (base: string, path: string): string =>
    base + path.replace(/\$\w+/, encodeURIComponent(shown.records.get(path) ?? ''));

  test('Tab reaches everything on every page, in visual order, with visible focus, and leaves the page', async () => {
    const { page, problems } = await shown.signedIn();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const base = page.url().replace(/\/$/, '');
    const found: string[] = [];
    for (const path of paths) {
      await page.goto(addressOf(base, path));
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settled(page);
      found.push(...(await walkByTab(page, path)));
    }
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });

  test('a dialog keeps the focus, and returns it to its button', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const found: string[] = [];
    for (const dialog of DIALOGS) {
      const name = nameOf(dialog);
      await page.goto(addressOf(base, dialog.path));
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settled(page);
      const opener = await openDialog(page, dialog);
      await settled(page);
      for (let presses = 0; presses < 12; presses += 1) {
        await page.keyboard.press('Tab');
        if (!(await isInDialog(page))) found.push(`${name}: the focus leaves the dialog`);
      }
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await opener
        .and(page.locator(':focus'))
        .waitFor({ timeout: 10_000 })
        .catch(() => found.push(`${name}: the focus does not return`));
    }
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });
});

const isInDialog = (page: Page): Promise<boolean> =>
  page.evaluate('document.querySelector(\'[role="dialog"]\').contains(document.activeElement)');
