import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

/** An update with null clears an optional field; an update without the field leaves it (api 7). */
let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());

const PHASES = [
  { start_date: '2026-11-01T00:00:00Z', end_date: '2027-02-01T00:00:00Z' },
  { start_date: '2027-02-01T00:00:00Z' },
];
async function subscription(): Promise<any> {
  const plan = await catalog.plan();
  await catalog.fixed(plan, '30');
  return await api.postOk('/v1/subscriptions', {
    customer_id: (await catalog.customer()).id,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: PHASES[0]!.start_date,
    phases: PHASES,
  });
}

test.each<[string, string, () => Promise<string>, unknown, unknown]>([
  [
    'the country of a customer',
    'address_country',
    async () => `/customers/${(await catalog.customer()).id}`,
    'BE',
    '',
  ],
  ['the metadata of the tenant', 'metadata', async () => '/tenants/update', { a: 'b' }, {}],
  [
    'the metadata of a phase',
    'metadata',
    async () => {
      const { id, phases } = await subscription();
      return `/subscriptions/${id}/phases/${phases[1].id}`;
    },
    { a: 'b' },
    {},
  ],
  [
    'the metadata of a line item',
    'metadata',
    async () => `/subscriptions/lineitems/${(await subscription()).line_items[0].id}`,
    { a: 'b' },
    {},
  ],
])('%s', async (_, field, record, value, cleared) => {
  const path = `/v1${await record()}`;
  const put = async (body: object) => {
    const { status, body: answer } = await api.put(path, body);
    expect(status).toBe(200);
    return answer[field];
  };
  expect(await put({ [field]: value })).toEqual(value);
  expect(await put({})).toEqual(value);
  expect(await put({ [field]: null })).toEqual(cleared);
});
