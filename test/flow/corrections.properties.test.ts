import { seededRandom } from '../../bench/random.ts';
import { createUsageReader } from '../../clickhouse/reading/usage-reader.ts';
import { answerUsage } from '../../domain/metering/aggregate.ts';
import { canonicalUsage, type LoggedEvent } from '../../domain/metering/canonical-usage.ts';
import type { WatermarkVector } from '../../domain/metering/position.ts';
import type { AggregationType, MeterVersion, UsageQuery } from '../../domain/metering/usage.ts';
import { readDimensions } from '../../postgres/tables/meter-versions.ts';
import { readUsageBounds } from '../../postgres/tables/seals.ts';
import { readWatermarks } from '../../postgres/tables/watermarks.ts';
import type { UsageEvent } from '../../schemas/events/usage-event.ts';
import {
  createMeteringWorld,
  eventually,
  usageEvent,
  type MeteringWorld,
} from '../support/metering-world.ts';
import { readLog } from '../support/usage-recount.ts';

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 9, 1);

/**
 * Events, copies, voids, voids of events that never arrive or arrive later, in any order and any batches, read
 * by the production reader after restarts: always what the pure aggregator makes of the log (metering 6).
 */
describe(`random corrections against the aggregator (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  let world: MeteringWorld;
  beforeAll(async () => {
    world = await createMeteringWorld({ partitions: 2 });
  });
  afterAll(() => world.close());

  const customers = ['customer-0', 'customer-1', 'customer-2'];
  const entry = (): UsageEvent => {
    const event_id = `id-${random.integer(0, 150)}`;
    if (random.chance(0.2)) return usageEvent({ kind: 'void', event_id, event_name: '' });
    return usageEvent({
      event_id,
      external_customer_id: random.pick(customers),
      timestamp: START + random.integer(0, 9 * DAY_MS),
      properties: JSON.stringify({
        v: `${random.integer(-300, 300)}.${random.integer(0, 99)}`,
        user: `u-${random.integer(0, 9)}`,
      }),
    });
  };
  const sendSome = async (count: number) => {
    for (let sent = 0; sent < count;) {
      const size = random.integer(1, 40);
      await world.send(Array.from({ length: size }, entry), {
        eventsPerRecord: random.integer(1, 12),
      });
      sent += size;
    }
  };
  const questionsOf = (version: MeterVersion): UsageQuery[] =>
    [null, ...customers.map((customer) => [customer])].flatMap((external_customer_ids, place) =>
      [
        [START, START + 10 * DAY_MS],
        [START + 1.5 * DAY_MS, START + 6 * DAY_MS + 12_345],
      ].map(([start, end], range): UsageQuery => ({
        key: `${version.id} ${place} ${range}`,
        tenant_id: version.tenant_id,
        environment_id: version.environment_id,
        meter_version_id: version.id,
        aggregation: version.spec.aggregation.type,
        multiplier: null,
        reset_usage: 'BILLING_PERIOD',
        external_customer_ids,
        start: new Date(start!).toISOString(),
        end: new Date(end!).toISOString(),
        filter_values: {},
        group_by: [],
        window: null,
      })),
    );
  const isBelow = (event: LoggedEvent, at: WatermarkVector) =>
    event.position < (at[event.partition] ?? 0n);
  const logged = async (): Promise<LoggedEvent[]> =>
    (await readLog(world.pool)).map(({ event, partition, position }) => ({
      ...event,
      partition,
      position,
      properties: JSON.parse(event.properties) as Record<string, unknown>,
    }));

  test('every type, below the newest and below an older vector', async () => {
    const reader = createUsageReader({
      clickhouse: world.clickhouse,
      readBounds: (ids) => readUsageBounds(world.pool, ids),
      readDimensions: (ids) => readDimensions(world.pool, ids),
    });
    const types: AggregationType[] = ['COUNT', 'SUM', 'MAX', 'LATEST', 'AVG'];
    const meter = (type: AggregationType) =>
      world.createMeter({ type, ...(type === 'COUNT' ? {} : { field: 'v' }) });
    const versions: MeterVersion[] = [];
    for (const type of types.slice(0, 3)) versions.push(await meter(type));
    let stream = await world.startStream({ batchEvents: 90 });
    await sendSome(400);
    await world.untilPassed();
    const older = await readWatermarks(world.pool);

    await stream.close();
    await sendSome(250);
    for (const type of types.slice(3)) versions.push(await meter(type));
    versions.push(await world.createMeter({ type: 'COUNT_UNIQUE', field: 'user' }));
    stream = await world.startStream({ batchEvents: 17 });
    await sendSome(250);
    await world.untilPassed();
    await eventually(async () => {
      const states = await world.pool<{ backfill_state: string }[]>`
        select distinct backfill_state from meter_versions`;
      expect(states).toEqual([{ backfill_state: 'complete' }]);
    });

    const log = await logged();
    const voids = log.filter(({ kind }) => kind === 'void').length;
    expect(voids).toBeGreaterThan(100);
    const queries = versions.flatMap(questionsOf);
    for (const at of [await readWatermarks(world.pool), older]) {
      const seen = log.filter((event) => isBelow(event, at));
      const usage = versions.flatMap((version) => canonicalUsage(version, seen));
      const expected = answerUsage(queries, usage, at);
      const { answers } = await reader.read(queries, { at });
      for (const { key } of queries)
        expect([key, answers.get(key)!.rows]).toEqual([key, expected.answers.get(key)!.rows]);
    }
  });
});
