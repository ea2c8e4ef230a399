import { createHash, randomInt } from 'node:crypto';
import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import type { MeterUsageRow, TouchedBucket } from '../../clickhouse/rows.ts';
import type { TimesBounds } from '../../clickhouse/reading/read-times.ts';
import { createUsageReader } from '../../clickhouse/reading/usage-reader.ts';
import type { UsageStore } from '../../clickhouse/writing/usage-store.ts';
import { aggregate, type MeteredUsage } from '../../domain/metering/aggregate.ts';
import { packPosition, type WatermarkVector } from '../../domain/metering/position.ts';
import {
  AGGREGATION_TYPES,
  BUCKET_SIZES,
  type ExcludedDuring,
  type FilterValues,
  type UsageQuery,
  type UsageReader,
} from '../../domain/metering/usage.ts';
import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';
import { Random } from './usage/random.ts';
import { SealModel } from './usage/seal-model.ts';

const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const DEEP = process.env['DEEP'] === '1';
const STORIES = DEEP ? 200 : 3;
const QUESTIONS_PER_STORY = 40;

const DIMENSIONS = ['region', 'tier'];
const CUSTOMERS = ['acme', 'bolt', 'c"ore\\ü'];
const VERSIONS = ['meterv_a', 'meterv_b'];
const ZONES = ['UTC', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/New_York', 'Europe/Berlin'];
const PARTITIONS = [0, 1, 2];
// Both changes of the clock in New York, Berlin and on Lord Howe are within, and a leap day.
const FIRST = Date.parse('2024-02-20T00:00:00.000Z');
const LAST = Date.parse('2024-04-20T00:00:00.000Z');

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** An event as one meter version counts it, and where a correction took it back, if one did. */
interface CountedEvent extends MeteredUsage {
  readonly unique_value: string;
  readonly voided_at: bigint | null;
}

const isBelow = (vector: WatermarkVector, partition: number, position: bigint): boolean =>
  position < (vector[partition] ?? 0n);

/** What happened to one tenant: events, replays, late events, corrections, seals; some beyond the watermarks. */
class Story {
  readonly tenant_id: string;
  readonly seals = new SealModel();
  readonly events: CountedEvent[] = [];
  readonly vectors: WatermarkVector[] = [];
  readonly #random: Random;
  readonly #store: UsageStore;
  readonly #offsets: Map<number, number>;

  /** Tenants share the log, so no two stories may use the same positions. */
  constructor(index: number, random: Random, store: UsageStore) {
    this.tenant_id = `tenant_${index}`;
    this.#offsets = new Map(PARTITIONS.map((partition) => [partition, index * 100_000]));
    this.#random = random;
    this.#store = store;
  }

  /** The events that count for a reader below a vector: the oracle looks at each of them. */
  below(vector: WatermarkVector): CountedEvent[] {
    return this.events.filter(
      ({ partition, position, voided_at }) =>
        isBelow(vector, partition, position) &&
        !(voided_at !== null && isBelow(vector, partition, voided_at)),
    );
  }

  async tell(): Promise<void> {
    for (let step = 0; step < 6; step += 1) {
      for (const partition of PARTITIONS) await this.#batch(partition);
      if (this.#random.chance(0.8)) await this.#seal();
    }
    // The last batches are written, but their watermark has not moved.
    for (const partition of this.#random.some(PARTITIONS, 0.5)) await this.#batch(partition, false);
  }

  async #batch(partition: number, moves = true): Promise<void> {
    const random = this.#random;
    const first = this.#offsets.get(partition)!;
    const count = 5 + random.below(40);
    const events: CountedEvent[] = [];
    for (let index = 0; index < count; index += 1) {
      events.push(this.#event(partition, packPosition(0, BigInt(first + index), random.below(3))));
    }
    await this.#append(events);
    if (random.chance(0.3)) await this.#append(random.some(events, 0.7)); // a replay
    this.events.push(...events);
    if (random.chance(0.3)) await this.#void(partition, first + count);
    this.#offsets.set(partition, first + count + 1);
    if (!moves) return;
    this.seals.watermarks[partition] = packPosition(0, BigInt(first + count + 1), 0);
    this.vectors.push({ ...this.seals.watermarks });
  }

  #event(partition: number, position: bigint): CountedEvent {
    const random = this.#random;
    const dimensions = {
      region: random.pick(['eu', 'us', '', "it's"]),
      tier: random.pick(['gold', 'silver', '']),
    };
    const value = random.pick([
      '0.1', '0.2', '-3', '7', '1000000000000000', '0.000000000000000001', '12.5', '0',
    ]); // prettier-ignore
    // Borders of buckets, days, hours and minutes, to the millisecond; elsewhere ties are likely too.
    const spread = FIRST + Math.floor(random.next() * (LAST - FIRST));
    const rounded = random.pick([60_000, 900_000, 3_600_000, 86_400_000]);
    const timestamp = random.chance(0.4)
      ? Math.floor(spread / rounded) * rounded + random.below(3) - 1
      : Math.floor(spread / 7_200_000) * 7_200_000 + random.below(4) * 1_234_567;
    return {
      tenant_id: this.tenant_id,
      environment_id: 'env_1',
      external_customer_id: random.pick(CUSTOMERS),
      meter_version_id: random.pick(VERSIONS),
      timestamp: Math.min(LAST, Math.max(FIRST, timestamp)),
      partition,
      position,
      value,
      unique_value: `user-${random.below(25)}`,
      dimensions,
      source: random.pick(['', 'web', 'api']),
      voided_at: null,
    };
  }

  async #append(events: readonly CountedEvent[]): Promise<void> {
    await this.#store.appendUsage(
      events.map((event): MeterUsageRow => ({
        tenant_id: this.tenant_id,
        environment_id: 'env_1',
        external_customer_id: event.external_customer_id,
        meter_version_id: event.meter_version_id,
        timestamp: event.timestamp,
        partition: event.partition,
        position: event.position,
        value: event.value,
        unique_hash: hashOf(event.unique_value),
        dimensions: DIMENSIONS.map((name) => event.dimensions[name]!),
        source: event.source,
      })),
    );
  }

  /** Takes an event back. Its position is the correction's own, behind the batch. */
  async #void(partition: number, offset: number): Promise<void> {
    const own = this.events.filter(
      (event) => event.partition === partition && event.voided_at === null,
    );
    if (own.length === 0) return;
    const target = this.#random.pick(own);
    const position = packPosition(0, BigInt(offset), 0);
    await this.#store.appendVoids([
      {
        tenant_id: this.tenant_id,
        environment_id: 'env_1',
        target_partition: partition,
        target_position: target.position,
        partition,
        position,
        meter_version_id: target.meter_version_id,
        external_customer_id: target.external_customer_id,
        timestamp: target.timestamp,
        event_id: 'e',
      },
    ]);
    this.events[this.events.indexOf(target)] = { ...target, voided_at: position };
  }

  async #seal(): Promise<void> {
    const vector = { ...this.seals.watermarks };
    const touched: TouchedBucket[] = [];
    for await (const chunk of this.#store.touchedBuckets({ since: null })) {
      touched.push(...chunk.filter((bucket) => bucket.tenant_id === this.tenant_id));
    }
    const seal = this.seals.next();
    const bounds = { watermarks: vector, liveUntil: this.seals.liveUntil };
    await this.#store.recomputeBuckets(this.#random.some(touched, 0.7), bounds, seal);
    // A sealer that was fenced, or died, has written buckets under a seal that was not recorded.
    if (this.#random.chance(0.85)) this.seals.record(seal, vector);
  }
}

