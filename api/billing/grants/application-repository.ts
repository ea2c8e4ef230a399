import {
  inScope,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { jsonOf } from '../../../postgres/parameters.ts';
import {
  livesBy,
  ownedBy,
  type ClockRef,
  type Timeline,
} from '../../../postgres/tables/test-clocks.ts';
import type { CreditGrantApplication } from '../../../schemas/customer-view.ts';

/** An application as stored. */
export interface ApplicationRow extends CreditGrantApplication {
  /** When a deferred or failed application is retried. */
  readonly next_attempt_at: string;
  readonly deferrals: number;
}

const columns = (db: Db) => db`
  id, tenant_id, environment_id, credit_grant_id, subscription_id, scheduled_for, period_start,
  period_end, credits, application_status, application_reason, subscription_status_at_application,
  applied_at, next_attempt_at, deferrals, retry_count, failure_reason, idempotency_key, metadata, status,
  created_at, updated_at, created_by, updated_by`;

/** The newest application of each grant of the subscription: the open one if there is one. */
export async function lastApplications(
  db: Db,
  scope: Scope,
  subscriptionId: string,
): Promise<ApplicationRow[]> {
  return await db<ApplicationRow[]>`
    select distinct on (credit_grant_id) ${columns(db)} from credit_grant_applications
     where ${inScope(db, scope)} and subscription_id = ${subscriptionId}
     order by credit_grant_id, period_start desc`;
}

/** Inserts the rows, or replaces those that are stored. */
export async function writeApplications(
  tx: Transaction,
  rows: readonly ApplicationRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    insert into credit_grant_applications
    select t.* from jsonb_populate_recordset(null::credit_grant_applications, ${jsonOf(tx, rows)}) t
        on conflict (id) do update
       set scheduled_for = excluded.scheduled_for, period_start = excluded.period_start,
           period_end = excluded.period_end, credits = excluded.credits,
           application_status = excluded.application_status,
           subscription_status_at_application = excluded.subscription_status_at_application,
           applied_at = excluded.applied_at, next_attempt_at = excluded.next_attempt_at,
           deferrals = excluded.deferrals, retry_count = excluded.retry_count,
           failure_reason = excluded.failure_reason,
           updated_at = excluded.updated_at, updated_by = excluded.updated_by`;
}

/** Removes applications that have given nothing. */
export async function removeApplications(
  tx: Transaction,
  scope: Scope,
  rows: readonly ApplicationRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  await tx`
    delete from credit_grant_applications
     where ${inScope(tx, scope)} and id = any(${ids}::text[]) and application_status in ('pending', 'failed')`;
}

/** Environments in which an application is due at `at`, or a running grant has none yet. */
export async function scopesWithDueGrants(db: Db, due: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select distinct tenant_id, environment_id from (${dueSubscriptions(db, due)}) due`;
}

/** Subscriptions of the environment with an application that is due, or a grant without one, by id. */
export async function subscriptionsWithDueGrants(
  db: Db,
  scope: Scope,
  { due, after, limit }: { readonly due: Timeline; readonly after: string; readonly limit: number },
): Promise<string[]> {
  const rows = await db<{ subscription_id: string }[]>`
    select distinct subscription_id from (${dueSubscriptions(db, due)}) due
     where ${inScope(db, scope)} and subscription_id > ${after}
     order by subscription_id limit ${limit}`;
  return rows.map((row) => row.subscription_id);
}

const dueSubscriptions = (db: Db, due: Timeline) => db`
  select a.tenant_id, a.environment_id, a.subscription_id from credit_grant_applications a
    join subscriptions s on s.id = a.subscription_id
   where a.application_status in ('pending', 'failed') and a.next_attempt_at <= ${due.at}
     and ${livesBy(db, due, db`s.customer_id`)}
   union
  select g.tenant_id, g.environment_id, g.subscription_id from credit_grants g
    join subscriptions s on s.id = g.subscription_id
   where ${withoutApplication(db)} and ${livesBy(db, due, db`s.customer_id`)}`;

/** When credits of the clock's customers are due; a grant without an application is due at once. */
export const grantDueTimes = (db: Db, clock: ClockRef): Fragment => db`
  select a.next_attempt_at as at from customers c
    join subscriptions s on s.customer_id = c.id
    join credit_grant_applications a on a.subscription_id = s.id
   where ${ownedBy(db, clock, 's')} and ${inScope(db, clock, 'a')} and a.application_status in ('pending', 'failed')
   union all
  select s.start_date as at from customers c
    join subscriptions s on s.customer_id = c.id
    join credit_grants g on g.subscription_id = s.id
   where ${ownedBy(db, clock, 's')} and ${inScope(db, clock, 'g')} and ${withoutApplication(db)}`;

/** A running grant that has no application yet. */
const withoutApplication = (db: Db) => db`
  g.scope = 'SUBSCRIPTION' and g.status = 'published' and s.status = 'published'
  and s.subscription_status in ('active', 'trialing', 'incomplete', 'paused')
  and not exists (select from credit_grant_applications a where a.credit_grant_id = g.id)
  and (g.end_date is null or g.end_date > g.start_date)`;
