import { createLogger } from '../../platform/log.ts';
import { serveMetrics } from '../../platform/http/serve-metrics.ts';
import { createServer } from '../../platform/http/server.ts';

/** Figures of the product are for those who run it (tenancy S27). */
describe('metrics of the main port', () => {
  const TOKEN = 'a-token-of-the-operator-0001';
  const ask = async (token: string | undefined, headers: object) => {
    const app = createServer({ log: createLogger('silent', 'test') });
    serveMetrics(app, { token, contentType: 'text/plain', read: async () => 'figures 1\n' });
    const { statusCode, body } = await app.inject({
      method: 'GET',
      url: '/metrics',
      headers: { ...headers },
    });
    await app.close();
    return [statusCode, statusCode === 200 ? body : JSON.parse(body).code];
  };

  test('are there for the token alone', async () => {
    expect(await ask(TOKEN, { authorization: `Bearer ${TOKEN}` })).toEqual([200, 'figures 1\n']);
    expect(await ask(TOKEN, { authorization: `bearer ${TOKEN}` })).toEqual([200, 'figures 1\n']);
  });

  test.each<[string, object]>([
    ['nothing', {}],
    ['another token', { authorization: `Bearer ${TOKEN}x` }],
    ['a part of it', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['an empty one', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
    ['an API key', { 'x-api-key': TOKEN }],
    [
      'an address of this machine in a header',
      { 'x-forwarded-for': '127.0.0.1', host: 'localhost' },
    ],
  ])('401 with %s', async (_what, headers) => {
    expect(await ask(TOKEN, headers)).toEqual([401, 'unauthorized']);
  });

  test('404 without a configured token, for every request', async () => {
    expect((await ask(undefined, { authorization: 'Bearer undefined' }))[0]).toBe(404);
    expect((await ask(undefined, {}))[0]).toBe(404);
  });
});
