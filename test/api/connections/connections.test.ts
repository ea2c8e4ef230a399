import { randomBytes } from 'node:crypto';
import { connectionSecrets, resealSecrets } from '../../../api/tenancy/connections/secrets.ts';
import { createSecretBox } from '../../../platform/secret-box.ts';
import { startTestApi, type TestApi, type TestCaller } from '../../support/api.ts';

const CANARY = 'sk_live_canary_4711';

describe('connections', () => {
  let api: TestApi;
  let caller: TestCaller;
  /** A connection whose credentials are a copy of somebody else's. */
  let copied: string;
  beforeAll(async () => {
    api = await startTestApi();
  });
  beforeEach(async () => {
    caller = await api.newCaller();
  });
  afterAll(() => api.close());
  const create = (fields: object = {}) =>
    caller.post('/v1/connections', {
      name: 'Cards',
      provider_type: 'stripe',
      encrypted_secret_data: { secret_key: CANARY },
      ...fields,
    });

  test('201: nothing is synced unless said, and the credentials are never answered', async () => {
    const made = await create({ metadata: { k: 'v' }, gateway_account_id: 'acct_1' });
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        id: expect.stringMatching(/^conn_/),
        provider_type: 'stripe',
        gateway_account_id: 'acct_1',
        metadata: { k: 'v' },
        sync_config: {
          plan: { inbound: false, outbound: false },
          quote: { inbound: false, outbound: false },
          s3: null,
          invoice_sync_settings: null,
        },
      },
    ]);
    const path = `/v1/connections/${made.body.id}`;
    const answers = [
      made,
      await caller.get(path),
      await caller.put(path, { encrypted_secret_data: { secret_key: `${CANARY}_2` } }),
      await caller.get('/v1/connections'),
      await caller.post('/v1/connections/search', {}),
      await caller.get('/v1/secrets/integrations/by-provider/stripe'),
    ];
    expect(JSON.stringify(answers)).not.toContain(CANARY);
    expect(JSON.stringify(answers)).not.toContain('secret_data');
  });

  test('a dump of the database does not hold the credentials; the service reads them', async () => {
    const { body } = await create();
    const dump = await api.pool`select to_jsonb(c)::text as row from connections c`;
    expect(JSON.stringify(dump)).not.toContain(CANARY);
    expect(await connectionSecrets(api.pool, api.deps, caller.scope, body.id)).toEqual({
      secret_key: CANARY,
    });
    const [kept] = await api.pool<{ idempotency: string | null }[]>`
      select string_agg(k::text, '') as idempotency from idempotency_keys k`;
    expect(kept?.idempotency ?? '').not.toContain(CANARY);
  });

  test('credentials of one tenant do not open in the row of another', async () => {
    const { body: mine } = await create();
    const stranger = await api.newCaller();
    const { body: theirs } = await stranger.post('/v1/connections', {
      name: 'X',
      provider_type: 'stripe',
      encrypted_secret_data: { secret_key: 'other' },
    });
    await api.pool`
      update connections set secret_data = (select secret_data from connections where id = ${mine.id})
       where id = ${theirs.id}`;
    await expect(
      connectionSecrets(api.pool, api.deps, stranger.scope, theirs.id),
    ).rejects.toThrow();
    copied = theirs.id;
  });

  test('rotation: rows of the old key open, are sealed again once, and need it no more', async () => {
    const old = { id: 'test', key: Buffer.alloc(32, 7) };
    const next = { id: 'next', key: randomBytes(32) };
    const { body } = await create();
    const read = (box: ReturnType<typeof createSecretBox>) =>
      connectionSecrets(api.pool, { secretBox: box }, caller.scope, body.id);
    const both = createSecretBox([next, old]);
    expect(await read(both)).toEqual({ secret_key: CANARY });
    const moved = await resealSecrets(api.pool, both);
    expect([moved.resealed > 0, moved.unreadable]).toEqual([true, [copied]]);
    expect(await resealSecrets(api.pool, both)).toEqual({ resealed: 0, unreadable: [copied] });
    expect(await read(createSecretBox([next]))).toEqual({ secret_key: CANARY });
    await expect(read(createSecretBox([old]))).rejects.toThrow(/"next"/);
    await resealSecrets(api.pool, createSecretBox([old, next]));
  });

  test('PUT: what is absent stays, secrets are replaced or forgotten, kinds are switched one by one', async () => {
    const { body } = await create({ sync_config: { customer: { outbound: true } } });
    const put = (change: object) => caller.put(`/v1/connections/${body.id}`, change);
    const secrets = () => connectionSecrets(api.pool, api.deps, caller.scope, body.id);
    const next = await put({
      name: 'New',
      metadata: { z: '1' },
      sync_config: { invoice: { inbound: true } },
    });
    expect(next.body).toMatchObject({
      name: 'New',
      metadata: { z: '1' },
      sync_config: {
        customer: { inbound: false, outbound: true },
        invoice: { inbound: true, outbound: false },
      },
    });
    expect(await secrets()).toEqual({ secret_key: CANARY });
    await put({ encrypted_secret_data: { token: 'b' } });
    expect(await secrets()).toEqual({ token: 'b' });
    await put({ encrypted_secret_data: null });
    expect(await secrets()).toBeNull();
  });

  test('several buckets are allowed; the name of the provider means the newest', async () => {
    const bucket = { provider_type: 's3', encrypted_secret_data: { aws_access_key_id: 'AKIA' } };
    const first = await create({ ...bucket, name: 'Daily' });
    const second = await create({ ...bucket, name: 'Archive' });
    expect([first.status, second.status]).toEqual([201, 201]);
    const found = await caller.post('/v1/connections/search', { provider_type: 's3' });
    expect(found.body).toMatchObject({
      connections: [{ id: second.body.id }, { id: first.body.id }],
      total: 2,
    });
    const { body: linked } = await caller.get('/v1/secrets/integrations/linked');
    expect(linked).toEqual({ providers: ['s3'] });
    const named = () => caller.get('/v1/secrets/integrations/by-provider/s3');
    expect((await named()).body.id).toBe(second.body.id);
    expect((await caller.delete(`/v1/connections/${second.body.id}`)).status).toBe(204);
    expect((await named()).body.id).toBe(first.body.id);
  });

  test('204, then deleted with its credentials; 409 while a gateway is connected', async () => {
    const { body } = await create();
    expect((await create()).status).toBe(409);
    expect((await create({ provider_type: 'paddle' })).status).toBe(201);
    expect((await caller.delete(`/v1/connections/${body.id}`)).status).toBe(204);
    expect((await caller.get(`/v1/connections/${body.id}`)).status).toBe(404);
    expect((await caller.delete(`/v1/connections/${body.id}`)).status).toBe(404);
    expect((await caller.put(`/v1/connections/${body.id}`, { name: 'x' })).status).toBe(404);
    expect(await api.pool`select secret_data from connections where id = ${body.id}`).toMatchObject(
      [{ secret_data: null }],
    );
    expect((await create()).status).toBe(201);
  });

  test('the list has its own form, pages, filters, and shows the own environment only', async () => {
    const { body: first } = await create();
    await create({ provider_type: 's3' });
    const search = async (filter: object) =>
      (await caller.post('/v1/connections/search', filter)).body;
    expect(await search({ limit: 1 })).toMatchObject({
      connections: [{ provider_type: 's3' }],
      total: 2,
      limit: 1,
      offset: 0,
    });
    expect(await search({ limit: 1, offset: 1 })).toMatchObject({
      connections: [{ id: first.id }],
      total: 2,
      offset: 1,
    });
    expect((await search({ connection_ids: [first.id] })).total).toBe(1);
    expect((await search({ provider_type: 's3' })).total).toBe(1);
    const other = await api.newCaller({ inTenantOf: caller });
    const foreign = await other.post('/v1/connections/search', { connection_ids: [first.id] });
    expect(foreign.body).toMatchObject({ connections: [], total: 0 });
  });

  test.each([
    ['name', { name: undefined }],
    ['name', { name: ' ' }],
    ['provider_type', { provider_type: 'nope' }],
    ['provider_type', { provider_type: undefined }],
    ['encrypted_secret_data', { encrypted_secret_data: 'text' }],
    ['encrypted_secret_data.a', { encrypted_secret_data: { a: { b: 1 } } }],
    ['encrypted_secret_data.a', { encrypted_secret_data: { a: ' ' } }],
    ...['', ' ', 0, true].flatMap((value) =>
      ['aws_access_key_id', 'aws_secret_access_key', 'secret_key', 'webhook_secret'].map(
        (key): [string, object] => [
          `encrypted_secret_data.${key}`,
          { encrypted_secret_data: { [key]: value } },
        ],
      ),
    ),
    ['sync_config.customer.inbound', { sync_config: { customer: { inbound: 'yes' } } }],
    ['sync_config.s3', { sync_config: { s3: { bucket: 'b' } } }],
    ['sync_config.aws_marketplace', { sync_config: { aws_marketplace: { region: 'eu' } } }],
    [
      'sync_config.invoice_sync_settings',
      { sync_config: { invoice_sync_settings: { normalize_fixed_to: 'MONTHLY' } } },
    ],
    ['sync_config.s3.bucket', { sync_config: { s3: { bucket: '../etc' } } }],
    ['sync_config.s3.compression', { sync_config: { s3: { compression: 'zip' } } }],
    ['metadata.n', { metadata: { n: 1 } }],
  ])('400: %s %j', async (path, fields) => {
    const answer = await create(fields);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
    expect(JSON.stringify(answer.body)).not.toContain(CANARY);
  });

  test('400: an update to an empty key; what was stored stays', async () => {
    const { body } = await create();
    const answer = await caller.put(`/v1/connections/${body.id}`, {
      encrypted_secret_data: { secret_key: ' ' },
    });
    expect([answer.status, answer.body.details[0].path]).toEqual([
      400,
      'encrypted_secret_data.secret_key',
    ]);
    expect(await connectionSecrets(api.pool, api.deps, caller.scope, body.id)).toEqual({
      secret_key: CANARY,
    });
  });

  test('400: a limit above 1000', async () => {
    expect((await caller.get('/v1/connections?limit=1001')).status).toBe(400);
  });

  test('503 without a key: nothing is kept unsealed', async () => {
    const { secretBox } = api.deps;
    const none = createSecretBox([]);
    expect(() => none.seal('x', { tenant_id: 't', column: 'c' })).toThrow(
      expect.objectContaining({ kind: 'unavailable' }),
    );
    expect(secretBox.seal('x', { tenant_id: 't', column: 'c' })).toMatch(/^v1\.test\./);
  });
});

