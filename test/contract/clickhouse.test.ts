import { gzipSync } from 'node:zlib';
import { createClient } from '@clickhouse/client';
import type { ClickHouse } from '../../clickhouse/client.ts';
import { createEmptyClickHouse, type TestClickHouse } from '../support/clickhouse.ts';
import { describeWith } from '../support/requires.ts';
import { rawHttp } from './clickhouse/http.ts';

/**
 * What the product leans on, of the HTTP interface and of the engine behind it. The same suite runs
 * over the embedded server, always, and over a real one.
 */
function clickhouseContract(serverUrl: () => string): void {
  let database: TestClickHouse;
  let clickhouse: ClickHouse;
  let http: ReturnType<typeof rawHttp>;
  beforeAll(async () => {
    database = await createEmptyClickHouse(serverUrl());
    clickhouse = database.clickhouse;
    http = rawHttp(database.url);
  });
  afterAll(() => database.drop());

  const run = (sql: string) => clickhouse.command({ sql, params: {} });
  const rows = (sql: string, params: Record<string, unknown> = {}) =>
    clickhouse.rows({ sql, params });

  describe('HTTP interface', () => {
    test('a query in the body, in the URL, or partly in both', async () => {
      expect((await http({}, 'select 1')).text).toBe('1\n');
      expect((await http({ query: 'select 2' }, '')).text).toBe('2\n');
      expect((await http({ query: 'select 3 +' }, ' 4')).text).toBe('7\n');
      expect((await http({ query: 'select 5' }, undefined, { method: 'GET' })).text).toBe('5\n');
    });

    test('GET changes nothing', async () => {
      const answer = await http(
        { query: 'create table by_get (a Int8) engine = Memory' },
        undefined,
        {
          method: 'GET',
        },
      );
      expect(answer.exceptionCode).toBe('164');
      expect(await rows("select count() from system.tables where name = 'by_get'")).toEqual([
        ['0'],
      ]);
    });

    test('the format of the query, else of the request; the answer names it', async () => {
      const csv = await http({ default_format: 'JSONEachRow' }, "select 'a' as x format CSV");
      expect(csv.text).toBe('"a"\n');
      expect(csv.headers.get('x-clickhouse-format')).toBe('CSV');
      const json = await http({ default_format: 'JSONEachRow' }, 'select 1 as x');
      expect(json.text).toBe('{"x":1}\n');
      expect(json.headers.get('x-clickhouse-format')).toBe('JSONEachRow');
      const byHeader = await http({}, 'select 1 as x', {
        headers: { 'x-clickhouse-format': 'CSV' },
      });
      expect(byHeader.headers.get('x-clickhouse-format')).toBe('CSV');
    });

    test('parameters of any text, in the URL and in a form', async () => {
      const texts = ["it's", 'a\tb\nc\\d', '{x:String}', '€ 😀', '', 'nul \0 byte', ' -- ;', "\\'"];
      for (const text of texts)
        expect(await rows('select {text:String}', { text })).toEqual([[text]]);
      expect(await rows('select {texts:Array(String)}', { texts })).toEqual([[texts]]);
      const many = Array.from({ length: 5_000 }, (_, index) => `customer-${index}`);
      expect(
        await rows('select length({many:Array(String)}), {many:Array(String)}[4321]', { many }),
      ).toEqual([['5000', 'customer-4320']]);
      expect(
        await rows('select {big:UInt64}, {id:UUID}', { big: 2n ** 64n - 1n, id: 'a'.repeat(32) }),
      ).toEqual([['18446744073709551615', 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa']]);
    });

    test('parameters of megabytes, for a command and for a binary answer too', async () => {
      const hostile = ["it's", 'a\tb\nc\\d\r\n', '{x:String}', '€ 😀', '', '--boundary', "\\'"];
      const many = Array.from(
        { length: 30_000 },
        (_, index) => `${hostile[index % hostile.length]} of customer ${'x'.repeat(100)} ${index}`,
      );
      const numbers = many.map((_, index) => index);
      await run('create table by_form (number UInt32, text String) engine = Memory');
      await clickhouse.command({
        sql: `insert into by_form
              select row.1, row.2 from (select arrayJoin(arrayZip({numbers:Array(UInt32)}, {many:Array(String)})) as row)`,
        params: { numbers, many },
      });
      expect(await rows('select text from by_form order by number')).toEqual(
        many.map((text) => [text]),
      );
      const bytes = await clickhouse.bytes(
        {
          sql: 'select count() from by_form where text in {many:Array(String)} and number < {below:UInt64}',
          params: { many, below: 12_345n },
        },
        'RowBinary',
      );
      expect(bytes.readBigUInt64LE()).toBe(12_345n);
    });

    test('the parameters of a query do not exist for the next query', async () => {
      for (let i = 0; i < 20; i += 1) await rows('select {gone:UInt8}', { gone: 1 });
      for (let i = 0; i < 20; i += 1) {
        expect((await http({}, 'select {gone:UInt8}')).exceptionCode).toBe('456');
      }
    });

    test('a setting applies to its own query only', async () => {
      const read = "select getSetting('max_block_size')";
      const usual = (await http({}, read)).text;
      expect((await http({ max_block_size: '1234' }, read)).text).toBe('1234\n');
      for (let i = 0; i < 20; i += 1) expect((await http({}, read)).text).toBe(usual);
      expect((await http({ no_such_setting: '1' }, 'select 1')).exceptionCode).toBe('115');
    });

    test('a failed query answers its code and a status, and does not affect later queries', async () => {
      const missing = await http({}, 'select * from missing');
      expect([missing.status, missing.exceptionCode]).toEqual([404, '60']);
      expect(missing.text).toMatch(/^Code: 60\. DB::Exception: .*\(UNKNOWN_TABLE\)/s);
      const syntax = await http({}, 'select from where');
      expect([syntax.status, syntax.exceptionCode]).toEqual([400, '62']);
      await expect(rows('select * from missing')).rejects.toMatchObject({
        code: '60',
        type: 'UNKNOWN_TABLE',
      });
      expect(await rows('select 1')).toEqual([[1]]);
    });

    test('a query that fails after many rows answers none of them', async () => {
      const sql = 'select throwIf(number = 3000000) from numbers(4000000)';
      await expect(rows(sql)).rejects.toMatchObject({ code: '395' });
      await expect(clickhouse.bytes({ sql, params: {} }, 'RowBinary')).rejects.toMatchObject({
        code: '395',
      });
    });

    test('ping, query id, summary', async () => {
      expect(await clickhouse.ping()).toBe(true);
      expect((await http({}, undefined, { method: 'GET', path: '/ping' })).text).toBe('Ok.\n');
      const answer = await http({ query_id: 'my-query' }, 'select sum(number) from numbers(1000)');
      expect(answer.headers.get('x-clickhouse-query-id')).toBe('my-query');
      const summary = JSON.parse(answer.headers.get('x-clickhouse-summary')!) as Record<
        string,
        string
      >;
      expect(Number(summary['elapsed_ns'])).toBeGreaterThan(0);
    });

    test('gzip in both directions', async () => {
      const sent = await http({}, gzipSync('select 42'), {
        headers: { 'content-encoding': 'gzip' },
      });
      expect(sent.text).toBe('42\n');
      const asked = await http({ enable_http_compression: '1' }, "select repeat('a', 100000)", {
        headers: { 'accept-encoding': 'gzip' },
      });
      expect(asked.headers.get('content-encoding')).toBe('gzip');
      expect(asked.text.length).toBe(100_001);
      const broken = await http({}, 'no gzip', { headers: { 'content-encoding': 'gzip' } });
      expect(broken.status).toBeGreaterThanOrEqual(400);
    });

    test('a wrong password is refused', async () => {
      const url = new URL(database.url);
      url.password = 'wrong';
      expect((await rawHttp(url.toString())({}, 'select 1')).exceptionCode).toBe('516');
    });

    test('the interface of the driver: typed rows, streams, inserts of objects', async () => {
      const url = new URL(database.url);
      const client = createClient({
        url: url.toString(),
        clickhouse_settings: { async_insert: 0 },
        compression: { request: true, response: true },
      });
      await client.command({
        query: 'create table by_driver (a UInt32, b String) engine = MergeTree order by a',
      });
      await client.insert({
        table: 'by_driver',
        values: [{ a: 1, b: 'x' }],
        format: 'JSONEachRow',
      });
      const read = await client.query({ query: 'select * from by_driver', format: 'JSONEachRow' });
      expect(await read.json()).toEqual([{ a: 1, b: 'x' }]);
      const streamed: unknown[] = [];
      const stream = (
        await client.query({ query: 'select number from numbers(50000)', format: 'JSONEachRow' })
      ).stream();
      for await (const chunk of stream) streamed.push(...(chunk as unknown[]));
      expect(streamed).toHaveLength(50_000);
      await client.close();
    });

    test('a quick read does not wait for a long one, nor for an insert', async () => {
      const firstOf = async (seconds: number) => {
        const long = rows(
          `select sum(sipHash64(number)) from numbers(400000000000)
             settings max_execution_time = ${seconds}, max_rows_to_read = 0`,
        ).catch(() => 'cut off');
        const quick = rows('select 1').then(() => 'quick');
        const first = await Promise.race([long.then(() => 'long'), quick]);
        await long;
        return first;
      };
      // A quick read that waited would come after a long one of any length; one of a slow machine does not.
      for (const seconds of [3, 20]) if ((await firstOf(seconds)) === 'quick') return;
      expect(await firstOf(100)).toBe('quick');
    });
  });

  describe('inserts', () => {
    test('rows are visible when the insert has been answered; an insert with an invalid row writes none', async () => {
      await run('create table inserted (a UInt64) engine = MergeTree order by a');
      for (let i = 0; i < 10; i += 1) {
        await clickhouse.insert('inserted', ['a'], `[${i}]\n`);
        expect(await rows('select count() from inserted')).toEqual([[String(i + 1)]]);
      }
      await expect(clickhouse.insert('inserted', ['a'], '[11]\n["x"]\n')).rejects.toMatchObject({
        code: expect.stringMatching(/^\d+$/),
      });
      expect(await rows('select count() from inserted')).toEqual([['10']]);
    });

    test('times as milliseconds, hashes without dashes, decimals as text, arrays', async () => {
      await run(`create table typed (t DateTime64(3, 'UTC'), h UUID, d Decimal(38, 18), a Array(String), p UInt64)
                 engine = MergeTree order by t`);
      const line = `[86399999,"${'0123456789abcdef'.repeat(2)}","-12345678901234567890.000000000000000001",["=x","","it's"],18446744073709551615]\n`;
      await clickhouse.insert('typed', ['t', 'h', 'd', 'a', 'p'], line);
      expect(await rows('select t, h, d, a, p from typed')).toEqual([
        [
          '1970-01-01 23:59:59.999',
          '01234567-89ab-cdef-0123-456789abcdef',
          '-12345678901234567890.000000000000000001',
          ['=x', '', "it's"],
          '18446744073709551615',
        ],
      ]);
    });

    test('one insert into more partitions than the default allows', async () => {
      await run(
        'create table monthly (t Date) engine = MergeTree partition by toYYYYMM(t) order by t',
      );
      const lines = Array.from({ length: 240 }, (_, month) =>
        JSON.stringify([new Date(Date.UTC(2000, month, 2)).toISOString().slice(0, 10)]),
      );
      await clickhouse.insert('monthly', ['t'], lines.join('\n'));
      expect(await rows('select count(), uniq(_partition_id) from monthly')).toEqual([
        ['240', '240'],
      ]);
    });

    test('the same block again is inserted again, and its view fires again', async () => {
      await run(
        'create table source (k UInt8, v UInt64) engine = MergeTree order by k settings non_replicated_deduplication_window = 100',
      );
      await run(
        'create table target (k UInt8, v SimpleAggregateFunction(max, UInt64)) engine = AggregatingMergeTree order by k settings non_replicated_deduplication_window = 100',
      );
      await run(
        'create materialized view view_mv to target as select k, max(v) as v from source group by k',
      );
      await clickhouse.insert('source', ['k', 'v'], '[1, 5]\n');
      await run('truncate table target');
      await clickhouse.insert('source', ['k', 'v'], '[1, 5]\n');
      expect(await rows('select count() from source')).toEqual([['2']]);
      expect(await rows('select k, max(v) from target group by k')).toEqual([[1, '5']]);
    });

    test('an exception in a view fails the insert', async () => {
      await run('create table watched (v UInt8) engine = MergeTree order by v');
      await run('create table seen (v UInt8) engine = MergeTree order by v');
      await run(
        'create materialized view watched_mv to seen as select throwIf(v = 7) + v as v from watched',
      );
      await clickhouse.insert('watched', ['v'], '[1]\n');
      await expect(clickhouse.insert('watched', ['v'], '[7]\n')).rejects.toMatchObject({
        code: '395',
      });
      expect(await rows('select count() from seen')).toEqual([['1']]);
    });
  });

  describe('engines', () => {
    test('ReplacingMergeTree: FINAL answers one row per key, the greatest version, before and after a merge', async () => {
      await run(
        'create table replaced (k UInt8, version UInt64, v UInt8) engine = ReplacingMergeTree(version) order by k',
      );
      await clickhouse.insert('replaced', ['k', 'version', 'v'], '[1, 2, 20]\n[2, 1, 1]\n');
      await clickhouse.insert('replaced', ['k', 'version', 'v'], '[1, 1, 10]\n');
      await clickhouse.insert('replaced', ['k', 'version', 'v'], '[1, 3, 30]\n');
      const expected = [
        [1, '3', 30],
        [2, '1', 1],
      ];
      expect(await rows('select k, version, v from replaced final order by k')).toEqual(expected);
      await run('optimize table replaced final');
      expect(await rows('select k, version, v from replaced order by k')).toEqual(expected);
    });

    test('AggregatingMergeTree: min and max survive merges', async () => {
      await run(`create table aggregated (k UUID, lo SimpleAggregateFunction(min, UInt64), hi SimpleAggregateFunction(max, UInt64))
                 engine = AggregatingMergeTree order by k`);
      const key = 'f'.repeat(32);
      for (const value of [5, 3, 9])
        await clickhouse.insert(
          'aggregated',
          ['k', 'lo', 'hi'],
          `["${key}", ${value}, ${value}]\n`,
        );
      const read = 'select min(lo), max(hi) from aggregated group by k';
      expect(await rows(read)).toEqual([['3', '9']]);
      await run('optimize table aggregated final');
      expect(await rows('select lo, hi from aggregated')).toEqual([['3', '9']]);
      expect(await rows(read)).toEqual([['3', '9']]);
    });

    test('sums in 256 bits do not wrap, and overflow of a column is an error', async () => {
      const most = `toDecimal128('99999999999999999999.999999999999999999', 18)`;
      expect(await rows(`select sum(toDecimal256(${most}, 18)) from numbers(1000000)`)).toEqual([
        ['99999999999999999999999999.999999999999'],
      ]);
      // Weighted sums multiply by milliseconds since 1970 first.
      expect(
        await rows(
          `select sum(toDecimal256(${most}, 18) * toInt64(4102444800000)) from numbers(1000)`,
        ),
      ).toEqual([['410244479999999999999999999999999999.9958975552']]);
      await run('create table narrow (d Decimal(38, 18)) engine = MergeTree order by d');
      await expect(
        clickhouse.insert('narrow', ['d'], '["123456789012345678901.5"]\n'),
      ).rejects.toMatchObject({ code: '69' });
    });

    test('argMax decides ties by the tuple', async () => {
      const values = `values('v Decimal(38,18), t DateTime64(3, \\'UTC\\'), p UInt64, q UInt16', (1, 5, 1, 0), (2, 5, 3, 0), (3, 5, 3, 1), (4, 4, 9, 9))`;
      expect(await rows(`select argMax(v, (t, p, q)) from ${values}`)).toEqual([['3']]);
    });

    test('transform without entries takes the default; the comparison is of 64 unsigned bits', async () => {
      const sql = `select toUInt64(18446744073709551614) < transform(toUInt16(1), {p:Array(UInt16)}, {b:Array(UInt64)}, toUInt64(0))`;
      expect(await rows(sql, { p: [], b: [] })).toEqual([[0]]);
      expect(await rows(sql, { p: [1], b: [2n ** 64n - 1n] })).toEqual([[1]]);
    });

    test('RowBinary: sizes and byte order', async () => {
      const sql = `select toUInt16(258), toUInt32(1), toUInt64(2), toDecimal128(-1, 18), toDecimal256(3, 18), 'ab',
                          UUIDToNum(toUUID('${'01'.repeat(16)}')), [(toUInt32(7), toUInt16(8))]`;
      const bytes = await clickhouse.bytes({ sql, params: {} }, 'RowBinary');
      expect(bytes.length).toBe(2 + 4 + 8 + 16 + 32 + 3 + 16 + 1 + 6);
      expect(bytes.readUInt16LE(0)).toBe(258);
      expect(bytes.subarray(65, 81).toString('hex')).toBe('01'.repeat(16));
    });
  });
}

describe('ClickHouse, embedded', () =>
  clickhouseContract(() => process.env['TEST_CLICKHOUSE_URL']!));
describeWith('CLICKHOUSE_URL', 'ClickHouse, a real server', (url) => clickhouseContract(() => url));
