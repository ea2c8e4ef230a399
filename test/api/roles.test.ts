import { API_ROUTES } from '../../api/routes.ts';
import { startTestApi, type TestApi, type TestCaller } from '../support/api.ts';

type Api = (typeof API_ROUTES)[number];

/** What a role may do, as the specification says it; the code has a table of its own. */
function holds(role: string, route: Pick<Api, 'permission'>): boolean {
  if (route.permission === 'authenticated') return true;
  const [entity, action] = route.permission.split(':');
  if (entity === 'audit_log') return role === 'all_reader' || role === 'super_admin';
  if (role === 'all_reader') return action === 'read';
  if (role === 'all_writer' || role === 'super_admin') return true;
  if (role === 'event_ingestor') return entity === 'event' && action === 'write';
  if (role === 'event_reader') return entity === 'event' && action === 'read';
  return false;
}

const PEOPLE = ['super_admin', 'all_writer', 'all_reader', 'nobody'];
const ACCOUNTS = ['super_admin', 'event_ingestor', 'event_reader'];

/**
 * The matrix of role, operation and environment, for keys and for persons, made from the route list: a new
 * route is in it. A refusal comes before the body is read, so nothing has to exist for the question
 * (tenancy S6).
 */
describe('role × operation × environment', () => {
  let api: TestApi;
  /** Another environment of the tenant, in production. */
  let live: TestCaller;
  let foreign: TestCaller;
  const tally = { cells: 0, leaks: 0 };
  beforeAll(async () => {
    api = await startTestApi();
    live = await api.newCaller({ inTenantOf: api });
    foreign = await api.newCaller();
    await api.pool`
      update environments set type = 'production' where id = ${live.scope.environment_id}`;
  });
  afterAll(async () => {
    process.stdout.write(`matrix cells=${tally.cells} leaks=${tally.leaks}\n`);
    await api.close();
  });

  const ask = async (route: Api, headers: object): Promise<number> => {
    const url = `/v1${route.path.replace(/\{[a-z_]+\}/g, 'x')}`;
    const body = route.method === 'GET' ? undefined : '"no object"';
    const sent = { 'content-type': 'application/json', ...headers };
    return (await api.call(route.method, url, body, sent)).status;
  };
  /** Asks each route; 401 and 403 are refusals. Answers what is not as expected. */
  const wrongCells = async (
    routes: readonly Api[],
    headers: object,
    expected: (route: Api) => 'let' | 401 | 403,
  ): Promise<string[]> => {
    const wrong: string[] = [];
    for (const route of routes) {
      tally.cells += 1;
      const status = await ask(route, headers);
      const found = status === 401 || status === 403 ? status : 'let';
      if (found === expected(route)) continue;
      tally.leaks += 1;
      wrong.push(`${route.method} ${route.path}: ${status} instead of ${expected(route)}`);
    }
    return wrong;
  };
  const closed = API_ROUTES.filter((route) => route.permission !== 'public');
  const rolesOf = (role: string): string[] => (role === 'nobody' ? [] : [role]);

  describe.each(['development', 'production'])('keys of a %s environment', (stage) => {
    const callers = [
      ...PEOPLE.map((role) => ['user', role] as const),
      ...ACCOUNTS.map((role) => ['service_account', role] as const),
    ];
    test.each(callers)('of a %s that is %s', async (userType, role) => {
      const beside = stage === 'production' ? live : api;
      const caller = await api.newCaller({ beside, userType, roles: rolesOf(role) });
      // A key belongs to its environment; the header has no effect.
      const headers = { 'x-api-key': caller.key, 'x-environment-id': foreign.scope.environment_id };
      const isHuman = userType === 'user';
      const wrong = await wrongCells(closed, headers, (route) => {
        if (route.permission === 'portal') return 401;
        if (route.sessionOnly === true) return 403;
        if (!holds(role, route)) return 403;
        if (route.humanOnly === true && !isHuman) return 403;
        if (route.humanSuperAdminOnly === true && !(isHuman && role === 'super_admin')) return 403;
        return 'let';
      });
      expect(wrong).toEqual([]);
    });
  });

  describe.each(['all environments', 'the development environment'])('persons of %s', (reach) => {
    const named = ['development', 'production', 'another tenant’s', 'none'] as const;
    const cases = PEOPLE.flatMap((role) =>
      named.map((environment) => [role, environment] as const),
    );
    // The reach does not depend on the role: two of them show it.
    const asked = cases.filter(
      ([role, environment]) =>
        environment === 'development' || role === 'super_admin' || role === 'all_reader',
    );

    test.each(asked)('%s, naming %s', async (role, environment) => {
      const isConfined = reach !== 'all environments';
      const person = await api.newCaller({ beside: api, roles: rolesOf(role) });
      if (isConfined)
        await api.pool`
          update users set environment_ids = ${[api.scope.environment_id]}
           where id = ${person.user_id}`;
      const id = {
        development: api.scope.environment_id,
        production: live.scope.environment_id,
        'another tenant’s': foreign.scope.environment_id,
        none: undefined,
      }[environment];
      const session = await api.sessionOf(person, id);
      const isReached =
        environment === 'development' || (environment === 'production' && !isConfined);
      // These end the session of the test.
      const routes = closed.filter(
        ({ method, path }) =>
          !path.endsWith('/logout') && !(method === 'DELETE' && path === '/users/me/sessions'),
      );
      const wrong = await wrongCells(routes, session, (route) => {
        if (route.permission === 'portal') return 401;
        if (!isReached && route.withoutEnvironment !== true) return 403;
        if (!holds(role, route)) return 403;
        if (route.humanSuperAdminOnly === true && role !== 'super_admin') return 403;
        return 'let';
      });
      expect(wrong).toEqual([]);
    });
  });

  test('without a credential nothing but what is public is answered', async () => {
    expect(await wrongCells(closed, { 'x-api-key': '' }, () => 401)).toEqual([]);
  });

  /** Environments as records: who sees, renames and clones which. */
  test('environments: 403 for accounts, 404 out of reach', async () => {
    const [own, production, stranger] = [api, live, foreign].map(
      ({ scope }) => scope.environment_id,
    ) as [string, string, string];
    const sandbox = (await api.newCaller({ inTenantOf: api })).scope.environment_id;
    const robot = await api.newCaller({ beside: api, userType: 'service_account' });
    const confined = await api.newCaller({ beside: api });
    await api.pool`
      update users set environment_ids = ${[own]} where id = ${confined.user_id}`;
    const callers: [string, object, readonly string[], changes: boolean][] = [
      ['a development key', { 'x-api-key': api.key }, [own, sandbox], true],
      ['a production key', { 'x-api-key': live.key }, [own, sandbox, production], true],
      ['a key of an account', { 'x-api-key': robot.key }, [own], false],
      ['a person of all', await api.sessionOf(api), [own, sandbox, production], true],
      ['a person of one', await api.sessionOf(confined, own), [own], true],
      ['a key of a person of one', { 'x-api-key': confined.key }, [own], true],
    ];
    const wrong: string[] = [];
    for (const [who, headers, reached, changes] of callers)
      for (const id of [own, sandbox, production, stranger]) {
        const statuses = [
          (await api.get(`/v1/environments/${id}`, headers)).status,
          (await api.put(`/v1/environments/${id}`, {}, headers)).status,
          // Without a name it is refused once the source has been found.
          (await api.post(`/v1/environments/${id}/clone`, {}, headers)).status,
        ];
        const isReached = reached.includes(id);
        const expected = [
          isReached ? 200 : 404,
          !changes ? 403 : isReached ? 200 : 404,
          !changes ? 403 : isReached ? 400 : 404,
        ];
        tally.cells += 3;
        if (String(statuses) !== String(expected)) wrong.push(`${who} ${id}: ${statuses.join()}`);
      }
    tally.leaks += wrong.length;
    expect(wrong).toEqual([]);
  });
});
