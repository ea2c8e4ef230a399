import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

/** The calendar of grants: when a period begins, when its credits expire, and which terms are refused (money 5). */
let api: TestApi;
let catalog: TestCatalog;
let plan: { id: string };
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
  plan = await catalog.plan();
  await catalog.fixed(plan, '1');
});
afterAll(() => api.close());
beforeEach(() => api.clock.set('2026-11-21T12:00:00.000Z'));

const monthly = (more: object = {}) => ({
  name: 'Grant',
  scope: 'SUBSCRIPTION',
  credits: '10',
  cadence: 'RECURRING',
  period: 'MONTHLY',
  period_count: 1,
  expiration_type: 'NEVER',
  ...more,
});
async function subscribed(grants: object[], more: object = {}) {
  const customer = await catalog.customer();
  const sent = { customer_id: customer.id, plan_id: plan.id, currency: 'usd', ...more };
  const answer = await api.post('/v1/subscriptions', {
    ...sent,
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    credit_grants: grants,
  });
  return { customer, ...answer };
}
const creditsOf = async (customer: { id: string }): Promise<any[]> => {
  const { body } = await api.post('/v1/wallets/transactions/search', {
    customer_id: customer.id,
    limit: 1000,
  });
  return body.items;
};
const upcoming = async (subscription: { id: string }): Promise<any[]> =>
  (await api.get(`/v1/subscriptions/${subscription.id}/grants/upcoming`)).body.items;
const NEW_YORK = { customer_timezone: 'America/New_York' };
const expiries = async (grant: object, start_date: string, more: object = {}) => {
  const { customer, status } = await subscribed([monthly(grant)], { start_date, ...more });
  expect(status).toBe(201);
  return (await creditsOf(customer)).map(({ expiry_date }) => expiry_date).reverse();
};

test('months are counted from the anchor on the clock of the subscription: 31 Jan, 28 Feb, 31 Mar, 30 Apr (5.3.3)', async () => {
  const starts = [
    '2026-01-31T05:00:00.000Z',
    '2026-02-28T05:00:00.000Z',
    '2026-03-31T04:00:00.000Z',
    '2026-04-30T04:00:00.000Z',
  ];
  for (const [index, next] of starts.slice(1).entries()) {
    api.clock.set(new Date(Date.parse(starts[index]!) + 3_600_000).toISOString());
    const { body } = await subscribed([monthly()], { start_date: starts[0], ...NEW_YORK });
    expect((await upcoming(body)).map(({ scheduled_for }) => scheduled_for)).toEqual([next]);
  }
});

test('a daily grant of half a year ago has all of its periods at once (5.3.5)', async () => {
  const { customer } = await subscribed([monthly({ period: 'DAILY' })], {
    start_date: '2026-05-25T00:00:00.000Z',
  });
  const wallet = (await api.get(`/v1/customers/${customer.id}/wallets`)).body[0];
  expect(wallet.credit_balance).toBe('1810');
  expect(await creditsOf(customer)).toHaveLength(181);
});

