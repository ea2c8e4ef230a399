import { connect, type AddressInfo } from 'node:net';
import { API_ROUTES } from '../../api/routes.ts';
import { CREDENTIAL_HEADERS, SECURITY_HEADERS } from '../../platform/http/security-headers.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

/**
 * What browsers and caches are told about every answer: it is one caller's, of the type that it says, framed
 * nowhere (tenancy S22, S23).
 */
describe('headers of answers', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  const NAMES = [...Object.keys(SECURITY_HEADERS), 'content-disposition', 'etag'];
  const shown = (headers: Readonly<Record<string, unknown>>) => ({
    ...Object.fromEntries(
      [...NAMES, 'content-type']
        .filter((name) => headers[name] !== undefined)
        .sort()
        .map((name) => [name, String(headers[name]).replace(/^"[^"]+"$/, '"…"')]),
    ),
  });
  const DATA = {
    'cache-control': 'private, no-cache',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    'referrer-policy': 'no-referrer',
    vary: 'x-api-key, authorization, x-session-token, x-environment-id',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
  const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
  const get = async (url: string, headers: object = {}) => {
    const given = { 'x-api-key': api.key, ...headers };
    const response = await api.app.inject({ method: 'GET', url, headers: given });
    return { status: response.statusCode, headers: shown(response.headers), body: response.body };
  };

  test('a list, a record with its ETag, and a record that is known already', async () => {
    const { body: plan } = await api.post('/v1/plans', { name: 'Pro' });
    expect((await get('/v1/plans')).headers).toEqual({ ...DATA, ...JSON_TYPE });
    const record = await get(`/v1/plans/${plan.id}`);
    expect(record.headers).toEqual({ ...DATA, ...JSON_TYPE, etag: '"…"' });
    const { headers } = await api.get(`/v1/plans/${plan.id}`);
    const known = await get(`/v1/plans/${plan.id}`, { 'if-none-match': headers['etag'] });
    expect([known.status, known.headers]).toEqual([304, { ...DATA, etag: '"…"' }]);
  });

  test('refusals: no credential, nothing there, no route, a bad body, a bad path', async () => {
    const wanted = { ...DATA, ...JSON_TYPE };
    for (const [url, status, headers] of [
      ['/v1/plans', 401, { 'x-api-key': '' }],
      ['/v1/plans/plan_01JAAAAAAAAAAAAAAAAAAAAAAA', 404, {}],
      ['/nothing/here', 404, {}],
      ['/v1/plans?limit=none', 400, {}],
      ['/v1/%zz', 400, {}],
    ] as const) {
      const answer = await get(url, headers);
      expect([url, answer.status, answer.headers]).toEqual([url, status, wanted]);
    }
    const bad = await api.app.inject({
      method: 'POST',
      url: '/v1/plans',
      headers: { 'x-api-key': api.key, 'content-type': 'application/json' },
      payload: '{',
    });
    expect([bad.statusCode, shown(bad.headers)]).toEqual([400, wanted]);
    const options = await api.app.inject({ method: 'OPTIONS', url: '/v1/plans' });
    expect(shown(options.headers)).toEqual(DATA);
  });

  test('what is no HTTP request', async () => {
    await api.app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = api.app.server.address() as AddressInfo;
    const answer = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect(port, '127.0.0.1', () => socket.write('nonsense\r\n\r\n'));
      socket.on('data', (chunk) => (text += String(chunk)));
      socket.on('end', () => resolve(text));
      socket.on('error', reject);
    });
    for (const [name, value] of Object.entries(DATA))
      expect(answer).toContain(`\r\n${name}: ${value}\r\n`);
  });

  test('answers with a secret are not cached', async () => {
    const made = await api.post('/v1/secrets/api/keys', { name: 'k', type: 'private_key' });
    expect([made.status, made.headers['cache-control']]).toEqual([201, 'no-store']);
    expect(made.headers['vary']).toBe(DATA.vary);
  });

  test('tables of what tenants wrote are files, and never shown as a page', async () => {
    const columns = 'event_name,external_customer_id,timestamp,event_id,properties.tokens';
    const csv = `${columns}\n=cmd|x,<script>,2026-11-01T00:00:00Z,,5\n`;
    const uploaded = await api.call('POST', '/v1/tasks/uploads?file_name=x.csv', csv, {
      'content-type': 'text/csv',
    });
    const { upload_id } = uploaded.body;
    const task = await api.post('/v1/tasks', { file_provider: 'csvbox', upload_id });
    const results = await get(`/v1/tasks/${task.body.id}/results`);
    expect([results.status, results.headers]).toEqual([
      200,
      {
        ...DATA,
        'content-disposition': 'attachment',
        'content-type': 'text/csv; charset=utf-8',
      },
    ]);
    // A new route of the kind gets the header by its content type.
    const files = API_ROUTES.filter(({ contentType }) => /csv|ndjson/.test(contentType ?? ''));
    expect(files.map(({ path }) => path)).toContain('/tasks/{id}/results');
  });

  test('the document and its page: files of this origin, framed nowhere, no key kept', async () => {
    const page = await get('/docs/', { 'x-api-key': '' });
    const csp =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    expect([page.status, page.headers]).toMatchObject([
      200,
      {
        'content-security-policy': csp,
        'content-type': 'text/html; charset=utf-8',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      },
    ]);
    // What the policy would keep from running is not there to begin with.
    expect(page.body).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
    const sources = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(sources.length).toBeGreaterThan(3);
    for (const source of sources) {
      const file = await get(new URL(source, 'http://x/docs/').pathname, { 'x-api-key': '' });
      expect([source, file.status, file.headers]).toMatchObject([
        source,
        200,
        { 'content-security-policy': csp, 'x-content-type-options': 'nosniff' },
      ]);
    }
    const settings = await get('/docs/static/swagger-initializer.js', { 'x-api-key': '' });
    expect(settings.body).toMatch(/"persistAuthorization":\s*false/);
    expect((await get('/v1/openapi.json', { 'x-api-key': '' })).headers).toMatchObject(DATA);
  });

  test('every route, with a key and without: no shared cache, and separate for every credential', async () => {
    const wrong: string[] = [];
    for (const route of API_ROUTES) {
      const url = `/v1${route.path.replace(/\{[a-z_]+\}/g, 'x_01JAAAAAAAAAAAAAAAAAAAAAAA')}`;
      for (const key of [api.key, ''])
        for (const method of new Set([route.method, 'GET' as const])) {
          const { headers, statusCode } = await api.app.inject({
            method,
            url,
            headers: { 'x-api-key': key },
          });
          const cache = String(headers['cache-control']);
          const vary = String(headers['vary']).split(/,\s*/);
          const isApart = CREDENTIAL_HEADERS.every((name) => vary.includes(name));
          const isPrivate = /^(private, no-cache|no-store)$/.test(cache);
          if (!isApart || !isPrivate || headers['x-content-type-options'] !== 'nosniff')
            wrong.push(`${method} ${url} ${statusCode}: ${cache}; ${vary.join()}`);
        }
    }
    expect(wrong).toEqual([]);
  });
});
