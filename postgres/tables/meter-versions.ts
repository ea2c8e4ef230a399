import type { MeterSpec, MeterVersion } from '../../domain/metering/usage.ts';
import { inScope, type Db, type Pool, type Scope, type Transaction } from '../client.ts';
import { writeOutboxEvents } from './outbox.ts';

/** The channel on which changes of the meter catalog are announced; the payload is its new number. */
const CATALOG_CHANNEL = 'meter_catalog';

export const BACKFILL_STATES = [
  'waiting', 'replaying', 'sealing', 'verifying', 'complete', 'mismatched', 'set_aside',
] as const; // prettier-ignore
export type BackfillState = (typeof BACKFILL_STATES)[number];

/** A meter version as stored: what it counts, and how far its backfill is (metering 6). */
export interface MeterVersionRecord extends MeterVersion {
  readonly created_catalog_version: string;
  readonly ended_catalog_version: string | null;
  /** Usage of a version is whole, and prices may use it, once this is `complete`. */
  readonly backfill_state: BackfillState;
  /** Canonical events below `live_from`; null until they were counted. */
  readonly backfill_total: string | null;
  readonly backfill_events: string;
  /** Of the replayed events, those that the version can not meter. */
  readonly backfill_rejected: string;
  /** Of the rejected ones, those whose properties were erased. */
  readonly backfill_erased: string;
  readonly backfill_started_at: string | null;
  readonly backfill_completed_at: string | null;
  /** Null: billing periods that begin after the version was made; else those that begin at or after it. */
  readonly effective_from: string | null;
  /** The seal that the recount was or will be compared with. */
  readonly verified_seal: string | null;
  readonly verified_at: string | null;
  readonly verified_events: string | null;
  readonly verified_buckets: string | null;
  readonly verified_without_customers: string | null;
  readonly mismatched_buckets: string | null;
  readonly mismatches: readonly string[] | null;
  readonly verifications: number;
  /** Set with the state `set_aside`: since when nothing is counted by it, and why. */
  readonly set_aside_at: string | null;
  readonly set_aside_reason: string | null;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly created_by: string;
  readonly updated_by: string;
}

export interface NewMeterVersion {
  /** From `ids.next('meterv')`. */
  readonly id: string;
  readonly meter_id: string;
  readonly spec: MeterSpec;
  /** The meter's `group_by` and what its prices filter on. */
  readonly dimensions: readonly string[];
  readonly effective_from?: string | null;
  readonly created_by: string;
}

/**
 * Adds the next version of a meter and tells the stream when the caller's transaction commits: the
 * number and the version must appear together. Holds
 * the catalog's lock until then, so call it late in a transaction. The stream evaluates the version
 * from its next batch on, the backfill follows; read `backfill_state` for when it is whole.
 */
export async function createMeterVersion(
  db: Transaction,
  scope: Scope,
  meter: NewMeterVersion,
): Promise<MeterVersionRecord> {
  const catalogVersion = await nextCatalogVersion(db);
  const dimensions = [...new Set(meter.dimensions)].sort();
  const [row] = await db<MeterVersionRecord[]>`
    insert into meter_versions
      (id, tenant_id, environment_id, meter_id, version, spec, dimensions,
       created_catalog_version, effective_from, created_by, updated_by)
    select ${meter.id}, ${scope.tenant_id}, ${scope.environment_id}, ${meter.meter_id},
           coalesce(max(version), 0) + 1, ${db.json(meter.spec as never)}, ${dimensions}::text[],
           ${catalogVersion}::bigint, ${meter.effective_from ?? null}::timestamptz,
           ${meter.created_by}, ${meter.created_by}
      from meter_versions
     where meter_id = ${meter.meter_id}
    returning *`;
  return row!;
}

/**
 * Ends a version: events that the stream processes after it has noticed do not count for it. What was
 * counted stays. Ending one that has ended, or another scope's, does nothing and answers false.
 */
export async function endMeterVersion(
  db: Transaction,
  scope: Scope,
  id: string,
  updatedBy: string,
): Promise<boolean> {
  const catalogVersion = await nextCatalogVersion(db);
  const ended = await db`
    update meter_versions
       set ended_catalog_version = ${catalogVersion}::bigint, updated_at = now(), updated_by = ${updatedBy}
     where ${inScope(db, scope)} and id = ${id} and ended_catalog_version is null`;
  return ended.count === 1;
}

/** A version that can not be evaluated, and what a person may be told of it. */
export interface FailedVersion {
  readonly id: string;
  readonly reason: string;
}

/**
 * Sets versions aside that can not be evaluated, and tells their tenants (`meter.set_aside`): they end, so
 * that every stream process drops them, and their usage is refused from here on. To be committed before
 * any progress of a batch that such a version should have counted. Those that are set aside already stay
 * as they are. Across tenants: the stream's own. Answers those that it set aside.
 */
