import type { z } from 'zod';
import { alreadyExists, notFound } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { findPage, metadataCondition } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { EmbeddedPlan, planFields } from '../../../schemas/plan-record.ts';
import type { Page, Search } from '../../../schemas/search.ts';

/** A plan as stored, without its children. */
export type PlanRow = z.infer<z.ZodObject<typeof planFields>>;

const plans = tableOf<PlanRow>({
  name: 'plans',
  noun: 'Plan',
  columns: (db) => db`
  id, tenant_id, environment_id, name, description, lookup_key, display_order, metadata, status,
  created_at, updated_at, created_by, updated_by`,
  json: ['metadata'],
  taken: {
    plans_lookup_key_key: ({ lookup_key }) => alreadyExists('plan', 'lookup_key', lookup_key ?? ''),
  },
});

/** The plan, including archived ones. 404 if it is unknown or belongs to another scope. */
export const getPlanRow = plans.get;

/** Plans of the scope with these ids, unordered. */
export const findPlanRows = plans.find;
export const lockPlan = plans.lock;
export const insertPlan = plans.insert;
export const updatePlanRow = plans.change;

/**
 * The plan, including archived ones, locked against changes until the transaction ends; others may lock it so at the
 * same time. 404 if it is unknown or belongs to another scope.
 */
export async function sharePlan(
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<Pick<PlanRow, 'id' | 'name' | 'status'>> {
  const [plan] = await tx<Pick<PlanRow, 'id' | 'name' | 'status'>[]>`
    select id, name, status from plans where ${inScope(tx, scope)} and id = ${id} for share`;
  if (plan === undefined) throw notFound('Plan', id);
  return plan;
}

/** Plans as embedded in other records. */
export async function findEmbeddedPlans(
  db: Db,
  scope: Scope,
  ids: readonly string[],
): Promise<EmbeddedPlan[]> {
  return (await findPlanRows(db, scope, ids)).map(withoutChildren);
}

/** The plan as embedded in other records. */
export const withoutChildren = (row: PlanRow): EmbeddedPlan => ({
  ...row,
  prices: null,
  entitlements: null,
  credit_grants: null,
  price_sync_status: null,
});

export interface PlanFilter {
  readonly plan_ids?: string[] | null;
  readonly lookup_key?: string | null;
  readonly lookup_keys?: string[] | null;
  readonly metadata?: Record<string, string> | null;
  readonly search: Search;
}

/** Leaves out archived plans unless a status is requested. */
export function searchPlanRows(db: Db, scope: Scope, filter: PlanFilter): Promise<Page<PlanRow>> {
  const { search } = filter;
  return findPage<PlanRow>(db, {
    columns: plans.columns(db),
    from: db`plans`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filter.plan_ids?.length ? db`and id = any(${filter.plan_ids})` : db``}
      ${filter.lookup_key ? db`and lookup_key = ${filter.lookup_key}` : db``}
      ${filter.lookup_keys?.length ? db`and lookup_key = any(${filter.lookup_keys})` : db``}
      ${metadataCondition(db, filter.metadata)}`,
    search,
  });
}
