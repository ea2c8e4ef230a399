import type { Locator } from 'playwright-core';

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
