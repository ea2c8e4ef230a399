import { catalogOf } from '../support/catalog.ts';
import { describeInBrowser } from '../support/requires.ts';
import { mouse } from './hands.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

describeInBrowser('analytics', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('costs in two currencies have figures and charts of their own, in the console and in the portal', async () => {
    const { api } = shown.world;
    const catalog = catalogOf(api);
    const customer = await catalog.customer({ external_id: 'two', name: 'Two Currencies Ltd' });
    const now = api.clock.now();
    const at = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
    for (const [currency, amount] of [
      ['usd', '2'],
      ['jpy', '300'],
    ] as const) {
      const meter = await catalog.meter({ type: 'COUNT' }, { event_name: `in ${currency}` });
      const plan = await catalog.plan();
      await catalog.usage(plan, meter, { amount, currency });
      await catalog.subscribe(customer, plan, { start_date: at(30), currency });
    }
    await shown.world.send(
      ['usd', 'usd', 'jpy'].map((currency, number) => ({
        ...{ event_id: `two ${number}`, event_name: `in ${currency}`, properties: {} },
        ...{ external_customer_id: 'two', timestamp: at(10), source: 'test' },
      })),
    );
    await shown.world.settled();
    const { page, problems } = await shown.signedIn();
    const home = page.url().replace(/\/$/, '');
    await page.goto(`${home}/analytics?customer=two&measure=cost`);
    for (const title of ['USD', 'JPY'])
      await page.getByRole('figure', { name: new RegExp(title) }).waitFor();
    const costs = page.locator('[data-figure]').filter({ hasText: 'Charge' });
    for (const cost of ['$4.00', '¥300']) await costs.filter({ hasText: cost }).waitFor();

    const { url } = (await api.get('/v1/customers/portal/two')).body;
    await page.goto(`${shown.url}/portal${new URL(url).hash}`);
    await mouse.press(page.getByRole('link', { name: 'Usage' }));
    await page.getByText('$4.00', { exact: true }).first().waitFor();
    await page.getByText('¥300', { exact: true }).first().waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
