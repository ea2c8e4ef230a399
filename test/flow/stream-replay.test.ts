import { openPostgresEventLog, type PostgresEventLog } from '../../platform/event-log/postgres.ts';
import { createLogger } from '../../platform/log.ts';
import { readUsageBounds, UsageUnderRepair } from '../../postgres/tables/seals.ts';
import { moveProgress, takePartition } from '../../postgres/tables/stream-progress.ts';
import { requestReplay } from '../../postgres/tables/stream-replays.ts';
import {
  createMeteringWorld,
  eventually,
  recordsOf,
  usageEvent,
  type MeteringWorld,
} from '../support/metering-world.ts';
import { readLog, recount, storedUsage } from '../support/usage-recount.ts';

let world: MeteringWorld;
beforeEach(async () => {
  world = await createMeteringWorld({ partitions: 2, leaseMs: 400 });
});
afterEach(() => world.close());

const events = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) =>
    usageEvent({ event_id: `event-${from + n}`, properties: `{"tokens":${n}}` }),
  );
/** The log as another process opens it, an edge or `maintain`. */
const anotherLog = (): Promise<PostgresEventLog> =>
  openPostgresEventLog({ url: world.postgresUrl, logger: createLogger('silent', 'test') });
const append = (log: PostgresEventLog, list: ReturnType<typeof events>) =>
  log.append(recordsOf(list, log.partitions, 20));
const progress = () => world.pool`select partition, next_offset from stream_progress order by 1`;

describe('the machine under ClickHouse stopped uncleanly', () => {
  test('processed records are replayed; the watermark stays, and usage is unavailable until then', async () => {
    const ended = await world.createMeter({ type: 'COUNT' });
    const sum = await world.createMeter({ type: 'SUM', field: 'tokens' });
    const stream = await world.startStream();
    await world.send(events(0, 200), { eventsPerRecord: 10 });
    await world.untilPassed();
    await world.endMeter(ended.id);
    await eventually(async () => {
      const [row] = await world.pool`select count(*) from meter_live where live_until is not null`;
      expect(row).toEqual({ count: '2' });
    });
    await world.send([...events(200, 200), ...events(0, 50)], { eventsPerRecord: 10 });
    await world.untilPassed();
    await stream.close();
    const log = await readLog(world.pool);
    const before = await progress();
    const counted = await storedUsage(world.clickhouse, ended.id);

    // Nothing of it had reached the disk.
    for (const table of ['events_raw_v1', 'event_index_v1', 'meter_usage_v1', 'usage_touched_v1'])
      await world.clickhouse.command({ sql: `truncate table ${table}`, params: {} });
    expect(await requestReplay(world.pool)).toBe(2);
    await expect(readUsageBounds(world.pool, [])).rejects.toThrow(UsageUnderRepair);

    await world.startStream({ batchEvents: 70 });
    await eventually(async () => void (await readUsageBounds(world.pool, [])));
    expect(await progress()).toEqual(before);
    expect(await storedUsage(world.clickhouse, sum.id)).toEqual(recount(log, sum));
    // A version that ended meanwhile gets its rows back, and rows beyond its end do not count anyway.
    expect(await storedUsage(world.clickhouse, ended.id)).toEqual(expect.arrayContaining(counted));
    await world.send(events(100, 300), { eventsPerRecord: 10 });
    await world.untilPassed();
    expect(await storedUsage(world.clickhouse, sum.id)).toEqual(
      recount(await readLog(world.pool), sum),
    );
  });

  test('without records to replay nothing waits', async () => {
    await world.startStream();
    await eventually(async () => expect((await progress()).length).toBe(2));
    expect(await requestReplay(world.pool)).toBe(0);
    await readUsageBounds(world.pool, []);
  });
});

