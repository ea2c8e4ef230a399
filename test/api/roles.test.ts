import { API_ROUTES } from '../../api/routes.ts';
import { startTestApi, type TestApi, type TestCaller } from '../support/api.ts';

/**
 * The role × operation matrix, made from the route list: whoever adds a route is in it. A refusal comes
 * before the body is read, so nothing has to exist for the question (reliability, S6).
 */
describe('role × operation', () => {
  let api: TestApi;
  const callers: Record<string, TestCaller> = {};
  beforeAll(async () => {
    api = await startTestApi();
    for (const role of ['all_reader', 'all_writer', 'nobody'])
      callers[role] = await api.newCaller({ beside: api, roles: role === 'nobody' ? [] : [role] });
    for (const role of ['event_ingestor', 'event_reader', 'super_admin'])
      callers[role] = await api.newCaller({
        beside: api,
        roles: [role],
        userType: 'service_account',
      });
  });
  afterAll(() => api.close());

  /** Whether the specification lets the role do it. */
  function expected(role: string, route: (typeof API_ROUTES)[number]): boolean {
    if (route.permission === 'public') return true;
    // Refused with 401: a key is no portal session.
    if (route.permission === 'portal') return true;
    if (route.humanSuperAdminOnly === true) return false;
    if (route.humanOnly === true && role === 'super_admin') return false;
    if (route.permission === 'authenticated') return true;
    const [entity, action] = route.permission.split(':');
    if (entity === 'audit_log') return role === 'all_reader' || role === 'super_admin';
    if (role === 'all_reader') return action === 'read';
    if (role === 'all_writer' || role === 'super_admin') return true;
    if (role === 'event_ingestor') return entity === 'event' && action === 'write';
    if (role === 'event_reader') return entity === 'event' && action === 'read';
    return false;
  }

  test.each([
    'all_reader',
    'all_writer',
    'event_ingestor',
    'event_reader',
    'super_admin',
    'nobody',
  ])('%s may do just what the role says', async (role) => {
    const wrong: string[] = [];
    for (const route of API_ROUTES) {
      const url = `/v1${route.path.replace(/\{[a-z_]+\}/g, 'x')}`;
      const answer = await callers[role]!.call(
        route.method,
        url,
        route.method === 'GET' ? undefined : '"no object"',
        {
          'content-type': 'application/json',
        },
      );
      const isAllowed = answer.status !== 403;
      if (isAllowed !== expected(role, route))
        wrong.push(`${route.method} ${route.path}: ${answer.status}`);
    }
    expect(wrong).toEqual([]);
  });

  test('nothing but what is public is answered without a credential', async () => {
    const open: string[] = [];
    for (const route of API_ROUTES) {
      const url = `/v1${route.path.replace(/\{[a-z_]+\}/g, 'x')}`;
      const answer = await api.call(route.method, url, undefined, { 'x-api-key': '' });
      if (answer.status !== 401 && route.permission !== 'public')
        open.push(`${route.method} ${route.path}`);
    }
    expect(open).toEqual([]);
  });
});
