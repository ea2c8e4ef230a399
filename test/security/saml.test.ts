import { inflateRawSync } from 'node:zlib';
import { startTestApi, type TestAnswer, type TestApi, type TestCaller } from '../support/api.ts';
import { createTestKey } from '../support/certificate.ts';
import {
  encoded,
  IDP_CERTIFICATE,
  IDP_ENTITY_ID,
  responseXml,
  SHA1,
  type ResponseFacts,
} from '../support/identity-provider.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'x-api-key': '' };
const CONFIG = {
  enabled: true,
  idp_entity_id: IDP_ENTITY_ID,
  idp_sso_url: 'https://idp.example.test/sso?tenant=1',
  idp_certificate: IDP_CERTIFICATE,
  verified_domains: ['example.test'],
};

/** A tenant's people log in through its identity provider, and nobody else does (tenancy S19). */
describe('single sign-on', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
    await configure(CONFIG);
    await api.put('/v1/settings/tenant_config', { value: { max_users: 1000 } });
  });
  afterAll(() => api.close());

  const configure = async (value: object, by: TestCaller = api) => {
    const session = await api.sessionOf(by, by.scope.environment_id);
    const { status, body } = await api.put('/v1/settings/saml_config', { value }, session);
    if (status !== 200) throw new Error(JSON.stringify(body));
  };
  const base = (by: TestCaller = api) => `/v1/auth/saml/${by.scope.tenant_id}`;
  const endsOf = (by: TestCaller = api) => ({
    acsUrl: `http://127.0.0.1:8080${base(by)}/acs`,
    entityId: `http://127.0.0.1:8080${base(by)}/metadata`,
  });
  /** What the one browser of these tests was given: it sends all of them, as browsers do. */
  const cookies: string[] = [];
  const sent = () => cookies.map((cookie) => cookie.split(';')[0]).join('; ');
  const begin = async (state?: string, by: TestCaller = api) => {
    const query = state === undefined ? '' : `?state=${encodeURIComponent(state)}`;
    const { status, headers } = await api.get(`${base(by)}/login${query}`, { 'x-api-key': '' });
    if (status !== 302) throw new Error(`the login answered ${status}`);
    cookies.push(String(headers['set-cookie']));
    const location = new URL(String(headers['location']));
    const request = inflateRawSync(
      Buffer.from(location.searchParams.get('SAMLRequest')!, 'base64'),
    ).toString();
    return { location, request, requestId: / ID="([^"]+)"/.exec(request)![1]! };
  };
  const post = (
    xml: string,
    relayState = '',
    by: TestCaller = api,
    cookie = sent(),
  ): Promise<TestAnswer> => {
    const form = new URLSearchParams({ SAMLResponse: encoded(xml), RelayState: relayState });
    return api.call('POST', `${base(by)}/acs`, String(form), { ...FORM, cookie });
  };
  let people = 0;
  const newEmail = () => `person-${(people += 1)}@example.test`;
  const factsFor = (
    requestId: string,
    email = newEmail(),
    by: TestCaller = api,
  ): ResponseFacts => ({
    requestId,
    email,
    nowMs: api.clock.now(),
    ...endsOf(by),
  });
  const told = ({ headers }: TestAnswer) =>
    Object.fromEntries(new URLSearchParams(String(headers['location']).split('#')[1])) as Record<
      string,
      string
    >;
  const usersOf = async (email: string) =>
    await api.pool<{ id: string; roles: string[]; tenant_id: string }[]>`
      select id, roles, tenant_id from users where email = ${email}`;

  test('metadata name the address of the answers, and that assertions must be signed', async () => {
    const { status, body, headers } = await api.get(`${base()}/metadata`, { 'x-api-key': '' });
    expect([status, headers['content-type']]).toEqual([200, 'application/samlmetadata+xml']);
    expect(body).toContain(`entityID="${endsOf().entityId}"`);
    expect(body).toContain(`Location="${endsOf().acsUrl}"`);
    expect(body).toContain('WantAssertionsSigned="true"');
  });

  test('login: 302 to the provider with a stored request and a state that is returned', async () => {
    const { location, request, requestId } = await begin('to/invoices');
    expect(location.origin + location.pathname).toBe('https://idp.example.test/sso');
    expect(location.searchParams.get('tenant')).toBe('1');
    expect(location.searchParams.get('RelayState')).toBe('to/invoices');
    expect(request).toContain(`AssertionConsumerServiceURL="${endsOf().acsUrl}"`);
    const answer = await post(responseXml(factsFor(requestId)), 'to/invoices');
    expect([answer.status, told(answer)['state']]).toEqual([302, 'to/invoices']);
    expect((await api.get(`${base()}/login?state=${'x'.repeat(81)}`)).status).toBe(400);
  });

  test('the right answer signs a person in, with an account of the default role', async () => {
    const { requestId } = await begin();
    const facts = factsFor(requestId, 'New.Person@Example.test');
    const answer = await post(responseXml(facts));
    expect(answer.status).toBe(302);
    expect(String(answer.headers['location'])).toMatch(/^http:\/\/127\.0\.0\.1:8080\/sso#/);
    expect(answer.headers['cache-control']).toBe('no-store');
    const { token, refresh_token, user_id, tenant_id } = told(answer);
    const [user] = await usersOf('new.person@example.test');
    expect(user).toEqual({ id: user_id, roles: ['all_reader'], tenant_id });
    const session = { 'x-api-key': '', authorization: `Bearer ${token}` };
    expect((await api.get('/v1/users/me', session)).body.id).toBe(user_id);
    const refreshed = await api.post('/v1/auth/refresh', { refresh_token }, { 'x-api-key': '' });
    expect(refreshed.status).toBe(200);
  });

  test('a person who has an account gets that one, for every domain, also by an attribute', async () => {
    const { body: invited } = await api.post('/v1/users', {
      type: 'user',
      email: 'guest@elsewhere.test',
      roles: ['all_writer'],
    });
    const first = await post(
      responseXml(factsFor((await begin()).requestId, 'guest@elsewhere.test')),
    );
    expect(told(first)['user_id']).toBe(invited.id);
    await configure({ ...CONFIG, email_attribute: 'mail' });
    const attributes =
      '<saml:Attribute Name="mail"><saml:AttributeValue>Guest@elsewhere.test</saml:AttributeValue></saml:Attribute>';
    const { requestId } = await begin();
    const second = await post(responseXml({ ...factsFor(requestId, 'opaque'), attributes }));
    await configure({ ...CONFIG, email_attribute: '' });
    expect(told(second)['user_id']).toBe(invited.id);
  });

  test('both signatures, and one over assertion and response, are fine', async () => {
    const { requestId } = await begin();
    const facts = { ...factsFor(requestId), signed: ['assertion', 'response'] as const };
    expect((await post(responseXml(facts))).status).toBe(302);
  });

  test('while the certificate changes, the old and the new one are accepted', async () => {
    const next = createTestKey();
    await configure({ ...CONFIG, idp_certificate: IDP_CERTIFICATE + next.certificate });
    for (const key of [undefined, next]) {
      const { requestId } = await begin();
      const facts = { ...factsFor(requestId), ...(key === undefined ? {} : { key }) };
      expect((await post(responseXml(facts))).status).toBe(302);
    }
    await configure(CONFIG);
  });

  describe('403: no account is made', () => {
    test('outside of the verified domains', async () => {
      for (const email of ['x@elsewhere.test', 'x@sub.example.test', 'x@notexample.test']) {
        const answer = await post(responseXml(factsFor((await begin()).requestId, email)));
        expect([email, answer.status, await usersOf(email)]).toEqual([email, 403, []]);
      }
    });

    test('for the address of another tenant’s person', async () => {
      const other = await api.newCaller();
      const email = newEmail();
      await other.post('/v1/users', { type: 'user', email });
      const answer = await post(responseXml(factsFor((await begin()).requestId, email)));
      expect([answer.status, (await usersOf(email)).length]).toEqual([403, 1]);
    });

    test('when the tenant has as many people as it may', async () => {
      const full = await api.newCaller();
      await configure(CONFIG, full);
      await full.put('/v1/settings/tenant_config', { value: { max_users: 1 } });
      const { requestId } = await begin(undefined, full);
      const answer = await post(responseXml(factsFor(requestId, newEmail(), full)), '', full);
      expect(answer.status).toBe(403);
    });
  });

  describe('forged and worn answers: 401, and no session', () => {
    type Forgery = (facts: ResponseFacts) => string | Promise<string>;
    const other = createTestKey();
    const plain = (facts: ResponseFacts, lie: Partial<ResponseFacts>) =>
      responseXml({ ...facts, ...lie });
    const assertionOf = (xml: string): string =>
      /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)![0];
    const signatureOf = (xml: string): string => /<Signature[\s\S]*<\/Signature>/.exec(xml)![0];
    /** The assertion of a good response, unsigned, of another id and about somebody else. */
    const evilOf = (xml: string): string =>
      assertionOf(xml)
        .replace(signatureOf(xml), '')
        .replace(/ ID="[^"]+"/, ' ID="_evil"')
        .replace(/person-\d+@/, 'admin@');
    const wrap = (name: string, content: string): string =>
      `<samlp:${name} xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol">${content}</samlp:${name}>`;
    const wrapped = (make: (good: string, evil: string, signature: string) => string): Forgery => {
      return (facts) => {
        const xml = responseXml(facts);
        return xml.replace(assertionOf(xml), () =>
          make(assertionOf(xml), evilOf(xml), signatureOf(xml)),
        );
      };
    };
    const afterIssuer = (xml: string, more: string): string =>
      xml.replace('</saml:Issuer>', () => `</saml:Issuer>${more}`);

    const FORGERIES: readonly (readonly [string, Forgery])[] = [
      ['no signature', (facts) => plain(facts, { signed: [] })],
      ['the signature stripped', (facts) => {
        const xml = responseXml(facts);
        return xml.replace(signatureOf(xml), '');
      }],
      ['a signed response around an unsigned assertion', (facts) => plain(facts, { signed: ['response'] })],
      ['another key', (facts) => plain(facts, { key: other })],
      ['SHA-1', (facts) => plain(facts, { algorithms: SHA1 })],
      ['a digest by SHA-1', (facts) =>
        plain(facts, { algorithms: { ...SHA1, signature: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256' } })],
      ['the address changed after signing', (facts) =>
        responseXml(facts).replace(/person-\d+@/, 'admin@')],
      ['a comment in the name', (facts) =>
        plain(facts, { email: `${facts.email}.evil.test` }).replace('.evil.test', '<!---->.evil.test')],
      ['CDATA in the name', (facts) =>
        responseXml(facts).replace(facts.email, `<![CDATA[${facts.email}]]>`)],
      ['a processing instruction in the name', (facts) =>
        responseXml(facts).replace(facts.email, `${facts.email}<?x y?>`)],
      ['a document type with an entity', (facts) =>
        `<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>${responseXml(facts).replace(facts.email, '&x;')}`],
      ['entities that grow', (facts) =>
        `<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>${responseXml(facts)}`],
      ['wrapped: the signed one in extensions', wrapped((good, evil) => wrap('Extensions', good) + evil)],
      ['wrapped: the forged one first', wrapped((good, evil) => evil + good)],
      ['wrapped: the forged one last', wrapped((good, evil) => good + evil)],
      ['wrapped: the signed one inside the forged one', wrapped((good, evil) => afterIssuer(evil, good))],
      ['wrapped: the forged one inside the signed one', wrapped((good, evil) => afterIssuer(good, evil))],
      ['wrapped: the forged one with the signature of the other', wrapped((good, evil, signature) =>
        wrap('Extensions', good.replace(signature, '')) + afterIssuer(evil, signature))],
      ['wrapped: the signed one as an object of the forged one’s signature', wrapped((good, evil, signature) =>
        afterIssuer(evil, signature.replace('</Signature>', () => `<Object>${good.replace(signature, '')}</Object></Signature>`)))],
      ['wrapped: the same id twice', wrapped((good, evil) =>
        wrap('Extensions', good) + evil.replace('_evil', / ID="([^"]+)"/.exec(good)![1]!))],
      ['wrapped: another root around it', (facts) => wrap('Envelope', responseXml(facts))],
      ['an encrypted assertion beside it', wrapped((good) =>
        `${good}<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"/>`)],
      ['another audience', (facts) => plain(facts, { audience: 'https://other.example.test' })],
      ['another tenant’s audience', (facts) =>
        plain(facts, { audience: facts.entityId.replace(/tenant_[^/]+/, 'tenant_x') })],
      ['another destination', (facts) => plain(facts, { destination: 'https://other.example.test/acs' })],
      ['no destination', (facts) => responseXml(facts).replace(/ Destination="[^"]+"/, '')],
      ['another recipient', (facts) => plain(facts, { recipient: 'https://other.example.test/acs' })],
      ['another issuer', (facts) => plain(facts, { issuer: 'https://other.example.test' })],
      ['expired', (facts) => plain(facts, { notOnOrAfterMs: facts.nowMs - 61_000 })],
      ['not yet valid', (facts) => plain(facts, { notBeforeMs: facts.nowMs + 61_000 })],
      ['an unknown request', (facts) => plain(facts, { requestId: '_unknown' })],
      ['no request', (facts) => plain(facts, { requestId: '' })],
      ['one request inside, another outside', (facts) => plain(facts, { outerRequestId: '_other' })],
      ['a status without success', (facts) => plain(facts, { status: 'Responder' })],
      ['a subject that nobody confirmed', (facts) => plain(facts, { method: 'sender-vouches' })],
      ['a name that is no address', (facts) => plain(facts, { email: 'root' })],
      ['two addresses in one name', (facts) => plain(facts, { email: `${facts.email} admin@example.test` })],
      ['nothing but depth', () => '<a>'.repeat(20_000) + '</a>'.repeat(20_000)],
      ['no XML', () => 'hello'],
      ['a request of another tenant', async (facts) => {
        const stranger = await api.newCaller();
        await configure(CONFIG, stranger);
        return plain(facts, { requestId: (await begin(undefined, stranger)).requestId });
      }],
    ]; // prettier-ignore

    test.each(FORGERIES)('%s', async (_what, forge) => {
      const { requestId } = await begin();
      const facts = factsFor(requestId);
      const sessions = async () =>
        (
          await api.pool`
          select count(*)::int as count from sessions where tenant_id = ${api.scope.tenant_id}`
        )[0]!['count'] as number;
      const before = await sessions();
      const answer = await post(await forge(facts));
      expect([answer.status, answer.body.code]).toEqual([401, 'saml_refused']);
      expect([await sessions(), await usersOf(facts.email)]).toEqual([before, []]);
      // It was refused for what is wrong with it: the honest answer to the same request is taken.
      expect((await post(responseXml(facts))).status).toBe(302);
    });

    test('the same answer twice, also by many at once', async () => {
      const xml = responseXml(factsFor((await begin()).requestId));
      const answers = await Promise.all(Array.from({ length: 8 }, () => post(xml)));
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([302, 401, 401, 401, 401, 401, 401, 401]);
    });

    test('the tenant’s audit log has the reason and the origin, and no name; at most ten from a network', async () => {
      const watched = await api.newCaller();
      await configure(CONFIG, watched);
      const send = async (lie: Partial<ResponseFacts>) => {
        const { requestId } = await begin(undefined, watched);
        const facts = factsFor(requestId, newEmail(), watched);
        return (await post(responseXml({ ...facts, ...lie }), '', watched)).status;
      };
      const rows = async () => {
        const { body } = await watched.get('/v1/audit-logs?action=login_failed');
        return body.items as Record<string, unknown>[];
      };
      expect(await send({ key: other })).toBe(401);
      expect(await send({ email: 'x@elsewhere.test' })).toBe(403);
      const origin = { entity_type: 'user', entity_id: '', actor_kind: 'public', user_id: null, ip: '127.0.0.1' };
      expect(await rows()).toMatchObject([
        { ...origin, after: { reason: 'no_account', message: expect.stringMatching(/no account/) } },
        { ...origin, after: { reason: 'saml_refused', message: expect.stringMatching(/signature/) } },
      ]);
      expect(JSON.stringify(await rows())).not.toContain('elsewhere');
      for (let sent = 0; sent < 12; sent += 1) await send({ key: other });
      expect(await rows()).toHaveLength(10);
    }); // prettier-ignore

    test('an assertion that was used, in answer to another request', async () => {
      const lie = { assertionId: '_once' };
      const first = responseXml({ ...factsFor((await begin()).requestId), ...lie });
      const second = responseXml({ ...factsFor((await begin()).requestId), ...lie });
      expect([(await post(first)).status, (await post(second)).status]).toEqual([302, 401]);
    });

    test('a login that began more than ten minutes ago', async () => {
      const { requestId } = await begin();
      api.clock.advance(10 * 60_000);
      expect((await post(responseXml(factsFor(requestId)))).status).toBe(401);
    });

    test('an answer that another browser requested signs no one in', async () => {
      const { requestId } = await begin();
      const own = cookies.at(-1)!;
      const name = own.slice(0, own.indexOf('='));
      await begin();
      const other = cookies.at(-1)!.split(';')[0]!;
      const facts = factsFor(requestId);
      const xml = responseXml(facts);
      const strangers = [
        '',
        other,
        `${name}=`,
        `${name}=${requestId}`,
        other.replace(/^[^=]+/, name),
        `x${own.split(';')[0]}`,
      ];
      for (const cookie of strangers) {
        const answer = await post(xml, '', api, cookie);
        expect([cookie, answer.status, answer.body.code]).toEqual([cookie, 401, 'saml_refused']);
      }
      expect(await usersOf(facts.email)).toEqual([]);
      const honest = await post(xml, '', api, `a=b; ${own.split(';')[0]}; c`);
      expect([honest.status, honest.headers['set-cookie']]).toEqual([
        302,
        `${name}=; Path=${base()}/acs; Max-Age=0; HttpOnly; Secure; SameSite=None`,
      ]);
    });

    test('the cookie is sent with answers only, lives ten minutes, and does not reveal the secret of another', async () => {
      const { request, requestId } = await begin();
      const cookie = cookies.at(-1)!;
      expect(cookie).toMatch(
        new RegExp(
          `^meterline_sso${requestId}=[\\w-]{43}; Path=${base()}/acs; Max-Age=600; HttpOnly; Secure; SameSite=None$`,
        ),
      );
      const secret = /=([\w-]{43});/.exec(cookie)![1]!;
      expect(request).not.toContain(secret);
      const [row] = await api.pool`select * from saml_requests where id = ${requestId}`;
      expect(JSON.stringify(row)).not.toContain(secret);
    });

    test('a state that was changed on the way', async () => {
      const xml = responseXml(factsFor((await begin('mine')).requestId));
      expect((await post(xml, 'https://evil.example.test')).status).toBe(401);
    });

    test('what is no form at all: 400', async () => {
      const url = `${base()}/acs`;
      expect((await api.call('POST', url, 'RelayState=x', FORM)).status).toBe(400);
      expect((await api.post(url, { SAMLResponse: 'x' })).status).toBe(400);
      expect(
        (await api.call('POST', url, `SAMLResponse=${'A'.repeat(800_000)}`, FORM)).status,
      ).toBe(413);
    });
  });

  describe('enforced single sign-on', () => {
    const logIn = (email: string, password: string) =>
      api.post('/v1/auth/login', { email, password }, { 'x-api-key': '' });
    const invite = async (roles: string[]) => {
      const { body } = await api.post('/v1/users', { type: 'user', email: newEmail(), roles });
      return body as { email: string; password: string };
    };

    test('passwords are refused except for super admins, and a wrong one reveals nothing', async () => {
      const [reader, admin] = [await invite(['all_reader']), await invite(['super_admin'])];
      await configure({ ...CONFIG, enforce_sso: true });
      const refused = await logIn(reader.email, reader.password);
      expect([refused.status, refused.body.code]).toEqual([403, 'sso_required']);
      expect((await logIn(reader.email, 'wrong-password')).status).toBe(401);
      expect((await logIn(admin.email, admin.password)).status).toBe(200);
      await configure({ ...CONFIG, enforce_sso: false });
      expect((await logIn(reader.email, reader.password)).status).toBe(200);
    });

    test('switched on, it ends sessions that a password opened, and no others, for good', async () => {
      const bearer = (token: string) => ({ 'x-api-key': '', authorization: `Bearer ${token}` });
      const me = async (token: string) => (await api.get('/v1/users/me', bearer(token))).status;
      const refresh = async (refresh_token: string) =>
        (await api.post('/v1/auth/refresh', { refresh_token }, { 'x-api-key': '' })).status;
      const people = [];
      for (const roles of [['all_reader'], ['all_reader'], ['super_admin']]) {
        const { email, password } = await invite(roles);
        people.push((await logIn(email, password)).body);
      }
      const [using, resting, admin] = people;
      const { requestId } = await begin();
      const byProvider = told(await post(responseXml(factsFor(requestId))));
      expect(await me(using.token)).toBe(200);

      await configure({ ...CONFIG, enforce_sso: true });
      expect(await me(using.token)).toBe(401);
      expect(await refresh(resting.refresh_token)).toBe(401);
      expect([await me(admin.token), await me(byProvider['token']!)]).toEqual([200, 200]);
      expect(await refresh(admin.refresh_token)).toBe(200);
      expect(await refresh(byProvider['refresh_token']!)).toBe(200);

      await configure({ ...CONFIG, enforce_sso: false });
      expect([await me(using.token), await me(resting.token)]).toEqual([401, 401]);
      expect(await refresh(using.refresh_token)).toBe(401);
    });
  });

  describe('404: it is off', () => {
    const paths = ['GET metadata', 'GET login', 'POST acs'];
    const statuses = async (by: TestCaller) => {
      const found: number[] = [];
      for (const [method, path] of paths.map((each) => each.split(' ')))
        found.push(
          (
            await api.call(
              method!,
              `${base(by)}/${path}`,
              method === 'GET' ? undefined : 'SAMLResponse=x',
              FORM,
            )
          ).status,
        );
      return found;
    };

    test('for a tenant that has not set it up, has switched it off, or does not exist', async () => {
      const tenant = await api.newCaller();
      expect(await statuses(tenant)).toEqual([404, 404, 404]);
      await configure({ ...CONFIG, idp_certificate: '' }, tenant);
      expect(await statuses(tenant)).toEqual([404, 404, 404]);
      await configure({ ...CONFIG, enabled: false }, tenant);
      expect(await statuses(tenant)).toEqual([404, 404, 404]);
      const nobody = { ...tenant, scope: { ...tenant.scope, tenant_id: 'tenant_x' } };
      expect(await statuses(nobody)).toEqual([404, 404, 404]);
    });
  });

  test.each([
    ['idp_certificate', 'no certificate'],
    ['idp_certificate', IDP_CERTIFICATE.replace('MII', 'AAA')],
    ['idp_sso_url', 'http://idp.example.test'],
    ['default_role', 'super_admin'],
    ['verified_domains', ['*']],
  ])('400: %s %j', async (field, value) => {
    const session = await api.sessionOf(api, api.scope.environment_id);
    const sent = { value: { [field]: value } };
    const answer = await api.put('/v1/settings/saml_config', sent, session);
    expect([answer.status, answer.body.details[0].path]).toEqual([
      400,
      expect.stringContaining(`value.${field}`),
    ]);
  });

  test('`active` is taken and forgotten: it is not the tenant’s to set', async () => {
    await configure({ ...CONFIG, active: true });
    const { body } = await api.get('/v1/settings/saml_config');
    expect([body.value.active, body.value.verified_domains]).toEqual([false, ['example.test']]);
  });
});
