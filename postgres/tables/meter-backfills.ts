import type { WatermarkVector } from '../../domain/metering/position.ts';
import { inScope, type Db, type Scope } from '../client.ts';
import type { BackfillState, MeterVersionRecord } from './meter-versions.ts';
import { vectorOf } from './watermarks.ts';

/**
 * States of a version's backfill (metering 4 and 6). The sealer's process takes each step; only the newest
 * generation may, so that two processes never count the same events as progress. waiting: some partition has
 * not reported yet from where it evaluates the version. replaying: canonical raw events below are evaluated.
 * sealing: all rows are written, the buckets are computed from scratch. verifying: the buckets are counted
 * again from the raw events. mismatched: they disagreed twice; the version is not used until a person
 * restarts its backfill. The order is that of the work: one version of each tenant in turn; of a tenant, the newest
 * versions of its meters before those that they replaced.
 */
export async function versionsInBackfill(db: Db): Promise<VersionInBackfill[]> {
  return await db<VersionInBackfill[]>`
    select v.*
      from meter_versions v
      cross join lateral (
        select exists (select from meter_versions n
                        where n.tenant_id = v.tenant_id and n.environment_id = v.environment_id
                          and n.meter_id = v.meter_id and n.version > v.version)) replaced (is_replaced)
     where backfill_state not in ('complete', 'set_aside')
     order by row_number() over (partition by v.tenant_id order by is_replaced, created_catalog_version),
              created_catalog_version`;
}

/** waiting → replaying for versions with a `live_from` in every partition of the log's open epoch. */
export async function beginBackfills(
  db: Db,
  generation: bigint,
  open: { readonly epoch: number; readonly partitions: number },
): Promise<number> {
  const begun = await db`
    update meter_versions v
       set backfill_state = 'replaying', backfill_started_at = now(), updated_at = now()
     where backfill_state = 'waiting'
       -- Rows that the store has lost are not there to be replayed yet.
       and not exists (select from stream_replays)
       and exists (select from sealer where generation = ${String(generation)}::bigint)
       and ${open.partitions} = (
             select count(*) from meter_live l
              where l.meter_version_id = v.id and l.epoch = ${open.epoch})`;
  return begun.count;
}

/**
 * The position of each partition below which the backfill evaluates a version: `live_from` where the stream
 * has evaluated it, else the progress. A partition number of several epochs has the bound of the last one;
 * events that the stream evaluated in earlier epochs are evaluated again, which is harmless.
 */
export async function backfillBounds(db: Db, meterVersionId: string): Promise<WatermarkVector> {
  const rows = await db<{ epoch: number; partition: number; below: string }[]>`
    select p.epoch, p.partition, coalesce(l.live_from, p.next_offset) as below
      from stream_progress p
      left join meter_live l
        on l.meter_version_id = ${meterVersionId} and l.epoch = p.epoch and l.partition = p.partition`;
  return vectorOf(rows.map((row) => [row.epoch, row.partition, row.below]));
}

/** Stores how many events the replay will process. */
export async function noteBackfillTotal(db: Db, meterVersionId: string, total: number) {
  await db`
    update meter_versions set backfill_total = ${total}
     where id = ${meterVersionId} and backfill_total is null`;
}

export interface BackfillProgress {
  readonly events: number;
  readonly rejected: number;
  readonly erased: number;
  readonly cursor: BackfillCursor;
}

/** The last replayed event, in the order of the raw table. `position` is text: it has 64 bits. */
export interface BackfillCursor {
  readonly external_customer_id: string;
  readonly timestamp: number;
  readonly position: string;
  readonly partition: number;
}

export type VersionInBackfill = MeterVersionRecord & {
  readonly backfill_cursor: BackfillCursor | null;
};

/**
 * Adds the result of one chunk. False if the generation is over: the next owner continues from the cursor.
 */
