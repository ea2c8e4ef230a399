import { API_ROUTES } from '../../../api/routes.ts';
import { CLIENT_WORDS } from '../../../domain/client-words.ts';
import { ENTITIES } from '../../../domain/access/permission-names.ts';
import { INGEST_OPERATIONS } from '../../../ingest/routes.ts';
import { clientWords } from '../../../scripts/client-words.js';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { describeWith } from '../../support/requires.ts';

/** api 38, api 57: a misspelled field is refused with the right one, another unknown one is named. */
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const meter = (aggregation: object) => ({
  name: 'Tokens',
  event_name: 'api.call',
  aggregation,
  reset_usage: 'BILLING_PERIOD',
});

describe('400: did you mean', () => {
  test.each([
    ['/v1/plans', { name: 'Pro', lokup_key: 'pro' }, 'lokup_key', 'lookup_key'],
    ['/v1/customers', { external_id: 'a', time_zone: 'UTC' }, 'time_zone', 'timezone'],
    [
      '/v1/meters',
      meter({ type: 'SUM', field: 'n', bucket_sizes: 'DAY' }),
      'aggregation.bucket_sizes',
      'bucket_size',
    ],
  ])('POST %s %j', async (route, sent, path, meant) => {
    const { status, body } = await api.post(route, sent);
    const message = `is not a field of this request; did you mean "${meant}"?`;
    expect([status, body.code, body.details]).toEqual([
      400,
      'validation_error',
      [{ path, code: 'unknown_field', message }],
    ]);
    expect(body.message).toBe(`${path}: ${message}`);
  });

  test('a misspelled permission of a key', async () => {
    const permissions = ['plan:read', 'evnt:write'];
    const sent = { name: 'k', type: 'private_key', permissions };
    const { status, body } = await api.post('/v1/secrets/api/keys', sent);
    expect([status, body.details[0]]).toMatchObject([
      400,
      {
        path: 'permissions[1]',
        message: '"evnt:write" is not a permission; did you mean "event:write"?',
      },
    ]);
  });

  test.each(['field', 'group_by'])('%s of a meter as analytics name it', async (key) => {
    const aggregation = { type: 'MAX', field: 'n', bucket_size: 'DAY', [key]: 'properties.seats' };
    const { status, body } = await api.post('/v1/meters', meter(aggregation));
    expect([status, body.details[0]]).toMatchObject([
      400,
      {
        path: `aggregation.${key}`,
        message: 'is the name of a property alone: write "seats", not "properties.seats"',
      },
    ]);
  });
});

describe('ignored and named', () => {
  test.each([
    ['a word of the API that is near another', { invoice_ids: [] }, 'invoice_ids'],
    ['a short key', { nam: 1 }, 'nam'],
    ['another word', { colour_of_the_plan: 'red' }, 'colour_of_the_plan'],
  ])('%s', async (_what, sent, named) => {
    const { status, headers } = await api.post('/v1/plans', { name: 'Pro', ...sent });
    expect([status, headers['x-ignored-fields']]).toEqual([201, named]);
  });

  test('keys of free maps are the customers’ own', async () => {
    const metadata = { lokup_key: 'x', lookup_key: 'y' };
    expect((await api.post('/v1/plans', { name: 'Free', metadata })).status).toBe(201);
  });
});

test('the entities of permissions are those of the routes', () => {
  const permissions = [...API_ROUTES, ...INGEST_OPERATIONS].map(({ permission }) => permission);
  const used = permissions.flatMap((permission) => permission.match(/^([a-z_]+):/)?.[1] ?? []);
  expect([...new Set(used)].sort()).toEqual([...ENTITIES].sort());
});

describeWith('SHARED_DIRECTORY', 'the words of existing clients', (directory) => {
  test('are those of the published contract; otherwise run scripts/client-words.js', () => {
    expect([...CLIENT_WORDS]).toEqual(clientWords(directory));
  });
});
