import { insertRequestLogs } from '../../../postgres/tables/request-logs.ts';
import { RequestLog } from '../../../platform/http/request-log.ts';
import type { RequestLogEntry } from '../../../schemas/request-log.ts';
import { startTestApi, TEST_NOW, type TestApi, type TestCaller } from '../../support/api.ts';

/** Requests can be found by their id, without what they carried. */
describe('POST /request-logs/search', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  const search = async (
    body: object,
    caller: Pick<TestCaller, 'post'> = api,
  ): Promise<RequestLogEntry[]> => {
    const answer = await caller.post('/v1/request-logs/search', body);
    expect(answer.status).toBe(200);
    return answer.body.items;
  };

  describe('200', () => {
    test('a request by its id, with its caller and its outcome', async () => {
      const headers = { 'x-request-id': 'finds-me', 'user-agent': 'curl/8' };
      const { body: plan } = await api.post('/v1/plans', { name: 'Pro' }, headers);
      await api.get(`/v1/plans/${plan.id}?expand=prices`, { 'x-request-id': 'reads' });
      await api.get('/v1/plans/plan_none', { 'x-request-id': 'misses' });
      const [made] = await search({ request_id: 'finds-me' });
      expect(made).toEqual({
        id: expect.stringMatching(/^reqlog_/),
        environment_id: api.scope.environment_id,
        request_id: 'finds-me',
        method: 'POST',
        route: '/plans',
        path: '/v1/plans',
        status_code: 201,
        error_code: null,
        duration_ms: expect.any(Number),
        idempotency: null,
        actor_kind: 'user',
        user_id: api.user_id,
        key_id: expect.stringMatching(/^secret_/),
        ip: '127.0.0.1',
        user_agent: 'curl/8',
        created_at: TEST_NOW,
      });
      const [read] = await search({ request_id: 'reads' });
      expect(read).toMatchObject({ route: '/plans/{id}', path: `/v1/plans/${plan.id}` });
      const [missed] = await search({ failed: true, request_id: 'misses' });
      expect(missed).toMatchObject({ status_code: 404, error_code: 'not_found' });
    });

    test('hits of an idempotency key are flagged', async () => {
      const send = (name: string, id: string) =>
        api.post('/v1/plans', { name }, { 'idempotency-key': 'once', 'x-request-id': id });
      await send('One', 'key-1');
      await send('One', 'key-2');
      await send('Other', 'key-3');
      const found = await search({ filters: [{ field: 'route', value: { string: '/plans' } }] });
      const flags = found.map(({ request_id, idempotency }) => [request_id, idempotency]);
      expect(flags).toEqual(
        expect.arrayContaining([['key-1', 'first'], ['key-2', 'replayed'], ['key-3', 'refused']]),
      );
      expect((await search({ idempotency: 'replayed' })).map((entry) => entry.request_id)).toEqual([
        'key-2',
      ]);
    }); // prettier-ignore

    test('nothing of bodies, queries and credentials is stored', async () => {
      const hidden = { name: 'body-that-is-private' };
      await api.post('/v1/plans?secret=query-that-is-private', hidden, {
        'x-request-id': 'private',
        'idempotency-key': 'key-that-is-private',
      });
      expect((await search({ request_id: 'private' })).length).toBe(1);
      const rows = await api.pool`select * from request_logs`;
      const stored = JSON.stringify(rows);
      expect(stored).not.toContain('that-is-private');
      expect(stored).not.toContain(api.key);
      await api.get('/v1/customers/external/ada@example.test', { 'x-request-id': 'personal' });
      const [entry] = await search({ request_id: 'personal' });
      expect(entry!.path).toBe('/customers/external/{external_id}');
    });

    test('a refused permission is logged; a refused credential has no tenant', async () => {
      const reader = await api.newCaller({ beside: api, roles: ['event_reader'] });
      await reader.post('/v1/plans', { name: 'x' }, { 'x-request-id': 'forbidden' });
      await api.get('/v1/plans', { 'x-api-key': 'sk_none', 'x-request-id': 'unknown' });
      expect(await search({ request_id: 'unknown' })).toEqual([]);
      const [refused] = await search({ request_id: 'forbidden' });
      expect(refused).toMatchObject({ status_code: 403, user_id: reader.user_id });
    });

    test('the empty text is no filter', async () => {
      await api.get('/v1/plans', { 'x-request-id': 'listed' });
      const all = await search({ request_id: '', key_id: '', user_id: '' });
      expect(all.map(({ request_id }) => request_id)).toContain('listed');
    });

    test('another tenant and another environment see nothing', async () => {
      await api.get('/v1/plans', { 'x-request-id': 'own' });
      const strangers = [await api.newCaller(), await api.newCaller({ inTenantOf: api })];
      for (const stranger of strangers)
        expect(await search({ request_id: 'own' }, stranger)).toEqual([]);
    });
  });

  test.each([
    ['an unknown flag', { idempotency: 'often' }, 'idempotency'],
    ['an unknown field', { filters: [{ field: 'body', value: { string: 'x' } }] }, 'filters[0].field'],
  ])('400: %s', async (_title, body, path) => {
    const answer = await api.post('/v1/request-logs/search', body);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  }); // prettier-ignore

  describe('the store is bounded and never fails a request', () => {
    const identity = {
      kind: 'key',
      user_type: 'user',
      tenant_id: 'tenant_1',
      environment_id: 'env_1',
      user_id: 'u',
      key_id: 'k',
    };
    const noted = (log: RequestLog, times: number): void => {
      for (let time = 0; time < times; time += 1) log.note('/x', request as never, reply as never);
    };
    const request = { id: 'r', method: 'GET', url: '/v1/x?a', headers: {}, ip: '::1' };
    const reply = { statusCode: 200, elapsedTime: 1, hasHeader: () => false };
    beforeAll(async () => {
      const { keepIdentity } = await import('../../../platform/http/request-identity.ts');
      keepIdentity(request as never, identity as never);
    });

    test('of one tenant, what is beyond 100 between two writes is dropped and counted', async () => {
      let dropped = 0;
      const log = new RequestLog({ ...api.deps, onDropped: (count) => (dropped += count) });
      noted(log, 103);
      await log.flush();
      noted(log, 1);
      await log.close();
      const [row] = await api.pool`
        select count(*)::int as rows from request_logs where tenant_id = 'tenant_1'`;
      expect([row!['rows'], dropped]).toEqual([101, 3]);
    });

    test('a store that cannot be reached costs the rows, not the request', async () => {
      let dropped = 0;
      const pool = { begin: () => Promise.reject(new Error('down')) };
      const onDropped = (count: number) => void (dropped += count);
      const log = new RequestLog({ ...api.deps, pool: pool as never, onDropped });
      noted(log, 5);
      await log.flush();
      expect(dropped).toBe(5);
    });
  });

  test('rows are deleted after seven days', async () => {
    const { forgetExpired } = await import('../../../postgres/tables/forget-expired.ts');
    const [entry] = await api.pool`
      select *, now() - interval '8 days' as old, now() - interval '6 days' as young
        from request_logs limit 1`;
    const { old, young, ...row } = entry as Record<string, unknown>;
    await api.pool`update request_logs set created_at = now()`;
    await insertRequestLogs(api.pool, [
      { ...row, id: 'old', created_at: old } as never,
      { ...row, id: 'young', created_at: young } as never,
    ]);
    expect(await forgetExpired(api.pool)).toMatchObject({ request_logs: 1 });
    const left = await api.pool<{ id: string }[]>`
      select id from request_logs where id in ('old', 'young')`;
    expect(left.map(({ id }) => id)).toEqual(['young']);
  });
});
