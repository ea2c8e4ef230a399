import type { Locator, Page } from 'playwright-core';
import { describeInBrowser } from '../support/requires.ts';
import { everyForm, settled } from './inspect.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const ZONE = 'Asia/Kolkata';

/** The computation of a row, on a desktop and on a phone. */
describeInBrowser('why this amount', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('figures have names, line up, wrap on a phone, and times read as everywhere', async () => {
    const { page, problems } = await shown.signedIn();
    const { id, line } = await hourlyTiers(shown);
    const { pathname } = new URL(page.url());
    await page.goto(`${shown.url}${pathname.replace(/\/$/, '')}/invoices/${id}?line=${line}`);
    const why = page.getByRole('dialog', { name: /^Why this amount/ });
    const step = why.getByRole('listitem').filter({ hasText: 'graduated tiers' });
    await step.waitFor();
    await settled(page);
    expect(await why.locator('ol').innerText()).not.toMatch(/\dT\d/);

    await page.setViewportSize({ width: 1440, height: 900 });
    // Names stand once, above their column; numbers end at its right edge.
    expect(await visibleNames(step)).toEqual([
      'window', 'tier', 'above', 'up to', 'units', '× unit', '+ flat', '= amount',
    ]); // prettier-ignore
    const first = await valuesOf(step, 'window');
    expect(first.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^\d+ \w+ \d{4}, \d\d:00 GMT\+5:30$/),
      expect.stringMatching(/^\d+ \w+ \d{4}, \d\d:00 GMT\+5:30$/),
    ]);
    expect((await valuesOf(step, '')).map(({ text }) => text)).toEqual(['total']);
    expect(new Set(first.map(({ left }) => left)).size).toBe(1);
    const amounts = await valuesOf(step, '= amount');
    expect(amounts.map(({ text }) => text)).toEqual(['2.50', '2.50', '5.375', '10.375']);
    // Each point stands at the same place: the room after it is filled.
    expect(new Set(amounts.map(({ right }) => right)).size).toBe(1);
    expect(amounts.map(({ room }) => room)).toEqual(['0', '0', null, null]);

    await page.setViewportSize({ width: 360, height: 740 });
    expect((await visibleNames(step)).filter((name) => name === '= amount')).toHaveLength(4);
    expect(await pairsOnOneLine(step)).toBe(true);
    expect(await widerThanPage(page)).toEqual([]);
    expect(await everyForm(page, 'why this amount')).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

/** A draft of a customer in Mumbai whose usage is rated in two hours, each with tiers. */
async function hourlyTiers({ world }: BrowserWorld): Promise<{ id: string; line: string }> {
  const { api, catalog } = world;
  const end = `${new Date(api.clock.now()).toISOString().slice(0, 7)}-01T00:00:00.000Z`;
  const start = `${new Date(Date.parse(end) - 1).toISOString().slice(0, 7)}-01T00:00:00.000Z`;
  const customer = await catalog.customer({
    external_id: 'mumbai',
    name: 'Mumbai',
    timezone: ZONE,
  });
  const plan = await catalog.plan('Hourly');
  const meter = await catalog.meter(
    { type: 'SUM', field: 'v', bucket_size: 'HOUR' },
    { name: 'hourly', event_name: 'hourly' },
  );
  await catalog.usage(plan, meter, {
    ...{ billing_model: 'TIERED', tier_mode: 'SLAB', display_name: 'Hourly' },
    tiers: [
      { up_to: 10, unit_amount: '0.25' },
      { up_to: null, unit_amount: '0.125' },
    ],
  });
  const subscription = await catalog.subscribe(customer, plan, { start_date: start });
  const at = (hours: number) => new Date(Date.parse(start) + hours * 3_600_000).toISOString();
  await world.send(
    [
      [30, 10],
      [54, 53],
    ].map(([hours, v]) => ({
      event_id: `hourly-${hours}`, event_name: 'hourly', external_customer_id: 'mumbai',
      timestamp: at(hours!), source: 'test', properties: { v },
    })), // prettier-ignore
  );
  await world.settled();
  const { id } = await api.postOk('/v1/invoices', {
    ...{ invoice_type: 'SUBSCRIPTION', customer_id: customer.id, currency: 'usd' },
    ...{ subscription_id: subscription.id, period_start: start, period_end: end },
  });
  const { body } = await api.get(`/v1/invoices/${id}`);
  return { id, line: body.line_items[0].id };
}

/** The names that are seen: those for screen readers only are one pixel large. */
const visibleNames = (step: Locator): Promise<string[]> =>
  step
    .locator('dt')
    .evaluateAll((names) =>
      names
        .filter((name) => name.getBoundingClientRect().width > 1)
        .map((name) => name.textContent ?? ''),
    );

const valuesOf = (step: Locator, name: string) =>
  step.locator('dl > div').evaluateAll(
    (pairs, wanted) =>
      pairs
        .filter((pair) => pair.querySelector('dt')?.textContent === wanted)
        .map((pair) => pair.querySelector('dd')!)
        .map((value) => {
          const { left, right } = value.getBoundingClientRect();
          const room = value.getAttribute('data-room');
          return { text: value.textContent, left, right, room };
        }),
    name,
  );

/** Each value stands to the right of its name. */
const pairsOnOneLine = (step: Locator): Promise<boolean> =>
  step.locator('dl > div').evaluateAll((pairs) =>
    pairs.every((pair) => {
      const [name, value] = [pair.querySelector('dt')!, pair.querySelector('dd')!];
      if (value.textContent === '' || name.textContent === '') return true;
      const [before, after] = [name.getBoundingClientRect(), value.getBoundingClientRect()];
      return before.right <= after.left && Math.abs(before.top - after.top) < 2;
    }),
  );

const widerThanPage = (page: Page): Promise<string[]> =>
  page
    .getByRole('dialog')
    .locator('ol *')
    .evaluateAll((all) =>
      all
        .filter(
          (element) =>
            element.getBoundingClientRect().right >
            element.ownerDocument.documentElement.clientWidth,
        )
        .map((element) => element.outerHTML.slice(0, 80)),
    );
