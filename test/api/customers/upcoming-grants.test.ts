import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());

const START = '2026-03-01T00:00:00.000Z';
const NEVER = { expiration_type: 'NEVER' };
const monthly = { ...NEVER, cadence: 'RECURRING', period: 'MONTHLY', period_count: 1 };
const once = { ...NEVER, cadence: 'ONETIME' };

const planWithFee = async () => {
  const plan = await catalog.plan();
  await catalog.fixed(plan, '1');
  return plan;
};
const template = async (plan: { id: string }, more: object) => {
  const grant = { scope: 'PLAN', plan_id: plan.id, credits: '10', ...more };
  const answer = await api.post('/v1/creditgrants', grant);
  expect(answer.status).toBe(201);
  return answer.body;
};
const upcoming = async (path: string) => {
  const { status, body } = await api.get(`/v1${path}/grants/upcoming`);
  expect(status).toBe(200);
  expect(body.pagination.total).toBe(body.items.length);
  return body.items;
};
const ofSubscription = ({ id }: { id: string }) => upcoming(`/subscriptions/${id}`);
const ofCustomer = ({ id }: { id: string }) => upcoming(`/customers/${id}`);
const day = ({ scheduled_for }: { scheduled_for: string }) => scheduled_for.slice(0, 10);

describe('the credit grants of a new subscription (money 5.2)', () => {
  test('copies of the plan’s, which begin and end with it; archived templates are not copied', async () => {
    const plan = await planWithFee();
    const yearly = await template(plan, {
      ...monthly,
      name: 'Yearly',
      period: 'ANNUAL',
      credits: '12',
      priority: 3,
      metadata: { a: 'b' },
      expiration_type: 'DURATION',
      expiration_duration: 2,
      expiration_duration_unit: 'MONTH',
    });
    await template(plan, { ...once, name: 'Once' });
    const gone = await template(plan, { ...once, name: 'Gone' });
    await api.delete(`/v1/creditgrants/${gone.id}`);
    const customer = await catalog.customer();
    const end_date = '2031-03-01T00:00:00.000Z';
    const subscription = await catalog.subscribe(customer, plan, { start_date: START, end_date });

    expect(subscription.credit_grants.map(({ name }: any) => name)).toEqual(['Once', 'Yearly']);
    const { id, created_at, updated_at, created_by, updated_by, ...terms } = yearly;
    expect(subscription.credit_grants[1]).toMatchObject({
      ...terms,
      scope: 'SUBSCRIPTION',
      plan_id: plan.id,
      subscription_id: subscription.id,
      start_date: START,
      credit_grant_anchor: START,
      end_date,
    });
    expect(subscription.credit_grants[1].id).not.toBe(id);

    const listed = async (query: string) => (await api.get(`/v1/creditgrants?${query}`)).body.items;
    expect(await listed(`subscription_ids=${subscription.id}`)).toEqual(subscription.credit_grants);
    const templates = await listed(`plan_ids=${plan.id}&status=published`);
    expect(templates.map(({ scope }: any) => scope)).toEqual(['PLAN', 'PLAN']);
    const read = (await api.get(`/v1/plans/${plan.id}`)).body;
    expect(read.credit_grants).toHaveLength(2);
  });

  test('those of the request replace the plan’s, also by none', async () => {
    const plan = await planWithFee();
    await template(plan, { ...once, name: 'Of the plan' });
    const customer = await catalog.customer();
    const grant = { scope: 'SUBSCRIPTION', credits: '7', name: 'Own', ...monthly };
    const own = await catalog.subscribe(customer, plan, {
      start_date: START,
      credit_grants: [grant],
    });
    expect(own.credit_grants).toMatchObject([{ name: 'Own', credits: '7', plan_id: null }]);
    const none = await catalog.subscribe(customer, plan, { credit_grants: [] });
    expect(none.credit_grants).toEqual([]);
    const copied = await catalog.subscribe(customer, plan, { credit_grants: null });
    expect(copied.credit_grants).toMatchObject([{ name: 'Of the plan' }]);
    expect((await api.get(`/v1/subscriptions/${own.id}`)).body.credit_grants).toHaveLength(1);
  });

  test('after a trial: credits wait for its end', async () => {
    const plan = await planWithFee();
    await template(plan, { ...once, name: 'Once' });
    const trial_end = '2027-01-15T00:00:00.000Z';
    const customer = await catalog.customer();
    const trialing = await catalog.subscribe(customer, plan, { trial_end });
    expect(trialing).toMatchObject({
      subscription_status: 'trialing',
      credit_grants: [{ start_date: trial_end }],
    });
    expect(await ofSubscription(trialing)).toMatchObject([
      {
        scheduled_for: trial_end,
        application_reason: 'onetime_credit_grant',
        subscription_status_at_application: 'trialing',
      },
    ]);
  });

  test.each`
    name                      | grant                                                 | path
    ${'another scope'}        | ${{ scope: 'PLAN' }}                                  | ${'credit_grants[1].scope'}
    ${'no period'}            | ${{ cadence: 'RECURRING' }}                           | ${'credit_grants[1].period'}
    ${'too long a period'}    | ${{ cadence: 'RECURRING', period: 'DAILY', period_count: 1201 }} | ${'credit_grants[1].period_count'}
    ${'no credits'}           | ${{ credits: '0' }}                                   | ${'credit_grants[1].credits'}
    ${'a duration of none'}   | ${{ expiration_type: 'DURATION' }}                    | ${'credit_grants[1].expiration_duration'}
    ${'an early start'}       | ${{ start_date: '2026-02-28T00:00:00Z' }}             | ${'credit_grants[1].start_date'}
    ${'a late end'}           | ${{ end_date: '2027-03-02T00:00:00Z' }}               | ${'credit_grants[1].end_date'}
    ${'an anchor outside it'} | ${{ credit_grant_anchor: '2026-02-01T00:00:00Z' }}    | ${'credit_grants[1].credit_grant_anchor'}
    ${'another rate'}         | ${{ conversion_rate: '0.5' }}                         | ${'credit_grants.conversion_rate'}
  `('400: $name', async ({ grant, path }) => {
    const plan = await planWithFee();
    const customer = await catalog.customer();
    const good = { scope: 'SUBSCRIPTION', credits: '7', name: 'Own', ...once };
    const answer = await api.post('/v1/subscriptions', {
      customer_id: customer.id,
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: START,
      end_date: '2027-03-01T00:00:00Z',
      credit_grants: [good, { ...good, ...grant }],
    });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.details[0].path).toBe(path);
    const list = await api.get(`/v1/customers/${customer.id}/entitlements`);
    expect(list.body.subscriptions).toEqual([]);
  }); // prettier-ignore
});

