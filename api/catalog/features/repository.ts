import { alreadyExists, notFound } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { Feature } from '../../../schemas/feature.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import { findGroups } from '../groups/repository.ts';
import { findMeters } from '../meters/repository.ts';

/** A feature without embedded records. */
export type FeatureRow = Omit<Feature, 'meter' | 'group'>;

const features = tableOf<FeatureRow>({
  name: 'features',
  noun: 'Feature',
  columns: (db) => db`
  id, tenant_id, environment_id, name, lookup_key, description, type, meter_id, group_id,
  unit_singular, unit_plural, reporting_unit, alert_settings, metadata, status,
  created_at, updated_at, created_by, updated_by`,
  json: ['reporting_unit', 'alert_settings', 'metadata'],
  taken: {
    features_lookup_key_key: ({ lookup_key }) =>
      alreadyExists('feature', 'lookup_key', lookup_key ?? ''),
  },
});

/** The feature, including archived ones. 404 if it is unknown or belongs to another scope. */
export const getFeature = features.get;

/** Features of the scope with these ids, unordered. */
export const findFeatures = features.find;
export const lockFeature = features.lock;
export const insertFeature = features.insert;
export const updateFeatureRow = features.change;

/** The feature, which no other transaction changes until this one ends. 404 as for `getFeature`. */
export async function shareFeature(tx: Transaction, scope: Scope, id: string): Promise<FeatureRow> {
  const [row] = await tx<FeatureRow[]>`
    select ${features.columns(tx)} from features
     where ${inScope(tx, scope)} and id = ${id}
       for share`;
  if (row === undefined) throw notFound('Feature', id);
  return row;
}

/** Published features that read one of the meters, unordered. */
export async function findFeaturesOfMeters(
  db: Db,
  scope: Scope,
  meterIds: readonly string[],
): Promise<FeatureRow[]> {
  if (meterIds.length === 0) return [];
  return await db<FeatureRow[]>`
    select ${features.columns(db)}
      from features
     where ${inScope(db, scope)} and meter_id = any(${meterIds as string[]}) and status = 'published'`;
}

/** Whether a published entitlement grants the feature. */
export async function isGranted(db: Db, scope: Scope, id: string): Promise<boolean> {
  const [row] = await db`
    select 1 from entitlements
     where ${inScope(db, scope)} and feature_id = ${id} and status = 'published'
     limit 1`;
  return row !== undefined;
}

export interface FeatureFilter {
  readonly feature_ids?: string[] | null;
  readonly meter_ids?: string[] | null;
  readonly lookup_key?: string | null;
  readonly lookup_keys?: string[] | null;
  readonly name_contains?: string | null;
  readonly type?: string | null;
  readonly search: Search;
}

/** Includes archived features unless a status is requested. */
export async function searchFeatures(
  db: Db,
  scope: Scope,
  filter: FeatureFilter,
): Promise<Page<Feature>> {
  const { search } = filter;
  const page = await findPage<FeatureRow>(db, {
    columns: features.columns(db),
    from: db`features`,
    where: db`${inScope(db, scope)}
      ${search.status === null ? db`` : db`and status = ${search.status}`}
      ${filter.feature_ids?.length ? db`and id = any(${filter.feature_ids})` : db``}
      ${filter.meter_ids?.length ? db`and meter_id = any(${filter.meter_ids})` : db``}
      ${filter.lookup_key ? db`and lookup_key = ${filter.lookup_key}` : db``}
      ${filter.lookup_keys?.length ? db`and lookup_key = any(${filter.lookup_keys})` : db``}
      ${filter.name_contains ? db`and strpos(lower(name), lower(${filter.name_contains})) > 0` : db``}
      ${filter.type ? db`and type = ${filter.type}` : db``}`,
    search,
  });
  const items = await withEmbedded(db, scope, page.items, {
    meter: search.expand.has('meters'),
  });
  return { ...page, items };
}

/** Features as answered: always with the group, with the meter if requested. */
export async function withEmbedded(
  db: Db,
  scope: Scope,
  rows: readonly FeatureRow[],
  embed: { readonly meter: boolean },
): Promise<Feature[]> {
  const idsOf = (key: 'meter_id' | 'group_id') => [
    ...new Set(rows.flatMap((row) => (row[key] === null ? [] : [row[key]]))),
  ];
  const [meters, groups] = await Promise.all([
    findMeters(db, scope, embed.meter ? idsOf('meter_id') : []),
    findGroups(db, scope, idsOf('group_id')),
  ]);
  const meterOf = new Map(meters.map((meter) => [meter.id, meter]));
  const groupOf = new Map(groups.map((group) => [group.id, group]));
  return rows.map((row) => ({
    ...row,
    meter: meterOf.get(row.meter_id ?? '') ?? null,
    group: groupOf.get(row.group_id ?? '') ?? null,
  }));
}
