import type { z } from 'zod';
import { alreadyExists } from '../../../domain/errors.ts';
import { decimal, decimalText } from '../../../domain/money.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { pageBelow } from '../../../postgres/page-below.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { Entitlement, entitlementFields } from '../../../schemas/entitlement.ts';
import type { Page, PageQuery, Search } from '../../../schemas/search.ts';
import { findEmbeddedAddons } from '../offers/addon-repository.ts';
import { findFeatures, withEmbedded } from '../features/repository.ts';
import { findEmbeddedPlans } from '../offers/plan-repository.ts';

/** An entitlement as stored, without embedded records. */
export type EntitlementRow = z.infer<z.ZodObject<typeof entitlementFields>>;

/** No quota for windows of time. */
export const NO_GRANT_CONFIG = {
  aggregation_mode: 'additive',
  grant_quota: null,
  grant_measure: null,
  grant_duration_unit: null,
  grant_duration_value: null,
  grant_allocation_behavior: null,
} as const satisfies Partial<EntitlementRow>;

const entitlements = tableOf<EntitlementRow>({
  name: 'entitlements',
  noun: 'Entitlement',
  columns: (db) => db`
  id, tenant_id, environment_id, entity_type, entity_id, feature_id, feature_type, is_enabled,
  is_soft_limit, usage_limit::float8 as usage_limit, usage_reset_period, static_value, config_value,
  aggregation_mode, grant_quota, grant_measure, grant_duration_unit, grant_duration_value,
  grant_allocation_behavior, parent_entitlement_id, display_order, start_date, end_date, status,
  created_at, updated_at, created_by, updated_by`,
  json: ['config_value'],
  taken: {
    entitlements_entity_id_feature_id_key: ({ feature_id }) =>
      alreadyExists('entitlement of this entity', 'feature_id', feature_id ?? ''),
  },
});

/** The entitlement, including archived ones. 404 if it is unknown or belongs to another scope. */
export const getEntitlement = entitlements.get;
export const lockEntitlement = entitlements.lock;
export const insertEntitlement = entitlements.insert;

/** Changes the row and keeps its earlier state, by which the periods until now are billed. */
export async function updateEntitlementRow(
  tx: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<EntitlementRow> & Pick<EntitlementRow, 'updated_at'>,
): Promise<EntitlementRow> {
  await tx`
    insert into entitlement_history (entitlement_id, tenant_id, environment_id, valid_to, state)
    select e.id, e.tenant_id, e.environment_id, ${changes.updated_at},
           to_jsonb(e) || jsonb_build_object('grant_quota', e.grant_quota::text)
      from (select ${entitlements.columns(tx)} from entitlements
             where ${inScope(tx, scope)} and id = ${id}) e`;
  return await entitlements.change(tx, scope, id, changes);
}

/** Published entitlements of the entities, newest first. */
export async function findEntitlementsOf(
  db: Db,
  scope: Scope,
  entityType: EntitlementRow['entity_type'],
  entityIds: readonly string[],
): Promise<EntitlementRow[]> {
  if (entityIds.length === 0) return [];
  return await db<EntitlementRow[]>`
    select ${entitlements.columns(db)} from entitlements
     where ${inScope(db, scope)}
       and entity_type = ${entityType}
       and entity_id = any(${entityIds as string[]})
       and status = 'published'
     order by created_at desc, id desc`;
}

/** One page of the published entitlements of one entity, newest first. */
export const pageOfEntitlements = (
  db: Db,
  scope: Scope,
  entityType: EntitlementRow['entity_type'],
  entityId: string,
  query: PageQuery,
): Promise<Page<EntitlementRow>> =>
  pageBelow(
    db,
    {
      columns: entitlements.columns(db),
      table: 'entitlements',
      where: db`${inScope(db, scope)} and entity_type = ${entityType} and entity_id = ${entityId}
        and status = 'published'`,
      order: db`created_at desc, id desc`,
    },
    query,
  );

/** Published entitlements of entities of any type, newest first. */
export async function findEntitlementsOfAll(
  db: Db,
  scope: Scope,
  entityIds: readonly string[],
): Promise<EntitlementRow[]> {
  if (entityIds.length === 0) return [];
  return await db<EntitlementRow[]>`
    select ${entitlements.columns(db)} from entitlements
     where ${inScope(db, scope)}
       and entity_id = any(${entityIds as string[]}::text[]) and status = 'published'
     order by created_at desc, id desc`;
}

/** The subscription's id with that of its plan; null if it does not exist in the scope. */
export async function findSubscriptionPlan(
  db: Db,
  scope: Scope,
  subscriptionId: string,
): Promise<{ readonly id: string; readonly plan_id: string } | null> {
  const [row] = await db<{ id: string; plan_id: string }[]>`
    select id, plan_id from subscriptions where ${inScope(db, scope)} and id = ${subscriptionId}`;
  return row ?? null;
}

