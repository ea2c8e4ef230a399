import { startTestApi, type TestApi, type TestCaller } from '../../support/api.ts';

let api: TestApi;
let caller: TestCaller;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  caller = await api.newCaller();
});
afterAll(() => api.close());

const create = (external_id: string, more: object = {}) =>
  caller.post('/v1/customers', { external_id, name: external_id, ...more });

describe.each([
  ['customers', (external_id: string, metadata: object) => create(external_id, { metadata })],
  ['plans', (name: string, metadata: object) => caller.post('/v1/plans', { name, metadata })],
])('metadata as a filter of %s', (resource, make) => {
  const found = async (metadata: unknown) => {
    const { body } = await caller.post(`/v1/${resource}/search`, { metadata });
    const query = `metadata=${encodeURIComponent(JSON.stringify(metadata))}`;
    const listed = await caller.get(`/v1/${resource}?${query}`);
    expect(listed.body).toEqual(body);
    const names = body.items.map((item: { name: string }) => item.name);
    return { names, total: body.pagination.total };
  };

  test('200: records that have every key with just that value, counted exactly', async () => {
    await make('a', { region: 'eu', tier: 'gold' });
    await make('b', { region: 'eu', tier: "o'brien" });
    await make('c', { region: 'EU' });
    expect(await found({ region: 'eu' })).toEqual({ names: ['b', 'a'], total: 2 });
    expect(await found({ region: 'eu', tier: "o'brien" })).toEqual({ names: ['b'], total: 1 });
    expect(await found({ region: 'eu', tier: '%' })).toEqual({ names: [], total: 0 });
    expect(await found({})).toEqual({ names: ['c', 'b', 'a'], total: 3 });
    const { body } = await caller.post(`/v1/${resource}/search`, {
      metadata: { region: 'eu' },
      limit: 1,
    });
    expect([body.items.length, body.pagination.total]).toEqual([1, 2]);
  });

  test.each([[['eu']], [{ region: 1 }], [{ region: { not: 'eu' } }], ['eu']])(
    '400: %j is no metadata',
    async (metadata) => {
      const answers = [
        await caller.post(`/v1/${resource}/search`, { metadata }),
        await caller.get(
          `/v1/${resource}?metadata=${encodeURIComponent(JSON.stringify(metadata))}`,
        ),
      ];
      for (const { status, body } of answers) {
        expect(status).toBe(400);
        expect(body.details[0].path).toMatch(/^metadata/);
      }
    },
  );
});

describe('links to providers with a customer (money 19.9)', () => {
  const STRIPE = { provider_type: 'stripe', provider_entity_id: 'cus_1' };
  beforeEach(async () => {
    const { status } = await caller.post('/v1/connections', {
      name: 'Cards',
      provider_type: 'stripe',
      encrypted_secret_data: { secret_key: 'sk_live_x' },
    });
    expect(status).toBe(201);
  });

  test('201 and 200: made with the customer, and later; the same again changes nothing', async () => {
    const made = await create('a', {
      integration_entity_mapping: [
        { ...STRIPE, entity_type: 'customer', entity_id: 'a', metadata: { k: 'v' } },
      ],
    });
    expect(made.status).toBe(201);
    expect(made.body.integrations).toMatchObject([
      { ...STRIPE, entity_type: 'customer', entity_id: made.body.id, metadata: { k: 'v' } },
    ]);
    const read = await caller.get(`/v1/customers/${made.body.id}`);
    expect(read.body).toEqual(made.body);
    const again = await caller.put(`/v1/customers/${made.body.id}`, {
      integration_entity_mapping: [STRIPE],
    });
    expect([again.status, again.body.integrations]).toEqual([200, made.body.integrations]);

    const other = (await create('b')).body;
    const linked = await caller.put('/v1/customers?external_customer_id=b', {
      integration_entity_mapping: [{ ...STRIPE, provider_entity_id: 'cus_2', entity_id: other.id }],
    });
    expect(linked.body.integrations).toMatchObject([{ provider_entity_id: 'cus_2' }]);
  });

  test('400 names the place: no connection, another kind, another customer; nothing is made', async () => {
    const { body: b } = await create('b');
    const at = 'integration_entity_mapping[0]';
    for (const [link, path] of [
      [{ ...STRIPE, provider_type: 'razorpay' }, `${at}.provider_type`],
      [{ ...STRIPE, entity_type: 'plan' }, `${at}.entity_type`],
      [{ ...STRIPE, provider_entity_id: ' ' }, `${at}.provider_entity_id`],
    ] as const) {
      const { status, body } = await create('a', { integration_entity_mapping: [link] });
      expect([status, body.details[0].path]).toEqual([400, path]);
      expect(body.message.split(':')[0]).toBe(path);
    }
    expect((await caller.get('/v1/customers/external/a')).status).toBe(404);
    const foreign = await caller.put(`/v1/customers/${b.id}`, {
      integration_entity_mapping: [{ ...STRIPE, entity_id: 'cust_x' }],
    });
    expect([foreign.status, foreign.body.details[0].path]).toEqual([400, `${at}.entity_id`]);
  });

  test('409: the provider’s customer belongs to another one', async () => {
    await create('a', { integration_entity_mapping: [STRIPE] });
    const taken = await create('b', { integration_entity_mapping: [STRIPE] });
    expect([taken.status, taken.body.code]).toEqual([409, 'already_exists']);
    expect((await caller.get('/v1/customers/external/b')).status).toBe(404);
  });
});

