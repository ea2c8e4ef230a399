import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/requires.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const WIDTHS = [360, 768, 1440];
const THEMES = ['light', 'dark'] as const;
/** With it, pictures of every page are left there, to be looked at. */
const SCREENSHOTS = process.env['SCREENSHOTS'];

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

  test('every page of the console, in light and dark at 360, 768 and 1440 px: axe finds nothing, nothing overflows, nothing fails', async () => {
    expect(paths.length).toBeGreaterThan(0);
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const found: string[] = [];
    for (const path of paths) {
      const id = shown.records.get(path);
      if (path.includes('$') && id === undefined)
        throw new Error(`${path}: test/browser/world.ts makes no record for this page`);
      await page.goto(base + path.replace(/\$\w+/, encodeURIComponent(id ?? '')));
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settled(page);
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

/** No request is under way, and nothing says that it loads. */
async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  const loading = page.getByText(/^Loading .* …$/);
  while ((await loading.count()) > 0) await loading.first().waitFor({ state: 'detached' });
}

async function everyForm(page: Page, path: string): Promise<string[]> {
  const found: string[] = [];
  await page.evaluate(axe.source);
  for (const theme of THEMES)
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await page.waitForFunction(isShown, theme);
      const where = `${path} ${theme} ${width}`;
      const result = await page.evaluate(checked);
      found.push(...result.map((problem) => `${where}: ${problem}`));
      if (SCREENSHOTS !== undefined) await picture(page, where);
    }
  return found;
}

/** Runs in the page: the theme is applied, and no colour is on its way to its new value. */
function isShown(theme: string): boolean {
  const { document } = globalThis as unknown as {
    document: {
      documentElement: { dataset: Readonly<Record<string, string>> };
      getAnimations(): readonly { readonly playState: string }[];
    };
  };
  return (
    document.documentElement.dataset['theme'] === theme &&
    document.getAnimations().every(({ playState }) => playState !== 'running')
  );
}

/** Runs in the page. */
async function checked(): Promise<string[]> {
  const browser = globalThis as unknown as {
    axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }> }; // prettier-ignore
    document: { documentElement: { scrollWidth: number; clientWidth: number } };
  };
  const { violations } = await browser.axe.run({ resultTypes: ['violations'] });
  const { scrollWidth, clientWidth } = browser.document.documentElement;
  const wide = scrollWidth > clientWidth ? [`is ${scrollWidth} px wide`] : [];
  return [
    ...wide,
    ...violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    ),
  ];
}

async function picture(page: Page, where: string): Promise<void> {
  mkdirSync(SCREENSHOTS!, { recursive: true });
  const name = where.replace(/[^a-z0-9]+/gi, '-').replace(/^-/, 'home-');
  await page.screenshot({ path: join(SCREENSHOTS!, `${name}.png`), fullPage: true });
}