describe('credits expire', () => {
  test('by days of the wall clock: 7 Mar in New York, 2 days: 9 Mar 00:00 (5.5.3, example J)', async () => {
    api.clock.set('2026-03-07T06:00:00.000Z');
    const days = { expiration_type: 'DURATION', expiration_duration: 2 };
    expect(
      await expiries(
        { ...days, expiration_duration_unit: 'DAY' },
        '2026-03-07T05:00:00.000Z',
        NEW_YORK,
      ),
    ).toEqual(['2026-03-09T04:00:00.000Z']);
  });

  test.each([
    ['MONTH', 1, '2026-01-31T00:00:00.000Z', '2026-02-28T00:00:00.000Z'],
    ['WEEK', 2, '2026-01-31T00:00:00.000Z', '2026-02-14T00:00:00.000Z'],
    ['YEAR', 1, '2024-02-29T00:00:00.000Z', '2025-02-28T00:00:00.000Z'],
  ])(
    'after a %s, at most at its last day',
    async (expiration_duration_unit, expiration_duration, start, end) => {
      api.clock.set(new Date(Date.parse(start) + 3_600_000).toISOString());
      const terms = { expiration_type: 'DURATION', expiration_duration, expiration_duration_unit };
      expect(await expiries(terms, start)).toEqual([end]);
    },
  );

  test.each(['QUARTERLY', 'WEEKLY'])(
    'with the period of the subscription, also those of a %s grant (5.5.4)',
    async (period) => {
      api.clock.set('2026-01-31T01:00:00.000Z');
      expect(
        await expiries({ period, expiration_type: 'BILLING_CYCLE' }, '2026-01-31T00:00:00.000Z'),
      ).toEqual(['2026-02-28T00:00:00.000Z']);
    },
  );

  test('a week that begins before the end of the period has the credits until then', async () => {
    api.clock.set('2026-02-27T00:00:00.000Z');
    const answer = await expiries(
      { period: 'WEEKLY', expiration_type: 'BILLING_CYCLE' },
      '2026-01-30T00:00:00.000Z',
    );
    expect([...new Set(answer)]).toEqual(['2026-02-28T00:00:00.000Z']);
  });
});

test('a grant that ends within a period does not give that period (5.3.4)', async () => {
  const { customer, body } = await subscribed([monthly({ end_date: '2026-11-15T00:00:00.000Z' })], {
    start_date: '2026-09-01T00:00:00.000Z',
  });
  expect(body.id).toBeDefined();
  expect(await creditsOf(customer)).toHaveLength(2);
  expect(await upcoming(body)).toEqual([]);
});

test('the last period of a grant ends with it (5.3.4)', async () => {
  const { customer } = await subscribed([monthly({ end_date: '2026-11-01T00:00:00.000Z' })], {
    start_date: '2026-09-01T00:00:00.000Z',
  });
  expect(await creditsOf(customer)).toHaveLength(2);
});

test('a deleted grant of a plan goes on in subscriptions that have it (5.1.7)', async () => {
  const offer = await catalog.plan();
  await catalog.fixed(offer, '1');
  const template = await api.post(
    '/v1/creditgrants',
    monthly({ scope: 'PLAN', plan_id: offer.id }),
  );
  expect(template.status).toBe(201);
  const subscribe = async () => {
    const customer = await catalog.customer();
    return await catalog.subscribe(customer, offer, { start_date: '2026-11-01T00:00:00.000Z' });
  };
  const before = await subscribe();
  expect((await api.delete(`/v1/creditgrants/${template.body.id}`)).status).toBe(200);
  expect(await upcoming(before)).toMatchObject([{ scheduled_for: '2026-12-01T00:00:00.000Z' }]);
  expect(await upcoming(await subscribe())).toEqual([]);
});

test('a closed wallet gets no credits: another one is opened (5.5.1)', async () => {
  const customer = await catalog.customer();
  const { body: closed } = await api.post('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
  });
  expect((await api.post(`/v1/wallets/${closed.id}/terminate`)).status).toBe(200);
  await catalog.subscribe(customer, plan, { credit_grants: [monthly()] });
  const wallets = (await api.get(`/v1/customers/${customer.id}/wallets`)).body;
  expect(wallets.filter((each: any) => each.wallet_status === 'active')).toMatchObject([
    { credit_balance: '10' },
  ]);
  expect(wallets.find((each: any) => each.id === closed.id)?.credit_balance ?? '0').toBe('0');
});

