import { startTestApi, type TestApi, type TestCaller } from '../../support/api.ts';

describe('scheduled exports', () => {
  let api: TestApi;
  let caller: TestCaller;
  let connection: string;
  beforeAll(async () => {
    api = await startTestApi();
  });
  beforeEach(async () => {
    caller = await api.newCaller();
    const made = await caller.post('/v1/connections', { name: 'Bucket', provider_type: 's3' });
    connection = made.body.id;
  });
  afterAll(() => api.close());
  const create = (fields: object = {}) =>
    caller.post('/v1/tasks/scheduled', {
      connection_id: connection,
      entity_type: 'events',
      interval: 'hourly',
      job_config: { bucket: 'b', region: 'eu-west-1' },
      ...fields,
    });

  test('201: with the defaults of the config; read, listed, paused, archived', async () => {
    const made = await create();
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        enabled: true,
        interval: 'hourly',
        job_config: {
          compression: 'none',
          encryption: 'AES256',
          key_prefix: '',
          endpoint_url: null,
        },
      },
    ]);
    const path = `/v1/tasks/scheduled/${made.body.id}`;
    expect((await caller.get(path)).body).toEqual(made.body);
    expect((await caller.put(path, { enabled: false })).body.enabled).toBe(false);
    const list = async (query: string) => (await caller.get(`/v1/tasks/scheduled?${query}`)).body;
    expect((await list('enabled=false&interval=hourly')).pagination).toEqual({
      total: 1,
      limit: 50,
      offset: 50,
    });
    expect((await list('enabled=true')).items).toEqual([]);
    expect((await list(`connection_id=${connection}&entity_type=events`)).items).toHaveLength(1);
    expect((await caller.delete(path)).status).toBe(204);
    expect((await caller.get(path)).body).toMatchObject({ status: 'archived', enabled: false });
    expect((await caller.delete(path)).status).toBe(404);
    expect((await caller.put(path, { enabled: true })).status).toBe(404);
    expect((await caller.post(`${path}/run`)).status).toBe(404);
    expect((await list('')).items).toEqual([]);
  });

  test('what job_config leaves out is that of the connection, as it is then', async () => {
    const s3 = {
      bucket: 'archive', region: 'eu-north-1', key_prefix: 'usage/', compression: 'gzip', encryption: 'aws:kms',
    }; // prettier-ignore
    const path = `/v1/connections/${connection}`;
    expect((await caller.put(path, { sync_config: { s3 } })).status).toBe(200);
    const whole = await create({ job_config: {} });
    expect([whole.status, whole.body.job_config]).toMatchObject([201, s3]);
    const own = { bucket: 'b', key_prefix: '', compression: 'none' };
    const mixed = await create({ job_config: own });
    expect([mixed.status, mixed.body.job_config]).toMatchObject([201, { ...s3, ...own }]);
    await caller.put(path, { sync_config: { s3: null } });
    const task = (await caller.get(`/v1/tasks/scheduled/${whole.body.id}`)).body;
    expect(task.job_config).toEqual(whole.body.job_config);
    const { status, body } = await create({ job_config: {} });
    expect([status, body.details[0].path]).toEqual([400, 'job_config.bucket']);
  });

  test('a run: of the named window, or of the last complete one; the workflows list it', async () => {
    const { body: task } = await create();
    const run = (body?: object) => caller.post(`/v1/tasks/scheduled/${task.id}/run`, body);
    const automatic = await run();
    expect([automatic.status, automatic.body]).toMatchObject([
      200,
      {
        mode: 'automatic',
        start_time: '2026-11-21T11:00:00.000Z',
        end_time: '2026-11-21T12:00:00.000Z',
      },
    ]);
    const named = await run({
      start_time: '2026-01-01T00:00:00Z',
      end_time: '2026-01-02T00:00:00Z',
    });
    expect(named.body).toMatchObject({ mode: 'custom', start_time: '2026-01-01T00:00:00.000Z' });
    const found = await caller.post('/v1/workflows/search', { entity_id: task.id });
    expect(found.body.items.map((item: { workflow_id: string }) => item.workflow_id)).toEqual([
      named.body.workflow_id,
      automatic.body.workflow_id,
    ]);
    expect(found.body.items[0]).toMatchObject({ status: 'Running', entity: 'scheduled_task' });
  });

  test('deleting a connection deletes its exports', async () => {
    const { body: task } = await create();
    await caller.delete(`/v1/connections/${connection}`);
    expect((await caller.get(`/v1/tasks/scheduled/${task.id}`)).body).toMatchObject({
      status: 'archived',
      enabled: false,
    });
    expect((await create()).status).toBe(404);
  });

  test.each([
    ['connection_id', { connection_id: undefined }],
    ['interval', { interval: 'weekly' }],
    ['entity_type', { entity_type: 'plans' }],
    ['job_config', { job_config: undefined }],
    ['job_config.bucket', { job_config: { region: 'x' } }],
    ['job_config.region', { job_config: { bucket: 'b' } }],
    ['job_config.bucket', { job_config: { bucket: '../etc', region: 'x' } }],
    [
      'job_config.endpoint_url',
      { job_config: { bucket: 'b', region: 'x', endpoint_url: 'file:///' } },
    ],
    ['job_config.encryption', { job_config: { bucket: 'b', region: 'x', encryption: 'rot13' } }],
    ['enabled', { enabled: 'yes' }],
    [
      'job_config.export_metadata_fields[0].entity_type',
      {
        job_config: {
          bucket: 'b',
          region: 'x',
          export_metadata_fields: [{ entity_type: 'customer', field_key: 'k' }],
        },
      },
    ],
  ])('400: %s %j', async (path, fields) => {
    const answer = await create(fields);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });

  test('400: a connection that is no storage; 404: one that does not exist', async () => {
    const cards = await caller.post('/v1/connections', { name: 'C', provider_type: 'stripe' });
    expect((await create({ connection_id: cards.body.id })).status).toBe(400);
    expect((await create({ connection_id: 'conn_missing' })).status).toBe(404);
  });

  test.each([
    [{ start_time: '2026-01-01T00:00:00Z' }, 'end_time'],
    [{ end_time: '2026-01-01T00:00:00Z' }, 'start_time'],
    [{ start_time: '2026-01-02T00:00:00Z', end_time: '2026-01-01T00:00:00Z' }, 'end_time'],
    [{ start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' }, 'end_time'],
  ])('400 before 404: a run of %j', async (body, path) => {
    const answer = await caller.post('/v1/tasks/scheduled/x/run', body);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });
  test('an unknown task is 404 on every route', async () => {
    const path = '/v1/tasks/scheduled/x';
    const answers = [
      await caller.get(path),
      await caller.put(path, { enabled: true }),
      await caller.delete(path),
      await caller.post(`${path}/run`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await caller.put(path, {})).status).toBe(400);
  });
});
