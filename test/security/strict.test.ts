import { API_ROUTES } from '../../api/routes.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createWorld, type World } from '../support/world.ts';

/**
 * What is answered cannot be written: under `Prefer: handling=strict` a body with every answered field is
 * refused with the names of those that are not the caller's to set; without it they change nothing
 * (tenancy S7; metering 2).
 */
describe('mass assignment', () => {
  let api: TestApi;
  let world: World;
  beforeAll(async () => {
    api = await startTestApi();
    world = await createWorld(api);
  });
  afterAll(() => api.close());

  const OURS = ['tenant_id', 'environment_id', 'created_at', 'created_by', 'updated_by', 'status'];

  test('every PUT of a record refuses to take an answer back, and names what is not the caller’s', async () => {
    const wrong: string[] = [];
    let compared = 0;
    for (const route of API_ROUTES) {
      if (route.method !== 'PUT' || route.body === undefined || route.permission === 'portal')
        continue;
      const id = world.foreign[route.path];
      if (id === undefined || route.path === '/settings/{key}') continue;
      const url = `/v1${route.path.replace(/\{[a-z_]+\}/, id)}`;
      const record = await api.get(url);
      if (record.status !== 200 || record.body.tenant_id === undefined) continue;
      const strict = await api.put(url, record.body, { prefer: 'handling=strict' });
      const named = (strict.body.details ?? []).map((detail: { path: string }) => detail.path);
      // A field of the same name that the body declares is the caller's.
      const declared = Object.keys((route.body as { shape?: object }).shape ?? {});
      const missing = OURS.filter(
        (field) => field in record.body && !declared.includes(field) && !named.includes(field),
      );
      compared += 1;
      if (strict.status !== 400 || missing.length > 0)
        wrong.push(`${route.path}: ${strict.status} does not name ${missing.join(', ')}`);
      await api.put(url, {
        ...record.body,
        tenant_id: 'tenant_x',
        environment_id: 'env_x',
        created_by: 'me',
        id: 'x',
      });
      const { body: after } = await api.get(url);
      for (const field of ['id', 'tenant_id', 'environment_id', 'created_at', 'created_by'])
        if (after[field] !== record.body[field]) wrong.push(`${route.path}: ${field} was written`);
    }
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(5);
  });

  test('a person cannot give itself roles, a type or another tenant', async () => {
    const more = {
      roles: ['super_admin'],
      type: 'service_account',
      tenant_id: 'x',
      email: 'x@example.test',
    };
    const person = await api.newCaller({ beside: api, roles: ['all_writer'] });
    const { body } = await person.put('/v1/users/me', { name: 'Me', ...more });
    expect([body.name, body.roles, body.type, body.tenant.id]).toEqual([
      'Me',
      ['all_writer'],
      'user',
      api.scope.tenant_id,
    ]);
    const strict = await person.put('/v1/users/me', more, { prefer: 'handling=strict' });
    expect([
      strict.status,
      strict.body.details.map((detail: { path: string }) => detail.path),
    ]).toEqual([400, Object.keys(more)]);
  });
});
