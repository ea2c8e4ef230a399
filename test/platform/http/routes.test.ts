import { z } from 'zod';
import type { FastifyInstance } from 'fastify';
import { permissionsOf } from '../../../domain/access/permissions.ts';
import { notFound } from '../../../domain/errors.ts';
import type { KeyIdentity } from '../../../platform/identity/identity.ts';
import { registerRoutes } from '../../../platform/http/register-routes.ts';
import {
  assertRoutes,
  routesOf,
  type Route,
  type RouteDeps,
} from '../../../platform/http/route.ts';
import { createServer } from '../../../platform/http/server.ts';
import { createLogger } from '../../../platform/log.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

const route = routesOf<RouteDeps>();
const Thing = z.object({
  name: z.string().min(1),
  tiers: z.array(z.object({ up_to: z.int().nullish() })).nullish(),
});

const ROUTES: Route<RouteDeps>[] = [
  route({
    method: 'POST',
    path: '/things',
    summary: 'Counts rows',
    permission: 'thing:write',
    body: Thing,
    status: 201,
    answer: z.object({ name: z.string(), count: z.number() }),
    async handler({ deps, body, identity }) {
      return await deps.pool.begin(async (tx) => {
        await tx`insert into environments (id, tenant_id, name, type)
                 values (${String(Math.random())}, ${identity.tenant_id}, ${body.name}, 'development')`;
        const [row] = await tx<
          { count: string }[]
        >`select count(*) from environments where name = ${body.name}`;
        if (body.name === 'refused') throw notFound('Thing', 'x');
        if (body.name === 'overflow') await tx`select (10::numeric ^ 20)::numeric(38, 18)`;
        if (body.name === 'bug') throw new Error('a secret of ours');
        return { name: body.name, count: Number(row!.count) };
      });
    },
  }),
  route({
    method: 'GET',
    path: '/things/{id}',
    summary: 'Echoes',
    permission: 'thing:read',
    params: z.object({ id: z.string() }),
    status: 200,
    answer: z.object({ id: z.string() }),
    handler: async ({ params }) => params,
  }),
  route({
    method: 'DELETE',
    path: '/things/{id}',
    summary: 'Answers nothing',
    permission: 'thing:write',
    params: z.object({ id: z.string() }),
    status: 204,
    answer: null,
    handler: async () => undefined,
  }),
];

const identity = (roles: string[]): KeyIdentity => ({
  kind: 'key',
  tenant_id: 't1',
  environment_id: 'e1',
  key_id: 'k',
  user_id: 'u',
  user_type: 'user',
  roles,
  permissions: permissionsOf(roles),
  environment_ids: null,
  environment_type: 'development',
});
const KEYS: Record<string, KeyIdentity> = {
  admin: identity(['super_admin']),
  reader: identity(['all_reader']),
  nobody: identity([]),
};

