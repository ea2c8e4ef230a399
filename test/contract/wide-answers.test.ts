import { cellAt, planQuery } from '../../clickhouse/queries/plan-query.ts';
import { Pieces } from '../../clickhouse/reading/pieces.ts';
import { cellStart, rawGroups } from '../../clickhouse/queries/raw-groups.ts';
import { stateNeeds } from '../../clickhouse/queries/usage-buckets.ts';
import { UsageTally } from '../../clickhouse/reading/usage-tally.ts';
import type { UsageQuery } from '../../domain/metering/usage.ts';
import type { BucketSize } from '../../domain/time/usage-windows.ts';
import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';

const question = (bucket_size: BucketSize, timezone: string, start: string, end: string) =>
  ({
    key: 'q',
    tenant_id: 'tenant_1',
    environment_id: 'env_1',
    meter_version_id: 'meterv_1',
    aggregation: 'COUNT',
    multiplier: null,
    reset_usage: 'BILLING_PERIOD',
    external_customer_ids: null,
    start,
    end,
    filter_values: {},
    group_by: [],
    window: { bucket_size, timezone, billing_anchor: null },
  }) as const satisfies UsageQuery;

const MONTH_OF_MINUTES = question(
  'MINUTE',
  'UTC',
  '2026-10-01T00:00:00.000Z',
  '2026-11-01T00:00:00.000Z',
);

/** How often others got a turn while the work went on. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const other = () => {
    turns += 1;
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  await work().finally(() => (isOver = true));
  return turns;
}

describe('an answer of very many rows', () => {
  test('is decoded in pieces, and other requests run in between', async () => {
    const plan = planQuery(MONTH_OF_MINUTES, [], new Map());
    expect(plan.cells).toHaveLength(44_640);
    const tally = new UsageTally(plan);
    plan.cells.forEach((_, cell) => tally.addUniques(cell, [], 1, 1));
    let rows = 0;
    const turns = await turnsDuring(async () => ({ length: rows } = (await tally.answer()).rows));
    expect(rows).toBe(44_640);
    expect(turns).toBeGreaterThanOrEqual(44);
  });

  test('a piece ends, and the next piece begins after it', async () => {
    const pieces = new Pieces();
    const until = () => {
      for (let rows = 1; ; rows += 1) if (pieces.isDone()) return rows;
    };
    const first = until();
    expect(first).toBeLessThanOrEqual(1_000);
    await pieces.breathe();
    expect(until()).toBe(first);
  });
});

describe('the cell of an event', () => {
  let test_: TestClickHouse;
  beforeAll(async () => {
    test_ = await createTestClickHouse();
  });
  afterAll(() => test_.drop());

  test('a month of minutes is a short question', () => {
    const plan = planQuery(MONTH_OF_MINUTES, [], new Map());
    const spec = {
      event_name: 'call',
      aggregation: { type: 'COUNT', field: null },
      filters: [],
    } as const;
    const needs = stateNeeds(new Set(['COUNT']));
    const { sql, params } = rawGroups({ plan, spec, names: [], needs });
    expect(sql.length + JSON.stringify(params).length).toBeLessThan(5_000);
  });

  test.each<[BucketSize, string, string, string]>([
    ['MINUTE', 'UTC', '2026-03-04T05:06:07.008Z', '2026-03-04T05:10:30.000Z'],
    ['MINUTE', 'UTC', '2026-03-04T05:06:00.000Z', '2026-03-04T05:09:00.000Z'],
    ['15MIN', 'Asia/Kathmandu', '2026-03-04T05:06:07.008Z', '2026-03-04T06:00:00.001Z'],
    ['HOUR', 'Asia/Kathmandu', '2026-03-04T05:06:07.008Z', '2026-03-04T09:00:00.000Z'],
    ['HOUR', 'Australia/Lord_Howe', '2026-04-04T12:10:00.000Z', '2026-04-04T19:00:00.000Z'], // half an hour back
    ['DAY', 'Europe/Berlin', '2026-03-27T10:00:00.000Z', '2026-03-31T10:00:00.000Z'], // a day of 23 hours
    ['MONTH', 'UTC', '2026-01-15T00:00:00.000Z', '2026-06-15T00:00:00.000Z'],
    ['DAY', 'UTC', '2026-03-27T10:00:00.000Z', '2026-03-28T10:00:00.000Z'],
    ['DAY', 'UTC', '2026-03-27T10:00:00.000Z', '2026-03-27T11:00:00.000Z'],
  ])('%s in %s from %s to %s: as the plan has it', async (size, zone, start, end) => {
    const { cells } = planQuery(question(size, zone, start, end), [], new Map());
    const times = cells.flatMap((cell) => [cell.start, cell.end - 1]);
    const { sql, params } = cellStart(cells);
    const rows = await test_.clickhouse.rows<[string]>({
      sql: `select ${sql} from (
              select fromUnixTimestamp64Milli(arrayJoin({times:Array(Int64)}), 'UTC') as timestamp)`,
      params: { ...params, times },
    });
    expect(rows.map(([at]) => Number(at))).toEqual(
      times.map((at) => cells[cellAt(cells, at)]!.start),
    );
  });
});
