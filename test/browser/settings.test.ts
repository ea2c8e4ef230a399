import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/requires.ts';
import { FORMS } from '../../web/pages/settings/forms.ts';
import { clippedChoices, everyWidth, settled } from './inspect.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

describeInBrowser('settings', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  const open = async (page: Page, base: string, key: string, view = 'form'): Promise<void> => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${base}/settings?setting=${key}&view=${view}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await settled(page);
  };

  test('every setting has a form, without a finding of axe, at every width', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const found: string[] = [];
    for (const key of Object.keys(FORMS)) {
      await open(page, base, key);
      await page.getByRole('button', { name: 'Save setting' }).waitFor();
      await page.evaluate(axe.source);
      found.push(...(await page.evaluate(violations)).map((one) => `${key}: ${one}`));
      found.push(...(await everyWidth(page, key)), ...(await clippedChoices(page, key)));
    }
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });

  test('the sample invoice beside its form follows what is typed, before it is saved', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    await open(page, base, 'invoice_pdf_config');
    const sample = page.getByRole('figure', { name: 'Sample invoice' });
    await sample.getByText('$223.00').waitFor();
    await page.getByLabel('Address').fill('Main street 1\n1000 Brussels');
    await sample.getByText('1000 Brussels').waitFor();
    await page.getByLabel('Accent').fill('#1d4e');
    await page.getByLabel('Tax numbers').fill('BE 0123.456.789');
    await sample.getByText('BE 0123.456.789').waitFor();
    await page.getByLabel('Accent').fill('#1d4ed8');
    await sample.locator('[style*="rgb(29, 78, 216)"]').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a wrong value is refused at its field; a right one is saved, and the default restored', async () => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const stored = async (key: string) =>
      (await shown.world.api.get(`/v1/settings/${key}`)).body.value;

    await open(page, base, 'invoice_config');
    const due = page.getByLabel('Due after (days)');
    await due.fill('soon');
    await page.getByRole('button', { name: 'Save setting' }).click();
    await page.getByText('must be a whole number').waitFor();
    await due.fill('14');
    await page.getByRole('button', { name: 'Save setting' }).click();
    await page.getByText('Setting saved').waitFor();
    expect(await stored('invoice_config')).toMatchObject({ due_date_days: 14, prefix: 'INV' });
    await page.getByRole('button', { name: 'Restore default' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore default' }).click();
    await page.getByText('Default restored').waitFor();
    expect(await stored('invoice_config')).toMatchObject({ due_date_days: 1 });

    await open(page, base, 'wallet_topup_config');
    await page.getByRole('button', { name: 'Add a currency' }).click();
    const second = page.getByRole('group', { name: 'Currency 2' });
    // The stored `usd`, and what is typed, are read in capitals.
    for (const code of await page.getByLabel('Currency', { exact: true }).all())
      expect(
        await code.evaluate((input) => (globalThis as any).getComputedStyle(input).textTransform),
      ).toBe('uppercase');
    await second.getByLabel('Currency').fill('eur');
    await second.getByLabel('Minimum amount').fill('2.50');
    await page.getByRole('button', { name: 'Save setting' }).click();
    await page.getByText('Setting saved').waitFor();
    expect(await stored('wallet_topup_config')).toMatchObject({
      min_topup_amount_per_currency: { usd: '1', eur: '2.5' },
    });

    await open(page, base, 'draft_invoice_recompute_config', 'json');
    await page.getByLabel('Value').fill('{"enabled": true}');
    await page.getByRole('button', { name: 'Save setting' }).click();
    await page.getByText('Setting saved').waitFor();
    expect(await stored('draft_invoice_recompute_config')).toEqual({ enabled: true });
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

/** Runs in the page. */
async function violations(): Promise<string[]> {
  const { axe: checker } = globalThis as unknown as {
    axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }; // prettier-ignore
  };
  const { violations: found } = await checker.run({ resultTypes: ['violations'] });
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
