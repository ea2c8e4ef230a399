import { createMeteringWorld, usageEvent, type MeteringWorld } from '../support/metering-world.ts';
import { readLog, recount, storedUsage } from '../support/usage-recount.ts';

describe('from the log to usage rows', () => {
  let world: MeteringWorld;
  beforeEach(async () => {
    world = await createMeteringWorld({ partitions: 2 });
  });
  afterEach(() => world.close());

  test('every aggregation type gets the rows that a naive recount finds, once each', async () => {
    const versions = [
      await world.createMeter({ type: 'COUNT' }),
      await world.createMeter({ type: 'SUM', field: 'tokens', group_by: 'model' }),
      await world.createMeter({ type: 'COUNT_UNIQUE', field: 'user' }),
      await world.createMeter({
        type: 'MAX',
        field: 'tokens',
        filters: [{ key: 'region', values: ['eu', 'us'] }],
      }),
    ];
    await world.startStream();
    const events = Array.from({ length: 2_000 }, (_, n) =>
      usageEvent({
        event_id: `event-${n % 1_800}`,
        external_customer_id: `customer-${n % 7}`,
        timestamp: Date.UTC(2026, 9, 1) + n * 977_000,
        properties: JSON.stringify({
          tokens: n % 5 === 0 ? `${n}.25` : n,
          model: ['small', 'large'][n % 2],
          user: `user-${n % 31}`,
          ...(n % 3 === 0 ? {} : { region: ['eu', 'us', 'asia'][n % 3] }),
        }),
      }),
    );
    for (let at = 0; at < events.length; at += 200) await world.send(events.slice(at, at + 200));
    await world.untilPassed();
    const log = await readLog(world.pool);
    for (const version of versions) {
      const expected = recount(log, version);
      expect(expected.length).toBeGreaterThan(500);
      expect(await storedUsage(world.clickhouse, version.id)).toEqual(expected);
    }
  });
});
