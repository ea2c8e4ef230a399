import { randomInt } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/requires.ts';
import { DIALOGS, nameOf, openDialog, prepareDialogs } from './dialogs.ts';
import { settled, twoForms } from './inspect.ts';
import { withId } from './paths.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

/** Every dialog is looked at in light and dark, each at one width that the seed chooses; `SEED=n` repeats a run. */
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));

describeInBrowser('dialogs', (executable) => {
  let shown: BrowserWorld;
  let records: ReadonlyMap<string, string>;
  beforeAll(async () => {
    process.stdout.write(`dialogs: SEED=${SEED}\n`);
    shown = await startBrowserWorld(executable);
    records = new Map([...shown.records, ...(await prepareDialogs(shown.world))]);
  });
  afterAll(() => shown?.close());

  test('a dialog keeps the focus and returns it to its button; axe finds nothing on it, and nothing overflows', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const found: string[] = [];
    for (const [index, dialog] of DIALOGS.entries()) {
      const name = nameOf(dialog);
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
      await page.goto(base + withId(dialog.path, records.get(dialog.path)));
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settled(page);
      const opener = await openDialog(page, dialog);
      await settled(page);
      for (let presses = 0; presses < 12; presses += 1) {
        await page.keyboard.press('Tab');
        if (!(await isInDialog(page))) found.push(`${name}: the focus leaves the dialog`);
      }
      found.push(...(await twoForms(page, name, SEED + index)));
      await page.setViewportSize({ width: 1440, height: 900 });
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