describe('credits that are yet to come (money 5.3, 5.6.4)', () => {
  test('one application of each grant, the soonest first, over the customer’s subscriptions', async () => {
    const plan = await planWithFee();
    await template(plan, { ...monthly, name: 'Yearly', period: 'ANNUAL' });
    await template(plan, { ...monthly, name: 'Monthly' });
    await template(plan, { ...once, name: 'Once' });
    const customer = await catalog.customer();
    const first = await catalog.subscribe(customer, plan, { start_date: START });
    const later = { start_date: '2026-11-20T09:30:00Z' };
    const second = await catalog.subscribe(customer, plan, later);
    await catalog.subscribe(await catalog.customer(), plan, { start_date: START });

    const items = await ofCustomer(customer);
    expect(items.map(day)).toEqual(['2026-12-01', '2026-12-20', '2027-03-01', '2027-11-20']);
    expect(items.map((item: any) => item.subscription_id)).toEqual(
      [first, second, first, second].map(({ id }) => id),
    );
    expect(items[0]).toMatchObject({
      credit_grant_id: first.credit_grants.find(({ name }: any) => name === 'Monthly').id,
      scheduled_for: '2026-12-01T00:00:00.000Z',
      period_start: '2026-12-01T00:00:00.000Z',
      period_end: '2027-01-01T00:00:00.000Z',
      credits: '10',
      application_status: 'pending',
      application_reason: 'recurring_credit_grant',
      subscription_status_at_application: 'active',
      applied_at: null,
      retry_count: 0,
    });
    expect(items[0].id).toMatch(/^cga_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    expect(new Set(items.map(({ id }: any) => id)).size).toBe(4);
    expect(await ofSubscription(first)).toEqual([items[0], items[2]]);
    expect(await ofCustomer(customer)).toEqual(items);
  });

  test('a grant that is added later, one that has ended, and none after a cancellation', async () => {
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, await planWithFee(), {
      start_date: START,
    });
    expect(await ofCustomer(customer)).toEqual([]);
    const add = async (more: object) => {
      const grant = { scope: 'SUBSCRIPTION', subscription_id: subscription.id, credits: '5' };
      const answer = await api.post('/v1/creditgrants', { ...grant, name: 'Added', ...more });
      expect(answer.status).toBe(201);
      return answer.body;
    };
    await add({ ...once, start_date: '2026-06-01T00:00:00Z' });
    expect(await ofSubscription(subscription)).toEqual([]);
    await add({ ...once, start_date: '2028-01-01T00:00:00Z' });
    const withdrawn = await add({ ...once, start_date: '2027-05-01T00:00:00Z' });
    await api.delete(`/v1/creditgrants/${withdrawn.id}`);
    const weekly = await add({ ...monthly, period: 'WEEKLY', start_date: '2026-11-02T00:00:00Z' });
    await add({
      ...monthly,
      start_date: '2026-11-02T00:00:00Z',
      end_date: '2026-12-31T00:00:00Z',
    });
    const found = await ofSubscription(subscription);
    expect(found.map(({ scheduled_for }: any) => scheduled_for.slice(0, 4))).toEqual([
      '2026',
      '2028',
    ]);
    expect(found[0].credit_grant_id).toBe(weekly.id);

    await api.delete(`/v1/creditgrants/${weekly.id}`);
    expect((await ofSubscription(subscription)).map(day)).toEqual(['2028-01-01']);
    await api.post(`/v1/subscriptions/${subscription.id}/cancel`, {
      cancellation_type: 'immediate',
    });
    expect(await ofSubscription(subscription)).toEqual([]);
    expect(await ofCustomer(customer)).toEqual([]);
  });
});
