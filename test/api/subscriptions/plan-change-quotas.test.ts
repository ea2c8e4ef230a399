import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

/** Quotas in windows of time when the plan changes (billing 14.2, money 7.3 to 7.5). */
const world = billingWorldFrom(day('2026-04-01'));

let count = 0;

/**
 * A subscription from 1 April whose plans sell calls at 1.00, each with its own quota: monthly, or by the quarter with
 * the calls of the first plan by the month.
 */
async function subscribed(
  [period, ofFirst]: readonly ['MONTHLY' | 'QUARTERLY', 'MONTHLY'],
  ...quotas: readonly object[]
) {
  const { api, catalog } = world;
  const meter = await catalog.meter();
  const feature = await api.postOk('/v1/features', {
    ...{ name: 'Calls', type: 'metered', meter_id: meter.id, lookup_key: `quota${(count += 1)}` },
  });
  const plans: { id: string }[] = [];
  const prices: { id: string }[] = [];
  for (const [index, quota] of quotas.entries()) {
    const plan = await catalog.plan();
    prices.push(
      await catalog.fixed(plan, '10', { billing_period: period }),
      await catalog.usage(plan, meter, {
        ...{ display_name: 'Calls', amount: '1' },
        billing_period: index === 0 ? ofFirst : period,
      }),
    );
    await api.postOk('/v1/entitlements', {
      ...{ entity_type: 'PLAN', entity_id: plan.id, feature_id: feature.id },
      ...{ feature_type: 'metered', grant_measure: 'quantity', ...quota },
    });
    plans.push(plan);
  }
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const include_price_ids = prices.slice(0, 2).map(({ id }) => id);
  const start = {
    ...{ start_date: day('2026-04-01'), billing_period: period },
    include_price_ids,
  };
  const subscription = await catalog.subscribe(customer, plans[0]!, start);
  return {
    use: (time: string, value: string) => world.usage.use(meter, customer, time, value),
    change: (time: string, plan: number) => {
      api.clock.set(day(time));
      const body = { target_plan_id: plans[plan]!.id };
      return api.postOk(`/v1/subscriptions/${subscription.id}/change/v2/execute`, body);
    },
    /** The running window, as the summary of the customer's usage shows it. */
    async shown(time: string) {
      api.clock.set(time);
      const { body } = await api.get(`/v1/customers/usage?customer_id=${customer.id}`);
      const [{ quotas }] = body.features;
      return quotas;
    },
    /** The rows of calls that the period bills. */
    async billed() {
      api.clock.set(day(period === 'MONTHLY' ? '2026-05-01' : '2026-07-01'));
      await world.close();
      const { body } = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
      const april = body.items.find((one: any) => one.billing_reason === 'SUBSCRIPTION_CYCLE');
      return april.line_items
        .filter(({ display_name }: any) => display_name === 'Calls')
        .map((row: any) => `${row.quantity} ${row.period_start.slice(5, 10)}`)
        .sort();
    },
  };
}

const quota = (units: string, unit: string, value = 1) => ({
  ...{ grant_quota: units, grant_duration_unit: unit, grant_duration_value: value },
  grant_allocation_behavior: 'first_usage',
});

test('a quota of the new plan counts, also if that of the old plan is longer than the period', async () => {
  const { use, change, billed } = await subscribed(
    ['MONTHLY', 'MONTHLY'],
    quota('100', 'week', 5),
    quota('75', 'subscription_period'),
  );
  await use('2026-04-05T10:00:00.000Z', '20');
  await change('2026-04-11', 1);
  await use('2026-04-15T10:00:00.000Z', '90');
  expect(await billed()).toEqual(['15 04-11', '20 04-01']);
});

test('a window that is open keeps its quota, also if the new plan bills other charge periods', async () => {
  const { use, change, billed } = await subscribed(
    ['QUARTERLY', 'MONTHLY'],
    quota('100', 'week'),
    quota('50', 'week'),
  );
  await use('2026-04-10T10:00:00.000Z', '60');
  await change('2026-04-11', 1);
  // 120 of 100 in the window from 10 to 17 April, then 60 of 50.
  await use('2026-04-12T10:00:00.000Z', '60');
  await use('2026-04-20T10:00:00.000Z', '60');
  expect(await billed()).toEqual(['0 04-01', '30 04-11']);
});

test('the summary of usage shows the window that is billed', async () => {
  const { use, change, shown } = await subscribed(
    ['MONTHLY', 'MONTHLY'],
    quota('100', 'week'),
    quota('50', 'week'),
  );
  await use('2026-04-10T10:00:00.000Z', '60');
  await change('2026-04-11', 1);
  await use('2026-04-12T10:00:00.000Z', '30');
  expect(await shown('2026-04-13T00:00:00.000Z')).toMatchObject([
    { quota: '100', used: '90', window_start: '2026-04-10T10:00:00.000Z' },
  ]);
});
