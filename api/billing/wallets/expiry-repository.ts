import type { OpenPeriod } from '../../../domain/wallet/end-of-credits.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import {
  type ClockRef,
  type Timeline,
  livesBy,
  ownedBy,
} from '../../../postgres/tables/test-clocks.ts';
import { subscriptionsPaidBy } from '../records/usage-payer-repository.ts';

/**
 * The earliest period of the customer's subscriptions that has ended and whose invoice is not issued yet; empty without
 * one. It suffices: each block that a later period holds, the earliest one holds too.
 */
export async function openPeriods(
  db: Db,
  scope: Scope,
  customerId: string,
  at: string,
): Promise<OpenPeriod[]> {
  return await db<OpenPeriod[]>`
    select period_end, false as is_invoiced from (
      select current_period_end as period_end
        from ${subscriptionsPaidBy(db, scope, [customerId])} paid
       where current_period_end <= ${at} and subscription_status in ('active', 'trialing')
       union all
      select period_end from invoices
       where ${inScope(db, scope)} and customer_id = ${customerId} and status = 'published'
         and invoice_status = 'DRAFT' and period_end is not null) open
     order by period_end limit 1`;
}

/** Environments with expired credits that are not written off. Spans tenants: for the job only. */
export async function scopesWithExpiredCredits(db: Db, due: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select distinct tenant_id, environment_id from wallet_transactions
     where holds_credits and expiry_date is not null and expiry_date <= ${due.at}
       and ${livesBy(db, due, db`wallet_transactions.customer_id`)}`;
}

/** When credits of the clock's customers expire. */
export const creditExpiryTimes = (db: Db, clock: ClockRef): Fragment => db`
  select t.expiry_date as at from customers c join wallet_transactions t on t.customer_id = c.id
   where ${ownedBy(db, clock, 't')} and t.holds_credits and t.expiry_date is not null`;

/** Ids of the environment's wallets with an expired block, greater than `after`, in id order. */
export async function walletsWithExpiredCredits(
  db: Db,
  scope: Scope,
  { due, after, limit }: { readonly due: Timeline; readonly after: string; readonly limit: number },
): Promise<string[]> {
  const rows = await db<{ wallet_id: string }[]>`
    select distinct wallet_id from wallet_transactions
     where ${inScope(db, scope)} and holds_credits and expiry_date is not null
       and expiry_date <= ${due.at} and wallet_id > ${after}
       and ${livesBy(db, due, db`wallet_transactions.customer_id`)}
     order by wallet_id limit ${limit}`;
  return rows.map(({ wallet_id }) => wallet_id);
}
