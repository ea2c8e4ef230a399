import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import {
  type ClockRef,
  type Timeline,
  livesBy,
  ownedBy,
} from '../../../postgres/tables/test-clocks.ts';

/** Incomplete subscriptions with an unpaid first invoice, and when that ends them. */
const unpaid = (db: Db): Fragment => db`
  select s.id, s.tenant_id, s.environment_id, s.customer_id,
         i.due_date + make_interval(days => (v.value ->> 'grace_period_days')::integer) as at
    from settings v
    join subscriptions s on s.tenant_id = v.tenant_id and s.environment_id = v.environment_id
     and s.subscription_status = 'incomplete' and s.status = 'published'
    join invoices i on i.subscription_id = s.id and i.status = 'published'
     and i.billing_reason in ('SUBSCRIPTION_CREATE', 'SUBSCRIPTION_TRIAL_END')
     and i.invoice_status = 'FINALIZED' and i.amount_paid = 0 and i.amount_remaining > 0
   where v.key = 'subscription_config' and v.status = 'published'
     and (v.value ->> 'auto_cancellation_enabled')::boolean`;

/** Environments whose setting `subscription_config` ends subscriptions that are never paid, in id order. */
export async function scopesThatCancelUnpaid(db: Db): Promise<Scope[]> {
  return await db<Scope[]>`
    select tenant_id, environment_id
      from settings
     where key = 'subscription_config' and status = 'published'
       and (value ->> 'auto_cancellation_enabled')::boolean
     order by tenant_id, environment_id`;
}

/**
 * The next incomplete subscriptions whose first invoice has had no payment `grace_period_days` after its due
 * date, in id order (billing 10.3).
 */
export async function unpaidSubscriptions(
  db: Db,
  scope: Scope,
  page: { readonly due: Timeline; readonly after: string; readonly limit: number },
): Promise<{ readonly id: string }[]> {
  const { due, after, limit } = page;
  return await db<{ id: string }[]>`
    select u.id from (${unpaid(db)}) u
     where ${inScope(db, scope, 'u')} and u.id > ${after} and u.at <= ${due.at}
       and ${livesBy(db, due, db`u.customer_id`)}
     group by u.id
     order by u.id
     limit ${limit}`;
}

/** Whether `unpaidSubscriptions` finds the subscription at `at`. */
export async function isOverdue(db: Db, scope: Scope, id: string, at: string): Promise<boolean> {
  const found = await db`
    select from (${unpaid(db)}) u where ${inScope(db, scope, 'u')} and u.id = ${id} and u.at <= ${at}`;
  return found.length > 0;
}

/** When unpaid subscriptions of the clock's customers end. */
export const unpaidTimes = (db: Db, clock: ClockRef): Fragment => db`
  select u.at from (${unpaid(db)}) u join customers c on c.id = u.customer_id
   where ${ownedBy(db, clock, 'u')}`;
