import { startTestApi, type TestApi } from '../support/api.ts';

/** The number of a whole list comes from counters, and is what counting the rows answers. */
describe('record counts', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  const totals = async () => {
    const search = async (status?: string) => {
      const answer = await api.post('/v1/customers/search', { limit: 1, status });
      return answer.body.pagination.total as number;
    };
    return [await search(), await search('published'), await search('archived')];
  };
  const create = (n: number) =>
    api.post('/v1/customers', { external_id: `c${n}`, name: `Customer ${n}` });

  test('follow creates, archives, refusals, and writers at the same time', async () => {
    const made = await Promise.all(Array.from({ length: 30 }, (_, n) => create(n)));
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
    expect(await totals()).toEqual([30, 30, 0]);

    await Promise.all(made.slice(0, 4).map(({ body }) => api.delete(`/v1/customers/${body.id}`)));
    expect(await totals()).toEqual([30, 26, 4]);

    expect((await create(7)).status).toBe(409);
    await api.put(`/v1/customers/${made[9]!.body.id}`, { name: 'Renamed' });
    const other = await api.newCaller();
    await other.post('/v1/customers', { external_id: 'c1', name: 'Elsewhere' });
    expect(await totals()).toEqual([30, 26, 4]);

    await api.pool`delete from customers where id = ${made[20]!.body.id}`;
    await api.pool
      .begin(async (tx) => {
        await tx`update customers set status = 'archived' where tenant_id = ${api.scope.tenant_id}`;
        throw new Error('undone');
      })
      .catch(() => {});
    expect(await totals()).toEqual([29, 25, 4]);
    const [counted] = await api.pool`
      select count(*)::int as all, count(*) filter (where status = 'published')::int as published
        from customers where tenant_id = ${api.scope.tenant_id}`;
    expect(counted).toEqual({ all: 29, published: 25 });
  });

  test('a filter, a full page and a page beyond the end have their exact numbers', async () => {
    const page = async (body: object) =>
      (await api.post('/v1/customers/search', body)).body.pagination.total as number;
    const named = { field: 'name', operator: 'contains', value: { string: 'CUSTOMER 1' } };
    const all = await page({ filters: [named], limit: 1000 });
    expect(all).toBeGreaterThan(5);
    expect(await page({ filters: [named], limit: 1 })).toBe(all);
    expect(await page({ filters: [named], limit: 5, offset: 500 })).toBe(all);
    expect(await page({ limit: 5, offset: 500 })).toBe(29);
    expect(await page({ external_ids: ['c5', 'c6'] })).toBe(2);
  });
});
