import { createHash, randomBytes } from 'node:crypto';
import { permissionsOf } from '../../../domain/access/permissions.ts';
import { createApiKeyAuth, type ApiKeyAuth } from '../../../platform/identity/api-key-auth.ts';
import type { Pool } from '../../../postgres/client.ts';
import { createTestClock, type TestClock } from '../../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { WAIT_MS } from '../../support/patience.ts';

describe('API keys', () => {
  let database: TestDatabase;
  let pool: Pool;
  let clock: TestClock;
  let auth: ApiKeyAuth;
  /** Another process with a cache of its own. */
  let elsewhere: ApiKeyAuth;

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = database.pool;
    clock = createTestClock();
    auth = await createApiKeyAuth({ pool, clock, ttlMs: 60_000 });
    elsewhere = await createApiKeyAuth({ pool, clock, ttlMs: 60_000 });
    await pool`insert into tenants ${pool({ id: 't', name: 'T' })}`;
    await pool`insert into environments ${pool({ id: 'e', tenant_id: 't', name: 'E', type: 'development' })}`;
  });
  afterAll(async () => {
    await auth.close();
    await elsewhere.close();
    await database.drop();
  });

  async function newKey(fields: object = {}, user: object = {}) {
    const key = `sk_test_${randomBytes(16).toString('hex')}`;
    const id = `secret_${randomBytes(8).toString('hex')}`;
    const userId = `user_${randomBytes(8).toString('hex')}`;
    await pool`insert into users ${pool({ id: userId, tenant_id: 't', type: 'user', ...user })}`;
    await pool`insert into api_keys ${pool({
      id, tenant_id: 't', environment_id: 'e', user_id: userId, name: 'k', display_id: 'd',
      key_hash: createHash('sha256').update(key).digest(), roles: ['all_reader'], ...fields,
    })}`; // prettier-ignore
    return { key, id, userId };
  }

  test('a key has its environment, its owner and the permissions of its roles', async () => {
    const { key, id, userId } = await newKey();
    expect(await auth.authenticate(key)).toEqual({
      kind: 'key',
      tenant_id: 't',
      environment_id: 'e',
      key_id: id,
      user_id: userId,
      user_type: 'user',
      roles: ['all_reader'],
      permissions: permissionsOf(['all_reader']),
      environment_ids: null,
      environment_type: 'development',
    });
  });

  test.each([
    ['unknown', 'sk_test_unknown'],
    ['empty', ''],
    ['far too long', 'x'.repeat(1_000_000)],
  ])('%s: null', async (_what, key) => {
    expect(await auth.authenticate(key)).toBeNull();
  });

  test('scopes of the key narrow what its roles allow; a publishable key may send events only', async () => {
    const scoped = await newKey({ permissions: ['plan:read'] });
    expect((await auth.authenticate(scoped.key))?.permissions).toEqual(['plan:read']);
    const publishable = await newKey({ type: 'publishable_key', roles: ['super_admin'] });
    expect((await auth.authenticate(publishable.key))?.permissions).toEqual(['event:write']);
    const powerless = await newKey({ type: 'publishable_key', roles: [] });
    expect((await auth.authenticate(powerless.key))?.permissions).toEqual([]);
  });

  test('a deleted key is refused at once, here and in every other process', async () => {
    const { key, id } = await newKey();
    expect(await auth.authenticate(key)).not.toBeNull();
    expect(await elsewhere.authenticate(key)).not.toBeNull();
    await pool`update api_keys set status = 'archived' where id = ${id}`;
    await auth.forget(id);
    expect(await auth.authenticate(key)).toBeNull();
    const deadline = performance.now() + WAIT_MS;
    while ((await elsewhere.authenticate(key)) !== null && performance.now() < deadline)
      await new Promise((resolve) => setImmediate(resolve));
    expect(await elsewhere.authenticate(key)).toBeNull();
  });

  test('a key ends with its owner', async () => {
    const { key } = await newKey({}, { status: 'archived' });
    expect(await auth.authenticate(key)).toBeNull();
  });

  test('a key ends at its expiry, remembered or not', async () => {
    const { key } = await newKey({ expires_at: new Date(clock.now() + 1_000).toISOString() });
    expect(await auth.authenticate(key)).not.toBeNull();
    clock.advance(1_000);
    expect(await auth.authenticate(key)).toBeNull();
  });

  test('use is noted', async () => {
    const { key, id } = await newKey();
    await auth.authenticate(key);
    const deadline = performance.now() + WAIT_MS;
    let noted: string | null = null;
    while (noted === null && performance.now() < deadline) {
      const [row] = await pool<{ last_used_at: string | null }[]>`
        select last_used_at from api_keys where id = ${id}`;
      noted = row!.last_used_at;
    }
    expect(noted).not.toBeNull();
  });
});
