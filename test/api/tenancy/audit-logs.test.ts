import { chainAuditLog, type ChainedPage } from '../../../postgres/audit/audit-chain.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

/** Every write of every route can be found again, with who made it (tenancy S25). */
describe('GET /audit-logs', () => {
  let api: TestApi;
  let planId: string;
  beforeAll(async () => {
    api = await startTestApi();
    const plan = await api.post(
      '/v1/plans',
      { name: 'Pro' },
      { 'x-request-id': 'making-the-plan' },
    );
    planId = plan.body.id;
    await api.put(`/v1/plans/${planId}`, { name: 'Max' });
    await api.delete(`/v1/plans/${planId}`);
  });
  afterAll(() => api.close());

  const search = async (query: Record<string, string>, caller: Pick<TestApi, 'get'> = api) =>
    (await caller.get(`/v1/audit-logs?${new URLSearchParams(query)}`)).body as {
      items: Record<string, unknown>[];
      pagination: { total: number };
    };

  describe('200', () => {
    test('says who did what to a record, newest first', async () => {
      const { items } = await search({ entity_id: planId });
      expect(items.map(({ action }) => action)).toEqual(['deleted', 'updated', 'created']);
      expect(items[1]).toMatchObject({ before: { name: 'Pro' }, after: { name: 'Max' } });
      const [key] = await api.pool<
        { id: string }[]
      >`select id from api_keys where user_id = ${api.user_id}`;
      expect(items[2]).toMatchObject({
        ...api.scope, entity_type: 'plan', actor_kind: 'user', user_id: api.user_id, key_id: key!.id,
        request_id: 'making-the-plan', ip: '127.0.0.1', job: null, before: null,
      }); // prettier-ignore
    });

    test.each([
      [{ entity_type: 'plan', action: 'updated' }, 1],
      [{ request_id: 'making-the-plan' }, 1],
      [{ action: 'deleted', entity_type: 'meter' }, 0],
      [{ user_id: 'user_unknown' }, 0],
      [{ end_time: '2020-01-01T00:00:00Z' }, 0],
      [{ start_time: '2020-01-01T00:00:00Z', entity_type: 'plan' }, 3],
    ])('filters by %j: %s', async (query, total) => {
      const answer = await search(query as unknown as Record<string, string>);
      expect(answer.pagination.total).toBe(total);
    });

    test('pages do not overlap', async () => {
      const pages = await Promise.all(
        ['0', '1', '2'].map((offset) => search({ entity_id: planId, limit: '1', offset })),
      );
      expect(new Set(pages.map(({ items }) => items[0]!['id'])).size).toBe(3);
    });

    test('shows the environment and what belongs to the tenant, and nothing of others', async () => {
      const beside = await api.newCaller({ inTenantOf: api });
      await beside.post('/v1/plans', { name: 'Elsewhere' });
      await api.put('/v1/tenants/update', { name: 'New name' });
      const seen = async (caller: Pick<TestApi, 'get'>) => [
        ...new Set(
          (await search({ limit: '1000' }, caller)).items.map((item) => item['environment_id']),
        ),
      ];
      expect(new Set(await seen(api))).toEqual(new Set([api.scope.environment_id, null]));
      const stranger = await api.newCaller();
      const { items } = await search({ limit: '1000' }, stranger);
      expect(items.filter((item) => item['tenant_id'] !== stranger.scope.tenant_id)).toEqual([]);
      expect((await search({ entity_id: planId }, stranger)).items).toEqual([]);
    });

    test('a login or sign-up has no user until it succeeds, and logs no password', async () => {
      const email = 'audited@example.test';
      const signed = await api.post('/v1/auth/signup', {
        email,
        password: 'correct horse battery',
      });
      const rows = await api.pool<{ entity_type: string; actor_kind: string; text: string }[]>`
        select entity_type, actor_kind, l::text as text from audit_log l
         where tenant_id = ${signed.body.tenant_id} order by sequence`;
      expect(rows.map(({ entity_type }) => entity_type).sort()).toEqual([
        'environment',
        'tenant',
        'user',
        'user',
      ]);
      // The last one is the login that the sign-up is followed by.
      expect(rows.map(({ actor_kind }) => actor_kind)).toEqual([
        'public',
        'public',
        'public',
        'user',
      ]);
      expect(rows.filter(({ text }) => text.includes('argon2'))).toEqual([]);
    });
  });

  describe('400', () => {
    test.each(['action=destroyed', 'limit=0', 'start_time=yesterday', 'sort=user_id'])(
      '%s',
      async (query) => {
        expect((await api.get(`/v1/audit-logs?${query}`)).status).toBe(400);
      },
    );
  });

  describe('403', () => {
    test('for who may read and write everything else', async () => {
      const writer = await api.newCaller({ beside: api, roles: ['all_writer'] });
      expect((await writer.get('/v1/audit-logs')).status).toBe(403);
      const reader = await api.newCaller({ beside: api, roles: ['all_reader'] });
      expect((await reader.get('/v1/audit-logs')).status).toBe(200);
    });
  });
});

