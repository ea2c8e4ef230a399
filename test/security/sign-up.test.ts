import { startTestApi, type TestApi } from '../support/api.ts';

/** Who may make a tenant, and how large it may become (SIGN_UP, TENANT_LIMITS_MAX). */
describe('sign-up by invitation only', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi({ switches: { signUp: 'invited' } });
    await api.post('/v1/users', { type: 'user', email: 'known@example.test' });
  });
  afterAll(() => api.close());

  test.each(['known@example.test', 'stranger@example.test'])(
    '%s: 403, and nothing is made',
    async (email) => {
      const count = () =>
        api.pool`select (select count(*) from users) + (select count(*) from tenants) as all`;
      const before = await count();
      const { status, body } = await api.post('/v1/auth/signup', { email, password: 'password-1' });
      expect([status, body.code]).toEqual([403, 'sign_up_closed']);
      expect(await count()).toEqual(before);
    },
  );
});

test('a lowered cap applies to earlier records of the tenant', async () => {
  const api = await startTestApi();
  const value = { development: 5, max_users: 3 };
  await api.put('/v1/settings/tenant_config', { value });
  Object.assign(api.deps.settings, {
    tenant_limits_max: { production: 0, development: 1, max_users: 1 },
  });
  const made = await api.post('/v1/environments', { name: 'Second', type: 'development' });
  expect([made.status, made.body.details[0].path]).toEqual([400, 'type']);
  const invited = await api.post('/v1/users', { type: 'user', email: 'a@example.test' });
  expect([invited.status, invited.body.details[0].path]).toEqual([400, 'type']);
  await api.close();
});
