import type { z } from 'zod';
import { alreadyExists, notFound } from '../../../domain/errors.ts';
import {
  inScope,
  oneOf,
  violatedConstraint,
  type Db,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { findPage, metadataCondition } from '../../../postgres/search.ts';
import type { EmbeddedPlan, planFields } from '../../../schemas/plan-record.ts';
import type { Page, Search } from '../../../schemas/search.ts';

/** A plan as stored, without its children. */
export type PlanRow = z.infer<z.ZodObject<typeof planFields>>;

const columns = (db: Db) => db`
  id, tenant_id, environment_id, name, description, lookup_key, display_order, metadata, status,
  created_at, updated_at, created_by, updated_by`;

/** The plan, archived ones included. 404 for a missing and for another scope's. */
export async function findPlanRow(db: Db, scope: Scope, id: string): Promise<PlanRow> {
  const [row] = await findPlanRows(db, scope, [id]);
  if (row === undefined) throw notFound('Plan', id);
  return row;
}

/** Those of the plans that exist in the scope, in no order. */
export async function findPlanRows(
  db: Db,
  scope: Scope,
  ids: readonly string[],
): Promise<PlanRow[]> {
  if (ids.length === 0) return [];
  return await db<PlanRow[]>`
    select ${columns(db)} from plans where ${inScope(db, scope)} and id ${oneOf(db, ids)}`;
}

/** Plans as they stand inside other records. */
export async function findEmbeddedPlans(
  db: Db,
  scope: Scope,
  ids: readonly string[],
): Promise<EmbeddedPlan[]> {
  return (await findPlanRows(db, scope, ids)).map(withoutChildren);
}

export const withoutChildren = (row: PlanRow): EmbeddedPlan => ({
  ...row,
  prices: null,
  entitlements: null,
  credit_grants: null,
  price_sync_status: null,
});

export async function lockPlan(tx: Transaction, scope: Scope, id: string): Promise<PlanRow> {
  const [row] = await tx<PlanRow[]>`
    select ${columns(tx)} from plans where ${inScope(tx, scope)} and id = ${id} for update`;
  if (row === undefined) throw notFound('Plan', id);
  return row;
}

export interface PlanFilter {
  readonly plan_ids?: string[] | null;
  readonly lookup_key?: string | null;
  readonly lookup_keys?: string[] | null;
  readonly metadata?: Record<string, string> | null;
  readonly search: Search;
}

/** Archived plans are left out unless a status is asked for. */
export function searchPlanRows(db: Db, scope: Scope, filter: PlanFilter): Promise<Page<PlanRow>> {
  const { search } = filter;
  return findPage<PlanRow>(db, {
    columns: columns(db),
    from: db`plans`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filter.plan_ids?.length ? db`and id = any(${filter.plan_ids})` : db``}
      ${filter.lookup_key ? db`and lookup_key = ${filter.lookup_key}` : db``}
      ${filter.lookup_keys?.length ? db`and lookup_key = any(${filter.lookup_keys})` : db``}
      ${metadataCondition(db, filter.metadata)}`,
    search,
  });
}

export async function insertPlan(tx: Transaction, row: PlanRow): Promise<void> {
  try {
    await tx`insert into plans ${tx({ ...row, metadata: tx.json(row.metadata) })}`;
  } catch (error) {
    throw keyTaken(error, row.lookup_key);
  }
}

export async function updatePlanRow(
  tx: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<PlanRow>,
): Promise<PlanRow> {
  const { metadata, ...rest } = changes;
  try {
    const [row] = await tx<PlanRow[]>`
      update plans set ${tx({ ...rest, ...(metadata ? { metadata: tx.json(metadata) } : {}) } as never)}
       where ${inScope(tx, scope)} and id = ${id}
      returning ${columns(tx)}`;
    if (row === undefined) throw notFound('Plan', id);
    return row;
  } catch (error) {
    throw keyTaken(error, changes.lookup_key ?? null);
  }
}

const keyTaken = (error: unknown, lookupKey: string | null): unknown =>
  violatedConstraint(error) === 'plans_lookup_key_key'
    ? alreadyExists('plan', 'lookup_key', lookupKey ?? '')
    : error;