/** The chain of hashes is computed again on request (tenancy S25). */
describe('GET /audit-logs/chain', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
    await api.post('/v1/plans', { name: 'Pro' });
  });
  afterAll(() => api.close());

  const verify = (query = '', caller: Pick<TestApi, 'get'> = api) =>
    caller.get(`/v1/audit-logs/chain${query}`);
  const chainAll = async () => {
    let after: string | null = null;
    do {
      const page: ChainedPage = await api.pool.begin((tx) => chainAuditLog(tx, after));
      after = page.next;
    } while (after !== null);
  };
  const tamper = (work: (tx: Transaction) => PromiseLike<unknown>) =>
    api.pool.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await work(tx);
    });

  test('nothing is chained yet; then the chain verifies, in parts and as a whole', async () => {
    expect((await verify()).body).toMatchObject({ verified_to: 0, length: 0, broken: null });
    await chainAll();
    const { body } = await verify();
    const [last] = await api.pool<{ count: string; at: string; head: string }[]>`
      select number as count, l.created_at as at, encode(c.hash, 'hex') as head
        from audit_chain c join audit_log l using (sequence)
       where c.tenant_id = ${api.scope.tenant_id} order by number desc limit 1`;
    expect(body).toEqual({
      verified_to: Number(last!.count),
      length: Number(last!.count),
      head: last!.head,
      verified_until: last!.at,
      broken: null,
    });
    expect(body.length).toBeGreaterThan(2);
    expect((await verify('?after=2')).body).toEqual(body);
  });

  test('another tenant verifies its own chain only', async () => {
    const stranger = await api.newCaller();
    await chainAll();
    const [own, other] = [(await verify()).body, (await verify('', stranger)).body];
    expect(other.head).not.toBe(own.head);
    expect(other.broken).toBeNull();
  });

  test('a changed row is named, and what follows is not counted', async () => {
    await chainAll();
    const [row] = await api.pool<{ id: string; number: string }[]>`
      select l.id, c.number from audit_chain c join audit_log l using (sequence)
       where c.tenant_id = ${api.scope.tenant_id} and c.number = 2`;
    await tamper((tx) => tx`update audit_log set ip = '192.0.2.1' where id = ${row!.id}`);
    expect((await verify()).body).toMatchObject({
      verified_to: 1,
      broken: { number: 2, audit_log_id: row!.id, problem: 'the row was changed' },
    });
    await tamper((tx) => tx`update audit_log set ip = '127.0.0.1' where id = ${row!.id}`);
  });

  test.each(['?after=-1', '?after=x', '?after=999999'])('400 for %s', async (query) => {
    expect((await verify(query)).status).toBe(400);
  });

  test('403 without the permission', async () => {
    const writer = await api.newCaller({ beside: api, roles: ['all_writer'] });
    expect((await verify('', writer)).status).toBe(403);
  });
});
