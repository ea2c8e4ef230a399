import { makePasswordToken } from '../../../api/tenancy/auth/one-time-token-repository.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

const anonymous = { 'x-api-key': '' };
const bearer = (token: string) => ({ ...anonymous, authorization: `Bearer ${token}` });

/** The tenant's audit log has every successful and failed login, and its origin (tenancy S25). */
describe('the audit log of getting in', () => {
  let api: TestApi;
  let people = 0;
  beforeAll(async () => {
    api = await startTestApi();
    await api.put('/v1/settings/tenant_config', { value: { max_users: 1000 } });
  });
  afterAll(() => api.close());
  beforeEach(() => api.clock.advance(16 * 60_000));

  const invite = async () => {
    const email = `audited-${(people += 1)}@example.test`;
    const { body } = await api.post('/v1/users', { type: 'user', email });
    return { id: body.id as string, email, password: body.password as string };
  };
  const logIn = (email: string, password: string, headers: object = {}) =>
    api.post('/v1/auth/login', { email, password }, { ...anonymous, ...headers });
  /** Newest first, without the invitation. */
  const entries = async (id: string) => {
    const query = new URLSearchParams({ entity_id: id, entity_type: 'user', limit: '100' });
    const { body } = await api.get(`/v1/audit-logs?${query}`);
    return (body.items as Record<string, any>[]).filter(
      ({ action }) => action !== 'created' && action !== 'updated',
    );
  };
  const actions = async (id: string) => (await entries(id)).map(({ action }) => action);

  test('a login: who, from where, with what program', async () => {
    const person = await invite();
    await logIn(person.email, person.password, {
      'user-agent': `Browser/1.0 ${'x'.repeat(400)}`,
      'x-request-id': 'the-login',
    });
    const [entry] = await entries(person.id);
    expect(entry).toMatchObject({
      action: 'logged_in', actor_kind: 'user', user_id: person.id, ip: '127.0.0.1',
      request_id: 'the-login', environment_id: null, before: null,
      after: { reason: 'password', session_id: expect.stringMatching(/^[0-9a-f]{64}$/) },
    }); // prettier-ignore
    expect(entry!['user_agent']).toHaveLength(200);
  });

  test('a failure has no user; the tenth is a lock-out, and later refusals are not logged', async () => {
    const person = await invite();
    for (let guess = 0; guess < 13; guess += 1) await logIn(person.email, 'wrong-word');
    const found = await entries(person.id);
    expect(found.map(({ action }) => action)).toEqual([
      'locked_out',
      ...Array.from({ length: 10 }, () => 'login_failed'),
    ]);
    expect(found[0]!['after']).toEqual({ reason: 'network' });
    expect(found[1]).toMatchObject({
      actor_kind: 'public',
      user_id: null,
      after: { reason: 'wrong_password' },
    });
  });

  test('failures of unknown addresses are not logged', async () => {
    const count = async () =>
      (await api.pool<{ count: number }[]>`select count(*)::int as count from audit_log`)[0]!.count;
    const before = await count();
    for (let guess = 0; guess < 12; guess += 1) await logIn('nobody@example.test', 'wrong-word');
    expect(await count()).toBe(before);
  });

  test('log-out, and a refresh token that is shown a second time', async () => {
    const person = await invite();
    const { body: one } = await logIn(person.email, person.password);
    await api.post('/v1/auth/logout', {}, bearer(one.token));
    const { body: two } = await logIn(person.email, person.password);
    const refresh = () =>
      api.post('/v1/auth/refresh', { refresh_token: two.refresh_token }, anonymous);
    const { body: next } = await refresh();
    expect((await refresh()).status).toBe(401);
    expect((await api.get('/v1/users/me', bearer(next.token))).status).toBe(401);
    await refresh();
    expect(await actions(person.id)).toEqual([
      'refresh_reused',
      'logged_in',
      'logged_out',
      'logged_in',
    ]);
  });

  test('a change and a reset of a password, with what was guessed before', async () => {
    const person = await invite();
    const { body } = await logIn(person.email, person.password);
    const change = (current_password: string) =>
      api.put(
        '/v1/users/me/password',
        { current_password, new_password: 'a new password' },
        bearer(body.token),
      );
    await change('not the password');
    await change(person.password);
    const user = { id: person.id, tenant_id: api.scope.tenant_id };
    const token = await makePasswordToken(api.pool, user, 'operator', api.clock.now());
    await api.post('/v1/auth/password/reset', { token, new_password: 'another one' }, anonymous);
    const found = await entries(person.id);
    expect(found.map(({ action, after }) => [action, after.reason])).toEqual([
      ['password_reset', 'operator'],
      ['password_changed', 'own'],
      ['login_failed', 'wrong_current_password'],
      ['logged_in', 'password'],
    ]);
    expect(found[0]).toMatchObject({ actor_kind: 'user', user_id: person.id });
  });

  test('a key that is made and deleted, with the program of who did it', async () => {
    const agent = { 'user-agent': 'terraform/1.9' };
    const { body } = await api.post(
      '/v1/secrets/api/keys',
      { name: 'k', type: 'private_key' },
      agent,
    );
    await api.delete(`/v1/secrets/api/keys/${body.secret.id}`, undefined, agent);
    const found = await api.get(`/v1/audit-logs?entity_id=${body.secret.id}`);
    expect(found.body.items).toMatchObject([
      { action: 'deleted', user_agent: 'terraform/1.9', user_id: api.user_id, ip: '127.0.0.1' },
      { action: 'created', user_agent: 'terraform/1.9', user_id: api.user_id, ip: '127.0.0.1' },
    ]);
  });

  test('it contains no password and no token, also not of failed attempts', async () => {
    const rows = await api.pool<{ row: string }[]>`select l::text as row from audit_log l`;
    expect(
      rows.filter(({ row }) => /wrong-word|a new password|another one|reset_|eyJ/.test(row)),
    ).toEqual([]);
  });

  test('the API’s role writes into the log of its own tenant and no other', async () => {
    const stranger = await api.newCaller();
    const write = (tenant: string) =>
      api.pool.begin(async (tx) => {
        await tx`select set_config('role', 'meterline_api', true), set_config('meterline.tenant', ${api.scope.tenant_id}, true)`;
        await tx`select audit_access(${tenant}, 'user_x', 'logged_in', '{}', null)`;
      });
    await expect(write(stranger.scope.tenant_id)).rejects.toMatchObject({ code: '42501' });
    await write(api.scope.tenant_id);
  });
});

