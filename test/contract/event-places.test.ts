import type { ClickHouseQuery } from '../../clickhouse/client.ts';
import { createEventReader } from '../../clickhouse/reading/event-reader.ts';
import { migrateClickHouse } from '../../clickhouse/migrate.ts';
import {
  canonicalCopy,
  countedCopies,
  eventCopies,
} from '../../clickhouse/queries/event-copies.ts';
import { rawEventAt } from '../../clickhouse/queries/raw-events.ts';
import { ANALYTICS, READING } from '../../clickhouse/query-limits.ts';
import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';

const SCOPE = { tenant_id: 'tenant_1', environment_id: 'env_1' };
const START = Date.UTC(2026, 0, 1);
const EVENTS = 200_000;
const CUSTOMERS = 100;
/** A granule or two of each table, of 200,000 rows in either. */
const ROWS_OF_A_LOOK_UP = 20_000;

/** Events spread over customers and ninety days; number `n` has the id `event-n`. */
async function writeEvents({ clickhouse }: TestClickHouse): Promise<void> {
  await clickhouse.command({
    sql: `
      insert into events_raw_v1 (tenant_id, environment_id, event_name, external_customer_id, customer_id,
             timestamp, event_id, source, properties, ingested_at, partition, position, is_canonical)
      select {tenant_id:String}, {environment_id:String}, 'call', concat('customer-', toString(number % ${CUSTOMERS})), '',
             fromUnixTimestamp64Milli(toInt64(${START} + number * ${(90 * 86_400_000) / EVENTS}), 'UTC'),
             concat('event-', toString(number)), '', '{}', now64(3, 'UTC'), number % 4, number, true
        from numbers(${EVENTS})`,
    params: SCOPE,
  });
}

describe('looking for events by id', () => {
  let test_: TestClickHouse;
  beforeAll(async () => {
    test_ = await createTestClickHouse();
    await writeEvents(test_);
  });
  afterAll(() => test_.drop());

  const id = { ...SCOPE, event_id: 'event-123456' };
  const looks: [string, ClickHouseQuery][] = [
    ['copies', eventCopies(id, 50)],
    ['the copy that counts', canonicalCopy(id)],
    ['the copy at a position', rawEventAt({ ...id, position: 123_456n })],
    ['copies of several', countedCopies({ ...SCOPE, event_ids: ['event-123456', 'none'] })],
  ];
  test.each(looks)('%s: reads where they lie, not all events', async (_, query) => {
    const limits = { ...READING, rowsRead: ROWS_OF_A_LOOK_UP };
    const rows = await test_.clickhouse.rows<unknown[]>(query, { limits });
    expect(rows.map((cells) => cells[6])).toEqual(['event-123456']);
  });

  test('a list by id: the same, and a list of everything reaches the limit', async () => {
    const reader = createEventReader(test_.clickhouse, {
      analytics: { ...ANALYTICS, rowsRead: ROWS_OF_A_LOOK_UP },
    });
    const list = (event_id: string | null) =>
      reader.search({
        ...SCOPE,
        external_customer_id: null,
        event_name: null,
        event_id,
        source: null,
        outcome: null,
        start: START,
        end: START + 90 * 86_400_000,
        property_filters: {},
        sort: 'timestamp',
        order: 'desc',
        cursor: null,
        limit: 50,
        offset: 0,
      });
    expect(await list('event-77')).toMatchObject({
      total_count: 1,
      events: [{ event_id: 'event-77', external_customer_id: 'customer-77' }],
    });
    expect((await list('event-200000')).events).toEqual([]);
    await expect(list(null)).rejects.toMatchObject({ code: 'usage_query_too_large' });
  });
});

test('events that were stored before the table of places existed are found', async () => {
  const test_ = await createTestClickHouse();
  const run = (sql: string) => test_.clickhouse.command({ sql, params: {} });
  try {
    // The state of an installation without the migration.
    await run('drop view event_places_mv_v1');
    await run('drop table event_places_v1');
    await run(`alter table schema_migrations delete where name = '0003_event_places.sql'
               settings mutations_sync = 2`);
    await run('alter table events_raw_v1 add index event_id_bloom event_id type bloom_filter');
    await writeEvents(test_);

    expect(await migrateClickHouse(test_.clickhouse)).toEqual(['0003_event_places.sql']);
    const reader = createEventReader(test_.clickhouse);
    const { canonical } = await reader.history({ ...SCOPE, event_id: 'event-5' }, 50);
    expect(canonical).toMatchObject({ event_id: 'event-5', position: 5n });
    expect(await migrateClickHouse(test_.clickhouse)).toEqual([]);
  } finally {
    await test_.drop();
  }
});