function question(random: Random, story: Story, key: string): UsageQuery {
  const a = FIRST + Math.floor(random.next() * (LAST - FIRST));
  const b = FIRST + Math.floor(random.next() * (LAST - FIRST));
  const unit = random.pick([1, 60_000, 900_000, 3_600_000, 86_400_000, 86_400_000]);
  const start = Math.floor(Math.min(a, b) / unit) * unit;
  const windowed = random.chance(0.5);
  const bucket_size = random.pick(BUCKET_SIZES);
  const longest = bucket_size === 'MINUTE' && windowed ? 2 * 86_400_000 : Infinity;
  const end = Math.min(Math.ceil(Math.max(a, b) / unit) * unit, start + longest);
  const allowed = {
    ...(random.chance(0.5) ? { region: random.some(['eu', 'us', '', "it's", 'none'], 0.5) } : {}),
    ...(random.chance(0.3) ? { tier: ['gold'] } : {}),
    ...(random.chance(0.2) ? { source: ['web', ''] } : {}),
  };
  const customers = random.chance(0.2) ? null : random.some(CUSTOMERS, 0.6);
  return {
    key,
    tenant_id: story.tenant_id,
    environment_id: 'env_1',
    meter_version_id: random.pick(VERSIONS),
    aggregation: random.pick(AGGREGATION_TYPES),
    multiplier: random.pick(['2.5', '0.333333333333333333', '-1']),
    reset_usage: !windowed && random.chance(0.3) ? 'NEVER' : 'BILLING_PERIOD',
    external_customer_ids: customers,
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
    filter_values: random.chance(0.4) ? allowed : {},
    excluded_filter_values: random.chance(0.2)
      ? [{ region: ['eu'] }, { tier: ['gold'], region: ['us'] }]
      : [],
    excluded_during: random.chance(0.3) ? exclusions(random, start, end, customers !== null) : [],
    group_by: random.chance(0.4) ? random.some(['region', 'tier', 'source'], 0.5) : [],
    window: windowed
      ? {
          bucket_size,
          timezone: random.pick(ZONES),
          billing_anchor: random.pick([
            null,
            '2024-01-29T05:00:00.000Z',
            '2024-01-30T00:00:00.000Z',
            '2024-01-31T13:30:00.000Z',
          ]),
        }
      : null,
  };
}

