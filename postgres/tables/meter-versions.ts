import type { MeterSpec, MeterVersion } from '../../domain/metering/usage.ts';
import { inScope, type Db, type Pool, type Scope, type Transaction } from '../client.ts';
import { jsonOf } from '../parameters.ts';
import { writeOutboxEvents } from './outbox.ts';
import type { Page, PageQuery } from '../../schemas/search.ts';
import { pageBelow } from '../page-below.ts';

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
  /** Usage of a version is complete, and prices may use it, once this is `complete`. */
  readonly backfill_state: BackfillState;
  /** Number of canonical events below `live_from`; null until they are counted. */
  readonly backfill_total: string | null;
  readonly backfill_events: string;
  /** Number of replayed events that the version cannot meter. */
  readonly backfill_rejected: string;
  /** Number of rejected events whose properties were erased. */
  readonly backfill_erased: string;
  readonly backfill_started_at: string | null;
  readonly backfill_completed_at: string | null;
  /**
   * Null means billing periods that begin after the version's creation; else those that begin at or after
   * this time.
   */
  readonly effective_from: string | null;
  /** The seal with which the recount was or will be compared. */
  readonly verified_seal: string | null;
  readonly verified_at: string | null;
  readonly verified_events: string | null;
  readonly verified_buckets: string | null;
  readonly verified_without_customers: string | null;
  readonly mismatched_buckets: string | null;
  readonly mismatches: readonly string[] | null;
  readonly verifications: number;
  /** Set with the state `set_aside`: since when the version counts nothing, and why. */
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
  /** The meter's `group_by` and the properties that its prices filter on. */
  readonly dimensions: readonly string[];
  readonly effective_from?: string | null;
  readonly created_by: string;
}

/**
 * Adds the next version of a meter and notifies the stream when the caller's transaction commits: the number
 * and the version must become visible together. Holds the catalog's lock until then, so call it late in a
 * transaction. The stream evaluates the version from its next batch on, then the backfill runs;
 * `backfill_state` shows when it is complete.
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
           coalesce(max(version), 0) + 1, ${jsonOf(db, meter.spec)}, ${dimensions}::text[],
           ${catalogVersion}::bigint, ${meter.effective_from ?? null}::timestamptz,
           ${meter.created_by}, ${meter.created_by}
      from meter_versions
     where meter_id = ${meter.meter_id}
    returning *`;
  return row!;
}

/**
 * Ends a version: events that the stream processes after it has noticed do not count for it. Metered usage
 * stays. If it has already ended, or belongs to another scope, nothing happens and the result is false.
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

/** A version that cannot be evaluated, with the reason shown to a person. */
export interface FailedVersion {
  readonly id: string;
  readonly reason: string;
}

/**
 * Sets versions aside that cannot be evaluated, and notifies their tenants (`meter.set_aside`). The versions
 * end, so that every stream process drops them, and their usage is refused from then on. Commit it before any
 * progress of a batch that such a version should have counted. Versions already set aside stay unchanged.
 * Spans tenants: for the stream only. Returns the versions set aside now.
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
    // Locks the catalog before versions, as all code does.
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

/** Sets from which billing periods on a version is used; false if it belongs to another scope. */
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

/** One page of the versions of one meter, newest first. */
export const pageOfMeterVersions = (
  db: Db,
  scope: Scope,
  meterId: string,
  query: PageQuery,
): Promise<Page<MeterVersionRecord>> =>
  pageBelow(
    db,
    {
      columns: db`*`,
      table: 'meter_versions',
      where: db`${inScope(db, scope)} and meter_id = ${meterId}`,
      order: db`version desc`,
    },
    query,
  );

/** Ids of the environment's versions whose usage is not complete yet: the stream counts earlier events. */
export async function versionsStillCounted(db: Db, scope: Scope): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id from meter_versions
     where ${inScope(db, scope)} and backfill_state not in ('complete', 'set_aside')
     order by id`;
  return rows.map(({ id }) => id);
}

/** Log offsets between which versions are evaluated live: `[live_from, live_until)` of each partition. */
export interface LiveRange {
  readonly meter_version_id: string;
  readonly epoch: number;
  readonly partition: number;
  readonly live_from: string;
  readonly live_until: string | null;
}

/** Not scoped: the caller has the ids from a scoped read. */
export function liveRangesOf(db: Db, versionIds: readonly string[]): Promise<LiveRange[]> {
  return db<LiveRange[]>`
    select meter_version_id, epoch, partition, live_from, live_until
      from meter_live
     where meter_version_id = any(${versionIds as string[]}::text[])
     order by meter_version_id, epoch, partition`;
}

/** Every version of all tenants that has not ended, as of one catalog number. */
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
 * The dimensions of versions by id, in the order of usage rows. Not scoped: the caller has the ids from a
 * scoped read, and no answer contains names of dimensions.
 */
export async function readDimensions(
  db: Db,
  versionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db<{ id: string; dimensions: string[] }[]>`
    select id, dimensions from meter_versions where id = any(${versionIds as string[]}::text[])`;
  return new Map(rows.map(({ id, dimensions }) => [id, dimensions]));
}

/** The catalog's number alone, for polling in addition to the notification. */
export async function readCatalogVersion(db: Db): Promise<number> {
  const [row] = await db<{ version: string }[]>`select version from meter_catalog`;
  return Number(row!.version);
}

/**
 * Calls back after each committed change of the catalog. A notification can be lost with its connection: poll
 * too.
 */
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
