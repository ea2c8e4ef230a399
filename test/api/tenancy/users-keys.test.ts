import { createHmac } from 'node:crypto';
import { startTestApi, type TestApi, type TestCaller } from '../../support/api.ts';

describe('accounts, keys and the tenant', () => {
  let api: TestApi;
  let admin: TestCaller;
  let people = 0;
  beforeAll(async () => {
    api = await startTestApi();
  });
  beforeEach(async () => {
    admin = await api.newCaller();
  });
  afterAll(() => api.close());

  const email = () => `p${(people += 1)}@example.test`;
  const invite = async (roles?: string[], by = admin) =>
    await by.post('/v1/users', {
      type: 'user',
      email: email(),
      ...(roles === undefined ? {} : { roles }),
    });
  const logIn = async (person: { email: string; password: string }) => {
    const { body } = await api.post(
      '/v1/auth/login',
      { email: person.email, password: person.password },
      { 'x-api-key': '' },
    );
    return { authorization: `Bearer ${body.token}`, 'x-api-key': '' };
  };
  const newKey = (fields: object = {}, by = admin) =>
    by.post('/v1/secrets/api/keys', { name: 'k', type: 'private_key', ...fields });
  const use = (key: string) => api.get('/v1/plans', { 'x-api-key': key });

  describe('people', () => {
    test('201: an invited person reads, and logs in with the password that is shown once', async () => {
      const { status, body } = await invite();
      expect(status).toBe(201);
      expect(body.roles).toEqual(['all_reader']);
      expect(body.password).toHaveLength(20);
      expect(body.password.replace(/[^0-9]/g, '').length).toBeGreaterThanOrEqual(4);
      const { body: me } = await api.get('/v1/users/me', await logIn(body));
      expect([me.id, me.password]).toEqual([body.id, undefined]);
    });

    test('only super admins invite, and no one grants more than their own permissions', async () => {
      const writer = await api.newCaller({ beside: admin, roles: ['all_writer'] });
      expect((await invite(['all_reader'], writer)).body.code).toBe('permission_denied');
      const service = (roles: string[]) =>
        writer.post('/v1/users', { type: 'service_account', roles });
      expect((await service(['super_admin'])).status).toBe(403);
      expect((await service(['event_ingestor'])).status).toBe(201);
    });

    test('a tenant has at most as many people as its setting says', async () => {
      await admin.put('/v1/settings/tenant_config', { value: { max_users: 2 } });
      expect((await invite()).status).toBe(201);
      expect((await invite()).body.details[0].path).toBe('type');
    });

    test('roles: not one’s own, not the last super admin’s, not while keys carry the old ones', async () => {
      const { body: person } = await invite(['super_admin']);
      const put = (id: string, roles: string[]) => admin.put(`/v1/users/${id}/roles`, { roles });
      expect((await put(admin.user_id, ['all_reader'])).body.code).toBe('invalid_operation');
      const session = { ...(await logIn(person)), 'x-environment-id': admin.scope.environment_id };
      const { body: key } = await api.post(
        '/v1/secrets/api/keys',
        { name: 'k', type: 'private_key' },
        session,
      );
      const blocked = await put(person.id, ['all_reader']);
      expect([blocked.status, blocked.body.message.includes(key.secret.id)]).toEqual([400, true]);
      await admin.delete(`/v1/secrets/api/keys/${key.secret.id}`);
      expect((await put(person.id, ['all_reader'])).body.roles).toEqual(['all_reader']);
      expect((await api.get('/v1/environments', session)).status).toBe(200);
      expect((await api.post('/v1/plans', { name: 'x' }, session)).status).toBe(403);
    });

    test('removal ends sessions and keys at once; oneself and the last super admin stay', async () => {
      const { body: person } = await invite(['all_writer']);
      const session = { ...(await logIn(person)), 'x-environment-id': admin.scope.environment_id };
      const { body: key } = await api.post(
        '/v1/secrets/api/keys',
        { name: 'k', type: 'private_key' },
        session,
      );
      expect((await use(key.api_key)).status).toBe(200);
      expect((await admin.post(`/v1/users/${admin.user_id}/remove`)).body.code).toBe(
        'invalid_operation',
      );
      expect((await admin.post(`/v1/users/${person.id}/remove`)).status).toBe(204);
      expect((await use(key.api_key)).status).toBe(401);
      expect((await api.get('/v1/users/me', session)).status).toBe(401);
      expect((await admin.post(`/v1/users/${person.id}/remove`)).status).toBe(404);
      const reused = await admin.post('/v1/users', { type: 'user', email: person.email });
      expect(reused.status).toBe(201);
    });

    test('one renames oneself; metadata is merged', async () => {
      const { body: first } = await admin.put('/v1/users/me', { name: 'Me', metadata: { a: '1' } });
      const { body: second } = await admin.put('/v1/users/me', { metadata: { b: '2' } });
      expect([first.name, second.name, second.metadata]).toEqual(['Me', 'Me', { a: '1', b: '2' }]);
      expect((await admin.put('/v1/users/me', { name: ' ' })).body.name).toBeNull();
      const { body: third } = await admin.put('/v1/users/me', { metadata: { a: null, c: null } });
      expect(third.metadata).toEqual({ b: '2' });
      expect((await admin.put(`/v1/users/${admin.user_id}`, { name: 'x' })).status).toBe(404);
    });

    test.each([
      ['type', { type: 'robot' }],
      ['type', {}],
      ['email', { type: 'user' }],
      ['email', { type: 'user', email: 'nothing' }],
      ['roles[0]', { type: 'user', email: 'x@example.test', roles: ['event_reader'] }],
      ['roles', { type: 'user', email: 'x@example.test', roles: ['super_admin', 'all_reader'] }],
      ['roles', { type: 'service_account' }],
      ['roles[0]', { type: 'service_account', roles: ['all_reader'] }],
      ['email', { type: 'service_account', roles: ['event_reader'], email: 'x@example.test' }],
    ])('400: %s of %j', async (path, body) => {
      const answer = await admin.post('/v1/users', body);
      expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
    });

    test('a person who is invited by name has the name until they change it', async () => {
      const sent = { type: 'user', email: 'named@example.test', name: 'Ada' };
      const { body: person } = await admin.post('/v1/users', sent);
      expect(person.name).toBe('Ada');
      const { body: found } = await admin.post('/v1/users/search', { user_ids: [person.id], type: 'user' });
      expect(found.items[0].name).toBe('Ada');
    }); // prettier-ignore

    test('409: an address is taken across tenants', async () => {
      const { body: person } = await invite();
      const other = await api.newCaller();
      expect((await other.post('/v1/users', { type: 'user', email: person.email })).status).toBe(
        409,
      );
    });
  });

  describe('service accounts', () => {
    test('keep their roles, and are deleted only after their keys', async () => {
      const { body: bot } = await admin.post('/v1/users', {
        type: 'service_account',
        name: 'Bot',
        roles: ['event_reader'],
      });
      expect(bot.password).toBeNull();
      expect((await admin.put(`/v1/users/${bot.id}/roles`, { roles: ['all_reader'] })).status).toBe(
        400,
      );
      expect((await admin.put(`/v1/users/${bot.id}`, { name: 'Renamed' })).body.name).toBe(
        'Renamed',
      );
      const { body: key } = await newKey({ service_account_id: bot.id });
      expect(key.secret).toMatchObject({
        roles: ['event_reader'],
        user_type: 'service_account',
        service_account_name: 'Renamed',
      });
      expect((await use(key.api_key)).status).toBe(403);
      expect((await admin.delete(`/v1/users/${bot.id}`)).body.code).toBe('invalid_operation');
      await admin.delete(`/v1/secrets/api/keys/${key.secret.id}`);
      expect((await admin.delete(`/v1/users/${bot.id}`)).status).toBe(204);
      expect((await admin.delete(`/v1/users/${bot.id}`)).status).toBe(404);
      expect((await admin.delete(`/v1/users/${admin.user_id}`)).status).toBe(400);
      expect((await admin.post('/v1/users/search', {})).body.items).toEqual([]);
      expect((await admin.post('/v1/users/search', { type: 'user' })).body.pagination.total).toBe(
        1,
      );
    });
  });

  describe('API keys', () => {
    test('are shown once, kept as a hash, and tell their stage and kind', async () => {
      const { status, body } = await newKey();
      expect(status).toBe(201);
      expect(body.api_key).toMatch(/^sk_test_[A-Za-z0-9_-]{43}$/);
      expect(body.secret.display_id).toBe(
        `${body.api_key.slice(0, 11)}***${body.api_key.slice(-2)}`,
      );
      expect((await use(body.api_key)).status).toBe(200);
      const rows = JSON.stringify(await api.pool`select * from api_keys`);
      expect(rows.includes(body.api_key)).toBe(false);
      const { body: list } = await admin.get('/v1/secrets/api/keys');
      expect(JSON.stringify(list).includes(body.api_key)).toBe(false);
      expect((await newKey({ type: 'publishable_key' })).body.api_key).toMatch(/^pk_test_/);
    });

    test('a repeat with the same Idempotency-Key makes no second key, and does not show the first', async () => {
      const once = () =>
        admin.post(
          '/v1/secrets/api/keys',
          { name: 'once', type: 'private_key' },
          { 'idempotency-key': 'k' },
        );
      expect((await once()).status).toBe(201);
      const repeat = await once();
      expect([repeat.status, repeat.body.code]).toEqual([409, 'answer_not_kept']);
      const { body: list } = await admin.get('/v1/secrets/api/keys');
      expect(list.items.filter((key: { name: string }) => key.name === 'once')).toHaveLength(1);
    });

    test('a deleted key is refused at once', async () => {
      const { body } = await newKey();
      expect((await use(body.api_key)).status).toBe(200);
      expect((await admin.delete(`/v1/secrets/api/keys/${body.secret.id}`)).status).toBe(204);
      expect((await use(body.api_key)).status).toBe(401);
      expect((await admin.delete(`/v1/secrets/api/keys/${body.secret.id}`)).status).toBe(204);
      expect((await admin.delete('/v1/secrets/api/keys/secret_x')).status).toBe(404);
    });

    test('a rotated key works beside its successor for the overlap, and no longer', async () => {
      const { body: old } = await newKey({ permissions: ['plan:read'] });
      const { status, body: next } = await admin.post(
        `/v1/secrets/api/keys/${old.secret.id}/rotate`,
        { overlap_seconds: 60 },
      );
      expect(status).toBe(201);
      expect(next.secret.permissions).toEqual(['plan:read']);
      expect([(await use(old.api_key)).status, (await use(next.api_key)).status]).toEqual([
        200, 200,
      ]);
      api.clock.advance(60_000);
      expect([(await use(old.api_key)).status, (await use(next.api_key)).status]).toEqual([
        401, 200,
      ]);
      const { body: last } = await admin.post(`/v1/secrets/api/keys/${next.secret.id}/rotate`);
      expect([(await use(next.api_key)).status, (await use(last.api_key)).status]).toEqual([
        401, 200,
      ]);
      expect((await admin.post(`/v1/secrets/api/keys/${old.secret.id}/rotate`)).status).toBe(400);
    });

    test('scopes narrow a key, within what its owner holds', async () => {
      const { body } = await newKey({ permissions: ['customer:read'] });
      expect((await use(body.api_key)).status).toBe(403);
      const reader = await api.newCaller({ beside: admin, roles: ['all_writer'] });
      expect((await newKey({ permissions: ['plan:write'] }, reader)).status).toBe(201);
      const bot = await admin.post('/v1/users', {
        type: 'service_account',
        roles: ['event_reader'],
      });
      const wide = await newKey({ permissions: ['plan:read'], service_account_id: bot.body.id });
      expect(wide.body.details[0].path).toBe('permissions[0]');
    });

    test('a narrow key of a super admin grants no more than itself: no wide key, no account, no role', async () => {
      const narrow = async (...permissions: string[]) => {
        const { body } = await newKey({ permissions });
        return { 'x-api-key': body.api_key as string };
      };
      const headers = await narrow('secret:write', 'user:write', 'plan:read');
      const make = (fields: object) =>
        api.post('/v1/secrets/api/keys', { name: 'k', type: 'private_key', ...fields }, headers);
      expect((await make({})).status).toBe(403);
      expect((await make({ permissions: ['plan:write'] })).status).toBe(403);
      const { status, body: same } = await make({ permissions: ['plan:read', 'secret:write'] });
      expect(status).toBe(201);
      const { body: bot } = await admin.post('/v1/users', {
        type: 'service_account',
        roles: ['event_ingestor'],
      });
      expect((await make({ service_account_id: bot.id })).status).toBe(403);
      const { body: wide } = await newKey();
      const rotate = (id: string) => api.post(`/v1/secrets/api/keys/${id}/rotate`, {}, headers);
      expect((await rotate(wide.secret.id)).status).toBe(403);
      expect((await rotate(same.secret.id)).status).toBe(201);
      for (const roles of [['super_admin'], ['event_ingestor']]) {
        const account = { type: 'service_account', roles };
        expect((await api.post('/v1/users', account, headers)).status).toBe(403);
      }
      const person = { type: 'user', email: 'narrow@example.test', roles: ['all_reader'] };
      expect((await api.post('/v1/users', person, headers)).status).toBe(403);
      const { body: invited } = await invite(['all_reader']);
      const roles = (by: object) =>
        api.put(`/v1/users/${invited.id}/roles`, { roles: ['super_admin'] }, by);
      expect((await roles(headers)).status).toBe(403);
      expect((await roles(await narrow('user:write', '*:read'))).status).toBe(403);
    });

    test('a publishable key is no key of any route but those that take events: 401', async () => {
      const { body } = await newKey({ type: 'publishable_key' });
      const headers = { 'x-api-key': body.api_key };
      for (const path of ['/v1/plans', '/v1/users/me', '/v1/rbac/roles', '/v1/environments'])
        expect((await api.get(path, headers)).status).toBe(401);
      expect((await api.post('/v1/plans', { name: 'x' }, headers)).status).toBe(401);
      expect((await api.post('/v1/events/raw/reprocess/all', {}, headers)).status).toBe(401);
    });

    test('one sees and deletes one’s own; a super admin all of the environment', async () => {
      const writer = await api.newCaller({ beside: admin, roles: ['all_writer'] });
      const { body: own } = await newKey({}, writer);
      const { body: foreign } = await newKey();
      const names = async (by: TestCaller) =>
        (await by.get('/v1/secrets/api/keys')).body.items.map((key: { id: string }) => key.id);
      expect(await names(writer)).not.toContain(foreign.secret.id);
      expect(await names(admin)).toEqual(
        expect.arrayContaining([own.secret.id, foreign.secret.id]),
      );
      expect((await writer.delete(`/v1/secrets/api/keys/${foreign.secret.id}`)).status).toBe(403);
      const bot = await admin.post('/v1/users', {
        type: 'service_account',
        roles: ['event_reader'],
      });
      expect((await newKey({ service_account_id: bot.body.id }, writer)).status).toBe(403);
    });

    test.each([
      ['name', { name: '' }],
      ['type', { type: 'golden_key' }],
      ['expires_at', { expires_at: 'soon' }],
      ['expires_at', { expires_at: '2020-01-01T00:00:00Z' }],
      ['permissions[0]', { permissions: ['everything'] }],
    ])('400: %s', async (path, fields) => {
      const answer = await newKey(fields);
      expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
    });

    test('404 for an unknown account, 400 for a person', async () => {
      expect((await newKey({ service_account_id: 'user_x' })).status).toBe(404);
      expect((await newKey({ service_account_id: admin.user_id })).status).toBe(400);
    });
  });

  test('the billing of the tenant is a route of its own: 200 and empty', async () => {
    const { status, body } = await admin.get('/v1/tenants/billing');
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        subscriptions: [],
        usage: { customer_id: '', features: [], period: null, pagination: null },
      },
    });
  });

  test('the tenant: its own only; billing details survive an update without them', async () => {
    const { tenant_id } = admin.scope;
    const put = (body: object) => admin.put('/v1/tenants/update', body);
    const details = {
      email: 'b@example.test',
      address: { address_city: 'Pune', address_country: 'IN' },
    };
    await put({ name: 'New', metadata: { a: 'b' }, billing_details: details });
    const { body } = await put({ name: ' ' });
    expect((await put({ name: ' New ' })).body.name).toBe('New');
    expect(body).toMatchObject({
      id: tenant_id,
      name: 'New',
      metadata: { a: 'b' },
      billing_details: {
        email: 'b@example.test',
        phone: null,
        address: { address_city: 'Pune', address_line1: '' },
      },
    });
    for (const address_country of ['ZZ', 'xx', 'B'])
      expect(await put({ billing_details: { address: { address_country } } })).toMatchObject({
        status: 400,
        body: { details: [{ path: 'billing_details.address.address_country' }] },
      });
    const { body: replaced } = await put({ billing_details: { phone: '1' } });
    expect(replaced.billing_details).toMatchObject({
      email: null,
      phone: '1',
      address: { address_city: '' },
    });
    expect((await admin.get('/v1/tenants/tenant_x')).status).toBe(404);
    expect((await put({ name: 5 })).status).toBe(400);
  });
});

describe('POST /users/chat/verify', () => {
  const secret = 'the-secret-of-the-widget';

  test('the HMAC of the caller’s id by the widget’s secret, without an environment', async () => {
    const api = await startTestApi({ switches: { supportChatSecret: secret } });
    const { status, body, headers } = await api.post('/v1/users/chat/verify');
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(body).toEqual({
      token: createHmac('sha256', secret).update(api.user_id).digest('hex'),
      expires_at: '2026-11-21T12:15:00.000Z',
    });
    expect((await api.post('/v1/users/chat/verify', {}, { 'x-api-key': '' })).status).toBe(401);
    await api.close();
  });

  test('400 where no widget is set up', async () => {
    const api = await startTestApi();
    const { status, body } = await api.post('/v1/users/chat/verify');
    expect([status, body.code]).toEqual([400, 'invalid_operation']);
    await api.close();
  });
});
