import type { WatermarkVector } from '../../domain/metering/position.ts';
import type { SetAside } from '../../domain/metering/set-aside.ts';
import type { Db } from '../client.ts';
import { vectorOf } from './watermarks.ts';

/** Seal numbers as bucket rows carry them: `generation << 32 | number`. */
export type Seal = bigint;

export const packSeal = (generation: bigint, number: bigint): Seal => (generation << 32n) | number;
const generationOf = (seal: Seal): bigint => seal >> 32n;
const numberOf = (seal: Seal): bigint => seal & 0xffff_ffffn;

/**
 * What a usage read may see, taken in one statement (metering 5, query step 1): the watermarks, the seals
 * recorded by then, and the positions at which ended versions stop counting.
 */
export interface UsageBounds {
  readonly watermarks: WatermarkVector;
  /** Rows of an ended version at or beyond its `live_until` do not count, though they may exist. */
  readonly liveUntil: ReadonlyMap<string, WatermarkVector>;
  /** The versions that are set aside: below these watermarks their usage is incomplete. */
  readonly setAside: readonly SetAside[];
  /**
   * The vectors of those `seals` that were recorded when the watermarks were read. A recorded seal never
   * changes, so a later lookup returns the same vector.
   */
  vectorsOf(seals: readonly Seal[]): Promise<ReadonlyMap<Seal, WatermarkVector>>;
}

/** The usage store is being repaired; a number read now could be incomplete. */
export class UsageUnderRepair extends Error {
  constructor() {
    super('Events are being replayed into the usage store after an unclean stop.');
    this.name = 'UsageUnderRepair';
  }
}

/** Throws `UsageUnderRepair` while a replay is due (metering 3). */
export async function readUsageBounds(
  db: Db,
  meterVersionIds: readonly string[],
): Promise<UsageBounds> {
  const [row] = await db<BoundsRow[]>`
    select (select coalesce(json_agg(json_build_array(epoch, partition, next_offset::text)), '[]')
              from stream_progress) as progress,
           (select coalesce(json_agg(json_build_array(meter_version_id, epoch, partition, live_until::text)), '[]')
              from meter_live
             where meter_version_id = any(${meterVersionIds as string[]}::text[])
               and live_until is not null) as ended,
           (select coalesce(json_agg(json_build_object('meter_id', meter_id, 'reason', set_aside_reason)), '[]')
              from meter_versions
             where id = any(${meterVersionIds as string[]}::text[])
               and backfill_state = 'set_aside') as set_aside,
           (select last_number from sealer) as last_number,
           exists (select from stream_replays) as under_repair`;
  const { progress, ended, set_aside, last_number, under_repair } = row!;
  if (under_repair) throw new UsageUnderRepair();
  const lastNumber = BigInt(last_number);
  return {
    watermarks: vectorOf(progress),
    liveUntil: liveUntilOf(ended),
    setAside: set_aside,
    vectorsOf: (seals) => recordedVectors(db, seals, lastNumber),
  };
}

/** Positions at which ended versions stop counting, for reads of events instead of usage rows. */
export async function readLiveUntil(
  db: Db,
  meterVersionIds: readonly string[],
): Promise<ReadonlyMap<string, WatermarkVector>> {
  const rows = await db<{ ended: BoundsRow['ended'][number] }[]>`
    select json_build_array(meter_version_id, epoch, partition, live_until::text) as ended
      from meter_live
     where meter_version_id = any(${meterVersionIds as string[]}::text[])
       and live_until is not null`;
  return liveUntilOf(rows.map(({ ended }) => ended));
}

/**
 * Takes over as sealer: the next generation; null while another sealer's lease runs. Earlier generations
 * cannot record anything from here on.
 */
export async function takeSealer(db: Db, leaseSeconds: number): Promise<SealerTurn | null> {
  const [row] = await db<
    { generation: string; last_number: string; listed_since: string | null }[]
  >`
    update sealer
       set generation = generation + 1, leased_until = now() + ${leaseSeconds} * interval '1 second'
     where leased_until < now()
    returning generation, last_number, listed_since`;
  return row === undefined
    ? null
    : {
        generation: BigInt(row.generation),
        lastNumber: BigInt(row.last_number),
        listedSince: row.listed_since === null ? null : Number(row.listed_since),
      };
}

export interface SealerTurn {
  readonly generation: bigint;
  /** Number of the last recorded seal. */
  readonly lastNumber: bigint;
  readonly listedSince: number | null;
}

/** Extends the lease; false if another generation has begun. */
export async function renewSealer(db: Db, generation: bigint, leaseSeconds: number) {
  const renewed = await db`
    update sealer set leased_until = now() + ${leaseSeconds} * interval '1 second'
     where generation = ${String(generation)}::bigint`;
  return renewed.count === 1;
}

