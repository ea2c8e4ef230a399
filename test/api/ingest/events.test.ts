import { deflateSync, gzipSync } from 'node:zlib';
import {
  EVENT_ID_LENGTH_MAX,
  EVENT_TEXT_LENGTH_MAX,
} from '../../../schemas/events/event-bodies.ts';
import { partitionOf, slotOf, slotScope } from '../../../schemas/events/slot.ts';
import { decodeEvents } from '../../../schemas/events/usage-event.ts';
import { brotli } from '../../support/brotli.ts';
import { poll } from '../../contract/event-log/contract.ts';
import { NOW_MS, startIngest, type TestIngest } from './start-ingest.ts';

const EVENT = { event_name: 'api.call', external_customer_id: 'acme' };

let ingest: TestIngest;
beforeAll(async () => {
  ingest = await startIngest();
});
afterAll(() => ingest.close());

const post = (body: unknown, headers?: Record<string, string>) =>
  ingest.post('/v1/events', body, headers);
const bulk = (body: unknown, headers?: Record<string, string>) =>
  ingest.post('/v1/events/bulk', body, headers);
const storedAs = async (eventId: string) =>
  (await ingest.stored()).filter((event) => event.event_id === eventId);

describe('202', () => {
  test('an event with everything is stored as it was sent', async () => {
    const answer = await post({
      ...EVENT,
      event_id: 'full-1',
      customer_id: 'cust_1',
      source: 'api',
      timestamp: '2026-01-15T16:00:00.123456+05:30',
      properties: { n: 10, text: 'x' },
    });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      message: 'Event accepted for processing',
      event_id: 'full-1',
    });
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    const [event] = await storedAs('full-1');
    expect(event).toMatchObject({
      kind: 'usage',
      event_name: 'api.call',
      external_customer_id: 'acme',
      customer_id: 'cust_1',
      source: 'api',
      timestamp: Date.parse('2026-01-15T10:30:00.123Z'),
      ingested_at: NOW_MS,
      properties: '{"n":10,"text":"x"}',
    });
    expect(event!.tenant_id).toMatch(/^tenant_/);
    expect(event!.environment_id).toMatch(/^env_/);
  });

  test('id and time are assigned when they are missing, null or empty', async () => {
    for (const given of [{}, { event_id: null, timestamp: null }, { event_id: '' }]) {
      const answer = await post({ ...EVENT, ...given });
      expect(answer.status).toBe(202);
      expect(answer.body.event_id).toMatch(/^event_[0-9A-HJKMNP-TV-Z]{26}$/);
      const [event] = await storedAs(answer.body.event_id);
      expect(event!.timestamp).toBe(NOW_MS);
    }
  });

  test('the name is trimmed, null means absent, unknown keys are named', async () => {
    const answer = await post({
      event_name: '  padded\t'.replace('\t', ' '),
      external_customer_id: 'acme',
      event_id: 'trim-1',
      customer_id: null,
      source: null,
      properties: null,
      region: { of: 1 },
    });
    expect(answer.status).toBe(202);
    expect(answer.headers['x-ignored-fields']).toBe('region');
    const [event] = await storedAs('trim-1');
    expect(event).toMatchObject({
      event_name: 'padded',
      customer_id: '',
      source: '',
      properties: '{}',
    });
  });

  test('properties keep their text: digits, zeros, order, escapes, spaces', async () => {
    const properties =
      '{"price": 1.50, "big":123456789012345 ,"tiny":0.000000000000001,"e":1e3,"text":"12345678901234567890.12","ü":"€\\u0041😀","deep":{"a":[1,{"b":null}]}}';
    const answer = await post(
      `{"event_name":"x","external_customer_id":"acme","event_id":"digits-1","properties":${properties}}`,
    );
    expect(answer.status).toBe(202);
    expect((await storedAs('digits-1'))[0]!.properties).toBe(properties);
  });

  test.each(['1970-01-01T00:00:00Z', '2026-11-22T12:00:00Z', '2026-11-21t12:00:00.5z'])(
    'a time of %s is accepted',
    async (timestamp) => {
      expect((await post({ ...EVENT, timestamp })).status).toBe(202);
    },
  );

  test('all copies of an id go to one partition; a repeat is accepted again', async () => {
    for (let copy = 0; copy < 3; copy++)
      expect((await post({ ...EVENT, event_id: 'copy-1', source: `${copy}` })).status).toBe(202);
    const copies = await storedAs('copy-1');
    expect(copies.map((event) => event.source).sort()).toEqual(['0', '1', '2']);
  });

  test('bulk: 1,000 events, spread over the partitions by their slots', async () => {
    const events = Array.from({ length: 1000 }, (_, n) => ({ ...EVENT, event_id: `bulk-${n}` }));
    const answer = await bulk({ events });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({ message: 'Events accepted for processing' });
    const seen = new Set<string>();
    const consumer = await ingest.log.consume('bulk-test', {
      epochToRead: (epochs) => Promise.resolve(epochs.at(-1)!.epoch),
      start: () =>
        Promise.resolve({
          offset: 0n,
          handled: { nextOffset: 0n, lastCrc: null, storedUpTo: null, recordedEnd: null },
        }),
      handle(batch) {
        for (const record of batch.records)
          for (const event of decodeEvents(record.value)) {
            const slot = slotOf(slotScope(event.tenant_id, event.environment_id), event.event_id);
            expect(partitionOf(slot, ingest.log.partitions)).toBe(batch.partition);
            if (event.event_id.startsWith('bulk-')) seen.add(event.event_id);
          }
        return Promise.resolve();
      },
    });
    await poll(() => seen.size === 1000);
    await consumer.close();
  });

  test('bulk: items without an id get one each', async () => {
    const before = (await ingest.stored()).length;
    expect((await bulk({ events: [EVENT, EVENT, EVENT] })).status).toBe(202);
    const ids = (await ingest.stored()).map((event) => event.event_id);
    expect(ids.length).toBe(before + 3);
    expect(new Set(ids.filter((id) => id.startsWith('event_'))).size).toBe(
      ids.filter((id) => id.startsWith('event_')).length,
    );
  });

  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotli],
    ['identity', (text: string) => Buffer.from(text)],
  ])('a body in %s', async (coding, encode) => {
    const text = JSON.stringify({ events: [{ ...EVENT, event_id: `coded-${coding}` }] });
    const answer = await bulk(encode(text), { 'content-encoding': coding });
    expect(answer.status).toBe(202);
    expect(await storedAs(`coded-${coding}`)).toHaveLength(1);
  });

  test('a CloudEvent, single and in a batch', async () => {
    const cloudEvent = (id: string) => ({
      specversion: '1.0',
      id,
      source: '/service/a',
      type: 'api.call',
      subject: 'acme',
      time: '2026-01-15T10:30:00Z',
      datacontenttype: 'application/json',
      data: { n: 1.5 },
    });
    const one = await post(cloudEvent('ce-1'), { 'content-type': 'application/cloudevents+json' });
    expect([one.status, one.body.event_id]).toEqual([202, 'ce-1']);
    const batch = await post([cloudEvent('ce-2'), cloudEvent('ce-3')], {
      'content-type': 'application/cloudevents-batch+json; charset=utf-8',
    });
    expect(batch.body).toEqual({ message: 'Events accepted for processing' });
    for (const id of ['ce-1', 'ce-2', 'ce-3'])
      expect((await storedAs(id))[0]).toMatchObject({
        event_name: 'api.call',
        external_customer_id: 'acme',
        source: '/service/a',
        timestamp: Date.parse('2026-01-15T10:30:00Z'),
        properties: '{"n":1.5}',
      });
  });

  test('one event per line', async () => {
    const lines = ['nd-1', 'nd-2', 'nd-3'].map((event_id) =>
      JSON.stringify({ ...EVENT, event_id }),
    );
    const answer = await bulk(`${lines[0]}\r\n\n${lines[1]}\n  ${lines[2]}`, {
      'content-type': 'application/x-ndjson',
    });
    expect(answer.status).toBe(202);
    for (const id of ['nd-1', 'nd-2', 'nd-3']) expect(await storedAs(id)).toHaveLength(1);
  });

  test('the key may be sent in Authorization', async () => {
    const response = await ingest.app.inject({
      method: 'POST',
      url: '/v1/events',
      headers: { authorization: `Bearer ${ingest.key}`, 'content-type': 'application/json' },
      payload: EVENT,
    });
    expect(response.statusCode).toBe(202);
  });

  test('a key that may only send events', async () => {
    const key = await ingest.newKey({ type: 'publishable_key' });
    expect((await post(EVENT, { 'x-api-key': key })).status).toBe(202);
  });
});

