import postgres from 'postgres';
import type { ApiDeps } from '../../api/deps.ts';
import { createLoginLimit } from '../../platform/identity/login-limit.ts';
import { logIn } from '../../api/tenancy/auth/log-in.ts';
import { forgotPassword } from '../../api/tenancy/auth/password-resets.ts';
import { signUp } from '../../api/tenancy/auth/sign-up.ts';
import type { Device } from '../../platform/identity/sessions.ts';
import { createIds } from '../../platform/ids.ts';
import { hashPassword, NOBODYS_HASH } from '../../api/tenancy/users/passwords.ts';
import { createTestClock } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/**
 * Nobody learns from the time of a refused login whether its address is known (tenancy S4). Held by
 * what is done and not by a clock: the same statements in the same order, and one verification of the same
 * cost.
 */
describe('a refused login does the same work for every reason', () => {
  let database: TestDatabase;
  let pool: postgres.Sql;
  const statements: string[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
    pool = postgres(database.url, {
      max: 1,
      onnotice: () => {},
      debug: (_connection, text) => void statements.push(text),
    });
    await pool`insert into tenants (id, name) values ('tenant_a', 'T')`;
    const password_hash = await hashPassword('password-1');
    const user = { tenant_id: 'tenant_a', type: 'user', roles: ['all_reader'], password_hash };
    const email = (name: string) => `${name}@example.test`;
    await pool`insert into users ${pool([
      { ...user, id: 'user_known', email: email('known'), status: 'published' },
      { ...user, id: 'user_gone', email: email('gone'), status: 'archived' },
      { ...user, id: 'user_sso', email: email('sso'), status: 'published', password_hash: null },
    ])}`;
  });
  afterAll(async () => {
    await pool.end({ timeout: 1 });
    await database.drop();
  });

  const refusedWork = async (name: string): Promise<{ work: string[]; refusal: unknown }> => {
    statements.length = 0;
    const clock = createTestClock();
    const loginLimit = createLoginLimit({ pool, clock });
    const deps = { pool, clock, loginLimit } as unknown as ApiDeps;
    const credentials = { email: `${name}@example.test`, password: 'password-2' };
    const refusal = await logIn(deps, credentials, { ip: '192.0.2.1' }).catch(
      (error: unknown) => error,
    );
    return { work: [...statements], refusal };
  };

  test.each(['gone', 'sso', 'nobody'])('%s as known', async (name) => {
    await refusedWork('warm-up');
    const [known, other] = [await refusedWork('known'), await refusedWork(name)];
    expect(known.work.filter((text) => /login_failures/.test(text)).length).toBeGreaterThan(1);
    expect(other.work).toEqual(known.work);
    expect(other.refusal).toEqual(known.refusal);
    expect(known.refusal).toMatchObject({ kind: 'unauthenticated' });
  });

  test.each([
    ['sign-up', signUp, { email: '', password: 'password-1' }],
    [
      'forgotten password',
      (deps: ApiDeps, { email }: { email: string }, device: Device) =>
        forgotPassword(deps, email, device),
      { email: '' },
    ],
  ] as const)('%s by e-mail: a known address as an unknown one', async (_what, ask, body) => {
    const workFor = async (email: string): Promise<string[]> => {
      statements.length = 0;
      const clock = createTestClock();
      const loginLimit = createLoginLimit({ pool, clock });
      const rest = { sendsEmail: true, signUp: 'open', ids: createIds(clock) };
      const deps = { pool, clock, loginLimit, ...rest } as unknown as ApiDeps;
      await ask(deps, { ...body, email } as never, { ip: '192.0.2.9' });
      return [...statements];
    };
    await workFor('warm-up@example.test');
    const [known, unknown] = [await workFor('known@example.test'), await workFor('x@example.test')];
    expect(known.filter((text) => /emails_outbox/.test(text))).toHaveLength(1);
    expect(unknown).toEqual(known);
  });

  test('the hash for unknown accounts costs the same as every hash', async () => {
    const shapeOf = (hash: string) =>
      hash.split('$').map((part, at) => (at < 4 ? part : part.length));
    expect(shapeOf(NOBODYS_HASH)).toEqual(shapeOf(await hashPassword('password-1')));
    expect(shapeOf(NOBODYS_HASH).slice(1, 4)).toEqual(['argon2id', 'v=19', 'm=19456,t=2,p=1']);
  });
});
