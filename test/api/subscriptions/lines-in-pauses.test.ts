import { billingWorldFrom, type BillingWorld } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

const world = billingWorldFrom(day('2026-01-01'));

type Line = (body: object) => ReturnType<BillingWorld['api']['post']>;

/** 31.00 a month in advance from 1 January, paused on 11 January; it is 16 January. `before` happens on 5 January. */
async function pausedOnThe11th(
  more: object = {},
  before: (known: { subscription: any; base: any; add: Line }) => Promise<void> = async () => {},
) {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  const base = await catalog.fixed(plan, '31', { display_name: 'Base' });
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('2026-01-01'),
    proration_behavior: 'create_prorations',
    ...more,
  });
  const add: Line = (body) =>
    api.post(`/v1/subscriptions/${subscription.id}/lineitems`, {
      price: { type: 'FIXED', amount: '62', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', billing_cadence: 'RECURRING', price_unit_type: 'FIAT', display_name: 'Extra', invoice_cadence: 'ADVANCE' }, // prettier-ignore
      ...body,
    });
  api.clock.set(day('2026-01-05'));
  await before({ subscription, base, add });
  api.clock.set(day('2026-01-11'));
  expect(await api.post(`/v1/subscriptions/${subscription.id}/pause`, {})).toMatchObject({ status: 200 }); // prettier-ignore
  api.clock.set(day('2026-01-16'));
  const rows = async () => {
    const { body } = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
    return body.items
      .sort((left: any, right: any) => left.created_at.localeCompare(right.created_at))
      .flatMap((invoice: any) =>
        invoice.line_items.map(
          (row: any) => `${invoice.billing_reason} ${row.display_name} ${row.amount} ${row.period_start.slice(5, 10)}..${row.period_end.slice(5, 10)}`, // prettier-ignore
        ),
      );
  };
  return { subscription, customer, base, rows, add };
}

describe('lines that change in a pause, in which nothing is invoiced (billing 12.3)', () => {
  test('an advance that would be charged at once is refused; after the resumption it is charged', async () => {
    const { subscription, rows, add } = await pausedOnThe11th();
    const before = await rows();
    expect(await add({ start_date: day('2026-01-16') })).toMatchObject({
      status: 400,
      body: { details: [{ path: 'subscription_status' }] },
    });
    expect(await rows()).toEqual(before);
    world.api.clock.set(day('2026-01-21'));
    await world.api.post(`/v1/subscriptions/${subscription.id}/resume`, {});
    expect(await add({ start_date: day('2026-01-21') })).toMatchObject({ status: 201 });
    expect((await rows()).at(-1)).toBe('SUBSCRIPTION_UPDATE Extra 42 01-21..02-11');
  });

  test('what is not charged at once is added', async () => {
    const { subscription, rows, add } = await pausedOnThe11th();
    const start_date = day('2026-01-16');
    expect(await add({ start_date, proration_behavior: 'none' })).toMatchObject({ status: 201 });
    world.api.clock.set(day('2026-01-21'));
    await world.api.post(`/v1/subscriptions/${subscription.id}/resume`, {});
    world.api.clock.set(day('2026-02-11'));
    await world.close();
    expect((await rows()).slice(1)).toEqual([
      'SUBSCRIPTION_CYCLE Base 31 02-11..03-11',
      'SUBSCRIPTION_CYCLE Extra 62 02-11..03-11',
    ]);
  });

  test.each([
    ['a period that becomes longer', 'anniversary', '21', ['21']],
    ['a calendar, where the resumption credits the pause', 'calendar', '16', ['21']],
  ])('a line that ends returns its advance, in %s', async (_, billing_cycle, now, resumed) => {
    const { subscription, customer } = await pausedOnThe11th({ billing_cycle });
    const [line] = (await world.api.get(`/v1/subscriptions/${subscription.id}`)).body.line_items;
    const path = `/v1/subscriptions/lineitems/${line.id}`;
    const balances = async () => {
      const { body } = await world.api.get(`/v1/customers/${customer.id}/wallets`);
      return body.map((wallet: any) => wallet.balance);
    };
    expect(await world.api.delete(path, {})).toMatchObject({ status: 200 });
    expect(await balances()).toEqual([now]);
    world.api.clock.set(day('2026-01-21'));
    await world.api.post(`/v1/subscriptions/${subscription.id}/resume`, {});
    expect(await balances()).toEqual(resumed);
  });

  test('a line that is paid in advance ends now, or after the resumption', async () => {
    const { subscription } = await pausedOnThe11th();
    const [line] = (await world.api.get(`/v1/subscriptions/${subscription.id}`)).body.line_items;
    const path = `/v1/subscriptions/lineitems/${line.id}`;
    const later = { effective_from: day('2026-01-25') };
    const refusal = { status: 400, body: { details: [{ path: 'subscription_status' }] } };
    expect(await world.api.delete(path, later)).toMatchObject(refusal);
    world.api.clock.set(day('2026-01-21'));
    await world.api.post(`/v1/subscriptions/${subscription.id}/resume`, {});
    expect(await world.api.delete(path, later)).toMatchObject({ status: 200 });
  });

  test('without prorations nothing returns, and a line may end later', async () => {
    const { subscription, customer } = await pausedOnThe11th();
    const [line] = (await world.api.get(`/v1/subscriptions/${subscription.id}`)).body.line_items;
    const end = { effective_from: day('2026-01-25'), proration_behavior: 'none' };
    const answer = await world.api.delete(`/v1/subscriptions/lineitems/${line.id}`, end);
    expect(answer).toMatchObject({ status: 200, body: { end_date: end.effective_from } });
    expect((await world.api.get(`/v1/customers/${customer.id}/wallets`)).body).toEqual([]);
  });

  test('an addon that is removed returns its advance from the start of the pause on', async () => {
    const { catalog, api } = world;
    const addon = (await api.post('/v1/addons', { name: 'Extra', lookup_key: 'extra' })).body;
    await catalog.fixed(addon, '62', { entity_type: 'ADDON', display_name: 'Extra' });
    const { subscription, customer } = await pausedOnThe11th({ addons: [{ addon_id: addon.id }] });
    const { body } = await api.get(`/v1/subscriptions/${subscription.id}/addons/associations`);
    const remove = { addon_association_id: body.items[0].id, effective_date: day('2026-01-16') };
    const modification = { type: 'addon', addon_params: { action: 'remove', remove } };
    const path = `/v1/subscriptions/${subscription.id}/modify`;
    const shown = await api.post(`${path}/preview`, modification);
    const made = await api.post(`${path}/execute`, modification);
    for (const { status, body } of [shown, made])
      expect([status, body.changed_resources.invoices]).toMatchObject([
        200,
        [{ action: 'wallet_credit', amount: '42' }],
      ]);
    const wallets = (await api.get(`/v1/customers/${customer.id}/wallets`)).body;
    expect(wallets.map((wallet: any) => wallet.balance)).toEqual(['42']);
  });
});

