import { generateEvents, watermarksBeyond, type Generated } from '../../bench/scale/generate.ts';
import type { ClickHouse } from '../../clickhouse/client.ts';
import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';
import {
  createMeteringWorld,
  SCOPE,
  usageEvent,
  type MeteringWorld,
} from '../support/metering-world.ts';
import type { MeterVersion } from '../../domain/metering/usage.ts';

const PARTITIONS = 2;
const EVENTS = 3_000;
const DAY_MS = 86_400_000;

/** Rows without their places in the log, which depend on how events are cut into records. */
const TABLES: Readonly<Record<string, string>> = {
  events_raw_v1: `select tenant_id, environment_id, event_name, external_customer_id, customer_id, timestamp, event_id,
      source, properties, ingested_at, partition, is_canonical from events_raw_v1 final`,
  event_index_v1: 'select slot, slot_group from event_index_v1',
  meter_usage_v1: `select tenant_id, environment_id, external_customer_id, meter_version_id, timestamp, partition,
      value, unique_hash, dimensions, source from meter_usage_v1 final`,
  usage_touched_v1: `select distinct tenant_id, environment_id, external_customer_id, meter_version_id, bucket_size,
      bucket_start, partition from usage_touched_v1`,
};
/** The order of the copies of a partition, as positions make it. */
const ORDER =
  'select partition, event_id, ingested_at from events_raw_v1 final order by partition, position';

describe('events generated for the table of sizes', () => {
  let world: MeteringWorld;
  let version: MeterVersion;
  let generated: TestClickHouse;
  let made: Generated;
  beforeAll(async () => {
    world = await createMeteringWorld({ partitions: PARTITIONS });
    version = await world.createMeter({
      event_name: 'llm.request',
      type: 'SUM',
      field: 'tokens',
      group_by: 'region',
    });
    generated = await createTestClickHouse();
    made = {
      scope: SCOPE,
      meterVersionId: version.id,
      partitions: PARTITIONS,
      start: Date.UTC(2026, 8, 1),
      span: 10 * DAY_MS,
      events: EVENTS,
    };
    await generateEvents(generated.clickhouse, made, 0, EVENTS);
  });
  afterAll(async () => {
    await world.close();
    await generated.drop();
  });

  const rowsOf = (clickhouse: ClickHouse, sql: string) =>
    clickhouse.rows<unknown[]>({ sql, params: {} });

  test('are stored as the stream stores the same events', async () => {
    const copies = await rowsOf(
      generated.clickhouse,
      `select event_name, external_customer_id, customer_id, toUnixTimestamp64Milli(timestamp), event_id, source,
              properties, toUnixTimestamp64Milli(ingested_at)
         from events_raw_v1 order by position`,
    );
    expect(copies).toHaveLength(EVENTS);
    const stream = await world.startStream();
    await world.send(
      copies.map((cells) => {
        const [
          event_name,
          external_customer_id,
          customer_id,
          at,
          event_id,
          source,
          properties,
          ingested,
        ] = cells as string[];
        return usageEvent({
          event_name, external_customer_id, customer_id, timestamp: Number(at), event_id: event_id!,
          source, properties, ingested_at: Number(ingested),
        }); // prettier-ignore
      }),
      { eventsPerRecord: 100 },
    );
    await world.untilPassed();
    await stream.close();
    for (const sql of [...Object.values(TABLES).map((table) => `${table} order by all`), ORDER]) {
      const stored = await rowsOf(world.clickhouse, sql);
      expect(stored.length).toBeGreaterThan(0);
      expect(await rowsOf(generated.clickhouse, sql)).toEqual(stored);
    }
  });

  test('of an id with two copies the smaller position is in the index; the watermarks are beyond all', async () => {
    const [row] = await rowsOf(
      generated.clickhouse,
      `select countIf(not is_canonical), uniqExact(event_id), count() from events_raw_v1`,
    );
    expect(row).toEqual([String(EVENTS / 100), String(EVENTS - EVENTS / 100), String(EVENTS)]);
    const [positions] = await rowsOf(
      generated.clickhouse,
      `select arraySort(groupArray(position)) = (select arraySort(groupArray(position)) from events_raw_v1 where is_canonical),
              max(position) from event_index_v1`,
    );
    expect(Boolean(positions![0])).toBe(true);
    const bounds = watermarksBeyond(PARTITIONS, EVENTS);
    expect(BigInt(String(positions![1]))).toBeLessThan(bounds[0]!);
  });
});