describe('the sessions of a person', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  let people = 0;
  const person = async () => {
    const email = `owner-${(people += 1)}@example.test`;
    const { body } = await api.post('/v1/users', { type: 'user', email });
    const logIn = async (agent = 'one') => {
      const credentials = { email, password: body.password };
      const headers = { ...anonymous, 'user-agent': agent };
      return (await api.post('/v1/auth/login', credentials, headers)).body.token as string;
    };
    return { id: body.id as string, logIn };
  };
  const list = async (token: string, query = '') =>
    (await api.get(`/v1/users/me/sessions${query}`, bearer(token))).body;
  const isAlive = async (token: string) =>
    (await api.get('/v1/users/me', bearer(token))).status === 200;

  test('200: where and with what each was opened, newest first, in pages', async () => {
    const { logIn } = await person();
    const first = await logIn('one');
    api.clock.advance(1000);
    await logIn('two');
    const { items, pagination } = await list(first);
    expect(items).toMatchObject([
      { user_agent: 'two', ip: '127.0.0.1', opened_by: 'password', is_current: false },
      { user_agent: 'one', is_current: true },
    ]);
    expect(pagination.total).toBe(2);
    expect((await list(first, '?limit=1&offset=1')).items).toMatchObject([{ user_agent: 'one' }]);
  });

  test('204: one is ended, then all others, then all', async () => {
    const { id, logIn } = await person();
    const tokens = [await logIn('one'), await logIn('two'), await logIn('three')] as const;
    const [own] = tokens;
    const two = (await list(own)).items.find((item: any) => item.user_agent === 'two');
    const end = (path: string) =>
      api.delete(`/v1/users/me/sessions${path}`, undefined, bearer(own));
    expect((await end(`/${two.id}`)).status).toBe(204);
    expect(await Promise.all(tokens.map(isAlive))).toEqual([true, false, true]);
    expect((await end(`/${two.id}`)).status).toBe(404);
    expect((await end('?keep_current=true')).status).toBe(204);
    expect(await Promise.all(tokens.map(isAlive))).toEqual([true, false, false]);
    expect((await end('')).status).toBe(204);
    expect(await isAlive(own)).toBe(false);
    const { body } = await api.get(`/v1/audit-logs?entity_id=${id}&action=session_ended`);
    expect(body.pagination.total).toBe(3);
  });

  test('404: another person’s session; 403: an API key has none', async () => {
    const [one, other] = [await person(), await person()];
    const [token, foreign] = [await one.logIn(), await other.logIn()];
    const [item] = (await list(foreign)).items;
    const answer = await api.delete(`/v1/users/me/sessions/${item.id}`, undefined, bearer(token));
    expect([answer.status, await isAlive(foreign)]).toEqual([404, true]);
    expect((await api.get('/v1/users/me/sessions')).status).toBe(403);
    expect((await api.delete('/v1/users/me/sessions')).status).toBe(403);
  });
});
