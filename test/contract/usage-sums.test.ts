import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import { ANALYTICS } from '../../clickhouse/query-limits.ts';
import { createUsageReader } from '../../clickhouse/reading/usage-reader.ts';
import type { UsageQuery } from '../../domain/metering/usage.ts';
import type { BucketSize } from '../../domain/time/usage-windows.ts';
import { packPosition, type WatermarkVector } from '../../domain/metering/position.ts';
import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';

const SCOPE = { tenant_id: 'tenant_1', environment_id: 'env_1' };
const START = Date.parse('2026-03-01T00:00:00.000Z');
const DAYS = 10;
const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
const CUSTOMERS = 40;
const MANY = 1_000;
const SEAL = 1n;

/** One event of each customer in the middle of each quarter of an hour: 38,400 sealed buckets of 15 minutes. */
async function writeUsage(
  { clickhouse }: TestClickHouse,
  events: string,
  position: string,
  version = 'meterv_1',
  customers = CUSTOMERS,
) {
  await clickhouse.command({
    sql: `
      insert into meter_usage_v1 (tenant_id, environment_id, external_customer_id, meter_version_id,
             timestamp, partition, position, value, unique_hash, dimensions, source)
      select {tenant_id:String}, {environment_id:String}, concat('customer-', toString(number % ${customers})), {version:String},
             fromUnixTimestamp64Milli(toInt64(${START} + intDiv(number, ${customers}) * ${QUARTER_MS} + 450000), 'UTC'),
             0, ${position}, toDecimal128(2, 18), toUUID('00000000-0000-0000-0000-000000000000'), [], ''
        from (${events})`,
    params: { ...SCOPE, version },
  });
}