describe('declared routes', () => {
  let database: TestDatabase;
  let app: FastifyInstance;
  beforeAll(async () => {
    database = await createTestDatabase();
    await database.pool`insert into tenants (id, name) values ('t1', 'Test')`;
    app = createServer({ log: createLogger('silent', 'test') });
    registerRoutes(app, ROUTES, {
      prefix: '/v1',
      deps: { pool: database.pool },
      authenticate: async (key) => KEYS[key] ?? null,
    });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const send = (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS' | 'HEAD',
    url: string,
    payload?: string | object,
    headers: Record<string, string> = {},
  ) =>
    app.inject({
      method,
      url,
      headers: {
        'x-api-key': 'admin',
        ...(typeof payload === 'string' ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(payload === undefined ? {} : { payload }),
    });

  describe('201', () => {
    test('the answer is the body of the handler under the declared status', async () => {
      const answer = await send('POST', '/v1/things', { name: 'one' });
      expect([answer.statusCode, answer.json()]).toEqual([201, { name: 'one', count: 1 }]);
    });

    test('unknown fields are ignored and named, at any depth', async () => {
      const answer = await send('POST', '/v1/things?shape=round', {
        name: 'two',
        colour: 'red',
        tiers: [{ up_to: 1 }, { upto: 2 }],
      });
      expect(answer.statusCode).toBe(201);
      expect(answer.headers['x-ignored-fields']).toBe('shape, colour, tiers%5B1%5D.upto');
    });

    test('text after the body is left unread and named; refused on demand', async () => {
      for (const rest of [' and more', '{"name": "two"}', '}', ' {"name": "x"', '\n\u0000']) {
        const name = `followed by ${rest.length}`;
        const answer = await send('POST', '/v1/things', `{"name": "${name}"}${rest}`);
        expect([answer.statusCode, answer.json().name]).toEqual([201, name]);
        expect(answer.headers['x-ignored-fields']).toBe('text%20after%20the%20body');
      }
      const strict = await send('POST', '/v1/things', '{"name": "x"} and more', {
        prefer: 'handling=strict',
      });
      expect([strict.statusCode, strict.json().code]).toEqual([400, 'unknown_field']);
    });

    test('a bearer token carries a key as well', async () => {
      const answer = await app.inject({
        method: 'GET',
        url: '/v1/things/a',
        headers: { authorization: 'Bearer reader' },
      });
      expect(answer.json()).toEqual({ id: 'a' });
    });

    test('the request id is the caller’s when it is well formed', async () => {
      const kept = await send('GET', '/v1/things/a', undefined, { 'x-request-id': 'a.B-9_z' });
      expect(kept.headers['x-request-id']).toBe('a.B-9_z');
      const made = await send('GET', '/v1/things/a', undefined, { 'x-request-id': 'no spaces' });
      expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    });

    test('a DELETE may carry a content type and no body; the answer has neither', async () => {
      const answer = await send('DELETE', '/v1/things/a', '');
      expect([answer.statusCode, answer.body]).toEqual([204, '']);
      expect(answer.headers['content-type']).toBeUndefined();
    });

    test('a trailing slash is 307 to the route without it, OPTIONS is answered everywhere', async () => {
      const answer = await send('GET', '/v1/things/a/?expand=b/');
      expect([answer.statusCode, answer.headers.location]).toEqual([307, '/v1/things/a?expand=b/']);
      expect((await send('GET', '/v1/nothing/')).statusCode).toBe(404);
      expect((await send('OPTIONS', '/v1/things')).statusCode).toBe(200);
    });
  });

  describe('400', () => {
    test('every problem is named under the path that the client wrote', async () => {
      const answer = await send('POST', '/v1/things', { tiers: [{ up_to: 1 }, { up_to: 'x' }] });
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toMatchObject({
        success: false,
        error: { message: 'name: is required (and 1 more)', internal_error: null },
        code: 'validation_error',
        http_status_code: 400,
        message: 'name: is required (and 1 more)',
        details: [
          { path: 'name', code: 'required', message: 'is required' },
          { path: 'tiers[1].up_to', code: 'invalid_type' },
        ],
        request_id: answer.headers['x-request-id'],
      });
    });

    test('unknown fields are refused on demand', async () => {
      const answer = await send(
        'POST',
        '/v1/things',
        { name: 'x', colour: 'red' },
        { prefer: 'handling=strict' },
      );
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toMatchObject({ code: 'unknown_field', details: [{ path: 'colour' }] });
    });

    test.each([
      ['malformed', '{"name": '],
      ['empty', ''],
      ['an array', '[]'],
      ['a number', '4'],
      ['poisoned', '{"name": "x", "__proto__": {"polluted": true}}'],
      [
        'poisoned by constructor',
        '{"name": "x", "constructor": {"prototype": {"polluted": true}}}',
      ],
      ['with NUL', '{"name": "a\\u0000b"}'],
      ['with half a surrogate pair', '{"name": "a\\ud800b"}'],
      ['too deep', `{"name": "x", "a": ${'['.repeat(40)}${']'.repeat(40)}}`],
      ['begun with text', 'and then {"name": "x"}'],
      ['closed before it began', '} {"name": "x"}'],
    ])('a body that is %s', async (_what, body) => {
      const answer = await send('POST', '/v1/things', body);
      expect(answer.statusCode).toBe(400);
      expect(answer.json().code).toBe('validation_error');
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    });

    test.each([
      ['{"name": "a\\u0000b"}', 'name'],
      ['{"name": "x", "a": [1, {"b": "\\ud800"}]}', 'a[1].b'],
      ['{"name": "x", "a": {"b\\u0000": 1}}', 'a'],
      ['"a\\u0000b"', 'body'],
      [`{"name": "x", "a": {"b": ${'['.repeat(40)}${']'.repeat(40)}}}`, `a.b${'[0]'.repeat(14)}`],
    ])('%s: what no store can keep is named', async (body, path) => {
      const answer = await send('POST', '/v1/things', body);
      expect(answer.json().details).toMatchObject([{ path, code: 'invalid_value' }]);
      expect(answer.json().message).toMatch(/NUL|deeper/);
      expect(answer.json().message.startsWith(`${path}: `)).toBe(true);
    });

    test.each([
      ['{"name": "x", "__proto__": {"a": 1}}', '__proto__'],
      ['{"name": "x", "a": [{"\\u005f_proto__": 1}]}', 'a[0].__proto__'],
      ['{"name": "x", "a": {"constructor": {"prototype": {}}}}', 'a.constructor'],
      ['{"name": "x", "__proto__": 1} and text', '__proto__'],
    ])('%s: a key that could change prototypes is named', async (body, path) => {
      const answer = await send('POST', '/v1/things', body);
      expect(answer.statusCode).toBe(400);
      expect(answer.json().details).toMatchObject([{ path, code: 'invalid_value' }]);
    });

    test('numbers that come to more than the database keeps', async () => {
      const answer = await send('POST', '/v1/things', { name: 'overflow' });
      expect([answer.statusCode, answer.json().code]).toEqual([400, 'validation_error']);
    });

    test('a form is no JSON', async () => {
      const answer = await send('POST', '/v1/things', 'name=x', {
        'content-type': 'application/x-www-form-urlencoded',
      });
      expect(answer.statusCode).toBe(400);
    });

    test('a path that cannot be decoded, or that no store can keep', async () => {
      expect((await send('GET', '/v1/things/%E0%A4%A')).statusCode).toBe(400);
      const unstorable = await send('GET', '/v1/things/a%00b');
      expect(unstorable.statusCode).toBe(400);
      expect(unstorable.json().details).toMatchObject([{ path: 'id' }]);
    });
  });

  test('an id of any length reaches its route, which says how long it may be', async () => {
    for (const length of [513, 8_000]) {
      const id = 'x'.repeat(length);
      const answer = await send('GET', `/v1/things/${id}`);
      expect([answer.statusCode, answer.json()]).toEqual([200, { id }]);
    }
  });

  describe('401 and 403', () => {
    test.each([
      [401, {}],
      [401, { 'x-api-key': 'unknown' }],
      [401, { 'x-api-key': 'unknown', authorization: 'Bearer admin' }],
      [401, { authorization: 'Basic admin' }],
      [403, { 'x-api-key': 'reader' }],
      [403, { 'x-api-key': 'nobody' }],
    ])('%i for %j, before the body is read', async (status, headers) => {
      const answer = await app.inject({
        method: 'POST',
        url: '/v1/things',
        headers: { 'content-type': 'application/json', ...headers } as Record<string, string>,
        payload: '{malformed',
      });
      expect(answer.statusCode).toBe(status);
      expect(answer.json().code).toBe(status === 401 ? 'unauthenticated' : 'permission_denied');
    });
  });

  describe('404', () => {
    test('unknown routes and wrong methods answer the one error body', async () => {
      for (const [method, url] of [
        ['GET', '/v1/nothing'],
        ['PUT', '/v1/things'],
      ] as const) {
        const answer = await send(method, url);
        expect(answer.json()).toMatchObject({ code: 'not_found', http_status_code: 404 });
      }
      expect((await send('HEAD', '/v1/things/a')).statusCode).toBe(404);
    });
  });

  describe('413', () => {
    test('a body over the cap', async () => {
      const answer = await send('POST', '/v1/things', { name: 'x'.repeat(1024 * 1024) });
      expect([answer.statusCode, answer.json().code]).toEqual([413, 'payload_too_large']);
    });
  });

  describe('500', () => {
    test('a bug shows its request id and nothing of itself', async () => {
      const answer = await send('POST', '/v1/things', { name: 'bug' });
      expect(answer.statusCode).toBe(500);
      expect(answer.body).not.toContain('secret');
    });
  });

  describe('Idempotency-Key', () => {
    const once = (key: string, body: object) =>
      send('POST', '/v1/things', body, { 'idempotency-key': key });

    test('a repeat answers the first answer and does nothing', async () => {
      const first = await once('k1', { name: 'once' });
      const second = await once('k1', { name: 'once' });
      expect([second.statusCode, second.json()]).toEqual([first.statusCode, first.json()]);
      expect(first.headers['idempotent-replayed']).toBeUndefined();
      expect(second.headers['idempotent-replayed']).toBe('true');
      expect((await once('k1b', { name: 'once' })).json().count).toBe(2);
    });

    test('another request under the same key is refused', async () => {
      await once('k2', { name: 'first' });
      const answer = await once('k2', { name: 'other' });
      expect([answer.statusCode, answer.json().code]).toEqual([409, 'idempotency_key_reused']);
    });

    test('a refused request is rolled back, forgotten, and can be repeated', async () => {
      expect((await once('k3', { name: 'refused' })).statusCode).toBe(404);
      expect((await once('k3', { name: 'accepted' })).json().count).toBe(1);
      const [row] = await database.pool`select 1 from environments where name = 'refused'`;
      expect(row).toBeUndefined();
    });

    test('of ten equal requests one runs; the others get 409 or its answer', async () => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => once('k4', { name: 'twins' })),
      );
      const codes = answers.map((answer) =>
        answer.statusCode === 201 ? answer.json().count : answer.json().code,
      );
      expect(codes.filter((code) => code !== 1 && code !== 'idempotency_key_in_use')).toEqual([]);
      const rows = await database.pool`select 1 from environments where name = 'twins'`;
      expect(rows).toHaveLength(1);
    });

    test('a key is 1 to 255 visible characters', async () => {
      expect((await once('k'.repeat(256), { name: 'x' })).statusCode).toBe(400);
    });
  });
});

/** Deny by default begins with what is declared (tenancy S6). */
describe('route declarations are checked at start-up', () => {
  const good = ROUTES[1]! as unknown as Route<never>;
  test.each([
    ['no permission', { ...good, permission: undefined }, /has no permission/],
    ['a read that asks for write', { ...good, permission: 'thing:write' }, /asks for a write/],
    ['Fastify’s path syntax', { ...good, path: '/things/:id' }, /is written/],
    ['parameters without schema', { ...good, params: undefined }, /without a schema/],
  ])('%s', (_what, bad, message) => {
    expect(() => assertRoutes([bad as unknown as Route<never>])).toThrow(message);
  });
  test('the same route twice', () => {
    expect(() => assertRoutes([good, { ...good, path: '/things/{name}' }])).toThrow(/twice/);
  });
});
