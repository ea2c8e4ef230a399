import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

/** What the forecast takes a day of usage to cost: as on the invoices of its billing periods (money 2.8.8). */
const world = billingWorldFrom(day('2026-11-21'));

const PERIODS = [
  { period_start: day('2026-10-01'), period_end: day('2026-11-01') },
  { period_start: day('2026-11-01'), period_end: day('2026-12-01') },
];
const TIERS = [
  { up_to: 100, unit_amount: '0' },
  { up_to: 160, unit_amount: '1' },
  { up_to: null, unit_amount: '2' },
];
let count = 0;

/** A customer with usage before, within and after the day on which the last 28 days begin, 24 October. */
async function using(
  price: object,
  terms: object,
  included: { plan?: number; addon?: number },
  aggregation?: object,
) {
  const { api, catalog } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter(aggregation);
  await catalog.usage(plan, meter, price);
  const feature = await api.postOk('/v1/features', {
    ...{ name: 'Calls', type: 'metered', meter_id: meter.id, lookup_key: `f${(count += 1)}` },
  });
  const entitle = (entity_type: string, entity_id: string, usage_limit: number) =>
    api.postOk('/v1/entitlements', {
      ...{ entity_type, entity_id, feature_id: feature.id, feature_type: 'metered' },
      ...{ is_enabled: true, usage_limit, usage_reset_period: 'MONTHLY' },
    });
  if (included.plan) await entitle('PLAN', plan.id, included.plan);
  const addon = await api.postOk('/v1/addons', { name: 'More', lookup_key: `a${count}` });
  if (included.addon) await entitle('ADDON', addon.id, included.addon);
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const start_date = day('2026-10-01');
  const subscription = await catalog.subscribe(customer, plan, {
    start_date,
    ...(included.addon ? { addons: [{ addon_id: addon.id, start_date }] } : {}),
    ...terms,
  });
  const use = (date: string, value: string) => world.usage.use(meter, customer, date, value);
  await use(day('2026-10-05'), '100');
  await use('2026-10-28T07:00:00.000Z', '150');
  await use('2026-11-02T01:00:00.000Z', '80');
  await use('2026-11-19T09:00:00.000Z', '120');
  const wallet = await api.postOk('/v1/wallets', { customer_id: customer.id, currency: 'usd' });
  await api.postOk(`/v1/wallets/${wallet.id}/top-up`, {
    ...{ credits_to_add: '100000', transaction_reason: 'FREE_CREDIT_GRANT' },
  });
  return { subscription, wallet, use };
}

const coupon = async () => {
  const { coupon_code } = await world.api.postOk('/v1/coupons', {
    ...{ name: 'Half', type: 'percentage', percentage_off: '50', cadence: 'forever' },
    coupon_code: `half${count}`,
  });
  return { subscription_coupons: [{ coupon_code }] };
};

describe('a forecast rates the periods that the last 28 days touch as their invoices do', () => {
  test.each`
    name                                  | price                                                             | terms                                            | included                    | totals
    ${'units at one price'}               | ${{ amount: '1' }}                                                | ${{}}                                            | ${{}}                       | ${['250', '200']}
    ${'included units of the plan'}       | ${{ amount: '1' }}                                                | ${{}}                                            | ${{ plan: 120 }}            | ${['130', '80']}
    ${'included units of an addon'}       | ${{ amount: '1' }}                                                | ${{}}                                            | ${{ addon: 120 }}           | ${['130', '80']}
    ${'included units of plan and addon'} | ${{ amount: '1' }}                                                | ${{}}                                            | ${{ plan: 20, addon: 120 }} | ${['110', '60']}
    ${'a free tier and tiers by part'}    | ${{ billing_model: 'TIERED', tier_mode: 'SLAB', tiers: TIERS }}   | ${{}}                                            | ${{}}                       | ${['240', '140']}
    ${'tiers by the whole'}               | ${{ billing_model: 'TIERED', tier_mode: 'VOLUME', tiers: TIERS }} | ${{}}                                            | ${{}}                       | ${['500', '400']}
    ${'a coupon of half'}                 | ${{ amount: '1' }}                                                | ${'coupon'}                                      | ${{ addon: 50 }}            | ${['100', '75']}
    ${'a commitment of the subscription'} | ${{ amount: '1' }}                                                | ${{ commitment_amount: 100, overage_factor: 2 }} | ${{}}                       | ${['400', '300']}
  `('$name', async ({ price, terms, included, totals }) => {
    const agreed = terms === 'coupon' ? await coupon() : terms;
    const { subscription, wallet } = await using(price, agreed, included);
    const previews = await Promise.all(
      PERIODS.map((period) =>
        world.api.postOk('/v1/invoices/preview', { subscription_id: subscription.id, ...period }),
      ),
    );
    // The preview pays them with the credits of the wallet.
    expect(
      previews.map(({ subtotal, total_discount }) => String(subtotal - total_discount)),
    ).toEqual(totals);

    const { body: forecast } = await world.api.get(`/v1/wallets/${wallet.id}/forecast`);
    const used = forecast.usage.filter(({ amount }: { amount: string }) => amount !== '0');
    const [october, november] = totals.map(Number);
    expect(used.map(({ day: date, amount }: any) => [date, Number(amount)])).toEqual([
      [day('2026-10-28'), expect.closeTo((october * 150) / 250, 9)],
      [day('2026-11-02'), expect.closeTo((november * 80) / 200, 9)],
      [day('2026-11-19'), expect.closeTo((november * 120) / 200, 9)],
    ]);
    const days = (Date.parse(forecast.at) - Date.parse(day('2026-10-28'))) / 86_400_000;
    expect(Number(forecast.daily_usage)).toBeCloseTo((october * 0.6 + november) / days, 9);
  });
  test('of a window that began before the 28 days, the part within them', async () => {
    const { wallet } = await using(
      { amount: '1' },
      {},
      {},
      { type: 'MAX', field: 'v', bucket_size: 'MONTH' },
    );
    const { body: forecast } = await world.api.get(`/v1/wallets/${wallet.id}/forecast`);
    const used = forecast.usage.filter(({ amount }: { amount: string }) => amount !== '0');
    expect(used.map(({ day: date, amount }: any) => [date, Number(amount)])).toEqual([
      [day('2026-10-01'), expect.closeTo((150 * 8) / 31, 9)],
      [day('2026-11-01'), 120],
    ]);
    expect(Number(forecast.daily_usage)).toBeCloseTo(((150 * 8) / 31 + 120) / 28, 9);
  });
  test('free usage of an earlier period counts in the days since the first usage', async () => {
    const { wallet, use } = await using({ amount: '1' }, {}, { plan: 250 });
    await use('2026-11-20T09:00:00.000Z', '100');
    const { body: forecast } = await world.api.get(`/v1/wallets/${wallet.id}/forecast`);
    const days = (Date.parse(forecast.at) - Date.parse(day('2026-10-28'))) / 86_400_000;
    expect(Number(forecast.daily_usage)).toBeCloseTo(50 / days, 9);
  });
});
