import type { FillEnvironment } from '../../api/deps.ts';
import { describeInBrowser } from '../support/requires.ts';
import { everyForm, settled } from './inspect.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const BUTTON = 'Generate sample data';

/** The home page of an empty environment offers generated data, and shows the progress. */
describeInBrowser('generated data', (executable) => {
  let shown: BrowserWorld;
  let end = () => {};
  let runs = 0;
  const halfway = new Promise<void>((resolve) => (end = resolve));
  /** One plan instead of a company; the product's generator is in test/flow/seed.test.ts. */
  const fillEnvironment: FillEnvironment = async ({ api_key, onProgress }) => {
    runs += 1;
    await shown.world.api.post('/v1/plans', { name: 'Starter' }, { 'x-api-key': api_key });
    onProgress('3 plans, 3 meters and 5 features', 40_000);
    await halfway;
  };
  beforeAll(async () => {
    shown = await startBrowserWorld(executable, { fillEnvironment });
  });
  afterAll(() => shown?.close());

  test('a button in an empty environment, progress, and then the page of what was made', async () => {
    const { page, problems } = await shown.fresh();
    await page.goto(`${shown.url}/sign-up`);
    await page.getByLabel('Company').fill('Empty Inc');
    await page.getByLabel('E-mail').fill('founder@empty.test');
    await page.getByLabel('Password').fill('a long enough password');
    await page.keyboard.press('Enter');
    const button = page.getByRole('button', { name: BUTTON });
    await button.waitFor();
    await settled(page);
    const steps = page.getByRole('list', { name: 'First steps' });
    expect(await steps.locator('[aria-current="step"]').innerText()).toContain('Create a meter');
    const found = await everyForm(page, 'home of an empty environment');
    await steps.getByRole('link', { name: 'New plan' }).click();
    await page.getByRole('dialog', { name: 'New plan' }).waitFor();
    await page.goBack();
    await button.waitFor();
    await button.click();
    await page.getByText('3 plans, 3 meters and 5 features').waitFor();
    await page.getByText('40,000 of 100,000').waitFor();
    await page.reload();
    await page.getByText('3 plans, 3 meters and 5 features').waitFor();
    found.push(...(await everyForm(page, 'home of an environment that is filled')));
    end();
    await page.getByRole('heading', { name: 'Sample data' }).waitFor({ state: 'detached' });
    expect(await button.count()).toBe(0);
    expect([...found, ...problems]).toEqual([]);
    expect(runs).toBe(1);
    await page.context().close();
  });

  test('not where there are records', async () => {
    const { page } = await shown.signedIn();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await settled(page);
    expect(await page.getByRole('button', { name: BUTTON }).count()).toBe(0);
    await page.context().close();
  });
});
