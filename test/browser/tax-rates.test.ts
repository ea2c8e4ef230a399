import { describeInBrowser } from '../support/requires.ts';
import { catalogOf } from '../support/catalog.ts';
import { mouse } from './hands.ts';
import { everyForm, settled } from './inspect.ts';
import { cell, goTo, titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** A tax rate from the catalog to who is taxed with it. */
describeInBrowser('tax rates', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('created, edited, assigned to a customer from midnight of its zone, changed and removed', async () => {
    const { api } = shown.world;
    const customer = await catalogOf(api).customer({
      external_id: 'hudson',
      name: 'Hudson Inc',
      timezone: 'America/New_York',
    });
    const plan = { id: shown.records.get('/plans/$id')! };
    const subscription = await catalogOf(api).subscribe(customer, plan);
    const { page, problems } = await shown.signedIn();
    const home = page.url().replace(/\/$/, '');
    const dialog = (name: string | RegExp) => page.getByRole('dialog', { name });
    const button = (name: string | RegExp) => page.getByRole('button', { name });

    await goTo(page, 'Tax rates', hands);
    await cell(page, 'Tax rates', '21%').waitFor();
    await hands.press(button('New tax rate'));
    const made = dialog('New tax rate');
    await hands.write(made.getByLabel('Name', { exact: true }), 'Sales tax');
    await hands.write(made.getByLabel('Code'), 'vat');
    await hands.write(made.getByLabel('Percentage'), '101');
    await hands.press(button('Create tax rate'));
    await made.locator('[name="percentage_value"][aria-invalid="true"]').waitFor();
    await hands.write(made.getByLabel('Percentage'), '8.875');
    await hands.press(button('Create tax rate'));
    await made.locator('[name="code"][aria-invalid="true"]').waitFor();
    expect(problems.splice(0).filter((text) => !/409|400/.test(text))).toEqual([]);
    await hands.write(made.getByLabel('Code'), 'sales');
    await hands.press(button('Create tax rate'));
    await titled(page, 'Sales tax');
    const id = page.url().split('/').at(-1)!;
    await page.getByText('Nobody is taxed with it').waitFor();

    await hands.press(button('Edit'));
    await hands.write(dialog('Edit tax rate').getByLabel('Name', { exact: true }), 'New York');
    await hands.press(button('Save tax rate'));
    await titled(page, 'New York');
    expect((await api.get(`/v1/taxes/rates/${id}`)).body).toMatchObject({
      ...{ name: 'New York', code: 'sales', percentage_value: '8.875', tax_rate_status: 'ACTIVE' },
    });

    await page.goto(`${home}/customers/${customer.id}`);
    await titled(page, 'Hudson Inc');
    await page.getByText('The taxes that are set for all customers apply.').waitFor();
    await hands.press(button('Assign tax'));
    await hands.choose(dialog('Assign tax').getByLabel('Tax rate'), 'New York: 8.875%');
    await dialog('Assign tax').getByText('Midnight, America/New_York.').first().waitFor();
    await hands.write(dialog('Assign tax').getByLabel(/^From/), '2026-10-01');
    await hands.press(dialog('Assign tax').getByRole('button', { name: 'Assign tax' }));
    await cell(page, 'List of taxes', 'New York').waitFor();
    const query = `entity_type=customer&entity_id=${customer.id}`;
    const assigned = async () => (await api.get(`/v1/taxes/associations?${query}`)).body.items;
    expect(await assigned()).toMatchObject([
      {
        ...{ tax_rate_id: id, auto_apply: true, tax_behavior: 'exclusive', priority: 0 },
        ...{ currency: null, start_date: '2026-10-01T04:00:00.000Z', end_date: null },
      },
    ]);
    const { body: preview } = await api.post('/v1/invoices/preview', {
      subscription_id: subscription.id,
    });
    expect(preview.taxes).toMatchObject([{ tax_rate_id: id, percentage_value: '8.875' }]);

    await hands.press(
      page.getByRole('region', { name: 'List of taxes' }).getByRole('link', { name: /^New York/ }),
    );
    await titled(page, 'New York');
    await cell(page, 'Assigned to', 'Hudson Inc').waitFor();
    await hands.press(button('Archive'));
    await hands.press(button('Archive tax rate'));
    await dialog('Archive this tax rate?')
      .getByText(/has associations/)
      .waitFor();
    await hands.press(dialog('Archive this tax rate?').getByRole('button', { name: 'Cancel' }));
    expect(problems.splice(0).filter((text) => !/400/.test(text))).toEqual([]);
    await hands.press(button('Change Hudson Inc'));
    await hands.choose(
      dialog('Change Hudson Inc').getByLabel('Tax', { exact: true }),
      'Included in the prices',
    );
    await hands.write(dialog('Change Hudson Inc').getByLabel('Priority'), '7');
    await settled(page);
    expect(await everyForm(page, 'tax rates, change')).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await hands.press(button('Save tax'));
    await cell(page, 'Assigned to', 'Included in prices').waitFor();
    expect(await assigned()).toMatchObject([{ tax_behavior: 'inclusive', priority: 7 }]);
    await hands.press(button('Remove Hudson Inc'));
    await hands.press(button('Remove tax'));
    await page.getByText('Nobody is taxed with it').waitFor();
    expect(await assigned()).toEqual([]);

    await hands.press(button('Assign tax'));
    await hands.press(dialog('Assign tax').getByRole('button', { name: 'Assign tax' }));
    await cell(page, 'Assigned to', 'Everyone').waitFor();
    await hands.press(button('Remove Everyone'));
    await hands.press(button('Remove tax'));
    await page.getByText('Nobody is taxed with it').waitFor();
    await hands.press(button('Archive'));
    await hands.press(button('Archive tax rate'));
    await titled(page, 'Tax rates');
    expect((await api.get(`/v1/taxes/rates/${id}`)).body.status).toBe('archived');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a subscription shows its own taxes', async () => {
    const { api } = shown.world;
    const { page, problems } = await shown.signedIn();
    const id = shown.records.get('/subscriptions/$id')!;
    await page.goto(`${page.url().replace(/\/$/, '')}/subscriptions/${id}`);
    await page.getByText('No tax of its own').waitFor();
    await hands.press(page.getByRole('button', { name: 'Assign tax' }));
    const dialog = page.getByRole('dialog', { name: 'Assign tax' });
    await hands.press(dialog.getByRole('button', { name: 'Assign tax' }));
    await dialog.getByText('choose a tax rate', { exact: true }).waitFor();
    await hands.choose(dialog.getByLabel('Tax rate'), 'VAT: 21%');
    await hands.press(dialog.getByRole('button', { name: 'Assign tax' }));
    await cell(page, 'List of taxes', 'VAT').waitFor();
    const { body } = await api.post('/v1/invoices/preview', { subscription_id: id });
    expect(body.taxes).toMatchObject([{ percentage_value: '21' }]);
    await hands.press(page.getByRole('tab', { name: 'Next invoice' }));
    await hands.press(page.getByRole('button', { name: /^Why this amount/ }).first());
    const why = page.getByRole('dialog', { name: /^Why this amount/ });
    await hands.press(why.getByRole('link', { name: 'VAT', exact: true }));
    await titled(page, 'VAT');
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
