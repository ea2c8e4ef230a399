import { startTestApi, type TestApi } from '../../support/api.ts';

describe('features', () => {
  let api: TestApi;
  let keys = 0;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  const create = (fields: object) =>
    api.post('/v1/features', {
      name: 'F',
      lookup_key: `key-${(keys += 1)}`,
      type: 'boolean',
      ...fields,
    });
  const meter = {
    name: 'M',
    event_name: 'm',
    aggregation: { type: 'COUNT' },
    reset_usage: 'NEVER',
  };
  const outbox = async (id: string) =>
    (
      await api.pool<{ event_type: string }[]>`
        select event_type from outbox where entity_id = ${id} order by sequence`
    ).map((row) => row.event_type);

  describe('201', () => {
    test('the meter of a metered feature is made with it; reads embed it', async () => {
      const { body: feature } = await create({ type: 'metered', meter });
      expect(feature).toMatchObject({ type: 'metered', meter: null, group: null, metadata: {} });
      const { body: read } = await api.get(`/v1/features/${feature.id}`);
      expect(read.meter).toMatchObject({ id: feature.meter_id, reset_usage: 'NEVER' });
      const { body: found } = await api.post('/v1/features/search', {
        feature_ids: [feature.id],
        expand: 'meters',
      });
      expect(found.items[0].meter.id).toBe(feature.meter_id);
    });

    test('a feature whose meter is refused is not created', async () => {
      const aggregation = { type: 'SUM' };
      const answer = await create({
        type: 'metered',
        meter: { ...meter, aggregation },
        name: 'Half',
      });
      expect([answer.status, answer.body.details[0].path]).toEqual([
        400,
        'meter.aggregation.field',
      ]);
      const { body: list } = await api.post('/v1/features/search', { name_contains: 'half' });
      expect(list.items).toEqual([]);
    });

    test('the key comes from the name', async () => {
      const { body: feature } = await create({ name: 'API Calls Made', lookup_key: '' });
      expect(feature.lookup_key).toBe('api_calls_made');
    });

    test('thresholds and the rate of the reporting unit are numbers, however they were sent', async () => {
      const { body: feature } = await create({
        reporting_unit: { conversion_rate: '0.001', unit_singular: 'k', unit_plural: 'ks' },
        alert_settings: { critical: { threshold: '10', condition: 'below' } },
      });
      expect(feature.reporting_unit.conversion_rate).toBe(0.001);
      expect(feature.alert_settings).toEqual({
        alert_enabled: false,
        critical: { threshold: 10, condition: 'below' },
        warning: null,
        info: null,
      });
    });

    test('a copy has a meter of its own and names its source', async () => {
      const { body: source } = await create({ type: 'metered', meter, metadata: { team: 'ml' } });
      const { body: copy } = await api.post(`/v1/features/${source.id}/clone`, {
        name: 'Copy',
        lookup_key: 'copy',
      });
      expect(copy.metadata).toEqual({ team: 'ml', source_feature_id: source.id });
      expect(copy.meter_id).not.toBe(source.meter_id);
      expect(copy.meter).toMatchObject({ id: copy.meter_id, event_name: 'm', status: 'published' });
    });
  });

  describe('200', () => {
    test('an update changes what is sent, clears what is null or empty, and keeps the rest', async () => {
      const { body: feature } = await create({
        description: 'd',
        unit_singular: 'call',
        unit_plural: 'calls',
        metadata: { a: '1' },
      });
      const { body: updated } = await api.put(`/v1/features/${feature.id}`, {
        description: '',
        unit_singular: null,
        unit_plural: null,
        metadata: { b: '2' },
        type: 'static',
        lookup_key: 'other',
      });
      expect(updated).toMatchObject({
        name: 'F',
        description: '',
        unit_singular: '',
        unit_plural: '',
        metadata: { b: '2' },
        type: 'boolean',
        lookup_key: feature.lookup_key,
      });
    });

    test('alert levels are merged one by one and checked together', async () => {
      const level = (threshold: number) => ({ threshold, condition: 'below' });
      const { body: feature } = await create({
        alert_settings: { critical: level(10), warning: level(20) },
      });
      const put = (alert_settings: object) =>
        api.put(`/v1/features/${feature.id}`, { alert_settings });
      const { body: on } = await put({ alert_enabled: true, info: level(30) });
      expect(on.alert_settings).toEqual({
        alert_enabled: true,
        critical: level(10),
        warning: level(20),
        info: level(30),
      });
      const wrong = await put({ critical: level(25) });
      expect([wrong.status, wrong.body.details[0].path]).toEqual([
        400,
        'alert_settings.warning.threshold',
      ]);
      const mixed = await put({ info: { threshold: 50, condition: 'above' } });
      expect(mixed.status).toBe(400);
      expect(
        (await put({ warning: null, critical: level(25) })).body.alert_settings.critical,
      ).toEqual(level(25));
    });

    test('filters go to the meter', async () => {
      const { body: feature } = await create({ type: 'metered', meter });
      await api.put(`/v1/features/${feature.id}`, { filters: [{ key: 'model', values: ['a'] }] });
      const { body: read } = await api.get(`/v1/meters/${feature.meter_id}`);
      expect(read.filters).toEqual([{ key: 'model', values: ['a'] }]);
      const without = await create({});
      expect(
        (
          await api.put(`/v1/features/${without.body.id}`, {
            filters: [{ key: 'a', values: ['b'] }],
          })
        ).status,
      ).toBe(400);
    });

    test('the meter of a deleted feature is archived with the last feature that reads it', async () => {
      const { body: first } = await create({ type: 'metered', meter });
      const { body: second } = await create({ type: 'metered', meter_id: first.meter_id });
      const statusOfMeter = async () => (await api.get(`/v1/meters/${first.meter_id}`)).body.status;
      await api.delete(`/v1/features/${first.id}`);
      expect(await statusOfMeter()).toBe('published');
      await api.delete(`/v1/features/${second.id}`);
      expect(await statusOfMeter()).toBe('archived');
      expect((await api.delete(`/v1/features/${second.id}`)).status).toBe(200);
      expect(await outbox(second.id)).toEqual(['feature.created', 'feature.deleted']);
    });

    test('a meter leaves with its last feature, or stays with the next, in either order of the requests', async () => {
      for (let round = 0; round < 10; round += 1) {
        const { body: first } = await create({ type: 'metered', meter });
        const [next] = await Promise.all([
          create({ type: 'metered', meter_id: first.meter_id }),
          api.delete(`/v1/features/${first.id}`),
        ]);
        const { body: read } = await api.get(`/v1/meters/${first.meter_id}`);
        expect([next.status, read.status]).toEqual(
          next.status === 201 ? [201, 'published'] : [400, 'archived'],
        );
      }
    });

    test('archived features are found unless a status is requested; their key is free', async () => {
      const { body: feature } = await create({});
      await api.delete(`/v1/features/${feature.id}`);
      const find = async (status?: string) =>
        (await api.post('/v1/features/search', { feature_ids: [feature.id], status })).body
          .pagination.total;
      expect([await find(), await find('published'), await find('archived')]).toEqual([1, 0, 1]);
      expect((await create({ lookup_key: feature.lookup_key })).status).toBe(201);
    });
  });

  describe('400', () => {
    test.each([
      ['type', { type: 'wrong' }],
      ['meter_id', { type: 'metered' }],
      ['unit_plural', { unit_singular: 'seat' }],
      [
        'reporting_unit.conversion_rate',
        { reporting_unit: { conversion_rate: 0, unit_singular: 'k', unit_plural: 'ks' } },
      ],
      ['metadata.n', { metadata: { n: 1 } }],
      ['meter_id', { type: 'metered', meter, meter_id: 'meter_x' }],
      ['meter_id', { type: 'boolean', meter_id: 'meter_x' }],
      ['meter', { type: 'static', meter }],
    ])('%s', async (path, fields) => {
      const answer = await create(fields);
      expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
    });

    test('filters: none are no change; what an archived meter counts stays', async () => {
      const { body: feature } = await create({ type: 'metered', meter });
      const put = (filters: object[]) => api.put(`/v1/features/${feature.id}`, { filters });
      const refusal = ({ status, body }: Awaited<ReturnType<typeof put>>) => [status, body.code];
      expect(refusal(await put([]))).toEqual([400, 'validation_error']);
      await put([{ key: 'a', values: ['1'] }]);
      await api.delete(`/v1/features/${feature.id}`);
      expect((await put([{ key: 'a', values: ['1'] }])).status).toBe(200);
      expect(refusal(await put([{ key: 'a', values: ['2'] }]))).toEqual([400, 'invalid_operation']);
      const { body: read } = await api.get(`/v1/meters/${feature.meter_id}`);
      expect(read.filters).toEqual([{ key: 'a', values: ['1'] }]);
    });

    test('a feature that is granted cannot be deleted', async () => {
      const { body: feature } = await create({});
      const { body: plan } = await api.post('/v1/plans', { name: 'P' });
      const { body: grant } = await api.post('/v1/entitlements', {
        plan_id: plan.id,
        feature_id: feature.id,
        feature_type: 'boolean',
      });
      const refused = await api.delete(`/v1/features/${feature.id}`);
      expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
      await api.delete(`/v1/entitlements/${grant.id}`);
      expect((await api.delete(`/v1/features/${feature.id}`)).status).toBe(200);
    });

    test('a group of prices is no group for a feature', async () => {
      const { body: group } = await api.post('/v1/groups', {
        name: 'G',
        lookup_key: 'gp',
        entity_type: 'price',
      });
      expect((await create({ group_id: group.id })).body.details[0].path).toBe('group_id');
    });
  });

  describe('404 and 409', () => {
    test('an unknown meter or group is 404, a taken key 409, always the same', async () => {
      expect((await create({ type: 'metered', meter_id: 'meter_x' })).status).toBe(404);
      expect((await create({ group_id: 'group_x' })).status).toBe(404);
      await create({ lookup_key: 'taken' });
      const answer = await create({ lookup_key: 'taken' });
      expect([answer.status, answer.body.code, answer.body.details[0].path]).toEqual([
        409,
        'already_exists',
        'lookup_key',
      ]);
    });

    test('a group that goes keeps no member, in either order of the requests', async () => {
      const { body: feature } = await create({});
      for (let round = 0; round < 10; round += 1) {
        const lookup_key = `going-${round}`;
        const { body: group } = await api.post('/v1/groups', {
          name: 'G', lookup_key, entity_type: 'feature',
        }); // prettier-ignore
        const join = () => api.put(`/v1/features/${feature.id}`, { group_id: group.id });
        expect((await join()).status).toBe(200);
        const copy = { name: 'Copy', lookup_key: `copy-${round}` };
        const [again, clone, gone] = await Promise.all([
          join(),
          api.post(`/v1/features/${feature.id}/clone`, copy),
          api.delete(`/v1/groups/${group.id}`),
        ]);
        expect([200, 404]).toContain(again.status);
        expect(clone.status).toBe(201);
        expect(gone.status).toBe(204);
        expect((await api.get(`/v1/groups/${group.id}`)).body.entity_ids).toEqual([]);
      }
    });

    test('a group contains its members; deleting it releases them', async () => {
      const { body: group } = await api.post('/v1/groups', {
        name: 'G',
        lookup_key: 'gf',
        entity_type: 'feature',
      });
      const { body: feature } = await create({ group_id: group.id });
      expect(feature.group).toMatchObject({ id: group.id, entity_ids: [feature.id] });
      expect((await api.get(`/v1/groups/${group.id}`)).body.entity_ids).toEqual([feature.id]);
      expect((await api.delete(`/v1/groups/${group.id}`)).status).toBe(204);
      expect((await api.get(`/v1/features/${feature.id}`)).body.group_id).toBeNull();
      expect((await api.delete('/v1/groups/group_x')).status).toBe(404);
      expect(
        (await api.post('/v1/groups', { name: 'G', lookup_key: 'gf', entity_type: 'feature' }))
          .status,
      ).toBe(201);
      expect(
        (await api.post('/v1/groups', { name: 'G', lookup_key: 'gf', entity_type: 'feature' }))
          .status,
      ).toBe(409);
    });
  });
});
