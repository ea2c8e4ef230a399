import type { Page } from 'playwright-core';

/** What the keyboard does on a page, from its title to its end: each press of Tab is one step. */
export async function walkByTab(page: Page, path: string): Promise<string[]> {
  const found: string[] = [];
  const waiting = await page.evaluate(beginWalk);
  for (let presses = 0; presses < waiting + 3; presses += 1) {
    await page.keyboard.press('Tab');
    const { problems, isOver } = await page.evaluate(nextStep);
    found.push(...problems);
    if (isOver) {
      const missed = await page.evaluate(missedByWalk);
      return [...found, ...missed.map((text) => `${text} is not reached`)].map(
        (text) => `${path}: ${text}`,
      );
    }
  }
  return [`${path}: the focus does not leave the page after ${waiting + 3} presses`];
}

interface Rectangle {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}
interface Part {
  readonly tagName: string;
  readonly tabIndex: number;
  readonly textContent: string | null;
  readonly parentElement: Part | null;
  readonly children: Iterable<Part>;
  getAttribute(name: string): string | null;
  getBoundingClientRect(): Rectangle;
  querySelectorAll(selector: string): Iterable<Part>;
  contains(other: Part): boolean;
  matches(selector: string): boolean;
  checkVisibility(options: object): boolean;
  focus(): void;
}
interface InBrowser {
  readonly document: {
    readonly body: Part;
    readonly activeElement: Part | null;
    querySelector(selector: string): Part | null;
  };
  readonly innerHeight: number;
  readonly scrollY: number;
  getComputedStyle(part: Part): Readonly<Record<string, string>>;
  walk: {
    readonly left: Set<Part>;
    before: { readonly part: Part; readonly look: string; readonly place: Rectangle } | null;
    readonly tools: { nameOf(part: Part): string; lookOf(part: Part): string };
  };
}

/** Runs in the page: puts the focus at the beginning of the content. Returns the number of stops, or more. */
function beginWalk(): number {
  const browser = globalThis as unknown as InBrowser;
  const main = browser.document.querySelector('main')!;
  const all = [
    ...main.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]'),
  ].filter(
    (part) =>
      part.tabIndex >= 0 &&
      !part.matches(':disabled, [type="hidden"], details:not([open]) > :not(summary) *') &&
      part.checkVisibility({ visibilityProperty: true }),
  );
  const styles = ['outlineStyle', 'outlineWidth', 'boxShadow', 'borderColor', 'backgroundColor'];
  browser.walk = {
    left: new Set(all),
    before: null,
    tools: {
      nameOf: (part) =>
        `${part.tagName.toLowerCase()} “${(part.getAttribute('aria-label') ?? part.getAttribute('name') ?? part.textContent ?? '').slice(0, 40)}”`,
      // The sign of focus may be at the element, at the box that it is drawn in, or at what it contains.
      lookOf: (part) =>
        [part, part.parentElement, part.parentElement?.parentElement, ...part.querySelectorAll('*')]
          .concat([...(part.parentElement?.children ?? [])])
          .map((one) =>
            one == null
              ? ''
              : styles.map((style) => browser.getComputedStyle(one)[style]).join(' '),
          )
          .join('|'),
    },
  };
  main.focus();
  // Date, month, hour and the like of one input each take the focus.
  const dates = all.filter((part) =>
    part.matches('[type="date"], [type="datetime-local"], [type="month"], [type="time"]'),
  );
  return all.length + 6 * dates.length;
}

/** Runs in the page: what is wrong with the element that has the focus now, and with the look of the one before. */
function nextStep(): { problems: string[]; isOver: boolean } {
  const browser = globalThis as unknown as InBrowser;
  const { walk, document, scrollY } = browser;
  const { nameOf, lookOf } = walk.tools;
  const main = document.querySelector('main')!;
  const part = document.activeElement;
  const problems: string[] = [];
  // The next field of a date.
  if (part !== null && part === walk.before?.part) return { problems, isOver: false };
  if (walk.before !== null && lookOf(walk.before.part) === walk.before.look)
    problems.push(`${nameOf(walk.before.part)} does not show that it has the focus`);
  if (part === null || part === document.body || !main.contains(part))
    return { problems, isOver: true };
  walk.left.delete(part);
  const box = part.getBoundingClientRect();
  if (box.bottom < 0 || box.top > browser.innerHeight)
    problems.push(`${nameOf(part)} has the focus outside the window`);
  const place = {
    top: box.top + scrollY,
    bottom: box.bottom + scrollY,
    left: box.left,
    right: box.right,
  };
  if (walk.before !== null) {
    const { place: last } = walk.before;
    const isAbove = place.bottom <= last.top && place.left < last.right;
    const isBeside = place.top < last.bottom && last.top < place.bottom;
    if (isAbove || (isBeside && place.right <= last.left))
      problems.push(`${nameOf(part)} comes after ${nameOf(walk.before.part)} and stands before it`);
  }
  walk.before = { part, look: lookOf(part), place };
  return { problems, isOver: false };
}

/** Runs in the page. */
function missedByWalk(): string[] {
  const { walk } = globalThis as unknown as InBrowser;
  // Of a group of radio buttons one takes the focus; what was replaced meanwhile is gone.
  return [...walk.left]
    .filter((part) => !part.matches('[type="radio"]') && part.checkVisibility({}))
    .map((part) => walk.tools.nameOf(part));
}
