import type { Page } from 'playwright-core';
import { catalogOf } from '../support/catalog.ts';
import { payOffline } from '../support/payments.ts';
import { describeInBrowser } from '../support/requires.ts';
import { cell } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

/** How a person finds out what became of an event, a payment or a change. */
describeInBrowser('traces', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  /** A signed-in page at the path. It fails the test if anything on it goes wrong. */
  const onPage = async (
    path: string,
    look: (page: Page, to: (path: string) => Promise<unknown>) => Promise<void>,
  ): Promise<void> => {
    const { page, problems } = await shown.signedIn();
    const base = page.url().replace(/\/$/, '');
    const to = (next: string) => page.goto(base + next);
    await to(path);
    await look(page, to);
    expect(problems).toEqual([]);
    await page.context().close();
  };
  const figure = (page: Page, label: string) =>
    page.locator('[data-figure]').filter({ hasText: label });

  test('home shows how far counting is behind', () =>
    onPage('/', async (page) => {
      const lag = figure(page, 'Log lag');
      await lag.getByText('None.', { exact: true }).waitFor();
      await lag.getByRole('link', { name: 'Log lag' }).click();
      await page.getByRole('heading', { level: 1, name: 'Doctor' }).waitFor();
    }));

  test('a change is previewed as the API answers it', () =>
    onPage(`/subscriptions/${shown.records.get('/subscriptions/$id')!}`, async (page) => {
      await page.getByRole('button', { name: 'Change quantity' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.locator('input').first().fill('3');
      await dialog.getByRole('button', { name: 'Preview' }).click();
      await dialog.getByText('As JSON').click();
      const json = await dialog.getByRole('region', { name: 'Change as JSON' }).innerText();
      const { invoices } = JSON.parse(json) as { invoices: { action: string }[] };
      expect(invoices.length).toBeGreaterThan(0);
    }));

  test('a customer’s timeline has the volume of its events, as the API counts them', () =>
    onPage(`/customers/${shown.records.get('/customers/$id')!}?tab=timeline`, async (page) => {
      await page.getByText('Events of the last 30 days').waitFor();
      await page.getByText('Show as a table').click();
      // Three events and one repeat.
      await cell(page, 'Events by day (UTC), table', '4').waitFor();
    }));

  test('a new version of a price says what running subscriptions would pay', () =>
    onPage(`/plans/${shown.records.get('/plans/$id')!}`, async (page) => {
      const { api } = shown.world;
      const { prices } = (await api.get(`/v1/plans/${shown.records.get('/plans/$id')!}`)).body;
      const fixed = prices.find(({ type }: { type: string }) => type === 'FIXED');
      await page
        .getByRole('row')
        .filter({ hasText: '$49.00' })
        .getByRole('button', { name: /^New version of/ })
        .click();
      const dialog = page.getByRole('dialog');
      const effect = dialog.getByRole('region', { name: 'Effect on running subscriptions' });
      await effect.getByText('$0.00').waitFor();
      await dialog.getByLabel('Amount in USD').fill('60');
      // 11.00 more for each of the four subscriptions to the plan.
      await effect.getByText('$44.00').waitFor();
      const { body } = await api.post(`/v1/prices/${fixed.id}/preview`, { amount: '60' });
      expect(body).toMatchObject({ subscriptions: 4, amount_now: '196', difference: '44' });
      await dialog.getByLabel('Amount in USD').fill('many');
      await dialog.getByText('Complete the amounts').waitFor();
    }));

  test('an event that came after its invoice is late, until a settlement charges it', async () => {
    const { world } = shown;
    const { api } = world;
    const catalog = catalogOf(api);
    const now = api.clock.now();
    const at = (days: number) => new Date(now - days * 86_400_000).toISOString();
    const plan = await catalog.plan('Slow');
    const meter = await catalog.meter({ type: 'SUM', field: 'v' }, { event_name: 'late' });
    await catalog.usage(plan, meter, { display_name: 'Calls', amount: '2' });
    const customer = await catalog.customer({ external_id: 'late', name: 'Late Ltd' });
    const subscription = await catalog.subscribe(customer, plan, { start_date: at(40) });
    const send = async (event_id: string, v: number) => {
      const properties = { v };
      await world.send([
        {
          event_id,
          event_name: 'late',
          external_customer_id: 'late',
          timestamp: at(35),
          properties,
        },
      ]);
      await world.settled();
    };
    await send('in-time', 3);
    const draft = await api.post('/v1/invoices', {
      invoice_type: 'SUBSCRIPTION',
      customer_id: customer.id,
      subscription_id: subscription.id,
      currency: 'usd',
      period_start: subscription.current_period_start,
      period_end: subscription.current_period_end,
    });
    expect(draft.status).toBe(201);
    expect((await api.post(`/v1/invoices/${draft.body.id}/finalize`)).status).toBe(200);
    await send('too-late', 5);

    await onPage('/events/in-time', async (page, to) => {
      const bills = page.getByRole('region', { name: 'Lines that bill the event' });
      const { invoice_number } = (await api.get(`/v1/invoices/${draft.body.id}`)).body;
      await bills.getByRole('link', { name: invoice_number }).waitFor();
      expect(await bills.getByText('Late', { exact: true }).count()).toBe(0);
      await to('/events/too-late');
      await bills.getByText('Late', { exact: true }).waitFor();
      await bills.getByText('It is not charged.').waitFor();

      const settled = await api.post(`/v1/invoices/${draft.body.id}/late-usage/settle`, {
        as: 'invoice',
      });
      expect(settled.status).toBe(201);
      await page.reload();
      await bills.getByRole('link', { name: 'an invoice for late usage' }).click();
      await page.getByText('Late usage: Calls').first().waitFor();
    });

    const { line_items } = (await api.get(`/v1/invoices/${draft.body.id}`)).body;
    const line = line_items.find(({ quantity }: { quantity: string }) => quantity === '3');
    await onPage(`/invoices/${draft.body.id}?line=${line.id}`, async (page) => {
      await page.getByText('Query to count the quantity again').click();
      const command = await page.getByRole('region', { name: 'Query', exact: true }).innerText();
      const [, path] = /\/v1(\S+) /.exec(command)!;
      const body = JSON.parse(/-d '(.*)'$/s.exec(command)![1]!);
      expect((await api.post(`/v1${path}`, body)).body.value).toBe(8);
    });
  });

  test('an invoice shows what the gateway sent about it, and that a repeat did nothing', async () => {
    const { api } = shown.world;
    await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
    const { body: invoice } = await api.post('/v1/invoices', {
      customer_id: shown.records.get('/customers/$id')!,
      invoice_type: 'ONE_OFF',
      currency: 'usd',
      line_items: [{ display_name: 'Set-up', amount: '50', quantity: '1' }],
    });
    const { body: payment } = await payOffline(api, invoice, '50', {
      payment_method_type: 'PAYMENT_LINK',
      payment_gateway: 'test',
    });
    const path = `/v1/test-gateway/payments/${payment.id}/outcome`;
    expect((await api.post(path, { outcome: 'duplicate' })).status).toBe(200);
    await api.post('/v1/refunds', {
      payment_id: payment.id,
      amount: '20',
      target: 'BACK_TO_SOURCE',
      idempotency_key: 'back',
    });
    const note = await api.post('/v1/creditnotes', {
      invoice_id: invoice.id,
      reason: 'SERVICE_ISSUE',
      line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount: '5' }],
    });
    expect(note.status).toBe(201);
    const { items } = (
      await api.post('/v1/payments/gateway-events/search', { payment_id: payment.id })
    ).body;
    await onPage(`/invoices/${invoice.id}?tab=payments`, async (page) => {
      await cell(page, 'List of events of the gateway', items[0].event_id).waitFor();
      await cell(page, 'List of events of the gateway', 'handled once').waitFor();
      const { items: refunds } = (await api.post('/v1/refunds/search', { invoice_id: invoice.id }))
        .body;
      await cell(page, 'List of refunds', refunds[0].gateway_refund_id).waitFor();

      // On a phone the money is in sight.
      await page.setViewportSize({ width: 360, height: 740 });
      for (const [table, amount] of [
        ['List of payments', '$50.00'],
        ['List of refunds', '$20.00'],
        ['List of credit notes', '$5.00'],
      ] as const) {
        const { x, width } = (await cell(page, table, amount).boundingBox())!;
        expect([table, x + width <= 360]).toEqual([table, true]);
      }
    });
  });
});
