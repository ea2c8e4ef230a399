import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

/** Durations and dates that lead beyond the calendar are refused or never end; none is a server error (tenancy S17). */
let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());

async function subscribed(more: object = {}, period: object = {}) {
  const plan = await catalog.plan();
  await catalog.fixed(plan, '30', period);
  return await api.post('/v1/subscriptions', {
    customer_id: (await catalog.customer()).id,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: '2026-11-01T00:00:00Z',
    ...period,
    ...more,
  });
}
const refusal = ({ status, body }: { status: number; body: any }) => [
  status,
  body.details?.[0].path ?? body.code,
];

test.each([
  [2_147_483_647, 'DAY'],
  [1_000_000, 'WEEK'],
  [100_000, 'MONTH'],
  [9_000, 'YEAR'],
])('credits that expire after %d × %s are refused (money 5.1.3)', async (duration, unit) => {
  const grant = {
    ...{ name: 'G', scope: 'PLAN', credits: '5', cadence: 'ONETIME' },
    ...{ expiration_type: 'DURATION', expiration_duration: duration },
    expiration_duration_unit: unit,
  };
  const of = (await catalog.plan()).id;
  expect(refusal(await api.post('/v1/creditgrants', { ...grant, plan_id: of }))).toEqual([
    400,
    'expiration_duration',
  ]);
  const { plan_id: _, ...own } = { ...grant, plan_id: of, scope: 'SUBSCRIPTION' };
  expect(refusal(await subscribed({ credit_grants: [own] }))).toEqual([
    400,
    'credit_grants[0].expiration_duration',
  ]);
});

test('credits may expire after a hundred years', async () => {
  const grant = { name: 'G', scope: 'SUBSCRIPTION', credits: '5', cadence: 'ONETIME' };
  for (const [expiration_duration, expiration_duration_unit] of [
    [36_525, 'DAY'],
    [5_200, 'WEEK'],
    [1_200, 'MONTH'],
    [100, 'YEAR'],
  ]) {
    const lasting = { expiration_type: 'DURATION', expiration_duration, expiration_duration_unit };
    expect((await subscribed({ credit_grants: [{ ...grant, ...lasting }] })).status).toBe(201);
  }
});

test('a repeated coupon whose last period ends beyond the calendar ends with the calendar (billing 7.2)', async () => {
  const coupon = await api.postOk('/v1/coupons', {
    ...{ name: 'C', type: 'percentage', percentage_off: '10' },
    ...{ cadence: 'repeated', duration_in_periods: 2_147_483_647 },
  });
  const { status, body } = await subscribed(
    { coupons: [coupon.id] },
    { billing_period: 'ANNUAL', billing_period_count: 1200 },
  );
  expect([status, body.coupon_associations?.[0].end_date]).toEqual([
    201,
    '9999-12-31T23:59:59.999Z',
  ]);
});

test.each([
  [{ pause_mode: 'immediate', pause_days: 2_147_483_647 }, 'pause_days'],
  [{ pause_mode: 'immediate', pause_days: 3_651 }, 'pause_days'],
  [{ pause_mode: 'immediate', pause_end: '3000-01-01T00:00:00Z' }, 'pause_end'],
  [
    { pause_mode: 'scheduled', pause_start: '9998-12-30T00:00:00Z', pause_days: 3_650 },
    'pause_start',
  ],
])('a pause %j is refused', async (pause, path) => {
  const { id } = (await subscribed()).body;
  expect(refusal(await api.post(`/v1/subscriptions/${id}/pause`, pause))).toEqual([400, path]);
});