describe('400', () => {
  test.each([
    ['DURATION without a unit', { expiration_type: 'DURATION', expiration_duration: 1 }],
    ['DURATION without a number', { expiration_type: 'DURATION', expiration_duration_unit: 'DAY' }],
    [
      'DURATION of 0',
      { expiration_type: 'DURATION', expiration_duration: 0, expiration_duration_unit: 'DAY' },
    ],
    ['a recurring grant without a period', { period: undefined }],
    ['a period_count of 0', { period_count: 0 }],
    ['credits of 0', { credits: '0' }],
    ['a conversion rate of 0', { conversion_rate: '0' }],
    ['a negative priority', { priority: -1 }],
    ['a start before the subscription', { start_date: '2026-10-01T00:00:00.000Z' }],
    ['an end after that of the subscription', { end_date: '2028-01-01T00:00:00.000Z' }],
    ['an anchor before the start', { credit_grant_anchor: '2026-10-01T00:00:00.000Z' }],
    ['an anchor after the end', { credit_grant_anchor: '2028-01-01T00:00:00.000Z' }],
  ])('%s', async (_, more) => {
    const { status } = await subscribed([monthly(more)], {
      start_date: '2026-11-01T00:00:00.000Z',
      end_date: '2027-11-01T00:00:00.000Z',
    });
    expect(status).toBe(400);
  });

  test('grants of one request or plan with several rates (5.1.4)', async () => {
    const { status } = await subscribed([monthly({ conversion_rate: '0.01' }), monthly()]);
    expect(status).toBe(400);
    const offer = await catalog.plan();
    const post = (more: object) =>
      api.post('/v1/creditgrants', monthly({ scope: 'PLAN', plan_id: offer.id, ...more }));
    expect((await post({ conversion_rate: '0.01' })).status).toBe(201);
    expect((await post({})).status).toBe(400);
    expect((await post({ conversion_rate: '0.010' })).status).toBe(201);
  });

  test.each(['start_date', 'end_date', 'credit_grant_anchor'])(
    'a template with %s (5.1.1)',
    async (field) => {
      const sent = monthly({
        scope: 'PLAN',
        plan_id: plan.id,
        [field]: '2027-01-01T00:00:00.000Z',
      });
      expect((await api.post('/v1/creditgrants', sent)).status).toBe(400);
    },
  );

  test('an end in the past (5.1.6)', async () => {
    const { body } = await subscribed([monthly()]);
    const { body: grants } = await api.post('/v1/creditgrants/search', {
      subscription_ids: [body.id],
    });
    const put = (end_date: string) =>
      api.put(`/v1/creditgrants/${grants.items[0].id}`, { end_date });
    expect((await put('2026-11-20T00:00:00.000Z')).status).toBe(400);
    expect((await put('2026-12-10T00:00:00.000Z')).status).toBe(200);
    expect(await upcoming(body)).toEqual([]);
  });
});

describe('a grant in the request of a subscription without expiration_type (5.1.3)', () => {
  const { expiration_type: _, ...untyped } = monthly();

  test('never expires', async () => {
    for (const more of [{}, { expiration_type: null }, { expiration_type: '' }]) {
      const { status, body, customer } = await subscribed([{ ...untyped, ...more }]);
      expect([status, body.credit_grants[0].expiration_type]).toEqual([201, 'NEVER']);
      expect((await creditsOf(customer)).map(({ expiry_date }) => expiry_date)).toEqual([null]);
    }
  });

  test.each([{ expiration_duration: 5 }, { expiration_duration_unit: 'DAY' }])(
    'takes no duration: %j',
    async (more) => {
      const { status, body } = await subscribed([{ ...untyped, ...more }]);
      const [field] = Object.keys(more);
      expect([status, body.details[0].path]).toEqual([400, `credit_grants[0].${field}`]);
    },
  );
});

test.each([
  ['PLAN', 'plan_id', 'addon_id'],
  ['PLAN', 'plan_id', 'subscription_id'],
])('a grant of the scope %s has %s alone, no %s (5.1.1)', async (scope, own, other) => {
  const sent = { ...monthly({ scope }), [own]: (await catalog.plan()).id };
  const refused = await api.post('/v1/creditgrants', { ...sent, [other]: 'other' });
  expect([refused.status, refused.body.details[0].path]).toEqual([400, other]);
  expect((await api.post('/v1/creditgrants', { ...sent, [other]: '' })).status).toBe(201);
});
