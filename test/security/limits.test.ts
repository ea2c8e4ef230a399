import { countLogin, forgiveLogin, loginSubjects } from '../../api/tenancy/auth/login-limit.ts';
import { API_ROUTES } from '../../api/routes.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

/** What one caller may cost (reliability, S4 and S18), and what can be switched off (S27). */
describe('limits', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  describe('failed logins', () => {
    let people = 0;
    const newEmail = () => `limit-${(people += 1)}@example.test`;
    const count = (email: string, ip: string): Promise<'counted' | 'refused'> =>
      countLogin(api.deps as never, loginSubjects(email, ip)).then(
        () => 'counted',
        () => 'refused',
      );

    test('of thirty at once from one place, ten are looked at', async () => {
      const email = newEmail();
      const outcomes = await Promise.all(Array.from({ length: 30 }, () => count(email, 'a')));
      expect(outcomes.filter((outcome) => outcome === 'counted')).toHaveLength(10);
    });

    test('a hundred of one address, wherever from; another address is free, and time forgives', async () => {
      const email = newEmail();
      for (let place = 0; place < 100; place += 1)
        expect(await count(email, `b${place}`)).toBe('counted');
      expect(await count(email, 'b-next')).toBe('refused');
      expect(await count(newEmail(), 'b-next')).toBe('counted');
      api.clock.advance(15 * 60_000);
      expect(await count(email, 'b-next')).toBe('counted');
      const [row] = await api.pool<{ count: number }[]>`
        select count(*)::int as count from login_failures where subject = ${loginSubjects(email, '').account}`;
      expect(row!.count).toBe(1);
    });

    test('five hundred from one place, whomever they try', async () => {
      const rows = Array.from({ length: 500 }, () => ({
        subject: loginSubjects('', 'c').place,
        failed_at: new Date(api.clock.now()).toISOString(),
      }));
      await api.pool`insert into login_failures ${api.pool(rows)}`;
      expect(await count(newEmail(), 'c')).toBe('refused');
      expect(await count(newEmail(), 'd')).toBe('counted');
    });

    test('a right password forgives the address, and takes one back of the place', async () => {
      const email = newEmail();
      for (let failure = 0; failure < 9; failure += 1) await count(email, 'e');
      await forgiveLogin(api.deps as never, loginSubjects(email, 'e'));
      for (let failure = 0; failure < 10; failure += 1)
        expect(await count(email, 'e')).toBe('counted');
      expect(await count(email, 'e')).toBe('refused');
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
