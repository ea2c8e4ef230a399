import type { Locator, Page } from 'playwright-core';
import { mouse, type Hands } from './hands.ts';

/** Opens a page of the menu and waits for it: until it is loaded, the page before it is still shown. */
export async function goTo(page: Page, label: string, hands: Hands = mouse): Promise<void> {
  const menu = page.getByRole('navigation', { name: 'Pages' });
  await hands.press(menu.getByRole('link', { name: label, exact: true }));
  await titled(page, label);
}

/** Follows a link within the page to a page with this title. */
export async function follow(
  page: Page,
  link: string,
  title: string,
  hands: Hands = mouse,
): Promise<void> {
  await hands.press(page.getByRole('link', { name: link, exact: true }).first());
  await titled(page, title);
}

export const titled = (page: Page, title: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();

/** The first cell with this text in the table with this name. */
export const cell = (within: Page | Locator, table: string, text: string): Locator =>
  within
    .getByRole('region', { name: table, exact: true })
    .getByRole('cell', { name: text })
    .first();
