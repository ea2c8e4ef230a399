import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

const WIDTHS = [360, 768, 1440];
/** A window of 1440 px, and a phone of 360 px, magnified to 200 %: half as many pixels of the page. */
const ZOOMED = [720, 180];
const SHIFT_MAX = 0.05;
const THEMES = ['light', 'dark'] as const;
/** A theme changes colours and nothing else: these rules look at them, and are all that can differ in the dark one. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];
/** With it, pictures of every page are left there, to be looked at. */
const SCREENSHOTS = process.env['SCREENSHOTS'];

/** No request is pending, and no element shows that it loads. */
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
    for (const width of WIDTHS) found.push(...(await inForm(page, path, theme, width)));
  for (const width of ZOOMED) {
    await page.setViewportSize({ width, height: 450 });
    found.push(...(await overflow(page, `${path} ${width}, magnified`)));
  }
  return [...found, ...(await clippedChoices(page, path))];
}

/** What axe finds at one width in light, chosen by `turn`, and another in dark, and what overflows at any width. */
export async function twoForms(page: Page, path: string, turn: number): Promise<string[]> {
  await page.evaluate(axe.source);
  const found: string[] = [];
  for (const [at, theme] of THEMES.entries())
    found.push(...(await inForm(page, path, theme, WIDTHS[(turn + at) % WIDTHS.length]!)));
  return [...found, ...(await everyWidth(page, path)), ...(await clippedChoices(page, path))];
}

async function inForm(
  page: Page,
  path: string,
  theme: (typeof THEMES)[number],
  width: number,
): Promise<string[]> {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await page.waitForFunction(isShown, theme);
  const where = `${path} ${theme} ${width}`;
  const result = await page.evaluate(checked, theme === 'dark' ? COLOUR_RULES : null);
  if (SCREENSHOTS !== undefined) await picture(page, where);
  return result.map((problem) => `${where}: ${problem}`);
}

/** What overflows, at all widths and magnified. */
export async function everyWidth(page: Page, path: string): Promise<string[]> {
  const found: string[] = [];
  for (const width of [...WIDTHS, ...ZOOMED]) {
    await page.setViewportSize({ width, height: 900 });
    found.push(...(await overflow(page, `${path} ${width}`)));
  }
  return found;
}

async function overflow(page: Page, where: string): Promise<string[]> {
  const wide = await page.evaluate(widest);
  if (wide === null) return [];
  if (SCREENSHOTS !== undefined) await picture(page, `overflow ${where}`);
  return [`${where}: is ${wide}`];
}

/** Lists of choices whose chosen text does not fit, at all widths. Names of hostile records fit no list. */
export async function clippedChoices(page: Page, path: string): Promise<string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const text of await page.evaluate(clipped))
      found.push(`${path} ${width}: the choice “${text}” is clipped`);
  }
  return found;
}

/** Runs in the page. */
function clipped(): string[] {
  /** What the browser keeps free for its arrow. */
  const ARROW_PX = 18;
  interface Choice {
    readonly clientWidth: number;
    readonly selectedOptions: Iterable<{ readonly text: string }>;
  }
  const { document, getComputedStyle } = globalThis as unknown as {
    document: {
      querySelectorAll(selector: string): Iterable<Choice>;
      createElement(name: 'canvas'): {
        getContext(kind: '2d'): { font: string; measureText(text: string): { width: number } };
      };
    };
    getComputedStyle(
      choice: Choice,
    ): Readonly<
      Record<'fontWeight' | 'fontSize' | 'fontFamily' | 'paddingLeft' | 'paddingRight', string>
    >;
  };
  const pen = document.createElement('canvas').getContext('2d');
  return [...document.querySelectorAll('select')].flatMap((choice) => {
    const style = getComputedStyle(choice);
    const padding = Number.parseFloat(style.paddingLeft) + Number.parseFloat(style.paddingRight);
    // `font` is empty where a part of it has no short form.
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    return [...choice.selectedOptions]
      .map(({ text }) => text)
      .filter(
        (text) =>
          choice.clientWidth > 0 &&
          pen.measureText(text).width > choice.clientWidth - padding - ARROW_PX,
      );
  });
}

