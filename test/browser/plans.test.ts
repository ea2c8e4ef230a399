import { describeInBrowser } from '../support/requires.ts';
import { catalogOf } from '../support/catalog.ts';
import { mouse } from './hands.ts';
import { cell, titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** What a person corrects of a plan. */
describeInBrowser('plans', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('a plan is renamed; a price is ended; an entitlement and a credit grant are removed; the plan is archived', async () => {
    const { api } = shown.world;
    const catalog = catalogOf(api);
    const plan = await catalog.plan('Mistake');
    const price = await catalog.fixed(plan, '77');
    await api.postOk('/v1/entitlements', {
      ...{ entity_type: 'PLAN', entity_id: plan.id, feature_type: 'metered' },
      ...{ feature_id: shown.records.get('/features/$id'), usage_limit: 5 },
    });
    await api.postOk('/v1/creditgrants', {
      ...{ name: 'Gift', scope: 'PLAN', plan_id: plan.id, credits: '25' },
      ...{ cadence: 'ONETIME', expiration_type: 'NEVER' },
    });
    const { page, problems } = await shown.signedIn();
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const confirm = async (title: string | RegExp, name: string): Promise<void> => {
      const dialog = page.getByRole('dialog', { name: title });
      await hands.press(dialog.getByRole('button', { name }));
      await dialog.waitFor({ state: 'detached' });
    };
    await page.goto(`${page.url().replace(/\/$/, '')}/plans/${plan.id}`);
    await titled(page, 'Mistake');

    await hands.press(page.getByRole('button', { name: 'Edit', exact: true }));
    await hands.write(page.getByRole('dialog').getByLabel('Name', { exact: true }), 'Corrected');
    await confirm('Edit plan', 'Save plan');
    await titled(page, 'Corrected');

    await hands.press(button(/^End /));
    await confirm(/^End /, 'End price');
    await button(/^End /).waitFor({ state: 'detached' });
    expect((await api.get(`/v1/prices/${price.id}`)).body.end_date).not.toBeNull();

    await hands.press(button(/^Remove .*Completions/));
    await confirm(/^Remove /, 'Remove entitlement');
    await page.getByText('No entitlements yet').waitFor();
    await cell(page, 'List of credit grants', 'Gift').waitFor();
    await hands.press(button('Remove Gift'));
    await confirm(/^Remove /, 'Remove credit grant');
    await page.getByText('No credit grants yet').waitFor();

    await hands.press(button('Archive'));
    await confirm('Archive this plan?', 'Archive plan');
    await titled(page, 'Plans');
    const { body } = await api.get(`/v1/plans/${plan.id}`);
    expect(body).toMatchObject({ name: 'Corrected', status: 'archived' });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the calculator says what is wrong with a quantity, and shows no total for it', async () => {
    const { page, problems } = await shown.signedIn();
    await page.goto(`${page.url().replace(/\/$/, '')}/plans/${shown.records.get('/plans/$id')}`);
    await hands.press(page.getByRole('link', { name: /^Calculate / }).first());
    const dialog = page.getByRole('dialog');
    const quantity = dialog.getByLabel('Quantity', { exact: true });
    await dialog.getByText('Total', { exact: true }).waitFor();
    for (const text of ['1e5', '-5', '', '1,000', '9'.repeat(40)]) {
      await hands.write(quantity, text);
      await dialog.getByText('enter a quantity of 0 or more, for example 1500').waitFor();
      await dialog.getByText('Total', { exact: true }).waitFor({ state: 'detached' });
      expect(await quantity.getAttribute('aria-invalid')).toBe('true');
    }
    await hands.write(quantity, '0.5');
    await dialog.getByText('Total', { exact: true }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