describe('lines that begin or end after the start of a pause that makes the period longer (billing 12.4)', () => {
  /** Another line of 62.00 a month, and when it was added; the pause is over on 21 January. */
  const resumed = async (subscription: { id: string }) => {
    world.api.clock.set(day('2026-01-21'));
    const answer = await world.api.post(`/v1/subscriptions/${subscription.id}/resume`, {});
    expect(answer).toMatchObject({ status: 200 });
  };
  const balances = async ({ id }: { id: string }) =>
    (await world.api.get(`/v1/customers/${id}/wallets`)).body.map((wallet: any) => wallet.balance);

  test('one that was to begin after the period is charged for its end at the resumption', async () => {
    const { subscription, rows, add } = await pausedOnThe11th();
    expect(await add({ start_date: day('2026-02-05') })).toMatchObject({ status: 201 });
    await resumed(subscription);
    world.api.clock.set(day('2026-02-11'));
    await world.close();
    expect((await rows()).slice(1)).toEqual([
      'SUBSCRIPTION_UPDATE Extra 12 02-05..02-11',
      'SUBSCRIPTION_CYCLE Base 31 02-11..03-11',
      'SUBSCRIPTION_CYCLE Extra 62 02-11..03-11',
    ]);
  });

  test('one that begins after the pause is charged for the days that it serves more', async () => {
    const { subscription, rows } = await pausedOnThe11th({}, async ({ add }) => {
      expect(await add({ start_date: day('2026-01-25') })).toMatchObject({ status: 201 });
    });
    await resumed(subscription);
    expect((await rows()).slice(1)).toEqual([
      'SUBSCRIPTION_UPDATE Extra 14 01-25..02-01',
      'SUBSCRIPTION_UPDATE Extra 20 02-01..02-11',
    ]);
  });

  test('one that ends after the period returns its end at the resumption', async () => {
    const { subscription, customer, base } = await pausedOnThe11th();
    await endBase(subscription, base, day('2026-02-05'));
    expect(await balances(customer)).toEqual([]);
    await resumed(subscription);
    expect(await balances(customer)).toEqual(['6']);
  });

  test('one that ends after the pause returns the days that it serves less', async () => {
    const { subscription, customer } = await pausedOnThe11th({}, async ({ subscription, base }) => {
      await endBase(subscription, base, day('2026-01-25'));
    });
    expect(await balances(customer)).toEqual(['7']);
    await resumed(subscription);
    expect(await balances(customer)).toEqual(['17']);
  });

  test('one that changed without prorations stays as it was settled', async () => {
    const { subscription, customer, rows } = await pausedOnThe11th(
      {},
      async ({ subscription, base, add }) => {
        const none = { proration_behavior: 'none' };
        expect(await add({ start_date: day('2026-01-25'), ...none })).toMatchObject({
          status: 201,
        });
        await endBase(subscription, base, day('2026-01-26'), none);
      },
    );
    await resumed(subscription);
    expect((await rows()).slice(1)).toEqual([]);
    expect(await balances(customer)).toEqual([]);
  });

  test('one that was added without prorations for a time too short to cost anything stays so', async () => {
    const { subscription, rows } = await pausedOnThe11th({}, async ({ add }) => {
      const short = { start_date: '2026-01-31T23:59:59.000Z', proration_behavior: 'none' };
      expect(await add(short)).toMatchObject({ status: 201 });
    });
    await resumed(subscription);
    expect((await rows()).slice(1)).toEqual([]);
  });

  test('one that was added with prorations for such a time is charged for the days that it serves more', async () => {
    const { subscription, rows } = await pausedOnThe11th({}, async ({ add }) => {
      expect(await add({ start_date: '2026-01-31T23:59:59.000Z' })).toMatchObject({ status: 201 });
    });
    await resumed(subscription);
    expect((await rows()).slice(1)).toEqual(['SUBSCRIPTION_UPDATE Extra 20 02-01..02-11']);
  });

  async function endBase(
    subscription: { id: string },
    base: { id: string },
    effective_from: string,
    more: object = {},
  ) {
    const { line_items } = (await world.api.get(`/v1/subscriptions/${subscription.id}`)).body;
    const { id } = line_items.find((line: any) => line.price_id === base.id);
    const answer = await world.api.delete(`/v1/subscriptions/lineitems/${id}`, {
      effective_from,
      ...more,
    });
    expect(answer).toMatchObject({ status: 200 });
  }
});

