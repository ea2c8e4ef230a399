import type { ClickHouseQuery } from '../../clickhouse/client.ts';
import { indexedSlots } from '../../clickhouse/queries/smallest-positions.ts';
import { touchedBuckets } from '../../clickhouse/queries/touched-buckets.ts';
import type { BucketKey } from '../../clickhouse/rows.ts';
import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';
import { rawHttp } from './clickhouse/http.ts';

const START = Date.UTC(2026, 2, 1) / 1000;
const PARTS = 8;
const CUSTOMERS = 100;
const BUCKETS = 2_000;

/** Rows of a statement, and how many the engine read for them. */
async function readPage(url: string, { sql, params }: ClickHouseQuery) {
  const given = Object.entries(params).map(([name, value]) => [
    `param_${name}`,
    Array.isArray(value) ? JSON.stringify(value) : String(value),
  ]);
  const answer = await rawHttp(url)(Object.fromEntries(given), `${sql}\nformat JSONCompact`);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  const { data, statistics } = JSON.parse(answer.text) as {
    data: unknown[][];
    statistics: { rows_read: number };
  };
  return { rows: data, rowsRead: statistics.rows_read };
}

describe('a page of the list of touched buckets', () => {
  let test_: TestClickHouse;
  beforeAll(async () => {
    test_ = await createTestClickHouse();
    const run = (sql: string) => test_.clickhouse.command({ sql, params: {} });
    await run('system stop merges usage_touched_v1');
    for (let part = 0; part < PARTS; part += 1)
      await run(`
        insert into usage_touched_v1
        select 'tenant_1', 'env_1', concat('customer-', leftPad(toString(number % ${CUSTOMERS}), 3, '0')), 'meterv_1', '15MIN',
               toDateTime(${START} + intDiv(number, ${CUSTOMERS}) * 900, 'UTC'), ${part}, number, now64(3, 'UTC')
          from numbers(${CUSTOMERS * BUCKETS})`);
  });
  afterAll(() => test_.drop());

  const bucket = (customer: string, number: number): BucketKey => ({
    tenant_id: 'tenant_1',
    environment_id: 'env_1',
    external_customer_id: customer,
    meter_version_id: 'meterv_1',
    bucket_size: '15MIN',
    bucket_start: (START + number * 900) * 1000,
  });

  test.each<[string, BucketKey | null, string]>([
    ['first', null, 'customer-000 0'],
    ['in the middle', bucket('customer-050', 699), 'customer-050 700'],
    ['from one customer to the next', bucket('customer-050', 1_999), 'customer-051 0'],
  ])('%s: reads what it shows, not the table', async (_, after, first) => {
    const page = {
      size: '15MIN',
      since_ms: 0,
      meter_version_ids: null,
      after,
      limit: 500,
    } as const;
    const { rows, rowsRead } = await readPage(test_.url, touchedBuckets(page));
    const buckets = rows.map(
      ([, , , customer, , start]) => `${customer} ${(Number(start) - START) / 900}`,
    );
    expect([buckets.length, buckets[0]]).toEqual([500, first]);
    // 4,000 marks, each looked at three times, and a block or two of each part around them: of 1,600,000.
    expect(rowsRead).toBeLessThan(400_000);
  });
});

test('a page of the slots of a group reads only the rows that it returns', async () => {
  const test_ = await createTestClickHouse();
  const run = (sql: string) => test_.clickhouse.command({ sql, params: {} });
  try {
    await run('system stop merges event_index_v1');
    for (let part = 0; part < PARTS; part += 1)
      await run(`
        insert into event_index_v1 (slot_group, slot, position)
        select 1, reinterpretAsUUID(sipHash128(number, ${part})), number from numbers(200_000)`);
    const query = indexedSlots(1, '80000000000000000000000000000000', 1_000);
    const { rows, rowsRead } = await readPage(test_.url, {
      ...query,
      sql: query.sql.replace('UUIDToNum(slot) as slot_bytes', 'slot as shown'),
    });
    expect(rows).toHaveLength(1_000);
    // Half of 1,600,000 are after it.
    expect(rowsRead).toBeLessThan(200_000);
  } finally {
    await test_.drop();
  }
});