/** Runs in the page: what is wider than its window or than its dialog, and by which element. */
function widest(): string | null {
  interface Box {
    readonly tagName: string;
    readonly className: unknown;
    readonly textContent: string | null;
    readonly parentElement: Box | null;
    getBoundingClientRect(): { readonly right: number };
  }
  const { document, getComputedStyle } = globalThis as unknown as {
    document: {
      documentElement: { scrollWidth: number; clientWidth: number };
      querySelectorAll(selector: string): Iterable<Box>;
    };
    getComputedStyle(box: Box): { readonly overflowX: string };
  };
  for (const dialog of document.querySelectorAll('[role="dialog"]')) {
    const { right } = dialog.getBoundingClientRect();
    const isInside = (box: Box | null): boolean =>
      box === dialog || (box !== null && getComputedStyle(box).overflowX === 'visible' && isInside(box.parentElement)); // prettier-ignore
    for (const box of document.querySelectorAll('[role="dialog"] *'))
      if (box.getBoundingClientRect().right > right + 0.5 && isInside(box.parentElement))
        return `wider than its dialog: ${box.tagName} “${(box.textContent ?? '').slice(0, 40)}”`;
  }
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return null;
  const isClipped = (box: Box | null): boolean =>
    box !== null && (getComputedStyle(box).overflowX !== 'visible' || isClipped(box.parentElement));
  const outside = [...document.querySelectorAll('body *')].filter(
    (box) => box.getBoundingClientRect().right > clientWidth + 0.5 && !isClipped(box.parentElement),
  );
  const named = outside
    .slice(-3)
    .map(
      (box) => `${box.tagName} ${String(box.className)} “${(box.textContent ?? '').slice(0, 40)}”`,
    );
  return `${scrollWidth} px wide: ${named.join(', ')}`;
}

/** How far the page moved what was already shown while it loaded. */
export async function shifts(page: Page, path: string): Promise<string[]> {
  const shifted = await page.evaluate(shiftOf);
  return shifted.sum > SHIFT_MAX
    ? [`${path}: layout shift of ${shifted.sum.toFixed(3)}: ${shifted.by.join(', ')}`]
    : [];
}

/** Runs in the page. */
function shiftOf(): Promise<{ sum: number; by: string[] }> {
  interface Shift {
    readonly value: number;
    readonly hadRecentInput: boolean;
    readonly sources: readonly { readonly node: { readonly className?: unknown } | null }[];
  }
  const { PerformanceObserver: Observer } = globalThis as unknown as {
    PerformanceObserver: new (seen: (list: { getEntries(): Shift[] }) => void) => {
      observe(options: object): void;
      disconnect(): void;
    };
  };
  return new Promise((resolve) => {
    const seen: Shift[] = [];
    const observer = new Observer((list) => {
      seen.push(...list.getEntries().filter(({ hadRecentInput }) => !hadRecentInput));
    });
    observer.observe({ type: 'layout-shift', buffered: true });
    // Buffered entries arrive in a task of their own.
    setTimeout(() => {
      observer.disconnect();
      resolve({
        sum: seen.reduce((sum, { value }) => sum + value, 0),
        by: seen.flatMap(({ sources }) =>
          sources.map(({ node }) => String(node?.className ?? 'text')),
        ),
      });
    }, 50);
  });
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

/** Runs in the page. `rules`: null for all of axe. */
async function checked(rules: readonly string[] | null): Promise<string[]> {
  const browser = globalThis as unknown as {
    axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }> }; // prettier-ignore
    document: { documentElement: { scrollWidth: number; clientWidth: number } };
  };
  const { violations } = await browser.axe.run({
    resultTypes: ['violations'],
    ...(rules === null ? {} : { runOnly: rules }),
  });
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