describe('a fee of shorter cells whose later ones a pause has moved (billing 5.3, 12.4)', () => {
  test('returns what was billed of them', async () => {
    const { catalog, api } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '90', { billing_period: 'QUARTERLY', display_name: 'Quarter' });
    const monthly = await catalog.fixed(plan, '31', { display_name: 'Month' });
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, {
      ...{ start_date: day('2026-01-01'), billing_period: 'QUARTERLY' },
      ...{ include_price_ids: [monthly.id], proration_behavior: 'create_prorations' },
    });
    api.clock.set(day('2026-01-11'));
    await api.post(`/v1/subscriptions/${subscription.id}/pause`, {});
    api.clock.set(day('2026-01-21'));
    await api.post(`/v1/subscriptions/${subscription.id}/resume`, {});
    api.clock.set(day('2026-02-11'));
    const cancel = { cancellation_type: 'immediate', cancel_at: day('2026-02-11') };
    const answer = await api.post(`/v1/subscriptions/${subscription.id}/cancel`, cancel);
    expect(answer).toMatchObject({ status: 200 });
    const wallets = (await api.get(`/v1/customers/${customer.id}/wallets`)).body;
    // Of three months that were paid, the second and the third.
    expect(wallets.map((wallet: any) => wallet.balance)).toEqual(['62']);
  });

  test('a line that ended without prorations a second before its period is not settled by the resumption', async () => {
    const { subscription, customer } = await pausedOnThe11th({}, async ({ subscription }) => {
      const [line] = subscription.line_items;
      const end = { effective_from: '2026-01-31T23:59:59.000Z', proration_behavior: 'none' };
      const path = `/v1/subscriptions/lineitems/${line.id}`;
      expect(await world.api.delete(path, end)).toMatchObject({ status: 200 });
    });
    world.api.clock.set(day('2026-01-21'));
    await world.api.post(`/v1/subscriptions/${subscription.id}/resume`, {});
    expect((await world.api.get(`/v1/customers/${customer.id}/wallets`)).body).toEqual([]);
  });

  test('in a pause from the end of a period, a line begins with the pause at the earliest: before it, all is billed', async () => {
    const { catalog, api } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '31', { display_name: 'Base' });
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      start_date: day('2026-01-01'),
    });
    const path = `/v1/subscriptions/${subscription.id}`;
    api.clock.set(day('2026-01-20'));
    await api.post(`${path}/pause`, { pause_mode: 'period_end' });
    api.clock.set(day('2026-02-01'));
    await world.close();
    api.clock.set(day('2026-02-05'));
    const price = { type: 'FIXED', amount: '62', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', billing_cadence: 'RECURRING', price_unit_type: 'FIAT', display_name: 'Extra', invoice_cadence: 'ARREAR' }; // prettier-ignore
    const early = await api.post(`${path}/lineitems`, { price, start_date: day('2026-01-15') });
    expect(early).toMatchObject({ status: 400, body: { details: [{ path: 'start_date' }] } });
    const added = await api.post(`${path}/lineitems`, { price });
    expect(added).toMatchObject({ status: 201, body: { start_date: day('2026-02-01') } });
    const end = { effective_from: day('2026-01-15') };
    const ended = await api.delete(
      `/v1/subscriptions/lineitems/${subscription.line_items[0].id}`,
      end,
    );
    expect(ended).toMatchObject({ status: 400, body: { details: [{ path: 'effective_from' }] } });
  });
});
