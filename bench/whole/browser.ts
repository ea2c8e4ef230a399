import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import type { Product } from './product.ts';

const BROWSERS = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium', '/usr/bin/chromium-browser'];
const PASSWORD = 'a long enough password';

export async function startBrowser(): Promise<Browser> {
  const executablePath = BROWSERS.find((path) => path !== undefined && existsSync(path));
  if (executablePath === undefined)
    throw new Error('needs Chromium: install the package chromium, or set CHROMIUM_PATH');
  return await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

/** Gives the first person a password and signs in. The page shows home. */
export async function signIn(page: Page, { api, baseUrl, firstPerson }: Product): Promise<void> {
  const { email, token } = firstPerson!;
  await api.post('/auth/password/reset', { token, new_password: PASSWORD });
  await page.goto(baseUrl);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}
