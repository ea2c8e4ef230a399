import type { ClickHouse } from '../../../clickhouse/client.ts';
import { createUsageReader } from '../../../clickhouse/reading/usage-reader.ts';
import { createUsageStore } from '../../../clickhouse/writing/create-usage-store.ts';
import type { UsageStore } from '../../../clickhouse/writing/usage-store.ts';
import { packPosition } from '../../../domain/metering/position.ts';
import type { UsageQuery, UsageReader } from '../../../domain/metering/usage.ts';
import { SealModel } from './seal-model.ts';

export const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
export const FIRST = Date.parse('2026-03-01T00:00:00.000Z');
export const TODAY = FIRST + 3 * DAY_MS;
/** A quarter hour of a day, both counted from 0. */
export const at = (day: number, quarter: number): number =>
  FIRST + day * DAY_MS + quarter * QUARTER_MS;

/** Usage of one tenant, with a reader that counts its statements. `fewRows`: see `UsageReaderOptions`. */
export class UsageTenant {
  readonly seals = new SealModel();
  readonly reader: UsageReader;
  /** Rounds of statements of the last read: those under way together are one. */
  rounds = 0;
  /** Statements of the last read. */
  statements = 0;
  rowsFail = false;
  readonly tenant_id: string;
  readonly #store: UsageStore;
  #offset: number;

  constructor(clickhouse: ClickHouse, tenant_id: string, firstOffset: number, fewRows: number) {
    this.tenant_id = tenant_id;
    this.#store = createUsageStore(clickhouse);
    this.#offset = firstOffset;
    let running = 0;
    const counted: ClickHouse = {
      ...clickhouse,
      bytes: async (query, ...rest) => {
        if (running === 0) this.rounds += 1;
        running += 1;
        this.statements += 1;
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
      fewRows,
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

  async takeBack(row: Awaited<ReturnType<UsageTenant['use']>>[number]): Promise<void> {
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
    this.statements = 0;
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
