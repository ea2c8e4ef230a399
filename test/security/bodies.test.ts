import { deflateSync, gzipSync } from 'node:zlib';
import { connect } from 'node:net';
import { startTestApi, type TestApi } from '../support/api.ts';
import { brotli } from '../support/brotli.ts';

/** Bodies that are too deep, too long, or mean two things, are refused with the one error body (tenancy S17). */
describe('bodies', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());
  afterEach(() => {
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.prototype).not.toHaveProperty('polluted');
  });

  const send = (payload: string | Buffer, headers: object = {}) =>
    api.call('POST', '/v1/plans', payload, { 'content-type': 'application/json', ...headers });
  const nested = (depth: number) =>
    `{"name":"x","a":${'{"a":'.repeat(depth - 1)}1${'}'.repeat(depth - 1)}}`;

  test.each([
    ['the duplicate field', '{"name": "one", "name": "two"}', 'name'],
    ['twice, once escaped', '{"name": "one", "n\\u0061me": "two"}', 'name'],
    [
      'twice, deep in lists',
      '{"name": "x", "a": [{"b": 1}, {"b": 1, "c": {"d": 1, "d": 2}}]}',
      'a[1].c.d',
    ],
    ['a long integer', '{"name": "x", "a": 9007199254740993}', 'a'],
    ['a long fraction', '{"name": "x", "a": [1, 0.1234567890123456]}', 'a[1]'],
    ['a long negative with an exponent', '{"name": "x", "a": {"b": -12345678.90123456e3}}', 'a.b'],
  ])('400: %s', async (_what, body, path) => {
    const answer = await send(body);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });

  test.each([
    ['one key in two objects', '{"name": "x", "a": {"b": 1}, "c": {"b": 1}}'],
    ['keys in text', '{"name": "{\\"name\\":1,\\"name\\":2}"}'],
    [
      'round numbers',
      '{"name": "x", "a": [1e300, 100000000000000000000, 0.000000000000000001, -0]}',
    ],
    ['depth within the bound', nested(15)],
  ])('201: %s', async (_what, body) => {
    expect((await send(body)).status).toBe(201);
  });

  test.each([
    ['__proto__', '{"name": "x", "__proto__": {"polluted": 1}}'],
    ['__proto__, escaped', '{"name": "x", "\\u005f_proto__": {"polluted": 1}}'],
    ['__proto__, deep', '{"name": "x", "metadata": {"__proto__": {"polluted": "1"}}}'],
    ['constructor.prototype', '{"name": "x", "constructor": {"prototype": {"polluted": 1}}}'],
    ['too deep', nested(17)],
    ['much too deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['no JSON before the text after it', '{"name": "x" {"name": "y"}'],
    ['twice, before text after it', '{"name": "x", "name": "y"} z'],
    ['__proto__, before text after it', '{"name": "x", "__proto__": {"polluted": 1}} z'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    [
      '257 pairs of metadata',
      JSON.stringify({
        name: 'x',
        metadata: Object.fromEntries(
          Array.from({ length: 257 }, (_none, index) => [`k${index}`, 'v']),
        ),
      }),
    ],
  ])('400: %s', async (_what, body) => {
    const answer = await send(body);
    expect([answer.status, answer.body.success]).toEqual([400, false]);
  });

  test('413: more than a mebibyte, sent or decoded', async () => {
    const big = JSON.stringify({ name: 'x', description: 'y'.repeat(1024 * 1024) });
    expect((await send(big)).status).toBe(413);
    for (const [encoding, encode] of [
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotli],
    ] as const) {
      const small = await send(encode('{"name": "x"}'), { 'content-encoding': encoding });
      const bomb = await send(encode(Buffer.alloc(64 * 1024 * 1024, ' ')), {
        'content-encoding': encoding,
      });
      const packed = await send(encode(big), { 'content-encoding': encoding });
      expect([encoding, small.status, bomb.status, packed.status]).toEqual([
        encoding,
        201,
        413,
        413,
      ]);
    }
  });

  test('400: an encoding that is unknown, stacked or damaged', async () => {
    for (const encoding of ['zstd', 'gzip, gzip', 'constructor', 'gzip']) {
      const { status } = await send('{"name": "x"}', { 'content-encoding': encoding });
      expect([encoding, status]).toEqual([encoding, 400]);
    }
  });

  test('413: who sends far too much can send all of it, and then reads the answer', async () => {
    const { port } = (await listening(api)) as { port: number };
    for (const bytes of [2, 20, 40].map((mebibytes) => mebibytes * 1024 * 1024)) {
      const socket = connect(port, '127.0.0.1');
      const lost: Error[] = [];
      let text = '';
      socket.on('error', (error) => lost.push(error));
      socket.setEncoding('latin1').on('data', (data: string) => (text += data));
      socket.write(
        'POST /v1/plans HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n' +
          `x-api-key: ${api.key}\r\ncontent-length: ${bytes}\r\n\r\n`,
      );
      await new Promise((sent) => socket.write(Buffer.alloc(bytes, ' '), sent));
      if (!socket.closed) await new Promise((closed) => socket.on('close', closed));
      expect([bytes, lost]).toEqual([bytes, []]);
      expect(text).toMatch(/^HTTP\/1\.1 413 [^]*"payload_too_large"/);
    }
  });

  test('a header that never ends is cut off, and a body that does not come is waited for with a limit', async () => {
    const { port } = (await listening(api)) as { port: number };
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        // Above the limit, but read in one go: what is left unread would reset the connection.
        socket.write(
          `GET /v1/plans HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(20 * 1024)}\r\n\r\n`,
        );
      });
      let text = '';
      socket.on('data', (data) => (text += data.toString())).on('close', () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
      success: false,
      code: 'validation_error',
      http_status_code: 431,
      request_id: /x-request-id: (\S+)/.exec(answer)![1],
    });
    expect(api.app.server.requestTimeout).toBeGreaterThan(0);
    expect(api.app.server.requestTimeout).toBeLessThanOrEqual(60_000);
  });
});

async function listening(api: TestApi): Promise<unknown> {
  if (!api.app.server.listening) await api.app.listen({ port: 0, host: '127.0.0.1' });
  return api.app.server.address();
}
