import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/** Lists of what has no record status, or has one that is never another. */
test.each([
  ['GET', '/audit-logs', {}],
  ['GET', '/portal/sessions', {}],
  ['POST', '/invoices/late-usage/search', {}],
  ['POST', '/payments/gateway-events/search', {}],
  ['POST', '/request-logs/search', {}],
  ['POST', '/timeline/search', { customer_id: 'cust_x' }],
])('%s %s refuses a status, which would have no effect (api 33)', async (method, path, more) => {
  const { status, body } =
    method === 'GET'
      ? await api.get(`/v1${path}?status=archived`)
      : await api.post(`/v1${path}`, { ...more, status: 'archived' });
  expect([status, body.details?.[0]]).toEqual([
    400,
    { path: 'status', code: 'invalid_value', message: 'has no effect on this list' },
  ]);
});
