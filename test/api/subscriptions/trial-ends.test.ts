import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

const world = billingWorldFrom(day('2026-04-13'));

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

describe('customers who inherit a subscription follow its trial (billing 16, 10.4)', () => {
  const following = async (params: object) => {
    const { catalog, api } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '100');
    const heir = await catalog.customer();
    const parent = await catalog.subscribe(await catalog.customer(), plan, {
      start_date: day('2026-04-01'),
      trial_end: day('2026-04-20'),
      inheritance: { external_customer_ids_to_inherit_subscription: [heir.external_id] },
    });
    const path = `/v1/subscriptions/${parent.id}/modify/execute`;
    const body = { type: 'trial_end', trial_end_params: params };
    expect(await api.post(path, body)).toMatchObject({ status: 200 });
    const found = await api.post('/v1/subscriptions/search', {
      ...{ customer_id: heir.id, subscription_status: ['trialing', 'active'] },
    });
    const [child] = found.body.items;
    const timesOf = async ({ id }: { id: string }) => {
      const { body: read } = await api.get(`/v1/subscriptions/${id}`);
      const { subscription_status, trial_end, current_period_start, current_period_end } = read;
      return [subscription_status, trial_end, current_period_start, current_period_end];
    };
    const invoices = await api.post('/v1/invoices/search', { subscription_id: child.id });
    expect(invoices.body.items).toEqual([]);
    return {
      child: await timesOf(child),
      parent: await timesOf(parent),
      ids: { child, parent },
      timesOf,
    };
  };

  test('if it ends now', async () => {
    const { child, parent } = await following({ action: 'immediate' });
    const [now, next] = [day('2026-04-13'), day('2026-05-13')];
    expect(parent).toEqual(['active', now, now, next]);
    expect(child).toEqual(parent);
  });

  test('if it ends later', async () => {
    const later = day('2026-05-25');
    const { child, parent, ids, timesOf } = await following({
      ...{ action: 'scheduled_date', new_trial_end: later },
    });
    expect(parent).toEqual(['trialing', later, day('2026-04-01'), later]);
    expect(child).toEqual(parent);
    world.api.clock.set(later);
    await world.close();
    const after = await timesOf(ids.parent);
    expect(after).toEqual(['active', later, later, day('2026-06-25')]);
    expect(await timesOf(ids.child)).toEqual(after);
  });
});

describe('credits that wait for the end of a trial (money 5.2.1)', () => {
  test('those whose first period no longer fits are given if the end moves back', async () => {
    const { catalog, api } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '100');
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, {
      ...{ start_date: day('2026-04-01'), trial_end: day('2026-04-20') },
      end_date: day('2026-06-01'),
      credit_grants: [
        {
          ...{ name: 'Grant', scope: 'SUBSCRIPTION', credits: '10', expiration_type: 'NEVER' },
          ...{ cadence: 'RECURRING', period: 'MONTHLY', period_count: 1 },
        },
      ],
    });
    const balances = async () =>
      (await api.get(`/v1/customers/${customer.id}/wallets`)).body.map((one: any) => one.balance);
    for (const date of ['2026-05-20', '2026-04-20']) {
      const trial_end_params = { action: 'scheduled_date', new_trial_end: day(date) };
      const body = { type: 'trial_end', trial_end_params };
      const answer = await api.post(`/v1/subscriptions/${subscription.id}/modify/execute`, body);
      expect(answer).toMatchObject({ status: 200 });
    }
    expect(await balances()).toEqual([]);
    api.clock.set(day('2026-04-20'));
    await world.close();
    await world.run('apply-credit-grants');
    expect(await balances()).toEqual(['10']);
  });
});

describe('a cancellation at the end of a trial follows that end (billing 10.4, 13)', () => {
  test.each([
    ['now', { action: 'immediate' }, '2026-04-13'],
    ['earlier', { action: 'scheduled_date', new_trial_end: day('2026-04-16') }, '2026-04-16'],
    ['later', { action: 'scheduled_date', new_trial_end: day('2026-05-25') }, '2026-05-25'],
  ])('if it ends %s; nothing is charged', async (_, params, end) => {
    const { catalog, api } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '100');
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      ...{ start_date: day('2026-04-01'), trial_end: day('2026-04-20') },
    });
    const path = `/v1/subscriptions/${subscription.id}`;
    await api.post(`${path}/cancel`, { cancellation_type: 'end_of_period' });
    const body = { type: 'trial_end', trial_end_params: params };
    for (const how of ['preview', 'execute']) {
      const answer = await api.post(`${path}/modify/${how}`, body);
      expect(answer).toMatchObject({
        status: 200,
        body: { changed_resources: { invoices: [] } },
      });
    }
    if (day(end) > new Date(api.clock.now()).toISOString()) {
      const { body: schedules } = await api.get(`${path}/schedules`);
      expect(schedules).toMatchObject({ schedules: [{ scheduled_at: day(end) }] });
      expect((await api.get(path)).body).toMatchObject({
        ...{ subscription_status: 'trialing', cancel_at: day(end), current_period_end: day(end) },
      });
    }
    for (const time of [...new Set([end, '2026-04-20', '2026-05-25'])].sort()) {
      api.clock.set(day(time));
      await world.close();
    }
    expect((await api.get(path)).body).toMatchObject({
      ...{ subscription_status: 'cancelled', cancelled_at: day(end), end_date: day(end) },
    });
    const { body: search } = await api.post('/v1/invoices/search', {
      subscription_id: subscription.id,
    });
    expect(search.items.filter(({ subtotal }: any) => subtotal !== '0')).toEqual([]);
  });
});
