import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import { createEventReader, type EventCounts } from '../../clickhouse/reading/event-reader.ts';
import {
  acceptedCounts,
  GATHERED,
  rejectedCount,
  type EventCountQuestion,
  type EventOutcome,
} from '../../clickhouse/queries/event-counts.ts';
import { READING } from '../../clickhouse/query-limits.ts';
import { NO_HASH, type MeterUsageRow, type RawEventRow } from '../../clickhouse/rows.ts';
import type { UsageStore } from '../../clickhouse/writing/usage-store.ts';
import { packPosition } from '../../domain/metering/position.ts';
import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';

const SCOPE = { tenant_id: 'tenant_1', environment_id: 'env_1' };
const START = Date.UTC(2026, 0, 1);
const QUARTER = 900_000;

/** Event `n` of a partition, one in each quarter of an hour. */
const raw = (n: number, given: Partial<RawEventRow> = {}): RawEventRow => ({
  ...SCOPE,
  event_name: 'call',
  external_customer_id: 'acme',
  customer_id: '',
  timestamp: START + n * QUARTER,
  event_id: `e${n}`,
  source: '',
  properties: '{}',
  ingested_at: START,
  partition: 0,
  position: packPosition(0, BigInt(n), 7),
  is_canonical: true,
  ...given,
});

const usage = (row: RawEventRow, meter_version_id = 'meterv_1'): MeterUsageRow => ({
  ...SCOPE,
  external_customer_id: row.external_customer_id,
  meter_version_id,
  timestamp: row.timestamp,
  partition: row.partition,
  position: row.position,
  value: '1',
  unique_hash: NO_HASH,
  dimensions: [],
  source: '',
});

const rejection = (row: RawEventRow, meter_version_id: string) => ({
  ...SCOPE,
  event_id: row.event_id,
  event_name: row.event_name,
  external_customer_id: row.external_customer_id,
  meter_version_id,
  partition: row.partition,
  position: row.position,
  ingested_at: START,
  reason: 'value_missing',
  message: 'no tokens',
  raw: '',
});

