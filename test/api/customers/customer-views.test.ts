import { startTestApi, type TestApi, type TestCaller } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());

const create = async (path: string, body: object) => {
  const answer = await api.post(`/v1${path}`, body);
  expect(answer.status).toBe(201);
  return answer.body;
};
let count = 0;
const feature = (type: string, more: object = {}) =>
  create('/features', { name: `F ${(count += 1)}`, lookup_key: `f_${count}`, type, ...more });
const meteredFeature = async () => {
  const meter = await catalog.meter({ type: 'COUNT' });
  return await feature('metered', { meter_id: meter.id });
};
const grant = (of: { id: string }, to: object, kind: string, more: object = {}) =>
  create('/entitlements', { feature_id: of.id, feature_type: kind, ...to, ...more });
const planWithFee = async (name?: string) => {
  const plan = await catalog.plan(name);
  await catalog.fixed(plan, '1');
  return plan;
};
const ofPlan = ({ id }: { id: string }) => ({ entity_type: 'PLAN', entity_id: id });
const ofSubscription = ({ id }: { id: string }) => ({ entity_type: 'SUBSCRIPTION', entity_id: id });
const featuresOf = async (path: string, caller: TestCaller = api) =>
  (await caller.get(`/v1${path}`)).body.features;

describe('entitlements over subscriptions (money 6.5 to 6.10)', () => {
  test('metered limits add up, one without a limit makes them unlimited; words are listed once', async () => {
    const calls = await meteredFeature();
    const seats = await feature('static');
    const flag = await feature('boolean');
    const [small, large] = [await planWithFee('Small'), await planWithFee('Large')];
    await grant(calls, ofPlan(small), 'metered', {
      usage_limit: 100,
      usage_reset_period: 'MONTHLY',
    });
    await grant(calls, ofPlan(large), 'metered', {
      usage_limit: 500,
      usage_reset_period: 'MONTHLY',
      is_soft_limit: true,
    });
    for (const plan of [small, large])
      await grant(seats, ofPlan(plan), 'static', { static_value: '25' });
    await grant(flag, ofPlan(large), 'boolean', { is_enabled: true });
    const customer = await catalog.customer();
    const first = await catalog.subscribe(customer, small);
    const second = await catalog.subscribe(customer, large);

    const { body } = await api.get(`/v1/customers/${customer.id}/entitlements`);
    expect(body.customer_id).toBe(customer.id);
    expect(body.subscriptions.map(({ id }: { id: string }) => id)).toEqual([first.id, second.id]);
    const byFeature = new Map<string, any>(body.features.map((row: any) => [row.feature.id, row]));
    expect(byFeature.get(calls.id)).toMatchObject({
      entitlement: {
        is_enabled: true,
        is_soft_limit: true,
        usage_limit: 600,
        usage_reset_period: 'MONTHLY',
        static_values: [],
        aggregation_mode: 'additive',
      },
      sources: [
        { subscription_id: first.id, entity_type: 'plan', entity_id: small.id, entity_name: 'Small', quantity: 1, usage_limit: 100 },
        { subscription_id: second.id, entity_type: 'plan', entity_id: large.id, entity_name: 'Large', quantity: 1, usage_limit: 500 },
      ],
    }); // prettier-ignore
    expect(byFeature.get(seats.id)).toMatchObject({
      entitlement: { static_values: ['25'], usage_limit: null, usage_reset_period: null },
      sources: [{ static_value: '25' }, { static_value: '25' }],
    });
    expect(byFeature.get(flag.id).entitlement).toMatchObject({ is_enabled: true });

    const external = await api.get(`/v1/customers/external/${customer.external_id}/entitlements`);
    expect(external.body).toEqual(body);
    const one = `/customers/${customer.id}/entitlements?subscription_ids=${first.id},x&feature_ids=${calls.id}`;
    const { body: filtered } = await api.get(`/v1${one}`);
    expect(filtered.subscriptions).toHaveLength(1);
    expect(filtered.features).toMatchObject([{ entitlement: { usage_limit: 100 } }]);
    expect(await featuresOf(`/customers/${customer.id}/entitlements?feature_ids=none`)).toEqual([]);

    const own = (await api.get(`/v1/subscriptions/${first.id}/entitlements`)).body;
    expect(own).toMatchObject({ subscription_id: first.id, plan_id: small.id });
    expect(own.features).toHaveLength(2);
    const narrowed = `/subscriptions/${first.id}/entitlements?feature_ids=${seats.id}`;
    expect(await featuresOf(narrowed)).toHaveLength(1);

    const plain = await catalog.subscribe(customer, await planWithFee('Plain'));
    const list = async (expand: string) => {
      const { items } = await api.postOk('/v1/subscriptions/search', {
        customer_id: customer.id,
        expand,
      });
      return items.map(({ id, entitlements }: any) => [id, entitlements]);
    };
    const granted = await Promise.all(
      [first, second].map(async ({ id }) => [
        id,
        await featuresOf(`/subscriptions/${id}/entitlements`),
      ]),
    );
    expect((await list('entitlements')).toReversed()).toEqual([...granted, [plain.id, null]]);
    expect((await list('plan')).map(([, entitlements]: any) => entitlements)).toEqual([
      null,
      null,
      null,
    ]);
    const { body: alone } = await api.get(`/v1/subscriptions/${first.id}/v2?expand=entitlements`);
    expect(alone.entitlements).toEqual(own.features);

    const unlimited = await planWithFee('Unlimited');
    await grant(calls, ofPlan(unlimited), 'metered', { usage_reset_period: 'MONTHLY' });
    await catalog.subscribe(customer, unlimited);
    const all = await featuresOf(`/customers/${customer.id}/entitlements?feature_ids=${calls.id}`);
    expect(all).toMatchObject([{ entitlement: { usage_limit: null }, sources: [{}, {}, {}] }]);
  });

  test("a subscription's own entitlement replaces its parent, adds without one, and holds between its dates", async () => {
    const [calls, more] = [await meteredFeature(), await meteredFeature()];
    const plan = await planWithFee('P');
    const monthly = { usage_reset_period: 'MONTHLY' };
    const parent = await grant(calls, ofPlan(plan), 'metered', { ...monthly, usage_limit: 100 });
    await grant(more, ofPlan(plan), 'metered', { ...monthly, usage_limit: 10 });
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan);
    await grant(calls, ofSubscription(subscription), 'metered', {
      ...monthly,
      usage_limit: 0,
      parent_entitlement_id: parent.id,
    });
    await grant(more, ofSubscription(subscription), 'metered', {
      ...monthly,
      usage_limit: 5,
      start_date: '2026-11-01T00:00:00Z',
      end_date: '2026-11-30T00:00:00Z',
    });
    const path = `/subscriptions/${subscription.id}/entitlements`;
    const limits = async () =>
      Object.fromEntries(
        (await featuresOf(path)).map((row: any) => [row.feature.id, row.entitlement.usage_limit]),
      );
    expect(await limits()).toEqual({ [calls.id]: 0, [more.id]: 15 });
    const [replaced] = await featuresOf(`${path}?feature_ids=${calls.id}`);
    expect(replaced.sources).toMatchObject([{ entity_type: 'subscription', entity_name: '' }]);
    api.clock.set('2026-11-30T00:00:00.000Z');
    expect(await limits()).toEqual({ [calls.id]: 0, [more.id]: 10 });
    api.clock.set('2026-11-21T12:00:00.000Z');
  });

  test('disabled ones do not exist, and a cancelled subscription grants nothing', async () => {
    const [flag, other] = [await feature('boolean'), await feature('boolean')];
    const plan = await planWithFee();
    await grant(flag, ofPlan(plan), 'boolean', { is_enabled: false });
    await grant(other, ofPlan(plan), 'boolean', { is_enabled: true });
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan);
    const path = `/customers/${customer.id}/entitlements`;
    expect((await featuresOf(path)).map((row: any) => row.feature.id)).toEqual([other.id]);
    await api.post(`/v1/subscriptions/${subscription.id}/cancel`, {
      cancellation_type: 'immediate',
    });
    const { body } = await api.get(`/v1${path}`);
    expect([body.subscriptions, body.features]).toEqual([[], []]);
    expect(await featuresOf(`/subscriptions/${subscription.id}/entitlements`)).toEqual([]);
  });
});

