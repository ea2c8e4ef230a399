import { z } from 'zod';
import { InProcessRateLimiter } from '../../platform/cache/in-process-rate-limiter.ts';
import type { Identity } from '../../platform/http/api-key-auth.ts';
import { registerRoutes } from '../../platform/http/register-routes.ts';
import { routesOf, type RouteDeps } from '../../platform/http/route.ts';
import { createServer } from '../../platform/http/server.ts';
import { createLogger } from '../../platform/log.ts';

const identity = (key_id: string): Identity => ({
  tenant_id: 't',
  environment_id: 'e',
  key_id,
  user_id: 'u',
  user_type: 'user',
  roles: ['super_admin'],
  permissions: [],
});

describe('requests of one credential are limited', () => {
  let now = 1_000_000;
  const app = createServer({ log: createLogger('silent', 'test') });
  registerRoutes(
    app,
    [
      routesOf<RouteDeps>()({
        method: 'GET',
        path: '/ping',
        summary: 'Answers.',
        permission: 'authenticated',
        status: 200,
        answer: z.object({ ok: z.boolean() }),
        handler: async () => ({ ok: true }),
      }),
    ],
    {
      prefix: '/v1',
      deps: {} as RouteDeps,
      authenticate: async (key) => identity(key),
      callerLimit: {
        limiter: new InProcessRateLimiter({ now: () => now }),
        limit: { perSecond: 2, burst: 4 },
      },
    },
  );
  const ping = (key: string) =>
    app.inject({ method: 'GET', url: '/v1/ping', headers: { 'x-api-key': key } });
  afterAll(() => app.close());

  test('a burst passes, the next is 429 with the time to wait, and another key is free', async () => {
    for (let index = 0; index < 4; index += 1) expect((await ping('a')).statusCode).toBe(200);
    const refused = await ping('a');
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toMatchObject({
      success: false,
      code: 'rate_limited',
      http_status_code: 429,
    });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(refused.headers['ratelimit-limit']).toBe('2');
    expect((await ping('b')).statusCode).toBe(200);
    now += 1_000;
    expect((await ping('a')).statusCode).toBe(200);
  });
});
