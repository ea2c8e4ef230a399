import { seededRandom } from '../../bench/random.ts';
import type { UsageStore } from '../../clickhouse/writing/usage-store.ts';
import { restartBackfill } from '../../postgres/tables/meter-backfills.ts';
import type { MeterVersionRecord } from '../../postgres/tables/meter-versions.ts';
import {
  createMeteringWorld,
  eventually,
  SCOPE,
  usageEvent,
  type MeteringWorld,
} from '../support/metering-world.ts';
import { readLog, recount } from '../support/usage-recount.ts';

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));

/** Metering 6: a version goes live when its buckets are what the raw events come to. */
describe(`verification of meter versions (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  let world: MeteringWorld;
  beforeEach(async () => {
    world = await createMeteringWorld({ partitions: 2 });
  });
  afterEach(() => world.close());

  const events = (count: number) =>
    Array.from({ length: count }, (_, n) =>
      usageEvent({
        event_id: `event-${random.chance(0.1) ? random.integer(0, n) : n}`,
        external_customer_id: `customer-${random.integer(0, 5)}`,
        timestamp: Date.UTC(2026, 9, 1) + random.integer(0, 20 * 86_400) * 1_000,
        source: random.pick(['', 'api']),
        properties: JSON.stringify({
          tokens: random.chance(0.1)
            ? 'none'
            : `${random.integer(-500, 500)}.${random.integer(0, 999)}`,
          region: random.pick(['eu', 'us', 'ü "q"']),
        }),
      }),
    );
  const version = async (id: string): Promise<MeterVersionRecord> => {
    const [row] = await world.pool<MeterVersionRecord[]>`
      select * from meter_versions where id = ${id}`;
    return row!;
  };
  const until = (state: string, ...ids: string[]) =>
    eventually(async () => {
      for (const id of ids) expect((await version(id)).backfill_state).toBe(state);
    });

  test('every type is counted again, without what was voided, and found equal', async () => {
    await world.startStream();
    const sent = events(1_500);
    await world.send(sent);
    await world.untilPassed();
    const voided = new Set(Array.from({ length: 60 }, () => random.pick(sent).event_id));
    await world.send(
      [...voided].map((event_id) => usageEvent({ kind: 'void', event_id, event_name: '' })),
    );
    await world.untilPassed();
    const made = [
      await world.createMeter({ type: 'COUNT' }),
      await world.createMeter({ type: 'SUM', field: 'tokens', group_by: 'region' }),
      await world.createMeter({ type: 'COUNT_UNIQUE', field: 'tokens' }),
      await world.createMeter({ type: 'LATEST', field: 'tokens' }),
      await world.createMeter({ type: 'MAX', expression: 'tokens * tokens' }),
    ];
    await until('complete', ...made.map(({ id }) => id));
    const log = await readLog(world.pool);
    const counted = recount(log, made[0]!).length - voided.size;
    for (const { id } of made) {
      const row = await version(id);
      expect(row).toMatchObject({
        verified_events: String(counted),
        mismatched_buckets: '0',
        verified_without_customers: '0',
        mismatches: [],
      });
      expect(Number(row.verified_buckets)).toBeGreaterThan(100);
      expect(row.verified_at).not.toBeNull();
    }
  });

  test('a missing row is found: the version is not used until it is backfilled again', async () => {
    await world.startStream();
    await world.send(events(300));
    await world.untilPassed();
    const made = await world.createMeter({ type: 'SUM', field: 'tokens' });
    await until('complete', made.id);

    await world.clickhouse.command({
      sql: `alter table meter_usage_v1 delete
             where meter_version_id = {id:String} and external_customer_id = 'customer-1'
          settings mutations_sync = 1`,
      params: { id: made.id },
    });
    await world.pool`
      update meter_versions set backfill_state = 'sealing', verifications = 0 where id = ${made.id}`;
    await until('mismatched', made.id);
    const row = await version(made.id);
    expect(Number(row.mismatched_buckets)).toBeGreaterThan(0);
    expect(row.mismatches![0]).toContain('customer-1');
    expect(row.backfill_completed_at).toBeNull();

    expect(await restartBackfill(world.pool, SCOPE, made.id, 'user_b')).toBe(true);
    await until('complete', made.id);
    expect(await version(made.id)).toMatchObject({ mismatched_buckets: '0', updated_by: 'user_b' });
    expect(await restartBackfill(world.pool, SCOPE, made.id, 'user_b')).toBe(false);
  });

  test('a meter without earlier events does not wait for the long backfills of others', async () => {
    let release!: () => void;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const slow: UsageStore = {
      ...world.store,
      async *canonicalEvents(query) {
        if (query.event_name === 'request') await gate;
        yield* world.store.canonicalEvents(query);
      },
    };
    await world.startStream({}, slow);
    await world.send(events(50));
    await world.untilPassed();
    const long = [
      await world.createMeter({ type: 'COUNT' }),
      await world.createMeter({ type: 'SUM', field: 'tokens' }),
      await world.createMeter({ type: 'MAX', field: 'tokens' }),
    ];
    await until('replaying', ...long.map(({ id }) => id));
    const made = await world.createMeter({ type: 'COUNT', event_name: 'never sent' });
    await eventually(async () => {
      expect((await version(made.id)).backfill_state).toBe('complete');
    });
    for (const { id } of long) expect((await version(id)).backfill_state).toBe('replaying');
    release();
    await until('complete', ...long.map(({ id }) => id));
  });
});
