import { invoiceDue } from '../../support/payments.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

/** Product 2, Concurrency: the version as ETag, If-Match on PUT and DELETE, 412 for another version. */
describe('conditional requests', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());
  let made = 0;
  const plan = async () => {
    const answer = await api.post('/v1/plans', { name: 'P', lookup_key: `p${(made += 1)}` });
    return { path: `/v1/plans/${answer.body.id}`, tag: String(answer.headers['etag']) };
  };

  test('a tag contains the version of the record, without embedded records, and the hash of the answer', async () => {
    const { path, tag } = await plan();
    expect(tag).toMatch(/^"[\w-]{22}\.[\w-]{22}"$/);
    const tags = [await api.get(path), await api.get(`${path}?expand=prices,entitlements`)].map(
      ({ headers }) => String(headers['etag']),
    );
    const version = ([, first]: RegExpExecArray): string => first!;
    const versionOf = (of: string) => version(/^"([^.]*)\./.exec(of)!);
    expect(tags.map(versionOf)).toEqual([versionOf(tag), versionOf(tag)]);
    expect((await api.get('/v1/plans')).headers['etag']).toBeUndefined();
  });

  test('If-None-Match: 200 when only embedded records changed; If-Match still names the version', async () => {
    const { path } = await plan();
    const planId = path.split('/').at(-1)!;
    const expanded = `${path}?expand=prices`;
    const tag = String((await api.get(expanded)).headers['etag']);
    expect((await api.get(expanded, { 'if-none-match': tag })).status).toBe(304);
    const price = await api.post('/v1/prices', {
      amount: '10',
      currency: 'usd',
      entity_type: 'PLAN',
      entity_id: planId,
      type: 'FIXED',
      billing_model: 'FLAT_FEE',
      billing_period: 'MONTHLY',
      billing_period_count: 1,
      billing_cadence: 'RECURRING',
      invoice_cadence: 'ADVANCE',
      price_unit_type: 'FIAT',
    });
    expect(price.status).toBe(201);
    const now = await api.get(expanded, { 'if-none-match': tag });
    expect([now.status, now.body.prices.length]).toEqual([200, 1]);
    expect((await api.put(path, { name: 'A' }, { 'if-match': tag })).status).toBe(200);
  });

  test('If-Match: the version seen is written, another is 412 and stays as it is', async () => {
    const { path, tag } = await plan();
    const first = await api.put(path, { name: 'A' }, { 'if-match': tag });
    expect([first.status, first.body.name]).toEqual([200, 'A']);
    expect(first.headers['etag']).not.toBe(tag);
    const late = await api.put(path, { name: 'B' }, { 'if-match': tag });
    expect([late.status, late.body.code, late.body.details[0].path]).toEqual([
      412,
      'precondition_failed',
      'If-Match',
    ]);
    expect((await api.get(path)).body.name).toBe('A');
    expect((await api.delete(path, undefined, { 'if-match': tag })).status).toBe(412);
    const either = `"other", ${first.headers['etag']}`;
    expect((await api.delete(path, undefined, { 'if-match': either })).status).toBe(200);
  });

  test('an invoice whose payment status was set: the tag of the answer names the version that was written', async () => {
    const { invoice } = await invoiceDue(api, '100');
    const path = `/v1/invoices/${invoice.id}`;
    const part = { payment_status: 'PENDING', amount: '40' };
    const { status, body, headers } = await api.put(`${path}/payment`, part);
    expect([status, body.version]).toEqual([200, (await api.get(path)).body.version]);
    const next = { 'if-match': String(headers['etag']) };
    expect((await api.put(path, { metadata: { a: 'b' } }, next)).status).toBe(200);
  });

  test('without the header, with *, and on a record that is not there', async () => {
    const { path } = await plan();
    expect((await api.put(path, { name: 'A' })).status).toBe(200);
    expect((await api.put(path, { name: 'B' }, { 'if-match': '*' })).status).toBe(200);
    expect((await api.put('/v1/plans/x', { name: 'B' }, { 'if-match': '*' })).status).toBe(404);
    const foreign = await api.newCaller();
    expect((await foreign.put(path, { name: 'B' }, { 'if-match': '"x"' })).status).toBe(404);
  });

  test.each([['x'], ['"unclosed'], ['']])('If-Match %j is 400', async (header) => {
    const { path } = await plan();
    const answer = await api.put(path, { name: 'A' }, { 'if-match': header });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, 'If-Match']);
  });

  test('where nothing with a version is written it is 400, and reads ignore it', async () => {
    const answer = await api.put('/v1/users/me', { name: 'N' }, { 'if-match': '"x"' });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, 'If-Match']);
    expect((await api.get('/v1/plans', { 'if-match': '"x"' })).status).toBe(200);
  });

  test('of many writers at once that saw the same version one wins', async () => {
    const { body } = await api.post('/v1/customers', { external_id: 'race', name: 'Race' });
    const path = `/v1/customers/${body.id}`;
    const tag = String((await api.get(path)).headers['etag']);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        api.put(path, { name: `Writer ${n}` }, { 'if-match': tag }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 11 }, () => 412)]);
    const winner = answers.find(({ status }) => status === 200)!;
    expect((await api.get(path)).body.name).toBe(winner.body.name);
  });

  test('a writer without the header is not overwritten by one with it', async () => {
    const { body } = await api.post('/v1/customers', { external_id: 'mixed', name: 'Mixed' });
    const path = `/v1/customers/${body.id}`;
    for (let round = 0; round < 10; round += 1) {
      const tag = String((await api.get(path)).headers['etag']);
      const [plain, conditional] = await Promise.all([
        api.put(path, { contact: `${round}` }),
        api.put(path, { name: `Conditional ${round}` }, { 'if-match': tag }),
      ]);
      expect(plain.status).toBe(200);
      const now = (await api.get(path)).body;
      // Either it came first and both changes are stored, or it was refused.
      expect([200, 412]).toContain(conditional.status);
      expect(now.contact).toBe(`${round}`);
      if (conditional.status === 200) expect(now.name).toBe(`Conditional ${round}`);
      else expect(now.name).not.toBe(`Conditional ${round}`);
    }
  });

  test('with an Idempotency-Key a repeat answers the first time, not 412', async () => {
    const { path, tag } = await plan();
    const headers = { 'if-match': tag, 'idempotency-key': 'once' };
    const first = await api.put(path, { name: 'A' }, headers);
    const again = await api.put(path, { name: 'A' }, headers);
    expect([first.status, again.status, again.headers['idempotent-replayed']]).toEqual([
      200,
      200,
      'true',
    ]);
  });

  test('If-None-Match: 304 without a body while the version is the same', async () => {
    const { path } = await plan();
    const tag = String((await api.get(path)).headers['etag']);
    const known = await api.get(path, { 'if-none-match': `W/${tag}` });
    expect([known.status, known.body, known.headers['etag']]).toEqual([304, null, tag]);
    await api.put(path, { name: 'A' });
    expect((await api.get(path, { 'if-none-match': tag })).status).toBe(200);
  });
});

test('Accept: application/problem+json gets RFC 9457 with the same facts', async () => {
  const api = await startTestApi();
  try {
    const headers = { accept: 'application/problem+json, application/json' };
    const answer = await api.post('/v1/plans', { name: '' }, headers);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.body).toEqual({
      type: 'about:blank',
      title: 'validation error',
      status: 400,
      detail: expect.stringContaining('name'),
      instance: `urn:request:${answer.headers['x-request-id']}`,
      code: 'validation_error',
      errors: expect.arrayContaining([expect.objectContaining({ path: 'name' })]),
      error_count: 1,
      request_id: answer.headers['x-request-id'],
    });
    const missing = await api.get('/v1/nowhere', headers);
    expect([missing.status, missing.body.status]).toEqual([404, 404]);
    expect((await api.post('/v1/plans', { name: '' })).body.success).toBe(false);
  } finally {
    await api.close();
  }
});