/** Releases the lease, so that the next sealer need not wait for its end. */
export async function releaseSealer(db: Db, generation: bigint): Promise<void> {
  await db`update sealer set leased_until = '-infinity' where generation = ${String(generation)}::bigint`;
}

export interface SealRecord {
  readonly seal: Seal;
  /** The watermark vector below which its buckets were computed. */
  readonly watermarks: WatermarkVector;
  /**
   * Buckets marked before this time, on ClickHouse's clock in milliseconds, are all sealed. Null means
   * unknown.
   */
  readonly listedSince: number | null;
  /** Versions whose buckets were all computed from scratch: with this seal they can be verified. */
  readonly completedVersions: readonly string[];
}

/** Records a seal: from now on its buckets count. False if the generation is over. */
export async function recordSeal(db: Db, record: SealRecord): Promise<boolean> {
  const { seal, watermarks, listedSince, completedVersions } = record;
  const vector = Object.fromEntries(
    Object.entries(watermarks).map(([partition, position]) => [partition, String(position)]),
  );
  const rows = await db`
    with turn as (
      update sealer
         set last_number = last_number + 1,
             listed_since = coalesce(${listedSince}::bigint, listed_since)
       where generation = ${String(generationOf(seal))}::bigint
         and last_number = ${String(numberOf(seal) - 1n)}::bigint
      returning generation, last_number
    ), completed as (
      update meter_versions
         set backfill_state = 'verifying', verified_seal = ${String(seal)}::bigint, updated_at = now()
        from turn
       where id = any(${completedVersions as string[]}::text[]) and backfill_state = 'sealing'
    )
    insert into seals (number, generation, watermarks)
    select last_number, generation, ${db.json(vector)} from turn
    returning number`;
  return rows.length === 1;
}

/** Requests that every bucket is computed again, even sealed ones. The sealer does it in its next cycles. */
export async function requestRebuild(db: Db): Promise<void> {
  await db`update sealer set rebuild_requested_at = now()`;
}

/** Time of a rebuild request that no sealer has started yet. */
export async function readRebuildRequest(db: Db): Promise<string | null> {
  const [row] = await db<{ requested_at: string | null }[]>`
    select rebuild_requested_at::text as requested_at from sealer`;
  return row!.requested_at;
}

/** Records that every bucket has been computed again since the request. */
export async function endRebuild(db: Db, generation: bigint, requestedAt: string): Promise<void> {
  await db`
    update sealer set rebuild_requested_at = null
     where generation = ${String(generation)}::bigint and rebuild_requested_at = ${requestedAt}::timestamptz`;
}

interface BoundsRow {
  progress: [epoch: number, partition: number, nextOffset: string][];
  ended: [versionId: string, epoch: number, partition: number, liveUntil: string][];
  set_aside: SetAside[];
  last_number: string;
  under_repair: boolean;
}

function liveUntilOf(rows: BoundsRow['ended']): Map<string, WatermarkVector> {
  const byVersion = new Map<string, [number, number, string][]>();
  for (const [id, epoch, partition, offset] of rows) {
    byVersion.set(id, [...(byVersion.get(id) ?? []), [epoch, partition, offset]]);
  }
  return new Map([...byVersion].map(([id, list]) => [id, vectorOf(list)]));
}

/** Cache of vectors: a recorded seal never changes. Bounded, and emptied when full. */
const KNOWN_VECTORS = new WeakMap<Db, Map<Seal, WatermarkVector>>();
const KNOWN_VECTORS_MAX = 50_000;

async function recordedVectors(db: Db, seals: readonly Seal[], lastNumber: bigint) {
  let known = KNOWN_VECTORS.get(db);
  if (known === undefined) KNOWN_VECTORS.set(db, (known = new Map()));
  const vectors = new Map<Seal, WatermarkVector>();
  const missing = new Set<bigint>();
  for (const seal of seals) {
    if (numberOf(seal) > lastNumber) continue;
    const vector = known.get(seal);
    if (vector === undefined) missing.add(numberOf(seal));
    else vectors.set(seal, vector);
  }
  if (missing.size === 0) return vectors;
  if (known.size > KNOWN_VECTORS_MAX) known.clear();
  const rows = await db<
    { number: string; generation: string; watermarks: Record<string, string> }[]
  >`
    select number, generation, watermarks from seals
     where number = any(${[...missing].map(String)}::bigint[])`;
  for (const row of rows) {
    const vector: Record<number, bigint> = {};
    for (const [partition, position] of Object.entries(row.watermarks)) {
      vector[Number(partition)] = BigInt(position);
    }
    const seal = packSeal(BigInt(row.generation), BigInt(row.number));
    vectors.set(seal, vector);
    known.set(seal, vector);
  }
  return vectors;
}
