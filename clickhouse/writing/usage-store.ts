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
 * Writes and queries of the stream and the sealer. Every append resolves once all rows, and the rows of the
 * views that they feed, are visible in ClickHouse. After a throw some rows may be stored, and appending them
 * again is harmless. Driver errors are outages and are passed on.
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
   * Every slot of the given groups (`slotGroup`), 16 bytes each, big-endian as in the hex text, in chunks of
   * whole slots. Returns each slot at least once; the caller discards slots of other partitions.
   */
  indexedSlots(groups: readonly number[]): AsyncIterable<Buffer>;

  /** The copies of a log partition at the greatest positions from `from` on, greatest first. */
  newestCopies(partition: number, from: Position, limit: number): Promise<StoredCopy[]>;
  /** All copies of a log partition from `from` on, ascending, in chunks, each at least once. */
  copiesFrom(partition: number, from: Position): AsyncIterable<RawEventRow[]>;
  /**
   * Deletes what the stream has written for a log partition from `from` on: copies, index, usage, voids and
   * rejections. `partitions`: count of the epoch. For rows of a lost log, while no process writes.
   */
  removeFrom(at: { partition: number; partitions: number; from: Position }): Promise<void>;

  /**
   * Canonical copies of one event name below the bounds (a partition without a bound has none), in chunks by
   * customer and time, each at least once: duplicates collapse when they are written. For backfills of a
   * meter version; `after` resumes after the last row of an earlier chunk.
   */
  canonicalEvents(query: CanonicalEventsQuery): AsyncIterable<RawEventRow[]>;
  /** Approximate number of rows that `canonicalEvents` returns. */
  countCanonicalEvents(query: Omit<CanonicalEventsQuery, 'after'>): Promise<number>;
  /** The usage rows of one event in all meter versions: the target of a void. */
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
   * Buckets marked at or after `since` on ClickHouse's clock (null: at any time), with all their marks, in
   * chunks; only of the given meter versions, if any are named. A mark becomes visible up to some seconds
   * after its time: overlap calls by a minute. A missed mark costs only speed: its bucket stays unusable and
   * is read from rows.
   */
  touchedBuckets(query: {
    readonly since: number | null;
    readonly meter_version_ids?: readonly string[];
  }): AsyncIterable<TouchedBucket[]>;
  /** ClickHouse's clock. Read it before `touchedBuckets`; it is the next call's `since`. */
  now(): Promise<number>;
  /**
   * Recomputes buckets of one or both sizes from the rows below the bounds and not voided below them, and
   * stores them under `seal`. A bucket without rows is stored as empty, so that voided usage disappears.
   * Repeating the call with the same arguments is harmless.
   */
  recomputeBuckets(buckets: readonly BucketKey[], below: RowBounds, seal: bigint): Promise<void>;
  /** Stored rows of these buckets under a seal, without empty ones. */
  sealedBuckets(buckets: readonly BucketKey[], seal: bigint): Promise<SealedBucket[]>;
  /** Number of rows with events of a version under a seal, both sizes together. */
  countSealedBuckets(
    version: { tenant_id: string; environment_id: string; meter_version_id: string },
    seal: bigint,
    exceptCustomers: readonly string[],
  ): Promise<number>;
  /**
   * Computes buckets again without writing, and returns the differences from the stored rows under `seal`.
   */
  compareBuckets(
    buckets: readonly BucketKey[],
    below: RowBounds,
    seal: bigint,
  ): Promise<BucketDifference[]>;
}

/** The event at a position. */
export interface StoredCopy {
  readonly position: Position;
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_id: string;
}

/** The stored row under a seal for one bucket, one combination of dimensions and one source. */
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
  /** Distinct values; null for 15 minutes, which do not store them. */
  readonly unique_count: number | null;
}

/** A bucket row that differs from the rows below its seal's vector. Figures are JSON; null: no such row. */
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
  /** Excludes events that corrections below this vector voided. */
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

/** Groups that can contain slots of one log partition out of `partitions`, ascending. */
export function slotGroupsOfPartition(partition: number, partitions: number): number[] {
  const step = greatestCommonDivisor(partitions, SLOT_GROUPS);
  return [0, 1, 2, 3].filter((group) => group % step === partition % step);
}

const SLOT_GROUPS = 4;

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
