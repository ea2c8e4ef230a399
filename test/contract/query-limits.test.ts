import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ClickHouseError } from '@clickhouse/client';
import { connectClickHouse, type ClickHouse } from '../../clickhouse/client.ts';
import { createEventReader } from '../../clickhouse/reading/event-reader.ts';
import { ANALYTICS, READING, SERVICE, type QueryLimits } from '../../clickhouse/query-limits.ts';
import { refusedOrUnavailable } from '../../clickhouse/reading/usage-errors.ts';
import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import { TenantTurns } from '../../clickhouse/reading/tenant-turns.ts';
import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';

const SCOPE = { tenant_id: 'tenant_1', environment_id: 'env_1' };
const LIMITS = [
  'max_execution_time',
  'max_rows_to_read',
  'max_memory_usage',
  'max_result_rows',
  'max_result_bytes',
];

describe('a statement that ran into a limit', () => {
  const refusal = (code: string, isWide: boolean) =>
    refusedOrUnavailable(new ClickHouseError({ message: 'limit', code }), isWide);

  test.each`
    limit                     | code     | isWide   | answer
    ${'rows'}                 | ${'158'} | ${true}  | ${'usage_query_too_large'}
    ${'rows, of an invoice'}  | ${'158'} | ${false} | ${'usage_query_too_large'}
    ${'time'}                 | ${'159'} | ${true}  | ${'usage_query_too_large'}
    ${'time, of an invoice'}  | ${'159'} | ${false} | ${'usage_unavailable'}
    ${'speed, of an invoice'} | ${'160'} | ${false} | ${'usage_unavailable'}
  `('$limit: $answer', ({ code, isWide, answer }) => {
    expect(refusal(code, isWide)).toMatchObject({ code: answer });
  });
});

describe('every statement has limits', () => {
  let server: Server;
  let clickhouse: ClickHouse;
  let asked: URLSearchParams[];
  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      asked.push(new URL(request.url!, 'http://localhost').searchParams);
      request.resume().on('end', () => response.end());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    clickhouse = connectClickHouse({
      url: `http://user:password@127.0.0.1:${port}/default`,
      applicationName: 'test',
    });
  });
  afterEach(async () => {
    await clickhouse.close();
    server.closeAllConnections();
    server.close();
  });

  const question = { sql: 'select 1', params: {} };
  const calls: [string, (limits?: QueryLimits) => Promise<unknown>][] = [
    ['rows', (limits) => clickhouse.rows(question, { limits })],
    ['bytes', (limits) => clickhouse.bytes(question, 'RowBinary', { limits })],
    ['command', (limits) => clickhouse.command(question, { limits })],
    ['insert', () => clickhouse.insert('t', ['a'], '[1]')],
  ];

  test.each(calls)('%s that names none has those of the service', async (_, call) => {
    await call();
    expect(asked).toHaveLength(1);
    for (const name of LIMITS) expect(Number(asked[0]!.get(name))).toBeGreaterThan(0);
    expect(asked[0]!.get('max_rows_to_read')).toBe(String(SERVICE.rowsRead));
    for (const name of ['timeout', 'read', 'result'])
      expect(asked[0]!.get(`${name}_overflow_mode`)).toBe('throw');
  });

  test.each([READING, ANALYTICS])(
    '$name says its class, its limits and its threads',
    async (limits) => {
      await clickhouse.rows(question, { limits });
      expect(asked[0]!.get('log_comment')).toBe(limits.name);
      expect(asked[0]!.get('max_execution_time')).toBe(String(limits.seconds));
      expect(asked[0]!.get('max_threads')).toBe(
        limits.threads === null ? null : String(limits.threads),
      );
    },
  );
});

