import { startTestApi, type TestApi } from '../../support/api.ts';

describe('customers', () => {
  let api: TestApi;
  let count = 0;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());
  const create = (fields: object = {}) =>
    api.post('/v1/customers', { external_id: `c-${(count += 1)}`, name: 'Acme', ...fields });

  test('201: a contact person without a first name has an empty one, as typed clients need', async () => {
    const persons = [{ email: 'ada@b.test' }, { first_name: null, last_name: 'L' }];
    const { body: customer } = await create({ contact_persons: persons });
    expect(customer.contact_persons).toMatchObject([
      { first_name: '', last_name: null, email: 'ada@b.test' },
      { first_name: '', last_name: 'L', email: null },
    ]);
  });

  test('201: defaults, and every field as it was sent', async () => {
    expect((await create()).body).toMatchObject({
      email: '',
      address_line1: '',
      address_country: '',
      timezone: 'UTC',
      billing_currency: null,
      tax_treatment: 'taxable',
      contact_persons: [],
      integrations: [],
      metadata: {},
    });
    const { body: customer } = await create({
      email: 'a@b.test',
      address_country: 'be',
      customer_timezone: 'Europe/Brussels',
      billing_currency: 'EUR',
      tax_treatment: 'exempt',
      contact_persons: [{ first_name: 'Ada', is_primary: true }],
    });
    expect(customer).toMatchObject({
      address_country: 'BE',
      timezone: 'Europe/Brussels',
      billing_currency: 'eur',
      tax_treatment: 'exempt',
    });
    expect(customer.contact_persons).toMatchObject([
      {
        id: expect.stringMatching(/^contact_/),
        first_name: 'Ada',
        last_name: null,
        is_primary: true,
      },
    ]);
  });

  test('409 and free again: the external id is unique among published customers', async () => {
    const { body: customer } = await create({ external_id: 'same' });
    expect((await create({ external_id: 'same' })).status).toBe(409);
    expect((await api.delete(`/v1/customers/${customer.id}`)).status).toBe(204);
    expect((await api.get(`/v1/customers/${customer.id}`)).body.status).toBe('archived');
    expect((await api.get('/v1/customers/external/same')).status).toBe(404);
    expect((await create({ external_id: 'same' })).status).toBe(201);
  });

  test('200: named by id, by external id, or by both when they agree', async () => {
    const { body: first } = await create({ metadata: { a: '1' }, email: 'a@b.test' });
    const { body: second } = await create();
    const put = (query: string, body: object) => api.put(`/v1/customers${query}`, body);
    expect((await put(`/${first.id}`, { name: 'New', metadata: {} })).body).toMatchObject({
      name: 'New',
      email: 'a@b.test',
      metadata: {},
    });
    expect(
      (await put(`?external_customer_id=${first.external_id}`, { email: '' })).body.email,
    ).toBe('');
    expect(
      (await put(`?id=${first.id}&external_customer_id=${first.external_id}`, {})).status,
    ).toBe(200);
    expect(
      (await put(`?id=${first.id}&external_customer_id=${second.external_id}`, {})).status,
    ).toBe(400);
    expect((await put('', {})).status).toBe(400);
    expect((await put(`/${first.id}`, { external_id: second.external_id })).status).toBe(409);
  });

  test('contact persons keep their ids', async () => {
    const { body: customer } = await create({ contact_persons: [{ first_name: 'Ada' }] });
    const [ada] = customer.contact_persons;
    const { body: updated } = await api.put(`/v1/customers/${customer.id}`, {
      contact_persons: [{ ...ada, last_name: 'L' }, { first_name: 'Bob' }],
    });
    expect(updated.contact_persons.map((person: { id: string }) => person.id)[0]).toBe(ada.id);
    expect(updated.contact_persons).toHaveLength(2);
  });

  test('search finds archived customers unless a status is requested', async () => {
    const { body: customer } = await create({ email: 'Find.Me@x.test' });
    await api.delete(`/v1/customers/${customer.id}`);
    const total = async (filter: object) =>
      (await api.post('/v1/customers/search', filter)).body.pagination.total;
    expect(await total({ email: 'find.me@x.test' })).toBe(1);
    expect(await total({ email: 'find.me@x.test', status: 'published' })).toBe(0);
    expect(
      await total({
        filters: [{ field: 'email', operator: 'contains', value: { string: 'FIND.ME@' } }],
      }),
    ).toBe(1);
    expect(
      await total({ filters: [{ field: 'name', operator: 'contains', value: { string: '%' } }] }),
    ).toBe(0);
  });

  test.each([
    ['name', { name: '' }],
    ['external_id', { external_id: undefined }],
    ['email', { email: 'nope' }],
    ['address_country', { address_country: 'Belgium' }],
    ['address_country', { address_country: 'XX' }],
    ['external_id', { external_id: '  ' }],
    ['name', { name: 'x'.repeat(256) }],
    ['address_postal_code', { address_postal_code: '1'.repeat(21) }],
    ['address_line1', { address_line1: 'x'.repeat(256) }],
    ['address_city', { address_city: 'x'.repeat(101) }],
    ['contact_persons[0].email', { contact_persons: [{ email: 'nope' }] }],
    ['billing_currency', { billing_currency: 'dollars' }],
    ['billing_currency', { billing_currency: 'xyz' }],
    ['tax_rate_overrides[0].currency', { tax_rate_overrides: [{ tax_rate_code: 'vat' }] }],
    ['timezone', { timezone: 'Mars/Olympus' }],
    ['timezone', { timezone: 'IST' }],
    ['customer_timezone', { timezone: 'UTC', customer_timezone: 'Europe/Berlin' }],
    ['tax_treatment', { tax_treatment: 'maybe' }],
    ['contact', { contact: 'x'.repeat(21) }],
    ['contact_persons', { contact_persons: [{ is_primary: true }, { is_primary: true }] }],
    ['metadata.n', { metadata: { n: 1 } }],
  ])('400: %s', async (path, fields) => {
    const answer = await create(fields);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });

  test('a change to an unknown currency is refused; a custom currency is known once configured', async () => {
    const { body: customer } = await create();
    const change = () => api.put(`/v1/customers/${customer.id}`, { billing_currency: 'xyz' });
    const refused = await change();
    expect([refused.status, refused.body.details[0].path]).toEqual([400, 'billing_currency']);
    const currencies = [
      { code: 'xyz', name: 'X', symbol: 'x', precision: 0, conversion_factors: { usd: '1' } },
    ];
    await api.put('/v1/settings/custom_currency_config', { value: { currencies } });
    expect((await change()).body.billing_currency).toBe('xyz');
  });

  test('notifications are written with the change, in its order', async () => {
    const { body: customer } = await create();
    await api.put(`/v1/customers/${customer.id}`, { name: 'B' });
    await api.delete(`/v1/customers/${customer.id}`);
    await api.delete(`/v1/customers/${customer.id}`);
    const rows = await api.pool<{ event_type: string; payload: { customer: { name: string } } }[]>`
      select event_type, payload from outbox where entity_id = ${customer.id} order by sequence`;
    expect(rows.map((row) => [row.event_type, row.payload.customer.name])).toEqual([
      ['customer.created', 'Acme'],
      ['customer.updated', 'B'],
      ['customer.deleted', 'B'],
    ]);
  });

  test('a repeat with the same Idempotency-Key makes one customer', async () => {
    const once = () =>
      api.post('/v1/customers', { external_id: 'idem', name: 'I' }, { 'idempotency-key': 'k' });
    const [first, second] = [await once(), await once()];
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(second.headers['idempotent-replayed']).toBe('true');
  });

  test('a new external id: the old one is 404 at once, free again, and remembered in the metadata', async () => {
    const { body: customer } = await create({ metadata: { tier: 'gold' } });
    const put = (body: object) => api.put(`/v1/customers/${customer.id}`, body);
    const { body: once } = await put({ external_id: 'renamed-1' });
    expect(once.metadata).toEqual({ tier: 'gold', old_external_ids: customer.external_id });
    expect((await api.get(`/v1/customers/external/${customer.external_id}`)).status).toBe(404);
    expect((await api.get('/v1/customers/external/renamed-1')).body.id).toBe(customer.id);
    const { body: twice } = await put({ external_id: 'renamed-2', metadata: { tier: 'tin' } });
    expect(twice.metadata).toEqual({
      tier: 'tin',
      old_external_ids: `${customer.external_id},renamed-1`,
    });
    expect((await put({ external_id: 'renamed-2' })).body.metadata).toEqual(twice.metadata);
    expect((await create({ external_id: 'renamed-1' })).status).toBe(201);
  });

  test('names and external ids are kept as they are sent, spaces too', async () => {
    const { body } = await create({ external_id: ' spaced ', name: 'Acme ' });
    expect(body).toMatchObject({ external_id: ' spaced ', name: 'Acme ' });
    expect((await api.get('/v1/customers/external/%20spaced%20')).body.id).toBe(body.id);
  });

  test('an archived customer can still be changed', async () => {
    const { body: customer } = await create();
    await api.delete(`/v1/customers/${customer.id}`);
    const changed = await api.put(`/v1/customers/${customer.id}`, { name: 'Later' });
    expect([changed.status, changed.body.name, changed.body.status]).toEqual([
      200,
      'Later',
      'archived',
    ]);
    const path = `/v1/customers?external_customer_id=${customer.external_id}`;
    expect((await api.put(path, { name: 'x' })).status).toBe(404);
  });

  test('tax rates given at the start count for the customer; an unknown one refuses it whole', async () => {
    const rate = { tax_rate_type: 'percentage', percentage_value: '21' };
    await api.post('/v1/taxes/rates', { ...rate, name: 'VAT', code: 'vat21' });
    const override = { tax_rate_code: 'vat21', currency: 'EUR', priority: 3, auto_apply: true };
    const { body: customer } = await create({ tax_rate_overrides: [override] });
    const { body: found } = await api.get(`/v1/taxes/associations?entity_id=${customer.id}`);
    expect(found.items).toMatchObject([
      { entity_type: 'customer', entity_id: customer.id, currency: 'eur', priority: 3, auto_apply: true, tax_behavior: 'exclusive' },
    ]); // prettier-ignore
    const refused = async (status: number, path: string, last: object) => {
      const overrides = [override, { tax_rate_code: 'vat21', currency: 'eur', ...last }];
      const answer = await create({ external_id: 'whole', tax_rate_overrides: overrides });
      expect([answer.status, answer.body.details[0].path]).toEqual([status, path]);
    };
    await refused(404, 'tax_rate_overrides[1]', { tax_rate_code: 'none' });
    await refused(409, 'tax_rate_overrides[1].tax_rate_code', {});
    await refused(400, 'tax_rate_overrides[1].priority', { priority: -1, currency: 'usd' });
    expect((await api.get('/v1/customers/external/whole')).status).toBe(404);
  });
});