describe('usage of all customers by windows shorter than a day', () => {
  let test_: TestClickHouse;
  const sealedBelow: WatermarkVector = { 0: packPosition(0, 1_000n, 0) };
  beforeAll(async () => {
    test_ = await createTestClickHouse();
    await writeUsage(test_, `select number from numbers(${CUSTOMERS * DAYS * 96})`, 'number');
    const store = createUsageStore(test_.clickhouse);
    for await (const buckets of store.touchedBuckets({ since: null }))
      await store.recomputeBuckets(
        buckets,
        { watermarks: sealedBelow, liveUntil: new Map() },
        SEAL,
      );
    // Two late ones of the first quarter hour.
    await writeUsage(test_, 'select number from numbers(2)', `${packPosition(0, 1_500n, 0)} + number`); // prettier-ignore
    // Every other quarter hour of another meter, never sealed.
    await writeUsage(
      test_,
      `select number from numbers(${CUSTOMERS * DAYS * 96}) where intDiv(number, ${CUSTOMERS}) % 2 = 0`,
      'number',
      'meterv_2',
    );
    // Two days of many customers, never sealed.
    await writeUsage(
      test_,
      `select number from numbers(${MANY * 2 * 96})`,
      'number',
      'meterv_3',
      MANY,
    );
  });
  afterAll(() => test_.drop());

  /** Rows of the answer as [window, quantity], by a reader to which a bucket each is too much. */
  const ask = async (
    bucket_size: BucketSize,
    timezone: string,
    from: number,
    to: number,
    { version = 'meterv_1', resultBytes = 60_000 } = {},
  ) => {
    const watermarks: WatermarkVector = { 0: packPosition(0, 2_000n, 0) };
    const reader = createUsageReader({
      clickhouse: test_.clickhouse,
      readBounds: async () => ({
        watermarks,
        liveUntil: new Map(),
        setAside: [],
        vectorsOf: async () => new Map([[SEAL, sealedBelow]]),
      }),
      readDimensions: async (versions) => new Map(versions.map((version) => [version, []])),
      analytics: { ...ANALYTICS, resultBytes },
    });
    const query: UsageQuery = {
      ...SCOPE,
      key: 'q',
      meter_version_id: version,
      aggregation: 'SUM',
      multiplier: null,
      reset_usage: 'BILLING_PERIOD',
      external_customer_ids: null,
      start: new Date(from).toISOString(),
      end: new Date(to).toISOString(),
      filter_values: {},
      group_by: [],
      window: { bucket_size, timezone, billing_anchor: null },
    };
    const { answers } = await reader.read([query]);
    return answers
      .get('q')!
      .rows.map(({ window_start, quantity }) => [window_start!.slice(5, 16), Number(quantity)]);
  };
  const HOUR_MS = 3_600_000;
  const anHour = CUSTOMERS * 4 * 2;

  test('days of another zone are summed in that zone, with late events', async () => {
    const rows = await ask('DAY', 'Asia/Kathmandu', START, START + DAYS * DAY_MS);
    expect(rows).toEqual([
      ['02-28T18:15', anHour * 18.25 + 4],
      ...Array.from({ length: DAYS - 1 }, (_, n) => [`03-0${n + 1}T18:15`, anHour * 24]),
      ['03-10T18:15', anHour * 5.75],
    ]);
  });

  test('hours, and a range that cuts quarters of an hour at both ends', async () => {
    const from = START + 7 * 60_000; // before the first events
    const to = START + 3 * HOUR_MS + 8 * 60_000; // behind one more of each customer
    expect(await ask('HOUR', 'UTC', from, to)).toEqual([
      ['03-01T00:00', anHour + 4],
      ['03-01T01:00', anHour],
      ['03-01T02:00', anHour],
      ['03-01T03:00', CUSTOMERS * 2],
    ]);
    expect(await ask('HOUR', 'UTC', from + 60_000, to - 60_000)).toEqual([
      ['03-01T00:00', anHour - CUSTOMERS * 2],
      ['03-01T01:00', anHour],
      ['03-01T02:00', anHour],
    ]);
  });

  test('minutes are read bucket by bucket, up to a limit', async () => {
    await expect(ask('MINUTE', 'UTC', START, START + DAYS * DAY_MS)).rejects.toMatchObject({
      code: 'usage_query_too_large',
    });
  });

  test('days that many customers cannot use are read for all customers together', async () => {
    const open = { version: 'meterv_3', resultBytes: 30_000 };
    const perQuarter = MANY * 2;
    expect(await ask('DAY', 'UTC', START, START + 2 * DAY_MS, open)).toEqual([
      ['03-01T00:00', 96 * perQuarter],
      ['03-02T00:00', 96 * perQuarter],
    ]);
    // From before the events of a quarter hour to behind those of another one.
    const from = START + 4 * QUARTER_MS + 60_000;
    const to = START + DAY_MS + 8 * QUARTER_MS + 500_000;
    expect(await ask('DAY', 'UTC', from, to, open)).toEqual([
      ['03-01T00:00', 92 * perQuarter],
      ['03-02T00:00', 9 * perQuarter],
    ]);
    expect(await ask('HOUR', 'UTC', from, from + 2 * HOUR_MS, open)).toEqual([
      ['03-01T01:00', 4 * perQuarter],
      ['03-01T02:00', 4 * perQuarter],
    ]);
  });

  test('days without seals are a range each, not one for each quarter hour with usage', async () => {
    const asked: number[] = [];
    const reader = createUsageReader({
      clickhouse: {
        ...test_.clickhouse,
        bytes(statement, ...rest) {
          const ranges = statement.params['stretch_numbers'];
          if (Array.isArray(ranges)) asked.push(ranges.length);
          return test_.clickhouse.bytes(statement, ...rest);
        },
      },
      readBounds: async () => ({
        watermarks: { 0: packPosition(0, 2_000n, 0) },
        liveUntil: new Map(),
        setAside: [],
        vectorsOf: async () => new Map(),
      }),
      readDimensions: async (versions) => new Map(versions.map((version) => [version, []])),
    });
    const queries = Array.from({ length: CUSTOMERS }, (_, n): UsageQuery => ({
      ...SCOPE,
      key: `customer-${n}`,
      meter_version_id: 'meterv_2',
      aggregation: 'SUM',
      multiplier: null,
      reset_usage: 'BILLING_PERIOD',
      external_customer_ids: [`customer-${n}`],
      start: new Date(START).toISOString(),
      end: new Date(START + DAYS * DAY_MS).toISOString(),
      filter_values: {},
      group_by: [],
      window: null,
    })); // prettier-ignore
    const { answers } = await reader.read(queries);
    expect([...answers.values()].map(({ rows }) => Number(rows[0]!.quantity))).toEqual(
      queries.map(() => DAYS * 48 * 2),
    );
    expect(asked).toEqual([CUSTOMERS * DAYS]);
  });
});
