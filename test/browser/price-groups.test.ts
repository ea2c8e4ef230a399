import { describeInBrowser } from '../support/requires.ts';
import { mouse } from './hands.ts';
import { everyForm, settled } from './inspect.ts';
import { cell, follow, goTo, titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** A price group from the catalog to the spend alert of a subscription. */
describeInBrowser('price groups', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('created, filled with a price, watched by a spend alert, emptied and archived', async () => {
    const { api } = shown.world;
    const { page, problems } = await shown.signedIn();
    const home = page.url().replace(/\/$/, '');
    const dialog = (name: string | RegExp) => page.getByRole('dialog', { name });
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const found: string[] = [];
    const inspected = async (name: string): Promise<void> => {
      await settled(page);
      found.push(...(await everyForm(page, name)));
      await page.setViewportSize({ width: 1440, height: 900 });
    };

    await goTo(page, 'Price groups', hands);
    await cell(page, 'Price groups', 'Models').waitFor();
    await hands.press(button('New price group'));
    const made = dialog('New price group');
    await hands.write(made.getByLabel('Name', { exact: true }), 'Large models');
    await hands.press(button('Create price group'));
    await made.getByText('is required').waitFor();
    await hands.write(made.getByLabel('Lookup key'), 'm'.repeat(256));
    await made.getByText('must have at most 255 characters, and has 256').waitFor();
    await hands.write(made.getByLabel('Lookup key'), 'models');
    await hands.press(button('Create price group'));
    await made.locator('[name="lookup_key"][aria-invalid="true"]').waitFor();
    expect(problems.splice(0).filter((text) => !/409/.test(text))).toEqual([]);
    await hands.write(made.getByLabel('Lookup key'), 'large-models');
    await hands.press(button('Add metadata'));
    await hands.write(made.getByLabel('Key 1'), 'team');
    await hands.write(made.getByLabel(/^Value 1/), 'research');
    await inspected('new-price-group');
    await hands.press(button('Create price group'));
    await titled(page, 'Large models');
    const id = page.url().split('/').at(-1)!;
    await page.getByText('No price in the group').waitFor();
    await page.getByText('team: research').waitFor();

    await hands.press(button('Add price'));
    await hands.choose(dialog('Add price').getByLabel('Plan or addon'), 'Growth');
    const prices = dialog('Add price').getByLabel('Price', { exact: true });
    await prices.locator('option', { hasText: 'now in Models' }).waitFor({ state: 'attached' });
    await hands.choose(prices, 'Tokens: 2 tiers, now in Models');
    await inspected('add-price-to-group');
    await hands.press(dialog('Add price').getByRole('button', { name: 'Add price' }));
    await cell(page, 'Prices of the group', 'Tokens').waitFor();
    expect((await api.get(`/v1/groups/${id}`)).body.entity_ids).toHaveLength(1);

    await hands.press(page.getByRole('link', { name: 'Go to subscriptions' }));
    await titled(page, 'Subscriptions');
    const subscription = shown.records.get('/subscriptions/$id')!;
    await page.goto(`${home}/subscriptions/${subscription}`);
    await titled(page, 'Growth');
    await hands.press(button('Set spend alert'));
    await hands.choose(dialog('Set spend alert').getByLabel('For'), 'Price group Large models');
    await hands.write(dialog('Set spend alert').getByLabel('Critical at, in USD'), '75');
    await inspected('spend-alert-of-group');
    await hands.press(button('Save alert'));
    await cell(page, 'List of spend alerts', 'Large models').waitFor();
    const { body: settings } = await api.post('/v1/alerts/setting/search', { entity_id: id });
    expect(settings.items).toMatchObject([
      {
        ...{ entity_type: 'group', entity_id: id, enabled: true },
        ...{ parent_entity_type: 'subscription', parent_entity_id: subscription },
        config: { critical: { threshold: '75', condition: 'above' }, warning: null, info: null },
      },
    ]);

    await follow(page, 'Large models', 'Large models', hands);
    await cell(page, 'Spend alerts of the group', 'Growth · Acme Inc').waitFor();
    await cell(page, 'Spend alerts of the group', '$75.00').waitFor();
    await inspected('price-group');
    await hands.press(button('Remove Tokens'));
    await hands.press(button('Remove price'));
    await page.getByText('No price in the group').waitFor();
    expect((await api.get(`/v1/groups/${id}`)).body.entity_ids).toEqual([]);
    await hands.press(button('Archive'));
    await hands.press(button('Archive price group'));
    await titled(page, 'Price groups');
    await cell(page, 'Price groups', 'Large models').waitFor({ state: 'detached' });
    expect((await api.get(`/v1/groups/${id}`)).body.status).toBe('archived');
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });

  test('a new price is created in a group', async () => {
    const { api } = shown.world;
    const { page, problems } = await shown.signedIn();
    const home = page.url().replace(/\/$/, '');
    await page.goto(`${home}/plans/${shown.records.get('/plans/$id')}/prices/new`);
    await titled(page, 'New price');
    await hands.write(page.getByLabel('Name', { exact: true }), 'Images');
    await hands.choose(page.getByLabel('Meter'), 'Tokens');
    await hands.choose(page.getByLabel('Model'), 'Flat');
    await hands.write(page.getByLabel('Amount in USD'), '0.04');
    await hands.choose(page.getByLabel('Price group'), 'Models');
    await hands.press(page.getByRole('button', { name: 'Create price' }));
    await titled(page, 'Growth');
    const { body } = await api.post('/v1/prices/search', { limit: 1000 });
    const price = body.items.find((one: { display_name: string }) => one.display_name === 'Images');
    expect(price.group_id).toBe(shown.records.get('/price-groups/$id'));
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
