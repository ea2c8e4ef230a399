import type { ClickHouse } from '../../clickhouse/client.ts';
import { createUsageReader } from '../../clickhouse/reading/usage-reader.ts';
import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import type { UsageStore } from '../../clickhouse/writing/usage-store.ts';
import { packPosition } from '../../domain/metering/position.ts';
import type { UsageQuery, UsageReader } from '../../domain/metering/usage.ts';
import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';
import { SealModel } from './usage/seal-model.ts';

const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
const FIRST = Date.parse('2026-03-01T00:00:00.000Z');
const TODAY = FIRST + 3 * DAY_MS;
const at = (day: number, quarter: number): number => FIRST + day * DAY_MS + quarter * QUARTER_MS;

/** Usage of one tenant whose last day is not sealed, and a reader that has read it before. */
class Tenant {
  readonly seals = new SealModel();
  readonly reader: UsageReader;
  /** Rounds of statements of the last read: those under way together are one. */
  rounds = 0;
  rowsFail = false;
  readonly tenant_id: string;
  readonly #store: UsageStore;
  #offset: number;

  constructor(clickhouse: ClickHouse, tenant_id: string, firstOffset: number) {
    this.tenant_id = tenant_id;
    this.#store = createUsageStore(clickhouse);
    this.#offset = firstOffset;
    let running = 0;
    const counted: ClickHouse = {
      ...clickhouse,
      bytes: async (query, ...rest) => {
        if (running === 0) this.rounds += 1;
        running += 1;
        try {
          if (this.rowsFail && query.sql.includes('meter_usage_v1')) throw new Error('too many');
          return await clickhouse.bytes(query, ...rest);
        } finally {
          running -= 1;
        }
      },
    };
    this.reader = createUsageReader({
      clickhouse: counted,
      readBounds: this.seals.bounds,
      readDimensions: async (versions) => new Map(versions.map((version) => [version, []])),
    });
  }

