import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import type { Position, WatermarkVector } from '../domain/metering/position.ts';
import type { Logger } from '../platform/log.ts';
import {
  ERASED_PROPERTIES,
  type BucketKey,
  type MeterUsageRow,
  type StoredBucketSize,
} from '../clickhouse/rows.ts';
import type { SealedBucket, UsageStore } from '../clickhouse/writing/usage-store.ts';
import type { Written } from '../clickhouse/writing/encode-rows.ts';
import type { Pool } from '../postgres/client.ts';
import type { Verification, VersionInBackfill } from '../postgres/tables/meter-backfills.ts';
import { readUsageBounds } from '../postgres/tables/seals.ts';
import { compileOrFail, MetersFailed, whyItFailed } from './meter-catalog.ts';
import { meterEvent } from './meter-events.ts';

const BUCKET_MS: Readonly<Record<StoredBucketSize, number>> = { '15MIN': 900_000, DAY: 86_400_000 };
const MISMATCHES_SHOWN = 5;
/**
 * The same process meters live events: verification yields to them after this many events, and uses half of
 * the time.
 */
const EVENTS_AT_ONCE = 1_000;

/**
 * Verifies a version: counts every canonical raw event below the vector of its seal again, with the stream's
 * own functions, and compares the result with the buckets of both sizes under that seal (metering 6). Events
 * are read by customer and time, so only one day of one customer is in memory at a time. Customers with
 * erased events are left out, because their usage can no longer be computed. Null when the seal is not
 * recorded or the turn has ended; the next turn starts over.
 */
export async function verifyVersion(
  deps: { readonly pool: Pool; readonly store: UsageStore; readonly log: Logger },
  version: VersionInBackfill,
  ended: AbortSignal,
): Promise<Verification | null> {
  const { pool, store, log } = deps;
  const seal = BigInt(version.verified_seal ?? 0);
  const bounds = await readUsageBounds(pool, [version.id]);
  const watermarks = (await bounds.vectorsOf([seal])).get(seal);
  if (watermarks === undefined) return null;

  const meter = compileOrFail(version);
  const recount = new Recount(store, version, seal);
  const { tenant_id, environment_id, spec } = version;
  const events = store.canonicalEvents({
    tenant_id,
    environment_id,
    event_name: spec.event_name,
    below: belowBoth(watermarks, bounds.liveUntil.get(version.id)),
    voidedBelow: watermarks,
  });
  let last: { readonly position: Position; readonly partition: number } | null = null;
  let began = performance.now();
  for await (const chunk of events) {
    if (ended.aborted) return null;
    for (const [index, event] of chunk.entries()) {
      if (index > 0 && index % EVENTS_AT_ONCE === 0) await breathe();
      // A duplicate row that has not been merged yet.
      if (last?.position === event.position && last.partition === event.partition) continue;
      last = event;
      recount.begin(event.external_customer_id, event.timestamp);
      if (event.properties === ERASED_PROPERTIES) recount.leaveOut(event.external_customer_id);
      meterEvent(event, event, [meter], {
        usage: (row) => recount.add(row),
        rejected: () => {},
        failed: (id, error) => {
          throw new MetersFailed([{ id, reason: whyItFailed(error) }]);
        },
      });
    }
    await recount.compareFinished();
    await sleep(performance.now() - began, undefined, { signal: ended }).catch(() => {});
    began = performance.now();
  }
  return ended.aborted ? null : await recount.finish();
}

/** An ended version counts only up to its end. */
function belowBoth(watermarks: WatermarkVector, end: WatermarkVector | undefined): WatermarkVector {
  return Object.fromEntries(
    Object.entries(watermarks).map(([partition, position]) => {
      const until = end?.[Number(partition)];
      return [partition, until !== undefined && until < position ? until : position];
    }),
  );
}

interface Figures {
  readonly bucket: BucketKey;
  readonly dimensions: readonly string[];
  readonly source: string;
  count: number;
  sum: bigint;
  min: bigint;
  max: bigint;
  latest: bigint;
  readonly uniques: Set<string>;
}

class Recount {
  readonly #store: UsageStore;
  readonly #version: VersionInBackfill;
  readonly #seal: bigint;
  readonly #withoutCustomers = new Set<string>();
  readonly #mismatches: string[] = [];
  #mismatched = 0;
  #events = 0;
  #buckets = 0;
  /** Figures of finished days, and of the current day of the current customer. */
  #finished: Figures[] = [];
  #open = new Map<string, Figures>();
  #day = '';

  constructor(store: UsageStore, version: VersionInBackfill, seal: bigint) {
    this.#store = store;
    this.#version = version;
    this.#seal = seal;
  }

