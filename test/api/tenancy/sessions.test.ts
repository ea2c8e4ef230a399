import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { rotateSigningKey } from '../../../platform/identity/signing-keys.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

const MINUTES = 60_000;

describe('sign-up, login and sessions', () => {
  let api: TestApi;
  let people = 0;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  const credentials = () => ({
    email: `Person${(people += 1)}@Example.test`,
    password: 'password-1',
  });
  const anonymous = { 'x-api-key': '' };
  const bearer = (token: string, environment?: string) => ({
    ...anonymous,
    authorization: `Bearer ${token}`,
    ...(environment === undefined ? {} : { 'x-environment-id': environment }),
  });
  const signUp = async () => {
    const person = credentials();
    const { status, body } = await api.post(
      '/v1/auth/signup',
      { ...person, tenant_name: 'Acme' },
      anonymous,
    );
    if (status !== 200) throw new Error(JSON.stringify(body));
    const { body: list } = await api.get('/v1/environments', bearer(body.token));
    return { ...person, ...body, environment: list.environments[0].id as string };
  };
  const plans = (headers: object) => api.get('/v1/plans', headers);

  test('200: a new tenant has a super admin and one development environment called Sandbox', async () => {
    const person = await signUp();
    const { body: me } = await api.get('/v1/users/me', bearer(person.token));
    expect(me).toMatchObject({
      id: person.user_id,
      email: person.email.toLowerCase(),
      type: 'user',
      roles: ['super_admin'],
      tenant: {
        id: person.tenant_id,
        name: 'Acme',
        billing_details: { address: { address_city: '' } },
      },
    });
    const { body: list } = await api.get('/v1/environments', bearer(person.token));
    expect(list.environments).toMatchObject([{ name: 'Sandbox', type: 'development' }]);
    expect((await plans(bearer(person.token, person.environment))).status).toBe(200);
  });

  test('the database keeps no password and no token', async () => {
    const person = await signUp();
    const tables = [
      'users',
      'sessions',
      'spent_refresh_tokens',
      'outbox',
      'idempotency_keys',
      'login_failures',
    ];
    for (const table of tables) {
      const rows = await api.pool`select * from ${api.pool(table)}`;
      const text = JSON.stringify(rows);
      expect(text.includes(person.password) || text.includes(person.refresh_token)).toBe(false);
    }
  });

  test('403: a session names an environment of its own tenant', async () => {
    const [one, other] = [await signUp(), await signUp()];
    expect((await plans(bearer(one.token))).status).toBe(403);
    expect((await plans(bearer(one.token, 'env_x'))).status).toBe(403);
    expect((await plans(bearer(one.token, other.environment))).status).toBe(403);
  });

  test('200: what is about the tenant needs no environment, and takes no notice of a wrong one', async () => {
    const [one, other] = [await signUp(), await signUp()];
    for (const named of [undefined, '', 'env_x', other.environment, one.environment]) {
      const asked = bearer(one.token, named);
      const { status, body } = await api.get('/v1/environments', asked);
      const ids = body.environments.map(({ id }: { id: string }) => id);
      expect([named, status, ids]).toEqual([named, 200, [one.environment]]);
      expect((await api.get('/v1/users/me', asked)).body.id).toBe(one.user_id);
      expect((await api.get(`/v1/tenants/${one.tenant_id}`, asked)).status).toBe(200);
      expect((await api.get(`/v1/tenants/${other.tenant_id}`, asked)).status).toBe(404);
      expect((await api.put('/v1/users/me', { name: 'A' }, asked)).status).toBe(200);
    }
  });

  test('a key keeps its environment; the header has no effect', async () => {
    const other = await signUp();
    expect((await plans({ 'x-environment-id': other.environment })).status).toBe(200);
  });

  test('401: one answer for an unknown address and a wrong password', async () => {
    const person = await signUp();
    const logIn = (email: string, password: string) =>
      api.post('/v1/auth/login', { email, password }, anonymous);
    const wrong = await logIn(person.email, 'password-2');
    const unknown = await logIn('nobody@example.test', 'password-2');
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.body.message).toBe(unknown.body.message);
    expect((await logIn(person.email.toUpperCase(), person.password)).status).toBe(200);
  });

  test('429: ten failures in 15 minutes', async () => {
    const person = await signUp();
    const logIn = (password: string) =>
      api.post('/v1/auth/login', { email: person.email, password }, anonymous);
    for (let failure = 0; failure < 10; failure += 1)
      expect((await logIn('wrong-word')).status).toBe(401);
    const locked = await logIn(person.password);
    expect([locked.status, locked.body.code]).toEqual([429, 'too_many_requests']);
    api.clock.advance(15 * MINUTES);
    expect((await logIn(person.password)).status).toBe(200);
  });

  test('a token ends after 15 minutes; its refresh token buys the next one, once', async () => {
    const person = await signUp();
    api.clock.advance(15 * MINUTES);
    expect((await api.get('/v1/users/me', bearer(person.token))).status).toBe(401);
    const refresh = (refresh_token: string) =>
      api.post('/v1/auth/refresh', { refresh_token }, anonymous);
    const { body: second } = await refresh(person.refresh_token);
    expect((await api.get('/v1/users/me', bearer(second.token))).status).toBe(200);
    expect((await refresh(person.refresh_token)).status).toBe(401);
    expect((await api.get('/v1/users/me', bearer(second.token))).status).toBe(401);
    expect((await refresh(second.refresh_token)).status).toBe(401);
    expect((await refresh('unknown')).status).toBe(401);
  });

  test('a session ends by logging out, and after 30 days', async () => {
    const person = await signUp();
    expect((await api.post('/v1/auth/logout', {}, bearer(person.token))).status).toBe(200);
    expect((await api.get('/v1/users/me', bearer(person.token))).status).toBe(401);
    const another = await signUp();
    api.clock.advance(30 * 24 * 60 * MINUTES);
    expect(
      (await api.post('/v1/auth/refresh', { refresh_token: another.refresh_token }, anonymous))
        .status,
    ).toBe(401);
  });

  test('keys take turns: tokens of the one before are believed until they have ended', async () => {
    const person = await signUp();
    const me = (token: string) => api.get('/v1/users/me', bearer(token));
    const kid = await rotateSigningKey(api.pool, api.clock);
    api.clock.advance(MINUTES);
    const { body: next } = await api.post(
      '/v1/auth/refresh',
      { refresh_token: person.refresh_token },
      anonymous,
    );
    expect(JSON.parse(Buffer.from(next.token.split('.')[0], 'base64url').toString()).kid).toBe(kid);
    expect([(await me(person.token)).status, (await me(next.token)).status]).toEqual([200, 200]);
  });

  /** One algorithm, and an issuer, an audience, an end and a key that are all known (tenancy S5). */
  describe('tokens that are not believed', () => {
    let good: Awaited<ReturnType<typeof signUp>>;
    let secret: Uint8Array;
    let kid: string;
    beforeAll(async () => {
      good = await signUp();
      const [key] = await api.pool<
        { id: string; secret: Uint8Array }[]
      >`select id, secret from signing_keys where ends_at is null`;
      [kid, secret] = [key!.id, key!.secret];
    });
    const claims = () => {
      const payload = JSON.parse(Buffer.from(good.token.split('.')[1]!, 'base64url').toString());
      return payload as Record<string, unknown>;
    };
    const forge = (payload: Record<string, unknown>, header: object = {}, key = secret) =>
      new SignJWT(payload)
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid, ...header })
        .sign(key);
    const unsigned = (header: object, payload: object) =>
      `${[header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`;

    test('the forger of this test is right about everything else', async () => {
      expect((await api.get('/v1/users/me', bearer(await forge(claims())))).status).toBe(200);
    });

    test.each<[string, () => Promise<string> | string]>([
      ['no signature', () => unsigned({ alg: 'none', typ: 'JWT', kid }, claims())],
      ['algorithm none with a signature', () => `${unsigned({ alg: 'none', kid }, claims())}AAAA`],
      [
        'a changed payload',
        () =>
          good.token.replace(
            /\.[^.]+\./,
            `.${Buffer.from(JSON.stringify({ ...claims(), tenant_id: 'tenant_x' })).toString('base64url')}.`,
          ),
      ],
      ['another secret', () => forge(claims(), {}, new Uint8Array(64))],
      ['another algorithm', () => forge(claims(), { alg: 'HS512' })],
      [
        'a key that has ended',
        async () => {
          const ended = {
            id: 'ended',
            secret: Buffer.alloc(64, 7),
            ends_at: '2020-01-01T00:00:00Z',
          };
          await api.pool`insert into signing_keys ${api.pool(ended)}`;
          api.clock.advance(MINUTES);
          return await forge({ ...claims(), exp: 4_000_000_000 }, { kid: 'ended' }, ended.secret);
        },
      ],
      [
        'the public key as a secret',
        async () => {
          const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
          const pem = Buffer.from(publicKey.export({ type: 'spki', format: 'pem' }));
          return await forge(claims(), {}, pem);
        },
      ],
      [
        'RS256 under the same key id',
        async () => {
          const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
          return await new SignJWT(claims())
            .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
            .sign(privateKey);
        },
      ],
      [
        'a key in the header',
        () => forge(claims(), { jwk: { kty: 'oct', k: 'AA' }, kid: 'other' }, new Uint8Array(64)),
      ],
      [
        'the session’s id in the database',
        async () => {
          const [row] = await api.pool<{ id: string }[]>`
          select id from sessions where user_id = ${good.user_id}`;
          return await forge({ ...claims(), sid: row!.id });
        },
      ],
      ['an unknown key id', () => forge(claims(), { kid: 'other' })],
      ['no key id', () => forge(claims(), { kid: undefined })],
      ['another type', () => forge(claims(), { typ: 'portal+jwt' })],
      ['another issuer', () => forge({ ...claims(), iss: 'somebody' })],
      ['another audience', () => forge({ ...claims(), aud: 'portal' })],
      ['no audience', () => forge({ ...claims(), aud: undefined })],
      ['no expiry', () => forge({ ...claims(), exp: undefined })],
      ['an expiry in the past', () => forge({ ...claims(), exp: 1 })],
      ['not yet valid', () => forge({ ...claims(), nbf: 4_000_000_000 })],
      ['no session', () => forge({ ...claims(), sid: undefined })],
      ['a session of somebody else', async () => forge({ ...claims(), sid: 'x' })],
      ['another user', () => forge({ ...claims(), sub: api.user_id })],
      ['another tenant', () => forge({ ...claims(), tenant_id: api.scope.tenant_id })],
      ['no tenant', () => forge({ ...claims(), tenant_id: undefined })],
      ['a tenant that is no text', () => forge({ ...claims(), tenant_id: ['x'] })],
      ['nonsense in three parts', () => 'a.b.c'],
    ])('%s: 401', async (_what, make) => {
      const { status, body } = await api.get('/v1/users/me', bearer(await make()));
      expect([status, body.code, body.success]).toEqual([401, 'unauthenticated', false]);
    });
  });

  test.each([
    ['email', { email: 'no-address' }],
    ['email', { email: undefined }],
    ['password', { password: 'short' }],
    ['password', { password: 12345678 }],
  ])('400: %s', async (path, fields) => {
    const answer = await api.post('/v1/auth/signup', { ...credentials(), ...fields }, anonymous);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });

  test.each([[undefined], [null], ['']])(
    'a sign-up with the password %j opens a session, and no password opens another',
    async (password) => {
      const { email } = credentials();
      const { status, body } = await api.post('/v1/auth/signup', { email, password }, anonymous);
      expect(status).toBe(200);
      expect((await api.get('/v1/users/me', bearer(body.token))).body.email).toBe(
        email.toLowerCase(),
      );
      for (const [guess, refused] of [
        ['', 400],
        ['password-1', 401],
      ])
        expect(
          (await api.post('/v1/auth/login', { email, password: guess }, anonymous)).status,
        ).toBe(refused);
    },
  );

  test('409: one account per address, in any case', async () => {
    const person = await signUp();
    const again = await api.post(
      '/v1/auth/signup',
      { email: person.email.toUpperCase(), password: 'password-1' },
      anonymous,
    );
    expect([again.status, again.body.code]).toEqual([409, 'already_exists']);
  });
});
