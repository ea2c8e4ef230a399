import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  world.api.clock.set(day('2026-04-13'));
  await world.api.pool`update subscriptions set due_at = null`;
});

const day = (text: string) => `${text}T00:00:00.000Z`;

describe('coupons when the end of a trial moves (billing 7.2)', () => {
  test.each([
    ['now', { action: 'immediate' }, ['04-13 50', '05-13 50', '06-13 0']],
    [
      'later',
      { action: 'scheduled_date', new_trial_end: day('2026-05-25') },
      ['05-25 50', '06-25 50', '07-25 0'],
    ],
  ])('one that counts two periods discounts two, if it ends %s', async (_, params, expected) => {
    const { catalog, api } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '100');
    const coupon = await api.post('/v1/coupons', {
      ...{ name: 'Half', type: 'percentage', percentage_off: '50' },
      ...{ cadence: 'repeated', duration_in_periods: 2 },
    });
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      start_date: day('2026-04-01'),
      trial_end: day('2026-04-20'),
      coupons: [coupon.body.id],
    });
    const path = `/v1/subscriptions/${subscription.id}/modify/execute`;
    const body = { type: 'trial_end', trial_end_params: params };
    expect(await api.post(path, body)).toMatchObject({ status: 200 });
    for (const now of ['2026-05-25', '2026-06-25', '2026-07-25']) {
      api.clock.set(day(now));
      await world.close();
    }
    const found = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
    const discounts = (found.body.items as any[])
      .filter(({ subtotal }) => subtotal !== '0')
      .flatMap(({ line_items }) => line_items)
      .map((row) => `${row.period_start.slice(5, 10)} ${row.invoice_level_discount}`)
      .sort()
      .slice(0, 3);
    expect(discounts).toEqual(expected);
  });
});
