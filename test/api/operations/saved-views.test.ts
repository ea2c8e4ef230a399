import { startTestApi, type TestApi, type TestCaller } from '../../support/api.ts';

/** Views that people keep by name: their own, and shared ones of others. */
describe('/saved-views', () => {
  let api: TestApi;
  let colleague: TestCaller;
  beforeAll(async () => {
    api = await startTestApi();
    colleague = await api.newCaller({ beside: api });
  });
  afterAll(() => api.close());

  const VIEW = { page: 'analytics', query: 'zone=UTC&window=DAY' };
  const save = async (fields: object, caller: TestCaller = api): Promise<string> => {
    const answer = await caller.post('/v1/saved-views', { ...VIEW, ...fields });
    expect(answer.status).toBe(201);
    return answer.body.id;
  };
  const names = async (caller: TestCaller, body: object = {}): Promise<string[]> =>
    (await caller.post('/v1/saved-views/search', body)).body.items.map(
      (view: { name: string }) => view.name,
    );

  test('a view is saved, read, changed and deleted', async () => {
    const id = await save({ name: 'Costs', query: '?zone=UTC' });
    const url = `/v1/saved-views/${id}`;
    expect((await api.get(url)).body).toMatchObject({
      ...{ name: 'Costs', page: 'analytics', query: 'zone=UTC', is_shared: false },
      user_id: api.user_id,
    });
    const changed = await api.put(url, { name: 'All costs' });
    expect(changed.body).toMatchObject({ name: 'All costs', query: 'zone=UTC' });
    expect((await api.delete(url)).status).toBe(204);
    expect((await api.get(url)).status).toBe(404);
  });

  test('others see shared views only, and change none', async () => {
    const own = await save({ name: 'Own' });
    const shared = await save({ name: 'Shared', is_shared: true });
    expect(await names(colleague)).toEqual(['Shared']);
    expect((await colleague.get(`/v1/saved-views/${shared}`)).status).toBe(200);
    for (const id of [own, shared]) {
      expect((await colleague.put(`/v1/saved-views/${id}`, { name: 'x' })).status).toBe(404);
      expect((await colleague.delete(`/v1/saved-views/${id}`)).status).toBe(404);
    }
    expect((await colleague.get(`/v1/saved-views/${own}`)).status).toBe(404);
    expect(await names(api, { is_shared: false })).toEqual(['Own']);
    const elsewhere = await api.newCaller({ inTenantOf: api });
    expect(await names(elsewhere)).toEqual([]);
  });

  test('409: a name is taken per person and page', async () => {
    await save({ name: 'Week' });
    expect((await api.post('/v1/saved-views', { ...VIEW, name: 'Week' })).status).toBe(409);
    await save({ name: 'Week', page: 'events' });
    await save({ name: 'Week' }, colleague);
    expect(await names(api, { page: 'events' })).toEqual(['Week']);
  });

  test.each([
    ['name', { name: ' ' }],
    ['page', { name: 'x', page: '' }],
    ['query', { name: 'x', query: 'a'.repeat(4001) }],
  ])('400: %s', async (path, fields) => {
    const answer = await api.post('/v1/saved-views', { ...VIEW, ...fields });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });

  test('a reader reads views and saves none', async () => {
    const reader = await api.newCaller({ beside: api, roles: ['all_reader'] });
    expect(await names(reader)).toContain('Shared');
    expect((await reader.post('/v1/saved-views', { ...VIEW, name: 'x' })).status).toBe(403);
  });

  test('a person has at most 200 views', async () => {
    const keen = await api.newCaller({ beside: api });
    for (let index = 0; index < 200; index += 1) await save({ name: `v${index}` }, keen);
    const answer = await keen.post('/v1/saved-views', { ...VIEW, name: 'one more' });
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('200')]);
  });
});