test("a customer's subscriptions by external id, with the number of all of them", async () => {
  const plan = await planWithFee();
  const customer = await catalog.customer();
  for (let index = 0; index < 3; index++) await catalog.subscribe(customer, plan);
  await catalog.subscribe(await catalog.customer(), plan);
  const path = `/v1/customers/external/${customer.external_id}/subscriptions`;
  const { body } = await api.get(`${path}?limit=2&expand=customer`);
  expect(body.pagination).toEqual({ total: 3, limit: 2, offset: 2 });
  expect(body.items).toMatchObject([
    { customer_id: customer.id, customer: { id: customer.id } },
    { customer_id: customer.id },
  ]);
  expect((await api.get(`${path}?expand=nope`)).status).toBe(400);
  expect((await api.get(`${path}?limit=0`)).status).toBe(400);
});

describe('the summary of invoices', () => {
  const summary = async (id: string) =>
    (await api.get(`/v1/customers/${id}/invoices/summary`)).body;
  const zero = {
    total_revenue_amount: '0', total_unpaid_amount: '0', total_overdue_amount: '0',
    unpaid_usage_charges: '0', unpaid_fixed_charges: '0',
    total_invoice_count: 0, unpaid_invoice_count: 0, overdue_invoice_count: 0,
  }; // prettier-ignore

  test('nothing at all: no currency; a billing currency shows itself', async () => {
    const none = await catalog.customer();
    const id = none.id;
    expect(await summary(id)).toEqual({ customer_id: id, default_currency: '', summaries: [] });
    const euro = await catalog.customer({ billing_currency: 'EUR' });
    expect(await summary(euro.id)).toEqual({
      customer_id: euro.id,
      default_currency: 'eur',
      summaries: [{ customer_id: euro.id, currency: 'eur', ...zero }],
    });
  });

  test('an open invoice is unpaid, then overdue; drafts and voided ones do not count', async () => {
    const plan = await catalog.plan();
    await catalog.fixed(plan, '120');
    const customer = await catalog.customer();
    await catalog.subscribe(customer, plan);
    const open = {
      ...zero,
      total_revenue_amount: '120',
      total_unpaid_amount: '120',
      unpaid_fixed_charges: '120',
      total_invoice_count: 1,
      unpaid_invoice_count: 1,
    };
    expect(await summary(customer.id)).toMatchObject({
      default_currency: 'usd',
      summaries: [{ currency: 'usd', ...open }],
    });
    api.clock.set('2026-12-10T12:00:00.000Z');
    expect((await summary(customer.id)).summaries).toMatchObject([
      { ...open, total_overdue_amount: '120', overdue_invoice_count: 1 },
    ]);
    api.clock.set('2026-11-21T12:00:00.000Z');
    const { body } = await api.post('/v1/invoices/search', { customer_id: customer.id });
    await api.post(`/v1/invoices/${body.items[0].id}/void`);
    expect((await summary(customer.id)).summaries).toMatchObject([zero]);
  });

  test('what is open is split into usage and fixed charges that add up, by what is still owed', async () => {
    const plan = await catalog.plan();
    await catalog.fixed(plan, '120');
    const customer = await catalog.customer();
    await catalog.subscribe(customer, plan);
    const [invoice] = (await api.post('/v1/invoices/search', { customer_id: customer.id })).body
      .items;
    // 40 of the fee were paid; usage is 30, less a discount of 5.
    const [line] = invoice.line_items;
    await api.pool`
      update invoices set total = 145, amount_due = 145, amount_paid = 40, amount_remaining = 105
       where id = ${invoice.id}`;
    await api.pool`
      insert into invoice_line_items
        (id, tenant_id, environment_id, invoice_id, customer_id, subscription_id, kind, position, price_type,
         currency, quantity, amount, line_item_discount, holds_slot)
      select id || '_usage', tenant_id, environment_id, invoice_id, customer_id, subscription_id, kind, 9,
             'USAGE', currency, 1, 30, 5, false from invoice_line_items where id = ${line.id}`;
    expect((await summary(customer.id)).summaries).toMatchObject([
      {
        total_revenue_amount: '145',
        total_unpaid_amount: '105',
        unpaid_usage_charges: '25',
        unpaid_fixed_charges: '80',
      },
    ]);
    // Less is open than the usage came to: all of it is usage, never more than is open.
    await api.pool`update invoices set amount_paid = 135, amount_remaining = 10 where id = ${invoice.id}`;
    expect((await summary(customer.id)).summaries).toMatchObject([
      { total_unpaid_amount: '10', unpaid_usage_charges: '10', unpaid_fixed_charges: '0' },
    ]);
    await api.pool`delete from invoice_line_items where id = ${`${line.id}_usage`}`;
    await api.pool`
      update invoices set total = 120, amount_due = 120, amount_paid = 0, amount_remaining = 120
       where id = ${invoice.id}`;
  });

  test('invoices alone have a currency, without any subscription', async () => {
    const plan = await catalog.plan();
    await catalog.fixed(plan, '7');
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan);
    await api.post(`/v1/subscriptions/${subscription.id}/cancel`, {
      cancellation_type: 'immediate',
    });
    expect(await summary(customer.id)).toMatchObject({
      default_currency: 'usd',
      summaries: [{ total_revenue_amount: '7' }],
    });
  });
});

