import { readFileSync } from 'node:fs';
import { describeInBrowser } from '../support/requires.ts';
import { everyForm, settled, shifts } from './inspect.ts';
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
      await page.goto(base + path.replace(/\$\w+/, encodeURIComponent(id ?? '')));
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settled(page);
      found.push(...(await shifts(page, path)));
      found.push(...(await everyForm(page, path)));
    }
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });

  test('the forms of people who are not signed in', async () => {
    const { page, problems } = await shown.fresh();
    const found: string[] = [];
    for (const path of FORMS) {
      await page.goto(shown.url + path);
      await page.getByRole('heading').first().waitFor();
      found.push(...(await everyForm(page, `signed-out${path}`)));
    }
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });
});
