import { brotliCompressSync, gzipSync } from 'node:zlib';
import { startTestApi, type TestApi, type TestCaller } from '../../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const HEADER = 'event_name,external_customer_id,timestamp,event_id,properties.tokens';
const ROW = 'call,acme,2026-11-01T00:00:00Z,,5';
const CSV = `${HEADER}\n${ROW}\n`;
const send = (body: string | Buffer, headers: object = {}, caller: TestCaller = api) =>
  caller.call('POST', '/v1/tasks/uploads?file_name=usage.csv', body, {
    'content-type': 'text/csv',
    ...headers,
  });
const uploaded = async (csv = CSV): Promise<string> => (await send(csv)).body.upload_id;
const task = (body: object) => api.post('/v1/tasks', { file_provider: 'csvbox', ...body });

describe('uploads', () => {
  test('201: what the file has, and its checksum', async () => {
    const answer = await send(CSV);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      upload_id: answer.body.id,
      file_name: 'usage.csv',
      file_type: 'CSV',
      size_bytes: CSV.length,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      columns: HEADER.split(','),
      row_count: 1,
    });
  });

  test.each<[string, string | Buffer, object, number]>([
    ['a byte order mark', `\ufeff${CSV}`, {}, 1],
    ['CRLF, and no line end at the end', `${HEADER}\r\n${ROW}\r\n${ROW}`, {}, 2],
    ['quotes, commas and line ends in cells', `${HEADER}\n"a ""b"", c",acme,"x\ny",,\n`, {}, 1],
    ['empty lines', `${HEADER}\n\n${ROW}\n\n\n${ROW}\n`, {}, 2],
    ['rows that are too short or too long', `${HEADER}\na\n${ROW},,,,\n`, {}, 2],
    ['gzip', gzipSync(CSV), { 'content-encoding': 'gzip' }, 1],
    ['brotli', brotliCompressSync(CSV), { 'content-encoding': 'br' }, 1],
  ])('201: %s', async (_what, body, headers, rows) => {
    const answer = await send(body, headers);
    expect([answer.status, answer.body.row_count]).toEqual([201, rows]);
  });

  test.each<[string, string | Buffer, RegExp]>([
    ['no bytes', '', /text\/csv/],
    ['no rows', HEADER, /no rows/],
    ['only blank lines', '\n\n\n', /no rows/],
    ['bytes that are no UTF-8', Buffer.from([...Buffer.from(CSV), 0xff, 0xfe]), /UTF-8/],
    ['UTF-16', Buffer.from(CSV, 'utf16le'), /NUL|UTF-8/],
    ['NUL', CSV.replace('acme', 'ac\u0000me'), /NUL/],
    ['a quote that never closes', `${HEADER}\ncall,"acme,x\n${ROW}\n`, /never closes/],
    ['text behind a closing quote', `${HEADER}\n"call"x,acme,,,\n`, /closing quote/],
    ['a quote inside a bare cell', `${HEADER}\nca"ll,acme,,,\n`, /quote/],
    ['a cell of 5 MB', `${HEADER}\n${'x'.repeat(5_000_000)}`, /32 KiB/],
    ['an open quote and 4 MB behind it', `${HEADER}\n"${'x\n'.repeat(2_000_000)}`, /32 KiB/],
    ['100,000 columns', `${'a,'.repeat(100_000)}\n`, /32 KiB/],
    ['300 columns', `${Array.from({ length: 300 }, (_, n) => `c${n}`).join()}\n1`, /300 columns/],
    ['a column that no event has', `${HEADER},amount\n${ROW},1`, /amount is not a column/],
    ['a column twice', `${HEADER},source,source\n${ROW},,`, /source is a duplicate column/],
    ['a column without a name', `${HEADER},\n${ROW},`, /column 6/],
    ['no timestamp column', 'event_name,external_customer_id\na,b\n', /timestamp is required/],
    ['another prototype', `${HEADER},properties.__proto__\n${ROW},x`, /__proto__/],
  ])('400: %s', async (_what, body, message) => {
    const answer = await send(body);
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
    expect(JSON.stringify([answer.body.message, answer.body.details])).toMatch(message);
  });

  test('413: above 5 MB, and a bomb before it has grown', async () => {
    const large = `${HEADER}\n${`${ROW}\n`.repeat(200_000)}`;
    expect((await send(large)).status).toBe(413);
    expect((await send(gzipSync(large), { 'content-encoding': 'gzip' })).status).toBe(413);
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a'));
    const before = process.memoryUsage().arrayBuffers;
    expect((await send(bomb, { 'content-encoding': 'gzip' })).status).toBe(413);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  });

  test('400: a coding that is unknown or damaged; JSON; a file on a route for JSON', async () => {
    expect((await send(CSV, { 'content-encoding': 'zip' })).status).toBe(400);
    expect((await send(CSV, { 'content-encoding': 'gzip' })).status).toBe(400);
    expect((await api.post('/v1/tasks/uploads', { a: 1 })).status).toBe(400);
    const wrong = await api.call('POST', '/v1/tasks/search', CSV, { 'content-type': 'text/csv' });
    expect(wrong.status).toBe(400);
  });

  test('a repeat with the same Idempotency-Key keeps one file, another file is refused', async () => {
    const once = (csv: string) => send(csv, { 'idempotency-key': 'upload' });
    const [first, second] = [await once(CSV), await once(CSV)];
    expect(second.body.upload_id).toBe(first.body.upload_id);
    expect((await once(`${CSV}${ROW}\n`)).status).toBe(409);
  });

  test('429: an environment has sent 1 GiB in seven days; another one is not limited', async () => {
    const full = await api.newCaller();
    const first = await send(CSV, {}, full);
    await api.pool`update uploads set size_bytes = 1073741800 where id = ${first.body.id}`;
    const answer = await send(CSV, {}, full);
    expect([answer.status, answer.body.code]).toEqual([429, 'upload_quota_exceeded']);
    expect((await send(CSV)).status).toBe(201);
  });

  test('403: who only reads', async () => {
    const reader = await api.newCaller({ beside: api, roles: ['all_reader'] });
    expect((await send(CSV, {}, reader)).status).toBe(403);
  });
});