describe('wallets and upcoming grants', () => {
  test('200: bare lists, and a page', async () => {
    const customer = await catalog.customer();
    expect((await api.get(`/v1/customers/${customer.id}/wallets`)).body).toEqual([]);
    const by = (query: string) => api.get(`/v1/customers/wallets${query}`);
    expect((await by(`?id=${customer.id}`)).body).toEqual([]);
    const query = `?lookup_key=${customer.external_id}&include_real_time_balance=true&from_cache=false`;
    expect((await by(query)).body).toEqual([]);
    const expand = 'expand=credits_available_breakdown';
    expect((await by(`?id=${customer.id}&${expand}`)).body).toEqual([]);
    expect((await api.get(`/v1/customers/${customer.id}/wallets?${expand}`)).body).toEqual([]);
    const empty = { items: [], pagination: { total: 0, limit: 50, offset: 50 } };
    expect((await api.get(`/v1/customers/${customer.id}/grants/upcoming`)).body).toEqual(empty);
    const subscription = await catalog.subscribe(customer, await planWithFee());
    const path = `/v1/subscriptions/${subscription.id}/grants/upcoming`;
    expect((await api.get(path)).body).toEqual(empty);
  });

  test('400: neither name, both names, an unknown expand', async () => {
    const { id, external_id } = await catalog.customer();
    for (const path of [
      '/wallets',
      `/wallets?id=${id}&lookup_key=${external_id}`,
      `/wallets?id=${id}&expand=nope`,
      `/wallets?id=${id}&include_real_time_balance=maybe`,
      `/${id}/wallets?expand=nope`,
    ])
      expect((await api.get(`/v1/customers${path}`)).status).toBe(400);
  });
});

