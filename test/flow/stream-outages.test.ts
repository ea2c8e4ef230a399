import { connectClickHouse } from '../../clickhouse/client.ts';
import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import type { MeterVersion } from '../../domain/metering/usage.ts';
import type { RunningStream } from '../../stream/start-stream.ts';
import { startFaultProxy, type FaultProxy } from '../../bench/kill/fault-proxy.ts';
import {
  createMeteringWorld,
  eventually,
  usageEvent,
  type MeteringWorld,
} from '../support/metering-world.ts';
import { PATIENCE } from '../support/patience.ts';
import { readLog, recount, storedUsage } from '../support/usage-recount.ts';

/** ClickHouse that is down, slow, refuses writes or does not confirm them: the stream waits and loses nothing. */
describe('outages of ClickHouse', () => {
  let world: MeteringWorld;
  let proxy: FaultProxy;
  let version: MeterVersion;
  let stream: RunningStream;
  let closeClient: () => Promise<void>;
  beforeEach(async () => {
    world = await createMeteringWorld({ partitions: 2 });
    const url = new URL(world.clickhouseUrl);
    proxy = await startFaultProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    const clickhouse = connectClickHouse({
      url: url.toString(),
      applicationName: 'stream',
      patience: PATIENCE,
    });
    closeClient = () => clickhouse.close();
    version = await world.createMeter({ type: 'SUM', field: 'tokens' });
    stream = await world.startStream({}, createUsageStore(clickhouse));
    await sendSome(100);
    await world.untilPassed();
  });
  afterEach(async () => {
    proxy.pass();
    await world.close();
    await closeClient();
    await proxy.close();
  });

  let sent = 0;
  const sendSome = async (count: number) => {
    const events = Array.from({ length: count }, () =>
      usageEvent({
        event_id: `event-${sent++}`,
        timestamp: Date.UTC(2026, 9, 1) + sent * 900_000,
        properties: `{"tokens":${sent % 17}}`,
      }),
    );
    await world.send([...events, ...events.slice(0, count / 10)], { eventsPerRecord: 25 });
  };
  const watermarks = () =>
    world.pool`select partition, next_offset from stream_progress order by 1`;
  const expectExact = async () => {
    await world.untilPassed();
    const expected = recount(await readLog(world.pool), version);
    expect(await storedUsage(world.clickhouse, version.id)).toEqual(expected);
  };
  /** The fault lasts while events come in; the watermarks do not move; then it ends. */
  const duringFault = async (begin: () => unknown, end: () => unknown) => {
    const before = await watermarks();
    await begin();
    await sendSome(200);
    await eventually(async () => expect(stream.isFlowing()).toBe(false));
    await sendSome(200);
    expect(await watermarks()).toEqual(before);
    await end();
    await expectExact();
    await eventually(async () => expect(stream.isFlowing()).toBe(true));
  };
  const command = (sql: string) => world.clickhouse.command({ sql, params: {} });

  test('down', () =>
    duringFault(
      () => proxy.refuse(),
      () => proxy.pass(),
    ));

  test('slow: an answer that takes seconds is waited for', async () => {
    proxy.hang();
    await sendSome(200);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    proxy.pass();
    await expectExact();
  });

  test('the connection is cut when the insert has been made', async () => {
    for (let round = 0; round < 3; round++) {
      proxy.cutAnswers();
      await sendSome(100);
      await eventually(async () => expect(stream.isFlowing()).toBe(false));
      proxy.pass();
      await world.untilPassed();
    }
    await expectExact();
  });

  test.each(['events_raw_v1', 'event_places_v1', 'event_index_v1', 'meter_usage_v1'])(
    'no writes into %s, while the others take them',
    async (table) =>
      duringFault(
        () => command(`rename table ${table} to ${table}_away`),
        () => command(`rename table ${table}_away to ${table}`),
      ),
  );

  test('a view that throws: rows may exist, the retry writes their marks', async () => {
    await command(`
      create materialized view broken_mv to usage_touched_v1 as
      select tenant_id, environment_id, external_customer_id, meter_version_id, 'DAY' as bucket_size,
             toDateTime(0, 'UTC') as bucket_start, partition, position, now64(3, 'UTC') as marked_at
        from meter_usage_v1 where throwIf(position >= 0, 'broken on purpose') = 0`);
    await duringFault(
      () => {},
      () => command('drop view broken_mv'),
    );
    const [unmarked] = await world.clickhouse.rows<[string]>({
      sql: `select count() from meter_usage_v1 as row
              left join (select bucket_start, partition, max(position) as marked
                           from usage_touched_v1 where bucket_size = '15MIN'
                          group by bucket_start, partition) as mark
                on mark.partition = row.partition and mark.bucket_start = toDateTime(row.timestamp, 'UTC')
             where marked < position or bucket_start = 0`,
      params: {},
    });
    expect(unmarked).toEqual(['0']);
  });

  test('a stream that is drained during the outage gives up, and the next one continues', async () => {
    const before = await watermarks();
    proxy.refuse();
    await sendSome(200);
    await eventually(async () => expect(stream.isFlowing()).toBe(false));
    await stream.close();
    expect(await watermarks()).toEqual(before);
    await world.startStream();
    await expectExact();
  });
});
