import { apiDocument } from '../../api/app.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/** Lists of what has no record status, or has one that is never another. */
const LISTS: readonly (readonly [string, string, object])[] = [
  ['GET', '/audit-logs', {}],
  ['GET', '/portal/sessions', {}],
  ['POST', '/audit-logs/search', {}],
  ['POST', '/portal/sessions/search', {}],
  ['POST', '/invoices/late-usage/search', {}],
  ['POST', '/payments/gateway-events/search', {}],
  ['POST', '/request-logs/search', {}],
  ['POST', '/timeline/search', { customer_id: 'cust_x' }],
];

test.each(LISTS)(
  '%s %s refuses a status, which would have no effect (api 33)',
  async (method, path, more) => {
    const { status, body } =
      method === 'GET'
        ? await api.get(`/v1${path}?status=archived`)
        : await api.post(`/v1${path}`, { ...more, status: 'archived' });
    expect([status, body.details?.[0]]).toEqual([
      400,
      { path: 'status', code: 'invalid_value', message: 'has no effect on this list' },
    ]);
  },
);

interface Operation {
  readonly parameters: readonly { readonly name: string }[];
  readonly requestBody?: { content: Record<string, { schema: { properties?: object } }> };
}

test.each(LISTS)('the document of %s %s has no status', (method, path) => {
  const { paths } = apiDocument() as { paths: Record<string, Record<string, Operation>> };
  const { parameters, requestBody } = paths[path]![method.toLowerCase()]!;
  const fields = [
    ...parameters.map(({ name }) => name),
    ...Object.keys(requestBody?.content['application/json']!.schema.properties ?? {}),
  ];
  expect(fields).toContain('limit');
  expect(fields).not.toContain('status');
});
