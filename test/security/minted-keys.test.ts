import { startTestApi, type TestApi, type TestCaller } from '../support/api.ts';

const MINUTES = 60_000;

/** A key never makes one that may more, lives longer, or survives it (tenancy 52). */
describe('keys that keys make', () => {
  let api: TestApi;
  let admin: TestCaller;
  beforeAll(async () => {
    api = await startTestApi();
  });
  beforeEach(async () => {
    admin = await api.newCaller();
  });
  afterAll(() => api.close());

  const session = () => api.sessionOf(admin, admin.scope.environment_id);
  const as = (key: string) => ({ 'x-api-key': key });
  const make = (by: object, fields: object = {}) =>
    api.post('/v1/secrets/api/keys', { name: 'k', type: 'private_key', ...fields }, by);
  const made = async (by: object, fields: object = {}) => {
    const { status, body } = await make(by, fields);
    if (status !== 201) throw new Error(JSON.stringify(body));
    const { secret, api_key } = body;
    return { ...secret, by: as(api_key) } as {
      id: string;
      by: object;
      expires_at: string | null;
      minted_by: string | null;
      permissions: string[];
    };
  };
  const end = (id: string, by: object) => api.delete(`/v1/secrets/api/keys/${id}`, undefined, by);
  const rotate = (id: string, by: object, overlap_seconds = 0) =>
    api.post(`/v1/secrets/api/keys/${id}/rotate`, { overlap_seconds }, by);
  const inMinutes = (minutes: number) =>
    new Date(api.clock.now() + minutes * MINUTES).toISOString();
  /** A route that is open to every key that works. */
  const works = async (by: object) => (await api.get('/v1/rbac/roles', by)).status === 200;

  describe('rights', () => {
    test('403: a key without event:write makes no publishable key, and does not renew one', async () => {
      const narrow = await made(as(admin.key), { permissions: ['user:write', 'secret:write'] });
      const publishable = await make(narrow.by, { type: 'publishable_key' });
      expect([publishable.status, publishable.body.code]).toEqual([403, 'permission_denied']);
      const existing = await made(as(admin.key), { type: 'publishable_key' });
      expect((await rotate(existing.id, narrow.by)).status).toBe(403);
      const wider = await made(as(admin.key), { permissions: ['secret:write', 'event:write'] });
      expect((await make(wider.by, { type: 'publishable_key' })).status).toBe(201);
    });

    test('400: an owner who may not send events has no publishable key', async () => {
      const { body: reader } = await admin.post('/v1/users', {
        type: 'service_account',
        roles: ['event_reader'],
      });
      const fields = { type: 'publishable_key', service_account_id: reader.id };
      const { status, body } = await make(as(admin.key), fields);
      expect([status, body.details[0].path]).toEqual([400, 'type']);
    });

    test.each([
      [{ type: 'publishable_key', permissions: ['plan:read'] }, 'permissions[0]'],
      [{ type: 'publishable_key', permissions: ['event:write', 'event:read'] }, 'permissions[1]'],
      [{ type: 'private_key', allowed_event_names: ['a'] }, 'allowed_event_names'],
      [{ type: 'private_key', external_customer_id: 'acme' }, 'external_customer_id'],
      [{ type: 'publishable_key', allowed_event_names: [] }, 'allowed_event_names'],
      [{ permissions: ['read'] }, 'permissions[0]'],
      [{ permissions: ['write', 'read'] }, 'permissions[0]'],
      [{ permissions: ['read', 'write', 'plan:read'] }, 'permissions[0]'],
      [{ permissions: ['read', 'plan:read'] }, 'permissions[0]'],
    ])('400: %j names %s', async (fields, path) => {
      const { status, body } = await make(as(admin.key), fields);
      expect([status, body.details[0].path]).toEqual([400, path]);
    });

    test('201: ["read", "write"], exactly that, is ignored as consoles send it', async () => {
      const { status, body, headers } = await make(as(admin.key), {
        permissions: ['read', 'write'],
      });
      expect([status, body.secret.permissions]).toEqual([201, []]);
      expect(headers['x-ignored-fields']).toBe('permissions');
      const publishable = { type: 'publishable_key', permissions: ['read', 'write'] };
      expect((await make(as(admin.key), publishable)).status).toBe(201);
    });

    test('403: nobody renews the key of another person, and a service account no person’s', async () => {
      const robot = await api.newCaller({ beside: admin, userType: 'service_account' });
      const other = await api.newCaller({ beside: admin });
      const { id } = await made(as(admin.key));
      for (const by of [robot, other]) expect((await rotate(id, as(by.key))).status).toBe(403);
      expect((await rotate(id, await session())).status).toBe(201);
      const { body: bot } = await admin.post('/v1/users', {
        type: 'service_account',
        roles: ['event_reader'],
      });
      const botKey = await made(as(admin.key), { service_account_id: bot.id });
      expect((await rotate(botKey.id, as(robot.key))).status).toBe(403);
      expect((await rotate(botKey.id, as(other.key))).status).toBe(201);
    });
  });

  describe('life', () => {
    test('a child ends no later than its parent: 400 for a later end, and the end of the parent by default', async () => {
      const parent = await made(await session(), { expires_at: inMinutes(60) });
      const later = await make(parent.by, { expires_at: inMinutes(61) });
      expect([later.status, later.body.details[0].path]).toEqual([400, 'expires_at']);
      expect((await made(parent.by)).expires_at).toBe(parent.expires_at);
      expect((await made(parent.by, { expires_at: inMinutes(60) })).expires_at).toBe(
        parent.expires_at,
      );
      const sooner = await made(parent.by, { expires_at: inMinutes(30) });
      expect(sooner.expires_at).toBe(inMinutes(30));
      const { body: renewed } = await rotate(parent.id, parent.by, 60);
      expect(renewed.secret.expires_at).toBe(parent.expires_at);
    });

    test('a key that renews another gives it no longer life than its own', async () => {
      const short = await made(await session(), { expires_at: inMinutes(10) });
      const { id } = await made(await session());
      const { body } = await rotate(id, short.by);
      expect([body.secret.expires_at, body.secret.minted_by]).toEqual([short.expires_at, short.id]);
    });

    test('it names the key that made it; null for a logged-in person', async () => {
      const root = await made(await session());
      const child = await made(root.by);
      expect([root.minted_by, child.minted_by]).toEqual([null, root.id]);
    });

    test('deleting a key ends the keys that it made, and theirs, at once', async () => {
      const root = await made(await session());
      const child = await made(root.by);
      const grandchild = await made(child.by, { type: 'private_key' });
      const beside = await made(await session());
      for (const key of [root, child, grandchild, beside]) expect(await works(key.by)).toBe(true);
      expect((await end(child.id, root.by)).status).toBe(204);
      expect([await works(root.by), await works(child.by), await works(grandchild.by)]).toEqual([
        true,
        false,
        false,
      ]);
      const again = await made(root.by);
      expect((await end(root.id, root.by)).status).toBe(204);
      expect([await works(root.by), await works(again.by)]).toEqual([false, false]);
      expect(await works(beside.by)).toBe(true);
    });

    test('renewing a key ends the keys that it made with it, but not its successor', async () => {
      const root = await made(await session());
      const child = await made(root.by);
      const { body: next } = await rotate(root.id, root.by);
      expect([await works(root.by), await works(child.by)]).toEqual([false, false]);
      expect(await works(as(next.api_key))).toBe(true);
      expect(next.secret.minted_by).toBe(root.id);
      // Who stole the old key may have renewed it: deleting it ends that one too.
      expect((await end(root.id, await session())).status).toBe(204);
      expect(await works(as(next.api_key))).toBe(false);
    });

    test('an overlap applies to the keys that it made as well', async () => {
      const root = await made(await session());
      const child = await made(root.by);
      const { body: next } = await rotate(root.id, root.by, 60);
      expect([await works(root.by), await works(child.by)]).toEqual([true, true]);
      api.clock.advance(MINUTES);
      expect([await works(root.by), await works(child.by)]).toEqual([false, false]);
      expect(await works(as(next.api_key))).toBe(true);
    });

    test('400: a key does not delete the one that made it, which would end it', async () => {
      const root = await made(await session());
      const child = await made(root.by);
      const { status, body } = await end(root.id, child.by);
      expect([status, body.code]).toEqual([400, 'invalid_operation']);
      expect([await works(root.by), await works(child.by)]).toEqual([true, true]);
    });

    test('removing a person ends their keys and what these made for others', async () => {
      const owner = await session();
      const person = await api.newCaller({ beside: admin });
      const account = { type: 'service_account', roles: ['event_reader'] };
      const { body: bot } = await admin.post('/v1/users', account);
      const botKey = await made(as(person.key), { service_account_id: bot.id });
      expect(await works(botKey.by)).toBe(true);
      expect((await api.post(`/v1/users/${person.user_id}/remove`, {}, owner)).status).toBe(204);
      expect(await works(botKey.by)).toBe(false);
    });

    test('a key that is made while its maker is deleted does not survive', async () => {
      for (let round = 0; round < 5; round += 1) {
        const root = await made(await session());
        const child = await made(root.by);
        const [answer] = await Promise.all([
          make(child.by),
          end(root.id, await session()),
          make(root.by),
        ]);
        expect([201, 401]).toContain(answer.status);
        const [left] = await api.pool<{ count: number }[]>`
          select count(*)::int as count from api_keys
           where status = 'published' and minted_by in (${root.id}, ${child.id})`;
        expect(left!.count).toBe(0);
      }
    });
  });
});
