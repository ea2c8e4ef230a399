import { describeInBrowser } from '../support/requires.ts';
import { mouse } from './hands.ts';
import { everyForm, settled } from './inspect.ts';
import { cell, titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** Levels of spend on the page of a subscription. */
describeInBrowser('spend alerts', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('set for the subscription and a line, refused at the level that is wrong, changed and removed', async () => {
    const { api } = shown.world;
    const { page, problems } = await shown.signedIn();
    const id = shown.records.get('/subscriptions/$id')!;
    await page.goto(`${page.url().replace(/\/$/, '')}/subscriptions/${id}`);
    await titled(page, 'Growth');
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const dialog = page.getByRole('dialog');
    const settings = async () =>
      (await api.post('/v1/alerts/setting/search', {})).body.items as {
        readonly entity_id: string;
        readonly config: object;
      }[];

    await page.getByText('No spend alert of its own').waitFor();
    await hands.press(button('Set spend alert'));
    await hands.write(dialog.getByLabel('Critical at, in USD'), '50');
    await hands.write(dialog.getByLabel('Warning at, in USD'), '80');
    await hands.press(button('Save alert'));
    await dialog.locator('[name="config.warning.threshold"][aria-invalid="true"]').waitFor();
    expect(problems.splice(0).filter((text) => !/400/.test(text))).toEqual([]);
    await hands.write(dialog.getByLabel('Warning at, in USD'), '20');
    await hands.write(dialog.getByLabel(/^Warning ends after a return of/), '1.5');
    await settled(page);
    expect(await everyForm(page, 'spend alert')).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await hands.press(button('Save alert'));
    await cell(page, 'List of spend alerts', '$50.00').waitFor();
    expect(await settings()).toMatchObject([
      {
        ...{ entity_type: 'subscription', entity_id: id, enabled: true },
        config: {
          critical: { threshold: '50', condition: 'above', hysteresis: 0 },
          warning: { threshold: '20', condition: 'above', hysteresis: 1.5 },
          info: null,
        },
      },
    ]);

    await hands.press(button('Set spend alert'));
    await hands.choose(dialog.getByLabel('For'), 'Tokens');
    await hands.write(dialog.getByLabel('Critical at, in USD'), '7');
    await hands.press(button('Save alert'));
    await cell(page, 'List of spend alerts', 'Tokens').waitFor();
    expect(await settings()).toHaveLength(2);

    await hands.press(button('Change the alert of All usage'));
    expect(await dialog.getByLabel('Warning at, in USD').inputValue()).toBe('20');
    await hands.write(dialog.getByLabel('Critical at, in USD'), '60');
    await dialog.getByText('Tell when a level is reached').click();
    await hands.press(button('Save alert'));
    await cell(page, 'List of spend alerts', 'Off').waitFor();
    const changed = (await settings()).find(({ entity_id }) => entity_id === id);
    expect(changed).toMatchObject({ enabled: false, config: { critical: { threshold: '60' } } });

    for (const name of ['Tokens', 'All usage']) {
      await hands.press(button(`Remove the alert of ${name}`));
      await hands.press(button('Remove alert'));
      await button(`Remove the alert of ${name}`).waitFor({ state: 'detached' });
    }
    await page.getByText('No spend alert of its own').waitFor();
    expect(await settings()).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
