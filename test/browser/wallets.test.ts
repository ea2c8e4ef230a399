import { describeInBrowser } from '../support/requires.ts';
import { catalogOf } from '../support/catalog.ts';
import { mouse } from './hands.ts';
import { cell, titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** What is done with a wallet after it was opened. */
describeInBrowser('wallets', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('a wallet is edited, with a refusal at its field; debited below zero; converted; terminated', async () => {
    const { api } = shown.world;
    const customer = await catalogOf(api).customer({ name: 'Prepaid Ltd' });
    const { id } = await api.postOk('/v1/wallets', {
      ...{ customer_id: customer.id, currency: 'usd', name: 'Credits' },
      ...{ conversion_rate: '0.5', initial_credits_to_load: '20' },
    });
    const path = `/v1/wallets/${id}`;
    const { page, problems } = await shown.signedIn();
    const dialog = (name: string | RegExp) => page.getByRole('dialog', { name });
    await page.goto(`${page.url().replace(/\/$/, '')}/wallets/${id}`);
    await titled(page, 'Credits');

    // A name is changed alone: what was never set stays unset.
    await hands.press(page.getByRole('link', { name: 'Edit', exact: true }));
    await titled(page, 'Edit wallet');
    await hands.write(page.getByLabel('Name', { exact: true }), 'Main credits');
    await hands.press(page.getByRole('button', { name: 'Save wallet' }));
    await titled(page, 'Main credits');
    expect((await api.get(path)).body).toMatchObject({ auto_topup: null, alert_settings: null });

    await hands.press(page.getByRole('link', { name: 'Edit', exact: true }));
    await titled(page, 'Edit wallet');
    await hands.choose(page.getByLabel('Pays for'), 'Everything');
    await page.getByText('Add credits when the wallet runs low').click();
    await hands.write(page.getByLabel('When this many credits or fewer are left'), '10');
    await hands.write(page.getByLabel('Credits to add each time'), '100');
    await page.getByText('$50.00').waitFor();
    await hands.write(page.getByLabel(/^At most once in/), 'soon');
    await page.getByText('Tell when the balance is low').click();
    await hands.write(page.getByLabel('Critical at, in credits'), '5');
    await hands.write(page.getByLabel(/^Critical ends after a return of/), '1.5');
    await hands.write(page.getByLabel('Warning at, in credits'), '15');
    await hands.press(page.getByRole('button', { name: 'Add metadata' }));
    await hands.write(page.getByLabel('Key 1'), 'contract');
    await hands.write(page.getByLabel(/^Value 1/), '2026-7');
    await hands.press(page.getByRole('button', { name: 'Save wallet' }));
    await page.locator('[name="auto_topup.cooldown"][aria-invalid="true"]').waitFor();
    expect(problems.splice(0).filter((text) => !/400/.test(text))).toEqual([]);
    await hands.write(page.getByLabel(/^At most once in/), '90m');
    await hands.press(page.getByRole('button', { name: 'Save wallet' }));
    await titled(page, 'Main credits');
    expect((await api.get(path)).body).toMatchObject({
      name: 'Main credits',
      config: { allowed_price_types: ['ALL'] },
      auto_topup: { enabled: true, invoicing: false, threshold: 10, amount: 100 },
      alert_settings: {
        ...{ alert_enabled: true, alert_threshold_type: 'absolute', info: null },
        critical: { threshold: '5', hysteresis: 1.5 },
        warning: { threshold: '15', hysteresis: 0 },
      },
      metadata: { contract: '2026-7' },
    });

    // Switched off, it keeps its numbers.
    await hands.press(page.getByRole('link', { name: 'Edit', exact: true }));
    await titled(page, 'Edit wallet');
    expect(await page.getByLabel('Warning at, in credits').inputValue()).toBe('15');
    await page.getByText('Add credits when the wallet runs low').click();
    await hands.press(page.getByRole('button', { name: 'Save wallet' }));
    await titled(page, 'Main credits');
    expect((await api.get(path)).body.auto_topup).toMatchObject({ enabled: false, amount: 100 });

    const choose = async (name: string): Promise<void> => {
      await hands.press(page.getByRole('button', { name: 'More actions' }));
      await hands.press(page.getByRole('menuitem', { name }));
    };
    await choose('Debit credits');
    const debit = dialog('Debit credits');
    await hands.press(debit.getByRole('button', { name: 'Debit credits' }));
    await debit.getByText('must be a number above 0').first().waitFor();
    await hands.write(debit.getByLabel('Credits', { exact: true }), '27.5');
    await debit.getByText(/^[-−]7\.5$/).waitFor();
    await debit.getByText(/^The wallet is overdrawn/).waitFor();
    await hands.write(debit.getByLabel(/^Description/), 'Correction');
    await hands.press(debit.getByRole('button', { name: 'Debit credits' }));
    await debit.waitFor({ state: 'detached' });
    expect((await api.get(path)).body.credit_balance).toBe('-7.5');
    await hands.press(page.getByRole('tab', { name: 'Transactions' }));
    await page.getByText('Correction').waitFor();

    // Overdrawn, it is refused in the dialog.
    await choose('Convert to post-paid');
    const conversion = dialog('Convert to post-paid?');
    await hands.press(conversion.getByRole('button', { name: 'Convert wallet' }));
    await conversion.getByText(/overdrawn/).waitFor();
    expect(problems.splice(0).filter((text) => !/400|409/.test(text))).toEqual([]);
    const credits = { credits_to_add: '20', transaction_reason: 'FREE_CREDIT_GRANT' };
    await api.postOk(`${path}/top-up`, credits);
    await hands.press(conversion.getByRole('button', { name: 'Convert wallet' }));
    await titled(page, 'Main credits');
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    expect((await api.get(path)).body.wallet_status).toBe('closed');
    const opened = `/v1/wallets/${page.url().split('/').at(-1)!}`;
    expect((await api.get(opened)).body).toMatchObject({
      ...{ wallet_type: 'POST_PAID', credit_balance: '12.5', wallet_status: 'active' },
    });

    await choose('Terminate wallet');
    const end = dialog('Terminate this wallet?');
    await end.getByText('12.5', { exact: true }).waitFor();
    await hands.press(end.getByRole('button', { name: 'Terminate wallet' }));
    await end.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Top up' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'More actions' }).count()).toBe(0);
    expect((await api.get(opened)).body.wallet_status).toBe('closed');

    // A closed wallet may still be named, and is not watched any more.
    await hands.press(page.getByRole('link', { name: 'Edit', exact: true }));
    await titled(page, 'Edit wallet');
    expect(await page.getByText('Tell when the balance is low').count()).toBe(0);
    await hands.write(page.getByLabel('Name', { exact: true }), 'Old credits');
    await hands.press(page.getByRole('button', { name: 'Save wallet' }));
    await titled(page, 'Old credits');
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
