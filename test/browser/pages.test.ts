import { randomInt } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/requires.ts';
import { hostileRecords } from './hostile-records.ts';
import { everyForm, everyWidth, settled, shifts, twoForms } from './inspect.ts';
import { walkByTab } from './keyboard.ts';
import { pathsOf, withId } from './paths.ts';
import { roundsOf } from './waterfall.ts';
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

const paths = pathsOf('console');
/** As many tabs as pages had behind their first one when this was written. */
const TABS_MIN = 15;
/** Requests to the API that wait for one another, from the one that says who is signed in on. */
const ROUNDS_MAX = 3;
/** A tab is looked at in light and dark, each at one width that the seed chooses; `SEED=n` repeats a run. */
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));

describeInBrowser('pages', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  // Each page is opened once for all checks: opening it costs more than any of them.
  test('every page of the console, in light and dark at 360, 768 and 1440 px: axe finds nothing, nothing overflows, shifts or fails; Tab reaches everything; requests wait for at most two others; each tab has an address', async () => {
    process.stdout.write(`tabs of pages: SEED=${SEED}\n`);
    expect(paths.length).toBeGreaterThan(0);
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const found: string[] = [];
    const depths: number[] = [];
    const tabs: string[] = [];
    for (const path of paths) {
      const address = base + withId(path, recordOf(path, shown.records));
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'no-preference' });
      await page.setViewportSize({ width: 1440, height: 900 });
      const rounds = await roundsOf(page, address);
      depths.push(rounds.length);
      found.push(...tooDeep(path, rounds));
      await titled(page, address, problems);
      found.push(...(await shifts(page, path)));
      await page.emulateMedia({ reducedMotion: 'reduce' });
      found.push(...(await walkByTab(page, path)));
      found.push(...(await everyForm(page, path)));
      for (const name of await tabsOf(page)) {
        await openTab(page, name);
        tabs.push(`${path}, ${name}`);
        found.push(...(await twoForms(page, tabs.at(-1)!, SEED + tabs.length)));
      }
    }
    expect([...found, ...problems]).toEqual([]);
    // Who is signed in comes first, then what the page is about. Forms of new records ask nothing.
    expect(depths.filter((depth) => depth > 1).length).toBeGreaterThan(depths.length / 2);
    expect(tabs.length).toBeGreaterThanOrEqual(TABS_MIN);
    await page.context().close();
  });

  test('requests of the portal and of the payment page wait for at most two others', async () => {
    const { api } = shown.world;
    const here = (link: string): string => link.replace(/^https?:\/\/[^/]+/, shown.url);
    const { page, problems } = await shown.fresh();
    const { body: link } = await api.get('/v1/customers/portal/acme');
    const found = tooDeep('portal by link', await roundsOf(page, here(link.url)));
    for (const path of pathsOf('portal')) {
      const address = `${shown.url}/portal${withId(path, shown.records.get(path))}`;
      found.push(...tooDeep(`portal${path}`, await roundsOf(page, address)));
    }
    await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
    const { body: invoice } = await api.post('/v1/invoices', {
      customer_id: shown.records.get('/customers/$id'),
      invoice_type: 'ONE_OFF',
      currency: 'usd',
      line_items: [{ display_name: 'Set-up', amount: '40', quantity: '1' }],
      checkout: { payment_provider: 'test', success_url: 'https://shop.example/thanks' },
    });
    const paying = await shown.fresh();
    const address = here(invoice.checkout_session.payment_action.url);
    found.push(...tooDeep('checkout', await roundsOf(paying.page, address)));
    expect([...found, ...problems, ...paying.problems]).toEqual([]);
    await page.context().close();
    await paying.page.context().close();
  });

  test('hostile records on every page: nothing runs, nothing overflows at any width, nothing fails', async () => {
    const hostile = await hostileRecords(shown.world);
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const found: string[] = [];
    for (const path of paths) {
      await page.setViewportSize({ width: 1440, height: 900 });
      const address = base + withId(path, recordOf(path, hostile));
      await page.goto(address);
      await titled(page, address, problems);
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

/** The id of the record that a page is about. */
function recordOf(path: string, records: ReadonlyMap<string, string>): string | undefined {
  const id = records.get(path);
  if (path.includes('$') && id === undefined)
    throw new Error(`${path}: world.ts or hostile-records.ts makes no record for this page`);
  return id;
}

/** Waits until the page has its title and all its content. Without a title, names the page and what went wrong. */
async function titled(page: Page, address: string, problems: readonly string[]): Promise<void> {
  await page
    .getByRole('heading', { level: 1 })
    .waitFor()
    .catch((error: unknown) => {
      throw new Error(`${address} has no title: ${problems.join('; ')}`, { cause: error });
    });
  await settled(page);
}

const tooDeep = (path: string, rounds: readonly string[][]): string[] =>
  rounds.length <= ROUNDS_MAX
    ? []
    : [`${path}: ${rounds.map((round) => round.join(' + ')).join(' → ')}`];

/** The tabs of the page behind its first one, which is shown already. */
const tabsOf = async (page: Page): Promise<string[]> =>
  (await page.getByRole('main').getByRole('tab').allInnerTexts()).slice(1);

/** Opens a tab by its address: it stays chosen when the page is loaded again. */
async function openTab(page: Page, name: string): Promise<void> {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('tab', { name, exact: true }).click();
  await page.reload();
  await page.getByRole('tab', { name, exact: true, selected: true }).waitFor();
  await settled(page);
}

/** Runs in the page: whether a script or a handler that stands in a record was executed. */
function hasRun(): boolean {
  return '__ran' in globalThis;
}
