import { seededRandom } from '../../bench/random.ts';
import type { MeterVersion } from '../../domain/metering/usage.ts';
import { packPosition } from '../../domain/metering/position.ts';
import type { MeterVersionRecord } from '../../postgres/tables/meter-versions.ts';
import {
  createMeteringWorld,
  eventually,
  usageEvent,
  type MeteringWorld,
} from '../support/metering-world.ts';
import { startStreamChild } from '../support/stream-child.ts';
import { readLog, recount, storedUsage } from '../support/usage-recount.ts';

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
const random = seededRandom(SEED);

describe(`meter versions under load (seed ${SEED})`, () => {
  let world: MeteringWorld;
  beforeEach(async () => {
    world = await createMeteringWorld({ partitions: 2, leaseMs: 400 });
  });
  afterEach(() => world.close());

  let sent = 0;
  const sendSome = (count: number) =>
    world.send(
      Array.from({ length: count }, () =>
        usageEvent({
          event_id: `event-${random.chance(0.1) ? random.integer(0, sent) : sent++}`,
          external_customer_id: `customer-${random.integer(0, 4)}`,
          timestamp: Date.UTC(2026, 9, 1) + random.integer(0, 3_000_000) * 1_000,
          properties: JSON.stringify({
            tokens: random.chance(0.1) ? 'none' : random.integer(0, 500),
            region: random.pick(['eu', 'us']),
          }),
        }),
      ),
      { eventsPerRecord: 20 },
    );
  const version = async (id: string): Promise<MeterVersionRecord> => {
    const [row] = await world.pool<
      MeterVersionRecord[]
    >`select * from meter_versions where id = ${id}`;
    return row!;
  };
  const untilComplete = (...versions: MeterVersion[]) =>
    eventually(async () => {
      for (const { id } of versions) expect((await version(id)).backfill_state).toBe('complete');
    });
  const liveUntil = async (id: string) => {
    const rows = await world.pool<{ partition: number; live_until: string }[]>`
      select partition, live_until from meter_live where meter_version_id = ${id}`;
    return new Map(
      rows.map((row) => [row.partition, packPosition(0, BigInt(row.live_until), 0)] as const),
    );
  };

  test('a meter that is created on an empty, idle log is complete at once', async () => {
    await world.startStream();
    const made = await world.createMeter({ type: 'COUNT' });
    await untilComplete(made);
    expect(await version(made.id)).toMatchObject({
      backfill_total: '0',
      backfill_events: '0',
      backfill_rejected: '0',
    });
    const live =
      await world.pool`select partition, live_from, live_until from meter_live order by 1`;
    expect(live).toEqual([
      { partition: 0, live_from: '0', live_until: null },
      { partition: 1, live_from: '0', live_until: null },
    ]);
  });

  test('a meter that is created before the first start of the stream counts from the first event', async () => {
    const made = await world.createMeter({ type: 'SUM', field: 'tokens' });
    await sendSome(300);
    await world.startStream();
    await world.untilPassed();
    await untilComplete(made);
    const expected = recount(await readLog(world.pool), made);
    expect(await storedUsage(world.clickhouse, made.id)).toEqual(expected);
  });

  test('meters are created, edited and ended during ingestion, with kills: usage equals a recount', async () => {
    const first = await world.createMeter({ type: 'COUNT', meter_id: 'meter_edited' });
    const versions = [first];
    const crashes =
      'backfill.after_chunk:0.3,backfill.after_replay:0.2,backfill.after_recount:0.3,stream.after_usage:0.02';
    let stopped = false;
    const sending = (async () => {
      while (!stopped) {
        await sendSome(60);
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
    })();
    // One child at a time, started again when it has killed itself.
    const supervising = (async () => {
      while (!stopped) {
        const child = await startStreamChild(world, {
          leaseMs: 400,
          failpoints: crashes,
          batchEvents: random.pick([60, 700]),
        });
        while (child.isAlive() && !stopped) await new Promise((resolve) => setTimeout(resolve, 50));
        await child.kill();
      }
    })();
    await eventually(async () => {
      const [row] = await world.pool<{ passed: string }[]>`
        select sum(next_offset) as passed from stream_progress`;
      expect(Number(row!.passed)).toBeGreaterThan(20);
    });

    versions.push(await world.createMeter({ type: 'SUM', field: 'tokens' }));
    await new Promise((resolve) => setTimeout(resolve, 300));
    versions.push(
      await world.createMeter({
        type: 'SUM',
        field: 'tokens',
        meter_id: 'meter_edited',
        filters: [{ key: 'region', values: ['eu'] }],
        group_by: 'region',
      }),
    );
    await world.endMeter(first.id);
    // Every partition notices the end while events come in, however often its reader is killed meanwhile.
    await eventually(async () => {
      const rows = await world.pool`
        select 1 from meter_live where meter_version_id = ${first.id} and live_until is not null`;
      expect(rows).toHaveLength(2);
    });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    stopped = true;
    await Promise.all([sending, supervising]);
    await world.startStream();
    await world.untilPassed();
    await untilComplete(...versions);

    const log = await readLog(world.pool);
    for (const made of versions.slice(1)) {
      const expected = recount(log, made);
      expect(expected.length).toBeGreaterThan(50);
      expect(await storedUsage(world.clickhouse, made.id)).toEqual(expected);
    }
    // Of the version that ended, exactly the events before the batch that noticed it count.
    const ends = await liveUntil(first.id);
    const countsIn = (row: string) => {
      const [, partition, position] = /@(\d+):(\d+)$/.exec(row)!;
      return BigInt(position!) < ends.get(Number(partition))!;
    };
    const stored = await storedUsage(world.clickhouse, first.id);
    expect(stored.filter(countsIn)).toEqual(recount(log, first).filter(countsIn));
  });

  test('the backfill reports how many events it replayed and which it could not meter', async () => {
    await world.startStream();
    await sendSome(500);
    await world.untilPassed();
    const made = await world.createMeter({ type: 'SUM', field: 'tokens' });
    await untilComplete(made);
    const log = await readLog(world.pool);
    const everyEvent = recount(log, { ...made, spec: { ...made.spec, aggregation: COUNT } });
    const record = await version(made.id);
    expect(Number(record.backfill_events)).toBe(everyEvent.length);
    expect(Number(record.backfill_total)).toBe(everyEvent.length);
    expect(Number(record.backfill_rejected)).toBe(everyEvent.length - recount(log, made).length);
    expect(Number(record.backfill_rejected)).toBeGreaterThan(0);
  });
});

const COUNT: MeterVersion['spec']['aggregation'] = {
  type: 'COUNT',
  field: null,
  expression: null,
  multiplier: null,
  group_by: null,
  bucket_size: null,
};
