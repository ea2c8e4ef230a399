import { startTestApi, type TestApi } from '../support/api.ts';
import { catalogOf, type TestCatalog } from '../support/catalog.ts';

let api: TestApi;
let catalog: TestCatalog;
const statements: string[] = [];
beforeAll(async () => {
  api = await startTestApi({ onStatement: (text) => void statements.push(text) });
  catalog = catalogOf(api);
});
afterAll(() => api.close());

const START = '2026-03-01T00:00:00.000Z';
const GRANT = {
  name: 'G',
  credits: '10',
  cadence: 'RECURRING',
  period: 'MONTHLY',
  period_count: 1,
  expiration_type: 'NEVER',
};

/** A plan and an addon with three grants and three entitlements each, sold with three addons. */
async function sold() {
  const make = async (path: string, body: object) => (await api.post(`/v1${path}`, body)).body;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '1');
  const addon = await make('/addons', { name: 'Extra', lookup_key: `extra_${plan.id}` });
  await catalog.fixed(addon, '1', { entity_type: 'ADDON' });
  for (const name of ['a', 'b', 'c']) {
    const feature = await make('/features', { name, type: 'boolean' });
    const given = { feature_id: feature.id, feature_type: 'boolean' };
    await make('/entitlements', { ...given, entity_type: 'PLAN', entity_id: plan.id });
    await make('/entitlements', { ...given, entity_type: 'ADDON', entity_id: addon.id });
    await make('/creditgrants', { ...GRANT, scope: 'PLAN', plan_id: plan.id });
    await make('/creditgrants', { ...GRANT, scope: 'ADDON', addon_id: addon.id });
  }
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: START,
    addons: [{ addon_id: addon.id }, { addon_id: addon.id }, { addon_id: addon.id }],
  });
  return {
    '/plans/{}/entitlements': plan.id,
    '/plans/{}/creditgrants': plan.id,
    '/addons/{}/entitlements': addon.id,
    '/addons/{}/creditgrants': addon.id,
    '/subscriptions/{}/addons/associations': subscription.id,
    '/subscriptions/{}/grants/upcoming': subscription.id,
    '/customers/{}/grants/upcoming': customer.id,
  } as Readonly<Record<string, string>>;
}

test('a list below a record is whole, or paged as asked (api 4)', async () => {
  const lists = Object.entries(await sold()).map(([path, id]) => `/v1${path.replace('{}', id)}`);
  for (const path of lists) {
    const all = (await api.get(path)).body;
    const { total } = all.pagination;
    expect(all.pagination).toEqual({ total, limit: 50, offset: 50 });
    expect([path, all.items.length >= 3]).toEqual([path, true]);
    const second = (await api.get(`${path}?limit=1&offset=1`)).body;
    expect(second.items).toEqual([all.items[1]]);
    expect(second.pagination).toEqual({ total, limit: 1, offset: 2 });
    for (const query of ['limit=0', 'limit=1001', 'limit=x', 'offset=-1']) {
      const { status, body } = await api.get(`${path}?${query}`);
      expect([path, query, status]).toEqual([path, query, 400]);
      expect(body.details[0].path).toBe(query.split('=')[0]);
    }
  }
});

test('Postgres cuts a page of stored rows; only computed lists are cut in memory', async () => {
  const lists = await sold();
  for (const [path, id] of Object.entries(lists)) {
    statements.length = 0;
    await api.get(`/v1${path.replace('{}', id)}?limit=1&offset=1`);
    const isCut = statements.some((text) => /order by[^;]*limit \$\d+\s+offset \$\d+/.test(text));
    expect([path, isCut]).toEqual([path, !path.endsWith('/grants/upcoming')]);
  }
});

test('the addons of a subscription: ended and future ones by status and by time', async () => {
  const { '/subscriptions/{}/addons/associations': id } = await sold();
  const list = async (query = '') =>
    (await api.get(`/v1/subscriptions/${id}/addons/associations${query}`)).body;
  const [newest] = (await list()).items;
  await api.call('DELETE', '/v1/subscriptions/addon', {
    addon_association_id: newest.id,
    effective_date: new Date(api.clock.now()).toISOString(),
  });
  const totals = async (query: string) => (await list(query)).pagination.total;
  expect(await totals('')).toBe(2);
  expect(await totals('?addon_statuses=active,cancelled&limit=1')).toBe(3);
  expect(await totals('?addon_statuses=cancelled')).toBe(1);
  expect(await totals('?active_at=2026-04-01T00:00:00Z')).toBe(3);
  expect(await totals('?active_at=2026-02-01T00:00:00Z')).toBe(0);
  expect(await totals('?offset=9')).toBe(2);
});

test('without a limit, nothing of more than a page is left out', async () => {
  const plan = await catalog.plan();
  for (let n = 0; n < 51; n += 1)
    await api.post('/v1/creditgrants', { ...GRANT, scope: 'PLAN', plan_id: plan.id });
  const { items, pagination } = (await api.get(`/v1/plans/${plan.id}/creditgrants`)).body;
  expect([items.length, pagination.total, pagination.limit]).toEqual([51, 51, 51]);
});
