import {
  inScope,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { columnList, jsonOf } from '../../../postgres/parameters.ts';
import {
  livesBy,
  ownedBy,
  type ClockRef,
  type Timeline,
} from '../../../postgres/tables/test-clocks.ts';
import type { BillingRefusal } from '../../../schemas/billing-refusal.ts';
import { SUBSCRIPTION_COLUMNS, type SubscriptionRow } from '../../../schemas/subscription.ts';

/**
 * Stores why a due subscription was not billed and when it is retried. Changes nothing that billing reads.
 */
export async function setBillingRefusal(
  tx: Transaction,
  scope: Scope,
  id: string,
  refused: { readonly billing_refusal: BillingRefusal; readonly billing_retry_at: string },
): Promise<void> {
  await tx`
    update subscriptions
       set billing_refusal = ${jsonOf(tx, refused.billing_refusal)},
           billing_retry_at = ${refused.billing_retry_at}
     where ${inScope(tx, scope)} and id = ${id}`;
}

/** Environments with something due by `at`, in id order: a billing run processes them in turn. */
export async function scopesWithDueSubscriptions(db: Db, due: Timeline): Promise<Scope[]> {
  const { at } = due;
  return await db<Scope[]>`
    select distinct tenant_id, environment_id
      from subscriptions
     where due_at <= ${at} and (billing_retry_at is null or billing_retry_at <= ${at})
       and status = 'published' and ${livesBy(db, due, db`subscriptions.customer_id`)}
     order by tenant_id, environment_id`;
}

/** A position in the order of due subscriptions: the next page begins after it. */
export interface DueCursor {
  readonly due_at: string;
  readonly id: string;
}

/** The next page of due subscriptions, longest due first. */
export async function dueSubscriptions(
  db: Db,
  scope: Scope,
  page: { readonly due: Timeline; readonly after: DueCursor | null; readonly limit: number },
): Promise<SubscriptionRow[]> {
  const { due, after, limit } = page;
  const { at } = due;
  return await db<SubscriptionRow[]>`
    select ${columnList(db, SUBSCRIPTION_COLUMNS)}
      from subscriptions
     where ${inScope(db, scope)}
       and due_at <= ${at}
       and (billing_retry_at is null or billing_retry_at <= ${at})
       and status = 'published' and ${livesBy(db, due, db`subscriptions.customer_id`)}
       ${after === null ? db`` : db`and (due_at, id) > (${after.due_at}, ${after.id})`}
     order by due_at, id
     limit ${limit}`;
}

/** Notice before the end of a period. */
const RENEWAL_NOTICE = '24 hours';

/**
 * Condition of a subscription that renews at the end of its running period and was not reported for that period.
 * One that ends or pauses there does not renew.
 */
const renews = (db: Db): Fragment => db`
  s.subscription_status = 'active' and s.status = 'published'
  and (s.renewal_notified_for is null or s.renewal_notified_for <> s.current_period_end)
  and (s.cancel_at is null or s.cancel_at > s.current_period_end)
  and (s.end_date is null or s.end_date > s.current_period_end)
  and (s.pause_at is null or s.pause_at > s.current_period_end)`;

const renewsSoon = (db: Db, due: Timeline): Fragment => db`
  ${renews(db)} and ${livesBy(db, due, db`s.customer_id`)}
  and s.current_period_end > ${due.at}
  and s.current_period_end <= ${due.at}::timestamptz + ${RENEWAL_NOTICE}::interval
  and s.current_period_start <= ${due.at}`;

/** Environments that have renewals to report. */
export async function scopesWithRenewals(db: Db, due: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select distinct s.tenant_id, s.environment_id from subscriptions s where ${renewsSoon(db, due)}
     order by 1, 2`;
}

/** A page of the environment's renewals to report, with ids greater than `after`. */
export async function dueRenewals(
  db: Db,
  scope: Scope,
  page: { readonly due: Timeline; readonly after: string; readonly limit: number },
): Promise<string[]> {
  const { due, after, limit } = page;
  const rows = await db<{ id: string }[]>`
    select s.id from subscriptions s
     where ${inScope(db, scope, 's')} and ${renewsSoon(db, due)} and s.id > ${after}
     order by s.id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Marks those of the subscriptions that renew soon as reported for their period, and returns them. */
export async function noteRenewals(
  tx: Transaction,
  scope: Scope,
  due: Timeline,
  ids: readonly string[],
): Promise<SubscriptionRow[]> {
  return await tx<SubscriptionRow[]>`
    update subscriptions set renewal_notified_for = current_period_end
     where id in (
             select s.id from subscriptions s
              where ${inScope(tx, scope, 's')} and s.id = any(${[...ids]}::text[]) and ${renewsSoon(tx, due)}
              for update skip locked)
    returning ${columnList(tx, SUBSCRIPTION_COLUMNS)}`;
}

/**
 * Instants at which renewals of the clock's customers are announced: a day before, or at the start of a short
 * period.
 */
export const renewalTimes = (db: Db, clock: ClockRef): Fragment => db`
  select greatest(s.current_period_end - ${RENEWAL_NOTICE}::interval, s.current_period_start) as at
    from customers c join subscriptions s on s.customer_id = c.id
   where ${ownedBy(db, clock, 's')} and ${renews(db)}`;

/** When subscriptions of the clock's customers are due. */
export const subscriptionDueTimes = (db: Db, clock: ClockRef): Fragment => db`
  select greatest(s.due_at, s.billing_retry_at) as at
    from customers c join subscriptions s on s.customer_id = c.id
   where ${ownedBy(db, clock, 's')} and s.due_at is not null and s.status = 'published'`;
