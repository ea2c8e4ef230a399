import type { Locator, Page } from 'playwright-core';

/** How a person works on a page. */
export interface Hands {
  /** A button, a link or a tab. */
  press(target: Locator): Promise<void>;
  /** Replaces what a field has. A day is `2026-10-01`. */
  write(field: Locator, text: string): Promise<void>;
  /** Chooses from the browser's own list by what it shows there, or by how that begins. */
  choose(field: Locator, text: string): Promise<void>;
}

/** A mouse to point with, and a keyboard for texts. */
export const mouse: Hands = {
  press: (target) => target.click(),
  write: (field, text) => field.fill(text),
  async choose(field, text) {
    const option = field.locator('option').filter({ hasText: text }).first();
    await field.selectOption({ label: (await option.innerText()).trim() });
  },
};

/** Nothing but a keyboard: from where the focus is, Tab, Shift+Tab and arrows lead to a control. */
export const keyboardOf = (page: Page): Hands => ({
  async press(target) {
    await reach(page, target);
    await page.keyboard.press('Enter');
  },
  async write(field, text) {
    await reach(page, field);
    if ((await field.getAttribute('type')) === 'date') {
      await toFirstPart(page, field);
      const [year, month, day] = text.split('-');
      await page.keyboard.type(`${month}${day}${year}`);
      return;
    }
    await page.keyboard.press('Control+A');
    await page.keyboard.type(text);
  },
  async choose(field, text) {
    await reach(page, field);
    await page.keyboard.press('Home');
    let shown = await field.evaluate(shownText);
    while (!shown.startsWith(text)) {
      const last = shown;
      await page.keyboard.press('ArrowDown');
      // A choice that is kept in the address is shown after the page has moved there.
      for (let looks = 0; shown === last && looks < LOOKS_MAX; looks += 1) {
        if (looks > 0) await page.waitForTimeout(100);
        shown = await field.evaluate(shownText);
      }
      if (shown === last) throw new Error(`The list has no “${text}”; the last one is “${last}”`);
    }
  },
});

const STOPS_MAX = 400;
const LOOKS_MAX = 100;

/** Keys that bring the focus nearer. Of a group of tabs the chosen one is a stop, and arrows lead to the others. */
const KEYS = { beside: 'ArrowRight', after: 'Tab', before: 'Shift+Tab' } as const;

/** Moves the focus to the element, as soon as that can be used. */
async function reach(page: Page, target: Locator): Promise<void> {
  await (await target.elementHandle())!.waitForElementState('enabled');
  for (let stops = 0; stops < STOPS_MAX; stops += 1) {
    const place = await target.evaluate(placeOf);
    if (place === 'here') return;
    await page.keyboard.press(KEYS[place]);
  }
  throw new Error(`${String(target)} is not reached by Tab`);
}

/** Month, day and year of a date have separate tab stops: Shift+Tab reaches the last of them. */
async function toFirstPart(page: Page, field: Locator): Promise<void> {
  while ((await field.evaluate(placeOf)) === 'here') await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
}

interface Part {
  readonly ownerDocument: { readonly activeElement: Part | null };
  closest(selector: string): Part | null;
  compareDocumentPosition(other: Part): number;
}

/** Runs in the page: where the element is as seen from the focus. */
function placeOf(target: unknown): 'here' | keyof typeof KEYS {
  const PRECEDING = 2;
  const part = target as Part;
  const focused = part.ownerDocument.activeElement;
  if (focused === null || focused === part) return focused === null ? 'after' : 'here';
  const group = part.closest('[role="tablist"]');
  if (group !== null && focused.closest('[role="tablist"]') === group) return 'beside';
  return (part.compareDocumentPosition(focused) & PRECEDING) !== 0 ? 'after' : 'before';
}

/** Runs in the page: what a list shows as chosen. */
function shownText(field: unknown): string {
  const list = field as {
    readonly selectedOptions: ArrayLike<{ readonly textContent: string | null }>;
  };
  return (list.selectedOptions[0]?.textContent ?? '').trim();
}