export async function setVersionsAside(
  pool: Pool,
  failed: readonly FailedVersion[],
): Promise<string[]> {
  return await pool.begin(async (tx) => {
    const [open] = await tx`
      select from meter_versions
       where id = any(${failed.map(({ id }) => id)}::text[]) and backfill_state <> 'set_aside'
       limit 1`;
    if (open === undefined) return [];
    // The catalog's lock before those of versions, as everybody takes them.
    const catalogVersion = await nextCatalogVersion(tx);
    const changed = await tx<SetAsideRow[]>`
      with failed as (
        select * from unnest(
          ${failed.map(({ id }) => id)}::text[], ${failed.map(({ reason }) => reason)}::text[]
        ) as f (id, reason)
      ), changed as (
        update meter_versions v
           set backfill_state = 'set_aside', set_aside_at = now(), set_aside_reason = f.reason,
               ended_catalog_version = coalesce(v.ended_catalog_version, ${catalogVersion}::bigint),
               updated_at = now()
          from failed f
         where v.id = f.id and v.backfill_state <> 'set_aside'
        returning v.*
      )
      select c.id, c.meter_id, c.version, c.tenant_id, c.environment_id, c.set_aside_at,
             c.set_aside_reason, m.name
        from changed c left join meters m on m.id = c.meter_id
       order by c.id`;
    await writeOutboxEvents(tx, changed.map(setAsideNotice));
    return changed.map(({ id }) => id);
  });
}

interface SetAsideRow extends Scope {
  readonly id: string;
  readonly meter_id: string;
  readonly version: number;
  readonly set_aside_at: string;
  readonly set_aside_reason: string;
  readonly name: string | null;
}

const setAsideNotice = ({ tenant_id, environment_id, ...version }: SetAsideRow) => ({
  scope: { tenant_id, environment_id },
  event_type: 'meter.set_aside' as const,
  payload: {
    meter: {
      id: version.meter_id,
      name: version.name,
      meter_version_id: version.id,
      version: version.version,
      reason: version.set_aside_reason,
      set_aside_at: version.set_aside_at,
    },
  },
});

/** From which billing periods on a version is to be used; false for another scope's. */
export async function setEffectiveFrom(
  db: Db,
  scope: Scope,
  id: string,
  effectiveFrom: string | null,
  updatedBy: string,
): Promise<boolean> {
  const set = await db`
    update meter_versions
       set effective_from = ${effectiveFrom}::timestamptz, updated_at = now(), updated_by = ${updatedBy}
     where ${inScope(db, scope)} and id = ${id}`;
  return set.count === 1;
}

/** Versions of the given meters, newest first, with their backfill's progress. */
export function meterVersionsOf(
  db: Db,
  scope: Scope,
  meterIds: readonly string[],
): Promise<MeterVersionRecord[]> {
  return db<MeterVersionRecord[]>`
    select * from meter_versions
     where ${inScope(db, scope)} and meter_id = any(${meterIds as string[]}::text[])
     order by meter_id, version desc`;
}

/** Where in the log versions are evaluated live: offsets `[live_from, live_until)` of each partition. */
export interface LiveRange {
  readonly meter_version_id: string;
  readonly epoch: number;
  readonly partition: number;
  readonly live_from: string;
  readonly live_until: string | null;
}

/** Not scoped: whoever asks got the ids from a scoped read. */
export function liveRangesOf(db: Db, versionIds: readonly string[]): Promise<LiveRange[]> {
  return db<LiveRange[]>`
    select meter_version_id, epoch, partition, live_from, live_until
      from meter_live
     where meter_version_id = any(${versionIds as string[]}::text[])
     order by meter_version_id, epoch, partition`;
}

/** Every version that has not ended, of all tenants, as of one catalog number. */
export interface MeterCatalogSnapshot {
  readonly catalog_version: number;
  readonly versions: readonly MeterVersion[];
}

/** One statement, so the versions are exactly those of the number. */
export async function readMeterCatalog(db: Db): Promise<MeterCatalogSnapshot> {
  const rows = await db<(MeterVersion & { catalog_version: string; id: string | null })[]>`
    select c.version as catalog_version,
           v.id, v.meter_id, v.tenant_id, v.environment_id, v.version, v.spec, v.dimensions
      from meter_catalog c
      left join meter_versions v on v.ended_catalog_version is null
     order by v.id`;
  const versions = rows
    .filter((row) => row.id !== null)
    .map(({ catalog_version: _, ...version }) => version);
  return { catalog_version: Number(rows[0]!.catalog_version), versions };
}

/**
 * The dimensions of versions by id, in the order in which usage rows keep them. Not scoped: whoever
 * asks got the ids from a scoped read, and names of dimensions leave the process in no answer.
 */
export async function readDimensions(
  db: Db,
  versionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db<{ id: string; dimensions: string[] }[]>`
    select id, dimensions from meter_versions where id = any(${versionIds as string[]}::text[])`;
  return new Map(rows.map(({ id, dimensions }) => [id, dimensions]));
}

/** The catalog's number alone, for the poll behind the notice. */
export async function readCatalogVersion(db: Db): Promise<number> {
  const [row] = await db<{ version: string }[]>`select version from meter_catalog`;
  return Number(row!.version);
}

/** Calls back after each committed change of the catalog. A notice can get lost with its connection: poll too. */
export async function listenForCatalogChanges(
  pool: Pool,
  onChange: () => void,
): Promise<{ stop(): Promise<void> }> {
  const listening = await pool.listen(CATALOG_CHANNEL, onChange, onChange);
  return { stop: () => listening.unlisten() };
}

async function nextCatalogVersion(db: Transaction): Promise<string> {
  const [row] = await db<{ version: string }[]>`
    update meter_catalog set version = version + 1
    returning version, pg_notify(${CATALOG_CHANNEL}, version::text)`;
  return row!.version;
}