describe('the log is resized while events come in', () => {
  test('copies before and after the resize are one event', async () => {
    const version = await world.createMeter({ type: 'SUM', field: 'tokens' });
    await world.startStream();
    await world.send(events(0, 300), { eventsPerRecord: 20 });
    expect(await world.eventLog.resize(5)).toBe(1);
    const later = events(150, 300).map((event) => ({ ...event, properties: '{"tokens":7777}' }));
    await world.send(later, { eventsPerRecord: 20 });
    await world.untilPassed();
    const late = await world.createMeter({ type: 'COUNT' });
    await world.send(events(440, 30), { eventsPerRecord: 20 });
    await world.untilPassed();
    const log = await readLog(world.pool);
    expect(new Set(log.map(({ position }) => position >> 56n))).toEqual(new Set([0n, 1n]));
    expect(recount(log, version).length).toBe(470);
    expect(await storedUsage(world.clickhouse, version.id)).toEqual(recount(log, version));
    await eventually(async () => {
      expect(await storedUsage(world.clickhouse, late.id)).toEqual(recount(log, late));
    });
  });

  test('by another process: ids of the old epoch that are resent count once', async () => {
    const version = await world.createMeter({ type: 'COUNT' });
    const stream = await world.startStream();
    const other = await anotherLog();
    await append(other, events(0, 400));
    await world.untilPassed();
    expect(await other.resize(12)).toBe(1);
    await eventually(async () => {
      expect(stream.assigned()).toHaveLength(12);
      expect(stream.filtersCover()).toBe(true);
    });
    await append(other, events(0, 451));
    await world.untilPassed();
    expect(await storedUsage(world.clickhouse, version.id)).toHaveLength(451);
    await other.close();
  });

  test('the old epoch was not drained when the stream started: its filter is the old one', async () => {
    const version = await world.createMeter({ type: 'COUNT' });
    const other = await anotherLog();
    const first = await world.startStream();
    await append(other, events(0, 400));
    await world.untilPassed();
    await first.close();
    // Records that the stream finds in the old epoch when it starts after the resize.
    await append(other, events(0, 440));
    expect(await other.resize(12)).toBe(1);
    await append(other, events(0, 440));
    const fresh = await openPostgresEventLog({
      url: world.postgresUrl,
      logger: createLogger('silent', 'test'),
      leaseMs: 400,
    });
    await world.startStream({}, world.store, fresh);
    await world.untilPassed();
    expect(await storedUsage(world.clickhouse, version.id)).toHaveLength(440);
    await Promise.all([other.close(), fresh.close()]);
  });

  test('an unclean stop after it: drained epochs are replayed too, then usage is available', async () => {
    const version = await world.createMeter({ type: 'COUNT' });
    const stream = await world.startStream();
    await world.send(events(0, 100), { eventsPerRecord: 10 });
    await world.eventLog.resize(3);
    await world.send(events(0, 150), { eventsPerRecord: 10 });
    await world.untilPassed();
    await stream.close();
    expect(await requestReplay(world.pool)).toBe(5);
    await world.startStream();
    await eventually(async () => void (await readUsageBounds(world.pool, [])));
    await world.send(events(100, 60), { eventsPerRecord: 10 });
    await world.untilPassed();
    expect(await storedUsage(world.clickhouse, version.id)).toHaveLength(160);
  });

  test('a kill between the progress and the commit of the log leaves no epoch undrained', async () => {
    const version = await world.createMeter({ type: 'COUNT' });
    const stream = await world.startStream();
    await world.send(events(0, 100), { eventsPerRecord: 10 });
    await world.untilPassed();
    await stream.close();
    await world.pool`update log_commits set "offset" = "offset" - 1`;
    await world.eventLog.resize(3);
    await world.send(events(50, 100), { eventsPerRecord: 10 });
    await world.startStream();
    await world.untilPassed();
    expect(await storedUsage(world.clickhouse, version.id)).toHaveLength(150);
  });

  test('by another process: a meter that is created afterwards becomes complete', async () => {
    const stream = await world.startStream();
    const other = await anotherLog();
    await append(other, events(0, 60));
    await world.untilPassed();
    expect(await other.resize(3)).toBe(1);
    await eventually(async () => expect(stream.assigned()).toHaveLength(3));
    await append(other, events(40, 60));
    const late = await world.createMeter({ type: 'COUNT' });
    await eventually(async () => {
      const [row] =
        await world.pool`select backfill_state from meter_versions where id = ${late.id}`;
      expect(row).toEqual({ backfill_state: 'complete' });
    });
    expect(await storedUsage(world.clickhouse, late.id)).toHaveLength(100);
    await other.close();
  });

  test('partitions of the next epoch are not evaluated with an older catalog', async () => {
    const { pool } = world;
    const at = { epoch: 0, partition: 0 };
    const { generation } = await takePartition(pool, at);
    await moveProgress(pool, [{ ...at, generation, from: 0n, to: 5n, catalogVersion: 7 }]);
    const next = await takePartition(pool, { epoch: 1, partition: 3 });
    expect(next).toMatchObject({ catalogVersion: 0, catalogFloor: 7 });
  });

  test('a consumer does not start where records left the log unprocessed', async () => {
    await world.send(events(0, 100), { eventsPerRecord: 10 });
    for (const { partition, next } of await world.eventLog.positions('nobody'))
      await world.eventLog.truncate(partition, next - 1n);
    const stream = await world.startStream();
    // Each attempt to start is a generation; after two of them the first has failed.
    await eventually(async () => {
      const tried = await world.pool`select 1 from stream_progress where generation >= 2`;
      expect(tried).toHaveLength(2);
    });
    expect(await progress()).toEqual([
      { partition: 0, next_offset: '0' },
      { partition: 1, next_offset: '0' },
    ]);
    await stream.close();
  });
});
