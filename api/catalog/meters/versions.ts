import { effectiveFrom } from '../../../domain/metering/version-for-period.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import {
  liveRangesOf,
  pageOfMeterVersions,
  type LiveRange,
  type MeterVersionRecord,
} from '../../../postgres/tables/meter-versions.ts';
import type { MeterVersion } from '../../../schemas/meter.ts';
import type { Page, PageQuery } from '../../../schemas/search.ts';
import { getMeter } from './repository.ts';

/** One page of the versions of a meter, newest first. 404 for an unknown meter. */
export async function listMeterVersions(
  db: Db,
  scope: Scope,
  meterId: string,
  query: PageQuery,
): Promise<Page<MeterVersion>> {
  await getMeter(db, scope, meterId);
  const page = await pageOfMeterVersions(db, scope, meterId, query);
  return { ...page, items: await versionAnswers(db, page.items) };
}

/** Versions as answered, in the given order. */
export async function versionAnswers(
  db: Db,
  versions: readonly MeterVersionRecord[],
): Promise<MeterVersion[]> {
  const ranges = await liveRangesOf(
    db,
    versions.map(({ id }) => id),
  );
  return versions.map((version) =>
    versionAnswer(
      version,
      ranges.filter(({ meter_version_id }) => meter_version_id === version.id),
    ),
  );
}

function versionAnswer(version: MeterVersionRecord, live: readonly LiveRange[]): MeterVersion {
  const { spec } = version;
  return {
    id: version.id,
    tenant_id: version.tenant_id,
    environment_id: version.environment_id,
    status: version.status as MeterVersion['status'],
    created_at: version.created_at,
    updated_at: version.updated_at,
    created_by: version.created_by,
    updated_by: version.updated_by,
    meter_id: version.meter_id,
    version: version.version,
    event_name: spec.event_name,
    aggregation: { ...spec.aggregation },
    filters: spec.filters.map(({ key, values }) => ({ key, values: [...values] })),
    reset_usage: spec.reset_usage,
    dimensions: [...version.dimensions],
    effective_from: effectiveFrom(version),
    is_active: version.ended_catalog_version === null,
    backfill: {
      state: version.backfill_state,
      events_total: countOf(version.backfill_total),
      events_done: Number(version.backfill_events),
      events_unmetered: Number(version.backfill_rejected),
      events_erased: Number(version.backfill_erased),
      started_at: version.backfill_started_at,
      finished_at: version.backfill_completed_at,
    },
    verification: verificationOf(version),
    set_aside: setAsideOf(version),
    live: live.map(({ epoch, partition, live_from, live_until }) => ({
      epoch,
      partition,
      live_from,
      live_until,
    })),
  };
}

function setAsideOf({ set_aside_at, set_aside_reason }: MeterVersionRecord) {
  return set_aside_at === null ? null : { at: set_aside_at, reason: set_aside_reason! };
}

function verificationOf(version: MeterVersionRecord): MeterVersion['verification'] {
  const { verified_at, mismatched_buckets } = version;
  if (verified_at === null) return null;
  return {
    verified_at,
    is_equal: mismatched_buckets === '0',
    events: Number(version.verified_events),
    buckets: Number(version.verified_buckets),
    customers_left_out: Number(version.verified_without_customers),
    mismatched_buckets: Number(mismatched_buckets),
    mismatches: [...(version.mismatches ?? [])],
  };
}

const countOf = (text: string | null): number | null => (text === null ? null : Number(text));
