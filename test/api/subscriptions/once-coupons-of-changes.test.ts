import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

const world = billingWorldFrom(day('2026-04-01'));

/** A fee of 100.00, to be changed on 16 April to another, with half of one invoice off from 2 April on. */
async function changing(amount: string) {
  const { catalog, api } = world;
  const [plan, other] = [await catalog.plan(), await catalog.plan('Other')];
  await catalog.fixed(plan, '100', { display_name: 'Base' });
  await catalog.fixed(other, amount, { display_name: 'Other' });
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('2026-04-01'),
    proration_behavior: 'create_prorations',
  });
  api.clock.set(day('2026-04-02'));
  const coupon_code = plan.id.toLowerCase();
  await world.api.postOk('/v1/coupons', {
    ...{ name: 'Half', type: 'percentage', percentage_off: '50', cadence: 'once', coupon_code },
  });
  const path = `/subscriptions/${subscription.id}`;
  const coupon_params = { action: 'add', coupon_code };
  await world.api.postOk(`/v1${path}/modify/execute`, { type: 'coupon', coupon_params });
  api.clock.set(day('2026-04-16'));
  const shown = await world.api.postOk(`/v1${path}/change/v2/preview`, {
    target_plan_id: other.id,
  });
  await world.api.postOk(`/v1${path}/change/v2/execute`, { target_plan_id: other.id });
  api.clock.set(day('2026-06-02'));
  while ((await world.close())?.['advanced'] !== 0);
  const { body } = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
  const { body: wallets } = await api.get(`/v1/customers/${customer.id}/wallets`);
  return {
    shown: shown.changed_resources.invoices.map((invoice: any) => [invoice.action, invoice.amount]),
    discounts: body.items
      .toReversed()
      .map((invoice: any) => `${invoice.billing_reason} ${invoice.total_discount}`),
    credit: wallets.map(({ balance }: any) => balance),
  };
}

describe('a coupon that counts once and a change within a period (billing 5.3, 7.2)', () => {
  test('a change that is credited has no invoice, so the coupon is left for the next one', async () => {
    const changed = await changing('40');
    // 50.00 back, 20.00 for the rest of the month.
    expect(changed.credit).toEqual(['30']);
    expect(changed.shown).toEqual([['wallet_credit', '30']]);
    expect(changed.discounts).toEqual([
      'SUBSCRIPTION_CREATE 0',
      'SUBSCRIPTION_CYCLE 20',
      'SUBSCRIPTION_CYCLE 0',
    ]);
  });

  test('an invoice that would be a credit with the coupon is issued without it', async () => {
    const changed = await changing('150');
    expect(changed).toMatchObject({ credit: [], shown: [['created', '25']] });
    expect(changed.discounts).toEqual([
      'SUBSCRIPTION_CREATE 0',
      'SUBSCRIPTION_UPDATE 0',
      'SUBSCRIPTION_CYCLE 75',
      'SUBSCRIPTION_CYCLE 0',
    ]);
  });

  test('an invoice of the change uses it', async () => {
    const changed = await changing('300');
    expect(changed).toMatchObject({ credit: [], shown: [['created', '25']] });
    expect(changed.discounts).toEqual([
      'SUBSCRIPTION_CREATE 0',
      'SUBSCRIPTION_UPDATE 75',
      'SUBSCRIPTION_CYCLE 0',
      'SUBSCRIPTION_CYCLE 0',
    ]);
  });
});
