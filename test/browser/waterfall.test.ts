import { readFileSync } from 'node:fs';
import { describeInBrowser } from '../support/requires.ts';
import { roundsOf } from './waterfall.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const pathsOf = (file: string): string[] =>
  [
    ...readFileSync(new URL(`../../web/${file}`, import.meta.url), 'utf8').matchAll(
      /\{ path: '([^']+)'/g,
    ),
  ].map((match) => match[1]!);

const DEPTH_MAX = 3;

/** Requests to the API that wait for one another when a page is opened at its address, from who is signed in on. */
describeInBrowser('waterfalls', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  const tooDeep = (path: string, rounds: readonly string[][]): string[] =>
    rounds.length <= DEPTH_MAX
      ? []
      : [`${path}: ${rounds.map((round) => round.join(' + ')).join(' → ')}`];
  const withRecord = (path: string): string =>
    path.replace(/\$\w+/, encodeURIComponent(shown.records.get(path) ?? ''));

  test('every page of the console', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const found: string[] = [];
    const depths: number[] = [];
    for (const path of pathsOf('console/routes.ts')) {
      const rounds = await roundsOf(page, base + withRecord(path));
      depths.push(rounds.length);
      found.push(...tooDeep(path, rounds));
    }
    expect([...found, ...problems]).toEqual([]);
    // Who is signed in comes first, then what the page is about. Forms of new records ask nothing.
    expect(depths.filter((depth) => depth > 1).length).toBeGreaterThan(depths.length / 2);
    await page.context().close();
  });

  test('every page of the portal, and the payment page', async () => {
    const { api } = shown.world;
    const here = (link: string): string => link.replace(/^https?:\/\/[^/]+/, shown.url);
    const { page, problems } = await shown.fresh();
    const { body: link } = await api.get('/v1/customers/portal/acme');
    const found = tooDeep('portal by link', await roundsOf(page, here(link.url)));
    for (const path of pathsOf('portal/routes.ts'))
      found.push(
        ...tooDeep(`portal${path}`, await roundsOf(page, `${shown.url}/portal${withRecord(path)}`)),
      );
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
});
