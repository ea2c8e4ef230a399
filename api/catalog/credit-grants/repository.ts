import { notFound } from '../../../domain/errors.ts';
import type { RunningGrant } from '../../../domain/wallet/grant-schedule.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { pageBelow } from '../../../postgres/page-below.ts';
import { tableOf } from '../../../postgres/table.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { findPage } from '../../../postgres/search.ts';
import type { CreditGrant } from '../../../schemas/credit-grant.ts';
import type { CreditGrantApplication } from '../../../schemas/customer-view.ts';
import type { Page, PageQuery, Search } from '../../../schemas/search.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';

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

/** One page of the published grants of a plan or an addon, newest first. */
export const pageOfCreditGrants = (
  db: Db,
  scope: Scope,
  owner: 'plan_id' | 'addon_id',
  id: string,
  query: PageQuery,
): Promise<Page<CreditGrant>> =>
  pageBelow(
    db,
    {
      columns: creditGrants.columns(db),
      table: 'credit_grants',
      where: db`${inScope(db, scope)} and ${db(owner)} = ${id} and status = 'published'
        and subscription_id is null`,
      order: db`created_at desc, id desc`,
    },
    query,
  );

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

/** The column and the record of a grant's owner, by the scope of the grant. */
export const GRANT_OWNERS = {
  PLAN: { column: 'plan_id', table: 'plans', noun: 'Plan' },
  ADDON: { column: 'addon_id', table: 'addons', noun: 'Addon' },
  SUBSCRIPTION: { column: 'subscription_id', table: 'subscriptions', noun: 'Subscription' },
} as const;

/** Status of the owner of grants. */
export interface GrantOwner {
  readonly status: string;
  /** Dates of a subscription; null for a plan or an addon. */
  readonly dates: { readonly start_date: string; readonly end_date: string | null } | null;
}

/** The owner, whatever its status, locked until the transaction ends. 404 if it is unknown or in another scope. */
export async function lockGrantOwner(
  tx: Transaction,
  scope: Scope,
  grantScope: CreditGrant['scope'],
  id: string,
): Promise<GrantOwner> {
  const { table, noun } = GRANT_OWNERS[grantScope];
  const isSubscription = grantScope === 'SUBSCRIPTION';
  const [row] = await tx<{ status: string; start_date: string; end_date: string | null }[]>`
    select status ${isSubscription ? tx`, start_date, end_date` : tx``}
      from ${tx(table)}
     where ${inScope(tx, scope)} and id = ${id}
       for update`;
  if (row === undefined) throw notFound(noun, id);
  const { status, start_date, end_date } = row;
  return { status, dates: isSubscription ? { start_date, end_date } : null };
}

/** End of the subscription; null if it has none, or if the subscription is unknown. */
export async function findSubscriptionEnd(
  db: Db,
  scope: Scope,
  subscriptionId: string | null,
): Promise<string | null> {
  const [row] = await db<{ end_date: string | null }[]>`
    select end_date from subscriptions
     where ${inScope(db, scope)} and id = ${subscriptionId}`;
  return row?.end_date ?? null;
}

/** A subscription's grant with what its next application depends on. */
export type SubscriptionGrant = RunningGrant &
  Pick<
    CreditGrant,
    | 'id'
    | 'tenant_id'
    | 'environment_id'
    | 'created_at'
    | 'updated_at'
    | 'created_by'
    | 'updated_by'
  > & {
    readonly subscription_id: string;
    /** From when on nothing is given: the end of the grant, or that of its subscription; null without an end. */
    readonly ends_at: string | null;
  } & Pick<SubscriptionRow, 'subscription_status' | 'billing_cycle' | 'pause_at' | 'resume_at'>;

/** Published grants of a customer's subscriptions, or of one, that are not cancelled, in creation order. */
export function findSubscriptionGrants(
  db: Db,
  scope: Scope,
  of: { readonly customer_id: string } | { readonly subscription_id: string },
): Promise<SubscriptionGrant[]> {
  const [column, id] =
    'customer_id' in of ? ['customer_id', of.customer_id] : ['id', of.subscription_id];
  return db<SubscriptionGrant[]>`
    select g.id, g.tenant_id, g.environment_id, g.subscription_id, g.credits, g.cadence, g.period,
           g.period_count, g.start_date, g.end_date, g.created_at, g.updated_at, g.created_by,
           g.updated_by, coalesce(g.credit_grant_anchor, g.start_date) as credit_grant_anchor,
           s.subscription_status, s.customer_timezone as timezone, s.billing_cycle, s.pause_at, s.resume_at,
           least(g.end_date, s.end_date, s.cancel_at) as ends_at
      from subscriptions s
      join credit_grants g on g.subscription_id = s.id and ${inScope(db, scope, 'g')}
     where ${inScope(db, scope, 's')} and s.${db(column!)} = ${id!} and s.status = 'published'
       and s.subscription_status <> 'cancelled'
       and g.scope = 'SUBSCRIPTION' and g.status = 'published'
     order by g.created_at, g.id`;
}

/** Pending and failed applications of the subscriptions' grants, unordered; a grant has at most one. */
export async function findOpenApplications(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<CreditGrantApplication[]> {
  if (subscriptionIds.length === 0) return [];
  return await db<CreditGrantApplication[]>`
    select id, tenant_id, environment_id, credit_grant_id, subscription_id, scheduled_for, period_start,
           period_end, credits, application_status, application_reason,
           subscription_status_at_application, applied_at, failure_reason, retry_count,
           idempotency_key, metadata, status, created_at, updated_at, created_by, updated_by
      from credit_grant_applications
     where ${inScope(db, scope)} and subscription_id = any(${subscriptionIds as string[]})
       and application_status in ('pending', 'failed')`;
}
