import { createLoginLimit, loginSubjects } from '../../platform/identity/login-limit.ts';
import { API_ROUTES } from '../../api/routes.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

/** What one caller may cost (tenancy S4 and S18), and what can be switched off (S27). */
describe('limits', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  describe('failed logins', () => {
    let people = 0;
    const newEmail = () => `limit-${(people += 1)}@example.test`;
    const limit = () => createLoginLimit(api.deps);
    const count = (email: string, ip: string): Promise<'counted' | 'refused'> =>
      limit()
        .count(loginSubjects(email, ip))
        .then(
          () => 'counted',
          () => 'refused',
        );
    /** A failure from each of as many networks that the account was not opened from. */
    const spread = async (email: string, failures: number) => {
      for (let place = 0; place < failures; place += 1)
        expect(await count(email, `192.0.2.${place}`)).toBe('counted');
    };

    test('of thirty concurrent ones from one network, ten are checked', async () => {
      const email = newEmail();
      const outcomes = await Promise.all(
        Array.from({ length: 30 }, () => count(email, '198.51.100.1')),
      );
      expect(outcomes.filter((outcome) => outcome === 'counted')).toHaveLength(10);
    });

    test('addresses of one IPv6 network are one; of another they are not', async () => {
      const email = newEmail();
      for (let host = 1; host <= 10; host += 1)
        expect(await count(email, `2001:db8:0:1::${host}`)).toBe('counted');
      expect(await count(email, '2001:db8:0:1:ffff::1')).toBe('refused');
      expect(await count(email, '2001:db8:0:2::1')).toBe('counted');
    });

    test('failures from anywhere slow an account down, and do not shut it', async () => {
      const email = newEmail();
      await spread(email, 30);
      expect(await count(email, '198.51.100.2')).toBe('refused');
      expect(await count(newEmail(), '198.51.100.2')).toBe('counted');
      api.clock.advance(1_000);
      expect(await count(email, '198.51.100.3')).toBe('counted');
      expect(await count(email, '198.51.100.4')).toBe('refused');
      api.clock.advance(60 * 60_000);
      expect(await count(email, '198.51.100.4')).toBe('counted');
      const [row] = await api.pool<{ count: number }[]>`
        select count(*)::int as count from login_failures
         where subject = ${loginSubjects(email, '').account}`;
      expect(row!.count).toBe(1);
    });

    test('failures elsewhere do not delay a person in a network of an earlier login', async () => {
      const email = newEmail();
      const own = loginSubjects(email, '203.0.113.7');
      await limit().count(own);
      await limit().forgive(own);
      await spread(email, 30);
      expect(await count(email, '203.0.113.8')).toBe('refused');
      expect(await count(email, '203.0.113.7')).toBe('counted');
      api.clock.advance(91 * 24 * 60 * 60_000);
      await spread(email, 30);
      expect(await count(email, '203.0.113.7')).toBe('refused');
    });

    test('five hundred from one network, for any accounts', async () => {
      const rows = Array.from({ length: 500 }, () => ({
        subject: loginSubjects('', '198.51.100.5').place,
        failed_at: new Date(api.clock.now()).toISOString(),
      }));
      await api.pool`insert into login_failures ${api.pool(rows)}`;
      expect(await count(newEmail(), '198.51.100.5')).toBe('refused');
      expect(await count(newEmail(), '198.51.100.6')).toBe('counted');
    });

    test('a right password forgives the account there, and takes one back of the network', async () => {
      const email = newEmail();
      for (let failure = 0; failure < 9; failure += 1) await count(email, '198.51.100.7');
      await limit().forgive(loginSubjects(email, '198.51.100.7'));
      for (let failure = 0; failure < 10; failure += 1)
        expect(await count(email, '198.51.100.7')).toBe('counted');
      expect(await count(email, '198.51.100.7')).toBe('refused');
    });

    test('429 says when to try again', async () => {
      const email = newEmail();
      const logIn = () =>
        api.post('/v1/auth/login', { email, password: 'wrong-word' }, { 'x-api-key': '' });
      for (let failure = 0; failure < 10; failure += 1) expect((await logIn()).status).toBe(401);
      api.clock.advance(5 * 60_000);
      const { status, headers } = await logIn();
      expect([status, headers['retry-after']]).toEqual([429, '600']);
    });
  });

  test('no list skips more than 100,000 records, and says what to do instead', async () => {
    const wrong: string[] = [];
    let lists = 0;
    for (const route of API_ROUTES) {
      if (!route.path.endsWith('/search') || route.method !== 'POST') continue;
      lists += 1;
      const { status, body } = await api.post(`/v1${route.path}`, { offset: 100_001 });
      const [detail] = (body.details ?? []) as { path: string; message: string }[];
      if (status !== 400 || detail?.path !== 'offset') wrong.push(`${route.path}: ${status}`);
    }
    expect(wrong).toEqual([]);
    expect(lists).toBeGreaterThan(10);
  });

  test('documents and single sign-on can be switched off', async () => {
    const dark = await startTestApi({ switches: { serveDocs: false, singleSignOn: false } });
    for (const path of ['/docs', '/docs/', '/v1/openapi.json'])
      expect([path, (await dark.get(path)).status]).toEqual([path, 404]);
    const value = {
      enabled: true,
      idp_entity_id: 'https://idp.example.test',
      idp_sso_url: 'https://idp.example.test/sso',
    };
    const session = await dark.sessionOf(dark, dark.scope.environment_id);
    expect((await dark.put('/v1/settings/saml_config', { value }, session)).status).toBe(200);
    const { status } = await dark.get(`/v1/auth/saml/${dark.scope.tenant_id}/metadata`);
    expect(status).toBe(404);
    await dark.close();
  });
});