describe('a read that nobody waits for', () => {
  test('throws at once and closes its connection', async () => {
    const closed: Promise<unknown>[] = [];
    const server = createServer((request) => closed.push(once(request.socket, 'close')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `http://user:password@127.0.0.1:${port}/default`;
    const clickhouse = connectClickHouse({ url, applicationName: 'test' });
    const gone = new AbortController();
    const query = { sql: 'select 1', params: {} };
    const read = clickhouse.rows(query, { signal: gone.signal });
    await once(server, 'request');
    gone.abort();
    const error = await read.catch((thrown: unknown) => thrown);
    expect(refusedOrUnavailable(error)).toMatchObject({ code: 'usage_unavailable' });
    await Promise.all(closed);
    await expect(clickhouse.rows(query, { signal: gone.signal })).rejects.toThrow();
    expect(closed).toHaveLength(1);
    await clickhouse.close();
    server.close();
  });
});

describe('a query that reaches a limit', () => {
  let test_: TestClickHouse;
  beforeAll(async () => {
    test_ = await createTestClickHouse();
    await createUsageStore(test_.clickhouse).appendRawEvents(
      Array.from({ length: 2_000 }, (_, n) => ({
        ...SCOPE,
        event_name: 'call',
        external_customer_id: `customer-${n}`,
        customer_id: '',
        timestamp: Date.UTC(2026, 0, 1) + n,
        event_id: `event-${n}`,
        source: '',
        properties: `{"user":"user-${n}"}`,
        ingested_at: Date.UTC(2026, 0, 1),
        partition: 0,
        position: BigInt(n),
        is_canonical: true,
      })),
    );
  });
  afterAll(() => test_.drop());

  const aggregate = (limits: Partial<QueryLimits>, filters: Record<string, string[]> = {}) =>
    createEventReader(test_.clickhouse, { analytics: { ...ANALYTICS, ...limits } }).aggregate({
      ...SCOPE,
      event_name: 'call',
      external_customer_id: null,
      aggregation: 'COUNT_UNIQUE',
      multiplier: null,
      property_name: 'user',
      start: '2026-01-01T00:00:00.000Z',
      end: '2026-02-01T00:00:00.000Z',
      filters,
      window: null,
    });

  test('is answered within them', async () => {
    expect((await aggregate({})).value).toBe('2000');
  });
  test('a filter with a hundred thousand values is refused before the query is sent', async () => {
    const tokens = Array.from({ length: 100_000 }, (_, n) => `value-${n}`);
    await expect(aggregate({}, { user: tokens })).rejects.toMatchObject({
      kind: 'invalid',
      code: 'usage_query_too_large',
    });
  });
  test.each<[string, Partial<QueryLimits>]>([
    ['rows', { rowsRead: 1_000 }],
    ['memory', { memoryBytes: 20_000 }],
    ['bytes of the answer', { resultBytes: 10 }],
  ])('%s: 400 with what to do, never a part', async (_, limits) => {
    await expect(aggregate(limits)).rejects.toMatchObject({
      kind: 'invalid',
      code: 'usage_query_too_large',
      message: expect.stringMatching(/shorter time/),
    });
  });
});

describe('turns of a tenant', () => {
  test('two run, twenty wait, the next is refused with Retry-After; another tenant does not wait', async () => {
    const turns = new TenantTurns();
    let running = 0;
    let most = 0;
    const ends: (() => void)[] = [];
    const ask = (tenant: string) =>
      turns.run(tenant, async () => {
        most = Math.max(most, (running += 1));
        await new Promise<void>((resolve) => ends.push(resolve));
        running -= 1;
      });
    const hostile = Array.from({ length: 22 }, () => ask('hostile'));
    await expect(ask('hostile')).rejects.toMatchObject({
      kind: 'rate_limited',
      code: 'too_many_usage_queries',
    });
    expect(most).toBe(2);
    const other = ask('other');
    await new Promise(setImmediate);
    expect(running).toBe(3);
    for (let n = 0; n < 23; n += 1) {
      ends.shift()!();
      await new Promise(setImmediate);
    }
    await Promise.all([...hostile, other]);
    expect(running).toBe(0);
  });

  test('a query whose caller has gone gives up its place, and the next one gets the turn', async () => {
    const turns = new TenantTurns(1);
    let end = (): void => {};
    const first = turns.run('tenant', () => new Promise<void>((resolve) => (end = resolve)));
    const gone = new AbortController();
    const ran: string[] = [];
    const second = turns.run('tenant', async () => ran.push('second'), gone.signal);
    const third = turns.run('tenant', async () => ran.push('third'), new AbortController().signal);
    const reason = new Error('gone');
    gone.abort(reason);
    await expect(second).rejects.toBe(reason);
    end();
    await Promise.all([first, third]);
    expect(ran).toEqual(['third']);
    await expect(turns.run('tenant', async () => {}, gone.signal)).rejects.toBe(reason);
    await turns.run('tenant', async () => ran.push('last'));
    expect(ran).toEqual(['third', 'last']);
  });
});
