import { seededRandom } from '../../bench/random.ts';
import type { MeterVersion } from '../../domain/metering/usage.ts';
import {
  createMeteringWorld,
  eventually,
  usageEvent,
  type MeteringWorld,
} from '../support/metering-world.ts';
import { startStreamChild, type StreamChild } from '../support/stream-child.ts';
import { readLog, recount, storedUsage } from '../support/usage-recount.ts';

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
const random = seededRandom(SEED);
const LEASE_MS = 1_000;
const ROUNDS = Number(process.env['STREAM_PAUSES'] ?? 4);
const REBALANCE_SECONDS = Number(process.env['STREAM_REBALANCE_SECONDS'] ?? 10);

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe(`several processes of the stream (seed ${SEED})`, () => {
  let world: MeteringWorld;
  let version: MeterVersion;
  let children: StreamChild[];
  beforeEach(async () => {
    children = [];
    world = await createMeteringWorld({ partitions: 3, leaseMs: LEASE_MS });
    version = await world.createMeter({ type: 'SUM', field: 'tokens' });
  });
  afterEach(async () => {
    await Promise.all(children.map((child) => child.kill()));
    await world.close();
  });

  const startChild = async (): Promise<StreamChild> => {
    const child = await startStreamChild(world, {
      leaseMs: LEASE_MS,
      batchEvents: random.pick([100, 1_000]),
    });
    children.push(child);
    return child;
  };

  let sent = 0;
  /** Sends small records until it is stopped, a tenth of them copies of earlier events. */
  const keepSending = () => {
    let stopped = false;
    const before = sent;
    const done = (async () => {
      while (!stopped) {
        const events = Array.from({ length: 60 }, () =>
          usageEvent({
            event_id: `event-${random.chance(0.1) ? random.integer(0, sent) : sent++}`,
            properties: JSON.stringify({ tokens: random.integer(0, 1_000) }),
          }),
        );
        await world.send(events, { eventsPerRecord: 10 });
        await sleep(50);
      }
    })();
    return async () => {
      await eventually(async () => expect(sent - before).toBeGreaterThan(400));
      stopped = true;
      await done;
    };
  };
  const generations = async () => {
    const rows = await world.pool<{ generation: string }[]>`select generation from stream_progress`;
    return rows.reduce((sum, row) => sum + Number(row.generation), 0);
  };
  const expectExact = async () => {
    // A supervisor would start a process again that ended by itself.
    let isOver = false;
    const supervising = (async () => {
      while (!isOver) {
        if (!children.some((child) => child.isAlive())) await startChild();
        await sleep(100);
      }
    })();
    await world.untilPassed().finally(() => (isOver = true));
    await supervising;
    const log = await readLog(world.pool);
    const expected = recount(log, version);
    expect(expected.length).toBeGreaterThan(300);
    expect(await storedUsage(world.clickhouse, version.id)).toEqual(expected);
  };

  test('one is paused past its lease, another takes over, the first continues in the middle of an insert', async () => {
    const stopSending = keepSending();
    let runner = await startChild();
    for (let round = 0; round < ROUNDS; round++) {
      await sleep(random.integer(100, 400));
      const before = await generations();
      const paused = runner;
      paused.pause();
      runner = await startChild();
      await eventually(async () => expect(await generations()).toBeGreaterThanOrEqual(before + 3));
      paused.resume();
      await sleep(random.integer(0, 300));
      await paused.kill();
    }
    await stopSending();
    await expectExact();
  });

  test('they start and stop under load', async () => {
    const stopSending = keepSending();
    await startChild();
    const until = performance.now() + REBALANCE_SECONDS * 1_000;
    while (performance.now() < until) {
      const alive = children.filter((child) => child.isAlive());
      if (alive.length < 2 || (alive.length < 4 && random.chance(0.5))) await startChild();
      else if (random.chance(0.5)) await random.pick(alive).kill();
      else await random.pick(alive).stop();
      await sleep(1_000);
    }
    await stopSending();
    await expectExact();
  });
});