test('onboarding can be skipped; a workflow that the setting lacks is refused', async () => {
  expect((await create('a', { skip_onboarding_workflow: true })).status).toBe(201);
  const { status, body } = await create('b', { onboarding_workflow_name: 'welcome' });
  expect([status, body.details[0].path]).toEqual([400, 'onboarding_workflow_name']);
  expect((await create('b', { skip_onboarding_workflow: 'no' })).status).toBe(400);
});

describe('what a customer may be made with', () => {
  const refusal = async (more: object) => {
    const { status, body } = await create('refused', more);
    expect([status, body.code]).toEqual([400, 'validation_error']);
    return body.details.map(({ path, message }: any) => `${path}: ${message}`).join();
  };

  test.each(['info@müller.de', 'grüße@example.org', '用户@例子.广告', 'a+b@x.test'])(
    '201: mail to %s',
    async (email) => {
      const made = await create('a', { email, contact_persons: [{ email }] });
      expect(made).toMatchObject({ status: 201, body: { email, contact_persons: [{ email }] } });
    },
  );

  test.each([
    'nope', 'a@b', 'ä@localhost', 'a..b@x.test', 'a b@x.test', 'a@x.test ', 'a\u00a0b@x.test', 'a@@x.test',
    '“a”@x.test', `${'a'.repeat(250)}@x.test`,
  ])('400: %j is no mail address', async (email) => {
    expect(await refusal({ email })).toMatch(/^email: /);
  }); // prettier-ignore

  test('a wrong type is refused with the expected one', async () => {
    expect(await refusal({ email: 3 })).toMatch(/^email: expected string/);
    expect(await refusal({ address_country: 5 })).toMatch(/^address_country: expected string/);
    expect(await refusal({ timezone: 1 })).toMatch(/^timezone: expected string/);
    expect(await refusal({ billing_currency: 'dollar' })).toMatch(/currency code/);
  });

  test('the contact persons contain no person twice', async () => {
    const twice = [{ id: 'a' }, { id: 'a' }];
    expect(await refusal({ contact_persons: twice })).toBe(
      'contact_persons: two persons have the same id',
    );
    const fresh = await create('a', { contact_persons: [{ id: '' }, { id: '' }, {}] });
    const ids = fresh.body.contact_persons.map(({ id }: any) => id);
    expect([fresh.status, new Set(ids).size]).toEqual([201, 3]);
  });

  test.each([
    [{ tax_treatment: '', timezone: '' }],
    [{ tax_treatment: null, timezone: null }],
    [{ tax_treatment: null, customer_timezone: null }],
  ])('%j: the default of what is never unset', async (empty) => {
    const made = await create('a', empty);
    expect(made.body).toMatchObject({ tax_treatment: 'taxable', timezone: 'UTC' });
    const path = `/v1/customers/${made.body.id}`;
    await caller.put(path, { tax_treatment: 'exempt', timezone: 'Asia/Tokyo' });
    const { body } = await caller.put(path, empty);
    expect(body).toMatchObject({ tax_treatment: 'taxable', timezone: 'UTC' });
    const named = await caller.put(path, { timezone: null, customer_timezone: 'Asia/Tokyo' });
    expect(named.body.timezone).toBe('Asia/Tokyo');
    expect((await caller.put(path, { name: 'B' })).body.timezone).toBe('Asia/Tokyo');
  });
});

test('integrations can be expanded on every read of a customer; nothing else can be expanded', async () => {
  await create('a');
  for (const path of ['?expand=', '/lookup/a?expand=', '/external/a?expand=']) {
    const asked = await caller.get(`/v1/customers${path}integrations`);
    const customer = asked.body.items?.[0] ?? asked.body;
    expect([asked.status, customer.integrations]).toEqual([200, []]);
    const { status, body } = await caller.get(`/v1/customers${path}invoices`);
    expect([status, body.details[0].path]).toEqual([400, 'expand']);
  }
});

test('customers are sorted and filtered by every field of theirs', async () => {
  const [a, b] = [
    (await create('a', { address_city: 'Gent', timezone: 'Europe/Brussels' })).body,
    (await create('b', { address_city: 'Pune', contact: '12' })).body,
  ];
  const names = async (asked: object) => {
    const { body } = await caller.post('/v1/customers/search', asked);
    return body.items.map(({ name }: { name: string }) => name);
  };
  const by = (field: string, value: string) =>
    names({ filters: [{ field, operator: 'eq', data_type: 'string', value: { string: value } }] });
  expect(await by('id', a.id)).toEqual(['a']);
  expect(await by('address_city', 'Pune')).toEqual(['b']);
  expect(await by('timezone', 'Europe/Brussels')).toEqual(['a']);
  expect(await by('contact', '12')).toEqual(['b']);
  const order = a.id < b.id ? ['a', 'b'] : ['b', 'a'];
  expect(await names({ sort: [{ field: 'id', direction: 'asc' }] })).toEqual(order);
  expect(await names({ sort: [{ field: 'address_city', direction: 'desc' }] })).toEqual(['b', 'a']);
});