describe('400', () => {
  const path = (answer: { body: any }) => answer.body.details.map((detail: any) => detail.path);

  test.each([
    ['no name', { external_customer_id: 'a' }, 'event_name'],
    ['no customer', { event_name: 'x' }, 'external_customer_id'],
    ['a blank name', { ...EVENT, event_name: '  ' }, 'event_name'],
    ['an empty customer', { ...EVENT, external_customer_id: '' }, 'external_customer_id'],
    ['customer_id is no substitute', { event_name: 'x', customer_id: 'a' }, 'external_customer_id'],
    ['a number as name', { ...EVENT, event_name: 5 }, 'event_name'],
    ['a number as id', { ...EVENT, event_id: 5 }, 'event_id'],
    ['a list as source', { ...EVENT, source: [] }, 'source'],
    ['a list as properties', { ...EVENT, properties: [1] }, 'properties'],
    ['a string as properties', { ...EVENT, properties: '{}' }, 'properties'],
    ['a word as time', { ...EVENT, timestamp: 'yesterday' }, 'timestamp'],
    ['a number as time', { ...EVENT, timestamp: 1768471200 }, 'timestamp'],
    ['a date', { ...EVENT, timestamp: '2026-01-15' }, 'timestamp'],
    ['a time without zone', { ...EVENT, timestamp: '2026-01-15T10:00:00' }, 'timestamp'],
    ['a day that is not', { ...EVENT, timestamp: '2026-02-29T10:00:00Z' }, 'timestamp'],
    ['a time before 1970', { ...EVENT, timestamp: '1969-12-31T23:59:59.999Z' }, 'timestamp'],
    ['over 24 h ahead', { ...EVENT, timestamp: '2026-11-22T12:00:00.001Z' }, 'timestamp'],
    ['an id of 256', { ...EVENT, event_id: 'x'.repeat(256) }, 'event_id'],
    ['a control character', { ...EVENT, event_id: 'a\u0007b' }, 'event_id'],
    ['NUL', { ...EVENT, external_customer_id: 'a\u0000' }, 'external_customer_id'],
    ['half a surrogate pair', { ...EVENT, event_id: 'a\ud800' }, 'event_id'],
  ])('%s', async (_name, body, field) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      success: false,
      code: 'validation_error',
      http_status_code: 400,
      error: { message: answer.body.message, internal_error: null },
    });
    expect(answer.body.message).toBe(
      `Invalid request payload: ${field}: ${answer.body.details[0].message}`,
    );
    expect(path(answer)).toEqual([field]);
    expect(answer.body.details[0].message).not.toBe('');
    expect(answer.body.request_id).toBeTruthy();
  });

  test.each([
    ['event_id', EVENT_ID_LENGTH_MAX],
    ['event_name', EVENT_TEXT_LENGTH_MAX],
    ['external_customer_id', EVENT_TEXT_LENGTH_MAX],
    ['customer_id', EVENT_TEXT_LENGTH_MAX],
    ['source', EVENT_TEXT_LENGTH_MAX],
  ])('%s takes %i characters outside the basic plane, and no more', async (field, max) => {
    const longest = '😀'.repeat(max);
    expect((await post({ ...EVENT, [field]: longest })).status).toBe(202);
    const answer = await post({ ...EVENT, [field]: `${longest}x` });
    expect([answer.status, path(answer)]).toEqual([400, [field]]);
  });

  test.each([
    ['16 significant digits', '1234567890123456', 'x'],
    ['17 with a point', '0.30000000000000004', 'x'],
    ['39 digits', '1e38', 'x'],
    ['beyond every range', '1e400', 'x'],
    ['39 decimals', '1e-39', 'x'],
    ['deep inside', '{"a":[0,{"b":12345678901234567}]}', 'x.a[1].b'],
  ])('a number of %s is refused with its path', async (_name, number, where) => {
    const answer = await post(
      `{"event_name":"x","external_customer_id":"a","properties":{"ok":1,"x":${number}}}`,
    );
    expect(answer.status).toBe(400);
    expect(path(answer)).toEqual([`properties.${where}`]);
    expect(answer.body.details[0].code).toBe('inexact_number');
  });

  test.each([
    '1e37',
    '1000000000000000000000',
    '0.000000000000000000000000000000000001',
    '-0',
    '0e5',
  ])('the number %s is exact', async (number) => {
    const answer = await post(
      `{"event_name":"x","external_customer_id":"a","properties":{"x":${number}}}`,
    );
    expect(answer.status).toBe(202);
  });

  const nested = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
  const keys = (count: number) =>
    `{${Array.from({ length: count }, (_, n) => `"k${n}":${n}`).join(',')}}`;
  test.each([
    ['a key twice', '{"a":1,"b":2,"a":3}', 'properties.a', 400],
    ['a key twice, once escaped', '{"a":1,"\\u0061":3}', 'properties.a', 400],
    ['a key twice, far apart', `{"k5":0,${keys(50).slice(1)}`, 'properties.k5', 400],
    ['__proto__', '{"__proto__":{"polluted":1}}', 'properties.__proto__', 400],
    ['__proto__ inside', '{"a":{"__proto__":1}}', 'properties.a.__proto__', 400],
    ['17 levels', nested(17), `properties${'.a'.repeat(16)}`, 400],
    ['16 levels', nested(16), '', 202],
    ['257 keys', keys(257), 'properties', 400],
    ['256 keys', keys(256), '', 202],
  ])('properties with %s', async (_name, properties, where, status) => {
    const answer = await post(
      `{"event_name":"x","external_customer_id":"a","properties":${properties}}`,
    );
    expect(answer.status).toBe(status);
    if (status === 400) expect(path(answer)).toEqual([where]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['half of an object', '{"event_name":'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a string', '"x"'],
    ['two values', '{} {}'],
    ['NaN', '{"event_name":"x","external_customer_id":"a","properties":{"n":NaN}}'],
    ['Infinity', '{"event_name":"x","external_customer_id":"a","properties":{"n":-Infinity}}'],
    ['a comma too many', '{"event_name":"x","external_customer_id":"a",}'],
    ['a tab in a string', '{"event_name":"x\ty","external_customer_id":"a"}'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['a field twice', '{"event_name":"x","event_name":"y","external_customer_id":"a"}'],
    ['very deep nesting', '['.repeat(100_000)],
    ['very deep nesting in an unknown key', `{"z":${'['.repeat(100_000)}`],
  ])('%s as a body', async (_name, body) => {
    for (const route of ['/v1/events', '/v1/events/bulk']) {
      const answer = await ingest.post(route, body);
      expect(answer.status).toBe(400);
      expect(answer.body.code).toBe('validation_error');
    }
  });

  test.each([
    ['no list', {}, 'Request validation failed', ['events']],
    ['null', { events: null }, 'Request validation failed', ['events']],
    ['an empty list', { events: [] }, 'Request validation failed', ['events']],
    ['an object', { events: {} }, 'Invalid request payload', ['events']],
    ['a bare list', [EVENT], 'Invalid request payload', ['body']],
    [
      'an item that is not an event',
      { events: [EVENT, 'x'] },
      'Invalid request payload',
      ['events[1]'],
    ],
    [
      'one bad item of three',
      { events: [EVENT, { event_name: 'x' }, EVENT] },
      'Request validation failed',
      ['events[1].external_customer_id'],
    ],
    [
      'several bad items',
      { events: [{}, EVENT, { ...EVENT, timestamp: 'never' }] },
      'Invalid request payload',
      ['events[0].event_name', 'events[0].external_customer_id', 'events[2].timestamp'],
    ],
  ])('bulk: %s', async (_name, body, message, paths) => {
    const before = (await ingest.stored()).length;
    const answer = await bulk(body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(`${message}: ${paths[0]}: `);
    expect(path(answer)).toEqual(paths);
    expect((await ingest.stored()).length).toBe(before);
  });

  test('a misspelled field is refused with the right one, in one event and in a list', async () => {
    const message = 'is not a field of an event; did you mean "properties"?';
    const one = await post({ ...EVENT, proprties: { n: 1 } });
    expect([one.status, one.body.details]).toEqual([
      400,
      [{ path: 'proprties', code: 'unknown_field', message }],
    ]);
    const list = await bulk({ events: [EVENT, { ...EVENT, propertys: {} }, { ...EVENT, id: 1 }] });
    expect([list.status, list.body.details]).toEqual([
      400,
      [{ path: 'events[1].propertys', code: 'unknown_field', message }],
    ]);
  });

  test('bulk: 1,001 events', async () => {
    const answer = await bulk({ events: Array.from({ length: 1001 }, () => EVENT) });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(/^Request validation failed: events: has 1001 events/);
    expect(path(answer)).toEqual(['events']);
  });

  test('bulk: the first 100 problems are named, all are counted', async () => {
    const bad = { event_name: 1, external_customer_id: 2, event_id: 3, timestamp: 4, source: 5 };
    const answer = await bulk({ events: Array.from({ length: 1000 }, () => bad) });
    expect(answer.status).toBe(400);
    expect(path(answer)).toHaveLength(100);
    expect(path(answer).slice(4, 6)).toEqual(['events[0].source', 'events[1].event_name']);
    expect(answer.body.error_count).toBe(5_000);
  });

  test.each([
    ['another version', { specversion: '0.3' }, 'specversion'],
    ['no id', { id: null }, 'id'],
    ['no subject', { subject: '' }, 'subject'],
    ['no source', { source: undefined }, 'source'],
    ['a time without zone', { time: '2026-01-15T10:00:00' }, 'time'],
    ['binary data', { data: undefined, data_base64: 'AA==' }, 'data_base64'],
    ['text as data', { data: 'x' }, 'data'],
  ])('a CloudEvent with %s', async (_name, change, where) => {
    const good = { specversion: '1.0', id: 'c', source: 's', type: 't', subject: 'a', data: {} };
    const answer = await post(
      { ...good, ...change },
      { 'content-type': 'application/cloudevents+json' },
    );
    expect(answer.status).toBe(400);
    expect(path(answer)).toEqual([where]);
  });

  test('a line that is bad', async () => {
    const good = JSON.stringify(EVENT);
    const lines = { 'content-type': 'application/x-ndjson' };
    expect(path(await bulk(`${good}\n{"event_name":"x"}`, lines))).toEqual([
      '[1].external_customer_id',
    ]);
    expect(path(await bulk(`${good}\n${good} ${good}`, lines))).toEqual(['body']);
    expect(path(await bulk('\n\n', lines))).toEqual(['body']);
  });

  test.each([
    ['another content type', { 'content-type': 'application/xml' }, 'Content-Type'],
    ['an unknown coding', { 'content-encoding': 'zstd' }, 'Content-Encoding'],
    ['two codings', { 'content-encoding': 'gzip, gzip' }, 'Content-Encoding'],
    ['a body that is not in its coding', { 'content-encoding': 'gzip' }, 'Content-Encoding'],
  ])('%s', async (_name, headers, where) => {
    const answer = await post(EVENT, headers);
    expect(answer.status).toBe(400);
    expect(path(answer)).toEqual([where]);
  });

  test('unknown keys, when the client asks for strict handling', async () => {
    const answer = await bulk(
      { events: [EVENT, { ...EVENT, region: {} }] },
      { prefer: 'handling=strict' },
    );
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('unknown_field');
    expect(path(answer)).toEqual(['events[1].region']);
  });
});

test('307: a slash behind the path, before anything of the body is read', async () => {
  for (const [url, location] of [
    ['/v1/events/', '/v1/events'],
    ['/v1/events/bulk/?source=a/', '/v1/events/bulk?source=a/'],
  ] as const) {
    const response = await ingest.app.inject({ method: 'POST', url, payload: '{' });
    expect([response.statusCode, response.headers.location]).toEqual([307, location]);
  }
});

describe('401', () => {
  test.each([
    ['no key', {}],
    ['an unknown key', { 'x-api-key': 'sk_test_unknown' }],
    ['an empty key', { 'x-api-key': '' }],
    ['another scheme', { authorization: 'Basic abc' }],
  ])('%s', async (_name, headers) => {
    const response = await ingest.app.inject({
      method: 'POST',
      url: '/v1/events',
      headers: { 'content-type': 'application/json', ...headers },
      payload: '{"event_name":',
    });
    expect(response.statusCode).toBe(401);
    expect(response.json().code).toBe('unauthenticated');
  });
});

describe('403', () => {
  test('a key that may only read, before its body is parsed', async () => {
    const key = await ingest.newKey({ roles: ['all_reader'] });
    const answer = await post('{', { 'x-api-key': key });
    expect(answer.status).toBe(403);
    expect(answer.body.code).toBe('permission_denied');
  });
});

describe('413', () => {
  test('a body over 32 MiB', async () => {
    const answer = await bulk(Buffer.alloc(32 * 1024 * 1024 + 1, 0x20));
    expect(answer.status).toBe(413);
    expect(answer.body.code).toBe('payload_too_large');
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotli],
  ])('a bomb in %s, without the memory it asks for', async (coding, encode) => {
    const bomb = encode(Buffer.alloc(256 * 1024 * 1024));
    const before = process.memoryUsage.rss();
    const began = process.cpuUsage();
    const answer = await bulk(bomb, { 'content-encoding': coding });
    expect(answer.status).toBe(413);
    // Work, not waiting: a busy machine makes little difference to it. Tells an end from none.
    expect(process.cpuUsage(began).user).toBeLessThan(20_000_000);
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 1024 * 1024);
  });

  test('text that merely compresses well is no bomb', async () => {
    const properties = { text: 'a'.repeat(900_000) };
    const body = gzipSync(JSON.stringify({ events: [{ ...EVENT, properties }] }));
    expect(body.length * 100).toBeLessThan(900_000);
    expect((await bulk(body, { 'content-encoding': 'gzip' })).status).toBe(202);
  });
});

test('what was accepted and refused is counted', async () => {
  const text = await ingest.metrics.metrics();
  const accepted = Number(/ingest_events_accepted_total (\d+)/.exec(text)![1]);
  expect(accepted).toBe((await ingest.stored()).length);
  expect(text).toMatch(/ingest_calls_refused_total\{status="400"\} \d+/);
});

test('a refused request is in the request log; an accepted one is found by its event', async () => {
  await post({ ...EVENT, timestamp: 'soon' }, { 'x-request-id': 'refused-event' });
  await post(EVENT, { 'x-request-id': 'accepted-event' });
  await ingest.requestLog.flush();
  const rows = await ingest.pool`
    select request_id, method, route, status_code, error_code from request_logs
     where request_id like '%-event'`;
  expect(rows).toEqual([
    {
      request_id: 'refused-event',
      method: 'POST',
      route: '/events',
      status_code: 400,
      error_code: 'validation_error',
    },
  ]);
});
