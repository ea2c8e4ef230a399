import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

const WIDTHS = [360, 768, 1440];
const THEMES = ['light', 'dark'] as const;
/** With it, pictures of every page are left there, to be looked at. */
const SCREENSHOTS = process.env['SCREENSHOTS'];

/** No request is under way, and nothing says that it loads. */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  const loading = page.getByText(/^Loading .* …$/);
  while ((await loading.count()) > 0) await loading.first().waitFor({ state: 'detached' });
}

/** What axe finds, and what overflows, in light and dark at three widths. `path` names the page in the report. */
export async function everyForm(page: Page, path: string): Promise<string[]> {
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