test('404: every view of a customer or subscription that is not there', async () => {
  const missing = [
    '/customers/cust_missing/entitlements',
    '/customers/cust_missing/grants/upcoming',
    '/customers/cust_missing/invoices/summary',
    '/customers/cust_missing/wallets',
    '/customers/wallets?id=cust_missing',
    '/customers/wallets?lookup_key=nobody',
    '/customers/external/nobody/entitlements',
    '/customers/external/nobody/subscriptions',
    '/subscriptions/subs_missing/entitlements',
    '/subscriptions/subs_missing/grants/upcoming',
    '/subscriptions/subs_missing/v2',
  ];
  for (const path of missing) expect((await api.get(`/v1${path}`)).status).toBe(404);
});

test('a subscription in its second form embeds the requested records, and reports whether it is behind its plan', async () => {
  const plan = await catalog.plan();
  await catalog.fixed(plan, '10');
  const customer = await catalog.customer();
  const { id } = await catalog.subscribe(customer, plan);
  const read = async (query = '') => (await api.get(`/v1/subscriptions/${id}/v2${query}`)).body;
  expect(await read()).toMatchObject({
    id,
    plan: null,
    customer: null,
    line_items: null,
    plan_prices_out_of_sync: false,
  });
  expect(await read('?expand=plan,customer,subscription_line_items,prices')).toMatchObject({
    plan: { id: plan.id },
    customer: { id: customer.id },
    line_items: [{ price: { amount: '10' } }],
  });
  await catalog.fixed(plan, '5');
  expect((await read()).plan_prices_out_of_sync).toBe(true);
  expect((await api.get(`/v1/subscriptions/${id}/v2?expand=nope`)).status).toBe(400);
});
