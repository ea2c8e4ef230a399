import type { Position } from '../domain/metering/position.ts';

/** Rows as stored in the tables of `migrations/0001_usage.sql`. Times are milliseconds since 1970. */

/** 32 lower-case hex digits: 128 bits. A slot identifies all copies of one event id in its environment. */
export type Hash128 = string;

/** One copy of an event, as accepted. Texts that the event lacks are empty. */
export interface RawEventRow {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_name: string;
  readonly external_customer_id: string;
  readonly customer_id: string;
  readonly timestamp: number;
  readonly event_id: string;
  readonly source: string;
  /** One JSON object as text; empty when the event has none, `ERASED_PROPERTIES` when they were erased. */
  readonly properties: string;
  readonly ingested_at: number;
  readonly partition: number;
  readonly position: Position;
  readonly is_canonical: boolean;
}

export interface EventIndexRow {
  readonly slot: Hash128;
  readonly position: Position;
}

/** What one meter version counts of one canonical event. */
export interface MeterUsageRow {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly external_customer_id: string;
  readonly meter_version_id: string;
  readonly timestamp: number;
  readonly partition: number;
  readonly position: Position;
  /** Decimal text, at most 20 integer and 18 decimal digits; `1` for COUNT and COUNT_UNIQUE. */
  readonly value: string;
  /** Hash of the counted text for COUNT_UNIQUE, `NO_HASH` otherwise. */
  readonly unique_hash: Hash128;
  /**
   * One text for each of the meter version's `dimensions`, in their order; empty if the event lacks the
   * property.
   */
  readonly dimensions: readonly string[];
  readonly source: string;
}

/** `meter_version_id` is empty when no meter had counted the target; then the key columns are unused. */
export interface UsageVoidRow {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly target_partition: number;
  readonly target_position: Position;
  /** Partition of the correction itself; its position follows. */
  readonly partition: number;
  readonly position: Position;
  readonly meter_version_id: string;
  /** Customer and timestamp of the target's usage row, so that its buckets are marked. */
  readonly external_customer_id: string;
  readonly timestamp: number;
  readonly event_id: string;
}

export interface RejectedRow {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_id: string;
  readonly event_name: string;
  readonly external_customer_id: string;
  /** Empty if the event itself was rejected, rather than by one meter version. */
  readonly meter_version_id: string;
  readonly partition: number;
  readonly position: Position;
  /** Time of acceptance by the edge; 0 if unknown, because a replay must write the same row. */
  readonly ingested_at: number;
  /** Stable code, for example `value_out_of_range`. */
  readonly reason: string;
  readonly message: string;
  /** Base64 of the undecodable bytes, or the event's JSON; empty if `events_raw` has it. */
  readonly raw: string;
}

/** Sizes of stored buckets; every other window is composed from these and from rows. */
export type StoredBucketSize = '15MIN' | 'DAY';

export interface BucketKey {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly external_customer_id: string;
  readonly meter_version_id: string;
  readonly bucket_size: StoredBucketSize;
  /** Milliseconds since 1970, a multiple of the size, UTC. */
  readonly bucket_start: number;
}

/** A bucket with its marks and the seal of its stored rows. */
export interface TouchedBucket extends BucketKey {
  /** Greatest position marked per log partition. */
  readonly marks: Readonly<Record<number, Position>>;
  /** Greatest seal number stored, recorded or not; null if the bucket was never written. */
  readonly seal: bigint | null;
}

/**
 * The properties of an event after its customer was erased (tenancy S31). No sender can produce this
 * value, because properties are a JSON object.
 */
export const ERASED_PROPERTIES = 'erased';

export const NO_HASH: Hash128 = '0'.repeat(32);
