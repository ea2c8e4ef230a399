import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/requires.ts';
import { hostileRecords } from './hostile-records.ts';
import { everyForm, everyWidth, settled, shifts } from './inspect.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

/** Pages of people without a session. */
const FORMS = [
  '/',
  '/sign-up',
  '/verify',
  '/forgot-password',
  '/reset-password',
  '/company-sign-in',
  '/portal',
  '/checkout/some',
];

/** The paths of the route table. Its file cannot be imported here: it names components. */
const table = readFileSync(new URL('../../web/console/routes.ts', import.meta.url), 'utf8');
const paths = [...table.matchAll(/\{ path: '([^']+)'/g)].map((match) => match[1]!);

describeInBrowser('pages', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('every page of the console, in light and dark at 360, 768 and 1440 px: axe finds nothing, nothing overflows, shifts or fails', async () => {
    expect(paths.length).toBeGreaterThan(0);
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const found: string[] = [];
    for (const path of paths) {
      const id = shown.records.get(path);
      if (path.includes('$') && id === undefined)
        throw new Error(`${path}: test/browser/world.ts makes no record for this page`);
      await page.setViewportSize({ width: 1440, height: 900 });
      await open(page, base + path.replace(/\$\w+/, encodeURIComponent(id ?? '')), problems);
      found.push(...(await shifts(page, path)));
      found.push(...(await everyForm(page, path)));
    }
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });

  test('hostile records on every page: nothing runs, nothing overflows at any width, nothing fails', async () => {
    const hostile = await hostileRecords(shown.world);
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const found: string[] = [];
    for (const path of paths) {
      const id = hostile.get(path);
      if (path.includes('$') && id === undefined)
        throw new Error(`${path}: test/browser/hostile-records.ts makes no record for this page`);
      await page.setViewportSize({ width: 1440, height: 900 });
      await open(page, base + path.replace(/\$\w+/, encodeURIComponent(id ?? '')), problems);
      found.push(...(await everyWidth(page, `hostile${path}`)));
      if (await page.evaluate(hasRun)) found.push(`${path}: text of a record ran`);
    }
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });

  test('the forms of people who are not signed in', async () => {
    const { page, problems } = await shown.fresh();
    const found: string[] = [];
    for (const path of FORMS) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(shown.url + path);
      await page.getByRole('heading').first().waitFor();
      await settled(page);
      found.push(...(await shifts(page, `signed-out${path}`)));
      found.push(...(await everyForm(page, `signed-out${path}`)));
    }
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });
});

/** A page that does not come names itself, with what went wrong on it. */
async function open(page: Page, address: string, problems: readonly string[]): Promise<void> {
  await page.goto(address);
  await page
    .getByRole('heading', { level: 1 })
    .waitFor()
    .catch((error: unknown) => {
      throw new Error(`${address} has no title: ${problems.join('; ')}`, { cause: error });
    });
  await settled(page);
}

/** Runs in the page: whether a script or a handler that stands in a record was executed. */
function hasRun(): boolean {
  return '__ran' in globalThis;
}
