import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { tableOf } from '../../../postgres/table.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { findPage } from '../../../postgres/search.ts';
import type { CreditGrant } from '../../../schemas/credit-grant.ts';
import type { Page, Search } from '../../../schemas/search.ts';

const creditGrants = tableOf<CreditGrant>({
  name: 'credit_grants',
  noun: 'Credit grant',
  columns: (db) => db`
  id, tenant_id, environment_id, name, scope, plan_id, addon_id, subscription_id,
  addon_association_id, credits,
  conversion_rate, topup_conversion_rate, cadence, period, period_count, expiration_type,
  expiration_duration, expiration_duration_unit, priority, credit_grant_anchor, start_date, end_date,
  metadata, status, created_at, updated_at, created_by, updated_by`,
  json: ['metadata'],
});

/** The credit grant, including archived ones. 404 if it is unknown or belongs to another scope. */
export const getCreditGrant = creditGrants.get;
export const lockCreditGrant = creditGrants.lock;
export const insertCreditGrant = creditGrants.insert;
export const updateCreditGrantRow = creditGrants.change;

/** Published grants of plans, addons or subscriptions, newest first. */
export async function findCreditGrantsOf(
  db: Db,
  scope: Scope,
  owner: 'plan_id' | 'addon_id' | 'subscription_id',
  ids: readonly string[],
): Promise<CreditGrant[]> {
  if (ids.length === 0) return [];
  return await db<CreditGrant[]>`
    select ${creditGrants.columns(db)} from credit_grants
     where ${inScope(db, scope)} and ${db(owner)} = any(${ids as string[]}) and status = 'published'
       ${owner === 'subscription_id' ? db`` : db`and subscription_id is null`}
     order by created_at desc, id desc`;
}

export interface CreditGrantFilter {
  readonly credit_grant_ids?: string[] | null;
  readonly plan_ids?: string[] | null;
  readonly addon_ids?: string[] | null;
  readonly subscription_ids?: string[] | null;
  readonly scope?: string | null;
  readonly search: Search;
}

/**
 * Includes archived grants unless a status is requested. A filter by plan or addon finds the templates, not
 * the copies that subscriptions run.
 */
export function searchCreditGrants(
  db: Db,
  scope: Scope,
  filter: CreditGrantFilter,
): Promise<Page<CreditGrant>> {
  const { search } = filter;
  return findPage<CreditGrant>(db, {
    columns: creditGrants.columns(db),
    from: db`credit_grants`,
    where: db`${inScope(db, scope)}
      ${search.status === null ? db`` : db`and status = ${search.status}`}
      ${filter.credit_grant_ids?.length ? db`and id = any(${filter.credit_grant_ids})` : db``}
      ${filter.plan_ids?.length ? db`and plan_id = any(${filter.plan_ids}) and subscription_id is null` : db``}
      ${filter.addon_ids?.length ? db`and addon_id = any(${filter.addon_ids}) and subscription_id is null` : db``}
      ${filter.subscription_ids?.length ? db`and subscription_id = any(${filter.subscription_ids})` : db``}
      ${filter.scope ? db`and scope = ${filter.scope}` : db``}`,
    search,
  });
}

/** Inserts in the given order. */
export async function insertCreditGrants(
  tx: Transaction,
  grants: readonly CreditGrant[],
): Promise<void> {
  await insertRows(tx, 'credit_grants', grants);
}