/** The usage of each time, from which quotas count their windows (money 7.10). */
function questionByTime(random: Random, story: Story, key: string): UsageQuery {
  const asked = question(random, story, key);
  return {
    ...asked,
    aggregation: random.pick(['COUNT', 'SUM', 'SUM_WITH_MULTIPLIER']),
    reset_usage: 'BILLING_PERIOD',
    external_customer_ids: asked.external_customer_ids ?? CUSTOMERS,
    excluded_during: asked.external_customer_ids === null ? [] : (asked.excluded_during ?? []),
    group_by: [],
    window: null,
    by_time: true,
  };
}

/** Values and customers that do not count in a part of the time; borders in and outside of the question. */
function exclusions(
  random: Random,
  start: number,
  end: number,
  namesCustomers: boolean,
): ExcludedDuring[] {
  const instant = () => start + Math.floor((random.next() * 1.2 - 0.1) * (end - start));
  return Array.from({ length: random.pick([1, 2]) }, () => {
    const [from, until] = [instant(), instant()].sort((left, right) => left - right);
    const unit = random.pick([1, 900_000, 86_400_000]);
    return {
      start: new Date(Math.floor(from! / unit) * unit).toISOString(),
      end: new Date(Math.ceil(until! / unit) * unit).toISOString(),
      filter_values: random.pick<FilterValues>([
        {},
        { region: ['eu'] },
        { tier: ['gold'], region: ['us'] },
      ]),
      external_customer_ids: namesCustomers && random.chance(0.5) ? [random.pick(CUSTOMERS)] : null,
    };
  });
}

describe('usage reader: the same number as counting one by one', () => {
  let test_: TestClickHouse;
  beforeAll(async () => {
    test_ = await createTestClickHouse();
  });
  afterAll(() => test_.drop());

  /** Ways that must agree: rows alone, if few; days one by one for a few pairs; days added up first for many. */
  const readerOf = (story: Story, fewPairs = 0, times?: TimesBounds, fewRows = 0): UsageReader =>
    createUsageReader({
      fewPairs,
      fewRows,
      ...(times === undefined ? {} : { times }),
      clickhouse: test_.clickhouse,
      readBounds: story.seals.bounds,
      readDimensions: async (ids) => new Map(ids.map((id) => [id, DIMENSIONS])),
      timeoutMs: 30_000,
    });

  test.each(Array.from({ length: STORIES }, (_, index) => index))(
    'story %i',
    async (index) => {
      const seed = SEED + index;
      const random = new Random(seed);
      const story = new Story(index, random, createUsageStore(test_.clickhouse));
      await story.tell();
      const reader = readerOf(story);
      const questions = Array.from({ length: QUESTIONS_PER_STORY }, (_, k) =>
        (k % 5 === 4 ? questionByTime : question)(random, story, `q${k}`),
      );
      const bounds = [
        'watermark',
        { at: random.pick(story.vectors) },
        { at: story.vectors.at(-1)! },
      ] as const;
      for (const bound of bounds) {
        const { answers, watermarks } = await reader.read(questions, bound);
        const vector = bound === 'watermark' ? story.seals.watermarks : bound.at;
        expect(watermarks).toEqual(vector);
        for (const query of questions) {
          const got = { seed, query, rows: answers.get(query.key)!.rows };
          expect(got).toEqual({ seed, query, rows: aggregate(query, story.below(vector)).rows });
        }
      }
      // Alone a question takes other paths than among forty.
      const ways = [readerOf(story, 20, undefined, 100_000), readerOf(story, 20), reader];
      const inPages = readerOf(story, 20, { page: random.pick([1, 2, 7, 40]), max: 2_000_000 });
      for (const query of questions.filter(({ by_time }) => by_time === true)) {
        const rows = aggregate(query, story.below(story.seals.watermarks)).rows;
        const { answers } = await inPages.read([query]);
        expect({ seed, query, ...answers.get(query.key) }).toMatchObject({ seed, query, rows });
        const bounded = (max: number) => readerOf(story, 20, { page: 7, max }).read([query, query]);
        await expect(bounded(2 * rows.length)).resolves.toBeDefined();
        if (rows.length > 0)
          await expect(bounded(2 * rows.length - 1)).rejects.toMatchObject({
            code: 'usage_query_too_large',
            message: expect.stringContaining('different times'),
          });
      }
      for (const query of random.some(questions, 0.2)) {
        const bound = random.pick(bounds);
        const vector = bound === 'watermark' ? story.seals.watermarks : bound.at;
        const rows = aggregate(query, story.below(vector)).rows;
        for (const alone of ways) {
          const { answers } = await alone.read([query], bound);
          expect({ seed, query, ...answers.get(query.key) }).toMatchObject({ seed, query, rows });
        }
      }
    },
    DEEP ? 3_600_000 : 900_000,
  );
});