export async function noteBackfillProgress(
  db: Db,
  generation: bigint,
  meterVersionId: string,
  { events, rejected, erased, cursor }: BackfillProgress,
): Promise<boolean> {
  const noted = await db`
    update meter_versions
       set backfill_events = backfill_events + ${events},
           backfill_rejected = backfill_rejected + ${rejected},
           backfill_erased = backfill_erased + ${erased},
           backfill_cursor = ${db.json({ ...cursor })}, updated_at = now()
     where id = ${meterVersionId} and backfill_state = 'replaying'
       and exists (select from sealer where generation = ${String(generation)}::bigint)`;
  return noted.count === 1;
}

/** replaying → sealing. */
export async function endReplay(db: Db, generation: bigint, meterVersionId: string): Promise<void> {
  const next: BackfillState = 'sealing';
  await db`
    update meter_versions set backfill_state = ${next}, updated_at = now()
     where id = ${meterVersionId} and backfill_state = 'replaying'
       and exists (select from sealer where generation = ${String(generation)}::bigint)`;
}

/**
 * replaying → complete for a version without an earlier event: it has no row below `live_from`, so there is
 * nothing to seal from scratch and nothing to recount. Not while rows are under repair.
 */
export async function completeEmptyBackfill(
  db: Db,
  generation: bigint,
  meterVersionId: string,
): Promise<void> {
  await db`
    update meter_versions
       set backfill_state = 'complete', backfill_completed_at = now(), updated_at = now(),
           verified_at = now(), verified_events = 0, verified_buckets = 0,
           verified_without_customers = 0, mismatched_buckets = 0
     where id = ${meterVersionId} and backfill_state = 'replaying' and backfill_total = 0
       and not exists (select from stream_replays)
       and exists (select from sealer where generation = ${String(generation)}::bigint)`;
}

/** The result of a recount from scratch. */
export interface Verification {
  readonly events: number;
  readonly buckets: number;
  readonly withoutCustomers: number;
  readonly mismatched: number;
  /** The first mismatches, for a person to read. */
  readonly mismatches: readonly string[];
}

/**
 * verifying → complete if the buckets agree with the recount. After the first mismatch they are sealed once
 * more, because something may have changed between the seal and the recount. After the second the version is
 * mismatched and never goes live.
 */
export async function noteVerification(
  db: Db,
  generation: bigint,
  meterVersionId: string,
  { events, buckets, withoutCustomers, mismatched, mismatches }: Verification,
): Promise<void> {
  await db`
    update meter_versions
       set backfill_state = case when ${mismatched}::bigint = 0 then 'complete'
                                 when verifications = 0 then 'sealing' else 'mismatched' end,
           backfill_completed_at = case when ${mismatched}::bigint = 0 then now() end,
           verifications = verifications + 1,
           verified_at = now(), verified_events = ${events}, verified_buckets = ${buckets},
           verified_without_customers = ${withoutCustomers}, mismatched_buckets = ${mismatched},
           mismatches = ${db.json([...mismatches])}, updated_at = now()
     where id = ${meterVersionId} and backfill_state = 'verifying'
       and exists (select from sealer where generation = ${String(generation)}::bigint)`;
}

/**
 * Restarts the backfill of a mismatched version from the first event. Rows that it writes again collapse with
 * the existing ones. False if the version is in another state.
 */
export async function restartBackfill(
  db: Db,
  scope: Scope,
  meterVersionId: string,
  updatedBy: string,
): Promise<boolean> {
  const restarted = await db`
    update meter_versions
       set ${fromTheBeginning(db)}, updated_by = ${updatedBy}
     where ${inScope(db, scope)} and id = ${meterVersionId} and backfill_state = 'mismatched'`;
  return restarted.count === 1;
}

/** Column values of a version before its backfill has begun. */
const fromTheBeginning = (db: Db) => db`
  backfill_state = 'waiting', backfill_started_at = null, backfill_cursor = null,
  backfill_total = null, backfill_events = 0, backfill_rejected = 0, backfill_erased = 0,
  verifications = 0, updated_at = now()`;
