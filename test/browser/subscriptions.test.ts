import { describeInBrowser } from '../support/requires.ts';
import { catalogOf } from '../support/catalog.ts';
import { mouse } from './hands.ts';
import { everyForm } from './inspect.ts';
import { titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** New subscriptions of a customer far from UTC. */
describeInBrowser('new subscriptions', (executable) => {
  let shown: BrowserWorld;
  let customer: { readonly id: string };
  let base: string;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
    customer = await catalogOf(shown.world.api).customer({
      external_id: 'hudson',
      name: 'Hudson Inc',
      timezone: 'America/New_York',
    });
    base = `/subscriptions/new?customer_id=${customer.id}&plan_id=${shown.records.get('/plans/$id')}`;
  });
  afterAll(() => shown?.close());

  test('phases are kept until the subscription is started; its days begin at midnight of the customer', async () => {
    const { api } = shown.world;
    const { page, problems } = await shown.signedIn();
    await page.goto(page.url().replace(/\/$/, '') + base);
    await page.getByText('Midnight, America/New_York.').waitFor();
    await hands.write(page.getByLabel('Start date'), '2026-10-01');
    await hands.choose(page.getByLabel('Billing cycle'), 'With the calendar month');
    await hands.press(page.getByRole('button', { name: 'Add a phase with other terms' }));
    await hands.write(page.getByLabel('Phase 2 begins on'), '2026-12-01');
    await hands.press(page.getByRole('button', { name: 'Preview the invoice' }));
    // One whole month: a start at midnight UTC would be a period of four hours on 30 September.
    await page.getByText('1 Oct 2026 – 31 Oct 2026').first().waitFor();
    await page.reload();
    await hands.press(page.getByRole('button', { name: 'Start subscription' }));
    await titled(page, 'Growth');
    const path = `/v1/subscriptions/${page.url().split('/').at(-1)}`;
    const { body } = await api.get(path);
    expect(body).toMatchObject({
      start_date: '2026-10-01T04:00:00.000Z',
      current_period_end: '2026-11-01T04:00:00.000Z',
    });
    // Clocks go back on 1 November.
    expect((await api.get(`${path}/phases`)).body.items).toMatchObject([
      { start_date: '2026-10-01T04:00:00.000Z', end_date: '2026-12-01T05:00:00.000Z' },
      { start_date: '2026-12-01T05:00:00.000Z' },
    ]);

    // The server changes neither the plan of a subscription with phases nor its time.
    expect(await page.getByRole('button', { name: 'Change plan' }).count()).toBe(0);
    await hands.press(page.getByRole('button', { name: 'More actions' }));
    await page.getByRole('menuitem', { name: 'Cancel subscription' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'Pause' }).count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a customer of a test clock begins on the day of the clock, others on the day where they are', async () => {
    const { api } = shown.world;
    const clock = await api.postOk('/v1/test-clocks', { name: 'May', now: '2026-05-01T02:00:00Z' });
    const past = await catalogOf(api).customer({
      ...{ name: 'Past Inc', timezone: 'America/New_York', test_clock_id: clock.id },
    });
    const { page, problems } = await shown.signedIn();
    const home = page.url().replace(/\/$/, '');
    const day = page.getByLabel('Start date');
    const holds = (value: string) => page.locator(`input[type="date"][value="${value}"]`).waitFor();
    await page.goto(home + base.replace(customer.id, past.id));
    await holds('2026-04-30');
    await hands.write(day, '2026-04-29');
    await page.goto(home + base);
    await holds('2026-11-21');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a pause begins at midnight of the customer, and is cancelled before it begins', async () => {
    const { api } = shown.world;
    const subscription = await catalogOf(api).subscribe(customer, {
      id: shown.records.get('/plans/$id')!,
    });
    const { page, problems } = await shown.signedIn();
    await page.goto(`${page.url().replace(/\/$/, '')}/subscriptions/${subscription.id}`);
    const choose = async (name: string): Promise<void> => {
      await hands.press(page.getByRole('button', { name: 'More actions' }));
      await hands.press(page.getByRole('menuitem', { name }));
    };
    await choose('Pause');
    const dialog = page.getByRole('dialog', { name: 'Pause subscription' });
    await hands.choose(dialog.getByLabel('When'), 'From a day on');
    await dialog.getByText('Midnight, America/New_York.').waitFor();
    const day = new Date(api.clock.now() + 2 * 86_400_000).toISOString().slice(0, 10);
    await hands.write(dialog.getByLabel('First day'), day);
    await hands.write(dialog.getByLabel('Days'), '2');
    await hands.press(dialog.getByRole('button', { name: 'Pause subscription' }));
    await dialog.waitFor({ state: 'detached' });
    const path = `/v1/subscriptions/${subscription.id}`;
    const [pause] = (await api.get(path)).body.pauses;
    expect(pause.pause_start).toMatch(new RegExp(`^${day}T0[45]:00:00.000Z$`));

    await page.getByRole('button', { name: 'Change plan' }).waitFor({ state: 'detached' });
    await choose('Cancel the pause');
    const asked = page.getByRole('dialog', { name: 'Cancel the pause?' });
    await hands.press(asked.getByRole('button', { name: 'Cancel the pause' }));
    await page.getByRole('button', { name: 'Change plan' }).waitFor();
    expect((await api.get(path)).body).toMatchObject({ active_pause_id: null });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('Back leads from the preview to the terms as they were written; a draft is saved only when asked', async () => {
    const { api } = shown.world;
    const { page, problems } = await shown.signedIn();
    await page.goto(page.url().replace(/\/$/, '') + base);
    await hands.write(page.getByLabel('Start date'), '2026-10-02');
    await hands.write(page.getByLabel('Trial (days)'), '7');
    await hands.press(page.getByRole('button', { name: 'Preview the invoice' }));
    await page.getByRole('button', { name: 'Start subscription' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Preview the invoice' }).waitFor();
    expect(await page.getByLabel('Start date').inputValue()).toBe('2026-10-02');
    expect(await page.getByLabel('Trial (days)').inputValue()).toBe('7');
    await hands.write(page.getByLabel('Trial (days)'), '14');
    await hands.press(page.getByRole('button', { name: 'Preview the invoice' }));
    const drafts = async () => {
      const asked = { customer_id: customer.id, subscription_status: ['draft'] };
      return (await api.postOk('/v1/subscriptions/search', asked)).items;
    };
    await page.getByText('Nothing is billed until you start the subscription.').waitFor();
    await page.getByRole('heading', { name: 'The invoice at the start' }).waitFor();
    expect(await drafts()).toEqual([]);
    expect(await everyForm(page, 'the preview of a new subscription')).toEqual([]);
    await hands.press(page.getByRole('button', { name: 'Save as a draft' }));
    await titled(page, 'Growth');
    const [draft, ...others] = await drafts();
    expect(others).toEqual([]);
    expect(page.url()).toContain(draft.id);

    // What the activation issues is shown before it is confirmed.
    await hands.press(page.getByRole('button', { name: 'Start subscription' }));
    const dialog = page.getByRole('dialog', { name: 'Start this subscription?' });
    await dialog.getByRole('heading', { name: 'The invoice at the start' }).waitFor();
    await dialog.getByRole('heading', { name: 'The invoice at the end of the trial' }).waitFor();
    expect((await drafts())[0].version).toBe(draft.version);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
