import { packPosition } from '../../domain/metering/position.ts';
import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import {
  NO_HASH,
  type BucketKey,
  type MeterUsageRow,
  type RawEventRow,
  type TouchedBucket,
} from '../../clickhouse/rows.ts';
import {
  slotGroup,
  slotGroupsOfPartition,
  type UsageStore,
} from '../../clickhouse/writing/usage-store.ts';
import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';

const SCOPE = { tenant_id: 'tenant_1', environment_id: 'env_1' };
const NOON = Date.parse('2026-03-10T12:00:00.000Z');
const MIDNIGHT = Date.parse('2026-03-10T00:00:00.000Z');
const at = (offset: number, index = 0) => packPosition(0, BigInt(offset), index);

const raw = (given: Partial<RawEventRow>): RawEventRow => ({
  ...SCOPE,
  event_name: 'api_call',
  external_customer_id: 'acme',
  customer_id: '',
  timestamp: NOON,
  event_id: 'e1',
  source: '',
  properties: '{"tokens":"5"}',
  ingested_at: NOON,
  partition: 0,
  position: at(1),
  is_canonical: true,
  ...given,
});

const usage = (given: Partial<MeterUsageRow>): MeterUsageRow => ({
  ...SCOPE,
  external_customer_id: 'acme',
  meter_version_id: 'meterv_1',
  timestamp: NOON,
  partition: 0,
  position: at(1),
  value: '5',
  unique_hash: NO_HASH,
  dimensions: [],
  source: '',
  ...given,
});

const bucket = (
  size: '15MIN' | 'DAY',
  start: number,
  given: Partial<BucketKey> = {},
): BucketKey => ({
  ...SCOPE,
  external_customer_id: 'acme',
  meter_version_id: 'meterv_1',
  bucket_size: size,
  bucket_start: start,
  ...given,
});

async function all<T>(chunks: AsyncIterable<readonly T[]>): Promise<T[]> {
  const found: T[] = [];
  for await (const chunk of chunks) found.push(...chunk);
  return found;
}

