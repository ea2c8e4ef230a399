import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

/** Addons whose entitlements conflict with those of a subscription (money 6.11, 7.2). */
const world = billingWorldFrom(day('2026-01-01'));

let count = 0;

async function metered() {
  const meter = await world.catalog.meter();
  const lookup_key = `conflicting${(count += 1)}`;
  const feature = await world.api.postOk('/v1/features', {
    ...{ name: 'Calls', type: 'metered', meter_id: meter.id, lookup_key },
  });
  return { meter, feature };
}
type Metered = Awaited<ReturnType<typeof metered>>;

/** A plan with a fee of 10.00 that sells the meter. */
async function planOf({ meter }: Metered) {
  const plan = await world.catalog.plan();
  await world.catalog.fixed(plan, '10');
  await world.catalog.usage(plan, meter, { amount: '1' });
  return plan;
}
const entitle = (entity_type: string, entity_id: string, { feature }: Metered, more: object) =>
  world.api.postOk('/v1/entitlements', {
    ...{ entity_type, entity_id, feature_id: feature.id, feature_type: 'metered', ...more },
  });
async function addon() {
  const name = `addon${(count += 1)}`;
  const sold = await world.api.postOk('/v1/addons', { name, lookup_key: name });
  await world.api.postOk('/v1/prices', {
    ...{ entity_type: 'ADDON', entity_id: sold.id, type: 'FIXED', price_unit_type: 'FIAT' },
    ...{ currency: 'usd', billing_model: 'FLAT_FEE', amount: '5', invoice_cadence: 'ADVANCE' },
    ...{ billing_period: 'MONTHLY', billing_period_count: 1 },
  });
  return sold;
}
const attach = (
  subscription: { id: string },
  { id: addon_id }: { id: string },
  more: object = {},
) =>
  world.api.post(`/v1/subscriptions/${subscription.id}/modify/execute`, {
    type: 'addon',
    addon_params: { action: 'add', add: { addon_id, ...more } },
  });
const weekly = { grant_quota: '50', grant_measure: 'quantity', grant_duration_unit: 'week' };
const quota = { ...weekly, grant_duration_value: 1, grant_allocation_behavior: 'first_usage' };

test('an addon is attached beside a conflict of features that it does not have', async () => {
  const calls = await metered();
  const [plan, target] = [await planOf(calls), await planOf(calls)];
  await entitle('PLAN', plan.id, calls, { usage_limit: 100 });
  await entitle('PLAN', target.id, calls, quota);
  await completeBackfills(world.api.pool);
  const subscription = await world.catalog.subscribe(await world.catalog.customer(), plan, {
    start_date: day('2026-01-01'),
  });
  await entitle('SUBSCRIPTION', subscription.id, calls, { usage_limit: 20 });
  const { status } = await world.api.post(
    `/v1/subscriptions/${subscription.id}/change/v2/execute`,
    { target_plan_id: target.id },
  );
  expect(status).toBe(200);

  expect(await attach(subscription, await addon())).toMatchObject({ status: 200 });
  const other = await addon();
  await entitle('ADDON', other.id, calls, { usage_limit: 5 });
  const refused = await attach(subscription, other);
  expect([refused.status, refused.body.message]).toEqual([
    400,
    expect.stringContaining('a limit and a quota'),
  ]);
});

test('an addon that has ended conflicts with none that begins later', async () => {
  const calls = await metered();
  const plan = await planOf(calls);
  await completeBackfills(world.api.pool);
  const subscription = await world.catalog.subscribe(await world.catalog.customer(), plan, {
    start_date: day('2026-01-01'),
  });
  const [daily, other] = [await addon(), await addon()];
  await entitle('ADDON', daily.id, calls, { usage_limit: 5, usage_reset_period: 'DAILY' });
  await entitle('ADDON', other.id, calls, { usage_limit: 5, usage_reset_period: 'MONTHLY' });
  expect(await attach(subscription, daily, { cadence: 'onetime' })).toMatchObject({ status: 200 });
  const beside = await attach(subscription, other);
  expect([beside.status, beside.body.message]).toEqual([
    400,
    expect.stringContaining('the usage reset periods'),
  ]);

  const later = await attach(subscription, other, { start_date: day('2026-02-01') });
  expect(later).toMatchObject({ status: 200 });
});