test('a preview shows at most ten years, and the running period whatever its length (billing 17.7)', async () => {
  const preview = (id: string, period_start: string, period_end: string) =>
    api.post('/v1/invoices/preview', { subscription_id: id, period_start, period_end });
  const { id } = (await subscribed()).body;
  const START = '2026-11-01T00:00:00Z';
  expect((await preview(id, START, '2036-11-01T00:00:00Z')).status).toBe(200);
  const tooLong = await preview(id, '1900-01-01T00:00:00Z', '9998-12-31T00:00:00Z');
  expect([tooLong.status, tooLong.body.code]).toEqual([400, 'usage_query_too_large']);
  const century = (await subscribed({}, { billing_period: 'ANNUAL', billing_period_count: 100 }))
    .body;
  expect((await preview(century.id, START, '2126-11-01T00:00:00Z')).status).toBe(200);
});

test('usage of a subscription is asked for at most ten years, or for the running period (tenancy S13)', async () => {
  const { id } = (await subscribed({ start_date: '2001-01-01T00:00:00Z' })).body;
  const usage = async (of: string, more: object) => {
    const { status, body } = await api.post('/v1/subscriptions/usage', {
      subscription_id: of,
      ...more,
    });
    return [status, body.code];
  };
  const TOO_LARGE = [400, 'usage_query_too_large'];
  const end_time = '2036-11-01T00:00:00Z';
  expect(await usage(id, { start_time: '2026-11-01T00:00:00Z', end_time })).toEqual([
    200,
    undefined,
  ]);
  expect(await usage(id, { start_time: '1900-01-01T00:00:00Z', end_time })).toEqual(TOO_LARGE);
  expect(await usage(id, { end_time: '9998-12-31T00:00:00Z' })).toEqual(TOO_LARGE);
  expect(await usage(id, { lifetime_usage: true })).toEqual(TOO_LARGE);
  expect(await usage(id, { lifetime_usage: true, end_time: '2010-01-01T00:00:00Z' })).toEqual([
    200,
    undefined,
  ]);
  const long = { billing_period: 'ANNUAL', billing_period_count: 100 };
  const century = (await subscribed({}, long)).body;
  expect(await usage(century.id, {})).toEqual([200, undefined]);
});

test('events are monitored for at most ten years, and 50,000 windows (tenancy S13)', async () => {
  const monitor = async (start: string, end: string, window = '') => {
    const range = `start_time=${start}T00:00:00Z&end_time=${end}T00:00:00Z${window}`;
    const { status, body } = await api.get(`/v1/events/monitoring?${range}`);
    return [status, body.code];
  };
  const TOO_LARGE = [400, 'usage_query_too_large'];
  expect(await monitor('1970-01-01', '9998-12-31')).toEqual(TOO_LARGE);
  expect(await monitor('2026-01-01', '2026-03-01', '&window_size=MINUTE')).toEqual(TOO_LARGE);
  expect(await monitor('2017-01-01', '2026-12-31', '&window_size=DAY')).toEqual([200, undefined]);
});

test.each([
  ['invoice_config', 'due_date_days'],
  ['subscription_config', 'grace_period_days'],
])('%s: %s is at most ten years', async (key, field) => {
  const numbers = { prefix: 'A', format: 'YYYY', start_sequence: 1, suffix_length: 4 };
  const value = key === 'invoice_config' ? { ...numbers, timezone: 'UTC' } : {};
  const put = (days: number) =>
    api.put(`/v1/settings/${key}`, { value: { ...value, [field]: days } });
  expect(refusal(await put(3_651))).toEqual([400, `value.${field}`]);
  expect((await put(3_650)).status).toBe(200);
  await api.delete(`/v1/settings/${key}`);
});

test.each(['2200-01-01T00:00:00Z', '9998-12-30T00:00:00Z'])(
  'a test clock does not reach %s, where usage cannot be stored (billing 22.1)',
  async (time) => {
    expect(refusal(await api.post('/v1/test-clocks', { now: time }))).toEqual([400, 'now']);
    const last = await api.postOk('/v1/test-clocks', { now: '2199-12-31T00:00:00Z' });
    const path = `/v1/test-clocks/${last.id}/advance`;
    expect(refusal(await api.post(path, { to: time }))).toEqual([400, 'to']);
  },
);