describe('usage store', () => {
  let test_: TestClickHouse;
  let store: UsageStore;
  beforeEach(async () => {
    test_ = await createTestClickHouse();
    store = createUsageStore(test_.clickhouse);
  });
  afterEach(() => test_.drop());

  const storedDays = (columns: string) =>
    test_.clickhouse.rows({
      sql: `select ${columns} from usage_per_day_v1 final
             where (external_customer_id, bucket_start, seal) in (
               select external_customer_id, bucket_start, max(seal) from usage_per_day_v1 group by all)
             order by all`,
      params: {},
    });

  describe('events', () => {
    test('texts are returned unchanged', async () => {
      const rows = [
        raw({ event_id: 'quote " back \\ line \n tab \t nul \0 € 😀' }),
        raw({
          event_id: "it's",
          position: at(2),
          properties: '',
          source: 'web',
          customer_id: 'cust_1',
        }),
        raw({ event_id: 'old', position: at(3), timestamp: 0, ingested_at: 1 }),
      ];
      await store.appendRawEvents(rows);
      for (const row of rows) {
        expect(
          await store.rawEvent({ ...SCOPE, event_id: row.event_id, position: row.position }),
        ).toEqual(row);
      }
      expect(await store.rawEvent({ ...SCOPE, event_id: 'none', position: at(1) })).toBeNull();
    });

    test('half a surrogate pair does not stop the batch', async () => {
      await store.appendRawEvents([
        raw({ event_id: 'a\ud800b' }),
        raw({ event_id: 'good', position: at(2) }),
      ]);
      expect(
        await store.rawEvent({ ...SCOPE, event_id: 'a\ufffdb', position: at(1) }),
      ).not.toBeNull();
      expect(await store.rawEvent({ ...SCOPE, event_id: 'good', position: at(2) })).not.toBeNull();
    });

    test('one append over twenty years of months', async () => {
      const rows = Array.from({ length: 250 }, (_, month) =>
        raw({ event_id: `e${month}`, position: at(month), timestamp: Date.UTC(2000, month, 3) }),
      );
      await store.appendRawEvents(rows);
      const found = await all(
        store.canonicalEvents({ ...SCOPE, event_name: 'api_call', below: { 0: at(1_000) } }),
      );
      expect(found).toHaveLength(250);
    });

    test('canonical events: below the bounds, of one name, resumable', async () => {
      await store.appendRawEvents([
        raw({ event_id: 'a', position: at(1), external_customer_id: 'b' }),
        raw({ event_id: 'b', position: at(2), external_customer_id: 'a' }),
        raw({ event_id: 'a', position: at(3), is_canonical: false }),
        raw({ event_id: 'c', position: at(4) }),
        raw({ event_id: 'd', position: at(1), partition: 1 }),
        raw({ event_id: 'e', position: at(1), partition: 2 }),
        raw({ event_id: 'f', position: at(1), event_name: 'other' }),
        raw({ event_id: 'g', position: at(1), environment_id: 'env_2' }),
      ]);
      const query = { ...SCOPE, event_name: 'api_call', below: { 0: at(4), 1: at(9) } };
      const found = await all(store.canonicalEvents(query));
      expect(found.map((row) => row.event_id)).toEqual(['b', 'd', 'a']);
      const rest = await all(store.canonicalEvents({ ...query, after: found[1]! }));
      expect(rest.map((row) => row.event_id)).toEqual(['a']);
      expect(await all(store.canonicalEvents({ ...query, below: {} }))).toEqual([]);
      expect(await store.countCanonicalEvents(query)).toBe(found.length);
    });
  });

  describe('event index', () => {
    const slots = Array.from({ length: 40 }, (_, i) =>
      ((i * 0x9e3779b1) >>> 0).toString(16).padStart(8, '0').padEnd(32, 'a'),
    );

    test('answers the smallest position of known slots', async () => {
      await store.appendIndex(slots.slice(0, 30).map((slot, i) => ({ slot, position: at(i + 5) })));
      await store.appendIndex([
        { slot: slots[3]!, position: at(2) },
        { slot: slots[4]!, position: at(900) },
      ]);
      const found = await store.smallestPositions(slots);
      expect(found.size).toBe(30);
      expect(found.get(slots[3]!)).toBe(at(2));
      expect(found.get(slots[4]!)).toBe(at(9));
      expect(await store.smallestPositions([])).toEqual(new Map());
    });

    test('takes a whole batch of slots at once, on every session', async () => {
      const many = Array.from({ length: 60_000 }, (_, i) =>
        ((i * 0x9e3779b1) >>> 0).toString(16).padStart(8, '0').padEnd(32, 'b'),
      );
      await store.appendIndex(many.slice(0, 100).map((slot) => ({ slot, position: at(1) })));
      const answers = await Promise.all([1, 2, 3, 4].map(() => store.smallestPositions(many)));
      expect(answers.map((found) => found.size)).toEqual([100, 100, 100, 100]);
    });

    test.each([1, 2, 3, 4, 6, 12])(
      'every slot is in a group of its partition, out of %i',
      async (partitions) => {
        await store.appendIndex(slots.map((slot) => ({ slot, position: at(1) })));
        for (let partition = 0; partition < partitions; partition += 1) {
          const own = slots.filter(
            (slot) => Number.parseInt(slot.slice(0, 8), 16) % partitions === partition,
          );
          const groups = slotGroupsOfPartition(partition, partitions);
          const read = new Set<string>();
          for await (const chunk of store.indexedSlots(groups)) {
            for (let i = 0; i < chunk.length; i += 16) read.add(chunk.toString('hex', i, i + 16));
          }
          for (const slot of own) expect(read).toContain(slot);
          expect([...read].every((slot) => groups.includes(slotGroup(slot)))).toBe(true);
        }
      },
    );
  });

  describe('marks and seals', () => {
    const touched = async () => {
      const found = await all<TouchedBucket>(store.touchedBuckets({ since: null }));
      return found.map(({ bucket_size, bucket_start, marks, seal, external_customer_id }) => ({
        bucket_size, bucket_start, marks, seal, external_customer_id,
      })); // prettier-ignore
    };

    test('usage marks its quarter hour and its day, per log partition, and again on a replay', async () => {
      await store.appendUsage([usage({}), usage({ position: at(7), timestamp: NOON + 60_000 })]);
      await store.appendUsage([usage({ position: at(3), partition: 2 })]);
      const marks = { 0: at(7), 2: at(3) };
      const expected = [
        {
          bucket_size: '15MIN',
          bucket_start: NOON,
          marks,
          seal: null,
          external_customer_id: 'acme',
        },
        {
          bucket_size: 'DAY',
          bucket_start: MIDNIGHT,
          marks,
          seal: null,
          external_customer_id: 'acme',
        },
      ];
      expect(await touched()).toEqual(expected);
      const before = await store.now();
      await store.appendUsage([usage({})]);
      expect(await touched()).toEqual(expected);
      expect((await all(store.touchedBuckets({ since: before }))).length).toBe(2);
      const of = (id: string) =>
        all(store.touchedBuckets({ since: null, meter_version_ids: [id] }));
      expect((await of(usage({}).meter_version_id)).length).toBe(2);
      expect(await of('meterv_other')).toEqual([]);
      expect(await all(store.touchedBuckets({ since: (await store.now()) + 1_000 }))).toEqual([]);
    });

    test('recompute takes rows below the bounds, once each, not those of other buckets', async () => {
      await store.appendUsage([
        usage({ value: '1.5' }),
        usage({ value: '1.5' }),
        usage({ value: '-4', position: at(2), timestamp: NOON + 1 }),
        usage({ value: '100', position: at(3) }),
        usage({ value: '7', position: at(1), partition: 1, dimensions: ['eu'] }),
        usage({ value: '8', position: at(1), partition: 2 }),
        usage({ value: '9', position: at(0), timestamp: NOON + 86_400_000 }),
      ]);
      const watermarks = { 0: at(3), 1: at(2) };
      await store.recomputeBuckets(
        [bucket('DAY', MIDNIGHT)],
        { watermarks, liveUntil: new Map() },
        5n,
      );
      expect(
        await storedDays('dimensions, seal, event_count, sum, min, max, latest, latest_position'),
      ).toEqual([
        [[], '5', '2', '-2.5', '-4', '1.5', '-4', String(at(2))],
        [['eu'], '5', '1', '7', '7', '7', '7', String(at(1))],
      ]);
      expect((await touched()).map((found) => found.seal)).toEqual([null, null, 5n, null]);
    });

    test('a version that has ended keeps its rows out of recomputed buckets', async () => {
      await store.appendUsage([usage({ value: '1' }), usage({ value: '2', position: at(5) })]);
      const liveUntil = new Map([['meterv_1', { 0: at(5) }]]);
      await store.recomputeBuckets(
        [bucket('DAY', MIDNIGHT)],
        { watermarks: { 0: at(9) }, liveUntil },
        1n,
      );
      expect(await storedDays('sum')).toEqual([['1']]);
    });

    test('nothing is below an empty vector', async () => {
      await store.appendUsage([usage({ value: '1' })]);
      await store.recomputeBuckets(
        [bucket('DAY', MIDNIGHT)],
        { watermarks: {}, liveUntil: new Map() },
        1n,
      );
      expect(await storedDays('event_count, sum')).toEqual([['0', '0']]);
    });

    test('a void removes its target and marks the buckets; a bucket without rows becomes empty', async () => {
      await store.appendUsage([usage({ value: '3' })]);
      const bounds = { watermarks: { 0: at(9) }, liveUntil: new Map() };
      await store.recomputeBuckets([bucket('DAY', MIDNIGHT), bucket('15MIN', NOON)], bounds, 1n);
      expect(await storedDays('sum')).toEqual([['3']]);
      const target = {
        ...SCOPE,
        partition: 0,
        position: at(1),
        external_customer_id: 'acme',
        timestamp: NOON,
      };
      const [row] = await store.usageOfEvent(target);
      expect(row).toEqual(usage({ value: '3' }));
      await store.appendVoids([
        {
          ...SCOPE, target_partition: 0, target_position: at(1), partition: 0, position: at(8),
          meter_version_id: 'meterv_1', external_customer_id: 'acme', timestamp: NOON, event_id: 'e1',
        }, // prettier-ignore
      ]);
      expect((await touched()).map((found) => found.marks)).toEqual([{ 0: at(8) }, { 0: at(8) }]);
      await store.recomputeBuckets(
        [bucket('DAY', MIDNIGHT), bucket('15MIN', NOON)],
        { ...bounds, watermarks: { 0: at(8) } },
        2n,
      );
      expect(await storedDays('event_count, sum')).toEqual([['1', '3']]);
      await store.recomputeBuckets([bucket('DAY', MIDNIGHT), bucket('15MIN', NOON)], bounds, 3n);
      expect(await storedDays('event_count, sum, seal')).toEqual([['0', '0', '3']]);
    });

    test('unique values are stored one by one under their seal', async () => {
      const hash = (letter: string) => letter.repeat(32);
      await store.appendUsage([
        usage({ unique_hash: hash('a') }),
        usage({ unique_hash: hash('a'), position: at(2) }),
        usage({ unique_hash: hash('b'), position: at(3) }),
      ]);
      await store.recomputeBuckets(
        [bucket('DAY', MIDNIGHT)],
        { watermarks: { 0: at(9) }, liveUntil: new Map() },
        4n,
      );
      expect(await storedDays('event_count, unique_count')).toEqual([['3', '2']]);
      const uniques = await test_.clickhouse.rows({
        sql: 'select unique_hash, seal from usage_uniques_per_day_v1 final order by all',
        params: {},
      });
      expect(uniques).toEqual([
        ['aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa', '4'],
        ['bbbbbbbb-bbbb-bbbb-bbbb-bbbbbbbbbbbb', '4'],
      ]);
    });

    test('many buckets of many customers come page by page', async () => {
      const rows = Array.from({ length: 500 }, (_, i) =>
        usage({
          external_customer_id: `c${i % 250}`,
          position: at(i),
          timestamp: MIDNIGHT + i * 900_000,
        }),
      );
      await store.appendUsage(rows);
      const found = await all<TouchedBucket>(store.touchedBuckets({ since: null }));
      expect(
        new Set(found.map((b) => `${b.bucket_size}${b.external_customer_id}${b.bucket_start}`))
          .size,
      ).toBe(found.length);
      expect(found.filter((b) => b.bucket_size === '15MIN')).toHaveLength(500);
    });
  });

  test('rejected events are kept with their reason', async () => {
    await store.appendRejected([
      {
        ...SCOPE, event_id: 'e1', event_name: 'api_call', external_customer_id: 'acme', meter_version_id: 'meterv_1',
        partition: 0, position: at(1), ingested_at: 0, reason: 'value_out_of_range', message: '21 digits', raw: '',
      }, // prettier-ignore
    ]);
    const rows = await test_.clickhouse.rows({
      sql: 'select event_id, reason, message from events_rejected_v1',
      params: {},
    });
    expect(rows).toEqual([['e1', 'value_out_of_range', '21 digits']]);
  });
});
