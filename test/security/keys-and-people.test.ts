import { startTestApi, type TestApi, type TestCaller } from '../support/api.ts';

/** What a key may do with people and environments (tenancy 52). */
describe('keys, people and environments', () => {
  let api: TestApi;
  /** A key of a human super admin in a development environment. */
  let admin: TestCaller;
  let robot: TestCaller;
  /** The same person's other environments. */
  let production: TestCaller;
  let sandbox: TestCaller;
  let people = 0;
  beforeAll(async () => {
    api = await startTestApi();
  });
  beforeEach(async () => {
    admin = await api.newCaller();
    const { tenant_id } = admin.scope;
    const limits = { development: 9, production: 9, max_users: 99 };
    await admin.put('/v1/settings/tenant_config', { value: limits });
    robot = await api.newCaller({ beside: admin, userType: 'service_account' });
    production = await api.newCaller({ inTenantOf: admin });
    sandbox = await api.newCaller({ inTenantOf: admin });
    await api.pool`
      update environments set type = 'production'
       where tenant_id = ${tenant_id} and id = ${production.scope.environment_id}`;
  });
  afterAll(() => api.close());

  const newPerson = (fields: object = {}) => ({
    type: 'user',
    email: `keys${(people += 1)}@example.test`,
    ...fields,
  });
  const logIn = async (person: { id: string; email: string; password: string }) => {
    const { status, body } = await api.post(
      '/v1/auth/login',
      { email: person.email, password: person.password },
      { 'x-api-key': '' },
    );
    if (status !== 200) throw new Error(JSON.stringify(body));
    return (environmentId?: string) => ({
      'x-api-key': '',
      authorization: `Bearer ${body.token}`,
      ...(environmentId === undefined ? {} : { 'x-environment-id': environmentId }),
    });
  };
  const idsOf = (body: { environments: { id: string }[] }) =>
    body.environments.map(({ id }) => id).sort();

  describe('of a service account, super admin or not', () => {
    test('403: no people are invited, no environments are made, renamed or cloned', async () => {
      const own = robot.scope.environment_id;
      const asked: [string, string, object][] = [
        ['POST', '/v1/users', newPerson({ roles: ['super_admin'] })],
        ['POST', '/v1/users', newPerson({ roles: ['all_reader'] })],
        ['POST', '/v1/environments', { name: 'Mine', type: 'development' }],
        ['POST', '/v1/environments', { name: 'Mine', type: 'production' }],
        ['PUT', `/v1/environments/${own}`, { name: 'Mine' }],
        ['PUT', `/v1/environments/${production.scope.environment_id}`, { name: 'Mine' }],
        ['POST', `/v1/environments/${own}/clone`, { name: 'Copy', type: 'development' }],
        [
          'POST',
          `/v1/environments/${production.scope.environment_id}/clone`,
          { target_environment_id: own },
        ],
      ];
      for (const [method, path, body] of asked) {
        const answer = await robot.call(method, path, body);
        expect([method, path, answer.status, answer.body.code]).toEqual([
          method,
          path,
          403,
          'permission_denied',
        ]);
      }
    });

    test('it sees its own environment alone', async () => {
      const { body } = await robot.get('/v1/environments');
      expect([idsOf(body), body.total]).toEqual([[robot.scope.environment_id], 1]);
      const { status } = await robot.get(`/v1/environments/${sandbox.scope.environment_id}`);
      expect(status).toBe(404);
    });

    test('it makes accounts that hold no more than it does', async () => {
      const account = { type: 'service_account', roles: ['event_ingestor'] };
      expect((await robot.post('/v1/users', account)).status).toBe(201);
    });
  });

  describe('of a person who is super admin', () => {
    test('a person whom it invites has access to its environment only, on every route', async () => {
      const { status, body } = await admin.post('/v1/users', newPerson({ roles: ['super_admin'] }));
      const { environment_id } = admin.scope;
      expect([status, body.environment_ids]).toEqual([201, [environment_id]]);
      const session = await logIn(body);
      const plans = async (environment?: string) =>
        (await api.get('/v1/plans', session(environment))).status;
      expect(await plans(environment_id)).toBe(200);
      for (const other of [production, sandbox])
        expect(await plans(other.scope.environment_id)).toBe(403);
      expect(await plans()).toBe(403);
      const { body: list } = await api.get('/v1/environments', session());
      expect([idsOf(list), list.total]).toEqual([[environment_id], 1]);
      for (const other of [production, sandbox]) {
        const path = `/v1/environments/${other.scope.environment_id}`;
        expect((await api.get(path, session(environment_id))).status).toBe(404);
        expect((await api.put(path, { name: 'x' }, session(environment_id))).status).toBe(404);
        const into = { target_environment_id: environment_id };
        expect((await api.post(`${path}/clone`, into, session())).status).toBe(404);
        const own = `/v1/environments/${environment_id}/clone`;
        const away = { target_environment_id: other.scope.environment_id };
        expect((await api.post(own, away, session())).status).toBe(404);
      }
      const made = { name: 'Mine', type: 'development' };
      expect((await api.post('/v1/environments', made, session())).status).toBe(403);
      const copy = await api.post(`/v1/environments/${environment_id}/clone`, made, session());
      expect(copy.status).toBe(403);
    });

    test('a confined person makes keys and people that are confined as well', async () => {
      const { environment_id } = admin.scope;
      const { body: person } = await admin.post('/v1/users', newPerson({ roles: ['super_admin'] }));
      const session = await logIn(person);
      const key = { name: 'k', type: 'private_key' };
      const elsewhere = session(production.scope.environment_id);
      expect((await api.post('/v1/secrets/api/keys', key, elsewhere)).status).toBe(403);
      const { body: made } = await api.post('/v1/secrets/api/keys', key, session(environment_id));
      const byKey = { 'x-api-key': made.api_key as string };
      expect(idsOf((await api.get('/v1/environments', byKey)).body)).toEqual([environment_id]);
      const more = { name: 'Mine', type: 'development' };
      expect((await api.post('/v1/environments', more, byKey)).status).toBe(403);
      for (const by of [byKey, session()]) {
        const invited = await api.post('/v1/users', newPerson({ roles: ['super_admin'] }), by);
        expect(invited.body.environment_ids).toEqual([environment_id]);
      }
    });

    test('403: it changes and removes only people of its own environment', async () => {
      const owner = await api.sessionOf(admin, admin.scope.environment_id);
      const { body: free } = await api.post(
        '/v1/users',
        newPerson({ roles: ['all_reader'] }),
        owner,
      );
      expect(free.environment_ids).toBeNull();
      const { body: elsewhere } = await sandbox.post('/v1/users', newPerson());
      const { body: own } = await admin.post('/v1/users', newPerson());
      const put = (id: string, by?: object) =>
        api.put(`/v1/users/${id}/roles`, { roles: ['super_admin'] }, by);
      const byKey = { 'x-api-key': admin.key };
      for (const { id } of [free, elsewhere]) {
        expect((await put(id, byKey)).status).toBe(403);
        expect((await admin.post(`/v1/users/${id}/remove`)).status).toBe(403);
      }
      expect((await put(own.id, byKey)).body.roles).toEqual(['super_admin']);
      const confined = await logIn(own);
      expect((await put(free.id, confined())).status).toBe(403);
      expect((await admin.post(`/v1/users/${own.id}/remove`)).status).toBe(204);
      expect((await put(free.id, owner)).status).toBe(200);
    });

    test('404: a development key reaches development environments only; 400: it makes no production one', async () => {
      const [own, other, live] = [admin, sandbox, production].map((at) => at.scope.environment_id);
      const { body: list } = await admin.get('/v1/environments');
      expect([idsOf(list), list.total]).toEqual([[own, other].sort(), 2]);
      expect((await admin.get(`/v1/environments/${live}`)).status).toBe(404);
      expect((await admin.put(`/v1/environments/${live}`, { name: 'x' })).status).toBe(404);
      const clone = (from: string, body: object) =>
        admin.post(`/v1/environments/${from}/clone`, body);
      expect((await clone(live!, { target_environment_id: own })).status).toBe(404);
      expect((await clone(own!, { target_environment_id: live })).status).toBe(404);
      expect((await clone(live!, { name: 'x', type: 'development' })).status).toBe(404);
      for (const made of [
        await admin.post('/v1/environments', { name: 'Live', type: 'production' }),
        await clone(own!, { name: 'Live', type: 'production' }),
      ])
        expect([made.status, made.body.details[0].path]).toEqual([400, 'type']);
      expect((await clone(own!, { target_environment_id: other })).status).toBe(202);
      expect((await admin.put(`/v1/environments/${other}`, { name: 'Renamed' })).status).toBe(200);
    });

    test('200: a session and a production key reach all environments of the tenant', async () => {
      const all = [admin, sandbox, production].map((at) => at.scope.environment_id).sort();
      const session = await api.sessionOf(admin);
      expect(idsOf((await api.get('/v1/environments', session)).body)).toEqual(all);
      expect(idsOf((await production.get('/v1/environments')).body)).toEqual(all);
      const live = { name: 'Live', type: 'production' };
      expect((await production.post('/v1/environments', live)).status).toBe(201);
    });

    test('a person of one environment is no other super admin: one of all environments stays', async () => {
      const invite = async (by: object) =>
        (await api.post('/v1/users', newPerson({ roles: ['super_admin'] }), by)).body;
      const session = await api.sessionOf(admin, admin.scope.environment_id);
      const other = await invite(session);
      await invite({ 'x-api-key': admin.key });
      await api.pool`update api_keys set status = 'archived' where user_id = ${admin.user_id}`;
      await api.pool`
        update users set status = 'archived'
         where id in (${production.user_id}, ${sandbox.user_id}, ${robot.user_id})`;
      const demote = (id: string, by: object) =>
        api.put(`/v1/users/${id}/roles`, { roles: ['all_reader'] }, by);
      await Promise.all([demote(admin.user_id, (await logIn(other))()), demote(other.id, session)]);
      const left = await api.pool`
        select 1 from users
         where tenant_id = ${admin.scope.tenant_id} and environment_ids is null and type = 'user'
           and id in (${admin.user_id}, ${other.id}) and 'super_admin' = any(roles)`;
      expect(left).toHaveLength(1);
    });
  });

  test('403: no key sets up single sign-on, and no person of some environments; it lets people in everywhere', async () => {
    const value = { default_role: 'all_reader' };
    const path = '/v1/settings/saml_config';
    for (const by of [admin, production, robot]) {
      expect((await by.put(path, { value })).status).toBe(403);
      expect((await by.delete(path)).status).toBe(403);
    }
    const { body: person } = await admin.post('/v1/users', newPerson({ roles: ['super_admin'] }));
    const confined = (await logIn(person))(admin.scope.environment_id);
    expect((await api.put(path, { value }, confined)).status).toBe(403);
    const session = await api.sessionOf(admin, admin.scope.environment_id);
    expect((await api.put(path, { value }, session)).status).toBe(200);
  });
});
