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

  test('201: defaults, and every field as it was sent', async () => {
    expect((await create()).body).toMatchObject({
      email: null,
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
    ).toBeNull();
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

  test('search finds archived customers unless a status is asked for', async () => {
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
    ['timezone', { timezone: 'Mars/Olympus' }],
    ['customer_timezone', { timezone: 'UTC', customer_timezone: 'Europe/Berlin' }],
    ['tax_treatment', { tax_treatment: 'maybe' }],
    ['contact', { contact: 'x'.repeat(21) }],
    ['contact_persons', { contact_persons: [{ is_primary: true }, { is_primary: true }] }],
    ['metadata.n', { metadata: { n: 1 } }],
  ])('400: %s', async (path, fields) => {
    const answer = await create(fields);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
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
});