describe('tasks', () => {
  test('202: a pending import with every key; GET and lists show it', async () => {
    const upload_id = await uploaded();
    const { status, body } = await task({ upload_id, metadata: { from: 'export', n: 1 } });
    expect(status).toBe(202);
    expect(body).toMatchObject({
      task_type: 'IMPORT',
      entity_type: 'EVENTS',
      file_type: 'CSV',
      file_provider: 'csvbox',
      file_name: 'usage.csv',
      file_url: null,
      upload_id,
      task_status: 'PENDING',
      total_records: 1,
      processed_records: 0,
      successful_records: 0,
      failed_records: 0,
      error_summary: null,
      started_at: null,
      metadata: { from: 'export', n: 1 },
    });
    expect((await api.get(`/v1/tasks/${body.id}`)).body).toEqual(body);
    const { body: page } = await api.get('/v1/tasks?task_type=IMPORT&task_status=PENDING&limit=1');
    expect(page).toMatchObject({ items: [body], pagination: { limit: 1, offset: 1 } });
    const { body: none } = await api.post('/v1/tasks/search', { task_status: 'FAILED' });
    expect(none.items).toEqual([]);
  });

  test('words in lower case are the same words', async () => {
    const upload_id = await uploaded();
    const words = { task_type: 'import', entity_type: 'events', file_type: 'csv' };
    expect((await task({ upload_id, ...words })).status).toBe(202);
  });

  test('404 for a missing and for another tenant’s upload; 409 for one that has a task', async () => {
    const upload_id = await uploaded();
    const other = await api.newCaller();
    const body = { upload_id, file_provider: 'csvbox' };
    expect((await other.post('/v1/tasks', body)).status).toBe(404);
    expect((await task({ upload_id: 'upload_missing' })).status).toBe(404);
    expect((await task(body)).status).toBe(202);
    expect((await task(body)).status).toBe(409);
  });

  test.each([
    ['upload_id', {}],
    ['file_provider', { upload_id: 'u', file_provider: 's3' }],
    ['file_url', { upload_id: 'u', file_url: 'http://169.254.169.254/latest' }],
    ['task_type', { upload_id: 'u', task_type: 'EXPORT' }],
    ['entity_type', { upload_id: 'u', entity_type: 'CUSTOMERS' }],
    ['entity_type', { upload_id: 'u', entity_type: 'PRICES' }],
    ['entity_type', { upload_id: 'u', entity_type: 'rockets' }],
    ['file_type', { upload_id: 'u', file_type: 'JSON' }],
  ])('400: %s %j', async (path, body) => {
    const answer = await task(body);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });

  test('400 and 404 of the routes about one task', async () => {
    expect((await api.get('/v1/tasks?task_status=DONE')).status).toBe(400);
    for (const path of ['', '/download', '/results'])
      expect((await api.get(`/v1/tasks/task_missing${path}`)).status).toBe(404);
    const put = (body: object) => api.put('/v1/tasks/task_missing/status', body);
    expect((await put({ task_status: 'FAILED' })).status).toBe(404);
    expect((await put({})).status).toBe(400);
    expect((await put({ task_status: 'DONE' })).status).toBe(400);
  });

  test('download says where the results are: only the first line before anything is done', async () => {
    const { body } = await task({ upload_id: await uploaded() });
    const { body: download } = await api.get(`/v1/tasks/${body.id}/download`);
    const url = new URL(download.download_url);
    expect(url.pathname).toBe(`/v1/tasks/${body.id}/results`);
    const results = await api.get(url.pathname);
    expect(results.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(results.body).toBe('row_number,status,event_id,column,reason\n');
  });

  test('a task is stopped and resumed; only its last row completes it', async () => {
    const { body } = await task({ upload_id: await uploaded() });
    const put = (task_status: string) => api.put(`/v1/tasks/${body.id}/status`, { task_status });
    const read = async () => (await api.get(`/v1/tasks/${body.id}`)).body;
    expect((await put('COMPLETED')).status).toBe(400);
    expect((await put('FAILED')).body).toEqual({ message: expect.any(String) });
    expect(await read()).toMatchObject({
      task_status: 'FAILED',
      failed_at: expect.any(String),
      error_summary: 'Stopped by request.',
    });
    expect((await put('FAILED')).status).toBe(200);
    expect((await put('PENDING')).status).toBe(400);
    expect((await put('PROCESSING')).status).toBe(200);
    expect(await read()).toMatchObject({ task_status: 'PROCESSING', failed_at: null });
    expect((await put('COMPLETED')).body.code).toBe('invalid_operation');
    await put('FAILED');
    await api.pool`delete from uploads where id = ${body.upload_id}`;
    expect((await put('PROCESSING')).body.code).toBe('invalid_operation');
  });
});
