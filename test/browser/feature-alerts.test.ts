import { describeInBrowser } from '../support/requires.ts';
import { mouse } from './hands.ts';
import { everyForm, settled } from './inspect.ts';
import { titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** Levels of credits on the page of a feature. */
describeInBrowser('alerts of a feature', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('set, refused at the level that is out of order, and switched off with its levels kept', async () => {
    const { api } = shown.world;
    const { page, problems } = await shown.signedIn();
    const id = shown.records.get('/features/$id')!;
    await page.goto(`${page.url().replace(/\/$/, '')}/features/${id}`);
    await titled(page, 'Completions');
    const dialog = page.getByRole('dialog', { name: 'Alerts' });
    const open = () => hands.press(page.getByRole('button', { name: 'Alerts', exact: true }));
    const save = () => hands.press(dialog.getByRole('button', { name: 'Save alerts' }));
    await open();
    await hands.write(dialog.getByLabel('Critical at, in credits'), '50');
    await hands.write(dialog.getByLabel('Warning at, in credits'), '20');
    await save();
    await dialog
      .locator('[name="alert_settings.warning.threshold"][aria-invalid="true"]')
      .waitFor();
    expect(problems.splice(0).filter((text) => !/400/.test(text))).toEqual([]);
    await hands.write(dialog.getByLabel('Warning at, in credits'), '80.5');
    await settled(page);
    expect(await everyForm(page, 'alerts of a feature')).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await save();
    await dialog.waitFor({ state: 'detached' });
    const stored = async () => (await api.get(`/v1/features/${id}`)).body.alert_settings;
    const levels = {
      critical: { threshold: 50, condition: 'below' },
      warning: { threshold: 80.5, condition: 'below' },
      info: null,
    };
    expect(await stored()).toEqual({ alert_enabled: true, ...levels });

    await open();
    expect(await dialog.getByLabel('Warning at, in credits').inputValue()).toBe('80.5');
    await dialog.getByText('Tell when a level is reached').click();
    await save();
    await dialog.waitFor({ state: 'detached' });
    expect(await stored()).toEqual({ alert_enabled: false, ...levels });
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
