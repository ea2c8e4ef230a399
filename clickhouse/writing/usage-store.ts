import type { Position, WatermarkVector } from '../../domain/metering/position.ts';
import type { RowBounds } from '../queries/row-bounds.ts';
import type { EncodedRows } from './encode-rows.ts';
import type {
  BucketKey,
  EventIndexRow,
  Hash128,
  MeterUsageRow,
  RawEventRow,
  RejectedRow,
  StoredBucketSize,
  TouchedBucket,
  UsageVoidRow,
} from '../rows.ts';

/**
 * What the stream and the sealer write and ask. Every append resolves once ClickHouse has all rows
 * visible, and the views they feed too; after a throw some may be there, and appending them again is
 * harmless. Driver errors are outages and pass through.
 */
export interface UsageStore {
  /** Rows of one table that were encoded earlier (`RowEncoder`), in one insert. */
  appendEncoded(parts: readonly EncodedRows[]): Promise<void>;
  appendRawEvents(rows: readonly RawEventRow[]): Promise<void>;
  appendIndex(rows: readonly EventIndexRow[]): Promise<void>;
  /** Also marks the day and the quarter hour of each row as touched. */
  appendUsage(rows: readonly MeterUsageRow[]): Promise<void>;
  appendRejected(rows: readonly RejectedRow[]): Promise<void>;
  /** Also marks the buckets that lose usage. */
  appendVoids(rows: readonly UsageVoidRow[]): Promise<void>;

  /** The smallest position stored for each slot that is known; unknown slots are missing. */
  smallestPositions(slots: readonly Hash128[]): Promise<Map<Hash128, Position>>;
  /**
   * Every slot of the given groups (`slotGroup`), 16 bytes each, big-endian as in the hex text, in
   * chunks of whole slots. Holds each slot at least once; the caller leaves out other partitions'.
   */
  indexedSlots(groups: readonly number[]): AsyncIterable<Buffer>;

  /** The copies of a log partition at the greatest positions from `from` on, greatest first. */
  newestCopies(partition: number, from: Position, limit: number): Promise<StoredCopy[]>;
  /** All copies of a log partition from `from` on, ascending, in chunks, each at least once. */
  copiesFrom(partition: number, from: Position): AsyncIterable<RawEventRow[]>;
  /**
   * Takes out what the stream has written of a log partition from `from` on: copies, index, usage, voids
   * and rejections. `partitions`: of the epoch. For rows of a log that is lost, while nobody writes.
   */
  removeFrom(at: { partition: number; partitions: number; from: Position }): Promise<void>;

  /**
   * Canonical copies of one event name below the bounds (a partition without a bound has none), in
   * chunks by customer and time, each at least once: what is repeated collapses when it is written.
   * For backfills of a meter version; `after` resumes behind the last row of an earlier chunk.
   */
  canonicalEvents(query: CanonicalEventsQuery): AsyncIterable<RawEventRow[]>;
  /** How many rows `canonicalEvents` will answer, about. */
  countCanonicalEvents(query: Omit<CanonicalEventsQuery, 'after'>): Promise<number>;
  /** The usage rows of one event, all meter versions: what a void takes back. */
  usageOfEvent(query: {
    tenant_id: string;
    environment_id: string;
    partition: number;
    position: Position;
    external_customer_id: string;
    timestamp: number;
  }): Promise<MeterUsageRow[]>;
  /** One copy by its id and position, or null: a void needs its target's customer and time. */
  rawEvent(query: {
    tenant_id: string;
    environment_id: string;
    event_id: string;
    position: Position;
  }): Promise<RawEventRow | null>;

  /**
   * Buckets marked at or after `since` on ClickHouse's clock (null: ever), with all their marks, in
   * chunks; of the given meter versions alone, where they are named. A mark becomes visible up to some seconds after its time: overlap calls by a minute.
   * A mark that is missed costs speed only: its bucket stays unusable and is read from rows.
   */
  touchedBuckets(query: {
    readonly since: number | null;
    readonly meter_version_ids?: readonly string[];
  }): AsyncIterable<TouchedBucket[]>;
  /** ClickHouse's clock, to be taken before `touchedBuckets` as the next call's `since`. */
  now(): Promise<number>;
  /**
   * Recomputes buckets of one or both sizes from the rows below the bounds and not voided below them,
   * and stores them under `seal`. A bucket without rows is stored as empty, so that what was voided
   * is gone. Repeating it with the same arguments is harmless.
   */
  recomputeBuckets(buckets: readonly BucketKey[], below: RowBounds, seal: bigint): Promise<void>;
  /** What stands under a seal in these buckets, empty ones left out. */
  sealedBuckets(buckets: readonly BucketKey[], seal: bigint): Promise<SealedBucket[]>;
  /** How many rows with events a version has under a seal, both sizes together. */
  countSealedBuckets(
    version: { tenant_id: string; environment_id: string; meter_version_id: string },
    seal: bigint,
    exceptCustomers: readonly string[],
  ): Promise<number>;
  /** Computes buckets again without writing, and answers where what stands under `seal` differs. */
  compareBuckets(
    buckets: readonly BucketKey[],
    below: RowBounds,
    seal: bigint,
  ): Promise<BucketDifference[]>;
}

/** Which event stands at a position. */
export interface StoredCopy {
  readonly position: Position;
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_id: string;
}

/** What stands under a seal for one bucket, one combination of dimensions and one source. */
export interface SealedBucket {
  readonly external_customer_id: string;
  readonly bucket_size: StoredBucketSize;
  /** Milliseconds since 1970. */
  readonly bucket_start: number;
  readonly dimensions: readonly string[];
  readonly source: string;
  readonly event_count: number;
  /** Decimal texts. */
  readonly sum: string;
  readonly min: string;
  readonly max: string;
  readonly latest: string;
  /** Distinct values; null for 15 minutes, which do not keep it. */
  readonly unique_count: number | null;
}

/** A bucket row that is not what the rows below its seal's vector come to. Figures are JSON; null: no such row. */
export interface BucketDifference {
  readonly bucket_size: StoredBucketSize;
  /** Tenant, environment, customer, meter version, start, dimensions, source. */
  readonly row: readonly unknown[];
  readonly stored: string | null;
  readonly computed: string | null;
}

export interface CanonicalEventsQuery {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_name: string;
  readonly below: WatermarkVector;
  /** Leaves out what corrections below this vector took back. */
  readonly voidedBelow?: WatermarkVector;
  readonly after?: Pick<
    RawEventRow,
    'external_customer_id' | 'timestamp' | 'position' | 'partition'
  >;
}

/** The group in which a slot is stored: the lowest two bits of the 32 that choose its partition. */
export function slotGroup(slot: Hash128): number {
  return Number.parseInt(slot[7]!, 16) & 3;
}

/** Groups that can hold slots of one log partition out of `partitions`, ascending. */
export function slotGroupsOfPartition(partition: number, partitions: number): number[] {
  const step = greatestCommonDivisor(partitions, SLOT_GROUPS);
  return [0, 1, 2, 3].filter((group) => group % step === partition % step);
}

const SLOT_GROUPS = 4;

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
