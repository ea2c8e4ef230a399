import { meterVersionsOf } from '../../../postgres/tables/meter-versions.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

describe('meters', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  const body = (fields: object = {}) => ({
    name: 'Tokens',
    event_name: 'tokens',
    aggregation: { type: 'SUM', field: 'n' },
    reset_usage: 'BILLING_PERIOD',
    ...fields,
  });
  const versions = (meterId: string) => meterVersionsOf(api.pool, api.scope, [meterId]);

  describe('201', () => {
    test('a meter has its first version from the start', async () => {
      const { body: meter } = await api.post(
        '/v1/meters',
        body({ filters: [{ key: 'model', values: ['a'] }] }),
      );
      expect(meter).toMatchObject({
        name: 'Tokens',
        aggregation: { type: 'SUM', field: 'n', expression: null, bucket_size: null },
        filters: [{ key: 'model', values: ['a'] }],
        status: 'published',
        created_by: api.user_id,
      });
      expect(await versions(meter.id)).toMatchObject([
        { version: 1, dimensions: [], spec: { event_name: 'tokens', filters: meter.filters } },
      ]);
    });

    test('values of filters are kept as they were sent, spaces included', async () => {
      const filters = [{ key: 'model', values: [' a', ' '] }];
      const { body: meter } = await api.post('/v1/meters', body({ filters }));
      expect(meter.filters).toEqual(filters);
    });

    test('an empty bucket size means no buckets', async () => {
      const aggregation = { type: 'MAX', field: 'n', bucket_size: '' };
      const { body: meter } = await api.post('/v1/meters', body({ aggregation }));
      expect(meter.aggregation.bucket_size).toBeNull();
    });

    test('what it groups by is a dimension of the version', async () => {
      const aggregation = { type: 'MAX', field: 'n', bucket_size: 'HOUR', group_by: 'host' };
      const { body: meter } = await api.post('/v1/meters', body({ aggregation }));
      expect((await versions(meter.id))[0]!.dimensions).toEqual(['host']);
    });

    test('names and event names may be used again', async () => {
      expect((await api.post('/v1/meters', body())).status).toBe(201);
      expect((await api.post('/v1/meters', body())).status).toBe(201);
    });
  });

  describe('200', () => {
    test('filters grow by values and keys, and each growth is a version', async () => {
      const { body: meter } = await api.post('/v1/meters', body());
      const put = (filters: object[]) => api.put(`/v1/meters/${meter.id}`, { filters });
      await put([{ key: 'region', values: ['eu'] }]);
      const { body: wide } = await put([
        { key: 'region', values: ['eu', 'us'] },
        { key: 'tier', values: ['1'] },
      ]);
      expect(wide.filters).toEqual([
        { key: 'region', values: ['eu', 'us'] },
        { key: 'tier', values: ['1'] },
      ]);
      await put([{ key: 'tier', values: ['1'] }]);
      expect((await versions(meter.id)).map((version) => version.version)).toEqual([3, 2, 1]);
    });

    test('disable and delete archive; the meter stays readable and leaves the list', async () => {
      const { body: first } = await api.post('/v1/meters', body());
      const { body: second } = await api.post('/v1/meters', body());
      expect((await api.post(`/v1/meters/${first.id}/disable`)).status).toBe(200);
      expect((await api.delete(`/v1/meters/${second.id}`)).status).toBe(200);
      expect((await api.get(`/v1/meters/${first.id}`)).body.status).toBe('archived');
      const { body: list } = await api.post('/v1/meters/search', {
        meter_ids: [first.id, second.id],
      });
      expect(list).toEqual({ items: [], pagination: { total: 0, limit: 50, offset: 50 } });
      const archived = await api.get(
        `/v1/meters?status=archived&meter_ids=${first.id},${second.id}`,
      );
      expect(archived.body.pagination.total).toBe(2);
    });
  });

  describe('400', () => {
    test.each([
      ['aggregation.field', { aggregation: { type: 'SUM' } }],
      ['aggregation.type', { aggregation: { type: 'sum', field: 'n' } }],
      [
        'aggregation.multiplier',
        { aggregation: { type: 'SUM_WITH_MULTIPLIER', field: 'n', multiplier: '0' } },
      ],
      ['aggregation.expression', { aggregation: { type: 'SUM', expression: 'n +' } }],
      ['filters[0].values', { filters: [{ key: 'a', values: [] }] }],
      ['filters[0].key', { filters: [{ key: '', values: ['a'] }] }],
      ['reset_usage', { reset_usage: 'YEARLY' }],
      ['event_name', { event_name: ' ' }],
      ['name', { name: undefined }],
    ])('%s', async (path, fields) => {
      const answer = await api.post('/v1/meters', body(fields));
      expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
    });

    test('an update says at least one filter', async () => {
      const { body: meter } = await api.post('/v1/meters', body());
      expect((await api.put(`/v1/meters/${meter.id}`, { filters: [] })).status).toBe(400);
      expect((await api.put(`/v1/meters/${meter.id}`, {})).status).toBe(400);
    });
  });

  describe('404', () => {
    test.each([['GET'], ['PUT'], ['DELETE']])('%s an unknown meter', async (method) => {
      const filters = [{ key: 'a', values: ['b'] }];
      expect(
        (await api.call(method, '/v1/meters/meter_x', method === 'GET' ? undefined : { filters }))
          .status,
      ).toBe(404);
    });
  });
});