describe('integrations', () => {
  let api: TestApi;
  let customer: { id: string };
  let connected: TestCaller;
  beforeAll(async () => {
    api = await startTestApi();
  });
  beforeEach(async () => {
    connected = await api.newCaller();
    await connected.post('/v1/connections', { name: 'S', provider_type: 'stripe' });
    const made = await connected.post('/v1/customers', { external_id: 'c', name: 'C' });
    customer = made.body;
  });
  afterAll(() => api.close());
  const linkBody = (fields: object = {}) => ({
    entity_type: 'customer',
    entity_id: customer.id,
    provider_type: 'stripe',
    provider_entity_id: 'cus_1',
    ...fields,
  });
  const link = (fields: object = {}) => connected.post('/v1/integrations/link', linkBody(fields));

  test('200: the mappings and the customer have the link, until it is ended', async () => {
    const made = await link({ metadata: { a: 'b' } });
    expect([made.status, made.body.mapping]).toMatchObject([
      200,
      { entity_id: customer.id, provider_entity_id: 'cus_1', metadata: { a: 'b' } },
    ]);
    const query = `entity_type=customer&entity_id=${customer.id}`;
    const { body: list } = await connected.get(`/v1/integrations/mappings?${query}`);
    expect(list).toMatchObject({ items: [made.body.mapping], pagination: { total: 1, limit: 50 } });

    const read = (await connected.get(`/v1/customers/${customer.id}`)).body;
    expect(read.integrations).toEqual([made.body.mapping]);
    const found = await connected.post('/v1/customers/search', {});
    expect(found.body.items[0].integrations).toEqual([made.body.mapping]);
    const renamed = await connected.put(`/v1/customers/${customer.id}`, { name: 'D' });
    expect(renamed.body.integrations).toEqual([made.body.mapping]);

    const ended = await connected.delete('/v1/integrations/link', linkBody());
    expect(ended.status).toBe(200);
    expect((await connected.delete('/v1/integrations/link', linkBody())).status).toBe(404);
    expect((await connected.get(`/v1/customers/${customer.id}`)).body.integrations).toEqual([]);
  });

  test('the same link again is the same; another of either side is 409', async () => {
    const { body: first } = await link();
    expect((await link()).body).toEqual(first);
    expect((await link({ provider_entity_id: 'cus_2' })).status).toBe(409);
    const { body: other } = await connected.post('/v1/customers', { external_id: 'd', name: 'D' });
    expect((await link({ entity_id: other.id })).status).toBe(409);
  });

  test.each([
    ['provider_type', { provider_type: 's3' }],
    ['provider_type', { provider_type: 'paddle' }],
    ['entity_type', { entity_type: 'x' }],
    ['provider_entity_id', { provider_entity_id: undefined }],
    ['entity_id', { entity_id: '' }],
  ])('400: %s %j', async (path, fields) => {
    const answer = await link(fields);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });

  test('400 comes before 404: no connection, for any record', async () => {
    const answer = await link({ provider_type: 'paddle', entity_id: 'missing' });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, 'provider_type']);
  });

  test('404: a record that does not exist', async () => {
    for (const entity_type of ['customer', 'plan', 'invoice', 'payment', 'subscription_line_item'])
      expect((await link({ entity_type, entity_id: 'missing' })).status).toBe(404);
    expect((await link({ entity_type: 'item', entity_id: 'theirs' })).status).toBe(200);
  });

  test('mappings need both parameters', async () => {
    expect((await connected.get('/v1/integrations/mappings?entity_type=customer')).status).toBe(
      400,
    );
    const none = await connected.get('/v1/integrations/mappings?entity_type=customer&entity_id=x');
    expect([none.status, none.body.items]).toEqual([200, []]);
  });

  test('the config shows each connection; a sync that nothing does is refused, not promised', async () => {
    const { body: config } = await connected.get('/v1/integrations/config');
    expect(config.integrations).toMatchObject([{ provider: 'stripe' }]);
    const sync = (entity_type: string, entity_id = customer.id) =>
      connected.post('/v1/integrations/sync', { entity_type, entity_id });
    expect((await sync('zz')).status).toBe(400);
    expect((await sync('customer', 'missing')).status).toBe(404);
    expect((await sync('customer')).body).toMatchObject({ code: 'invalid_operation' });
  });

  test('earlier clients: the same connections and links under the earlier names', async () => {
    const made = await connected.post('/v1/secrets/integrations/create/razorpay', {
      name: 'R',
      credentials: { key_id: 'a' },
    });
    expect([made.status, made.body]).toMatchObject([
      201,
      { type: 'integration', provider: 'razorpay' },
    ]);
    expect((await connected.get('/v1/secrets/integrations/linked')).body).toEqual({
      providers: ['razorpay', 'stripe'],
    });
    const found = await connected.get('/v1/secrets/integrations/by-provider/razorpay');
    expect(found.body).toEqual(made.body);
    const mapped = await connected.post('/v1/entity-integration-mappings', linkBody());
    expect(mapped.status).toBe(201);
    const drop = () => connected.delete(`/v1/entity-integration-mappings/${mapped.body.id}`);
    expect([(await drop()).status, (await drop()).status]).toEqual([204, 404]);
    const path = `/v1/secrets/integrations/${made.body.id}`;
    expect((await connected.delete(path)).status).toBe(204);
    expect((await connected.get('/v1/secrets/integrations/by-provider/razorpay')).status).toBe(404);
  });
});
