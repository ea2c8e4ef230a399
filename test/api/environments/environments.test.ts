import { startTestApi, type TestApi, type TestCaller } from '../../support/api.ts';

describe('environments', () => {
  let api: TestApi;
  let caller: TestCaller;
  beforeAll(async () => {
    api = await startTestApi();
  });
  beforeEach(async () => {
    caller = await api.newCaller();
  });
  afterAll(() => api.close());

  test('201 up to the limits of the setting, 400 beyond', async () => {
    const create = (type: string) => caller.post('/v1/environments', { name: 'E', type });
    const { status, body } = await create('development');
    expect(status).toBe(201);
    expect(Object.keys(body).sort()).toEqual(['created_at', 'id', 'name', 'type', 'updated_at']);
    expect((await create('development')).body.details[0].path).toBe('type');
    expect((await create('production')).status).toBe(400);
    await caller.put('/v1/settings/tenant_config', { value: { development: 3 } });
    expect((await create('development')).status).toBe(201);
    expect((await create('staging')).status).toBe(400);
  });

  test('of two concurrent creates only one is the last', async () => {
    const create = () => caller.post('/v1/environments', { name: 'E', type: 'development' });
    const answers = await Promise.all([create(), create(), create()]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 400, 400]);
  });

  test('200: listed oldest first with the number of all, renamed, never of another type', async () => {
    const { body: second } = await caller.post('/v1/environments', {
      name: 'Second',
      type: 'development',
    });
    const { body: list } = await caller.get('/v1/environments?limit=1&offset=1');
    expect(list).toMatchObject({
      environments: [{ id: second.id }],
      total: 2,
      limit: 1,
      offset: 1,
    });
    const put = (body: object) => caller.put(`/v1/environments/${second.id}`, body);
    expect((await put({ name: 'Renamed', type: 'development' })).body.name).toBe('Renamed');
    expect((await put({ name: '' })).body.name).toBe('Renamed');
    expect((await put({ type: 'production' })).body.details[0].path).toBe('type');
  });
});
