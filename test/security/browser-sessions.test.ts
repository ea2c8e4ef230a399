import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { API_ROUTES } from '../../api/routes.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

const HOST = '127.0.0.1:8080';
const ORIGIN = `http://${HOST}`;
const PERSON = { email: 'ada@example.test', password: 'correct horse battery' };

/** A folder of pages as the build leaves it, with one asset. */
function builtPages(): string {
  const directory = mkdtempSync(join(tmpdir(), 'meterline-pages-'));
  for (const page of ['console', 'portal', 'checkout', 'assets']) mkdirSync(join(directory, page));
  for (const page of ['console', 'portal', 'checkout'])
    writeFileSync(join(directory, page, 'index.html'), `${page} {{nonce}} {{csrf}}`);
  writeFileSync(join(directory, 'assets', 'a-hash.js'), 'plain');
  writeFileSync(join(directory, 'assets', 'a-hash.js.br'), 'compressed');
  return directory;
}

describe('sessions of browsers, and the pages that use them', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi({ switches: { pagesDirectory: builtPages() } });
    await api.post('/v1/auth/signup', { ...PERSON, tenant_name: 'Acme' }, { 'x-api-key': '' });
  });
  afterAll(() => api.close());

  const inject = (method: string, url: string, headers: object, payload?: object) =>
    api.app.inject({
      method: method as 'GET',
      url,
      headers: { host: HOST, ...headers },
      ...(payload === undefined ? {} : { payload }),
    });

  /** A browser that opened a page: its cookies, and the headers that the page's own requests have. */
  async function opened(): Promise<Browser> {
    const page = await inject('GET', '/', { accept: 'text/html' });
    const cookies = new Map<string, string>();
    const [, , token] = page.body.split(' ');
    const browser: Browser = {
      cookies,
      setCookies: [],
      own: () => ({
        origin: ORIGIN,
        'sec-fetch-site': 'same-origin',
        'x-csrf-token': token!,
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      }),
      async send(method, url, payload, headers = browser.own()) {
        const answer = await inject(method, url, headers, payload);
        keep(answer.headers['set-cookie']);
        return answer;
      },
    };
    const keep = (set: string | string[] | undefined): void => {
      for (const line of [set ?? []].flat()) {
        browser.setCookies.push(line);
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
        cookies.set(name!, value!);
      }
    };
    keep(page.headers['set-cookie']);
    return browser;
  }
  interface Browser {
    readonly cookies: Map<string, string>;
    readonly setCookies: string[];
    own(): Record<string, string>;
    send(
      method: string,
      url: string,
      payload?: object,
      headers?: object,
    ): ReturnType<typeof inject>;
  }
  const loggedIn = async (): Promise<Browser> => {
    const browser = await opened();
    const answer = await browser.send('POST', '/session/login', PERSON);
    expect(answer.statusCode).toBe(200);
    return browser;
  };

  test('cookies are __Host-, Secure, HttpOnly, SameSite=Strict and for the whole origin', async () => {
    const browser = await loggedIn();
    expect(browser.setCookies).toHaveLength(2);
    for (const cookie of browser.setCookies)
      for (const part of [
        /^__Host-/,
        /; Secure/,
        /; HttpOnly/,
        /; SameSite=Strict/,
        /; Path=\/(;|$)/,
      ])
        expect(cookie).toMatch(part);
    expect(browser.setCookies.join()).not.toMatch(/Domain=/i);
  });

  test('the page gets an access token and never the refresh token', async () => {
    const browser = await opened();
    const { body } = await browser.send('POST', '/session/login', PERSON);
    const { session } = JSON.parse(body);
    expect(Object.keys(session).sort()).toEqual([
      'expires_at', 'expires_in_seconds', 'tenant_id', 'token', 'user_id',
    ]); // prettier-ignore
    expect(session.expires_in_seconds).toBe(900);
    expect(body).not.toContain(browser.cookies.get('__Host-meterline-session')!);
  });

  test('/v1 ignores cookies', async () => {
    const browser = await loggedIn();
    const answer = await inject('GET', '/v1/users/me', { cookie: browser.own()['cookie'] });
    expect(answer.statusCode).toBe(401);
  });

  const REQUESTS = [
    ['POST', '/session/login'],
    ['POST', '/session/signup'],
    ['POST', '/session/exchange'],
    ['POST', '/session/refresh'],
    ['POST', '/session/logout'],
    ['DELETE', '/session/list'],
  ] as const;
  const FOREIGN = [
    ['no origin', { origin: undefined }],
    ['another origin', { origin: 'https://evil.example' }],
    ['an origin with the same beginning', { origin: `${ORIGIN}.evil.example` }],
    ['the null origin of a sandbox', { origin: 'null' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling domain', { 'sec-fetch-site': 'same-site' }],
    ['no CSRF token', { 'x-csrf-token': undefined }],
    ['another CSRF token', { 'x-csrf-token': 'x'.repeat(43) }],
    ['no CSRF cookie', { cookie: '' }],
  ] as const;

  test.each(REQUESTS)('403 for %s %s from elsewhere, and nothing happens', async (method, url) => {
    const browser = await loggedIn();
    for (const [why, change] of FOREIGN) {
      const headers = Object.fromEntries(
        Object.entries({ ...browser.own(), ...change }).filter(([, value]) => value !== undefined),
      );
      const answer = await browser.send(
        method,
        url,
        method === 'POST' ? PERSON : undefined,
        headers,
      );
      expect([why, answer.statusCode, answer.json().code]).toEqual([why, 403, 'cross_site']);
    }
    const list = await browser.send('GET', '/session/list');
    expect(list.statusCode).toBe(200);
  });

  test('the list is not readable for another site', async () => {
    const browser = await loggedIn();
    for (const change of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
      expect(
        (await browser.send('GET', '/session/list', undefined, { ...browser.own(), ...change }))
          .statusCode,
      ).toBe(403);
    const own = await browser.send('GET', '/session/list');
    expect(own.headers['access-control-allow-origin']).toBeUndefined();
    expect(own.headers['cache-control']).toBe('no-store');
  });

  test('beyond loopback over plain http: 403 with a sentence, before the password is read', async () => {
    const browser = await opened();
    const headers = { ...browser.own(), host: 'billing.example', origin: 'http://billing.example' };
    const answer = await inject('POST', '/session/login', headers, PERSON);
    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toMatchObject({
      code: 'https_required',
      message: expect.stringMatching(/^Signing in needs https: /),
    });
  });

  test('refresh exchanges the cookie; a cookie that is used twice ends the session', async () => {
    const browser = await loggedIn();
    const before = browser.own();
    const first = await browser.send('POST', '/session/refresh');
    expect(first.json().session.token).toEqual(expect.any(String));
    expect(browser.own()['cookie']).not.toBe(before['cookie']);
    const again = await browser.send('POST', '/session/refresh', undefined, before);
    expect(again.json()).toEqual({ session: null });
    expect(browser.setCookies.at(-1)).toMatch(/^__Host-meterline-session=; .*Max-Age=0/);
  });

  test('exchange keeps the session of a single sign-on, once', async () => {
    const { body } = await api.post('/v1/auth/login', PERSON, { 'x-api-key': '' });
    const { refresh_token } = body;
    const browser = await loggedIn();
    const replaced = browser.own();
    const answer = await browser.send('POST', '/session/exchange', { refresh_token });
    expect([answer.statusCode, answer.body.includes(refresh_token)]).toEqual([200, false]);
    const bearer = { authorization: `Bearer ${answer.json().session.token}` };
    expect((await inject('GET', '/v1/users/me', bearer)).statusCode).toBe(200);
    expect((await inject('POST', '/session/refresh', replaced)).json()).toEqual({ session: null });
    const again = await browser.send('POST', '/session/exchange', { refresh_token });
    expect(again.statusCode).toBe(401);
  });

  test('no session is null, not an error', async () => {
    const browser = await opened();
    const answer = await browser.send('POST', '/session/refresh');
    expect([answer.statusCode, answer.json()]).toEqual([200, { session: null }]);
  });

  test('logout ends the session: its token is refused at once', async () => {
    const browser = await opened();
    const { session } = (await browser.send('POST', '/session/login', PERSON)).json();
    const bearer = { authorization: `Bearer ${session.token}` };
    expect((await inject('GET', '/v1/users/me', bearer)).statusCode).toBe(200);
    expect((await browser.send('POST', '/session/logout')).statusCode).toBe(200);
    expect((await inject('GET', '/v1/users/me', bearer)).statusCode).toBe(401);
  });

  test('a login in the same browser ends the session that it replaces', async () => {
    const browser = await loggedIn();
    const replaced = browser.own();
    await browser.send('POST', '/session/login', PERSON);
    const answer = await inject('POST', '/session/refresh', replaced);
    expect(answer.json()).toEqual({ session: null });
  });

  test('all sessions are listed and ended together', async () => {
    const [one, other] = [await loggedIn(), await loggedIn()];
    const { items } = (await one.send('GET', '/session/list')).json();
    expect(items.length).toBeGreaterThanOrEqual(2);
    expect(items.filter((item: { is_current: boolean }) => item.is_current)).toHaveLength(1);
    expect((await one.send('DELETE', '/session/list')).statusCode).toBe(204);
    for (const browser of [one, other])
      expect((await browser.send('POST', '/session/refresh')).json()).toEqual({ session: null });
  });

  describe('a recent login', () => {
    const CONCERNED = [
      'POST /secrets/api/keys',
      'POST /secrets/api/keys/{id}/rotate',
      'DELETE /secrets/api/keys/{id}',
      'POST /users',
      'PUT /users/{id}/roles',
      'POST /users/{id}/remove',
      'DELETE /users/{id}',
      'POST /refunds',
      'POST /refunds/{id}/retry',
      'POST /creditnotes',
      'POST /creditnotes/{id}/finalize',
    ];
    /** 16 minutes after their logins. */
    async function later(browsers: readonly Browser[]) {
      api.clock.advance(16 * 60_000);
      return await Promise.all(browsers.map(asking));
    }
    /** Sends with the session's token, which is new; its login is as old as before. */
    async function asking(browser: Browser) {
      const refreshed = await browser.send('POST', '/session/refresh');
      const authorization = `Bearer ${refreshed.json().session.token}`;
      const environments = await inject('GET', '/v1/environments', { authorization });
      const headers = {
        authorization,
        'x-environment-id': environments.json().environments[0].id,
      };
      return (method: string, url: string, body?: object) => inject(method, url, headers, body);
    }
    const key = { name: 'new', type: 'private_key' };

    test('is needed for keys, people, single sign-on and money that leaves, and for nothing else', async () => {
      const declared = API_ROUTES.filter(({ recentLogin }) => recentLogin === true);
      expect(declared.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
        [...CONCERNED].sort(),
      );
      const [ask] = await later([await loggedIn()]);
      const refused = async (method: string, url: string, body?: object) => {
        const answer = await ask!(method, url, body);
        return [answer.statusCode, answer.json().code];
      };
      for (const route of CONCERNED) {
        const [method, path] = route.split(' ') as [string, string];
        const url = `/v1${path.replace('{id}', 'some')}`;
        expect([route, await refused(method, url, method === 'DELETE' ? undefined : {})]).toEqual([
          route,
          [403, 'login_required'],
        ]);
      }
      const saml = await refused('PUT', '/v1/settings/saml_config', { value: {} });
      expect(saml).toEqual([403, 'login_required']);
      const value = { finalization_delay_seconds: 60 };
      const other = await ask!('PUT', '/v1/settings/invoice_config', { value });
      expect(other.json().code).not.toBe('login_required');
      expect((await ask!('GET', '/v1/users/me')).statusCode).toBe(200);
    });

    test('is given again by the password, to this session only', async () => {
      const browser = await loggedIn();
      const [ask, other] = await later([browser, await loggedIn()]);
      const wrong = await browser.send('POST', '/session/confirm', { password: 'guess' });
      expect([wrong.statusCode, wrong.json().details[0].path]).toEqual([400, 'password']);
      expect((await ask!('POST', '/v1/secrets/api/keys', key)).statusCode).toBe(403);
      const right = { password: PERSON.password };
      const confirmed = await browser.send('POST', '/session/confirm', right);
      expect([confirmed.statusCode, confirmed.json()]).toEqual([200, { message: 'Confirmed' }]);
      expect((await ask!('POST', '/v1/secrets/api/keys', key)).statusCode).toBe(201);
      expect((await other!('POST', '/v1/secrets/api/keys', key)).statusCode).toBe(403);
    });

    test('is confirmed by own pages with a session only, and guesses are limited', async () => {
      const browser = await loggedIn();
      const right = { password: PERSON.password };
      const { 'x-csrf-token': _, ...without } = browser.own();
      const foreign = await browser.send('POST', '/session/confirm', right, without);
      expect(foreign.statusCode).toBe(403);
      const stranger = await opened();
      expect((await stranger.send('POST', '/session/confirm', right)).statusCode).toBe(401);
      const statuses: number[] = [];
      for (let guess = 0; guess < 12; guess += 1) {
        const answer = await browser.send('POST', '/session/confirm', { password: 'guess' });
        statuses.push(answer.statusCode);
      }
      expect(statuses.at(-1)).toBe(429);
      api.clock.advance(16 * 60_000);
    });

    test('does not concern the keys of programs', async () => {
      api.clock.advance(24 * 3_600_000);
      const made = await api.post('/v1/secrets/api/keys', key);
      expect(made.status).toBe(201);
    });
  });

  test('pages run no inline script and cannot be framed', async () => {
    for (const url of ['/', '/env/env_1/customers', '/portal', '/checkout/1', '//evil.example/']) {
      const page = await inject('GET', url, { accept: 'text/html' });
      expect([url, page.statusCode, page.headers['location']]).toEqual([url, 200, undefined]);
      const policy = String(page.headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'; script-src 'self'; ");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(page.headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      });
      const [, nonce] = page.body.split(' ');
      expect(policy).toContain(`'nonce-${nonce}'`);
    }
  });

  test('each page has a nonce of its own', async () => {
    const policies = await Promise.all(
      [1, 2].map(() => inject('GET', '/', { accept: 'text/html' })),
    );
    const nonces = policies.map(({ body }) => body.split(' ')[1]);
    expect(new Set(nonces).size).toBe(2);
  });

  test('assets are compressed, immutable and never sniffed', async () => {
    const asset = await inject('GET', '/assets/a-hash.js', { 'accept-encoding': 'br' });
    expect(asset.body).toBe('compressed');
    expect(asset.headers).toMatchObject({
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: expect.stringContaining('accept-encoding'),
    });
    for (const path of ['/assets/../console/index.html', '/assets/..%2fconsole%2findex.html'])
      expect((await inject('GET', path, {})).statusCode).toBe(404);
  });

  test('an unknown route of the API is a 404 in JSON, for a browser too', async () => {
    for (const url of ['/v1/nothing', '/session/nothing', '/assets/nothing.js']) {
      const answer = await inject('GET', url, { accept: 'text/html,*/*', ...{ origin: ORIGIN } });
      expect([url, answer.statusCode]).toEqual([url, 404]);
    }
  });
});