  /** One event of the value at each time; answers the rows. */
  async use(customer: string, value: number, times: readonly number[], version = 'v1') {
    const rows = times.map((timestamp, index) => ({
      tenant_id: this.tenant_id,
      environment_id: 'env_1',
      external_customer_id: customer,
      meter_version_id: version,
      timestamp,
      partition: 0,
      position: packPosition(0, BigInt(this.#offset + index), 0),
      value: String(value),
      unique_hash: '0'.repeat(32),
      dimensions: [],
      source: '',
    }));
    await this.#store.appendUsage(rows);
    this.#move(times.length);
    return rows;
  }

  async takeBack(row: Awaited<ReturnType<Tenant['use']>>[number]): Promise<void> {
    const { tenant_id, environment_id, external_customer_id, meter_version_id, timestamp } = row;
    await this.#store.appendVoids([
      {
        tenant_id, environment_id, external_customer_id, meter_version_id, timestamp, event_id: 'e',
        target_partition: 0, target_position: row.position, partition: 0,
        position: packPosition(0, BigInt(this.#offset), 0),
      },
    ]); // prettier-ignore
    this.#move(1);
  }

  #move(offsets: number): void {
    this.#offset += offsets;
    this.seals.watermarks[0] = packPosition(0, BigInt(this.#offset), 0);
  }

  /** Seals what was touched before a time. */
  async seal(before: number, sizes: readonly string[] = ['DAY', '15MIN']): Promise<void> {
    const seal = this.seals.next();
    const watermarks = { ...this.seals.watermarks };
    const bounds = { watermarks, liveUntil: this.seals.liveUntil };
    for await (const chunk of this.#store.touchedBuckets({ since: null }))
      await this.#store.recomputeBuckets(
        chunk.filter(
          ({ tenant_id, bucket_size, bucket_start }) =>
            tenant_id === this.tenant_id && bucket_start < before && sizes.includes(bucket_size),
        ),
        bounds,
        seal,
      );
    this.seals.record(seal, watermarks);
  }

  /** The sum of a customer in the days from the first to the end of today, and in how many rounds it was read. */
  async read(customer: string, more: Partial<UsageQuery> = {}) {
    this.rounds = 0;
    const query: UsageQuery = {
      key: 'q',
      tenant_id: this.tenant_id,
      environment_id: 'env_1',
      meter_version_id: 'v1',
      aggregation: 'SUM',
      multiplier: null,
      reset_usage: 'BILLING_PERIOD',
      external_customer_ids: [customer],
      start: new Date(FIRST).toISOString(),
      end: new Date(TODAY + DAY_MS).toISOString(),
      filter_values: {},
      group_by: [],
      window: null,
      ...more,
    };
    const { answers } = await this.reader.read([query]);
    const [row] = answers.get('q')!.rows;
    return { sum: Number(row?.quantity ?? 0), rounds: this.rounds };
  }
}

describe('the rows of a day that is not sealed are read with its marks', () => {
  let world: TestClickHouse;
  let tenants = 0;
  beforeAll(async () => {
    world = await createTestClickHouse();
  });
  afterAll(() => world.drop());

  /** Each day of `acme` and `bolt` has 2 events of 1; today is not sealed; one read was made. */
  const opened = async (): Promise<Tenant> => {
    tenants += 1;
    const tenant = new Tenant(world.clickhouse, `tenant_${tenants}`, tenants * 10_000);
    for (const customer of ['acme', 'bolt'])
      await tenant.use(customer, 1, [0, 1, 2, 3].flatMap((day) => [at(day, 20), at(day, 40)])); // prettier-ignore
    await tenant.seal(TODAY);
    expect((await tenant.read('acme')).sum).toBe(8);
    return tenant;
  };

  test('in one round, also of another customer, whose first event of the day is earlier', async () => {
    const tenant = await opened();
    await tenant.use('bolt', 4, [at(3, 1)]);
    expect(await tenant.read('bolt')).toEqual({ sum: 12, rounds: 1 });
    expect(await tenant.read('nobody')).toEqual({ sum: 0, rounds: 1 });
  });

  test('a late event in a sealed day counts, and then today is read in one round again', async () => {
    const tenant = await opened();
    await tenant.use('acme', 16, [at(1, 21)]);
    expect((await tenant.read('acme')).sum).toBe(24);
    await tenant.seal(TODAY);
    expect((await tenant.read('acme')).sum).toBe(24);
    expect(await tenant.read('acme')).toEqual({ sum: 24, rounds: 1 });
  });

  test('an event of today that is taken back does not count, before and after the seal', async () => {
    const tenant = await opened();
    const [row] = await tenant.use('acme', 32, [at(3, 50)]);
    expect(await tenant.read('acme')).toEqual({ sum: 40, rounds: 1 });
    await tenant.takeBack(row!);
    expect(await tenant.read('acme')).toEqual({ sum: 8, rounds: 1 });
    await tenant.seal(TODAY + DAY_MS);
    expect((await tenant.read('acme')).sum).toBe(8);
  });

  test('quarter hours that were sealed meanwhile count once; a late event before them counts', async () => {
    const tenant = await opened();
    await tenant.seal(at(3, 30), ['15MIN']);
    await tenant.use('acme', 2, [at(3, 60)]);
    expect(await tenant.read('acme')).toEqual({ sum: 10, rounds: 1 });
    // From here on the rows of the sealed quarter hours are left alone.
    expect(await tenant.read('bolt')).toEqual({ sum: 8, rounds: 1 });
    await tenant.use('bolt', 64, [at(3, 2)]);
    expect((await tenant.read('bolt')).sum).toBe(72);
    expect(await tenant.read('bolt')).toEqual({ sum: 72, rounds: 1 });
    expect((await tenant.read('acme')).sum).toBe(10);
  });

  test('a day that is sealed meanwhile counts once', async () => {
    const tenant = await opened();
    await tenant.seal(TODAY + DAY_MS);
    expect((await tenant.read('acme')).sum).toBe(8);
  });

  test('the range of the query cuts the rows', async () => {
    const tenant = await opened();
    const end = new Date(at(3, 40)).toISOString();
    expect(await tenant.read('acme', { end })).toEqual({ sum: 7, rounds: 1 });
    const start = new Date(at(3, 20) + 1).toISOString();
    expect((await tenant.read('acme', { start })).sum).toBe(1);
  });

  test('usage of an edited meter: rows of the ended version beyond its end do not count', async () => {
    const tenant = await opened();
    tenant.seals.liveUntil.set('v1', { ...tenant.seals.watermarks });
    await tenant.use('acme', 128, [at(3, 70)]);
    await tenant.use('acme', 256, [at(3, 70)], 'v2');
    expect(await tenant.read('acme')).toEqual({ sum: 8, rounds: 1 });
    expect(await tenant.read('acme', { meter_version_id: 'v2' })).toEqual({ sum: 256, rounds: 1 });
  });

  test('another tenant with the same customer, day and meter version does not count', async () => {
    const tenant = await opened();
    const other = await opened();
    await other.use('acme', 512, [at(3, 50)]);
    tenant.seals.watermarks[0] = other.seals.watermarks[0]!;
    expect((await tenant.read('acme')).sum).toBe(8);
    expect((await other.read('acme')).sum).toBe(520);
  });

  test('if the rows cannot be read that early, nothing is missing: the read fails or is whole', async () => {
    const tenant = await opened();
    tenant.rowsFail = true;
    await expect(tenant.read('acme')).rejects.toThrow();
    tenant.rowsFail = false;
    expect(await tenant.read('acme')).toEqual({ sum: 8, rounds: 1 });
  });
});