  begin(customer: string, timestamp: number): void {
    this.#events++;
    const day = `${Math.floor(timestamp / BUCKET_MS.DAY)} ${customer}`;
    if (day === this.#day) return;
    this.#day = day;
    this.#finished.push(...this.#open.values());
    this.#open = new Map();
  }

  leaveOut(customer: string): void {
    this.#withoutCustomers.add(customer);
  }

  /** Rows of one customer arrive by (timestamp, position, partition), so the last one is the latest. */
  add(row: Written<MeterUsageRow>): void {
    const value = scaled(row.value);
    for (const size of ['15MIN', 'DAY'] as const) {
      const figures = this.#figuresOf(size, row);
      figures.count++;
      figures.sum += value;
      if (value < figures.min) figures.min = value;
      if (value > figures.max) figures.max = value;
      figures.latest = value;
      if (size === 'DAY' && this.#version.spec.aggregation.type === 'COUNT_UNIQUE')
        figures.uniques.add(row.unique_hash);
    }
  }

  #figuresOf(size: StoredBucketSize, row: Written<MeterUsageRow>): Figures {
    const start = Math.floor(row.timestamp / BUCKET_MS[size]) * BUCKET_MS[size];
    const key = JSON.stringify([size, start, row.dimensions, row.source]);
    let figures = this.#open.get(key);
    if (figures === undefined) {
      const { tenant_id, environment_id, id: meter_version_id } = this.#version;
      const { external_customer_id, dimensions, source } = row;
      const scope = { tenant_id, environment_id, external_customer_id, meter_version_id };
      const value = scaled(row.value);
      figures = {
        bucket: { ...scope, bucket_size: size, bucket_start: start },
        dimensions,
        source,
        count: 0,
        sum: 0n,
        min: value,
        max: value,
        latest: value,
        uniques: new Set(),
      };
      this.#open.set(key, figures);
    }
    return figures;
  }

  async compareFinished(): Promise<void> {
    const counted = this.#finished.filter(
      ({ bucket }) => !this.#withoutCustomers.has(bucket.external_customer_id),
    );
    this.#finished = [];
    if (counted.length === 0) return;
    const keys = new Map(counted.map(({ bucket }) => [keyOf(bucket), bucket]));
    const sealed = await this.#store.sealedBuckets([...keys.values()], this.#seal);
    const found = new Map(sealed.map((bucket) => [rowKeyOf(bucket, bucket), sealedText(bucket)]));
    this.#buckets += counted.length;
    for (const figures of counted) {
      const key = rowKeyOf(figures.bucket, figures);
      const expected = countedText(figures);
      const stored = found.get(key);
      if (stored !== expected) this.#mismatch(`${key}: ${stored ?? 'nothing'}, not ${expected}`);
    }
  }

  async finish(): Promise<Verification> {
    this.#finished.push(...this.#open.values());
    this.#open = new Map();
    await this.compareFinished();
    const { tenant_id, environment_id, id: meter_version_id } = this.#version;
    const version = { tenant_id, environment_id, meter_version_id };
    const except = [...this.#withoutCustomers];
    const stored = await this.#store.countSealedBuckets(version, this.#seal, except);
    if (stored > this.#buckets)
      this.#mismatch(`${stored} buckets have events, of which the events fill ${this.#buckets}`);
    return {
      events: this.#events,
      buckets: this.#buckets,
      withoutCustomers: this.#withoutCustomers.size,
      mismatched: this.#mismatched,
      mismatches: this.#mismatches,
    };
  }

  #mismatch(text: string): void {
    this.#mismatched++;
    if (this.#mismatches.length < MISMATCHES_SHOWN) this.#mismatches.push(text);
  }
}

type BucketName = Pick<BucketKey, 'external_customer_id' | 'bucket_size' | 'bucket_start'>;

const keyOf = (bucket: BucketName): string =>
  JSON.stringify([bucket.external_customer_id, bucket.bucket_size, bucket.bucket_start]);
const rowKeyOf = (
  { external_customer_id, bucket_size, bucket_start }: BucketName,
  { dimensions, source }: Pick<Figures, 'dimensions' | 'source'>,
): string => JSON.stringify([external_customer_id, bucket_size, bucket_start, dimensions, source]);

const countedText = ({ bucket, count, sum, min, max, latest, uniques }: Figures): string =>
  [count, sum, min, max, latest, bucket.bucket_size === 'DAY' ? uniques.size : '-'].join(' ');
const sealedText = (bucket: SealedBucket): string =>
  [
    bucket.event_count,
    ...[bucket.sum, bucket.min, bucket.max, bucket.latest].map(scaled),
    bucket.unique_count ?? '-',
  ].join(' ');

/** Decimal text with at most 18 decimals as an integer in units of 10^-18: sums stay exact at any size. */
function scaled(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  const digits = BigInt(`${whole}${fraction.padEnd(18, '0')}`);
  return digits;
}
