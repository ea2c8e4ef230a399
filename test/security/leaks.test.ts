import { pino } from 'pino';
import { API_ROUTES } from '../../api/routes.ts';
import { hashPassword } from '../../api/tenancy/users/passwords.ts';
import { createLogger } from '../../platform/log.ts';
import { createServer } from '../../platform/http/server.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

const CANARY = 'canary-7f3a91';

/** Secrets are in nobody's database, logs and errors (tenancy S3, S4, S26). */
describe('secrets stay where they are', () => {
  let api: TestApi;
  const lines: string[] = [];
  beforeAll(async () => {
    // The log of the product, with its redaction, into a list.
    const log = createLogger('trace', 'test');
    (log as unknown as Record<symbol, unknown>)[pino.symbols.streamSym] = {
      write: (line: string) => void lines.push(line),
    };
    api = await startTestApi({ log, allowServerErrors: true });
  });
  afterAll(() => api.close());

  test('a dump of the database has none of the secrets that were shown or sent', async () => {
    const password = `${CANARY}-password`;
    const anonymous = { 'x-api-key': '' };
    const { body: person } = await api.post(
      '/v1/auth/signup',
      { email: 'p@example.test', password },
      anonymous,
    );
    const { body: refreshed } = await api.post(
      '/v1/auth/refresh',
      { refresh_token: person.refresh_token },
      anonymous,
    );
    const { body: invited } = await api.post('/v1/users', {
      type: 'user',
      email: 'i@example.test',
    });
    const { body: key } = await api.post(
      '/v1/secrets/api/keys',
      { name: 'k', type: 'private_key' },
      { 'idempotency-key': 'once' },
    );
    await api.post('/v1/customers', { external_id: 'c', name: 'C' });
    const { body: portal } = await api.get('/v1/customers/portal/c');
    await api.post(
      '/v1/auth/login',
      { email: 'p@example.test', password: `${CANARY}-wrong` },
      anonymous,
    );

    const claims = (token: string) =>
      JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { sid: string };
    const secrets = [
      password,
      `${CANARY}-wrong`,
      person.refresh_token,
      refreshed.refresh_token,
      person.token,
      claims(refreshed.token).sid,
      invited.password,
      key.api_key,
      portal.token,
      api.key,
    ] as string[];
    const tables = await api.pool<{ name: string }[]>`
      select c.relname as name from pg_class c
       where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')`;
    const found: string[] = [];
    for (const { name } of tables) {
      const dump = await api.pool<{ row: string }[]>`
        select row_to_json(t)::text as row from ${api.pool(name)} t`;
      const text = dump.map(({ row }) => row).join('\n');
      secrets.forEach((secret, index) => {
        const hex = Buffer.from(secret).toString('hex');
        if (text.includes(secret) || text.includes(hex)) found.push(`${name} has secret ${index}`);
      });
    }
    expect(tables.length).toBeGreaterThan(30);
    expect(found).toEqual([]);
    const log = lines.join('');
    expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
  });

  test('a canary in every header, path, query and body comes up in no log line', async () => {
    lines.length = 0;
    for (const route of API_ROUTES) {
      const path = route.path.replace(/\{[a-z_]+\}/g, CANARY);
      await api.call(
        route.method,
        `/v1${path}?${CANARY}=${CANARY}&limit=${CANARY}`,
        route.method === 'GET' ? undefined : { name: CANARY, password: CANARY, [CANARY]: CANARY },
        {
          authorization: `Bearer ${CANARY}`,
          'x-session-token': CANARY,
          'x-api-key': route.method === 'GET' ? api.key : CANARY,
          'idempotency-key': CANARY,
          cookie: CANARY,
        },
      );
    }
    expect(lines.length).toBeGreaterThan(API_ROUTES.length / 2);
    expect(lines.filter((line) => line.includes(CANARY)).slice(0, 3)).toEqual([]);
  });

  test('a failure answers with its request id and nothing else; the log has the rest', async () => {
    const app = createServer({ log: createLogger('silent', 'test') });
    app.get('/bug', async () => {
      throw Object.assign(new Error(`${CANARY} in /srv/secret.ts`), {
        detail: CANARY,
        query: CANARY,
      });
    });
    const answer = await app.inject({ url: '/bug', headers: { 'x-request-id': 'r-1' } });
    expect([answer.statusCode, answer.body.includes(CANARY)]).toEqual([500, false]);
    expect(answer.json()).toEqual({
      success: false,
      code: 'internal_error',
      http_status_code: 500,
      error: { message: expect.any(String), internal_error: null },
      message: expect.any(String),
      details: [],
      error_count: 0,
      request_id: 'r-1',
    });
    await app.close();
  });

  test('an unknown address costs a hash of the same price as a known one', async () => {
    const parameters = (hash: string) => hash.split('$').slice(1, 4);
    const { readFile } = await import('node:fs/promises');
    const source = await readFile('api/tenancy/users/passwords.ts', 'utf8');
    const nobody = /'(\$argon2id\$[^']+)'/.exec(source)![1]!;
    const real = await hashPassword('password-1');
    expect(parameters(nobody)).toEqual(parameters(real));
    expect(parameters(real)).toEqual(['argon2id', 'v=19', 'm=19456,t=2,p=1']);
    expect(nobody.length).toBe(real.length);
  });
});
