import { seededRandom } from '../../bench/random.ts';
import type { MeterVersion } from '../../domain/metering/usage.ts';
import { createMeteringWorld, usageEvent, type MeteringWorld } from '../support/metering-world.ts';
import { startStreamChild, type StreamChild } from '../support/stream-child.ts';
import { readLog, recount, storedUsage } from '../support/usage-recount.ts';

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
const random = seededRandom(SEED);
const KILLS = Number(process.env['STREAM_KILLS'] ?? 8);

const FAILPOINTS = [
  'stream.after_decide',
  'stream.after_raw',
  'stream.after_index',
  'stream.after_usage',
  'stream.after_progress',
];

/** Events with a tenth of duplicates, under other times and payloads than their first copies. */
function someEvents(from: number, count: number) {
  return Array.from({ length: count }, (_, n) => {
    const number = random.chance(0.1) ? random.integer(0, from + n) : from + n;
    return usageEvent({
      event_id: `event-${number}`,
      external_customer_id: `customer-${random.integer(0, 9)}`,
      timestamp: Date.UTC(2026, 9, 1) + random.integer(0, 40 * 86_400) * 1_000,
      properties: JSON.stringify({ tokens: random.integer(-50, 5_000), user: `u${number % 97}` }),
    });
  });
}

describe(`kill -9 of the stream (seed ${SEED})`, () => {
  let world: MeteringWorld;
  let versions: MeterVersion[];
  beforeAll(async () => {
    world = await createMeteringWorld({ partitions: 2, leaseMs: 400 });
    versions = [
      await world.createMeter({ type: 'COUNT' }),
      await world.createMeter({ type: 'SUM', field: 'tokens' }),
      await world.createMeter({ type: 'COUNT_UNIQUE', field: 'user' }),
    ];
  });
  afterAll(() => world.close());

  const expectExact = async () => {
    const log = await readLog(world.pool);
    for (const version of versions)
      expect(await storedUsage(world.clickhouse, version.id)).toEqual(recount(log, version));
  };

  let sent = 0;
  const sendSome = async (count: number) => {
    const events = someEvents(sent, count);
    sent += count;
    for (let at = 0; at < events.length; at += 100)
      await world.send(events.slice(at, at + 100), { eventsPerRecord: 40 });
  };
  const startChild = (failpoints = ''): Promise<StreamChild> =>
    startStreamChild(world, {
      failpoints,
      leaseMs: 400,
      batchEvents: random.pick([1, 70, 150, 1_000]),
    });

  test.each(FAILPOINTS)('at %s, then other batch boundaries', async (failpoint) => {
    await sendSome(600);
    const killed = await startChild(failpoint);
    expect(await killed.exited).toBe('SIGKILL');
    await sendSome(100);
    const next = await startChild();
    await world.untilPassed();
    await next.stop();
    await expectExact();
  });

  test(`at random, ${KILLS} times, while events come in`, async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      const child = await startChild('stream.after_raw:0.02,stream.after_index:0.02');
      const sending = sendSome(400);
      await new Promise((resolve) => setTimeout(resolve, random.integer(0, 400)));
      await child.kill();
      await sending;
    }
    const last = await startChild();
    await world.untilPassed();
    await last.stop();
    await expectExact();
  });
});