describe('counts of events', () => {
  let test_: TestClickHouse;
  let store: UsageStore;
  beforeEach(async () => {
    test_ = await createTestClickHouse();
    store = createUsageStore(test_.clickhouse);
  });
  afterEach(() => test_.drop());

  const counts = (given: Partial<EventCountQuestion> = {}): Promise<EventCounts> =>
    createEventReader(test_.clickhouse).counts({
      ...SCOPE,
      start: START,
      end: START + 100 * QUARTER,
      step: 0,
      ...given,
    });

  /** Total and ids of the list with the copies that a count counts. */
  const listed = async (outcome: EventOutcome): Promise<[number, string[]]> => {
    const { total_count, events } = await createEventReader(test_.clickhouse).search({
      ...SCOPE,
      external_customer_id: null,
      event_name: null,
      event_id: null,
      source: null,
      outcome,
      start: START,
      end: START + 100 * QUARTER - 1,
      property_filters: {},
      sort: 'timestamp',
      order: 'asc',
      cursor: null,
      limit: 50,
      offset: 0,
    });
    return [total_count, events.map(({ event_id }) => event_id)];
  };

  test('each event counts once, also when a replay stored it twice, in any partition of the log', async () => {
    const events = [
      raw(0),
      raw(0, { partition: 1, event_id: 'other' }), // the same position of another partition
      raw(1),
      raw(2, { event_id: 'e1', is_canonical: false }),
      raw(3),
    ];
    // Whole, then with other neighbours: rows that are stored twice are in two parts.
    await store.appendRawEvents(events);
    await store.appendRawEvents(events.slice(1, 4));
    // Two meters count the first, and it was written again.
    await store.appendUsage([usage(events[0]!), usage(events[0]!, 'meterv_2'), usage(events[2]!)]);
    await store.appendUsage([usage(events[0]!)]);
    // Two meters could not count the last.
    await store.appendRejected([rejection(events[4]!, 'meterv_3')]);
    await store.appendRejected([rejection(events[4]!, 'meterv_4')]);
    await store.appendRejected([rejection(events[4]!, 'meterv_3')]);

    expect(await listed('metered')).toEqual([2, ['e0', 'e1']]);
    expect(await listed('rejected')).toEqual([1, ['e3']]);
    expect(await listed('duplicate')).toEqual([1, ['e1']]);
    expect(await counts()).toEqual({
      accepted: 5,
      duplicates: 1,
      metered: 2,
      rejected: 1,
      slots: [{ slot: 0, accepted: 5 }],
    });
    expect((await counts({ step: 900 })).slots).toEqual([
      { slot: START, accepted: 2 },
      { slot: START + QUARTER, accepted: 1 },
      { slot: START + 2 * QUARTER, accepted: 1 },
      { slot: START + 3 * QUARTER, accepted: 1 },
    ]);
  });

  test('the start belongs to the range, the end does not; nothing gives zeros', async () => {
    const events = [raw(0), raw(1), raw(2)];
    await store.appendRawEvents(events);
    await store.appendUsage(events.map((row) => usage(row)));
    await store.appendRejected(events.map((row) => rejection(row, 'meterv_9')));
    const one = { accepted: 1, duplicates: 0, metered: 1, rejected: 1 };
    expect(await counts({ start: START + 1, end: START + 2 * QUARTER })).toMatchObject(one);
    expect(await counts({ start: START + QUARTER, end: START + QUARTER + 1 })).toMatchObject(one);
    const none = { accepted: 0, duplicates: 0, metered: 0, rejected: 0, slots: [] };
    expect(await counts({ start: START + 1, end: START + QUARTER })).toEqual(none);
    expect(await counts({ environment_id: 'env_2' })).toEqual(none);
  });

  test('voided events count as accepted and not as metered', async () => {
    const events = [raw(0), raw(1)];
    await store.appendRawEvents(events);
    await store.appendUsage(events.map((row) => usage(row)));
    await store.appendVoids([
      {
        ...SCOPE,
        target_partition: 0,
        target_position: events[0]!.position,
        partition: 0,
        position: packPosition(0, 99n, 0),
        meter_version_id: 'meterv_1',
        external_customer_id: 'acme',
        timestamp: events[0]!.timestamp,
        event_id: 'e0',
      },
    ]);
    expect(await counts()).toMatchObject({ accepted: 2, metered: 1 });
    expect(await listed('metered')).toEqual([1, ['e1']]);
  });

  test('positions are gathered one to one', async () => {
    const corners = [0n, 1n, 0x3ffn, 0x400n, 0xffffn];
    const positions = [0, 1, 255].flatMap((epoch) =>
      [0n, 1n, 63n, 64n, 0xffffn, 0xff_ffff_ffffn].flatMap((offset) =>
        corners.map((index) => packPosition(epoch, offset, Number(index))),
      ),
    );
    const rows = await test_.clickhouse.rows<[string, string, string]>({
      sql: `select count(), uniqExact(position), uniqExact(${GATHERED})
              from (select arrayJoin({positions:Array(UInt64)}) as position)`,
      params: { positions },
    });
    expect(rows).toEqual([['90', '90', '90']]);
  });

  describe('of many events', () => {
    const EVENTS = 300_000;
    const question = { ...SCOPE, start: START, end: START + 90 * 86_400_000, step: 0 };
    beforeEach(async () => {
      await test_.clickhouse.command({
        sql: `
          insert into events_raw_v1 (tenant_id, environment_id, event_name, external_customer_id, customer_id,
                 timestamp, event_id, source, properties, ingested_at, partition, position, is_canonical)
          select {tenant_id:String}, {environment_id:String}, 'call', concat('customer-', toString(number % 30)), '',
                 fromUnixTimestamp64Milli(toInt64(${START} + number * 20_000), 'UTC'), toString(number), '', '{}',
                 now64(3, 'UTC'), number % 4, bitShiftLeft(toUInt64(intDiv(number, 1000)), 16) + number % 1000,
                 number % 10 != 0
            from numbers(${EVENTS})`,
        params: SCOPE,
      });
    });

    test('reading them takes little memory', async () => {
      // A set of their hashes takes 48 MB, the bitmaps less than 4.
      const limits = { ...READING, memoryBytes: 24_000_000, threads: 1 };
      const [row] = await test_.clickhouse.rows(acceptedCounts(question), { limits });
      expect(row).toEqual([0, String(EVENTS), String(EVENTS / 10)]);
    });

    test('rejections: only the events of the given customers are read', async () => {
      const limits = { ...READING, rowsRead: 40_000 };
      const asked = () => test_.clickhouse.rows(rejectedCount(question), { limits });
      expect(await asked()).toEqual([['0']]);
      const row = raw(0, {
        external_customer_id: 'customer-7',
        partition: 3,
        position: packPosition(0, 0n, 7),
      });
      await store.appendRejected([rejection(row, 'meterv_1')]);
      expect(await asked()).toEqual([['1']]);
    });
  });
});
