import { z } from 'zod';
import { InProcessRateLimiter } from '../../platform/cache/in-process-rate-limiter.ts';
import type { KeyIdentity } from '../../platform/identity/identity.ts';
import { registerRoutes } from '../../platform/http/register-routes.ts';
import { routesOf, type RouteDeps } from '../../platform/http/route.ts';
import { createServer } from '../../platform/http/server.ts';
import { createLogger } from '../../platform/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const identity = (key_id: string): KeyIdentity => ({
  kind: 'key',
  tenant_id: 't',
  environment_id: 'e',
  key_id,
  user_id: 'u',
  user_type: 'user',
  roles: ['super_admin'],
  permissions: [],
  environment_ids: null,
  environment_type: 'development',
});

const ping = (name: string, permission: 'authenticated' | 'portal' | 'public') =>
  routesOf<RouteDeps>()({
    method: 'GET',
    path: `/${name}`,
    summary: 'Answers.',
    permission,
    status: 200,
    answer: z.object({ ok: z.boolean() }),
    handler: async () => ({ ok: true }),
  });

describe('requests are limited', () => {
  let now = 1_000_000;
  let database: TestDatabase;
  const app = createServer({ log: createLogger('silent', 'test') });
  beforeAll(async () => {
    database = await createTestDatabase();
    const routes = [
      ping('ping', 'authenticated'),
      ping('portal', 'portal'),
      ping('open', 'public'),
    ];
    registerRoutes(app, routes, {
      prefix: '/v1',
      deps: { pool: database.pool },
      authenticate: async (key) => (key.startsWith('unknown') ? null : identity(key)),
      portalSessions: {
        authenticate: async (token) => ({
          ...identity(''),
          kind: 'customer',
          key_id: null,
          customer_id: 'c',
          session_id: token,
        }),
      },
      callerLimit: {
        limiter: new InProcessRateLimiter({ now: () => now }),
        limit: { perSecond: 2, burst: 4 },
        portal: { perSecond: 1, burst: 3 },
        anonymous: { perSecond: 1, burst: 2 },
      },
    });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const get = (path: string, headers: Record<string, string>, remoteAddress = '10.0.0.1') =>
    app.inject({ method: 'GET', url: `/v1/${path}`, headers, remoteAddress });

  test('401 becomes 429 for an address that sends unknown keys; valid keys are still accepted', async () => {
    const where = '2001:db8:7:7::';
    const statuses: number[] = [];
    for (let count = 0; count < 4; count += 1) {
      const key = `unknown-${count}`;
      statuses.push((await get('ping', { 'x-api-key': key }, `${where}${count}`)).statusCode);
    }
    expect(statuses).toEqual([401, 401, 429, 429]);
    const refused = await get('ping', { 'x-api-key': 'unknown' }, `${where}a`);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '1']);
    expect((await get('ping', {}, `${where}b`)).statusCode).toBe(429);
    expect((await get('ping', { 'x-api-key': 'good' }, `${where}c`)).statusCode).toBe(200);
    expect((await get('ping', { 'x-api-key': 'unknown' }, '2001:db8:7:8::1')).statusCode).toBe(401);
    now += 10_000;
    expect((await get('ping', { 'x-api-key': 'unknown' }, `${where}d`)).statusCode).toBe(401);
  });

  test.each<[string, number, (who: string) => ReturnType<typeof get>]>([
    ['of a key', 4, (who) => get('ping', { 'x-api-key': who })],
    ['of a portal session', 3, (who) => get('portal', { 'x-session-token': who })],
    ['of an address without a credential', 2, (who) => get('open', {}, who)],
  ])(
    '%s: a burst passes, the next is 429 with the time to wait, another is free',
    async (_what, burst, send) => {
      for (let index = 0; index < burst; index += 1) {
        const answer = await send('one');
        expect([answer.statusCode, answer.headers['ratelimit-remaining']]).toEqual([
          200,
          String(burst - index - 1),
        ]);
      }
      const refused = await send('one');
      expect(refused.statusCode).toBe(429);
      expect(refused.json()).toMatchObject({
        success: false,
        code: 'rate_limited',
        http_status_code: 429,
      });
      expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(refused.headers['ratelimit']).toMatch(/^limit=\d, remaining=0, reset=\d+$/);
      expect(refused.headers['ratelimit-policy']).toMatch(/^\d;w=1;burst=\d$/);
      expect(refused.headers['x-ratelimit-remaining']).toBe('0');
      expect((await send('other')).statusCode).toBe(200);
      now += 1_000;
      expect((await send('one')).statusCode).toBe(200);
    },
  );
});
