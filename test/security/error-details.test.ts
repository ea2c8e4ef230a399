import { z } from 'zod';
import { DETAILS_MAX } from '../../domain/errors.ts';
import { parse, unknownFields } from '../../platform/http/parse.ts';
import { decimal, metadata, text } from '../../schemas/primitives.ts';
import { startIngest, type TestIngest } from '../api/ingest/start-ingest.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { countSteps } from '../support/steps.ts';

/** An answer names at most 100 problems and counts the others: it is never many times as large as the request. */
describe('details of errors', () => {
  let api: TestApi;
  let ingest: TestIngest;
  beforeAll(async () => {
    [api, ingest] = await Promise.all([startTestApi(), startIngest()]);
  });
  afterAll(() => Promise.all([api.close(), ingest.close()]));

  interface Answer {
    readonly status: number;
    readonly body: { details: readonly unknown[]; error_count: number };
  }
  function expectBounded(answer: Answer, count: number): void {
    expect([answer.status, answer.body.details.length, answer.body.error_count]).toEqual([
      400,
      Math.min(count, DETAILS_MAX),
      count,
    ]);
    expect(JSON.stringify(answer.body).length).toBeLessThan(64 * 1024);
  }

  test('events: two megabytes of a duplicate key', async () => {
    const lists = '"events":[],'.repeat(180_000);
    const answer = await ingest.post('/v1/events/bulk', Buffer.from(`{${lists}"events":[]}`));
    expectBounded(answer, 180_001);
  });

  test('events: two megabytes of duplicate keys in one event', async () => {
    const keys = '"event_name":1,'.repeat(140_000);
    const answer = await ingest.post('/v1/events', Buffer.from(`{${keys}"source":""}`));
    expectBounded(answer, 140_000);
  });

  test('a body: a thousand wrong values', async () => {
    const sort = Array.from({ length: 10 }, () => ({}));
    const array = Array.from({ length: 1000 }, () => true);
    const filters = [{ field: 'name', operator: 'in', value: { array } }];
    expectBounded(await api.post('/v1/plans/search', { sort, filters }), 1_010);
  });

  test('a body: a key of a megabyte is not sent back', async () => {
    const answer = await api.post('/v1/plans', {
      name: 'x',
      metadata: { ['k'.repeat(1_000_000)]: 'v' },
    });
    expectBounded(answer as Answer, 1);
    const search = await api.post('/v1/plans/search', { sort: 'k'.repeat(1_000_000) });
    expectBounded(search as Answer, 1);
  });

  test('the error of an enumeration names the allowed values and at most 60 characters of the value sent', () => {
    const schema = z.object({ order: z.enum(['asc', 'desc']) });
    const long = 'k'.repeat(1_000_000);
    const lists = z.object({ kinds: z.array(z.union([z.enum(['a', 'b']), z.int()])) });
    expect(() => parse(lists, { kinds: ['c'] }, 'query')).toThrow(
      'kinds[0]: "c" is not one of: "a"|"b"',
    );
    expect(() => parse(schema, { order: 'up' }, 'query')).toThrow(
      'order: "up" is not one of: "asc"|"desc"',
    );
    expect(() => parse(schema, { order: 7 }, 'query')).toThrow(
      'order: must be one of: "asc"|"desc"',
    );
    expect(() => parse(schema, { order: long }, 'query')).toThrow(
      `order: "${'k'.repeat(60)}…" is not one of: "asc"|"desc"`,
    );
  });

  test.each([
    [{ name: '' }, 'name: must not be empty'],
    [{ name: 'abcd' }, 'name: must have at most 3 characters, and has 4'],
    [{ name: '😀😀😀😀' }, 'name: must have at most 3 characters, and has 4'],
    [{ currency: 'us' }, 'currency: must have exactly 3 characters, and has 2'],
    [{ ids: [] }, 'ids: must not be empty'],
    [{ ids: ['a', 'b'] }, 'ids: must have at most 1 item, and has 2'],
    [{ limit: 0 }, 'limit: must be at least 1, and is 0'],
    [{ limit: 1001 }, 'limit: must be at most 1000, and is 1001'],
    [{ share: 0 }, 'share: must be greater than 0, and is 0'],
  ])('the error of a bound names the bound and what was sent: %j', (sent, message) => {
    const schema = z.object({
      name: z.string().min(1).max(3).optional(),
      currency: z.string().length(3).optional(),
      ids: z.array(z.string()).min(1).max(1).optional(),
      limit: z.int().min(1).max(1000).optional(),
      share: z.number().positive().optional(),
    });
    expect(() => parse(schema, sent, 'body')).toThrow(message);
  });

  test('a body: a megabyte of unknown keys is named in part', async () => {
    const body = Object.fromEntries(
      Array.from({ length: 2_000 }, (_none, index) => [`k${index}`.padEnd(300, 'k'), 1]),
    );
    const strict = await api.call('POST', '/v1/plans/search', body, { prefer: 'handling=strict' });
    expectBounded(strict as Answer, 1_000);
  });

  test('a body: an object of more keys than any schema accepts is not compared with one', async () => {
    const body = Object.fromEntries(
      Array.from({ length: 19_000 }, (_none, index) => [`k${index}`, 1]),
    );
    const answer = await api.post('/v1/plans/search', body);
    expectBounded(answer as Answer, 1);
    expect(answer.body.details).toMatchObject([{ path: 'k2000', code: 'too_big' }]);
  });

  test.each([
    ['keys of one object', `{${'"k":1,'.repeat(60_000)}"k":1}`],
    ['texts of a list', `{"name":["x"${',"x"'.repeat(60_000)}]}`],
    ['empty objects', `[{}${',{}'.repeat(60_000)}]`],
    ['lists in each other', '['.repeat(60_000)],
    ['values of a body that is not JSON', `{"name":"x" ${'1 '.repeat(60_000)}`],
  ])('a body of more than 20,000 values is not parsed: %s', async (_what, body) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await api.call('POST', '/v1/plans', body, headers);
    expectBounded(answer as Answer, 1);
    expect(answer.body.details).toEqual([
      {
        path: 'body',
        code: 'too_big',
        message: 'has more than 20000 values: send several smaller requests',
      },
    ]);
  });

  test('a body of 20,000 values is parsed', async () => {
    // The body itself, `name`, the list and its items; commas and colons inside text are none.
    const items = Array.from({ length: 19_997 }, () => ':,');
    const answer = await api.post('/v1/plans', { name: 'x', metadata: items });
    expect(answer.body.details).toEqual([
      { path: 'metadata', code: 'invalid_value', message: expect.any(String) },
    ]);
  });

  const Lists = z.object({
    texts: z.array(text()).max(1_000_000).optional(),
    decimals: z.array(decimal).max(1_000_000).optional(),
    metadata: metadata.optional(),
  });
  const stepsOf = (value: unknown): Promise<number> =>
    countSteps(() => {
      expect(() => parse(Lists, value, 'body')).toThrow();
    });

  test.each([
    ['numbers for texts', { texts: 1 }],
    ['truth values for decimals', { decimals: true }],
    ['letters for decimals', { decimals: 'x' }],
  ])('a large body is read up to its first problem: %s', async (_what, each) => {
    const [[field, value]] = Object.entries(each) as [[string, unknown]];
    const of = (length: number) => ({ [field]: Array.from({ length }, () => value) });
    const few = await stepsOf(of(6_000));
    expect(await stepsOf(of(300_000))).toBeLessThan(few * 10);
  });

  test('of a record with too many keys none is read', async () => {
    const record = Object.fromEntries(
      Array.from({ length: 60_000 }, (_none, index) => [`k${index}`, 1]),
    );
    expect(await stepsOf({ metadata: record })).toBeLessThan(1_000);
    expect(() => parse(Lists, { metadata: record }, 'body')).toThrow(
      'metadata: has more than 256 keys',
    );
  });

  test('unknown keys of one of several forms cost what they are long', async () => {
    const Either = z.union([z.object({ a: text() }), z.object({ b: text() })]);
    const of = (length: number) =>
      Object.fromEntries(Array.from({ length }, (_none, index) => [`k${index}`, 1]));
    const few = await countSteps(() => unknownFields(Either, of(1_000)));
    expect(await countSteps(() => unknownFields(Either, of(64_000)))).toBeLessThan(few * 128);
  });
});
