import { describeInBrowser } from '../support/requires.ts';
import { formatMoney } from '../../web/ui/text.ts';
import { mouse } from './hands.ts';
import { everyForm, settled } from './inspect.ts';
import { cell, follow, goTo, titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** What usage costs the company, and the margin that analytics shows by it. */
describeInBrowser('cost sheets', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('a sheet is created and priced; analytics shows the margin of the API; it is edited and deleted', async () => {
    const { api } = shown.world;
    for (const { id } of (await api.post('/v1/costs/search', {})).body.items)
      await api.delete(`/v1/costs/${id}`);
    const { page, problems } = await shown.signedIn();
    const dialog = (name: string) => page.getByRole('dialog', { name });
    const button = (name: string) => page.getByRole('button', { name, exact: true });

    await goTo(page, 'Analytics', hands);
    await page.getByText('No cost sheet yet').waitFor();
    await follow(page, 'Cost sheets', 'Cost sheets', hands);
    await hands.press(button('New cost sheet').first());
    await hands.press(button('Create cost sheet'));
    await dialog('New cost sheet').getByText('is required').first().waitFor();
    await hands.write(page.getByLabel('Name', { exact: true }), 'Model providers');
    await hands.press(button('Create cost sheet'));
    await titled(page, 'Model providers');
    const id = page.url().split('/').at(-1)!;

    await page.getByText('A price of a cost sheet is what metered usage costs you.').waitFor();
    await follow(page, 'Add price', 'New price', hands);
    expect(await page.getByLabel('Charges for').count()).toBe(0);
    await hands.write(page.getByLabel('Name', { exact: true }), 'Tokens');
    await hands.choose(page.getByLabel('Meter', { exact: true }), 'Tokens');
    await hands.choose(page.getByLabel('Model'), 'Flat');
    await hands.write(page.getByLabel('Amount in USD'), '0.25');
    const found = await everyForm(page, 'cost-price');
    await page.setViewportSize({ width: 1440, height: 900 });
    await hands.press(button('Create price'));
    await titled(page, 'Model providers');
    await cell(page, 'List of prices', 'Tokens').waitFor();
    expect((await api.get(`/v1/costs/${id}`)).body.prices).toMatchObject([
      { amount: '0.25', type: 'USAGE', entity_type: 'COSTSHEET' },
    ]);
    found.push(...(await everyForm(page, 'cost-sheet')));
    await page.setViewportSize({ width: 1440, height: 900 });

    const { body: margin } = await api.post('/v1/costs/analytics', {
      ...{ start_time: '2026-10-23T00:00:00Z', end_time: '2026-11-22T00:00:00Z' },
    });
    expect(margin).toMatchObject({ total_cost: '10.5', currency: 'usd' });
    await goTo(page, 'Analytics', hands);
    const figure = (name: string, amount: string) =>
      page
        .locator('[data-figure]')
        .filter({ hasText: name })
        .getByText(formatMoney(amount, 'usd'))
        .first()
        .waitFor();
    await figure('Cost to you', margin.total_cost);
    await figure('Revenue', margin.total_revenue);
    found.push(...(await everyForm(page, 'margin')));
    await page.setViewportSize({ width: 1440, height: 900 });

    await follow(page, 'Cost to you', 'Model providers', hands);
    await hands.press(button('Edit'));
    await hands.write(page.getByLabel('Name', { exact: true }), 'Providers');
    await hands.press(button('Save cost sheet'));
    await titled(page, 'Providers');
    await hands.press(button('Delete'));
    await hands.press(button('Delete cost sheet'));
    await titled(page, 'Cost sheets');
    await settled(page);
    expect((await api.get(`/v1/costs/${id}`)).body).toMatchObject({
      ...{ name: 'Providers', status: 'deleted' },
    });
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });
});