/** An entitlement as it was until `valid_to`. */
export interface EarlierEntitlement {
  readonly valid_to: string;
  readonly state: EntitlementRow;
}

/** Earlier states of the entities' entitlements, deleted ones included, oldest first. */
export async function entitlementHistory(
  db: Db,
  scope: Scope,
  entityIds: readonly string[],
): Promise<EarlierEntitlement[]> {
  if (entityIds.length === 0) return [];
  const rows = await db<{ valid_to: string; state: EntitlementRow }[]>`
    select h.valid_to, h.state
      from entitlement_history h join entitlements e on e.id = h.entitlement_id
     where ${inScope(db, scope, 'h')} and e.entity_id = any(${entityIds as string[]}::text[])
     order by h.valid_to, h.entitlement_id`;
  return rows.map(({ valid_to, state }) => ({ valid_to, state: fromJson(state) }));
}

/** Timestamps and decimals of a row that was stored as JSON. */
function fromJson(state: EntitlementRow): EntitlementRow {
  const instant = (text: string) => new Date(text).toISOString();
  return {
    ...state,
    grant_quota: state.grant_quota === null ? null : decimalText(decimal(state.grant_quota)),
    start_date: state.start_date === null ? null : instant(state.start_date),
    end_date: state.end_date === null ? null : instant(state.end_date),
    created_at: instant(state.created_at),
    updated_at: instant(state.updated_at),
  };
}

export interface EntitlementFilter {
  readonly entity_ids?: string[] | null;
  readonly entity_type?: string | null;
  readonly plan_ids?: string[] | null;
  readonly feature_ids?: string[] | null;
  readonly feature_type?: string | null;
  readonly is_enabled?: boolean | null;
  readonly has_grant_config?: boolean | null;
  readonly search: Search;
}

/** Leaves out archived entitlements unless a status is requested. */
export async function searchEntitlements(
  db: Db,
  scope: Scope,
  filter: EntitlementFilter,
): Promise<Page<Entitlement>> {
  const { search } = filter;
  const page = await findPage<EntitlementRow>(db, {
    columns: entitlements.columns(db),
    from: db`entitlements`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filter.entity_ids?.length ? db`and entity_id = any(${filter.entity_ids})` : db``}
      ${filter.entity_type ? db`and entity_type = ${filter.entity_type}` : db``}
      ${filter.plan_ids?.length ? db`and entity_type = 'PLAN' and entity_id = any(${filter.plan_ids})` : db``}
      ${filter.feature_ids?.length ? db`and feature_id = any(${filter.feature_ids})` : db``}
      ${filter.feature_type ? db`and feature_type = ${filter.feature_type}` : db``}
      ${filter.is_enabled == null ? db`` : db`and is_enabled = ${filter.is_enabled}`}
      ${filter.has_grant_config == null ? db`` : db`and (grant_quota is not null) = ${filter.has_grant_config}`}`,
    search,
  });
  const { expand } = search;
  const items = await entitlementAnswers(db, scope, page.items, {
    feature: expand.has('features') || expand.has('meters'),
    meter: expand.has('meters'),
    plan: expand.has('plans'),
    addon: expand.has('addons'),
  });
  return { ...page, items };
}

export interface EntitlementEmbeds {
  readonly feature?: boolean;
  /** The meter of the embedded feature. */
  readonly meter?: boolean;
  readonly plan?: boolean;
  readonly addon?: boolean;
}

/** Entitlements as answered, in the same order, with the requested records embedded. */
export async function entitlementAnswers(
  db: Db,
  scope: Scope,
  rows: readonly EntitlementRow[],
  embed: EntitlementEmbeds,
): Promise<Entitlement[]> {
  const entityIds = (wanted: boolean | undefined, type: string): string[] =>
    wanted === true
      ? [...new Set(rows.filter((row) => row.entity_type === type).map((row) => row.entity_id))]
      : [];
  const featureIds = embed.feature === true ? [...new Set(rows.map((row) => row.feature_id))] : [];
  const [featureRows, plans, addons] = await Promise.all([
    findFeatures(db, scope, featureIds),
    findEmbeddedPlans(db, scope, entityIds(embed.plan, 'PLAN')),
    findEmbeddedAddons(db, scope, entityIds(embed.addon, 'ADDON')),
  ]);
  const features = await withEmbedded(db, scope, featureRows, { meter: embed.meter === true });
  const featureOf = new Map(features.map((feature) => [feature.id, feature]));
  const planOf = new Map(plans.map((plan) => [plan.id, plan]));
  const addonOf = new Map(addons.map((addon) => [addon.id, addon]));
  return rows.map((row) => ({
    ...row,
    plan_id: row.entity_type === 'PLAN' ? row.entity_id : null,
    feature: featureOf.get(row.feature_id) ?? null,
    plan: planOf.get(row.entity_id) ?? null,
    addon: addonOf.get(row.entity_id) ?? null,
  }));
}
