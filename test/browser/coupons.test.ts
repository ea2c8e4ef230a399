import { describeInBrowser } from '../support/requires.ts';
import { mouse } from './hands.ts';
import { everyForm, settled } from './inspect.ts';
import { cell, goTo, titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** A coupon from the catalog to the subscription that has it, and its end. */
describeInBrowser('coupons', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('created, given to a subscription, found from both sides, edited and archived', async () => {
    const { api } = shown.world;
    const { page, problems } = await shown.signedIn();
    const dialog = (name: string | RegExp) => page.getByRole('dialog', { name });
    const button = (name: string | RegExp) => page.getByRole('button', { name });

    await goTo(page, 'Coupons', hands);
    await cell(page, 'Coupons', '20% off for 3 periods').waitFor();
    await hands.press(button('New coupon'));
    const made = dialog('New coupon');
    const field = (name: string) => made.getByLabel(name, { exact: true });
    await hands.write(made.getByLabel('Name', { exact: true }), 'Welcome');
    await hands.write(made.getByLabel(/^Code/), 'LAUNCH');
    await hands.choose(field('Discount'), 'A fixed amount');
    await hands.write(field('Amount'), '0');
    await hands.choose(field('Duration'), 'For some periods');
    await hands.write(field('Periods'), '2');
    await hands.write(made.getByLabel(/^Redemption limit/), '5');
    await hands.write(made.getByLabel(/^Redeemable from/), '2026-01-01');
    await hands.write(made.getByLabel(/^Redeemable before/), '2030-01-01');
    // The server's words stand at the field; another refusal comes for the code, which another coupon has.
    await hands.press(button('Create coupon'));
    await made.getByText('must be above 0').first().waitFor();
    await made.locator('[name="amount_off"][aria-invalid="true"]').waitFor();
    await hands.write(field('Amount'), '12.50');
    await hands.press(button('Create coupon'));
    await made.locator('[name="coupon_code"][aria-invalid="true"]').waitFor();
    expect(problems.splice(0).filter((text) => !/409|400/.test(text))).toEqual([]);
    await hands.write(made.getByLabel(/^Code/), 'WELCOME');
    await hands.press(button('Create coupon'));
    await titled(page, 'Welcome');
    const id = page.url().split('/').at(-1)!;
    expect((await api.get(`/v1/coupons/${id}`)).body).toMatchObject({
      ...{ name: 'Welcome', coupon_code: 'welcome', type: 'fixed', amount_off: '12.5' },
      ...{ currency: 'usd', percentage_off: '0', cadence: 'repeated', duration_in_periods: 2 },
      ...{ max_redemptions: 5, redeem_after: '2026-01-01T00:00:00.000Z' },
      redeem_before: '2030-01-01T00:00:00.000Z',
    });
    await page.getByText('No subscription has it').waitFor();
    await page.getByText('0 of 5').waitFor();

    await hands.press(page.getByRole('link', { name: 'Go to subscriptions' }));
    await titled(page, 'Subscriptions');
    await page.goto(
      page.url().replace(/\/subscriptions.*/, `/subscriptions/${shown.records.get('/subscriptions/$id')}`),
    ); // prettier-ignore
    await titled(page, 'Growth');
    await hands.press(button('More actions'));
    await hands.press(page.getByRole('menuitem', { name: 'Add coupon' }));
    await hands.choose(
      dialog('Add coupon').getByLabel('Coupon'),
      'Welcome: $12.50 off for 2 periods',
    );
    await hands.press(button('Preview the change'));
    await hands.press(button('Add the coupon'));
    await cell(page, 'List of coupons', 'Welcome').waitFor();
    await hands.press(page.getByRole('tab', { name: 'Next invoice' }));
    await hands.press(button(/^Why this amount/).first());
    await hands.press(dialog(/^Why this amount/).getByRole('link', { name: 'Welcome' }));
    await titled(page, 'Welcome');
    await page.goBack();
    await titled(page, 'Growth');
    await hands.press(page.getByRole('tab', { name: 'Terms' }));
    await hands.press(
      page.getByRole('region', { name: 'List of coupons' }).getByRole('link', { name: 'Welcome' }),
    );
    await titled(page, 'Welcome');
    await cell(page, 'Subscriptions with the coupon', 'Growth · Acme Inc').waitFor();
    await page.getByText('1 of 5').waitFor();

    await hands.press(button('Edit'));
    await hands.write(dialog('Edit coupon').getByLabel('Name', { exact: true }), 'Hello');
    await hands.press(button('Add metadata'));
    await hands.write(dialog('Edit coupon').getByLabel('Key 1'), 'campaign');
    await hands.write(dialog('Edit coupon').getByLabel(/^Value 1/), 'autumn');
    await settled(page);
    expect(await everyForm(page, 'coupons, edit')).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await hands.press(button('Save coupon'));
    await titled(page, 'Hello');
    await page.getByText('campaign: autumn').waitFor();

    await hands.press(button('Archive'));
    await hands.press(button('Archive coupon'));
    await titled(page, 'Coupons');
    expect((await api.get(`/v1/coupons/${id}`)).body).toMatchObject({
      ...{ name: 'Hello', status: 'archived', metadata: { campaign: 'autumn' } },
    });
    await hands.choose(page.getByLabel('Status'), 'Archived');
    await hands.press(page.getByRole('link', { name: 'Hello' }));
    await titled(page, 'Hello');
    expect(await button('Edit').count()).toBe(0);
    const subscription = cell(page, 'Subscriptions with the coupon', 'Growth · Acme Inc');
    await hands.press(subscription.getByRole('link'));
    await titled(page, 'Growth');
    await hands.press(button('Remove Hello'));
    await dialog('Remove Hello').getByText('The coupon ends now.', { exact: false }).waitFor();
    await hands.press(button('Remove the coupon'));
    await dialog('Remove Hello').waitFor({ state: 'detached' });
    await button('Remove Hello').waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
