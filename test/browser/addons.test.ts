import { describeInBrowser } from '../support/requires.ts';
import { formatMoney } from '../../web/ui/text.ts';
import { mouse } from './hands.ts';
import { everyForm, settled } from './inspect.ts';
import { cell, follow, goTo, titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** An addon from the catalog to the subscription that has it, and back. */
describeInBrowser('addons', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('made, priced, added to a subscription by preview, found from both sides, removed by preview', async () => {
    const { api } = shown.world;
    const { page, problems } = await shown.signedIn();
    const dialog = (name: string | RegExp) => page.getByRole('dialog', { name });
    const button = (name: string | RegExp) => page.getByRole('button', { name });

    await goTo(page, 'Addons', hands);
    await cell(page, 'Addons', 'Support').waitFor();
    await hands.press(button('New addon'));
    await hands.write(page.getByLabel('Name', { exact: true }), 'Seats');
    await hands.press(button('Create addon'));
    await dialog('New addon').getByText('is required').first().waitFor();
    await hands.write(page.getByLabel('Lookup key'), 'seats');
    await hands.press(button('Create addon'));
    await titled(page, 'Seats');
    const id = page.url().split('/').at(-1)!;
    await page.getByText('No subscription has it').waitFor();

    await follow(page, 'Add price', 'New price', hands);
    await hands.write(page.getByLabel('Name', { exact: true }), 'Seat');
    await hands.choose(page.getByLabel('Charges for'), 'Fixed fee');
    await hands.choose(page.getByLabel('Model'), 'Flat');
    await hands.write(page.getByLabel('Amount in USD'), '31');
    await hands.choose(page.getByLabel('Billing timing'), 'In advance');
    await hands.press(button('Create price'));
    await titled(page, 'Seats');
    await cell(page, 'List of prices', 'Seat').waitFor();
    await hands.press(button('Add credit grant'));
    await hands.write(dialog('Add credit grant').getByLabel('Name', { exact: true }), 'Gift');
    await hands.write(dialog('Add credit grant').getByLabel('Credits', { exact: true }), '12.5');
    await hands.press(dialog('Add credit grant').getByRole('button', { name: 'Add credit grant' }));
    await cell(page, 'List of credit grants', '12.5').waitFor();
    const made = (await api.get(`/v1/addons/${id}`)).body;
    expect(made).toMatchObject({
      prices: [{ amount: '31', type: 'FIXED', invoice_cadence: 'ADVANCE', entity_id: id }],
      credit_grants: [{ credits: '12.5', cadence: 'RECURRING', period: 'MONTHLY', scope: 'ADDON' }],
    });

    const subscription = shown.records.get('/subscriptions/$id')!;
    const path = `/v1/subscriptions/${subscription}`;
    const preview = await api.post(`${path}/modify/preview`, {
      type: 'addon',
      addon_params: { action: 'add', add: { addon_id: id, quantity: '2' } },
    });
    const charged = preview.body.changed_resources.invoices.map(({ amount }: { amount: string }) =>
      formatMoney(amount, 'usd'),
    );
    await hands.press(page.getByRole('link', { name: 'Go to subscriptions' }));
    await hands.press(page.getByRole('link', { name: 'Acme Inc' }));
    await titled(page, 'Growth');
    await hands.press(button('More actions'));
    await hands.press(page.getByRole('menuitem', { name: 'Add addon' }));
    await hands.choose(dialog('Add addon').getByLabel('Addon', { exact: true }), 'Seats');
    await hands.write(dialog('Add addon').getByLabel('Quantity'), '2');
    await hands.press(button('Preview the change'));
    await button('Add the addon').waitFor();
    for (const amount of charged) await dialog('Add addon').getByText(amount).first().waitFor();
    await hands.press(button('Add the addon'));
    await cell(page, 'List of addons', 'Seats').waitFor();
    const { body: before } = await api.get(`${path}/addons/associations`);
    expect(before.items).toMatchObject([{ addon_id: id, quantity: '2', end_date: null }]);

    await hands.press(
      page.getByRole('region', { name: 'List of addons' }).getByRole('link', { name: 'Seats' }),
    );
    await titled(page, 'Seats');
    await cell(page, 'Subscriptions with the addon', 'Acme Inc').waitFor();
    await hands.press(page.getByRole('link', { name: /^Subscriptions with the addon/ }));
    await titled(page, 'Subscriptions');
    await page.getByRole('link', { name: 'Acme Inc' }).waitFor();
    expect(await page.getByRole('region', { name: 'Subscriptions' }).getByRole('link').count()).toBe(1); // prettier-ignore
    await hands.press(page.getByRole('link', { name: 'Acme Inc' }));
    await titled(page, 'Growth');

    await hands.press(button('Remove Seats'));
    await button('Remove the addon').waitFor();
    await settled(page);
    expect(await everyForm(page, 'addons, removal')).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await hands.press(button('Remove the addon'));
    await dialog(/^Remove/).waitFor({ state: 'detached' });
    const { body: after } = await api.get(`${path}/addons/associations`);
    const { current_period_end } = (await api.get(path)).body;
    expect(after.items).toMatchObject([{ addon_id: id, end_date: current_period_end }]);
    await button('Remove Seats').waitFor({ state: 'detached' });

    await goTo(page, 'Addons', hands);
    await follow(page, 'Support', 'Support', hands);
    const subscribers = page.getByRole('region', { name: 'Subscriptions with the addon' });
    await hands.press(subscribers.getByRole('link').first());
    await titled(page, 'Growth');
    await cell(page, 'List of entitlements', 'Support').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
