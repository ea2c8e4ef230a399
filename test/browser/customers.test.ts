import { describeInBrowser } from '../support/requires.ts';
import { catalogOf } from '../support/catalog.ts';
import { mouse } from './hands.ts';
import { titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** What a finance person corrects of a customer. */
describeInBrowser('customers', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('an address, an e-mail and the tax treatment are edited; a refusal stands at its field and keeps the rest', async () => {
    const { api } = shown.world;
    const customer = await catalogOf(api).customer({
      external_id: 'typo',
      name: 'Typo Ltd',
      email: 'billing@typo.exmaple',
      address_city: 'Ghent',
      address_country: 'BE',
      metadata: { segment: 'small' },
    });
    const { page, problems } = await shown.signedIn();
    await page.goto(`${page.url().replace(/\/$/, '')}/customers/${customer.id}`);
    await titled(page, 'Typo Ltd');
    await hands.press(page.getByRole('link', { name: 'Edit', exact: true }));
    await titled(page, 'Edit customer');
    expect(await page.getByLabel('City').inputValue()).toBe('Ghent');
    await hands.write(page.getByLabel('E-mail'), 'billing@typo.example');
    await hands.write(page.getByLabel('City'), '');
    await hands.write(page.getByRole('textbox', { name: /^Address( optional)?$/ }), 'Korenmarkt 1');
    await hands.choose(page.getByLabel('Tax'), 'Exempt');
    await hands.write(page.getByLabel('External id'), 'acme');
    await hands.press(page.getByRole('button', { name: 'Save customer' }));
    await page.locator('[name="external_id"][aria-invalid="true"]').waitFor();
    expect(await page.getByLabel('E-mail').inputValue()).toBe('billing@typo.example');
    expect(problems.splice(0).filter((text) => !/409|400/.test(text))).toEqual([]);

    await hands.write(page.getByLabel('External id'), 'typo');
    await hands.press(page.getByRole('button', { name: 'Save customer' }));
    await titled(page, 'Typo Ltd');
    await page.getByText('billing@typo.example').waitFor();
    await page.getByText('Korenmarkt 1, BE').waitFor();
    expect((await api.get(`/v1/customers/${customer.id}`)).body).toMatchObject({
      email: 'billing@typo.example',
      address_line1: 'Korenmarkt 1',
      address_city: '',
      address_country: 'BE',
      tax_treatment: 'exempt',
      external_id: 'typo',
      metadata: { segment: 'small' },
    });
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
