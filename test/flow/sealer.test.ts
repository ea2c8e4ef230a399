import { createUsageReader } from '../../clickhouse/reading/usage-reader.ts';
import { seededRandom } from '../../bench/random.ts';
import { answerUsage } from '../../domain/metering/aggregate.ts';
import type { MeterVersion, UsageAnswer, UsageQuery } from '../../domain/metering/usage.ts';
import { readUsageBounds, requestRebuild } from '../../postgres/tables/seals.ts';
import { verifyBuckets } from '../../stream/verify-buckets.ts';
import {
  createMeteringWorld,
  eventually,
  SCOPE,
  usageEvent,
  type MeteringWorld,
} from '../support/metering-world.ts';
import { startStreamChild } from '../support/stream-child.ts';
import { meteredUsage, readLog, recount } from '../support/usage-recount.ts';

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
const random = seededRandom(SEED);

const quantities = (answers: ReadonlyMap<string, UsageAnswer>): string[] =>
  [...answers.values()].map(({ key, rows }) => `${key} ${rows[0]!.quantity}`).sort();

describe(`buckets and seals (seed ${SEED})`, () => {
  let world: MeteringWorld;
  let versions: MeterVersion[];
  beforeEach(async () => {
    world = await createMeteringWorld({ partitions: 2, leaseMs: 400 });
    versions = [
      await world.createMeter({ type: 'COUNT' }),
      await world.createMeter({ type: 'SUM', field: 'tokens', group_by: 'region' }),
      await world.createMeter({ type: 'LATEST', field: 'tokens' }),
      await world.createMeter({ type: 'COUNT_UNIQUE', field: 'user' }),
    ];
  });
  afterEach(() => world.close());

  let sent = 0;
  /** Three past days of five customers. */
  const sendSome = (count: number) =>
    world.send(
      Array.from({ length: count }, () =>
        usageEvent({
          event_id: `event-${random.chance(0.1) ? random.integer(0, sent) : sent++}`,
          external_customer_id: `customer-${random.integer(0, 4)}`,
          timestamp: Date.UTC(2026, 9, 1) + random.integer(0, 3 * 86_400_000 - 1),
          properties: JSON.stringify({
            // Never 0, which is what a bucket without rows would answer.
            tokens: random.integer(-20, 500) || 1,
            region: random.pick(['eu', 'us']),
            user: `user-${random.integer(0, 60)}`,
          }),
        }),
      ),
      { eventsPerRecord: 25 },
    );
  /** Removes the quiet time for which the sealer waits, and waits until every bucket is sealed. */
  const sealEverything = async () => {
    await requestRebuild(world.pool);
    await eventually(async () => {
      const [row] = await world.pool<{ pending: boolean }[]>`
        select rebuild_requested_at is not null as pending from sealer`;
      expect(row!.pending).toBe(false);
    });
  };
  const untilComplete = () =>
    eventually(async () => {
      const [row] = await world.pool<{ count: string }[]>`
        select count(*) from meter_versions where backfill_state <> 'complete'`;
      expect(row!.count).toBe('0');
    });
  const reader = () =>
    createUsageReader({
      clickhouse: world.clickhouse,
      readBounds: (ids) => readUsageBounds(world.pool, ids),
      readDimensions: async () =>
        new Map(versions.map((version) => [version.id, version.dimensions] as const)),
    });
  const queries = (): UsageQuery[] =>
    versions.flatMap((version) =>
      [null, ['customer-1'], ['customer-2', 'customer-3']].map((customers, n) => ({
        key: `${version.id} ${n}`,
        ...SCOPE,
        meter_version_id: version.id,
        aggregation: version.spec.aggregation.type,
        multiplier: null,
        reset_usage: 'BILLING_PERIOD' as const,
        external_customer_ids: customers,
        start: '2026-10-01T06:30:00.000Z',
        end: '2026-10-03T18:07:00.000Z',
        filter_values: {},
        group_by: [],
        window: null,
      })),
    );
  const read = async () => {
    const { answers } = await reader().read(queries());
    return quantities(answers);
  };
  /** The pure aggregator over the log, which knows nothing of rows and buckets. */
  const aggregated = async () => {
    const log = await readLog(world.pool);
    const usage = versions.flatMap((version) => meteredUsage(log, version));
    const { answers } = answerUsage(queries(), usage);
    return quantities(answers);
  };
  const counted = async () => {
    const log = await readLog(world.pool);
    return recount(log, versions[0]!).length;
  };
  const bucketRows = async () => {
    const [row] = await world.clickhouse.rows<[string, string, string]>({
      sql: `select (select count() from usage_per_15m_v1 final), (select count() from usage_per_day_v1 final),
                   (select sum(event_count) from usage_per_day_v1 final where meter_version_id = {id:String})`,
      params: { id: versions[0]!.id },
    });
    return row!.map(Number);
  };

  test('after a rebuild they answer the same as before, and the same as the rows alone', async () => {
    await world.startStream();
    await sendSome(1_500);
    await world.untilPassed();
    await untilComplete();
    const fromRows = await read();
    expect(fromRows.every((line) => !line.endsWith(' 0'))).toBe(true);
    await sealEverything();
    const [quarters, days, events] = await bucketRows();
    expect([quarters! > 100, days! > 40, events]).toEqual([true, true, await counted()]);
    expect(await read()).toEqual(fromRows);

    for (const table of ['usage_per_15m_v1', 'usage_per_day_v1', 'usage_uniques_per_day_v1'])
      await world.clickhouse.command({ sql: `truncate table ${table}`, params: {} });
    expect(await read()).toEqual(fromRows);
    await sealEverything();
    expect((await bucketRows())[2]).toBe(await counted());
    expect(await read()).toEqual(fromRows);
  });

  test('late events make a bucket unusable until it is sealed again', async () => {
    await world.startStream();
    await sendSome(400);
    await world.untilPassed();
    await untilComplete();
    await sealEverything();
    await sendSome(400);
    await world.untilPassed();
    const withLate = await read();
    await sealEverything();
    expect(await read()).toEqual(withLate);
    expect((await bucketRows())[2]).toBe(await counted());
  });

  test('a bucket row that was corrupted on purpose is found, and a rebuild repairs it', async () => {
    await world.startStream();
    await sendSome(400);
    await world.untilPassed();
    await untilComplete();
    await sealEverything();
    const right = await read();
    const clean = await verifyBuckets(world);
    expect(clean.checked).toBeGreaterThan(100);
    expect(clean.differences).toEqual([]);

    // The same key and seal, another sum: of two such rows the later one wins.
    await world.clickhouse.command({
      sql: `insert into usage_per_day_v1
            select * replace (sum + 1 as sum) from usage_per_day_v1 final
             where meter_version_id = {id:String} order by external_customer_id, bucket_start limit 1`,
      params: { id: versions[1]!.id },
    });
    const { differences } = await verifyBuckets(world);
    expect(differences.length).toBe(1);
    expect(differences[0]).toMatchObject({ bucket_size: 'DAY' });
    expect(differences[0]!.row[3]).toBe(versions[1]!.id);
    expect(
      (await verifyBuckets(world, (bucket) => bucket.bucket_size === '15MIN')).differences,
    ).toEqual([]);
    await sealEverything();
    expect((await verifyBuckets(world)).differences).toEqual([]);
    expect(await read()).toEqual(right);
  });

  test('a sealer that is killed between computing and recording leaves no bucket that is used', async () => {
    const stream = await world.startStream();
    await sendSome(400);
    await world.untilPassed();
    await untilComplete();
    await stream.close();
    const right = await read();
    for (const failpoint of ['sealer.after_recompute', 'sealer.after_record']) {
      await requestRebuild(world.pool);
      const child = await startStreamChild(world, { leaseMs: 400, failpoints: failpoint });
      expect(await child.exited).toBe('SIGKILL');
      expect(await read()).toEqual(right);
    }
    await world.startStream();
    await sendSome(200);
    await world.untilPassed();
    const later = await read();
    await sealEverything();
    expect(await read()).toEqual(later);
    expect((await verifyBuckets(world)).differences).toEqual([]);
  });

  test('the reader answers the same as the pure aggregator over the log', async () => {
    await world.startStream();
    await sendSome(800);
    await world.untilPassed();
    await untilComplete();
    await sealEverything();
    await sendSome(300);
    await world.untilPassed();
    expect(await read()).toEqual(await aggregated());
  });
});
