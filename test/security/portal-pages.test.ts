import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isoTime } from '../../platform/clock.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

const HOST = '127.0.0.1:8080';
const ORIGIN = `http://${HOST}`;
const SITE = 'https://app.example.com';
const MINUTES = 60_000;

function builtPages(): string {
  const directory = mkdtempSync(join(tmpdir(), 'meterline-portal-'));
  for (const page of ['console', 'portal', 'checkout', 'assets']) mkdirSync(join(directory, page));
  for (const page of ['console', 'portal', 'checkout'])
    writeFileSync(join(directory, page, 'index.html'), `${page} {{nonce}} {{csrf}}`);
  return directory;
}

/** Pages of the portal: their session is a cookie of their own, and only sites that a tenant lists may frame them. */
describe('portal pages', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi({ switches: { pagesDirectory: builtPages() } });
  });
  afterAll(() => api.close());

  const inject = (method: string, url: string, headers: object, payload?: object) =>
    api.app.inject({
      method: method as 'GET',
      url,
      headers: { host: HOST, ...headers },
      ...(payload === undefined ? {} : { payload }),
    });

  /** A browser that opened a page of the portal at the top, or in a frame of another site. */
  async function opened(path = '/portal', place: { isFramed?: boolean } = {}) {
    const dest = place.isFramed === true ? 'iframe' : 'document';
    const page = await inject('GET', path, { accept: 'text/html', 'sec-fetch-dest': dest });
    const [name, , token] = page.body.split(' ');
    const cookies = new Map<string, string>();
    const setCookies: string[] = [];
    const keep = (set: string | string[] | undefined): void => {
      for (const line of [set ?? []].flat()) {
        setCookies.push(line);
        const [, cookie, value] = /^([^=]+)=([^;]*)/.exec(line)!;
        cookies.set(cookie!, value!);
      }
    };
    keep(page.headers['set-cookie']);
    const own = (): Record<string, string | undefined> => ({
      origin: ORIGIN,
      'sec-fetch-site': 'same-origin',
      'x-csrf-token': token!,
      cookie: [...cookies].map(([key, value]) => `${key}=${value}`).join('; '),
    });
    return {
      page,
      name,
      cookies,
      setCookies,
      own,
      async post(url: string, payload: object = {}, headers: object = own()) {
        const where = { environment_id: null, is_framed: place.isFramed === true };
        const sent = { ...where, ...payload };
        const answer = await inject('POST', `/session/portal${url}`, headers, sent);
        keep(answer.headers['set-cookie']);
        return answer;
      },
    };
  }

  let customers = 0;
  const newCustomer = async (by = api) => {
    const external_id = `customer-${(customers += 1)}`;
    const { body: customer } = await by.post('/v1/customers', { external_id, name: 'Acme' });
    const { body } = await by.get(`/v1/customers/portal/${external_id}`);
    return { id: customer.id as string, token: body.token as string, url: body.url as string };
  };
  const allow = (embed_origins: unknown[]) =>
    api.put('/v1/settings/customer_portal_config', { value: { embed_origins } });

  test('the link’s token becomes a cookie of the portal alone; the page resumes with it until it ends', async () => {
    const { token, id } = await newCustomer();
    const browser = await opened();
    const answer = await browser.post('/open', { token });
    expect([answer.statusCode, answer.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(answer.json().session).toMatchObject({
      token,
      expires_in_seconds: 3600,
      seller: { name: expect.any(String), logo: null, accent: null },
      is_test: true,
      pages: [
        { id: 'usage', label: 'Usage' },
        { id: 'credits', label: 'Credits' },
        { id: 'invoices', label: 'Invoices' },
        { id: 'overview', label: 'Overview' },
      ],
      usage_page: {
        parts: ['metric_cards', 'usage_graph', 'current_usage', 'usage_breakdown'],
        ranges: ['today', 'last_7_days', 'last_30_days', 'current_month', 'last_month'],
        first_range: 'last_7_days',
        may_choose_days: true,
        only_included: true,
        shows_spend: true,
        shows_quantities: true,
      },
      customer: { name: 'Acme', timezone: 'UTC', now: isoTime(api.clock.now()) },
    });
    expect([...browser.cookies.keys()].sort()).toEqual([
      '__Host-meterline-portal',
      '__Host-meterline-portal-csrf',
    ]);
    for (const cookie of browser.setCookies) {
      for (const part of [/; Secure/, /; HttpOnly/, /; SameSite=Strict/, /; Path=\/(;|$)/])
        expect(cookie).toMatch(part);
      expect(cookie).not.toMatch(/Domain=|SameSite=None/i);
    }
    expect(browser.setCookies.at(-1)).toMatch(/Max-Age=3600/);
    // Neither the API nor the console takes the cookie.
    const { cookie } = browser.own();
    expect((await inject('GET', '/v1/customer/portal/info', { cookie })).statusCode).toBe(401);
    expect((await inject('POST', '/session/refresh', browser.own())).statusCode).toBe(403);

    expect((await browser.post('/resume')).json().session.token).toBe(token);
    api.clock.advance(60 * MINUTES);
    expect((await browser.post('/resume')).json()).toEqual({ session: null });
    expect((await browser.post('/open', { token })).json()).toEqual({ session: null });
    expect(id).toEqual(expect.any(String));
  });

  test('the pages are those that the setting shows, in its order and with its names', async () => {
    const { token } = await newCustomer();
    const pages = async (sections: object[]) => {
      await api.put('/v1/settings/customer_portal_config', { value: { sections } });
      const answer = await (await opened()).post('/open', { token });
      return answer.json().session.pages.map(({ id, label }: any) => `${id}: ${label}`);
    };
    expect(
      await pages([
        { id: 'invoices', label: 'Bills', enabled: true, order: -1 },
        { id: 'overview', label: 'Overview', enabled: false, order: 1 },
        { id: 'credits', label: '  ', enabled: true, order: 2 },
        { id: 'unknown', label: 'Unknown', enabled: true, order: 1 },
      ]),
    ).toEqual(['invoices: Bills', 'usage: Usage', 'credits: Credits']);
    await api.delete('/v1/settings/customer_portal_config');
  });

  test('no session for an unknown token, an archived customer, and after the session was ended', async () => {
    const [one, other] = [await newCustomer(), await newCustomer()];
    const browser = await opened();
    for (const token of ['', 'portal_x', `portal_${'A'.repeat(43)}`])
      expect((await browser.post('/open', { token })).json()).toEqual({ session: null });
    expect(browser.cookies.has('__Host-meterline-portal')).toBe(false);

    await browser.post('/open', { token: one.token });
    await api.delete(`/v1/customers/${one.id}`);
    expect((await browser.post('/resume')).json()).toEqual({ session: null });

    await browser.post('/open', { token: other.token });
    expect((await browser.post('/logout')).statusCode).toBe(200);
    expect(browser.setCookies.at(-1)).toMatch(/^__Host-meterline-portal=; .*Max-Age=0/);
    const headers = { 'x-session-token': other.token };
    expect((await inject('GET', '/v1/customer/portal/info', headers)).statusCode).toBe(401);
  });

  test('403 for what the page did not send, and nothing happens', async () => {
    const { token } = await newCustomer();
    const browser = await opened();
    await browser.post('/open', { token });
    const console = await inject('GET', '/', { accept: 'text/html' });
    const consoleCookie = String(console.headers['set-cookie']).split(';')[0];
    const foreign: [string, Record<string, string | undefined>][] = [
      ['no origin', { origin: undefined }],
      ['another origin', { origin: 'https://evil.example' }],
      ['the site that frames it', { origin: SITE }],
      ['the null origin of a sandbox', { origin: 'null' }],
      ['another site', { 'sec-fetch-site': 'cross-site' }],
      ['a sibling domain', { 'sec-fetch-site': 'same-site' }],
      ['no CSRF token', { 'x-csrf-token': undefined }],
      ['another CSRF token', { 'x-csrf-token': 'x'.repeat(43) }],
      ['no CSRF cookie', { cookie: '' }],
      [
        'the token of the console',
        { 'x-csrf-token': console.body.split(' ')[2], cookie: consoleCookie },
      ],
    ];
    for (const url of ['/open', '/resume', '/logout'])
      for (const [why, change] of foreign) {
        const headers = Object.fromEntries(
          Object.entries({ ...browser.own(), ...change }).filter(([, value]) => value),
        );
        const answer = await browser.post(url, { token }, headers);
        expect([url, why, answer.statusCode, answer.json().code]).toEqual([
          url,
          why,
          403,
          'cross_site',
        ]);
      }
    expect((await browser.post('/resume')).json().session.token).toBe(token);
  });

  test('only sites that the environment lists may frame the portal, and only its own', async () => {
    const framed = `/portal/env/${api.scope.environment_id}`;
    const policyOf = async (path: string) => {
      const { headers } = await inject('GET', path, { accept: 'text/html' });
      const policy = String(headers['content-security-policy']);
      return [/frame-ancestors ([^;]*)/.exec(policy)![1], headers['x-frame-options'] ?? null];
    };
    const NOBODY = ["'none'", 'DENY'];
    expect(await policyOf(framed)).toEqual(NOBODY);
    const refused = await newCustomer();
    const early = await opened(framed, { isFramed: true });
    expect((await early.post('/open', { token: refused.token })).json()).toEqual({ session: null });

    await allow([SITE, 'https://intra.example.com:8443']);
    const ALLOWED = [`${SITE} https://intra.example.com:8443`, null];
    for (const path of [framed, `${framed}/`, `${framed}/invoices/inv_1`, `${framed}?a=b`])
      expect([path, ...(await policyOf(path))]).toEqual([path, ...ALLOWED]);
    for (const path of [
      '/',
      '/portal',
      '/portal/invoices',
      `/portal/env/${api.scope.environment_id}x`,
      `/checkout/env/${api.scope.environment_id}`,
      `/env/${api.scope.environment_id}/customers`,
    ])
      expect([path, ...(await policyOf(path))]).toEqual([path, ...NOBODY]);

    const { token, url } = await newCustomer();
    expect(url).toMatch(new RegExp(`/portal/env/${api.scope.environment_id}#token=${token}$`));
    const environment_id = api.scope.environment_id;
    const frame = await opened(framed, { isFramed: true });
    const { session } = (await frame.post('/open', { token, environment_id })).json();
    expect(session.token).toBe(token);
    expect([...frame.cookies.keys()].sort()).toEqual([
      '__Host-meterline-portal-framed',
      '__Host-meterline-portal-framed-csrf',
    ]);
    for (const cookie of frame.setCookies)
      for (const part of [/; Secure/, /; HttpOnly/, /; SameSite=None/, /; Partitioned/])
        expect(cookie).toMatch(part);
    expect((await frame.post('/resume', { environment_id })).json().session.token).toBe(token);
    // The page at the top has no part in the session of the frame.
    const top = await frame.post('/resume', { environment_id, is_framed: false });
    expect(top.json()).toEqual({ session: null });

    // The address names one environment: a session of another is none here.
    const stranger = await api.newCaller();
    const { body: customer } = await stranger.post('/v1/customers', {
      external_id: 's',
      name: 'S',
    });
    const { body: theirs } = await stranger.get('/v1/customers/portal/s');
    expect(customer.id).toEqual(expect.any(String));
    const elsewhere = await frame.post('/open', { token: theirs.token, environment_id });
    expect(elsewhere.json()).toEqual({ session: null });
    const inFrame = await frame.post('/open', { token: theirs.token, environment_id: null });
    expect(inFrame.json()).toEqual({ session: null });
  });

  test.each([
    ['a wildcard', 'https://*.example.com'],
    ['a second directive', "https://a.example;script-src 'unsafe-inline'"],
    ['a second source', 'https://a.example https://b.example'],
    ['a keyword', "'self'"],
    ['a scheme', 'https:'],
    ['plain http', 'http://app.example.com'],
    ['a path', 'https://app.example.com/'],
    ['a name that scripts understand', 'javascript:alert(1)'],
  ])('400 for an origin that is %s', async (_, origin) => {
    const { status, body } = await allow([origin]);
    expect([status, body.message]).toEqual([400, expect.stringContaining('embed_origins')]);
  });
});
