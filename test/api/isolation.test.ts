import { API_ROUTES } from '../../api/routes.ts';
import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import { createEventReader } from '../../clickhouse/reading/event-reader.ts';
import { startTestApi, type TestApi, type TestCaller } from '../support/api.ts';
import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';
import { createWorld, WORLD_EVENT_ID, type World } from '../support/world.ts';

/**
 * Tenants and environments never see each other. Every route of the list that names a record is asked for
 * a record of somebody else, and answers just as for one that does not exist: 404 (api 8).
 */
describe('isolation', () => {
  let api: TestApi;
  let world: World;
  let database: TestClickHouse;
  let strangers: Record<string, TestCaller>;
  beforeAll(async () => {
    database = await createTestClickHouse();
    api = await startTestApi({ eventReader: createEventReader(database.clickhouse) });
    world = await createWorld(api);
    await createUsageStore(database.clickhouse).appendRawEvents([
      {
        ...api.scope, event_id: WORLD_EVENT_ID, event_name: 'call', external_customer_id: 'acme', customer_id: '',
        timestamp: 0, source: '', properties: '{}', ingested_at: 0, partition: 0, position: 1n, is_canonical: true,
      }, // prettier-ignore
    ]);
    strangers = {
      'another tenant': await api.newCaller(),
      'another environment of the tenant': await api.newCaller({ inTenantOf: api }),
    };
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });

  const named = API_ROUTES.filter(
    (route) =>
      route.path.includes('{') && route.permission !== 'public' && route.permission !== 'portal',
  );
  const urlOf = (route: (typeof API_ROUTES)[number], values: World['foreign']): string | null => {
    let isKnown = true;
    const path = route.path.replace(/\{([a-z_]+)\}/g, (_all, name: string) => {
      const prefix = route.path.slice(0, route.path.indexOf(`{${name}}`));
      const value = values[`${prefix}{${name}}`];
      if (value === undefined) isKnown = false;
      return value ?? '';
    });
    return isKnown ? `/v1${path}` : null;
  };

  test('the world of the test has a record for every route that names one', () => {
    const missing = named.filter((route) => urlOf(route, world.foreign) === null);
    expect(missing.map((route) => `${route.method} ${route.path}`)).toEqual([]);
  });

  test.each(['another tenant', 'another environment of the tenant'])(
    'records in the path: 404 from %s',
    async (stranger) => {
      const leaks: string[] = [];
      for (const route of named) {
        const name = `${route.method} ${route.path}`;
        if (world.tenantWide.includes(name) && stranger !== 'another tenant') continue;
        if (world.withoutRecord.includes(name)) continue;
        const url = urlOf(route, world.foreign);
        if (url === null) continue;
        const body = route.method === 'GET' ? undefined : (world.bodies[name] ?? {});
        const answer = await strangers[stranger]!.call(
          route.method,
          `${url}${world.queries[name] ?? ''}`,
          body,
        );
        if (answer.status !== 404)
          leaks.push(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
      }
      expect(leaks).toEqual([]);
    },
  );

  test.each(['another tenant', 'another environment of the tenant'])(
    'records in the body: 404 from %s',
    async (stranger) => {
      // A link is refused for want of a connection before its record is looked for.
      const own = { name: 'Cards', provider_type: 'stripe' };
      const connected = await strangers[stranger]!.post('/v1/connections', own);
      expect(connected.status).toBe(201);
      const leaks: string[] = [];
      for (const [name, body] of world.references) {
        const [method, path] = name.split(' ');
        const answer = await strangers[stranger]!.call(method!, path!, body);
        if (answer.status !== 404) leaks.push(`${name} ${JSON.stringify(body)}: ${answer.status}`);
      }
      expect(leaks).toEqual([]);
    },
  );

  test.each(['another tenant', 'another environment of the tenant'])(
    'lists of %s are empty, also when they ask by id',
    async (stranger) => {
      const leaks: string[] = [];
      for (const route of API_ROUTES.filter((candidate) => candidate.path.endsWith('/search'))) {
        const isTenantWide = world.tenantWide.includes(`${route.method} ${route.path}`);
        if (isTenantWide && stranger !== 'another tenant') continue;
        for (const filter of [{}, world.filters[route.path] ?? {}]) {
          const answer = await strangers[stranger]!.post(`/v1${route.path}`, filter);
          const items = (answer.body.items ?? []) as { id: string }[];
          const foreign = items.filter((item) => world.ids.includes(item.id));
          if (foreign.length > 0) leaks.push(`${route.path} ${JSON.stringify(filter)}`);
        }
      }
      expect(leaks).toEqual([]);
    },
  );

  test('the owner is not locked out of the same records', async () => {
    const refused: string[] = [];
    for (const route of named.filter((candidate) => candidate.method === 'GET')) {
      const name = `${route.method} ${route.path}`;
      if (world.withoutRecord.includes(name)) continue;
      const url = urlOf(route, world.foreign);
      if (url === null) continue;
      const answer = await api.call('GET', url);
      if (answer.status !== route.status) refused.push(`${name}: ${answer.status}`);
    }
    expect(refused).toEqual([]);
  });
});
